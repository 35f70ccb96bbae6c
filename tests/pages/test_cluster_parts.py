import pytest

from shoal.cluster import PrivateKMeans, WaveCluster
from shoal.domain import Box, Schema
from shoal.pages._cluster_parts import (
    count_text,
    estimator_code,
    exact_promise_lines,
    release_settings,
    unit_of,
    without_values,
)
from shoal.privacy import ApproxDP, PureDP, Released, Result

BOX = Box(age=(0, 110), visits=(0, 20))


@pytest.mark.parametrize(("k", "text"), [(0, "No groups"), (1, "1 group"), (2, "2 groups")])
def test_groups_are_counted_as_in_a_sentence(k, text):
    assert count_text(k) == text


def test_a_publisher_is_named_only_if_there_is_one():
    assert "publisher" not in release_settings(BOX, PureDP(1), None)
    shown = release_settings(BOX, PureDP(1), "The town", title="Groups")
    assert (shown["publisher"], shown["title"]) == ("The town", "Groups")


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


def test_the_promise_is_named_after_its_sentence():
    *_, last = exact_promise_lines(PureDP(1))
    assert (last.label, last.text) == ("Exactly", "ε = 1, pure differential privacy, for one row.")


def test_people_are_counted_only_where_each_is_known_and_has_one_row():
    def model(**people):
        return PrivateKMeans(2, epsilon=1, domain=Schema.of_box(Box.unit(2), **people))

    assert unit_of(model()) == "rows"
    assert unit_of(model(person="id", max_rows_per_person=4)) == "rows"
    assert unit_of(model(person="id", max_rows_per_person=1)) == "people"


def test_values_may_be_left_out():
    result = Result("x", PureDP(1), released={name: Released(name) for name in "abc"})
    assert list(without_values(result, "a", "c").released) == ["b"]


def test_a_page_says_that_noisy_means_share_a_delta_only_where_one_was_spent():
    for promise, said in ((ApproxDP(1, 1e-6), True), (ApproxDP(1, 0), False), (PureDP(1), False)):
        assert ("share ε and δ" in release_settings(BOX, promise, None)["noise"]) is said
