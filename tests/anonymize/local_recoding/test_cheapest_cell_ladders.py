"""Maps of a ladder are nested, from the leaves to the most general labels allowed."""

from itertools import pairwise

import numpy as np
import pytest

from shoal.anonymize.local_recoding._cheapest_full_cell import LADDERS, GeneralizationMaps
from shoal.anonymize.local_recoding._units import Units
from shoal.anonymize.search_problem import Cut, problem_of
from shoal.domain import Taxonomy

TREE = Taxonomy.nested("*", {"low": ["1", "2"], "high": ["3", "4", "5"]})  # * low 1 2 high 3 4 5
FLAT = Taxonomy.nested("*", ["x", "y"])
CODES = [[0, 0], [1, 1], [2, 0], [2, 0], [2, 0], [3, 1], [4, 0]]


def units(**asked):
    return Units(problem_of({"q": TREE, "r": FLAT}, CODES, k=2, **asked))


def test_steps_climb_all_leaves_at_once():
    maps = LADDERS["steps"](units(), 0)
    assert [m.tolist() for m in maps] == [[2, 3, 5, 6, 7], [1, 1, 4, 4, 4], [0, 0, 0, 0, 0]]


def test_mass_generalises_what_few_rows_have_first():
    maps = LADDERS["mass"](units(), 0)
    assert [m.tolist() for m in maps] == [
        [2, 3, 5, 6, 7],
        [1, 1, 5, 6, 7],
        [1, 1, 4, 4, 4],
        [0, 0, 0, 0, 0],
    ]


@pytest.mark.parametrize("kind", LADDERS)
def test_no_map_leads_above_the_most_general_labels(kind):
    below = units(start=Cut(((1, 4), (1, 2))))
    ladder = GeneralizationMaps.of(below, kind)
    assert ladder.maps[0][-1].tolist() == [1, 1, 4, 4, 4]
    assert len(ladder.maps[1]) == 1


@pytest.mark.parametrize("kind", LADDERS)
def test_maps_of_a_wide_column_are_nested_and_few(kind):
    decades = {f"{t}x": [f"{t}{i}" for i in range(10)] for t in range(9)}
    halves = {"first": [{t: decades[t]} for t in list(decades)[:5]], "rest": []}
    halves["rest"] = [{t: decades[t]} for t in list(decades)[5:]]
    tree = Taxonomy.nested("*", halves)
    codes = np.random.default_rng(5).integers(0, 90, (400, 1)) ** 2 // 90
    found = Units(problem_of({"q": tree}, codes, k=2))
    maps = LADDERS[kind](found, 0)
    assert maps[0].tolist() == found.problem.trees[0].leaf.tolist()
    assert set(maps[-1].tolist()) == {0}
    assert len(maps) <= 10
    for fine, coarse in pairwise(maps):
        pairs = set(zip(fine.tolist(), coarse.tolist(), strict=True))
        assert len(pairs) == len({node for node, _ in pairs})  # a node goes to one node


def test_a_path_raises_one_map_at_a_time_up_to_the_top():
    ladder = GeneralizationMaps.of(units(), "steps")
    path = ladder.path(np.ones(2))
    assert path == [(1, 0), (2, 0), (2, 1)]  # both end at mean 1, so QID order decides


def test_a_tilted_path_raises_the_cheaper_qid_first():
    ladder = GeneralizationMaps.of(units(), "steps")
    assert ladder.path(np.array([100.0, 1.0]))[0] == (0, 1)
    assert ladder.path(np.array([0.01, 1.0]))[1] == (2, 0)


def test_the_first_path_is_the_plain_one():
    ladder = GeneralizationMaps.of(units(), "steps")
    paths = ladder.paths(3, np.random.default_rng(1))
    assert len(paths) == 3
    assert paths[0] == ladder.path(np.ones(2))


def test_a_cut_costs_what_its_maps_cost_a_row():
    ladder = GeneralizationMaps.of(units(), "steps")
    assert ladder.mean((0, 0)) == 0
    assert ladder.mean((2, 1)) == pytest.approx(2.0)
