"""Public knowledge of where records lie: a given prior, or one estimated from reports by EM."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.arrays import Floats
from shoal.errors import DimensionMismatch, InvalidSetting, NotAReport, TooLarge
from shoal.mechanisms.local._records import records_of
from shoal.mechanisms.local._reports import as_raw_reports
from shoal.mechanisms.local.laplace._convolution_lattice import (
    NoiseLattice,
    in_noise_units,
    lattice_for,
    scaled_blocks,
)
from shoal.mechanisms.local.laplace._nd_laplace import NDLaplace

# All of these: docs/decisions/remaps.md.
_MOST_ATOMS = 20_000
_SAMPLED_ATOMS = 600
_MOST_LIKELIHOODS = 2**28  # 1 GiB of float32
_MOST_OF_SAMPLED = 2**24  # likelihoods where atoms are reports: more taught nothing more
_MANY = 2**22  # likelihoods, above which a convolution is cheaper
_STEPS = 0.25, 0.25, 0.5  # of its lattice in one, two and three columns, in units of 1/epsilon


@dataclass(frozen=True, init=False, eq=False)
class Prior:
    """Public points where records may lie, and how likely each is.

    Parameters
    ----------
    atoms
        Public points, one a line in raw units: from a census, from earlier reports. Rows of people
        are no public points.
    weights
        How likely each is, in proportion. A histogram of rows is not public unless noise protects
        it.

    Examples
    --------
    >>> Prior([[0.0, 0.0], [1.0, 1.0]], [3, 1]).weights.tolist()
    [0.75, 0.25]
    """

    atoms: Floats
    weights: Floats

    def __init__(self, atoms: ArrayLike, weights: ArrayLike) -> None:
        points, shares = records_of(atoms), records_of(weights)[0]
        if shares.size != len(points):
            raise DimensionMismatch(
                f"There are {len(points)} atoms and {shares.size} weights.",
                "Give each atom a weight.",
            )
        if shares.min() < 0 or not 0 < shares.sum() < math.inf:
            raise InvalidSetting(
                "Weights must not be negative, nor all zero.", "Give shares, e.g. [0.2, 0.8]."
            )
        positive = shares > 0
        object.__setattr__(self, "atoms", points[positive])
        total = float(shares.sum())
        whole = 1.0 if abs(total - 1) < 1e-12 else total  # what sums to 1 comes back as it was
        object.__setattr__(self, "weights", shares[positive] / whole)


def laplace_of(reports: object) -> NDLaplace:
    """Return the mechanism of unchanged reports, refused unless it is ``NDLaplace``.

    Parameters
    ----------
    reports
        Reports as they were released.
    """
    mechanism = as_raw_reports(reports).mechanism
    if isinstance(mechanism, NDLaplace):
        return mechanism
    raise NotAReport(
        f"These reports were made by {type(mechanism).__name__}; NDLaplace is needed.",
        "Pass reports of NDLaplace, PlanarLaplace or SphericalLaplace.",
    )


def em_prior(reports: object, iterations: int = 200, tolerance: float = 1e-7) -> Prior:
    """Estimate the likeliest prior from these reports; post-processing, so it costs nothing.

    Up to three columns the atoms are a lattice of half the noise's range, 1/(2 epsilon), over
    the public box, or over the reports if there is none; where reports are many, the sums over
    them are convolutions on a lattice as fine or finer, whose time hardly grows with their number.
    Beyond three columns they are 600 of the reports moved into the box, and of very many reports a
    part is used, spread evenly: 2**24 over the number of atoms, or some 28,000.

    Parameters
    ----------
    reports
        Reports of ``NDLaplace``, as they were released.
    """
    mechanism = laplace_of(reports)
    values = as_raw_reports(reports).values
    if not len(values):
        raise InvalidSetting("There are no reports to learn a prior from.", "Pass at least one.")
    atoms = (
        _lattice_atoms(mechanism, values)
        if values.shape[1] <= 3
        else _sampled_atoms(mechanism, values)
    )
    if values.shape[1] <= 3 and len(values) * len(atoms) > _MANY:
        lattice = _counting_lattice(mechanism, values, atoms)
        if lattice is not None:
            return _prior_on_lattice(lattice, mechanism, values)
    most = _MOST_LIKELIHOODS if values.shape[1] <= 3 else _MOST_OF_SAMPLED
    used = thinned(values, most // len(atoms))
    likelihood = likelihood_of(mechanism, used, atoms)
    return Prior(atoms, likeliest(likelihood, iterations, tolerance))


class LatticePrior(Prior):
    """A prior on the nodes of a lattice, where sums over all atoms are convolutions.

    Parameters
    ----------
    lattice
        The lattice, in units of 1/epsilon.
    """

    lattice: NoiseLattice
    field: Floats

    def __init__(self, lattice: NoiseLattice, atoms: ArrayLike, weights: Floats) -> None:
        super().__init__(atoms, weights.ravel())
        object.__setattr__(self, "lattice", lattice)
        object.__setattr__(self, "field", weights)

    def posterior_means(self, mechanism: NDLaplace, values: Floats) -> Floats:
        """Return the mean of the record behind each report."""
        means = self.lattice.posterior_means(scaled_blocks(mechanism, values), self.field)
        return mechanism.space.unscaled(means / mechanism.rate)


def _counting_lattice(mechanism: NDLaplace, values: Floats, atoms: Floats) -> NoiseLattice | None:
    """Return a lattice over the atoms and the reports; None if it would be too large."""
    low, high = in_noise_units(mechanism, np.stack([atoms.min(axis=0), atoms.max(axis=0)]))
    ends = in_noise_units(mechanism, np.stack([values.min(axis=0), values.max(axis=0)]))
    step = _STEPS[low.size - 1]
    return lattice_for(low, high, np.full(low.size, step), ends, step)


def _prior_on_lattice(lattice: NoiseLattice, mechanism: NDLaplace, values: Floats) -> LatticePrior:
    weights = lattice.likeliest(lattice.counts(scaled_blocks(mechanism, values)))
    atoms = mechanism.space.unscaled(lattice.atoms() / mechanism.rate)
    return LatticePrior(lattice, atoms, weights)


class Law(Protocol):
    """Something that knows how likely a report is for a record at an atom."""

    def log_density(self, values: Floats, atoms: Floats) -> Floats:
        """Return the log-density of each report (lines) at each atom (columns)."""


def likeliest(
    likelihood: NDArray[np.float32],
    iterations: int,
    tolerance: float = 1e-7,
    start: Floats | None = None,
) -> Floats:
    """Return the atom weights of greatest likelihood, by expectation maximisation.

    Parameters
    ----------
    likelihood
        Of each report (lines) at each atom (columns), in proportion.
    iterations
        The most rounds.
    tolerance
        Stop when weights change by less than this in all.
    start
        The first weights; None starts from equal ones.
    """
    n, m = likelihood.shape
    weights = np.full(m, 1 / m) if start is None else start
    for _ in range(iterations):
        # A report far from every atom would divide by zero.
        evidence = np.maximum(likelihood @ weights.astype(np.float32), np.float32(1e-30))
        moved = weights * (likelihood.T @ (1 / evidence)) / n
        moved /= moved.sum()
        change = float(np.abs(moved - weights).sum())
        weights = moved
        if change < tolerance:
            break
    return weights


def likelihood_of(law: Law, values: Floats, atoms: Floats) -> NDArray[np.float32]:
    """Return the likelihood of each report at each atom, the largest of a line scaled to 1.

    Parameters
    ----------
    law
        Knows how likely a report is.
    values
        Reports, one a line.
    atoms
        Points, one a line.
    """
    # float32: half the memory of the largest array here.
    likelihood = np.empty((len(values), len(atoms)), dtype=np.float32)
    size = max(1, 2**16 // len(atoms))  # 512 kB at a time, so it stays in the cache
    for start in range(0, len(values), size):
        logs = law.log_density(values[start : start + size], atoms)
        logs -= logs.max(axis=1, keepdims=True)
        likelihood[start : start + size] = np.exp(logs, out=logs)
    return likelihood


def _lattice_atoms(mechanism: NDLaplace, values: Floats) -> Floats:
    box = mechanism.domain
    corners = [values.min(axis=0), values.max(axis=0)] if box is None else [box.low, box.high]
    low, high = mechanism.space.scaled(np.array(corners))
    # Nodes half the noise's range apart: a finer lattice cannot be told from this one.
    nodes = np.ceil((high - low) * 2 * mechanism.rate) + 1
    if np.prod(nodes) > _MOST_ATOMS:
        raise TooLarge(
            f"A lattice fine enough for this epsilon has more than {_MOST_ATOMS} points.",
            "The noise is small against the box, so use the reports as they are; or give a prior.",
            reason="lattice",
        )
    axes = [np.linspace(a, b, int(m)) for a, b, m in zip(low, high, nodes, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    return mechanism.space.unscaled(points)


def _sampled_atoms(mechanism: NDLaplace, values: Floats) -> Floats:
    atoms = thinned(values, _SAMPLED_ATOMS)
    return atoms if mechanism.domain is None else mechanism.domain.clip(atoms)


def thinned(points: Floats, most: int = 20_000) -> Floats:
    """Return at most ``most`` lines, spread evenly over the given ones.

    Parameters
    ----------
    points
        Points, one a line.
    most
        How many to return.

    Examples
    --------
    >>> thinned(np.arange(5.0)[:, None], 3).ravel().tolist()
    [0.0, 2.0, 4.0]
    """
    if len(points) <= most:
        return points
    return points[np.linspace(0, len(points) - 1, most).astype(np.intp)]
