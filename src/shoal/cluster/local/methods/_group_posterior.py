"""Draw round groups from what noisy counts of cells leave possible, by annealed Gibbs sampling.

The best fit of a small group is often a peak of the noise. The mean over all groups that the counts
leave possible puts such a group nowhere in particular, and a clear one where it is. Only released
numbers are read.

Several chains run side by side as arrays: first on counts whose noise is taken to be far greater
than it is, then greater by less and less, so that large groups find their places before small ones.
At each step a chain that explains the counts badly is replaced by one that does so well. One sweep
of a chain draws, for each group,

    place and width   among all points of a lattice that runs through where the group is, with all
                      sizes integrated out; then again nearby, so that places are not on a lattice
    sizes             of all groups together, from a Gaussian without its negative part
    prior of sizes    alike, or any

References
----------
Del Moral, Doucet, Jasra, Sequential Monte Carlo samplers, JRSS B 2006.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from shoal.arrays import Floats, Integers
from shoal.cluster.local.methods._gaussian_groups import (
    CellCounts,
    GaussianGroups,
    fit_from_many_starts,
    normal_density,
    open_ends,
)
from shoal.cluster.local.methods._result import Progress

# The prior, chosen on made-up tables (docs/decisions/local-auto.md). Sizes sum to n up to 0.01 of
# it; they are either alike, n/k up to a deviation of 0.4 of it, or any, at even odds. Logarithms of
# widths are as in ``gaussian_groups``. Two groups in one place are less likely than two apart.
_SUM_SPREAD, _SIZE_SPREAD, _ODDS_OF_ANY = 0.01, 0.4, 0.5
_WIDTH_SPREAD, _USUAL_SPREAD = 0.5, 0.8
_REPULSION = 2.0

# In three columns and more, fits were better; with many slices along an axis, draws are slow.
_MOST_COLUMNS, _MOST_SLICES, _FEW_SLICES = 2, 128, 32
_MOST_CHAINS, _FEWEST_CHAINS = 10, 4
_WORK = 600_000  # numbers in the largest array
_WIDTH_STEP, _N_WIDTHS = 0.7, 5  # of the lattice, in logarithms
_LOCAL_MOVES = 4
_UNUSED, _KEPT = 2, 8  # sweeps without added noise: not kept, and kept
_HIDDEN = 5.0  # deviations above the noise to which the greatest count is reduced at first
_TRIES = 6  # draws of sizes, until none is negative


def likely_groups(
    cells: CellCounts, k: int, rng: np.random.Generator, progress: Progress = None
) -> list[GaussianGroups]:
    """Return sets of groups that explain the counts: draws in few columns, fits in more.

    Parameters
    ----------
    cells
        The noisy counts.
    k
        The number of groups.
    rng
        The source of draws and starts.
    progress
        Called with the share of the work done.
    """
    few = len(cells.edges) <= _MOST_COLUMNS and _most_slices(cells) <= _MOST_SLICES
    return (draw_groups if few else fit_from_many_starts)(cells, k, rng, progress)


def draw_groups(
    cells: CellCounts, k: int, rng: np.random.Generator, progress: Progress = None
) -> list[GaussianGroups]:
    """Draw sets of ``k`` groups that may be behind the counts, each as likely as the other.

    Returns
    -------
    Some dozens of sets of groups. Their cost is 0: they weigh the same.
    """
    chains = _Chains(cells, k, rng)
    noises = _noise_ladder(cells)
    sweeps = len(noises) + _UNUSED + _KEPT
    drawn: list[GaussianGroups] = []
    for done in range(sweeps):
        if done < len(noises):
            chains.set_noise(noises[done])
        chains.sweep()
        if done >= sweeps - _KEPT:
            drawn += chains.groups()
        if progress is not None:
            progress((done + 1) / (sweeps + 1))
    return drawn


def _most_slices(cells: CellCounts) -> int:
    return max(len(each) - 1 for each in cells.edges)


def _noise_ladder(cells: CellCounts) -> list[float]:
    """Return falling multiples of the noise's variance, down to 1."""
    highest = (float(cells.counts.max()) / cells.deviation / _HIDDEN) ** 2
    levels = math.ceil(math.log2(max(highest, 4.0)))
    return [2.0**level for level in range(levels, -1, -1)]


@dataclass(eq=False)
class _Lattice:
    """Places and widths that are tried for one group, in each chain others.

    ``places`` are (chains, places) along each axis, ``widths`` (chains, widths) in logarithms, and
    ``masses`` (chains, widths, places, slices) along each axis.
    """

    places: list[Floats]
    widths: Floats
    masses: list[Floats]

    def overlap(self, counts: Floats) -> Floats:
        """Return the product of the masses of each point with the counts."""
        chains, widths = self.widths.shape
        rest: Floats = np.broadcast_to(counts, (chains, widths, 1, counts.size))
        for mass in self.masses:
            slices = mass.shape[-1]
            rest = rest.reshape(chains, widths, rest.shape[2], slices, -1)
            rest = np.matmul(mass[:, :, None], rest)
            rest = rest.reshape(chains, widths, rest.shape[2] * rest.shape[3], -1)
        return rest.reshape(chains, -1)

    def overlap_with(self, factors: list[Floats]) -> Floats:
        """Return the products with the masses of groups, (chains, groups, points)."""
        chains, groups = factors[0].shape[:2]
        parts = []
        for mass, factor in zip(self.masses, factors, strict=True):
            flat = mass.reshape(chains, -1, mass.shape[-1])
            product = np.matmul(factor, flat.transpose(0, 2, 1))
            parts.append(product.reshape(chains, groups, *mass.shape[1:3]))
        return _products(parts).reshape(chains, groups, -1)

    def squares(self) -> Floats:
        """Return the sum of the squared masses of each point."""
        return _products([(mass**2).sum(axis=-1) for mass in self.masses]).reshape(
            len(self.widths), -1
        )

    def squared_distances(self, center: Floats) -> Floats:
        """Return the squared distances of all places to one place in each chain."""
        total: Floats = np.zeros((len(center), 1))
        for axis, places in enumerate(self.places):
            along = (places - center[:, [axis]]) ** 2
            total = (total[:, :, None] + along[:, None]).reshape(len(center), -1)
        return total

    def point(self, chosen: Integers) -> tuple[Floats, Floats]:
        """Return the places and widths of the points of these numbers, one a chain."""
        shape = (self.widths.shape[1], *(each.shape[1] for each in self.places))
        at_width, *at = np.unravel_index(chosen, shape)
        chain = np.arange(len(chosen))
        center = np.stack([each[chain, i] for each, i in zip(self.places, at, strict=True)], axis=1)
        return center, self.widths[chain, at_width]


class _Chains:
    """The groups of all chains, and the steps that draw them anew.

    Arrays begin with one axis for the chains and one for the groups; ``factors`` has the masses of
    the groups in the slices along each axis.
    """

    def __init__(self, cells: CellCounts, k: int, rng: np.random.Generator) -> None:
        self.cells, self.k, self.d, self.rng = cells, k, len(cells.edges), rng
        self.edges = [open_ends(each) for each in cells.edges]
        self.low = np.array([each[0] for each in cells.edges])
        self.high = np.array([each[-1] for each in cells.edges])
        self.per_cell = 2 if _most_slices(cells) <= _FEW_SLICES else 1
        self.usual = math.log(cells.usual_width)
        self.narrowest = self.usual - _WIDTH_STEP * _N_WIDTHS / 2
        even = np.full((k, k), 1 / k)
        self.on_widths = (np.eye(k) - even) / _WIDTH_SPREAD**2 + even / k / _USUAL_SPREAD**2
        points = _N_WIDTHS * self.per_cell**self.d * cells.counts.size
        self.n = int(np.clip(_WORK // (points * k), _FEWEST_CHAINS, _MOST_CHAINS))
        self._start()

    def _start(self) -> None:
        shape = (self.n, self.k)
        self.centers = self.rng.uniform(self.low, self.high, (*shape, self.d))
        reach = _N_WIDTHS * _WIDTH_STEP
        self.widths = self.narrowest + self.rng.uniform(0, reach, shape)
        self.sizes = np.zeros(shape)
        self.any_size = self.rng.random(self.n) < _ODDS_OF_ANY
        self.factors = [np.zeros((*shape, len(each) - 1)) for each in self.edges]
        self.rest: Floats = np.zeros((self.n, 0))  # counts beyond the groups
        self.variance = math.nan

    def set_noise(self, multiple: float) -> None:
        """Take the noise's variance to be a multiple of what it is, and drop chains that lag."""
        variance = multiple * self.cells.deviation**2
        if math.isnan(self.variance):
            self.variance = variance
            for group in range(self.k):
                self._place(group, known=group)
            return
        misfit = (self.rest**2).sum(axis=1) * (1 / variance - 1 / self.variance) / 2
        self.variance = variance
        self._resample(np.exp(misfit.min() - misfit))

    def sweep(self) -> None:
        """Draw places, widths, sizes and the prior of sizes of all groups anew, once."""
        for group in self.rng.permutation(self.k):
            self._place(group, known=self.k)
        self._draw_sizes()
        for group in range(self.k):
            self._move_nearby(group)
        self._draw_sizes()
        self._choose_prior()

    def groups(self) -> list[GaussianGroups]:
        """Return the groups of each chain."""
        each = zip(self.centers.copy(), self.widths.copy(), self.sizes.copy(), strict=True)
        return [GaussianGroups(centers, widths, sizes, 0.0) for centers, widths, sizes in each]

    def _resample(self, weights: Floats) -> None:
        """Draw chains in proportion to their weights, at even distances."""
        at = (np.arange(self.n) + self.rng.random()) / self.n * weights.sum()
        chosen = np.minimum(np.searchsorted(weights.cumsum(), at), self.n - 1)
        self.centers, self.widths, self.sizes = (
            self.centers[chosen], self.widths[chosen], self.sizes[chosen]
        )  # fmt: skip
        self.any_size, self.rest = self.any_size[chosen], self.rest[chosen]
        self.factors = [factor[chosen] for factor in self.factors]

    def _place(self, group: int, known: int) -> None:
        """Draw the place and width of a group, given those of the first ``known`` others."""
        others = [other for other in range(known) if other != group]
        lattice = self._lattice(group)
        worth = self._evidence(lattice, others, whole=known == self.k)
        shaped = worth.reshape(self.n, _N_WIDTHS, -1)
        shaped += self._width_prior(group, others, lattice.widths)[:, :, None]
        for other in others:
            apart = lattice.squared_distances(self.centers[:, other])[:, None]
            both = np.exp(2 * lattice.widths) + np.exp(2 * self.widths[:, [other]])
            shaped += _repulsion(apart, both[:, :, None])
        odds = np.exp(worth - worth.max(axis=1, keepdims=True)).cumsum(axis=1)
        chosen = (odds < self.rng.random((self.n, 1)) * odds[:, -1:]).sum(axis=1)
        self._put(group, *lattice.point(chosen))

    def _put(self, group: int, center: Floats, width: Floats) -> None:
        self.centers[:, group], self.widths[:, group] = center, width
        for factor, mass in zip(self.factors, self._masses(center, width), strict=True):
            factor[:, group] = mass

    def _lattice(self, group: int) -> _Lattice:
        """Return a lattice over the box and the widths that runs through where the group is."""
        places = []
        for axis in range(self.d):
            count = self.per_cell * (len(self.edges[axis]) - 1)
            step = (self.high[axis] - self.low[axis]) / count
            places.append(_through(self.centers[:, group, axis], self.low[axis], step, count))
        widths = _through(self.widths[:, group], self.narrowest, _WIDTH_STEP, _N_WIDTHS)
        narrow = np.exp(-widths)[:, :, None, None]
        masses = [
            np.diff(ndtr((edges - each[:, None, :, None]) * narrow))
            for each, edges in zip(places, self.edges, strict=True)
        ]
        return _Lattice(places, widths, masses)

    def _evidence(self, lattice: _Lattice, others: list[int], *, whole: bool) -> Floats:
        """Return the logarithm of the likelihood of each point, with all sizes integrated out.

        The sizes of the others are taken as Gaussian there, with their negative part.
        """
        on_sum, on_each, pull = self._size_prior(whole=whole)
        spread = lattice.squares() / self.variance + on_sum + on_each[:, None]
        slope = lattice.overlap(self.cells.counts) / self.variance + pull[:, None]
        if others:
            hessian, gradient = self._size_expansion(others, whole=whole)
            root = np.linalg.inv(np.linalg.cholesky(hessian))
            factors = [factor[:, others] for factor in self.factors]
            shared = lattice.overlap_with(factors) / self.variance + on_sum
            shared = np.matmul(root, shared)
            spread -= (shared**2).sum(axis=1)
            solved = np.matmul(root, gradient[:, :, None])
            slope -= np.matmul(solved.transpose(0, 2, 1), shared)[:, 0]
        spread = np.maximum(spread, 1e-9 * spread.max())
        steep = np.maximum(slope / np.sqrt(spread), -30.0)  # below, all are as good as 0
        return np.asarray(steep**2 / 2 + np.log(ndtr(steep) / np.sqrt(spread)))

    def _size_prior(self, *, whole: bool) -> tuple[float, Floats, Floats]:
        """Return the precision of the sum of sizes, that of each in each chain, and the pull."""
        n = self.cells.n
        on_sum = 1 / (_SUM_SPREAD * n) ** 2 if whole else 0.0
        alike = (self.k / (_SIZE_SPREAD * n)) ** 2
        on_each = np.where(self.any_size, 0.0, alike)
        return on_sum, on_each, on_sum * n + on_each * n / self.k

    def _size_expansion(self, groups: list[int], *, whole: bool) -> tuple[Floats, Floats]:
        """Return the second and first derivatives, at 0, of half the cost by sizes."""
        on_sum, on_each, pull = self._size_prior(whole=whole)
        factors = [factor[:, groups] for factor in self.factors]
        hessian = np.ones((self.n, len(groups), len(groups)))
        for factor in factors:
            hessian *= np.matmul(factor, factor.transpose(0, 2, 1))
        hessian /= self.variance
        hessian += on_sum + np.eye(len(groups)) * on_each[:, None, None]
        most = hessian.diagonal(axis1=1, axis2=2).max(axis=1)
        hessian += np.eye(len(groups)) * 1e-9 * most[:, None, None]
        gradient = _products(factors) @ self.cells.counts / self.variance + pull[:, None]
        return hessian, gradient

    def _draw_sizes(self) -> None:
        """Draw all sizes together, from a Gaussian without its negative part."""
        hessian, gradient = self._size_expansion(list(range(self.k)), whole=True)
        mean = np.linalg.solve(hessian, gradient[:, :, None])
        root = np.linalg.cholesky(hessian).transpose(0, 2, 1)
        sizes: Floats = np.full(self.sizes.shape, -1.0)
        for _ in range(_TRIES):
            drawn = mean + np.linalg.solve(root, self.rng.normal(size=mean.shape))
            sizes = np.where(sizes.min(axis=1, keepdims=True) >= 0, sizes, drawn[:, :, 0])
        left = np.flatnonzero(sizes.min(axis=1) < 0)
        sizes[left] = _positive_sizes(hessian[left], gradient[left], sizes[left], self.rng)
        self.sizes = sizes
        masses = np.matmul(sizes[:, None], _products(self.factors))[:, 0]
        self.rest = self.cells.counts - masses

    def _move_nearby(self, group: int) -> None:
        """Try small steps of the place and width of a group, its size held (Metropolis)."""
        mass = _products([factor[:, group] for factor in self.factors])
        size = self.sizes[:, [group]]
        reach, stretch = self._step_lengths(group)
        before = (self.rest**2).sum(axis=1) / self.variance / 2
        prior = self._prior_at(group, self.centers[:, group], self.widths[:, group])
        for _ in range(_LOCAL_MOVES):
            length = np.exp(self.rng.uniform(math.log(0.4), math.log(6), (self.n, 1)))
            step = length * self.rng.normal(size=(self.n, self.d + 1))
            center = self.centers[:, group] + reach * step[:, :-1]
            width = self.widths[:, group] + stretch * step[:, -1]
            moved = self._masses(center, width)
            new_mass = _products(moved)
            rest = self.rest + size * (mass - new_mass)
            after = (rest**2).sum(axis=1) / self.variance / 2
            new_prior = self._prior_at(group, center, width)
            gain = before - after + new_prior - prior
            taken = np.log(self.rng.random(self.n)) < gain
            self.centers[taken, group], self.widths[taken, group] = center[taken], width[taken]
            self.rest[taken], mass[taken] = rest[taken], new_mass[taken]
            before, prior = np.where(taken, after, before), np.where(taken, new_prior, prior)
            for factor, new in zip(self.factors, moved, strict=True):
                factor[taken, group] = new[taken]

    def _step_lengths(self, group: int) -> tuple[Floats, Floats]:
        """Return how far a place and a width may go until the counts tell the difference."""
        width = np.exp(self.widths[:, [group]])
        own = [factor[:, group] for factor in self.factors]
        squares = [(each**2).sum(axis=1) for each in own]
        along = []
        for axis, edges in enumerate(self.edges):
            density = normal_density((edges - self.centers[:, group, axis, None]) / width)
            slope = (np.diff(density) ** 2).sum(axis=1) / width[:, 0] ** 2
            along.append(slope * np.prod(squares[:axis] + squares[axis + 1 :], axis=0))
        information = np.stack(along, axis=1) * self.sizes[:, [group]] ** 2 / self.variance
        reach = 1 / np.sqrt(information + 4 / self.cells.sides**2)
        return reach, 1 / np.sqrt(information.sum(axis=1) * width[:, 0] ** 2 + 1 / _WIDTH_SPREAD**2)

    def _prior_at(self, group: int, center: Floats, width: Floats) -> Floats:
        """Return the logarithm of the prior of a place and width, up to a constant."""
        others = [other for other in range(self.k) if other != group]
        inside = ((center >= self.low) & (center < self.high)).all(axis=1)
        beyond = width - self.narrowest
        inside &= (beyond >= 0) & (beyond < _N_WIDTHS * _WIDTH_STEP)
        apart = ((self.centers[:, others] - center[:, None]) ** 2).sum(axis=2)
        both = np.exp(2 * width)[:, None] + np.exp(2 * self.widths[:, others])
        prior = self._width_prior(group, others, width[:, None])[:, 0]
        return np.where(inside, prior + _repulsion(apart, both).sum(axis=1), -np.inf)

    def _width_prior(self, group: int, others: list[int], widths: Floats) -> Floats:
        """Return the logarithm of the prior of the widths of a group, given those of others."""
        far, rest = widths - self.usual, self.widths[:, others] - self.usual
        pull = rest @ self.on_widths[others, group]
        return np.asarray(-far * (self.on_widths[group, group] * far / 2 + pull[:, None]))

    def _masses(self, center: Floats, width: Floats) -> list[Floats]:
        """Return the masses of one group a chain in the slices along each axis."""
        scale = np.exp(width)[:, None]
        return [
            np.diff(ndtr((edges - center[:, [axis]]) / scale))
            for axis, edges in enumerate(self.edges)
        ]

    def _choose_prior(self) -> None:
        """Draw whether sizes are alike or any, given the sizes."""
        k = self.k
        shares = self.sizes / np.maximum(self.sizes.sum(axis=1, keepdims=True), 1e-9)
        variance = (_SIZE_SPREAD / k) ** 2
        alike = -((shares - 1 / k) ** 2).sum(axis=1) / (2 * variance)
        alike += (math.log(k) - (k - 1) * math.log(2 * math.pi * variance)) / 2
        ratio = np.exp(np.clip(alike - math.lgamma(k), -50, 50))
        odds = _ODDS_OF_ANY / (_ODDS_OF_ANY + (1 - _ODDS_OF_ANY) * ratio)
        self.any_size = self.rng.random(self.n) < odds


def _through(at: Floats, low: float, step: float, count: int) -> Floats:
    """Return ``count`` even places from ``low`` on, one of which is ``at``, for each chain."""
    return np.asarray(low + np.mod(at - low, step)[:, None] + step * np.arange(count))


def _products(parts: list[Floats]) -> Floats:
    """Return the products over all cells, the last axis fastest."""
    product = parts[0]
    for part in parts[1:]:
        product = (product[..., :, None] * part[..., None, :]).reshape(*product.shape[:-1], -1)
    return product


def _repulsion(apart: Floats, both: Floats) -> Floats:
    """Return the logarithm of the prior of a squared distance, given the sum of both variances."""
    near = np.exp(-np.minimum(apart / (4 * both) + 1e-9, 30.0))
    return np.asarray(_REPULSION * np.log1p(-near))


def _positive_sizes(
    hessian: Floats, gradient: Floats, start: Floats, rng: np.random.Generator
) -> Floats:
    """Draw sizes of which none is negative, one group after the other."""
    sizes = np.maximum(start, 0)
    for _ in range(4):
        for group in range(sizes.shape[1]):
            precision = hessian[:, group, group]
            slope = gradient[:, group] - (hessian[:, group] * sizes).sum(axis=1)
            mean, deviation = sizes[:, group] + slope / precision, 1 / np.sqrt(precision)
            below = ndtr(-mean / deviation)
            level = below + (1 - below) * rng.random(len(mean))
            drawn = mean + deviation * ndtri(np.minimum(level, 1 - 1e-12))
            sizes[:, group] = np.maximum(drawn, 0)
    return sizes
