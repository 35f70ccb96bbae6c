import math
from itertools import permutations

import numpy as np
import pytest

from shoal.errors import DimensionMismatch, InvalidSetting, NotNumeric
from shoal.evaluate import cell_dissimilarity, cluster_dissimilarity


def brute_force(true: np.ndarray, found: np.ndarray) -> float:
    """Every way to match, with as many dummies on either side as it takes."""
    A = [set(np.flatnonzero(true == i)) for i in range(true.max() + 1)]
    B = [set(np.flatnonzero(found == i)) for i in range(found.max() + 1)]
    A, B = A + [set()] * len(B), B + [set()] * len(A)
    cost = [[max(len(a - b), len(b - a)) for b in B] for a in A]
    best = min(
        sum(cost[i][j] for i, j in enumerate(order)) for order in permutations(range(len(B)))
    )
    return best / np.count_nonzero(true >= 0)


@pytest.mark.parametrize("seed", range(12))
def test_the_matching_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    true, found = rng.integers(-1, 3, 20), rng.integers(-1, rng.integers(1, 4), 20)
    assert cluster_dissimilarity(true, found) == pytest.approx(brute_force(true, found))


def test_equal_labellings_do_not_differ_whatever_the_numbers():
    assert cluster_dissimilarity([0, 0, 3, -1], [9, 9, 2, -1]) == 0
    assert cell_dissimilarity([0, 0, 3, -1], [9, 9, 2, -1]) == 0


def test_spurious_clusters_are_not_free():
    true = np.array([0, 0, 0, -1, -1, -1])
    assert cluster_dissimilarity(true, [0, 0, 0, 1, 1, 2]) == 1
    assert cluster_dissimilarity([0, 0, 0, 1, 1, 2], true) == pytest.approx(3 / 6)


def test_a_pair_of_two_is_scored_like_any_other():
    assert cluster_dissimilarity([0, 0, -1], [-1, 0, 0]) == pytest.approx(1 / 2)


def test_it_may_exceed_one_unless_divided_by_both_sides():
    true, found = [0, -1, -1, -1], [-1, 0, 0, 0]
    assert cell_dissimilarity(true, found) == 4
    assert cell_dissimilarity(true, found, normalise="both") == 1
    assert cluster_dissimilarity(true, found) == 3


def test_no_true_cluster_is_matched_by_none_only():
    assert cluster_dissimilarity([-1, -1], [-1, -1]) == 0
    assert cluster_dissimilarity([-1, -1], [0, -1]) == math.inf


def test_cells_of_another_grid_are_refused():
    with pytest.raises(DimensionMismatch):
        cluster_dissimilarity([0, 1], [0, 1, 1])


def test_words_are_no_labels():
    with pytest.raises(NotNumeric):
        cell_dissimilarity(["a"], ["b"])


def test_an_unknown_divisor_is_refused():
    with pytest.raises(InvalidSetting, match="normalise"):
        cell_dissimilarity([0], [0], normalise="mean")
