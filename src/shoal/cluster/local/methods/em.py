"""k-means on the density of the records, estimated from reports by expectation maximisation.

weights <- mean over the reports of the posterior of the atoms under the weights

up to 3 columns   atoms on a lattice over the public box, coarse first, then finer where weight
                  is; of many reports by convolution, in time that hardly grows with their number
beyond            atoms at reports moved into the box, half of them shrunk to the records' spread

EM on a lattice uses convolutions, so that its time hardly depends on the number of reports.

The likelihood of a report depends on its distance to an atom alone. With reports counted on the
lattice of the atoms, carried on beyond the box, both sums of an EM step are convolutions with the
noise's kernel:

    evidence = kernel * weights          weights <- weights . (kernel * (counts / evidence))

Counting shares a report among the 2^d nodes around it, which keeps its mean and adds, h the step,
h^2/6 to its variance along an axis (h^2/4 for a report half-way between nodes): with h at most
1 / (4 epsilon), a 190th of the noise's own in one column, a 290th in two, a 380th in three.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfftn, next_fast_len, rfftn

from shoal.cluster.local.distributed_frames import sum_over_reports
from shoal.cluster.local.methods.moments import noise_variance, shrink_to_covariance
from shoal.cluster.local.methods.plain_kmeans import centers_of
from shoal.cluster.local.methods.report_law import law_of, span_of, step_of
from shoal.cluster.local.methods.result import LearningResult, Progress, Row, nearest
from shoal.domain.box import Matrix
from shoal.mechanisms import NDLaplace
from shoal.mechanisms.local.laplace.prior import Law, likeliest, likelihood_of, thinned
from shoal.mechanisms.local.reports import Reports
from shoal.randomness import Randomness

__all__ = [
    "Density",
    "Lattice",
    "density_of",
    "lattice_for",
    "learn",
]

_MOST_CELLS = 2**21  # of the lattice with its margin: some 16 MB for each array
_MOST_ATOMS = 2**17
_REACH = 20.0  # noise goes beyond 20 / epsilon in one report of a million, in three columns
_LATTICE_ROUNDS = 100

Field = NDArray[np.float64]

_MOST_LIKELIHOODS = 2**25  # held at a time: 128 MB of float32
_MANY = 2**22  # likelihoods, above which a convolution is cheaper
_COARSE, _FINE = 2_500, 20_000  # atoms of the first lattice, and at most in the end
_SAMPLED_ATOMS = 600  # beyond three columns
# Rounds of EM: on the first lattice, on each finer one, and on sampled atoms.
_ROUNDS, _MORE_ROUNDS, _FEW_ROUNDS = 200, 60, 50
_BLOCK_REPORTS = 2**18  # so that ten million reports need little extra memory
_MOST_LABELS = 2**32  # likelihoods worth computing for labels


@dataclass(frozen=True, eq=False)
class Lattice:
    """Nodes over a box, and a margin beyond it where reports may fall, in units of 1/epsilon.

    Parameters
    ----------
    low
        The first node of the box along each axis.
    step
        The distance between nodes along each axis.
    nodes
        How many nodes lie in the box along each axis.
    margin
        How many nodes lie beyond the box on each side, along each axis.
    """

    low: Row
    step: Row
    nodes: tuple[int, ...]
    margin: tuple[int, ...]

    def atoms(self) -> Matrix:
        """Return the nodes in the box, one a row."""
        every = zip(self.low, self.step, self.nodes, strict=True)
        axes = [low + h * np.arange(m) for low, h, m in every]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))

    def counts(self, blocks: Iterable[Matrix]) -> Field:
        """Count reports on the nodes; each is shared among the nodes around it.

        Parameters
        ----------
        blocks
            Blocks of reports, in units of 1/epsilon.
        """
        total = np.zeros(int(np.prod(self.whole)))
        for values in blocks:
            places = self._places(values)
            base = np.floor(places).astype(np.int64)
            base = np.minimum(base, np.array(self.whole) - 2)
            ahead = places - base
            for corner in product((0, 1), repeat=len(self.whole)):
                share = np.prod(np.where(corner, ahead, 1 - ahead), axis=1)
                keys = np.ravel_multi_index(tuple((base + corner).T), self.whole)
                total += np.bincount(keys, share, total.size)
        return total.reshape(self.whole)

    def likeliest(
        self,
        counts: Field,
        rounds: int = _LATTICE_ROUNDS,
        progress: Progress = None,
        start: float = 0.0,
    ) -> Field:
        """Estimate the weights of the nodes in the box by EM from uniform ones.

        Parameters
        ----------
        counts
            The counted reports, margin included.
        rounds
            How many steps of EM.
        progress
            Called with the share of the work done.
        start
            The share of the work that was done before.
        """
        weights = np.full(self.nodes, 1 / np.prod(self.nodes))
        for done in range(rounds):
            evidence = self.spread(weights)
            ratio = counts / np.maximum(evidence, 1e-14 * evidence.max())
            weights = np.maximum(weights * self._convolve_back(ratio), 0)
            weights /= weights.sum()
            if progress is not None:
                progress(start + (1 - start) * (done + 1) / rounds)
        return weights

    def spread(self, weights: Field) -> Field:
        """Return how reports of records with these weights are distributed over the lattice.

        Parameters
        ----------
        weights
            Of the nodes in the box.
        """
        padded = np.zeros(self._shape)
        padded[self._box] = weights
        return self._convolve(padded)[self._all]

    def likeliest_part(self, blocks: Iterable[Matrix], parts: list[Field]) -> NDArray[np.int64]:
        """Return, for each report, the part of the weights it most likely came from.

        Parameters
        ----------
        blocks
            Blocks of reports, in units of 1/epsilon.
        parts
            For each part, its weights of the nodes in the box.
        """
        best = np.zeros(self.whole, dtype=np.int64)
        top = np.full(self.whole, -np.inf)
        for label, weights in enumerate(parts):
            level = self.spread(weights)
            better = level > top
            best[better], top[better] = label, level[better]
        places = (np.rint(self._places(values)).astype(np.int64) for values in blocks)
        return np.concatenate([best[tuple(near.T)] for near in places])

    @property
    def whole(self) -> tuple[int, ...]:
        """The number of nodes along each axis, margins included."""
        return tuple(m + 2 * g for m, g in zip(self.nodes, self.margin, strict=True))

    @property
    def _all(self) -> tuple[slice, ...]:
        return tuple(slice(w) for w in self.whole)

    @property
    def _box(self) -> tuple[slice, ...]:
        return tuple(slice(g, g + m) for g, m in zip(self.margin, self.nodes, strict=True))

    def _places(self, values: Matrix) -> Matrix:
        """Return places in steps from the outermost node; reports beyond are moved to the edge."""
        middle = (np.array(self.whole) - 1) / 2
        gaps = (values - self.low) / self.step + self.margin - middle
        out = np.max(np.abs(gaps) / middle, axis=1, initial=1.0, keepdims=True)
        inside = gaps / out + middle  # but for rounding, which may push them over the edge
        return np.asarray(np.clip(inside, 0, 2 * middle))

    @cached_property
    def _shape(self) -> tuple[int, ...]:
        """The padded shape at which a cyclic convolution does not wrap around."""
        return tuple(
            next_fast_len(w + m, real=True) for w, m in zip(self.whole, self.nodes, strict=True)
        )

    @cached_property
    def _kernel(self) -> NDArray[np.complex128]:
        """The Fourier transform of e^-r, which is symmetric, so it serves both directions."""
        steps = [np.minimum(np.arange(s), s - np.arange(s)) for s in self._shape]
        axes = [h * each for h, each in zip(self.step, steps, strict=True)]
        squares = sum(np.square(each) for each in np.meshgrid(*axes, indexing="ij", sparse=True))
        return np.asarray(rfftn(np.exp(-np.sqrt(squares))))

    def _convolve(self, field: Field) -> Field:
        return np.asarray(irfftn(rfftn(field) * self._kernel, s=self._shape))

    def _convolve_back(self, ratio: Field) -> Field:
        padded = np.zeros(self._shape)
        padded[self._all] = ratio
        return self._convolve(padded)[self._box]


def lattice_for(low: Row, high: Row, step: Row, values: Matrix) -> Lattice | None:
    """Return a lattice over the box and as far as reports go, or ``None`` if it is too large.

    Parameters
    ----------
    low
        The lowest corner of the box, in units of 1/epsilon.
    high
        The highest corner of the box.
    step
        The largest distance between nodes along each axis.
    values
        Points that reports do not exceed, such as their extremes.

    Examples
    --------
    >>> corner = np.array([0.0, 0.0])
    >>> lattice = lattice_for(corner, corner + 4, corner + 0.25, np.array([[-1.0, 2.0]]))
    >>> lattice.nodes, lattice.margin
    ((17, 17), (4, 1))
    """
    fine = np.minimum(step, 0.25)
    nodes = np.maximum(np.ceil((high - low) / fine - 1e-9), 1) + 1
    width = np.maximum(high - low, 1e-9)
    step = width / (nodes - 1)
    beyond = np.maximum(low - values.min(axis=0), values.max(axis=0) - high)
    margin = np.ceil(np.clip(beyond, 0, _REACH) / step).clip(min=1)
    if np.prod(nodes) > _MOST_ATOMS or np.prod(nodes + 2 * margin) > _MOST_CELLS:
        return None
    return Lattice(low, step, tuple(nodes.astype(int).tolist()), tuple(margin.astype(int).tolist()))


@dataclass(frozen=True, eq=False)
class Density:
    """An estimated density of the records: atoms, and the share of the records at each.

    Parameters
    ----------
    law
        The law by which reports follow from records.
    atoms
        One a row, in raw units.
    weights
        The share of the records at each atom.
    lattice
        The lattice of the atoms, if they were fitted by convolution.

    Attributes
    ----------
    lattice
        The lattice the atoms are, if they were found by convolution.
    """

    law: Law
    atoms: Matrix
    weights: Row
    lattice: Lattice | None = field(default=None, repr=False)

    def posterior_means(self, values: Matrix) -> Matrix:
        """Return the posterior mean of the record behind each report: its least-squares estimate.

        Parameters
        ----------
        values
            Reports, one a row.
        """
        has_weight = self.weights > 1e-9 * self.weights.max()
        atoms, weights = self.atoms[has_weight], self.weights[has_weight].astype(np.float32)
        means = np.empty(values.shape)
        size = max(1, 2**22 // len(atoms))
        for start in range(0, len(values), size):
            likelihood = likelihood_of(self.law, values[start : start + size], atoms) * weights
            likelihood /= likelihood.sum(axis=1, keepdims=True)
            means[start : start + size] = likelihood @ atoms
        return means

    def labels(self, values: Matrix, clusters: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the likeliest cluster behind each report, given that of each atom.

        Parameters
        ----------
        values
            Reports, one a row.
        clusters
            The cluster of each atom.
        """
        k = int(clusters.max()) + 1
        if self.lattice is not None and isinstance(self.law, NDLaplace):
            parts = [np.where(clusters == j, self.weights, 0) for j in range(k)]
            shaped = [part.reshape(self.lattice.nodes) for part in parts]
            return self.lattice.likeliest_part(_blocks(self.law, values), shaped)
        return self._labels_in_blocks(values, clusters, k)

    def _labels_in_blocks(
        self, values: Matrix, clusters: NDArray[np.int64], k: int
    ) -> NDArray[np.int64]:
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
    reports: Reports, n_clusters: int, rng: Randomness, units: Row, progress: Progress = None
) -> LearningResult:
    """Find the centres of the density's atoms, and the likeliest cluster behind each report.

    Parameters
    ----------
    reports
        Of a mechanism whose law is known.
    n_clusters
        The number of clusters.
    rng
        The seeds of the starts.
    units
        How much of each column counts as one unit of distance.
    progress
        Called with the share of the work done.
    """
    density = density_of(reports, rng, progress)
    centers = centers_of(density.atoms, density.weights, n_clusters, rng, units)
    labels = density.labels(reports.values, nearest(density.atoms, centers, units))
    counted = density.lattice is not None
    return LearningResult(centers, density.atoms, density.weights, labels, counted)


def density_of(reports: Reports, rng: Randomness, progress: Progress = None) -> Density:
    """Estimate the density of the records, on a public lattice or on sampled reports.

    Parameters
    ----------
    reports
        Of a mechanism whose law is known.
    rng
        The seed of the sample.
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
        return Density(law, atoms, weights.ravel(), lattice)
    return _refine_lattice(law, values, low, high, step, progress)


def _lattice(law: NDLaplace, low: Row, high: Row, step: Row, reports: Reports) -> Lattice | None:
    """Return a lattice for convolutions; ``None`` if reports are few or it would be too large."""
    coarse, values = min(_COARSE, float(np.prod((high - low) / step + 1))), reports.values
    if len(reports) * coarse <= _MANY:
        return None
    units = law.space.units(low.size) / law.rate
    ends = _in_noise_units(law, np.stack([low, high]))
    ends_of_reports = np.stack([values.min(axis=0), values.max(axis=0)])
    return lattice_for(ends[0], ends[1], step / units, _in_noise_units(law, ends_of_reports))


def _count_on_lattice(lattice: Lattice, law: NDLaplace, values: Matrix) -> NDArray[np.float64]:
    """Count reports on the lattice; each is shared among the nodes around it."""
    return lattice.counts(_blocks(law, values))


def _in_noise_units(law: NDLaplace, values: Matrix) -> Matrix:
    """Scale values to units of 1/epsilon, in which the noise does not depend on epsilon."""
    return law.space.scaled(values) * law.rate


def _blocks(law: NDLaplace, values: Matrix) -> Iterator[Matrix]:
    """Yield blocks of scaled reports, so that ten million need little extra memory."""
    for start in range(0, len(values), _BLOCK_REPORTS):
        yield _in_noise_units(law, values[start : start + _BLOCK_REPORTS])


def _sample_atoms(reports: Reports, rng: Randomness) -> Matrix:
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
    law: Law, values: Matrix, low: Row, high: Row, step: Row, progress: Progress
) -> Density:
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


def _finer_places(
    places: NDArray[np.int64], halved: NDArray[np.bool_], nodes: Row
) -> NDArray[np.int64]:
    """Return the places on the finer lattice and their neighbours along the halved axes."""
    moves = product(*[(-1, 0, 1) if each else (0,) for each in halved])
    finer = np.where(halved, 2 * places, places)
    spread = np.concatenate([finer + np.array(move) for move in moves])
    return np.unique(np.clip(spread, 0, nodes - 1), axis=0)


def _fit_on_atoms(
    law: Law, values: Matrix, atoms: Matrix, rounds: int, progress: Progress
) -> Density:
    """Run EM on as many reports as fit in memory, then one pass over all of them in batches."""
    most = _MOST_LIKELIHOODS // len(atoms)
    weights = likeliest(likelihood_of(law, thinned(values, most), atoms), rounds)
    if len(values) > most:
        weights = _one_pass(law, values, atoms, weights, most, progress)
    return Density(law, atoms, weights)


def _one_pass(
    law: Law, values: Matrix, atoms: Matrix, weights: Row, size: int, progress: Progress
) -> Row:
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
