import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier

from shoal import Box, PrivateKMeans, UniformGrid, WaveCluster
from shoal.audit.membership._victim import answers_of, check_answers, evidence_of
from shoal.errors import DimensionMismatch, InvalidSetting, NotFinite, NotNumeric

RNG = np.random.default_rng(0)
ROWS = RNG.random((400, 2))


def test_centres_answer_with_distances_nearest_first():
    model = KMeans(3, n_init=1, random_state=0).fit(ROWS)
    answers = answers_of(model, ROWS[:5], None, 0)
    nearest = np.sort(model.transform(ROWS[:5]), axis=1)
    assert answers[:, 0] == pytest.approx(nearest[:, 0])
    assert answers[:, 1] == pytest.approx(nearest[:, 1] - nearest[:, 0])
    assert evidence_of(model, ROWS[:5], None, 0) == pytest.approx(-(nearest[:, 0] ** 2))


def test_centres_alone_are_enough():
    class Centres:
        cluster_centers_ = np.array([[0.0, 0.0], [3.0, 4.0]])

    assert answers_of(Centres(), np.zeros((1, 2)), None, 0).tolist() == [[0, 5, 5]]


def test_one_centre_has_no_second():
    model = KMeans(1, n_init=1).fit(ROWS)
    assert answers_of(model, ROWS[:5], None, 0).shape == (5, 2)


def test_a_classifier_answers_by_label_also_where_it_never_met_one():
    model = RandomForestClassifier(5, random_state=0).fit(ROWS, np.repeat([0, 2], 200))
    labels = np.array([0, 1, 2])
    answers = answers_of(model, ROWS[:3], labels, 3)
    assert answers.shape == (3, 6)
    assert answers[:, 1].tolist() == [0, 0, 0]
    assert answers[:, 3:].tolist() == np.eye(3).tolist()
    said = evidence_of(model, ROWS[:3], labels, 3)
    assert said[1] == pytest.approx(np.log(1e-6 / (1 - 1e-6)))


def test_without_labels_a_classifier_is_asked_for_its_own():
    model = RandomForestClassifier(5, random_state=0).fit(ROWS, np.repeat([0, 1], 200))
    assert (evidence_of(model, ROWS, None, 2) >= 0).all()


def test_a_synopsis_answers_with_the_noisy_count_of_the_cell():
    grid = UniformGrid(epsilon=50, domain=Box.unit(2), cells=2, random_state=0).fit(ROWS)
    at = np.array([[0.1, 0.1]])
    true = ((ROWS < 0.5).all(axis=1)).sum()
    assert np.exp(evidence_of(grid, at, None, 0)) == pytest.approx(true, abs=2)


def test_a_cell_that_was_not_kept_counts_nothing():
    grid = UniformGrid(epsilon=50, domain=Box.unit(2), cells=4, random_state=0).fit(ROWS * 0.2)
    assert evidence_of(grid, np.array([[0.9, 0.9]]), None, 0).tolist() == [0]


@pytest.mark.parametrize("variant", ["block", "baseline"])
def test_a_map_of_cells_answers_with_its_coefficients(variant):
    dense = np.vstack([0.3 + 0.01 * RNG.random((2000, 2)), ROWS])
    model = WaveCluster(domain=Box.unit(2), epsilon=20, variant=variant, random_state=0).fit(dense)
    inside, outside = evidence_of(model, np.array([[0.305, 0.305], [0.9, 0.9]]), None, 0)
    assert inside > outside


def test_private_centres_answer_too():
    model = PrivateKMeans(2, epsilon=1, domain=Box.unit(2), random_state=0).fit(ROWS)
    assert answers_of(model, ROWS[:4], None, 0).shape == (4, 3)


def test_a_model_that_can_be_called_answers_for_itself():
    assert evidence_of(lambda rows: rows[:, 0], ROWS[:3], None, 0).tolist() == ROWS[:3, 0].tolist()
    with pytest.raises(DimensionMismatch):
        evidence_of(lambda rows: rows, ROWS[:3], None, 0)
    with pytest.raises(NotFinite):
        evidence_of(lambda rows: rows[:, 0] * np.nan, ROWS[:3], None, 0)


@pytest.mark.parametrize(
    ("said", "error"),
    [([1.0, np.nan], NotFinite), ([1.0, np.inf], NotFinite), ([1.0], DimensionMismatch),
     (5, DimensionMismatch), (np.empty((2, 0)), DimensionMismatch), (["a", "b"], NotNumeric)],
)  # fmt: skip
def test_answers_nobody_can_learn_from_are_refused(said, error):
    with pytest.raises(error):
        check_answers(said, 2)


def test_a_model_nobody_can_ask_is_refused():
    with pytest.raises(InvalidSetting):
        evidence_of(object(), ROWS, None, 0)
