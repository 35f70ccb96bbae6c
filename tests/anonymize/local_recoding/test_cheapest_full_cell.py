"""Full cells are published, the cheapest first."""

import numpy as np
import pytest

from shoal.anonymize.local_recoding import _cheapest_full_cell as cheapest_cell
from shoal.anonymize.local_recoding._cheapest_full_cell import (
    LADDERS,
    FreeUnits,
    GeneralizationMaps,
    choose_number_of_paths,
    group_by_cheapest_cell,
)
from shoal.anonymize.local_recoding._grouping import Grouping
from shoal.anonymize.local_recoding._units import Units
from shoal.anonymize.search_problem import problem_of
from shoal.domain import Taxonomy

TREE = Taxonomy.nested("*", {"low": ["1", "2"], "mid": ["3", "4"], "high": ["5", "6", "7"]})


def units(rows=200, d=2, k=3, seed=1, **asked):
    codes = np.random.default_rng(seed).integers(0, 7, (rows, d)) ** 2 // 7
    return Units(problem_of({f"q{i}": TREE for i in range(d)}, codes, k=k, **asked))


def search(found, kind="steps", paths=20, **asked):
    rng = np.random.default_rng(2)
    return group_by_cheapest_cell(
        found, GeneralizationMaps.of(found, kind), rng, paths=paths, **asked
    )


@pytest.mark.parametrize("kind", LADDERS)
def test_published_cells_are_full_and_fewer_than_k_people_are_left(kind):
    found = units()
    classes = search(found, kind)
    inside = np.flatnonzero(classes >= 0)
    assert found.full(inside, classes[inside], classes.max() + 1).all()
    assert found.people[classes < 0].sum() < 3


def test_combinations_of_k_people_keep_their_leaves():
    found = units(rows=400)
    classes = search(found)
    many = np.flatnonzero(found.people >= 3)
    assert len(many)
    assert len(set(classes[many].tolist())) == len(many)


def test_people_in_several_combinations_are_counted_once():
    found = units(people=np.arange(200) // 4)
    assert not found.adds_up
    classes = search(found)
    inside = np.flatnonzero(classes >= 0)
    assert found.people_of(inside, classes[inside], classes.max() + 1).min() >= 3


def test_bisecting_large_tables_publishes_full_cells_too(monkeypatch):
    found = units(d=4)
    plain = Grouping(found, search(found)).loss
    monkeypatch.setattr(cheapest_cell, "_BISECT", 0)
    classes = search(found)
    assert Grouping(found, classes).loss == pytest.approx(plain, rel=0.1)
    assert found.people[classes < 0].sum() < 3


@pytest.mark.heavy
def test_more_paths_find_cheaper_classes():
    found = units(rows=600, d=5, k=5)
    few, many = (Grouping(found, search(found, paths=n)).loss for n in (1, 60))
    assert many < few


def test_large_tables_are_searched_along_fewer_paths():
    small, large = units(d=6), units(rows=20_000, d=6)
    ladders = [GeneralizationMaps.of(found, "steps") for found in (small, large)]
    assert choose_number_of_paths(small, ladders[0]) == 600
    assert choose_number_of_paths(large, ladders[1], 0.001) == 5
    assert choose_number_of_paths(large, ladders[1]) < 3e9 / large.codes.size


def test_progress_ends_near_one():
    shares = []
    search(units(), progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] > 0.98


def test_taken_units_are_in_no_cell_any_more():
    found = units(rows=400)
    ladder = GeneralizationMaps.of(found, "steps")
    free = FreeUnits(found, ladder, np.random.default_rng(1))
    top = tuple(len(maps) - 1 for maps in ladder.maps)
    assert sorted(free.cells(top).units.tolist()) == list(range(found.size))
    free.take(np.arange(0, found.size, 2))
    assert sorted(free.cells(top).units.tolist()) == list(range(1, found.size, 2))
    free.take(np.arange(1, found.size, 2))
    assert free.cells(top) is None
    assert free.people == 0
