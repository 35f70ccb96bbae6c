import pickle

import numpy as np
import pyarrow as pa
import pytest

from shoal.data import source_of
from shoal.domain import Box, Schema
from shoal.engine._rows import Tally, Terms
from shoal.engine.row_screening import Screen
from shoal.errors import NotFinite, NotNumeric, OutsideDomain, PersonMissing

BOX = Box(age=(0, 110), visits=(0, 20))
BATCH = pa.record_batch(
    {
        "age": [31.0, None, 222.0, float("inf"), 50.0],
        "visits": [1, 2, 3, 4, 33],
        "id": list("abcde"),
    }
)


def test_rows_outside_are_moved_to_the_box_by_default():
    block, tally, _ = Screen(BOX, Terms(nonfinite="drop"))(BATCH)
    assert block.numbers.tolist() == [[31, 1], [110, 3], [50, 20]]
    assert (tally.read, tally.admitted, tally.nonfinite, tally.outside) == (5, 3, 2, 2)
    assert (block.sides.tolist(), tally.moved) == ([[0, 0], [1, 0], [0, 1]], 2)


def test_a_batch_of_finite_rows_tells_which_were_moved_and_where():
    batch = pa.record_batch({"age": [-3.0, 31.0, 200.0], "visits": [25.0, 1.0, -1.0]})
    block, tally, _ = Screen(BOX, Terms())(batch)
    assert block.sides.tolist() == [[-1, 1], [0, 0], [1, -1]]
    assert tally.moved == tally.outside == 2
    block, tally, _ = Screen(BOX, Terms())(batch.slice(1, 1))
    assert (block.sides, tally.moved) == (None, 0)


def test_rows_outside_can_be_left_out():
    block, tally, _ = Screen(BOX, Terms(outside="drop", nonfinite="drop"))(BATCH)
    assert block.numbers.tolist() == [[31, 1]]
    assert (tally.admitted, tally.moved, block.sides) == (1, 0, None)


def test_a_screen_does_not_write_into_the_table_it_reads():
    values = np.array([200.0, 1.0])
    Screen(Box(age=(0, 110)), Terms())(pa.record_batch({"age": values}))
    assert values.tolist() == [200.0, 1.0]


def test_whose_rows_they_are_follows_the_rows_that_stay():
    terms = Terms(nonfinite="drop", person="id", max_rows_per_person=1)
    assert Screen(BOX, terms)(BATCH).person.to_pylist() == ["a", "c", "e"]


def test_nonfinite_rows_are_refused_by_count_and_column():
    screen = Screen(BOX, Terms())
    tally = screen(BATCH).tally
    assert screen.refuses(tally)
    with pytest.raises(NotFinite, match=r"2 of 5 rows .* in 'age'\.") as caught:
        screen.check(tally)
    assert "visits" not in str(caught.value)


def test_rows_outside_are_refused_by_count_and_columns():
    screen = Screen(BOX, Terms(outside="refuse", nonfinite="drop"))
    with pytest.raises(OutsideDomain, match=r"2 of 5 rows .* 'age', 'visits'\.") as caught:
        screen.check(screen(BATCH).tally)
    assert "222" not in str(caught.value)
    assert "33" not in str(caught.value)


@pytest.mark.parametrize(
    "owners",
    [["a", None, " "], [1, None, None], pa.array(["a", "", "NA"], pa.large_string())],
)
def test_rows_of_nobody_are_counted_and_refused(owners):
    terms = Terms(person="id", max_rows_per_person=1)
    screen = Screen(Box(age=(0, 110)), terms)
    tally = screen(pa.record_batch({"age": [1.0, 2.0, 3.0], "id": pa.array(owners)})).tally
    with pytest.raises(PersonMissing, match="2 of 3 rows"):
        screen.check(tally)


def test_a_schema_gives_codes_beside_numbers():
    schema = Schema.of(
        {
            "version": 1,
            "columns": {"sex": {"values": ["F", "M"]}, "age": {"low": 0, "high": 110}},
        }
    )
    screen = Screen(schema, Terms())
    block = screen(pa.record_batch({"age": [5, 6], "sex": ["M", "F"]})).block
    assert block.numbers.tolist() == [[5], [6]]
    assert block.codes.tolist() == [[1], [0]]
    assert screen.empty().codes.shape == (0, 1)


def test_a_schema_without_numbers_has_blocks_of_no_width():
    schema = Schema.of({"version": 1, "columns": {"sex": {"values": ["F", "M"]}}})
    block = Screen(schema, Terms())(pa.record_batch({"sex": ["M", "F"]})).block
    assert block.numbers.shape == (2, 0)
    assert len(block) == 2


def test_text_where_numbers_belong_is_refused_or_left_out_as_missing_numbers_are():
    (batch,) = source_of({"age": ["old", "31"]}).batches(["age"])
    with pytest.raises(NotNumeric):
        Screen(Box(age=(0, 110)), Terms())(batch)
    block, tally, _ = Screen(Box(age=(0, 110)), Terms(nonfinite="drop"))(batch)
    assert block.numbers.tolist() == [[31.0]]
    assert tally.nonfinite == 1


def test_a_column_that_is_read_twice_is_read_once():
    screen = Screen(Box(id=(0, 9)), Terms(person="id", max_rows_per_person=1))
    assert screen.columns == ("id",)


def test_a_screen_travels_to_other_machines():
    screen = pickle.loads(pickle.dumps(Screen(BOX, Terms(nonfinite="drop"))))
    assert screen(BATCH).tally.admitted == 3


def test_tallies_add_up():
    total = Tally(2, 1, 1, nonfinite_columns=frozenset("a")) + Tally(3, 3)
    assert total == Tally(5, 4, 1, nonfinite_columns=frozenset("a"))
