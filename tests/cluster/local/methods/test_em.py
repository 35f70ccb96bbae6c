"""The density of records behind their reports."""

import numpy as np
import pytest

from shoal.cluster.local import LocalClusterer
from shoal.cluster.local._distributed_frames import GatheredReports
from shoal.cluster.local.methods import _em as em
from shoal.cluster.local.methods._em import density_of, learn
from shoal.domain import Box
from shoal.engine import Block
from shoal.mechanisms import NDLaplace
from shoal.mechanisms.local.laplace._prior import em_prior
from shoal.randomness import Randomness

BOX = Box(x=(0, 6), y=(0, 6))
NOISE = NDLaplace(2.0, domain=BOX)
ROWS = np.repeat([[1.0, 1.0], [5.0, 3.0]], [300, 100], axis=0)


def reports(n=1, noise=NOISE):
    return noise.release(np.tile(ROWS, (n, 1)), Randomness(1).noise)


def near(found, place, within=1.2):
    return found.weights[np.linalg.norm(found.atoms - place, axis=1) < within].sum()


@pytest.mark.heavy
@pytest.mark.parametrize("n", [1, 30])
def test_weight_lies_where_records_do(n):
    found = density_of(reports(n), Randomness(0))
    assert (found.lattice is None) == (n == 1)
    assert near(found, [1, 1]) == pytest.approx(0.75, abs=0.08)
    assert near(found, [5, 3]) == pytest.approx(0.25, abs=0.08)


def test_weights_are_shares():
    found = density_of(reports(), Randomness(0))
    assert found.weights.sum() == pytest.approx(1)
    assert found.weights.min() >= 0
    assert BOX.contains(found.atoms).all()


def test_a_lattice_refined_where_weight_is_agrees_with_a_fine_one(monkeypatch):
    fine = em_prior(reports())
    monkeypatch.setattr(em, "_COARSE", 30)
    coarse_first = density_of(reports(), Randomness(0))
    assert len(coarse_first.atoms) < len(fine.atoms) * 9
    for place in ([1, 1], [5, 3]):
        there = fine.weights[np.linalg.norm(fine.atoms - place, axis=1) < 1.2].sum()
        assert near(coarse_first, place) == pytest.approx(there, abs=0.05)


def test_a_box_that_is_wide_against_the_noise_is_no_obstacle():
    noise = NDLaplace(5.0, domain=Box(a=(0, 11), b=(0, 5), c=(0, 2)))
    rows = np.repeat([[2.0, 1.0, 1.0], [9.0, 4.0, 1.0]], 40, axis=0)
    found = density_of(noise.release(rows, Randomness(0).noise), Randomness(0))
    assert near(found, [2, 1, 1]) == pytest.approx(0.5, abs=0.05)


class Many:
    """Rows elsewhere, each counted three times."""

    def __init__(self, values):
        self.values = values

    def size(self):
        return 3 * len(self.values)

    def sum(self, kernel):
        block = Block(self.values, np.empty((len(self.values), 0), dtype=np.int32))
        return tuple(3 * part for part in kernel(block))


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("wide", "counted"), [(6, True), (3_000, False)], ids=["as ever", "too wide for a lattice"]
)
def test_a_learner_says_whether_all_reports_of_a_frame_were_counted(wide, counted):
    noise = NDLaplace(2.0, domain=Box(x=(0, wide), y=(0, wide)))
    here = reports(30, noise)
    far = GatheredReports(here.values, noise, rows=Many(here.values))
    assert learn(far, 2, Randomness(0), np.ones(2)).counted is counted
    model = LocalClusterer(2, mechanism=noise, method="em", random_state=0).fit(far)
    assert model.n_used_ == (3 if counted else 1) * len(here)
    assert model.n_reports_ == 3 * len(here)


@pytest.mark.heavy
def test_many_reports_of_a_frame_are_counted_though_few_were_drawn(monkeypatch):
    few = reports(1)
    assert density_of(few, Randomness(0)).lattice is None
    far = GatheredReports(few.values, NOISE, rows=Many(few.values))
    monkeypatch.setattr(Many, "size", lambda self: 10**6)
    assert density_of(far, Randomness(0)).lattice is not None


def test_batches_find_what_one_pass_finds(monkeypatch):
    rows = np.repeat([[0.0] * 4, [3.0] * 4], [300, 100], axis=0)
    released = NDLaplace(2.0).release(rows, Randomness(1).noise)
    whole = density_of(released, Randomness(0))
    monkeypatch.setattr(em, "_MOST_LIKELIHOODS", 100 * len(whole.atoms))
    batched = density_of(released, Randomness(0))
    for found in (whole, batched):
        assert near(found, [0] * 4, 3.0) == pytest.approx(0.75, abs=0.08)


def test_posterior_means_lie_closer_to_the_records_than_the_reports():
    released = reports()
    means = density_of(released, Randomness(0)).posterior_means(released.values)
    assert np.mean((means - ROWS) ** 2) < 0.5 * np.mean((released.values - ROWS) ** 2)


@pytest.mark.heavy
@pytest.mark.parametrize("n", [1, 30])
def test_labels_by_hand_and_by_convolution_are_those_of_the_records(n):
    found = learn(reports(n), 2, Randomness(0), np.ones(2))
    first = np.linalg.norm(found.centers - [1, 1], axis=1).argmin()
    truth = np.tile(np.repeat([True, False], [300, 100]), n)
    assert np.mean((found.labels == first) == truth) > 0.97
