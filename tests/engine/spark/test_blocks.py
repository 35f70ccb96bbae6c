import numpy as np
import pyarrow as pa
import pytest

from shoal.domain import Box
from shoal.engine import _people as people
from shoal.engine._rows import Block, Tally, Terms
from shoal.engine.row_screening import Screen, ScreenedBatch
from shoal.engine.spark import _session as session
from shoal.engine.spark._blocks import (
    AppendColumns,
    CountGroups,
    DrawLots,
    KernelColumns,
    LimitRowsPerPerson,
    MapBlocks,
    WithOwners,
    pack_batches,
    unpack_batch,
)
from shoal.randomness import Randomness

BOX = Box(x=(0, 9))
SCREEN = Screen(BOX, Terms())
SCHEMA = pa.schema([("x", pa.float64())])


class Noisy:
    """A kernel that draws."""

    noise = Randomness(7).noise.for_tasks()

    def at(self, *place):
        return lambda block: block.numbers + self.noise.stream(*place).random((len(block), 1))


def batch_of(*values):
    return pa.record_batch({"x": np.array(values, dtype=float)})


@pytest.fixture
def at(monkeypatch):
    """Run a task as if it were at a partition."""

    def run(partition, *batches, task=None):
        monkeypatch.setattr(session, "partition_id", lambda: partition)
        made = (task or MapBlocks(SCREEN, KernelColumns(Noisy(), SCHEMA)))(batches)
        return pa.Table.from_batches(list(made))

    return run


def test_a_task_run_twice_draws_the_same(at):
    assert at(3, batch_of(1, 2, 3)).equals(at(3, batch_of(1, 2, 3)))


def test_equal_rows_in_two_partitions_share_no_noise(at):
    first, second = at(0, batch_of(1, 2, 3)), at(1, batch_of(1, 2, 3))
    assert not np.any(first["x"].to_numpy() == second["x"].to_numpy())


def test_other_rows_in_the_same_place_get_other_noise(at):
    first = at(0, batch_of(1, 2, 3))["x"].to_numpy() - [1, 2, 3]
    second = at(0, batch_of(3, 2, 1))["x"].to_numpy() - [3, 2, 1]
    assert not np.any(np.isclose(first, second))


def test_lines_get_columns_after_their_own_in_their_order(at):
    task = AppendColumns(SCREEN, KernelColumns(lambda block: block.numbers * 2, SCHEMA))
    lines = pa.record_batch({"name": ["a", "b"], "x": [1.0, 20.0]})
    (both,) = at(0, lines, task=task).to_batches()
    assert [column.to_pylist() for column in both.columns] == [["a", "b"], [1.0, 20.0], [2.0, 18.0]]


def test_a_line_that_is_left_out_stops_the_task(at):
    task = AppendColumns(SCREEN, KernelColumns(lambda block: block.numbers * 2, SCHEMA))
    with pytest.raises(Exception, match="left out"):
        at(0, pa.record_batch({"x": [1.0, None]}), task=task)


def test_groups_are_counted_block_by_block(at):
    counted = at(0, batch_of(1, 2, 1), task=MapBlocks(SCREEN, CountGroups(["x"], SCREEN)))
    assert sorted(zip(*counted.to_pydict().values(), strict=True)) == [(1.0, 2), (2.0, 1)]


def test_lots_are_drawn_by_place_and_the_lowest_stay(at):
    task = MapBlocks(SCREEN, DrawLots(2, 5))
    first, again, other = (at(p, batch_of(1, 2, 3, 4), task=task) for p in (0, 0, 1))
    assert first.equals(again)
    assert first["lot"].to_pylist() == sorted(first["lot"].to_pylist())
    assert first.num_rows == 2
    assert first["lot"] != other["lot"]


def test_a_person_keeps_so_many_rows_and_always_the_same():
    schema = people.owned_rows_schema(1, 0)
    block = Block(np.arange(6.0)[:, None], np.empty((6, 0), np.int32))
    owners = pa.array(["ada", "bob", "ada", "ada", "bob", "cyd"])
    keyed = WithOwners(schema)(ScreenedBatch(block, Tally(6, 6), owners), 0)
    kept = [
        sorted(
            value
            for batch in LimitRowsPerPerson(schema, 2, "k")(parts)
            for value in batch["c0"].to_pylist()
        )
        for parts in ([keyed], [keyed.slice(3), keyed.slice(0, 3)])
    ]
    assert kept[0] == kept[1]
    assert len(kept[0]) == 5
    assert list(LimitRowsPerPerson(schema, 2, "k")([])) == []


def test_what_is_packed_comes_out_the_same():
    (line,) = pack_batches(iter)([batch_of(1, 2)])
    assert unpack_batch(line["batch"][0].as_py()).equals(batch_of(1, 2))
