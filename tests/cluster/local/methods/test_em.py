"""The density of records behind their reports.

EM on a lattice by convolution.
"""

import numpy as np
import pytest

from shoal.cluster.local import LocalClusterer
from shoal.cluster.local.distributed_frames import GatheredReports
from shoal.cluster.local.methods import em
from shoal.cluster.local.methods.em import Lattice, density_of, lattice_for, learn
from shoal.domain import Box
from shoal.engine import Block
from shoal.mechanisms import NDLaplace
from shoal.mechanisms.local.laplace.prior import em_prior, likeliest, likelihood_of
from shoal.randomness import Randomness

BOX = Box(x=(0, 6), y=(0, 6))
NOISE = NDLaplace(2.0, domain=BOX)
ROWS = np.repeat([[1.0, 1.0], [5.0, 3.0]], [300, 100], axis=0)

LATTICE = Lattice(np.zeros(2), np.full(2, 0.25), (9, 7), (12, 12))


def reports(n=1, noise=NOISE):
    return noise.release(np.tile(ROWS, (n, 1)), Randomness(1).noise)


def near(found, place, within=1.2):
    return found.weights[np.linalg.norm(found.atoms - place, axis=1) < within].sum()


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


@pytest.mark.parametrize("n", [1, 30])
def test_labels_by_hand_and_by_convolution_are_those_of_the_records(n):
    found = learn(reports(n), 2, Randomness(0), np.ones(2))
    first = np.linalg.norm(found.centers - [1, 1], axis=1).argmin()
    truth = np.tile(np.repeat([True, False], [300, 100]), n)
    assert np.mean((found.labels == first) == truth) > 0.97


def test_atoms_are_the_nodes_of_the_box():
    atoms = LATTICE.atoms()
    assert atoms.shape == (63, 2)
    assert atoms.min() == 0
    assert atoms.max(axis=0).tolist() == [2.0, 1.5]


def test_spreading_weights_is_the_sum_over_atoms():
    weights = np.random.default_rng(0).random(LATTICE.nodes)
    places = np.indices(LATTICE.whole).reshape(2, -1).T
    at = (places - LATTICE.margin) * LATTICE.step
    gaps = np.linalg.norm(at[:, None] - LATTICE.atoms(), axis=2)
    by_hand = (np.exp(-gaps) @ weights.ravel()).reshape(LATTICE.whole)
    assert np.allclose(LATTICE.spread(weights), by_hand, rtol=1e-9)


def test_a_report_is_shared_among_the_nodes_around_it():
    counts = LATTICE.counts([np.array([[0.1, 0.25]]), np.array([[1.0, 1.0]])])
    assert counts.sum() == pytest.approx(2)
    assert counts[12, 13] == pytest.approx(0.6)
    assert counts[13, 13] == pytest.approx(0.4)
    assert counts[16, 16] == pytest.approx(1)


def test_reports_from_far_out_come_to_the_edge_on_their_line_to_the_middle():
    counts = LATTICE.counts([np.array([[500.0, 0.75]])])
    assert counts[-1, 15] == pytest.approx(1)


def test_no_report_falls_off_the_edge_by_rounding():
    far = np.random.default_rng(0).uniform(-1_000, 1_000, (100_000, 2))
    assert LATTICE.counts([far]).sum() == pytest.approx(100_000)


def test_sharing_adds_a_sixth_of_the_squared_step_to_the_variance():
    at = np.random.default_rng(0).uniform(0, 2, 200_000)
    lattice = Lattice(np.zeros(1), np.full(1, 0.25), (9,), (1,))
    shares = lattice.counts([at[:, None]]) / len(at)
    nodes = 0.25 * (np.arange(11) - 1)
    spread = shares @ nodes**2 - (shares @ nodes) ** 2
    assert spread - at.var() == pytest.approx(0.25**2 / 6, rel=0.05)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_convolution_and_sums_by_hand_find_the_same_density(d):
    noise = NDLaplace(1.0)
    rows = np.random.default_rng(0).uniform(0, 2, (400, d))
    values = noise.release(rows, Randomness(1).noise).values
    low = np.zeros(d)
    lattice = lattice_for(low, low + 2, low + 0.25, values)
    fast = lattice.likeliest(lattice.counts([values]), rounds=20).ravel()
    slow = likeliest(likelihood_of(noise, values, lattice.atoms()), 20, 0)
    assert np.abs(fast - slow).sum() < 0.02
    assert fast @ lattice.atoms() == pytest.approx(slow @ lattice.atoms(), abs=0.01)


def test_reports_are_given_to_the_likelier_part():
    left, right = np.zeros(LATTICE.nodes), np.zeros(LATTICE.nodes)
    left[0], right[-1] = 1, 1
    values = np.array([[-1.0, 0.5], [3.0, 0.5], [0.9, 0.5], [1.2, 0.5]])
    assert LATTICE.likeliest_part([values[:1], values[1:]], [left, right]).tolist() == [0, 1, 0, 1]


def test_a_lattice_that_would_be_too_large_is_none():
    corner = np.zeros(3)
    assert lattice_for(corner, corner + 100, corner + 0.25, corner[None]) is None
