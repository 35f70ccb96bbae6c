import numpy as np
import pytest

from shoal.audit import neighbour_pairs, search_worst_row
from shoal.audit.loss._neighbours import PLACES
from shoal.domain import Box, Schema
from shoal.privacy import PureDP
from shoal.synopsis import UniformGrid

PLANE = Box(x=(-1, 1), y=(0, 5))


def grid(**settings):
    return UniformGrid(**{"domain": PLANE, "nonfinite": "drop", "cells": 4} | settings)


def as_rows(table):
    return sorted(map(tuple, np.nan_to_num(table, nan=77.0).tolist()))


def test_every_place_is_tried_and_tables_differ_by_one_row():
    pairs = list(neighbour_pairs(grid(epsilon=1), 45))
    assert {place for place in PLACES if any(place in pair.about for pair in pairs)} == set(PLACES)
    for pair in pairs:
        before, after = as_rows(pair.table), as_rows(pair.neighbour)
        assert len(after) == len(before) + 1
        for row in before:
            after.remove(row)
        assert len(after) == 1
    assert any(len(pair.table) == 0 for pair in pairs)


def test_a_replaced_row_leaves_the_number_of_rows():
    for pair in neighbour_pairs(grid(privacy=PureDP(1, neighbours="replace-one")), 27):
        assert len(pair.table) == len(pair.neighbour) >= 1
        assert (np.nan_to_num(pair.table) != np.nan_to_num(pair.neighbour)).any(axis=1).sum() <= 1


def test_people_come_with_all_their_rows():
    people = Schema.of_box(PLANE, person="who", max_rows_per_person=3)
    pairs = list(neighbour_pairs(grid(epsilon=1, domain=people), 40))
    more = {len(pair.neighbour["who"]) - len(pair.table["who"]) for pair in pairs}
    assert more == {1, 3, 4, 50}
    for pair in pairs:
        assert "somebody" not in pair.table["who"]
        assert set(pair.neighbour) == {"x", "y", "who"}


def test_a_table_that_would_be_refused_is_not_among_them():
    for pair in neighbour_pairs(grid(epsilon=1, nonfinite="refuse"), 27):
        assert np.isfinite(pair.neighbour).all()


def test_pairs_are_the_same_for_a_seed():
    one, two = (list(neighbour_pairs(grid(epsilon=1), 9, random_state=3)) for _ in range(2))
    assert all(
        np.array_equal(a.neighbour, b.neighbour, equal_nan=True)
        for a, b in zip(one, two, strict=True)
    )


def test_the_search_climbs_to_the_row_that_loses_most():
    """A release whose loss grows with the row's first column: the largest is at the box's end."""
    from shoal.audit.loss._twins import SwappedSplit

    class Honest(SwappedSplit):
        def spend(self, spending):
            from shoal.mechanisms import KNorm

            (sums,) = spending.sum(
                lambda block: (np.rint(100 * block.numbers).astype(int).sum(axis=0),)
            )
            self.sums_ = spending.release(KNorm(spending.budget, 510), sums, of="sums")
            return self

    pair, seen = search_worst_row(Honest(domain=PLANE), np.zeros((3, 2)), evaluations=40)
    assert seen.verdict == "consistent"
    assert seen.worst == pytest.approx(np.hypot(100, 500) / 510, abs=0.01)
    assert np.abs(pair.neighbour).max() > 4.9


def test_the_search_stops_at_a_fault():
    from shoal.audit.loss._twins import twins

    pair, seen = search_worst_row(twins["exact number of rows kept"], np.zeros((3, 2)))
    assert seen.verdict == "broken"
    assert pair.about == "the worst row that was found"
