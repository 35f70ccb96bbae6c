import inspect
import pkgutil
from importlib import import_module

import numpy as np

import shoal.mechanisms
from shoal.audit import Case, mechanisms
from shoal.audit.cases._mechanisms import _case
from shoal.mechanisms import Geometric
from shoal.mechanisms.registry import Pair
from shoal.privacy import PureDP

FLAWED = "shoal.audit.twins._flawed_mechanisms"  # twins have cases of their own
NAMES = {"LocalGrid": "localgridof", "NDLaplace": "ndlaplaced="}


def released_by_the_package():
    """Whatever in the package releases anything, by name."""
    for module in pkgutil.walk_packages(shoal.mechanisms.__path__, "shoal.mechanisms."):
        for name, made in vars(import_module(module.name)).items():
            own = inspect.isclass(made) and made.__module__ == module.name != FLAWED
            if own and hasattr(made, "release") and not inspect.isabstract(made):
                yield name


def test_every_mechanism_has_a_case():
    cases = [name.replace("-", "").replace(" ", "") for name in mechanisms]
    found = list(released_by_the_package())
    assert {"Geometric", "ResidualSign", "LocalHash"} <= set(found)
    for name in found:
        assert any(case.startswith(NAMES.get(name, name).lower()) for case in cases), name


def test_every_remap_has_a_case():
    assert {"clamp at 1", "snap at 1", "bayes remap"} <= set(mechanisms)


def test_every_case_says_what_its_pair_is_and_has_a_claim():
    for case in mechanisms.values():
        assert isinstance(case, Case)
        assert case.about
        assert case.claim is not None


def test_a_case_is_repeatable():
    case = mechanisms["sparse grid"]
    assert case.run(draws=2_000) == case.run(draws=2_000)


def test_grids_of_one_cell_are_cells_of_one_grid():
    """An empty cell shows with probability P[noise >= 3], an occupied one with P[noise >= 2]."""
    draw = mechanisms["sparse grid"].mechanism.draw
    a = np.exp(-1.0)
    for rows, reach in ((0, a**3 / (1 + a)), (1, a**2 / (1 + a))):
        shown = np.mean(draw(rows, 100_000, np.random.default_rng(rows)) > 0)
        assert abs(shown - reach) < 4.9 * np.sqrt(reach / 100_000)


def test_pairs_lie_apart_by_the_sensitivity_and_no_more():
    for name, case in mechanisms.items():
        if name.startswith(("geometric", "k-norm", "gaussian")):
            first, second = (np.ravel(x) for x in case.pair)
            moved = np.abs(first - second)
            length = moved.sum() if name.startswith("geometric") else np.linalg.norm(moved)
            assert length == case.mechanism.sensitivity, name


def test_scores_move_by_one_at_most():
    first, second = mechanisms["exponential"].pair
    assert np.abs(first.scores - second.scores).max() == 1


def test_a_threshold_s_points_change_their_score_by_one_at_most():
    def point_scores(intervals):
        return np.repeat(intervals.scores, np.diff(intervals.edges))

    first, second = (point_scores(x) for x in mechanisms["threshold draw"].pair)
    assert first.size == second.size == 16
    assert np.abs(first - second).max() == 1


def test_a_tree_is_told_as_text():
    trees = mechanisms["tree splits"].mechanism.draw(2, 3, np.random.default_rng(1))
    assert len(trees) == 3
    assert all(set(tree) <= set("01/") and tree[0] in "01" for tree in trees)


def test_a_case_is_held_against_the_mechanism_s_own_guarantee_unless_told():
    pair = Pair(Geometric(PureDP(2)), (5, 6), "counts 5 and 6")
    assert _case(pair).claim == PureDP(2)
    assert _case(pair._replace(claim=PureDP(1))).claim == PureDP(1)
