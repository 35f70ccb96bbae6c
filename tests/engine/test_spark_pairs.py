import numpy as np
import pyarrow as pa

from shoal.engine.screen import Tally
from shoal.engine.spark_pairs import PROBLEM, Totals, tally_pairs

NAMES = ["age", "visits"]


def totals_of(*pairs):
    """What Spark would add up."""
    keys = np.concatenate([keys for keys, _ in pairs])
    values = np.concatenate([values for _, values in pairs])
    table = pa.table({"key": keys, "value": values}).group_by("key").aggregate([("value", "sum")])
    return Totals(table.select(["key", "value_sum"]))


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
