"""EM finds where records lie from their reports alone."""

import numpy as np
import pytest

from shoal import Box, NDLaplace, Randomness, Reports
from shoal.errors import NotAReport
from shoal.mechanisms import PlanarLaplace, clamp
from shoal.mechanisms.local.laplace._prior import LatticePrior, em_prior, thinned

LINE = Box(x=(0, 10))


def reports_of(rows, mechanism, seed=1):
    return mechanism.release(rows, Randomness(seed).noise)


def test_the_prior_puts_its_weight_where_the_records_are():
    rows = np.repeat([[2.0], [8.0]], [6_000, 2_000], axis=0)
    prior = em_prior(reports_of(rows, NDLaplace(1.0, domain=LINE)))
    near = [prior.weights[np.abs(prior.atoms[:, 0] - x) <= 1].sum() for x in (2, 8)]
    assert near == pytest.approx([0.75, 0.25], abs=0.05)


def test_a_step_of_em_never_makes_the_reports_less_likely():
    mechanism = NDLaplace(1.0, domain=LINE)
    reports = reports_of(np.repeat([[1.0], [7.0]], 300, axis=0), mechanism)
    seen = []
    for steps in (1, 2, 5, 20, 80):
        prior = em_prior(reports, iterations=steps)
        likelihood = np.exp(mechanism.log_density(reports.values, prior.atoms)) @ prior.weights
        seen.append(np.log(likelihood).sum())
    assert np.all(np.diff(seen) > -1e-3)
    assert seen[-1] > seen[0] + 10


def test_atoms_are_a_lattice_of_half_the_noise_s_range_over_the_box():
    prior = em_prior(reports_of([[5.0]], NDLaplace(2.0, domain=LINE)), iterations=1)
    assert np.allclose(np.diff(prior.atoms[:, 0]), 0.25)
    assert prior.atoms[[0, -1], 0].tolist() == [0, 10]


def test_beyond_three_columns_atoms_are_reports_moved_into_the_box():
    box = Box.unit(4)
    reports = reports_of(np.full((1_000, 4), 0.5), NDLaplace(1.0, domain=box))
    prior = em_prior(reports, iterations=3)
    assert len(prior.atoms) == 600
    assert box.contains(prior.atoms).all()


def test_of_very_many_reports_a_part_is_used_beyond_three_columns(monkeypatch):
    monkeypatch.setattr("shoal.mechanisms.local.laplace._prior._MOST_LIKELIHOODS", 600 * 500)
    rows = np.repeat(np.array([[2.0] * 4, [8.0] * 4]), 2_000, axis=0)
    prior = em_prior(
        reports_of(rows, NDLaplace(2.0, domain=Box.of(["a", "b", "c", "d"], [0] * 4, [10] * 4)))
    )
    assert prior.weights @ prior.atoms == pytest.approx(np.full(4, 5), abs=0.5)


@pytest.mark.heavy
@pytest.mark.parametrize("d", [1, 2, 3])
def test_many_reports_are_summed_by_convolution_and_tell_the_same(d, monkeypatch):
    box = Box.of([f"x{i}" for i in range(d)], np.zeros(d), np.full(d, 5.0))
    rows = np.repeat([np.full(d, 1.0), np.full(d, 4.0)], [900, 300], axis=0)
    reports = reports_of(rows, NDLaplace(2.0, domain=box))
    priors = {}
    for many in (0, 2**40):
        monkeypatch.setattr("shoal.mechanisms.local.laplace._prior._MANY", many)
        priors[many] = em_prior(reports)
    assert [isinstance(prior, LatticePrior) for prior in priors.values()] == [True, False]
    for prior in priors.values():
        near = np.linalg.norm(prior.atoms - 1, axis=1) < 1.5
        assert prior.weights[near].sum() == pytest.approx(0.75, abs=0.06)


def test_rows_and_clamped_reports_are_refused():
    plain = Reports(np.zeros((3, 2)), PlanarLaplace(1.0))
    for wrong in (np.zeros((3, 2)), clamp(Box.unit(2))(plain)):
        with pytest.raises(NotAReport):
            em_prior(wrong)


def test_few_points_are_all_kept():
    points = np.arange(6.0).reshape(3, 2)
    assert thinned(points, 3) is points
    assert len(thinned(points, 2)) == 2
