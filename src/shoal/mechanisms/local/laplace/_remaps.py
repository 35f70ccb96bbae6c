"""Remaps: public functions from reports to reports, which cost nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats
from shoal.domain import Box
from shoal.errors import InvalidDomain, InvalidSetting, quantity, setting
from shoal.mechanisms.local._reports import Remap, Reports, as_reports
from shoal.mechanisms.local.laplace._nd_laplace import NDLaplace
from shoal.mechanisms.local.laplace._noise_law import distances
from shoal.mechanisms.local.laplace._prior import LatticePrior, Prior, em_prior, laplace_of

_MOST_POSTERIORS = 2**16  # held at a time: 512 kB, so they stay in the cache


@dataclass(frozen=True)
class Then:
    """One remap after another."""

    first: Remap
    second: Remap

    def __call__(self, reports: Reports) -> Reports:
        """Remap by the first, then by the second."""
        return self.second(self.first(reports))


@dataclass(frozen=True)
class Clamp:
    """The remap that ``clamp`` makes."""

    domain: Box

    def __call__(self, reports: Reports) -> Reports:
        """Move each report to the nearest point of the domain."""
        return remapped(reports, self.domain.clip(as_reports(reports).values), self)  # [P1]


@dataclass(frozen=True)
class Snap:
    """The remap that ``snap`` makes."""

    domain: Box
    nodes: tuple[int, ...]

    def __call__(self, reports: Reports) -> Reports:
        """Move each report to the nearest node."""
        gaps = np.array(self.nodes) - 1.0
        places = np.rint(self.domain.scale(self.domain.clip(as_reports(reports).values)) * gaps)
        # As a blend of both corners, so that the first and last node are exactly the box's.
        share = places / gaps
        nodes = self.domain.low * (1 - share) + self.domain.high * share  # exact at the corners
        return remapped(reports, nodes, self)  # [P1]


@dataclass(frozen=True)
class BayesRemap:
    """The remap that ``bayes_remap`` makes.

    Parameters
    ----------
    prior
        Public points and weights, or ``"em"``.
    loss
        ``"squared"`` or ``"euclidean"``.
    """

    prior: Prior | str
    loss: str

    def __call__(self, reports: Reports) -> Reports:
        """Replace each report by its best guess under the prior."""
        mechanism = laplace_of(reports)
        prior = em_prior(reports) if isinstance(self.prior, str) else self.prior
        if isinstance(prior, LatticePrior) and self.loss == "squared":
            return remapped(reports, prior.posterior_means(mechanism, reports.values), self)
        best = np.empty(reports.values.shape)
        size = max(1, _MOST_POSTERIORS // len(prior.weights))
        for start in range(0, len(best), size):
            posterior = _posterior(mechanism, reports.values[start : start + size], prior)
            best[start : start + size] = self._best(mechanism, posterior, prior)
        return remapped(reports, best, self)  # [P2]

    def _best(self, mechanism: NDLaplace, posterior: Floats, prior: Prior) -> Floats:
        """Return the best guess under the loss for each line of the posterior."""
        if self.loss == "squared":
            return posterior @ prior.atoms
        atoms = mechanism.space.scaled(prior.atoms)
        return mechanism.space.unscaled(_geometric_medians(posterior, atoms))


def clamp(domain: Box) -> Clamp:
    """Make a remap that moves reports outside a public box to its nearest point.

    Free, but it destroys the law of the noise: keep the plain reports for learning.

    >>> from shoal.mechanisms import PlanarLaplace
    >>> reports = Reports(np.array([[-3.0, 0.5]]), PlanarLaplace(1.0))
    >>> clamp(Box.unit(2))(reports).values.tolist()
    [[0.0, 0.5]]

    Parameters
    ----------
    domain
        The public box.
    """
    if not isinstance(domain, Box):
        raise InvalidDomain("clamp needs a box.", "Pass a public one, e.g. clamp(Box.unit(2)).")
    return Clamp(domain)


def snap(domain: Box, nodes: int | Sequence[int]) -> Snap:
    """Make a remap that moves reports to the nearest node of a public grid.

    Nodes are points, ``nodes`` of them evenly spaced along each axis, corners of the box among
    them (a ``Grid`` has cells; their centres leave the corners out).

    >>> from shoal.mechanisms import PlanarLaplace
    >>> reports = Reports(np.array([[-3.0, 0.6]]), PlanarLaplace(1.0))
    >>> snap(Box.unit(2), nodes=3)(reports).values.tolist()
    [[0.0, 0.5]]

    Parameters
    ----------
    domain
        The public box.
    nodes
        How many along each axis, one number or one an axis; 2 or more.
    """
    if not isinstance(domain, Box):
        raise InvalidDomain("snap needs a box.", "E.g. snap(Box.unit(2), nodes=16).")
    each = np.atleast_1d(np.asarray(nodes))
    whole = each.dtype.kind in "iu" and each.shape in ((1,), (domain.d,))
    if not whole or each.min() < 2:
        raise InvalidSetting(
            "nodes must be a whole number of 2 or more, or one for each of "
            f"{quantity(domain.d, 'column')}.",
            "E.g. snap(domain, nodes=16).",
            setting="nodes",
        )
    return Snap(domain, tuple(np.broadcast_to(each, domain.d).tolist()))


def bayes_remap(
    prior: Prior | tuple[ArrayLike, ArrayLike] | str = "em", loss: str = "squared"
) -> BayesRemap:
    """Make a remap that moves each report to the best guess of its record under a prior.

    Parameters
    ----------
    prior
        Public points and their weights: ``Prior(atoms, weights)`` or the pair. ``"em"`` learns
        the weights from the reports themselves.
    loss
        ``"squared"``: posterior mean. ``"euclidean"``: the point of least expected distance.

    Examples
    --------
    >>> from shoal.mechanisms import PlanarLaplace
    >>> reports = Reports(np.array([[0.2, 0.1], [3.0, 2.0]]), PlanarLaplace(4.0))
    >>> towns = [[0.0, 0.0], [2.0, 2.0]]
    >>> bayes_remap((towns, [1, 1]))(reports).values.round(2).tolist()
    [[0.0, 0.0], [2.0, 2.0]]

    References
    ----------
    Chatzikokolakis, ElSalamouny, Palamidessi, Efficient utility improvement for location privacy,
    PoPETs 2017.
    """
    if loss not in ("squared", "euclidean"):
        raise InvalidSetting(
            setting("loss") + " must be 'squared' or 'euclidean'.", "Choose one of them."
        )
    if isinstance(prior, Prior) or (isinstance(prior, str) and prior == "em"):
        return BayesRemap(prior, loss)
    if not isinstance(prior, tuple | list) or len(prior) != 2:
        raise InvalidSetting(
            setting("prior") + " must be 'em' or a pair of points and weights.",
            "E.g. bayes_remap(prior=(atoms, weights)), both public.",
        )
    return BayesRemap(Prior(*prior), loss)


def needs_all_reports(remap: Remap | None) -> TypeGuard[Remap]:
    """Whether a remap must see all reports to move one, as ``bayes_remap("em")`` does.

    >>> prior = [[0.0], [1.0]], [1, 1]
    >>> needs_all_reports(bayes_remap(prior)), needs_all_reports(bayes_remap("em"))
    (False, True)

    Parameters
    ----------
    remap
        The remap, or None.
    """
    if isinstance(remap, Then):
        return needs_all_reports(remap.first) or needs_all_reports(remap.second)
    return isinstance(remap, BayesRemap) and isinstance(remap.prior, str)


def with_learnt_prior(remap: Remap, reports: Reports) -> Remap:
    """Return a remap that moves reports one by one, its prior estimated from these.

    Parameters
    ----------
    remap
        The remap.
    reports
        Reports as they were released.
    """
    if isinstance(remap, Then):  # only the first sees reports as they were drawn
        return Then(with_learnt_prior(remap.first, reports), remap.second)
    if isinstance(remap, BayesRemap) and isinstance(remap.prior, str):
        return replace(remap, prior=em_prior(reports))
    return remap


def _posterior(mechanism: NDLaplace, values: Floats, prior: Prior) -> Floats:
    """Return how likely each atom (columns) is the record behind each report (lines)."""
    logs = mechanism.log_density(values, prior.atoms)
    logs += np.log(prior.weights)
    logs -= logs.max(axis=1, keepdims=True)
    np.exp(logs, out=logs)
    logs /= logs.sum(axis=1, keepdims=True)
    return logs


def _geometric_medians(posterior: Floats, atoms: Floats) -> Floats:
    """Return the points of least expected distance, by Weiszfeld's steps from the means."""
    medians = posterior @ atoms
    moving = np.arange(len(medians))
    # A bound for slow cases: points that no longer move drop out earlier.
    for _ in range(50):
        pull = posterior[moving] / np.maximum(distances(medians[moving], atoms), 1e-12)
        moved = (pull @ atoms) / pull.sum(axis=1, keepdims=True)
        far = np.abs(moved - medians[moving]).max(axis=1) > 1e-6
        medians[moving] = moved
        moving = moving[far]
    return medians


def remapped(reports: Reports, values: Floats, remap: Remap) -> Reports:
    """Return the same reports with new values, the remap recorded."""
    done = remap if reports.remap is None else Then(reports.remap, remap)
    return Reports(values, reports.mechanism, done, reports.simulation)
