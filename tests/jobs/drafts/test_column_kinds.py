import datetime

import pyarrow as pa
import pytest

from shoal.data import source_of
from shoal.jobs.drafts._column_kinds import column_kinds


def kind_of(values):
    (seen,) = column_kinds(source_of(pa.table({"x": values})))
    return seen


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], "number"),
        ([1.5, None], "number"),
        (["1", " 2.5", "NA"], "number"),
        (["1"] * 9 + ["twelve"], "number"),
        (["1"] * 8 + ["twelve"] * 2, "text"),
        (["1,5", "2,25"], "separated number"),
        (["1.234,50", "7"], "separated number"),
        (["05/03/2001", "2001-03-05"], "date"),
        ([datetime.date(2001, 3, 5)], "date"),
        (["01219", "01220"], "text"),
        ([True, False], "text"),
        (pa.nulls(3), "empty"),
        (["", "NA"], "empty"),
        (pa.array(["F", "M"]).dictionary_encode(), "text"),
    ],
)
def test_a_column_has_the_kind_of_nearly_all_its_cells(values, kind):
    assert kind_of(values).kind == kind


@pytest.mark.heavy
def test_counts_add_up_over_batches_and_are_told_on_the_way():
    told = []
    source = source_of(pa.table({"x": ["1", "NA", "x"] * 100_000}))
    (seen,) = column_kinds(source, told.append)
    assert (seen.rows, seen.missing, seen.numbers) == (300_000, 100_000, 100_000)
    assert told == [262_144, 300_000]


def test_floats_cannot_tell_people_apart_and_are_marked():
    assert kind_of([1.0, 2.0]).is_float
    assert not kind_of([1, 2]).is_float
    assert kind_of([float("nan"), 1.0]).missing == 1


@pytest.mark.parametrize(
    ("values", "answers"),
    [
        (["0", "1"], ("0", "1")),
        ([1, 0], ("0", "1")),
        (["Yes", "No"], ("No", "Yes")),
        (["M", "F"], ("F", "M")),
        (["yes", "NA"] * 2 + ["no"], ("no", "yes")),
        (["0", "1", "2"], None),
        (["York", "Rome"], None),
        (["yes", "No"], None),
    ],
)
def test_a_pair_of_answers_is_known_by_a_public_list(values, answers):
    assert kind_of(values * 20).answers == answers


def test_two_values_are_no_answers_in_a_handful_of_rows():
    assert kind_of(["0", "1"]).answers is None
    assert not kind_of(["a@b.org", "c@d.org"]).is_two_valued


def test_a_third_value_far_down_is_seen_over_batches():
    (seen,) = column_kinds(source_of(pa.table({"x": ["0", "1"] * 150_000 + ["2"]})))
    assert not seen.is_two_valued
