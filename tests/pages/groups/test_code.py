from shoal.cluster import PrivateKMeans, WaveCluster
from shoal.domain import Box, Schema
from shoal.pages.groups._code import estimator_code
from shoal.privacy import ApproxDP

BOX = Box(age=(0, 110), visits=(0, 20))


def test_settings_that_are_none_are_left_out_of_the_code():
    model = WaveCluster(epsilon="0.5", domain=BOX, random_state=3)
    text = estimator_code(model, "", cells=None, level=2)
    assert "shoal.WaveCluster(" in text
    assert "cells" not in text
    assert "level=2" in text
    assert "random_state=3" in text
    compile(text, "page", "exec")


def test_code_names_the_whole_promise_and_whose_rows_are_where_that_is_said():
    promise = ApproxDP("0.5", "1e-9", neighbours="replace-one")
    schema = Schema.of_box(BOX, person="id", max_rows_per_person=3)
    text = estimator_code(PrivateKMeans(2, privacy=promise, domain=schema), "2, ")
    assert "privacy=shoal.ApproxDP('0.5', '0.000000001', neighbours='replace-one')" in text
    assert "schema = shoal.Schema.of_box(box, person='id', max_rows_per_person=3)" in text
    assert "domain=schema" in text
