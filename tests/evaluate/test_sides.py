import numpy as np
import pytest
from sklearn.cluster import KMeans

from shoal.domain import Box
from shoal.errors import DimensionMismatch, InvalidSetting
from shoal.evaluate.sides import Ground, Side

ROWS = np.array([[0.0, 10.0], [1.0, 20.0], [9.0, 80.0], [10.0, 90.0]])


class Boxed:
    domain = Box(x=(0, 10), y=(0, 100))
    cluster_centers_ = np.array([[0.0, 0.0], [10.0, 100.0]])

    def predict(self, rows):
        return (rows[:, 0] > 5).astype(int)


def test_a_model_with_a_box_is_measured_in_half_sides():
    ground = Ground.of(ROWS, Boxed())
    assert ground.scaled[0].tolist() == [-1, -0.8]
    assert ground.side(Boxed()).centers.tolist() == [[-1, -1], [1, 1]]


def test_a_model_with_units_is_measured_in_them():
    model = Boxed()
    model.units_ = np.array([2.0, 5.0])
    assert Ground.of(ROWS, model).scaled[1].tolist() == [0.5, 4]


def test_labels_alone_are_taken_as_they_are():
    ground = Ground.of(ROWS, [0, 0, 1, 1])
    assert ground.scaled.tolist() == ROWS.tolist()
    assert ground.side([3, 3, -1, 5]).labels.tolist() == [3, 3, -1, 5]
    assert ground.side([3, 3, -1, 5]).count == 2


def test_the_plain_side_is_k_means_in_the_same_units():
    plain = Ground.of(ROWS, Boxed()).reference(None, 2, 0)
    assert sorted(plain.centers.round(2).tolist()) == [[-0.9, -0.7], [0.9, 0.7]]
    assert len(set(plain.labels[:2])) == len(set(plain.labels[2:])) == 1


def test_labels_to_compare_with_have_the_middles_of_their_rows():
    plain = Ground.of(ROWS, None).reference([0, 0, 1, -1], 2, 0)
    assert plain.centers.tolist() == [[0.5, 15], [9, 80]]
    assert Ground.of(ROWS, None).reference([-1] * 4, 2, 0).centers is None


def test_a_plain_model_of_scikit_learn_may_be_compared_with():
    kmeans = KMeans(2, n_init=1, random_state=0).fit(ROWS)
    side = Ground.of(ROWS, Boxed()).reference(kmeans, 2, 0)
    assert side.labels.tolist() == kmeans.labels_.tolist()
    assert side.centers.shape == (2, 2)


def test_shuffled_labels_keep_their_sizes():
    labels = np.repeat([0, 1, -1], [50, 30, 20])
    shuffled = Side(labels).shuffled(1).labels
    assert sorted(shuffled) == sorted(labels)
    assert (shuffled != labels).any()


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(InvalidSetting, match="rows"):
        Ground.of(None, Boxed()).side(Boxed())
    with pytest.raises(InvalidSetting, match="compare"):
        Ground.of(None, [0]).reference(None, 1, 0)
    with pytest.raises(DimensionMismatch):
        Ground.of(ROWS, None).side([0, 1])
