r"""Fit a mixture of Gaussians to the records behind reports of Laplace noise.

n-dimensional Laplace noise is Gaussian noise of a random variance 2V/epsilon^2, V ~ Gamma((d+1)/2).
With V on the nodes t_q of a quadrature, a report of component j is N(mu_j, Sigma_j + v_q I) with
v_q = 2 t_q / epsilon^2, so both steps of EM are exact:

    E   r_ijq ~ pi_j w_q N(z_i; mu_j, Sigma_j + v_q I)
    M   mu_j     mean of  x_ijq = mu_j + lambda / (lambda + v_q) (z_i - mu_j)   in Sigma_j's axes
        Sigma_j  mean of (x_ijq - mu_j)(x_ijq - mu_j)^T, plus lambda v_q / (lambda + v_q)
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import roots_genlaguerre
from scipy.stats import norm, qmc

from shoal.arrays import Floats, Integers
from shoal.cluster.local.methods._moments import shrink_to_covariance
from shoal.cluster.local.methods._plain_kmeans import centers_of
from shoal.cluster.local.methods._report_law import span_of
from shoal.cluster.local.methods._result import LearningResult, Progress
from shoal.mechanisms import NDLaplace, Reports
from shoal.mechanisms.local.laplace import laplace_of, thinned
from shoal.randomness import Randomness

_NODES = 12  # of the quadrature of the noise's random variance
# Starts, rounds of each, rounds of the best, and the relative gain in likelihood that ends them.
_STARTS, _FIRST_ROUNDS, _ROUNDS, _ENOUGH = 4, 15, 100, 1e-5
_NEXT_TO_NOTHING = 1e-8  # the weight of a node that is left out
_MOST_REPORTS = 5_000  # more would hardly move so few numbers
_FLOOR = 1e-3  # of the reports' mean variance: no component becomes a point
_POINTS = 256  # that represent each component
_BLOCK = 2**13


class _Axes(NamedTuple):
    """A component in the axes of its own covariance, and the reports in them."""

    variances: Floats
    axes: Floats
    gaps: Floats


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixture of Gaussians of the records, in the mechanism's scaled units, and its noise."""

    shares: Floats
    means: Floats
    covariances: Floats
    noise_variances: Floats
    noise_weights: Floats

    def points(self) -> tuple[Floats, Floats]:
        """Return quasi-random points of every component, and their weights."""
        d = self.means.shape[1]
        even = qmc.Sobol(d, scramble=False).random(_POINTS)
        # Shifted to the middles of their cells, since 0 would become minus infinity.
        normal = norm.ppf(even + 1 / (2 * _POINTS))
        spread = np.concatenate([normal @ _square_root(each).T for each in self.covariances])
        points = spread + np.repeat(self.means, _POINTS, axis=0)
        return points, np.repeat(self.shares / _POINTS, _POINTS)

    def guesses(self, values: Floats) -> tuple[Floats, Integers]:
        """Return the posterior mean of the record of each report and its likeliest component."""
        means, labels = np.empty(values.shape), np.empty(len(values), dtype=np.int64)
        for start in range(0, len(values), _BLOCK):
            part = slice(start, start + _BLOCK)
            means[part], labels[part] = self._guesses(values[part])
        return means, labels

    def _guesses(self, values: Floats) -> tuple[Floats, Integers]:
        responsibilities, _, parts = _expect(self, values)
        means = np.zeros(values.shape)
        for j, part in enumerate(parts):
            shrinkage = _shrinkage(part.variances, self.noise_variances)
            nearer = (responsibilities[:, j] @ shrinkage.T) * part.gaps
            means += (
                responsibilities[:, j].sum(axis=1)[:, None] * self.means[j] + nearer @ part.axes.T
            )
        return means, responsibilities.sum(axis=2).argmax(axis=1)


def learn(
    reports: Reports, n_clusters: int, rng: Randomness, units: Floats, progress: Progress = None
) -> LearningResult:
    """Fit a mixture; its means, moved into the box, are the centres.

    Parameters
    ----------
    units
        Not used: a mixture does not depend on units.
    """
    mechanism = laplace_of(reports)
    mixture = fit_mixture(reports, n_clusters, rng)
    points, weights = mixture.points()
    labels = mixture.guesses(mechanism.space.scaled(reports.values))[1]
    span, raw = span_of(reports), mechanism.space.unscaled
    centers, points = (np.clip(raw(each), *span) for each in (mixture.means, points))
    return LearningResult(centers, points, weights, labels)


def fit_mixture(reports: Reports, n_components: int, rng: Randomness) -> Mixture:
    """Fit a mixture by EM from several short runs, of which the likeliest is continued.

    Parameters
    ----------
    reports
        Of ``NDLaplace``, as released; of very many, 5,000 spread evenly are used.
    Examples
    --------
    >>> rows = np.repeat([[-3.0, 0.0], [3.0, 0.0]], 1_000, axis=0)
    >>> reports = NDLaplace(1.0).release(rows, Randomness(7).noise)
    >>> mixture = fit_mixture(reports, 2, Randomness(7))
    >>> sorted(mixture.means[:, 0].round().tolist())
    [-3.0, 3.0]
    """
    mechanism = laplace_of(reports)
    values = mechanism.space.scaled(thinned(reports.values, _MOST_REPORTS))
    floor = max(_FLOOR * float(values.var(axis=0).mean()), 1e-12 / mechanism.rate**2)
    starts = [_start(mechanism, values, n_components, rng, floor) for _ in range(_STARTS)]
    runs = [_run_em(start, values, floor, _FIRST_ROUNDS) for start in starts]
    promising = max(runs, key=lambda run: run[1])[0]
    return _run_em(promising, values, floor, _ROUNDS)[0]


def _start(mechanism: NDLaplace, values: Floats, k: int, rng: Randomness, floor: float) -> Mixture:
    d = values.shape[1]
    shrunk, covariance = shrink_to_covariance(values, (d + 1) / mechanism.rate**2)
    means = centers_of(shrunk, np.ones(len(values)), k, rng, np.ones(d), runs=1)
    variances, axes = np.linalg.eigh(covariance)
    within = (axes * np.maximum(variances / k ** (2 / d), floor)) @ axes.T
    nodes, weights = roots_genlaguerre(_NODES, (d - 1) / 2)
    has_weight = weights > _NEXT_TO_NOTHING * weights.sum()
    noise = (
        2 * nodes[has_weight] / mechanism.rate**2,
        weights[has_weight] / weights[has_weight].sum(),
    )
    return Mixture(np.full(k, 1 / k), means, np.repeat(within[None], k, axis=0), *noise)


def _run_em(mixture: Mixture, values: Floats, floor: float, rounds: int) -> tuple[Mixture, float]:
    """Run EM until the mean log-likelihood hardly grows; return the mixture and that."""
    last = -np.inf
    for _ in range(rounds):
        responsibilities, level, parts = _expect(mixture, values)
        if level - last <= _ENOUGH * abs(level):
            break
        mixture, last = _maximise(mixture, responsibilities, parts, floor), level
    return mixture, level


def _expect(mixture: Mixture, values: Floats) -> tuple[Floats, float, list[_Axes]]:
    """Return r_ijq, the mean log-likelihood, and the reports in each component's axes."""
    k, q = len(mixture.shares), len(mixture.noise_weights)
    logs, parts = np.empty((len(values), k, q)), []
    for j in range(k):
        variances, axes = np.linalg.eigh(mixture.covariances[j])
        variances = np.maximum(variances, 0)
        gaps = (values - mixture.means[j]) @ axes
        total = variances[:, None] + mixture.noise_variances
        logs[:, j] = np.log(mixture.shares[j] * mixture.noise_weights)
        logs[:, j] -= np.log(2 * np.pi * total).sum(axis=0) / 2 + gaps**2 @ (1 / total) / 2
        parts.append(_Axes(variances, axes, gaps))
    top = logs.max(axis=(1, 2), keepdims=True)
    np.exp(logs - top, out=logs)
    evidence = logs.sum(axis=(1, 2), keepdims=True)
    logs /= evidence
    return logs, float((np.log(evidence) + top).mean()), parts


def _maximise(
    mixture: Mixture, responsibilities: Floats, parts: list[_Axes], floor: float
) -> Mixture:
    """Do the M step; a component without reports stays where it is."""
    totals = responsibilities.sum(axis=(0, 2))
    means, covariances = mixture.means.copy(), mixture.covariances.copy()
    for j in np.flatnonzero(totals > 1e-6):
        moments = _moments(responsibilities[:, j] / totals[j], parts[j], mixture.noise_variances)
        axes = parts[j].axes
        means[j] += axes @ moments[0]
        variances, inner = np.linalg.eigh(moments[1])
        axes = axes @ inner
        covariances[j] = (axes * np.maximum(variances, floor)) @ axes.T
    shares = np.maximum(totals, 1e-6)
    return Mixture(
        shares / shares.sum(),
        means,
        covariances,
        mixture.noise_variances,
        mixture.noise_weights,
    )


def _moments(weights: Floats, part: _Axes, noise: Floats) -> tuple[Floats, Floats]:
    """Return mean and covariance of the records of one component, in its axes."""
    shrinkage = _shrinkage(part.variances, noise)
    mean = ((weights @ shrinkage.T) * part.gaps).sum(axis=0)
    second = sum(
        np.outer(shrinkage[:, q], shrinkage[:, q])
        * ((part.gaps * weights[:, q, None]).T @ part.gaps)
        for q in range(noise.size)
    )
    left = (
        weights.sum(axis=0)
        * part.variances[:, None]
        * noise
        / _total_variances(part.variances, noise)
    ).sum(1)
    return mean, second - np.outer(mean, mean) + np.diag(left)


def _shrinkage(variances: Floats, noise: Floats) -> Floats:
    """Return how far the posterior mean moves from the mean to the report, by axis and node."""
    return variances[:, None] / _total_variances(variances, noise)


def _total_variances(variances: Floats, noise: Floats) -> Floats:
    return variances[:, None] + noise


def _square_root(covariance: Floats) -> Floats:
    variances, axes = np.linalg.eigh(covariance)
    return np.asarray(axes * np.sqrt(np.maximum(variances, 0)))
