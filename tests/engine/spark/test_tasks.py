import numpy as np
import pyarrow as pa
import pytest

from shoal.domain import Box, Grid
from shoal.engine._rows import Tally, Terms
from shoal.engine.row_screening import Screen
from shoal.engine.spark._tasks import (
    PROBLEM,
    CountCells,
    ErrorTexts,
    PartitionSums,
    PassTask,
    SumKernel,
    TallyOnly,
    hide_error_text,
    merge_batches,
    tally_pairs,
)
from shoal.errors import NotNumeric, from_literal

BOX = Box(age=(0, 110))
SCREEN = Screen(BOX, Terms())
AGES = [pa.record_batch({"age": [31.0, 47.0]}), pa.record_batch({"age": [200.0]})]

NAMES = ["age", "visits"]


def totals(work, batches=AGES, screen=SCREEN):
    found = pa.Table.from_batches(list(PassTask(screen, screen, work)(batches)))
    return PartitionSums(found)


def test_a_pass_tallies_what_it_read():
    assert totals(TallyOnly()).tally(["age"]).admitted == 3


def test_cells_are_counted_densely_or_sparsely_alike():
    few, many = Grid(BOX, 2), Grid(BOX, 2**40)
    assert totals(CountCells(few)).dense(2).tolist() == [2, 1]
    keys, counts = totals(CountCells(many)).sparse()
    assert keys.tolist() == sorted(many.keys([[31.0], [47.0], [110.0]]).tolist())
    assert counts.tolist() == [1, 1, 1]


def ages(block):
    return block.numbers.sum(axis=0).astype(np.int64), np.array([[len(block)]])


def test_a_kernels_arrays_lie_one_after_the_other():
    assert totals(SumKernel(ages, SCREEN.empty())).dense(2).tolist() == [188, 3]


def test_rows_that_are_refused_are_counted_and_not_computed_with():
    odd = [*AGES, pa.record_batch({"age": [None, 3.0]})]
    found = totals(CountCells(Grid(BOX, 2)), odd)
    assert found.tally(["age"]).nonfinite == 1
    assert found.tally(["age"]).nonfinite_columns == {"age"}


def test_what_shoal_raises_is_handed_on_and_told_in_words():
    text = [pa.record_batch({"age": ["31", "often"]})]
    assert totals(TallyOnly(), text).problem
    (told,) = ErrorTexts(PassTask(SCREEN, SCREEN, TallyOnly()))(text)
    (text_of_error,) = told["error"].to_pylist()
    assert isinstance(from_literal(text_of_error), NotNumeric)
    assert "often" not in str(told.to_pydict())
    assert list(ErrorTexts(PassTask(SCREEN, SCREEN, TallyOnly()))(AGES)) == []


def test_what_a_library_raises_loses_its_words():
    def choke():
        raise ValueError("could not convert 'Ada'")

    with pytest.raises(RuntimeError, match="ValueError in a task") as caught:
        hide_error_text(choke)
    assert "Ada" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_no_batches_are_gathered_to_none():
    assert list(merge_batches([])) == []


def totals_of(*pairs):
    """What Spark would add up."""
    keys = np.concatenate([keys for keys, _ in pairs])
    values = np.concatenate([values for _, values in pairs])
    table = pa.table({"key": keys, "value": values}).group_by("key").aggregate([("value", "sum")])
    return PartitionSums(table.select(["key", "value_sum"]))


def test_tallies_of_partitions_add_up_to_the_tally_of_all():
    first = Tally(5, 4, 1, 0, 0, frozenset(["age"]), frozenset())
    second = Tally(7, 7, 0, 2, 1, frozenset(), frozenset(["visits"]))
    totals = totals_of(tally_pairs(first, NAMES), tally_pairs(second, NAMES))
    assert totals.tally(NAMES) == first + second
    assert not totals.problem


def test_no_rows_are_a_tally_of_nothing():
    empty = np.empty(0, dtype=np.int64)
    totals = totals_of((empty, empty))
    assert totals.tally(NAMES) == Tally()
    assert totals.dense(3).tolist() == [0, 0, 0]


def test_amounts_come_out_by_place_and_rising():
    pairs = np.array([7, 2, 2]), np.array([1, 3, 4])
    totals = totals_of(tally_pairs(Tally(8, 8), NAMES), pairs)
    assert [part.tolist() for part in totals.sparse()] == [[2, 7], [7, 1]]
    assert totals.dense(9).tolist() == [0, 0, 7, 0, 0, 0, 0, 1, 0]


def test_one_task_in_trouble_is_heard():
    fine = tally_pairs(Tally(8, 8), NAMES)
    assert totals_of(fine, (np.array([PROBLEM]), np.array([1]))).problem
