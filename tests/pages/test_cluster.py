import pytest

from shoal.cli.inputs.clustering import Options
from shoal.cli.output import in_print
from shoal.cluster import PrivateKMeans
from shoal.domain import Box, Schema
from shoal.pages.cluster import code, label, listed, promised, unit_of, without
from shoal.privacy import PureDP

BOX = Box(age=(0, 110), visits=(0, 20))


@pytest.mark.parametrize(
    ("names", "said"),
    [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c"),
     (list("abcde"), "a, b and 3 more columns")],
)  # fmt: skip
def test_names_are_listed_as_in_a_sentence(names, said):
    assert listed(names) == said


def test_a_publisher_is_named_only_if_there_is_one():
    assert "publisher" not in label(Options("wave", "1", BOX), PureDP(1))
    shown = label(Options("wave", "1", BOX, publisher="The town"), PureDP(1), title="Groups")
    assert (shown["publisher"], shown["title"]) == ("The town", "Groups")


def test_many_bounds_are_cut():
    box = Box.of(list("abcdef"), [0] * 6, [1] * 6)
    assert label(Options("wave", "1", box), PureDP(1))["bounds"].endswith("d 0 to 1 and 2 more")


def test_settings_that_are_none_are_left_out_of_the_code():
    text = code(Options("wave", "0.5", BOX, seed=3), "WaveCluster", "", cells=None, level=2)
    assert "cells" not in text
    assert "level=2" in text
    assert "random_state=3" in text
    compile(text, "page", "exec")


def test_a_simulation_is_said_to_promise_nothing():
    seeded = PureDP(1, simulation=True)
    assert "Promised Nothing" in " ".join(in_print(*promised(seeded)).split())
    assert "Nothing" not in in_print(*promised(PureDP(1)))


def test_people_are_counted_only_where_each_is_known_and_has_one_row():
    def model(**people):
        return PrivateKMeans(2, epsilon=1, domain=Schema.of_box(Box.unit(2), **people))

    assert unit_of(model()) == "rows"
    assert unit_of(model(entity="id", max_rows_per_person=4)) == "rows"
    assert unit_of(model(entity="id", max_rows_per_person=1)) == "people"


def test_values_may_be_left_out():
    assert without({"a": 1, "b": 2, "c": 3}, "a", "c") == {"b": 2}
