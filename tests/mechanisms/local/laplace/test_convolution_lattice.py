"""Sums over reports of Laplace noise as convolutions on a lattice."""

import numpy as np
import pytest

from shoal.mechanisms import NDLaplace
from shoal.mechanisms.local.laplace._convolution_lattice import NoiseLattice, lattice_for
from shoal.mechanisms.local.laplace._prior import likeliest, likelihood_of
from shoal.randomness import Randomness

LATTICE = NoiseLattice(np.zeros(2), np.full(2, 0.25), (9, 7), (12, 12))


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
    lattice = NoiseLattice(np.zeros(1), np.full(1, 0.25), (9,), (1,))
    shares = lattice.counts([at[:, None]]) / len(at)
    nodes = 0.25 * (np.arange(11) - 1)
    spread = shares @ nodes**2 - (shares @ nodes) ** 2
    assert spread - at.var() == pytest.approx(0.25**2 / 6, rel=0.05)


@pytest.mark.heavy
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


def test_posterior_means_at_nodes_are_those_of_sums_over_atoms():
    weights = np.random.default_rng(0).random(LATTICE.nodes)
    values = np.array([[-1.0, 0.5], [1.0, 0.75], [2.5, 3.0]])  # on nodes, within the margin
    gaps = np.linalg.norm(values[:, None] - LATTICE.atoms(), axis=2)
    posterior = np.exp(-gaps) * weights.ravel()
    by_hand = posterior @ LATTICE.atoms() / posterior.sum(axis=1, keepdims=True)
    assert np.allclose(LATTICE.posterior_means([values[:1], values[1:]], weights), by_hand)


def test_posterior_means_between_nodes_are_near_those_of_sums_over_atoms():
    rng = np.random.default_rng(0)
    weights, values = rng.random(LATTICE.nodes), rng.uniform(-1, 3, (500, 2))
    posterior = np.exp(-np.linalg.norm(values[:, None] - LATTICE.atoms(), axis=2)) * weights.ravel()
    by_hand = posterior @ LATTICE.atoms() / posterior.sum(axis=1, keepdims=True)
    assert np.abs(LATTICE.posterior_means([values], weights) - by_hand).max() < 0.02


def test_posterior_means_of_far_reports_stay_among_the_atoms():
    far = np.random.default_rng(0).uniform(-1_000, 1_000, (1_000, 2))
    one = np.zeros(LATTICE.nodes)
    one[0, 0] = 1
    means = LATTICE.posterior_means([far], one)
    assert np.allclose(means, 0, atol=1e-6)
