"""Agreement of two labellings, beside scikit-learn and published examples."""

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from sklearn import metrics

from shoal import evaluate
from shoal.errors import DimensionMismatch, InvalidSetting, NotNumeric
from shoal.evaluate import cell_dissimilarity, cluster_dissimilarity
from shoal.evaluate._agreement import agreement_of_counts

SCORES = {
    evaluate.ami: metrics.adjusted_mutual_info_score,
    evaluate.ari: metrics.adjusted_rand_score,
    evaluate.nmi: metrics.normalized_mutual_info_score,
    evaluate.rand_index: metrics.rand_score,
    evaluate.fowlkes_mallows: metrics.fowlkes_mallows_score,
}
every_score = pytest.mark.parametrize("score", SCORES, ids=lambda score: score.__name__)
chance_corrected = pytest.mark.parametrize("score", [evaluate.ami, evaluate.ari])

rng = np.random.default_rng(4)
PAIRS = {
    "alike": (np.repeat([0, 1, 2], 40), np.repeat([2, 0, 1], 40)),
    "chance": (rng.integers(0, 4, 300), rng.integers(0, 3, 300)),
    "near": (np.repeat([0, 1], 50), np.repeat([0, 1, 2], [50, 30, 20])),
    "one group": (np.zeros(9, dtype=int), np.zeros(9, dtype=int)),
    "one group on one side": (np.zeros(9, dtype=int), np.arange(9) % 3),
    "all apart": (np.arange(6), np.arange(6)),
}


@every_score
def test_it_is_scikit_learns(score):
    rng = np.random.default_rng(3)
    true = rng.integers(-1, 4, 300)
    found = np.where(rng.random(300) < 0.6, true, rng.integers(-1, 4, 300))
    assert score(true, found) == SCORES[score](true, found)
    assert 0 < score(true, found) < 1


def test_mutual_information_is_scikit_learns_and_ends_at_the_entropy():
    true, predicted = PAIRS["chance"]
    assert evaluate.mi(true, predicted) == metrics.mutual_info_score(true, predicted)
    assert evaluate.mi([0, 0, 1, 1], [3, 3, 7, 7]) == pytest.approx(math.log(2))
    assert evaluate.mi([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(0, abs=1e-12)
    assert math.isnan(evaluate.mi([3], [0]))


def mutual_information(true, predicted):
    """By definition, over the labels of each side."""
    total = 0.0
    for i in set(true.tolist()):
        for j in set(predicted.tolist()):
            both = np.mean((true == i) & (predicted == j))
            if both:
                total += both * math.log(both / np.mean(true == i) / np.mean(predicted == j))
    return total


def disagreeing_pairs(true, predicted):
    """By definition, over all pairs of rows."""
    return sum(
        (true[i] == true[j]) != (predicted[i] == predicted[j])
        for i, j in combinations(range(len(true)), 2)
    )


@pytest.mark.parametrize("name", PAIRS)
def test_mutual_information_and_mirkin_are_those_of_the_definition(name):
    true, predicted = PAIRS[name]
    assert evaluate.mi(true, predicted) == pytest.approx(mutual_information(true, predicted))
    assert evaluate.mirkin(true, predicted) == 2 * disagreeing_pairs(true, predicted)


@pytest.mark.parametrize("seed", range(6))
def test_mirkin_is_a_metric_tied_to_the_rand_index(seed):
    rng = np.random.default_rng(seed)
    a, b, c = rng.integers(-1, 4, (3, 40))
    assert evaluate.mirkin(a, a) == 0
    assert evaluate.mirkin(a, b) == evaluate.mirkin(b, a)
    assert evaluate.mirkin(a, c) <= evaluate.mirkin(a, b) + evaluate.mirkin(b, c)
    assert 1 - evaluate.mirkin(a, b) / (40 * 39) == pytest.approx(evaluate.rand_index(a, b))


def test_mirkin_at_its_ends():
    assert evaluate.mirkin(np.zeros(7, dtype=int), np.arange(7)) == 7 * 6
    assert evaluate.mirkin([], []) == evaluate.mirkin([3], [0]) == 0


def test_mirkin_of_other_rows_is_refused():
    with pytest.raises(DimensionMismatch):
        evaluate.mirkin([0, 1], [0, 1, 2])


def test_mirkin_of_ten_billion_rows_is_exact():
    half = 5 * 10**9
    assert agreement_of_counts([[half, 1], [0, half]])["mirkin"] == 2 * (half + half)


@every_score
def test_names_of_clusters_do_not_matter(score):
    assert score([0, 0, 1, 2, 2], [7, 7, -1, 3, 3]) == pytest.approx(1)


def test_the_example_of_rands_paper():
    """Rand 1971: ((a, b, c), (d, e, f)) and ((a, b), (c, d, e), (f)) agree on 9 pairs of 15."""
    assert evaluate.rand_index([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 2]) == pytest.approx(9 / 15)


def test_the_manning_example():
    """Manning, Raghavan, Schütze, figure 16.4: 17 letters in three clusters; NMI .36, RI .68."""
    true = [0] * 5 + [1] + [0] + [1] * 4 + [2] + [0] * 2 + [2] * 3
    found = [0] * 6 + [1] * 6 + [2] * 5
    assert evaluate.rand_index(true, found) == pytest.approx(0.68, abs=0.005)
    assert evaluate.nmi(true, found) == pytest.approx(0.36, abs=0.006)


@chance_corrected
def test_labels_by_chance_score_about_nothing(score):
    rng = np.random.default_rng(5)
    assert abs(score(rng.integers(0, 5, 5_000), rng.integers(0, 5, 5_000))) < 0.01


@chance_corrected
def test_calling_everything_noise_agrees_with_nothing(score):
    assert score([0, 0, 1, 1], [-1, -1, -1, -1]) == 0


@every_score
def test_fewer_than_two_rows_say_nothing(score):
    assert math.isnan(score([], []))
    assert math.isnan(score([3], [0]))


@every_score
def test_other_rows_are_refused(score):
    with pytest.raises(DimensionMismatch):
        score([0, 1], [0, 1, 2])


@pytest.mark.parametrize("name", PAIRS)
def test_counts_of_pairs_of_labels_give_the_scores_of_the_labels(name):
    first, second = PAIRS[name]
    table = np.zeros((first.max() + 1, second.max() + 1), dtype=np.int64)
    np.add.at(table, (first, second), 1)
    for score, value in agreement_of_counts(table).items():
        assert value == pytest.approx(getattr(evaluate, score)(first, second), abs=1e-9), score


def test_ten_billion_rows_are_no_trouble():
    found = agreement_of_counts([[5 * 10**9, 0], [0, 5 * 10**9]])
    ones = {"ari": 1.0, "rand_index": 1.0, "fowlkes_mallows": 1.0, "nmi": 1.0}
    assert found == ones | {"mi": pytest.approx(math.log(2)), "mirkin": 0}


def test_one_row_says_nothing():
    scores = agreement_of_counts([[1]])
    assert scores.pop("mirkin") == 0  # no pair, none that disagrees
    assert all(map(math.isnan, scores.values()))


@pytest.mark.parametrize("counts", [[1, 2], [[0.5, 1.0]]])
def test_what_is_no_table_of_counts_is_refused(counts):
    with pytest.raises(DimensionMismatch, match="got shape"):
        agreement_of_counts(counts)


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


def test_spurious_clusters_are_free_where_only_true_ones_are_charged():
    true = np.array([0, 0, 0, -1, -1, -1])
    assert cluster_dissimilarity(true, [0, 0, 0, 1, 1, 2], charge="true") == 0
    assert cluster_dissimilarity([0, 0, 0, 1, 1, 2], true, charge="true") == pytest.approx(3 / 6)
    with pytest.raises(InvalidSetting, match="charge"):
        cluster_dissimilarity(true, true, charge="false")


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
