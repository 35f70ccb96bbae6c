import math

import numpy as np
import pytest
from sklearn import metrics
from sklearn.cluster import OPTICS

from shoal import evaluate
from shoal.errors import DimensionMismatch, NotFinite

rng = np.random.default_rng(2)
X = rng.normal(size=(300, 3)) + np.repeat(np.eye(3) * 4, 100, axis=0)
LABELS = np.repeat([0, 1, 2], 100)
SCORES = {
    evaluate.calinski_harabasz: metrics.calinski_harabasz_score,
    evaluate.davies_bouldin: metrics.davies_bouldin_score,
    evaluate.silhouette: metrics.silhouette_score,
}
every_score = pytest.mark.parametrize("score", SCORES, ids=lambda score: score.__name__)


@every_score
def test_it_is_scikit_learns(score):
    assert score(X, LABELS) == pytest.approx(SCORES[score](X, LABELS))


@every_score
def test_rows_of_no_cluster_are_left_out(score):
    labels = np.where(np.arange(300) % 7, LABELS, -1)
    inside = labels >= 0
    assert score(X, labels) == pytest.approx(SCORES[score](X[inside], labels[inside]))


@every_score
@pytest.mark.parametrize(
    "labels", [[0] * 4, [-1] * 4, [0, -1, -1, -1], [0, 1, 2, 3], [0, 1, -1, -1]]
)
def test_clusters_that_cannot_stand_apart_have_no_score(score, labels):
    assert math.isnan(score(X[:4], labels))


@every_score
def test_no_rows_have_no_score(score):
    assert math.isnan(score(np.empty((0, 2)), []))


@every_score
def test_a_method_that_finds_only_noise_has_no_score(score):
    with pytest.warns(UserWarning, match="outliers"):
        found = OPTICS(min_samples=20, max_eps=1e-6).fit_predict(X)
    assert (found == -1).all()
    assert math.isnan(score(X, found))


@every_score
def test_equal_points_in_two_clusters_are_scored_as_scikit_learn_does(score):
    same, labels = np.zeros((4, 2)), [0, 0, 1, 1]
    assert score(same, labels) == SCORES[score](same, labels)


@every_score
def test_wrong_arrays_are_refused(score):
    with pytest.raises(DimensionMismatch):
        score(X, LABELS[:5])
    with pytest.raises(NotFinite):
        score([[math.nan], [1.0]], [0, 1])


def test_many_rows_are_sampled_by_the_seed():
    some = [evaluate.silhouette(X, LABELS, most=60, random_state=seed) for seed in (0, 0, 1)]
    assert some[0] == some[1] != some[2]
    assert some[0] == pytest.approx(metrics.silhouette_score(X, LABELS), abs=0.1)
