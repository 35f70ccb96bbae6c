import math

import numpy as np
import pytest
from sklearn.cluster import KMeans

import shoal
from shoal import evaluate
from shoal.domain import Box
from shoal.errors import DimensionMismatch, InvalidSetting
from shoal.evaluate.score_table import Clustering, _ScoredRows

rng = np.random.default_rng(11)
PLACES = np.array([[0.2, 0.2], [0.8, 0.2], [0.2, 0.8], [0.8, 0.8], [0.5, 0.5]])
X = np.clip(rng.normal(0, 0.04, (2_000, 2)) + np.repeat(PLACES, 400, axis=0), 0, 1)
BOX = shoal.Box.unit(2)

ROWS = np.array([[0.0, 10.0], [1.0, 20.0], [9.0, 80.0], [10.0, 90.0]])


def fitted(rows, seed=1, k=5):
    return shoal.PrivateKMeans(k, epsilon=2, domain=BOX, random_state=seed).fit(rows)


def lines(table):
    return {line["score"]: line for line in table.to_pylist()}


@pytest.fixture(scope="module")
def scored():
    nothing = [fitted(np.full_like(X, 0.5), seed) for seed in (2, 3, 4)]
    return lines(evaluate.score(fitted(X), X, control=nothing))


@pytest.mark.heavy
def test_a_model_gets_every_score(scored):
    assert list(scored) == [
        "ami", "ari", "nmi", "rand_index", "fowlkes_mallows", "mi", "normalised_mirkin",
        "silhouette", "calinski_harabasz", "davies_bouldin",
        "normalised_inertia", "centroid_index", "aee", "relative_aee",
    ]  # fmt: skip


def test_a_good_model_closes_the_gap_from_the_control_to_plain(scored):
    for name in ("ami", "ari", "normalised_inertia", "aee", "silhouette"):
        assert 0.9 < scored[name]["closed"] < 1.05
        assert scored[name]["note"] is None or "high" in scored[name]["note"]


@pytest.mark.heavy
def test_the_plain_answer_is_the_best_by_its_own_measure(scored):
    assert scored["ami"]["plain"] == scored["normalised_inertia"]["plain"] == 1
    assert scored["centroid_index"]["plain"] == scored["aee"]["plain"] == 0


def test_shuffled_labels_agree_with_nothing_and_have_no_centres(scored):
    assert abs(scored["ami"]["shuffled"]) < 0.02
    assert scored["rand_index"]["shuffled"] > 0.5  # not corrected for chance: the line tells it
    assert scored["normalised_inertia"]["shuffled"] is None


def test_the_mirkin_line_is_the_metric_over_the_square_of_the_rows():
    line = lines(evaluate.score([0, 0, 1, 1], against=[0, 0, 1, 2], control=[0, 0, 0, 0]))
    mirkin = line["normalised_mirkin"]
    assert (mirkin["value"], mirkin["plain"]) == (2 / 16, 0)
    assert mirkin["control"] == evaluate.mirkin([0, 0, 1, 2], [0, 0, 0, 0]) / 16
    assert mirkin["better"] == "lower"
    assert line["mi"]["plain"] == pytest.approx(1.5 * np.log(2))  # the entropy of the plain groups


def test_several_controls_are_averaged():
    controls = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]
    table = evaluate.score([0, 0, 1, 1], against=[0, 0, 1, 1], control=controls)
    each = [evaluate.ari([0, 0, 1, 1], control) for control in controls]
    assert lines(table)["ari"]["control"] == pytest.approx(np.mean(each))


def test_a_list_of_labels_is_one_control():
    table = evaluate.score([0, 0, 1, 1], against=[0, 0, 1, 1], control=[0, 1, 0, 1])
    assert lines(table)["ari"]["control"] == evaluate.ari([0, 0, 1, 1], [0, 1, 0, 1])


def test_the_share_of_the_gap_is_what_it_says():
    line = lines(evaluate.score([0, 0, 1, 1, 1], against=[0, 0, 0, 1, 1], control=[0, 1] * 2 + [0]))
    ari = line["ari"]
    assert ari["closed"] == pytest.approx((ari["value"] - ari["control"]) / (1 - ari["control"]))


def test_labels_alone_get_the_scores_of_labels():
    table = evaluate.score([0, 0, 1, 1], against=[0, 0, 1, 1])
    assert table.column("score").to_pylist() == [
        "ami", "ari", "nmi", "rand_index", "fowlkes_mallows", "mi", "normalised_mirkin",
    ]  # fmt: skip
    assert table.column("control").null_count == table.column("closed").null_count == 7
    assert "no control" in table.column("note")[0].as_py()


def test_a_control_as_good_as_the_answer_is_called_out():
    labels = [0, 0, 1, 1]
    table = evaluate.score(labels, against=labels, control=labels)
    assert set(table.column("note").to_pylist()) == {"nothing to gain: it is as good without data"}


def test_a_high_control_is_called_out():
    true = np.repeat([0, 1], 50)
    nearly = np.where(np.arange(100) == 3, 1, true)
    note = lines(evaluate.score(true, against=true, control=nearly))["ami"]["note"]
    assert note == "says little: it is high without data"


def test_an_answer_below_the_control_is_called_out():
    true = np.repeat([0, 1], 50)
    nearly = np.where(np.arange(100) == 3, 1, true)
    note = lines(evaluate.score(rng.permutation(true), against=true, control=nearly))["ami"]
    assert note["closed"] < 0
    assert note["note"] == "no better than without data"


@pytest.mark.heavy
def test_an_answer_must_beat_the_best_control():
    true = np.repeat([0, 1], 50)
    good = np.where(np.arange(100) < 5, 1, true)
    better, worse = np.where(np.arange(100) == 3, 1, true), np.arange(100) % 2
    line = lines(evaluate.score(good, against=true, control=[better, worse]))["ami"]
    assert line["closed"] > 0
    assert line["note"] == "no better than without data"
    assert lines(evaluate.score(good, against=true, control=[worse]))["ami"]["note"] is None


@pytest.mark.heavy
@pytest.mark.parametrize("labels", [np.zeros(2_000, int), np.full(2_000, -1)])
def test_one_cluster_or_only_noise_has_no_shape(labels):
    scored = lines(evaluate.score(labels, X, against=np.repeat(range(5), 400)))
    assert scored["silhouette"]["value"] is scored["davies_bouldin"]["value"] is None
    assert scored["silhouette"]["note"] == "not defined for these clusters"
    assert scored["ami"]["value"] == 0


@pytest.mark.heavy
def test_other_numbers_of_centres_are_told_both_ways():
    few = lines(evaluate.score(fitted(X, k=3), X, against=np.repeat(range(5), 400)))
    assert (few["missing_centers"]["value"], few["spurious_centers"]["value"]) == (2, 0)
    many = lines(evaluate.score(fitted(X, k=7), X, against=np.repeat(range(5), 400)))
    assert (many["missing_centers"]["value"], many["spurious_centers"]["value"]) == (0, 2)


@pytest.mark.heavy
def test_a_seed_repeats_the_table():
    model = fitted(X)
    assert evaluate.score(model, X).equals(evaluate.score(model, X))
    other = evaluate.score(model, X, random_state=9)
    assert not other.column("shuffled").equals(evaluate.score(model, X).column("shuffled"))


@pytest.mark.heavy
def test_shapes_found_without_centres_are_scored_by_labels():
    model = shoal.WaveCluster(domain=BOX, epsilon=2, random_state=1).fit(X)
    scored = lines(evaluate.score(model, X, against=np.repeat(range(5), 400)))
    assert scored["ami"]["value"] > 0.8
    assert "normalised_inertia" not in scored
    assert not math.isnan(scored["silhouette"]["value"])


@pytest.mark.heavy
def test_a_learner_from_reports_is_scored_in_its_units_beside_its_own_control():
    noise = shoal.mechanisms.PlanarLaplace(40.0, domain=BOX)
    reports = noise.release(X, shoal.Randomness(7).noise)
    learner = shoal.cluster.LocalClusterer(5, mechanism=noise, method="plain", random_state=7)
    model = learner.fit(reports)
    scored = lines(evaluate.score(model, X, control=model.control(random_state=3)))
    assert scored["normalised_inertia"]["value"] < 1.1
    assert scored["normalised_inertia"]["control"] > 5
    assert scored["ami"]["closed"] > 0.9


class Boxed:
    domain = Box(x=(0, 10), y=(0, 100))
    cluster_centers_ = np.array([[0.0, 0.0], [10.0, 100.0]])

    def predict(self, rows):
        return (rows[:, 0] > 5).astype(int)


def test_a_model_with_a_box_is_measured_in_half_sides():
    ground = _ScoredRows.of(ROWS, Boxed())
    assert ground.scaled[0].tolist() == [-1, -0.8]
    assert ground.clustering(Boxed()).centers.tolist() == [[-1, -1], [1, 1]]


def test_a_model_with_units_is_measured_in_them():
    model = Boxed()
    model.units_ = np.array([2.0, 5.0])
    assert _ScoredRows.of(ROWS, model).scaled[1].tolist() == [0.5, 4]


def test_labels_alone_are_taken_as_they_are():
    ground = _ScoredRows.of(ROWS, [0, 0, 1, 1])
    assert ground.scaled.tolist() == ROWS.tolist()
    assert ground.clustering([3, 3, -1, 5]).labels.tolist() == [3, 3, -1, 5]
    assert ground.clustering([3, 3, -1, 5]).count == 2


def test_the_plain_side_is_k_means_in_the_same_units():
    plain = _ScoredRows.of(ROWS, Boxed()).reference(None, 2, 0)
    assert sorted(plain.centers.round(2).tolist()) == [[-0.9, -0.7], [0.9, 0.7]]
    assert len(set(plain.labels[:2])) == len(set(plain.labels[2:])) == 1


def test_labels_to_compare_with_have_the_middles_of_their_rows():
    plain = _ScoredRows.of(ROWS, None).reference([0, 0, 1, -1], 2, 0)
    assert plain.centers.tolist() == [[0.5, 15], [9, 80]]
    assert _ScoredRows.of(ROWS, None).reference([-1] * 4, 2, 0).centers is None


def test_a_plain_model_of_scikit_learn_may_be_compared_with():
    kmeans = KMeans(2, n_init=1, random_state=0).fit(ROWS)
    side = _ScoredRows.of(ROWS, Boxed()).reference(kmeans, 2, 0)
    assert side.labels.tolist() == kmeans.labels_.tolist()
    assert side.centers.shape == (2, 2)


def test_shuffled_labels_keep_their_sizes():
    labels = np.repeat([0, 1, -1], [50, 30, 20])
    shuffled = Clustering(labels).shuffled(1).labels
    assert sorted(shuffled) == sorted(labels)
    assert (shuffled != labels).any()


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(InvalidSetting, match="rows"):
        _ScoredRows.of(None, Boxed()).clustering(Boxed())
    with pytest.raises(InvalidSetting, match="compare"):
        _ScoredRows.of(None, [0]).reference(None, 1, 0)
    with pytest.raises(DimensionMismatch):
        _ScoredRows.of(ROWS, None).clustering([0, 1])
