"""k-means on the density of the records, estimated from reports by expectation maximisation.

weights <- mean over the reports of the posterior of the atoms under the weights

up to 3 columns   atoms on a lattice over the public box, coarse first, then finer where weight
                  is; of many reports by convolution, in time that hardly grows with their number
beyond            atoms at reports moved into the box, half of them shrunk to the records' spread

`mechanisms.local.laplace.noise_lattice` says how a convolution stands for all reports.
"""

from dataclasses import dataclass, field
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats, Integers, nearest_centers
from shoal.cluster.local._distributed_frames import sum_over_reports
from shoal.cluster.local.methods._moments import noise_variance, shrink_to_covariance
from shoal.cluster.local.methods._plain_kmeans import centers_of
from shoal.cluster.local.methods._report_law import law_of, span_of, step_of
from shoal.cluster.local.methods._result import LearningResult, Progress
from shoal.mechanisms import NDLaplace, Reports
from shoal.mechanisms.local.laplace import (
    Law,
    NoiseLattice,
    in_noise_units,
    lattice_for,
    likeliest,
    likelihood_of,
    scaled_blocks,
    thinned,
)
from shoal.randomness import Randomness

_MOST_LIKELIHOODS = 2**25  # held at a time: 128 MB of float32
_MANY = 2**22  # likelihoods, above which a convolution is cheaper
_COARSE, _FINE = 2_500, 20_000  # atoms of the first lattice, and at most in the end
_SAMPLED_ATOMS = 600  # beyond three columns
# Rounds of EM: on the first lattice, on each finer one, and on sampled atoms.
_ROUNDS, _MORE_ROUNDS, _FEW_ROUNDS = 200, 60, 50
_MOST_LABELS = 2**32  # likelihoods worth computing for labels


@dataclass(frozen=True, eq=False)
class RecordDensity:
    """An estimated density of the records: atoms, and the share of the records at each.

    Parameters
    ----------
    lattice
        The lattice of the atoms, if they were fitted by convolution.

    Attributes
    ----------
    lattice
        The lattice the atoms are, if they were found by convolution.
    """

    law: Law
    atoms: Floats
    weights: Floats
    lattice: NoiseLattice | None = field(default=None, repr=False)

    def posterior_means(self, values: Floats) -> Floats:
        """Return the posterior mean of the record behind each report, by least squares."""
        has_weight = self.weights > 1e-9 * self.weights.max()
        atoms, weights = self.atoms[has_weight], self.weights[has_weight].astype(np.float32)
        means = np.empty(values.shape)
        size = max(1, 2**22 // len(atoms))
        for start in range(0, len(values), size):
            likelihood = likelihood_of(self.law, values[start : start + size], atoms) * weights
            likelihood /= likelihood.sum(axis=1, keepdims=True)
            means[start : start + size] = likelihood @ atoms
        return means

    def labels(self, values: Floats, clusters: Integers) -> Integers:
        """Return the likeliest cluster behind each report, given that of each atom."""
        k = int(clusters.max()) + 1
        if self.lattice is not None and isinstance(self.law, NDLaplace):
            parts = [np.where(clusters == j, self.weights, 0) for j in range(k)]
            shaped = [part.reshape(self.lattice.nodes) for part in parts]
            return self.lattice.likeliest_part(scaled_blocks(self.law, values), shaped)
        return self._labels_inscaled_blocks(values, clusters, k)

    def _labels_inscaled_blocks(self, values: Floats, clusters: Integers, k: int) -> Integers:
        most = max(k, _MOST_LABELS // len(values))
        heaviest = np.argsort(-self.weights, kind="stable")[:most]
        member = np.zeros((len(heaviest), k), dtype=np.float32)
        member[np.arange(len(heaviest)), clusters[heaviest]] = self.weights[heaviest]
        labels = np.empty(len(values), dtype=np.int64)
        size = max(1, 2**22 // len(heaviest))
        for start in range(0, len(values), size):
            part = slice(start, start + size)
            likelihood = likelihood_of(self.law, values[part], self.atoms[heaviest])
            labels[part] = (likelihood @ member).argmax(axis=1)
        return labels


def learn(
    reports: Reports, n_clusters: int, rng: Randomness, units: Floats, progress: Progress = None
) -> LearningResult:
    """Find the centres of the density's atoms, and the likeliest cluster behind each report."""
    density = density_of(reports, rng, progress)
    centers = centers_of(density.atoms, density.weights, n_clusters, rng, units)
    labels = density.labels(reports.values, nearest_centers(density.atoms, centers, units))
    counted = density.lattice is not None
    return LearningResult(centers, density.atoms, density.weights, labels, counted)


def density_of(reports: Reports, rng: Randomness, progress: Progress = None) -> RecordDensity:
    """Estimate the density of the records, on a public lattice or on sampled reports.

    Parameters
    ----------
    progress
        Called with the share of the work done.
    """
    law, values = law_of(reports), reports.values
    d = values.shape[1]
    if d > 3:
        return _fit_on_atoms(law, values, _sample_atoms(reports, rng), _FEW_ROUNDS, progress)
    low, high = span_of(reports)
    step = step_of(reports, np.maximum(high - low, 1e-12))
    lattice = _lattice(law, low, high, step, reports) if isinstance(law, NDLaplace) else None
    if lattice is not None and isinstance(law, NDLaplace):
        counts = sum_over_reports(reports, partial(_count_on_lattice, lattice, law))
        weights = lattice.likeliest(counts, progress=progress)
        atoms = law.space.unscaled(lattice.atoms() / law.rate)
        return RecordDensity(law, atoms, weights.ravel(), lattice)
    return _refine_lattice(law, values, low, high, step, progress)


def _lattice(
    law: NDLaplace, low: Floats, high: Floats, step: Floats, reports: Reports
) -> NoiseLattice | None:
    """Return a lattice for convolutions; ``None`` if reports are few or it would be too large."""
    coarse, values = min(_COARSE, float(np.prod((high - low) / step + 1))), reports.values
    if len(reports) * coarse <= _MANY:
        return None
    units = law.space.units(low.size) / law.rate
    ends = in_noise_units(law, np.stack([low, high]))
    ends_of_reports = np.stack([values.min(axis=0), values.max(axis=0)])
    return lattice_for(ends[0], ends[1], step / units, in_noise_units(law, ends_of_reports))


def _count_on_lattice(lattice: NoiseLattice, law: NDLaplace, values: Floats) -> Floats:
    """Count reports on the lattice; each is shared among the nodes around it."""
    return lattice.counts(scaled_blocks(law, values))


def _sample_atoms(reports: Reports, rng: Randomness) -> Floats:
    """Take some reports as atoms in the box, half of them shrunk to the records' covariance."""
    values, mechanism = reports.values, reports.mechanism
    drawn = values[rng.compute.permutation(len(values))[:_SAMPLED_ATOMS]]
    if isinstance(mechanism, NDLaplace):
        scaled = mechanism.space.scaled(values)
        some = mechanism.space.scaled(drawn)
        half = len(some) // 2
        shrunk = shrink_to_covariance(
            scaled, noise_variance(mechanism, scaled.shape[1]), some[:half]
        )[0]
        drawn = np.vstack([mechanism.space.unscaled(shrunk), drawn[half:]])
    return np.asarray(np.clip(drawn, *span_of(reports)))


def _refine_lattice(
    law: Law, values: Floats, low: Floats, high: Floats, step: Floats, progress: Progress
) -> RecordDensity:
    """Fit a coarse lattice, then halve the step around atoms that have weight, repeatedly.

    The likeliest weights are zero at all but a few atoms, as many as there are reports at most, so
    little is lost where a coarse lattice found nothing.
    """
    side = step.copy()
    while np.prod(np.ceil((high - low) / side) + 1) > _COARSE:
        side = np.where(side < (high - low) / 2, side * 1.1, side)
    nodes = np.maximum(np.ceil((high - low) / side), 1).astype(np.int64) + 1
    places = np.stack(np.meshgrid(*map(np.arange, nodes), indexing="ij"), -1).reshape(-1, low.size)
    gap = (high - low) / (nodes - 1)
    density = _fit_on_atoms(law, values, low + places * gap, _ROUNDS, progress)
    while np.any(gap > 1.3 * step):
        halved = gap > 1.3 * step
        has_weight = density.weights > 1e-3 / len(values)
        places = _finer_places(places[has_weight], halved, np.where(halved, 2 * nodes - 1, nodes))
        if len(places) > _FINE:
            break
        nodes, gap = np.where(halved, 2 * nodes - 1, nodes), np.where(halved, gap / 2, gap)
        density = _fit_on_atoms(law, values, low + places * gap, _MORE_ROUNDS, progress)
    return density


def _finer_places(places: Integers, halved: NDArray[np.bool_], nodes: Floats) -> Integers:
    """Return the places on the finer lattice and their neighbours along the halved axes."""
    moves = product(*[(-1, 0, 1) if each else (0,) for each in halved])
    finer = np.where(halved, 2 * places, places)
    spread = np.concatenate([finer + np.array(move) for move in moves])
    return np.unique(np.clip(spread, 0, nodes - 1), axis=0)


def _fit_on_atoms(
    law: Law, values: Floats, atoms: Floats, rounds: int, progress: Progress
) -> RecordDensity:
    """Run EM on as many reports as fit in memory, then one pass over all of them in batches."""
    most = _MOST_LIKELIHOODS // len(atoms)
    weights = likeliest(likelihood_of(law, thinned(values, most), atoms), rounds)
    if len(values) > most:
        weights = _one_pass(law, values, atoms, weights, most, progress)
    return RecordDensity(law, atoms, weights)


def _one_pass(
    law: Law, values: Floats, atoms: Floats, weights: Floats, size: int, progress: Progress
) -> Floats:
    """Do one step of EM for each batch, weighted by its share of the reports read so far.

    Cappé, Moulines, On-line expectation-maximization for latent data models, JRSS B 2009.
    """
    for start in range(0, len(values), size):
        batch = likelihood_of(law, values[start : start + size], atoms)
        share = len(batch) / (start + size + len(batch))
        weights = (1 - share) * weights + share * likeliest(batch, 1, start=weights)
        if progress is not None:
            progress((start + len(batch)) / len(values))
    return weights
