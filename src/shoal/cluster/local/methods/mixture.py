r"""Gaussians seen through Laplace noise: a mixture fitted to the records, from their reports alone.

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
from numpy.typing import NDArray
from scipy.special import roots_genlaguerre
from scipy.stats import norm, qmc

from shoal.cluster.local.methods.moments import shrink_to_covariance
from shoal.cluster.local.methods.plain_kmeans import centers_of
from shoal.cluster.local.methods.report_law import span_of
from shoal.cluster.local.methods.result import LearningResult, Progress, Row
from shoal.domain.box import Matrix
from shoal.mechanisms.local.laplace.nd_laplace import NDLaplace
from shoal.mechanisms.local.laplace.prior import laplace_of, thinned
from shoal.mechanisms.local.reports import Reports
from shoal.randomness import Randomness

__all__ = ["Mixture", "fit_mixture", "learn"]

_NODES = 12
_STARTS, _FIRST_ROUNDS, _ROUNDS, _ENOUGH = 4, 15, 100, 1e-5
_NEXT_TO_NOTHING = 1e-8  # the weight of a node that is left out
_MOST_REPORTS = 5_000  # more would hardly move so few numbers
_FLOOR = 1e-3  # of the reports' mean variance: no component becomes a point
_POINTS = 256  # that stand for a component
_BLOCK = 2**13


class _Axes(NamedTuple):
    """A component in the axes of its own covariance, and the reports in them."""

    lengths: Row
    axes: Matrix
    gaps: Matrix


@dataclass(frozen=True, eq=False)
class Mixture:
    """Gaussians of the records, in the mechanism's scaled units, and the noise upon them.

    Attributes
    ----------
    shares, means, covariances
        One of each a component.
    noise_variances, noise_weights
        The quadrature of the noise.
    """

    shares: Row
    means: Matrix
    covariances: NDArray[np.float64]
    noise_variances: Row
    noise_weights: Row

    def points(self) -> tuple[Matrix, Row]:
        """Quasi-random points of every component, and their weights."""
        d = self.means.shape[1]
        even = qmc.Sobol(d, scramble=False).random(_POINTS)
        normal = norm.ppf(even + 1 / (2 * _POINTS))  # in the middle of their cells, never 0 or 1
        spread = np.concatenate([normal @ _root(each).T for each in self.covariances])
        points = spread + np.repeat(self.means, _POINTS, axis=0)
        return points, np.repeat(self.shares / _POINTS, _POINTS)

    def guesses(self, values: Matrix) -> tuple[Matrix, NDArray[np.int64]]:
        """The mean of the record behind each report, and its likeliest component."""
        means, labels = np.empty(values.shape), np.empty(len(values), dtype=np.int64)
        for start in range(0, len(values), _BLOCK):
            part = slice(start, start + _BLOCK)
            means[part], labels[part] = self._guesses(values[part])
        return means, labels

    def _guesses(self, values: Matrix) -> tuple[Matrix, NDArray[np.int64]]:
        responsible, _, parts = _expect(self, values)
        means = np.zeros(values.shape)
        for j, part in enumerate(parts):
            pull = _pull(part.lengths, self.noise_variances)
            nearer = (responsible[:, j] @ pull.T) * part.gaps
            means += responsible[:, j].sum(axis=1)[:, None] * self.means[j] + nearer @ part.axes.T
        return means, responsible.sum(axis=2).argmax(axis=1)


def learn(
    reports: Reports, n_clusters: int, rng: Randomness, units: Row, progress: Progress = None
) -> LearningResult:
    """Components as clusters: their means are the centres, moved into the box."""
    mechanism = laplace_of(reports)
    mixture = fit_mixture(reports, n_clusters, rng)
    points, weights = mixture.points()
    labels = mixture.guesses(mechanism.space.scaled(reports.values))[1]
    span, raw = span_of(reports), mechanism.space.unscaled
    centers, points = (np.clip(raw(each), *span) for each in (mixture.means, points))
    return LearningResult(centers, points, weights, labels)


def fit_mixture(reports: Reports, n_components: int, rng: Randomness) -> Mixture:
    """The likeliest of some short runs of EM from k-means on corrected reports, run to its end.

    Parameters
    ----------
    reports
        Of ``NDLaplace``, as released; of very many some are used, spread evenly.
    n_components, rng
        How many Gaussians; of the starts.

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
    runs = [_climbed(start, values, floor, _FIRST_ROUNDS) for start in starts]
    promising = max(runs, key=lambda run: run[1])[0]
    return _climbed(promising, values, floor, _ROUNDS)[0]


def _start(mechanism: NDLaplace, values: Matrix, k: int, rng: Randomness, floor: float) -> Mixture:
    d = values.shape[1]
    shrunk, covariance = shrink_to_covariance(values, (d + 1) / mechanism.rate**2)
    means = centers_of(shrunk, np.ones(len(values)), k, rng, np.ones(d), runs=1)
    lengths, axes = np.linalg.eigh(covariance)
    within = (axes * np.maximum(lengths / k ** (2 / d), floor)) @ axes.T
    nodes, weights = roots_genlaguerre(_NODES, (d - 1) / 2)
    has_weight = weights > _NEXT_TO_NOTHING * weights.sum()
    noise = (
        2 * nodes[has_weight] / mechanism.rate**2,
        weights[has_weight] / weights[has_weight].sum(),
    )
    return Mixture(np.full(k, 1 / k), means, np.repeat(within[None], k, axis=0), *noise)


def _climbed(mixture: Mixture, values: Matrix, floor: float, rounds: int) -> tuple[Mixture, float]:
    """EM until the mean log-likelihood hardly grows; the mixture and that."""
    last = -np.inf
    for _ in range(rounds):
        responsible, level, parts = _expect(mixture, values)
        if level - last <= _ENOUGH * abs(level):
            break
        mixture, last = _maximise(mixture, responsible, parts, floor), level
    return mixture, level


def _expect(mixture: Mixture, values: Matrix) -> tuple[NDArray[np.float64], float, list[_Axes]]:
    """r_ijq, the mean log-likelihood, and the reports as each component sees them."""
    k, q = len(mixture.shares), len(mixture.noise_weights)
    logs, parts = np.empty((len(values), k, q)), []
    for j in range(k):
        lengths, axes = np.linalg.eigh(mixture.covariances[j])
        lengths = np.maximum(lengths, 0)
        gaps = (values - mixture.means[j]) @ axes
        total = lengths[:, None] + mixture.noise_variances
        logs[:, j] = np.log(mixture.shares[j] * mixture.noise_weights)
        logs[:, j] -= np.log(2 * np.pi * total).sum(axis=0) / 2 + gaps**2 @ (1 / total) / 2
        parts.append(_Axes(lengths, axes, gaps))
    top = logs.max(axis=(1, 2), keepdims=True)
    np.exp(logs - top, out=logs)
    evidence = logs.sum(axis=(1, 2), keepdims=True)
    logs /= evidence
    return logs, float((np.log(evidence) + top).mean()), parts


def _maximise(
    mixture: Mixture, responsible: NDArray[np.float64], parts: list[_Axes], floor: float
) -> Mixture:
    """The M step; a component nothing is left of stays where it is."""
    totals = responsible.sum(axis=(0, 2))
    means, covariances = mixture.means.copy(), mixture.covariances.copy()
    for j in np.flatnonzero(totals > 1e-6):
        moments = _moments(responsible[:, j] / totals[j], parts[j], mixture.noise_variances)
        axes = parts[j].axes
        means[j] += axes @ moments[0]
        lengths, inner = np.linalg.eigh(moments[1])
        axes = axes @ inner
        covariances[j] = (axes * np.maximum(lengths, floor)) @ axes.T
    shares = np.maximum(totals, 1e-6)
    return Mixture(
        shares / shares.sum(),
        means,
        covariances,
        mixture.noise_variances,
        mixture.noise_weights,
    )


def _moments(weights: Matrix, part: _Axes, noise: Row) -> tuple[Row, Matrix]:
    """Mean and covariance of the records of one component, in its axes."""
    pull = _pull(part.lengths, noise)
    mean = ((weights @ pull.T) * part.gaps).sum(axis=0)
    second = sum(
        np.outer(pull[:, q], pull[:, q]) * ((part.gaps * weights[:, q, None]).T @ part.gaps)
        for q in range(noise.size)
    )
    left = (weights.sum(axis=0) * part.lengths[:, None] * noise / _sums(part.lengths, noise)).sum(1)
    return mean, second - np.outer(mean, mean) + np.diag(left)


def _pull(lengths: Row, noise: Row) -> Matrix:
    """How far the best guess moves from the mean to the report, by axis and node."""
    return lengths[:, None] / _sums(lengths, noise)


def _sums(lengths: Row, noise: Row) -> Matrix:
    return lengths[:, None] + noise


def _root(covariance: Matrix) -> Matrix:
    lengths, axes = np.linalg.eigh(covariance)
    return np.asarray(axes * np.sqrt(np.maximum(lengths, 0)))
