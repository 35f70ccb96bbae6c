"""Gaussians behind Laplace noise."""

import numpy as np
import pytest

from shoal.cluster.local.methods import _mixture as mixture
from shoal.cluster.local.methods._mixture import Mixture, fit_mixture, learn
from shoal.errors import NotAReport
from shoal.mechanisms import NDLaplace, Piecewise
from shoal.randomness import Randomness

NOISE = NDLaplace(1.0)


def drawn(n=4_000):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((n, 2)) @ np.array([[2.0, 1.0], [0.0, 0.5]])
    rows[: n // 2] += [12.0, 0.0]
    return NOISE.release(rows, Randomness(1).noise)


def one(covariance):
    start = mixture._start(
        NOISE, np.random.default_rng(0).normal(size=(50, 2)), 1, Randomness(0), 1
    )
    return Mixture(
        np.ones(1),
        np.zeros((1, 2)),
        np.array([covariance]),
        start.noise_variances,
        start.noise_weights,
    )


@pytest.mark.heavy
def test_shares_means_and_covariances_are_found():
    found = fit_mixture(drawn(), 2, Randomness(0))
    order = np.argsort(found.means[:, 0])
    assert found.means[order] == pytest.approx(np.array([[0, 0], [12, 0]]), abs=0.25)
    assert found.shares == pytest.approx([0.5, 0.5], abs=0.03)
    for covariance in found.covariances:
        assert covariance == pytest.approx(np.array([[4, 2], [2, 1.25]]), abs=0.5)


def test_every_round_of_em_is_likelier_than_the_last():
    values = drawn(500).values
    model = mixture._start(NOISE, values, 3, Randomness(0), 1e-3)
    levels = []
    for _ in range(12):
        responsible, level, parts = mixture._expect(model, values)
        levels.append(level)
        model = mixture._maximise(model, responsible, parts, 1e-3)
    assert np.all(np.diff(levels) > -1e-9)


def test_the_quadrature_has_the_variance_of_the_noise():
    model = one(np.eye(2))
    assert model.noise_weights @ model.noise_variances == pytest.approx(3, rel=1e-6)


def test_guesses_are_the_posterior_means():
    model = one(np.array([[4.0, 1.0], [1.0, 2.0]]))
    report = np.array([[3.0, -1.0]])
    at, side = np.linspace(-14, 14, 281), np.array([[4.0, 1.0], [1.0, 2.0]])
    grid = np.stack(np.meshgrid(at, at, indexing="ij"), axis=-1).reshape(-1, 2)
    prior = np.exp(-0.5 * np.einsum("ni,ij,nj->n", grid, np.linalg.inv(side), grid))
    weights = prior * np.exp(-np.linalg.norm(report - grid, axis=1))
    exact = weights @ grid / weights.sum()
    assert model.guesses(report)[0][0] == pytest.approx(exact, abs=0.02)


def test_points_stand_for_the_components():
    points, weights = one(np.array([[4.0, 1.0], [1.0, 2.0]])).points()
    assert weights.sum() == pytest.approx(1)
    spread = (points * weights[:, None]).T @ points
    assert spread == pytest.approx(np.array([[4, 1], [1, 2]]), rel=0.06)


@pytest.mark.heavy
def test_reports_are_labelled_by_their_likeliest_component():
    reports = drawn(600)
    found = learn(reports, 2, Randomness(0), np.ones(2))
    sides = reports.values[:, 0] > 6
    assert max(np.mean(found.labels == sides), np.mean(found.labels != sides)) > 0.97


def test_other_laws_are_refused():
    reports = Piecewise(1.0).release(np.zeros((10, 1)), Randomness(0).noise)
    with pytest.raises(NotAReport):
        fit_mixture(reports, 2, Randomness(0))
