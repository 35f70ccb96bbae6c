"""Agreement of two labellings, beside scikit-learn and published examples."""

import math

import numpy as np
import pytest
from sklearn import metrics

from shoal import evaluate
from shoal.errors import DimensionMismatch

SCORES = {
    evaluate.ami: metrics.adjusted_mutual_info_score,
    evaluate.ari: metrics.adjusted_rand_score,
    evaluate.nmi: metrics.normalized_mutual_info_score,
    evaluate.rand_index: metrics.rand_score,
    evaluate.fowlkes_mallows: metrics.fowlkes_mallows_score,
}
every_score = pytest.mark.parametrize("score", SCORES, ids=lambda score: score.__name__)
chance_corrected = pytest.mark.parametrize("score", [evaluate.ami, evaluate.ari])


@every_score
def test_it_is_scikit_learns(score):
    rng = np.random.default_rng(3)
    true = rng.integers(-1, 4, 300)
    found = np.where(rng.random(300) < 0.6, true, rng.integers(-1, 4, 300))
    assert score(true, found) == SCORES[score](true, found)
    assert 0 < score(true, found) < 1


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
