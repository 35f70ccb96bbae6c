"""Closed forms of the law against SciPy's."""

import numpy as np
import pytest
from scipy import stats

from shoal.mechanisms.local.laplace._noise_law import distances, log_density, radius_quantile


def test_in_one_dimension_it_is_the_laplace_density():
    z = np.linspace(-4, 4, 9).reshape(-1, 1)
    assert log_density(z, np.array([[0.5]]))[:, 0] == pytest.approx(
        stats.laplace(0.5).logpdf(z[:, 0])
    )


@pytest.mark.parametrize("d", [2, 3, 7])
def test_the_density_on_spheres_is_the_gamma_density_of_the_radius(d):
    radius = np.array([0.3, 1.0, 5.0])
    points = np.zeros((3, d))
    points[:, -1] = radius
    area = stats.gamma(d).logpdf(radius) - log_density(points, np.zeros((1, d)))[:, 0]
    assert np.diff(area - (d - 1) * np.log(radius)) == pytest.approx([0, 0], abs=1e-12)
    assert np.exp(area[1]) == pytest.approx({2: 2 * np.pi, 3: 4 * np.pi, 7: 16 * np.pi**3 / 15}[d])


def test_distances_are_pairwise():
    assert distances(np.array([[0.0, 0.0], [3.0, 4.0]]), np.zeros((1, 2))).tolist() == [[0], [5]]


@pytest.mark.parametrize("d", [1, 4, 30])
def test_quantiles_undo_the_distribution(d):
    for p in (1e-12, 0.3, 0.999):
        assert stats.gamma(d).cdf(radius_quantile(d, p)) == pytest.approx(p, rel=1e-9)
