"""k-means on the density of the records, learnt from their reports by expectation maximisation.

weights <- mean over the reports of the posterior of the atoms under the weights

up to 3 columns   atoms on a lattice over the public box, coarse first, then finer where weight
                  is; of many reports by convolution, in time that hardly grows with their number
beyond            atoms at reports moved into the box, half of them shrunk to the records' spread
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.local.convolution import Lattice, lattice_for
from shoal.cluster.local.covariance import noise_variance
from shoal.cluster.local.frame_reports import total
from shoal.cluster.local.law import law_of, span_of, step_of
from shoal.cluster.local.learnt import Learnt, Progress, Row, nearest, thinned
from shoal.cluster.local.moments import corrected
from shoal.cluster.local.plain import centers_of
from shoal.domain.box import Matrix
from shoal.mechanisms import NDLaplace
from shoal.mechanisms.prior import Law, likeliest, likelihood_of
from shoal.mechanisms.reports import Reports
from shoal.randomness import Randomness

__all__ = ["Density", "density_of", "learn"]

_MOST_LIKELIHOODS = 2**25  # held at a time: 128 MB of float32
_MANY = 2**22  # likelihoods, above which a convolution is cheaper
_COARSE, _FINE = 2_500, 20_000  # atoms of the first lattice, and at most in the end
_SAMPLED = 600
_ROUNDS, _MORE_ROUNDS, _FEW_ROUNDS = 200, 60, 50
_AT_A_TIME = 2**18
_MOST_LABELS = 2**32  # likelihoods worth computing for labels


@dataclass(frozen=True, eq=False)
class Density:
    """Where records lie: atoms in raw units and the share of the records at each.

    Attributes
    ----------
    law, atoms, weights
        Through which law reports see the atoms.
    lattice
        The lattice the atoms are, if they were found by convolution.
    """

    law: Law
    atoms: Matrix
    weights: Row
    lattice: Lattice | None = field(default=None, repr=False)

    def posterior_means(self, values: Matrix) -> Matrix:
        """The best guess of the record behind each report, in the sense of least squares."""
        kept = self.weights > 1e-9 * self.weights.max()
        atoms, weights = self.atoms[kept], self.weights[kept].astype(np.float32)
        means = np.empty(values.shape)
        size = max(1, 2**22 // len(atoms))
        for start in range(0, len(values), size):
            likelihood = likelihood_of(self.law, values[start : start + size], atoms) * weights
            likelihood /= likelihood.sum(axis=1, keepdims=True)
            means[start : start + size] = likelihood @ atoms
        return means

    def labels(self, values: Matrix, clusters: NDArray[np.int64]) -> NDArray[np.int64]:
        """The likeliest cluster behind each report, given that of each atom."""
        k = int(clusters.max()) + 1
        if self.lattice is not None and isinstance(self.law, NDLaplace):
            parts = [np.where(clusters == j, self.weights, 0) for j in range(k)]
            shaped = [part.reshape(self.lattice.nodes) for part in parts]
            return self.lattice.likeliest_part(_blocks(self.law, values), shaped)
        return self._labels_by_hand(values, clusters, k)

    def _labels_by_hand(
        self, values: Matrix, clusters: NDArray[np.int64], k: int
    ) -> NDArray[np.int64]:
        most = max(k, _MOST_LABELS // len(values))
        kept = np.argsort(-self.weights, kind="stable")[:most]
        member = np.zeros((len(kept), k), dtype=np.float32)
        member[np.arange(len(kept)), clusters[kept]] = self.weights[kept]
        labels = np.empty(len(values), dtype=np.int64)
        size = max(1, 2**22 // len(kept))
        for start in range(0, len(values), size):
            part = slice(start, start + size)
            likelihood = likelihood_of(self.law, values[part], self.atoms[kept])
            labels[part] = (likelihood @ member).argmax(axis=1)
        return labels


def learn(
    reports: Reports, n_clusters: int, rng: Randomness, units: Row, progress: Progress = None
) -> Learnt:
    """Centres of the density's atoms, and the likeliest cluster behind each report."""
    found = density_of(reports, rng, progress)
    centers = centers_of(found.atoms, found.weights, n_clusters, rng, units)
    labels = found.labels(reports.values, nearest(found.atoms, centers, units))
    counted = found.lattice is not None
    return Learnt(centers, found.atoms, found.weights, labels, counted)


def density_of(reports: Reports, rng: Randomness, progress: Progress = None) -> Density:
    """The likeliest density of the records, on a public lattice or on some reports."""
    law, values = law_of(reports), reports.values
    d = values.shape[1]
    if d > 3:
        return _on_atoms(law, values, _sampled(reports, rng), _FEW_ROUNDS, progress)
    low, high = span_of(reports)
    step = step_of(reports, np.maximum(high - low, 1e-12))
    lattice = _lattice(law, low, high, step, reports) if isinstance(law, NDLaplace) else None
    if lattice is not None and isinstance(law, NDLaplace):
        counts = total(reports, partial(_on_lattice, lattice, law))
        weights = lattice.likeliest(counts, progress=progress)
        atoms = law.space.unscaled(lattice.atoms() / law.rate)
        return Density(law, atoms, weights.ravel(), lattice)
    return _refined(law, values, low, high, step, progress)


def _lattice(law: NDLaplace, low: Row, high: Row, step: Row, reports: Reports) -> Lattice | None:
    """For convolutions, where reports are so many that they pay; ``None`` if it would be huge."""
    coarse, values = min(_COARSE, float(np.prod((high - low) / step + 1))), reports.values
    if len(reports) * coarse <= _MANY:
        return None
    units = law.space.units(low.size) / law.rate
    ends = _in_reach(law, np.stack([low, high]))
    seen = np.stack([values.min(axis=0), values.max(axis=0)])
    return lattice_for(ends[0], ends[1], step / units, _in_reach(law, seen))


def _on_lattice(lattice: Lattice, law: NDLaplace, values: Matrix) -> NDArray[np.float64]:
    """Reports, each shared among the nodes around it."""
    return lattice.counts(_blocks(law, values))


def _in_reach(law: NDLaplace, values: Matrix) -> Matrix:
    """In units of 1/epsilon, in which the noise is the same whatever epsilon."""
    return law.space.scaled(values) * law.rate


def _blocks(law: NDLaplace, values: Matrix) -> Iterator[Matrix]:
    """Some reports at a time, so that ten million need little more memory than they have."""
    for start in range(0, len(values), _AT_A_TIME):
        yield _in_reach(law, values[start : start + _AT_A_TIME])


def _sampled(reports: Reports, rng: Randomness) -> Matrix:
    """Some reports as atoms; half of them shrunk to the records' covariance; all in the box."""
    values, mechanism = reports.values, reports.mechanism
    drawn = values[rng.compute.permutation(len(values))[:_SAMPLED]]
    if isinstance(mechanism, NDLaplace):
        scaled = mechanism.space.scaled(values)
        some = mechanism.space.scaled(drawn)
        half = len(some) // 2
        shrunk = corrected(scaled, noise_variance(mechanism, scaled.shape[1]), some[:half])[0]
        drawn = np.vstack([mechanism.space.unscaled(shrunk), drawn[half:]])
    return np.asarray(np.clip(drawn, *span_of(reports)))


def _refined(
    law: Law, values: Matrix, low: Row, high: Row, step: Row, progress: Progress
) -> Density:
    """Coarse lattice first; then half the step around the atoms that have weight, again and again.

    The likeliest weights are zero at all but a few atoms, as many as there are reports at most, so
    little is lost where a coarse lattice found nothing.
    """
    side = step.copy()
    while np.prod(np.ceil((high - low) / side) + 1) > _COARSE:
        side = np.where(side < (high - low) / 2, side * 1.1, side)
    nodes = np.maximum(np.ceil((high - low) / side), 1).astype(np.int64) + 1
    places = np.stack(np.meshgrid(*map(np.arange, nodes), indexing="ij"), -1).reshape(-1, low.size)
    gap = (high - low) / (nodes - 1)
    found = _on_atoms(law, values, low + places * gap, _ROUNDS, progress)
    while np.any(gap > 1.3 * step):
        halved = gap > 1.3 * step
        kept = found.weights > 1e-3 / len(values)
        places = _around(places[kept], halved, np.where(halved, 2 * nodes - 1, nodes))
        if len(places) > _FINE:
            break
        nodes, gap = np.where(halved, 2 * nodes - 1, nodes), np.where(halved, gap / 2, gap)
        found = _on_atoms(law, values, low + places * gap, _MORE_ROUNDS, progress)
    return found


def _around(places: NDArray[np.int64], halved: NDArray[np.bool_], nodes: Row) -> NDArray[np.int64]:
    """Places on the finer lattice, and their neighbours along the axes that became finer."""
    moves = product(*[(-1, 0, 1) if each else (0,) for each in halved])
    finer = np.where(halved, 2 * places, places)
    spread = np.concatenate([finer + np.array(move) for move in moves])
    return np.unique(np.clip(spread, 0, nodes - 1), axis=0)


def _on_atoms(law: Law, values: Matrix, atoms: Matrix, rounds: int, progress: Progress) -> Density:
    """EM on as many reports as fit in memory, then once over all of them in batches."""
    most = _MOST_LIKELIHOODS // len(atoms)
    weights = likeliest(likelihood_of(law, thinned(values, most), atoms), rounds)
    if len(values) > most:
        weights = _passed(law, values, atoms, weights, most, progress)
    return Density(law, atoms, weights)


def _passed(
    law: Law, values: Matrix, atoms: Matrix, weights: Row, size: int, progress: Progress
) -> Row:
    """One step of EM a batch, each counting for its share of what was seen so far.

    Cappé, Moulines, On-line expectation-maximization for latent data models, JRSS B 2009.
    """
    for start in range(0, len(values), size):
        batch = likelihood_of(law, values[start : start + size], atoms)
        share = len(batch) / (start + size + len(batch))
        weights = (1 - share) * weights + share * likeliest(batch, 1, start=weights)
        if progress is not None:
            progress((start + len(batch)) / len(values))
    return weights
