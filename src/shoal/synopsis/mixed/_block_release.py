"""Release vectors of counts, sums and histograms with the noise that suits their blocks."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.estimator import Spending
from shoal.mechanisms import Gaussian, Geometric, ProductNorm
from shoal.privacy import ApproxDP, GaussianShare

_PARTS = 10_000  # shares of a budget are whole numbers of these


@dataclass(frozen=True)
class Blocks:
    """The blocks of a vector to which one row adds, each by at most its sensitivity.

    Blocks of like size share noise; which do is decided by their sizes alone. See
    ``block_release.proof.md``.

    Parameters
    ----------
    sizes
        How many coordinates each block has.
    sensitivities
        The most that a row moves each, in steps of its lattice.
    """

    sizes: tuple[int, ...]
    sensitivities: tuple[int, ...]

    @property
    def length(self) -> int:
        """How many coordinates there are."""
        return sum(self.sizes)

    def release(self, spending: Spending, value: Integers, *, of: str) -> Integers:
        """Release vectors with the whole budget.

        Parameters
        ----------
        value
            Whole numbers; the last axis holds the blocks, one after the other.
        """
        is_gaussian = spending.gaussian is not None
        noisy, groups = np.empty_like(value), self._alike() if is_gaussian else self._groups()
        for number, (group, share) in enumerate(groups, start=1):  # [P2] shares add up to 1
            places, paid = self._coordinates(group), spending.share(share)
            part = f"{of}, part {number} of {len(groups)}" if len(groups) > 1 else of
            noise = self._gaussian(paid, group) if is_gaussian else self._noise(paid.budget, group)
            noisy[..., places] = spending.release(noise, value[..., places], of=part)  # [P1]
        return noisy

    def gaussian_deviation(self, budget: ApproxDP | GaussianShare) -> float:
        """Return the deviation of every coordinate with Gaussian noise, in its sensitivities."""
        return Gaussian(budget, square_root(len(self.sizes))).deviation(self.length)

    def deviations(self, epsilon: float, gaussian: GaussianShare | None = None) -> Floats:
        """Return the standard deviation of each coordinate, in units of its sensitivity.

        Parameters
        ----------
        gaussian
            The part that paid instead of a pure epsilon.
        """
        if gaussian is not None:
            return np.full(self.length, self.gaussian_deviation(gaussian))
        deviations = np.empty(self.length)
        for group, share in self._groups():
            sizes = [self.sizes[b] for b in group]
            each = np.sqrt(_variances(sizes)) / (epsilon * float(share))
            deviations[self._coordinates(group)] = np.repeat(each, sizes)
        return deviations

    def draw(
        self,
        epsilon: float,
        n: int,
        rng: np.random.Generator,
        gaussian: GaussianShare | None = None,
    ) -> Floats:
        """Draw noise in floats, for intervals: it protects nothing."""
        if gaussian is not None:
            return rng.normal(0, self.gaussian_deviation(gaussian), (n, self.length))
        drawn = np.empty((n, self.length))
        for group, share in self._groups():
            sizes = [self.sizes[b] for b in group]
            radius = rng.gamma(sum(sizes) + 1, 1 / (epsilon * float(share)), (n, 1))
            parts = [_uniform_in_ball(n, m, rng) for m in sizes]
            drawn[:, self._coordinates(group)] = radius * np.hstack(parts)
        return drawn

    def _noise(self, budget: object, group: tuple[int, ...]) -> ProductNorm | Geometric:
        sizes = [self.sizes[b] for b in group]
        moves = [self.sensitivities[b] for b in group]
        if len(group) == 1:  # the same law, in whole numbers
            return Geometric(budget, moves[0])  # type: ignore[arg-type]
        return ProductNorm(budget, sizes, moves)  # type: ignore[arg-type]

    def _gaussian(self, spending: Spending, group: tuple[int, ...]) -> Gaussian:
        """Return noise for blocks of one sensitivity: a row moves each by at most that."""
        move = self.sensitivities[group[0]]
        return Gaussian(spending.gaussian_share, move * square_root(len(group)))  # [P3]

    def _alike(self) -> list[tuple[tuple[int, ...], Fraction]]:
        """Return blocks of equal sensitivity, and the share of each such group: that of its size.

        So every coordinate has the same deviation, in its sensitivities.
        """
        blocks = range(len(self.sizes))
        groups = [
            tuple(b for b in blocks if self.sensitivities[b] == move)
            for move in sorted(set(self.sensitivities))
        ]
        return [(group, Fraction(len(group), len(self.sizes))) for group in groups]

    def _coordinates(self, group: tuple[int, ...]) -> Integers:
        ends = np.cumsum([0, *self.sizes])
        return np.concatenate([np.arange(ends[b], ends[b + 1]) for b in group])

    def _groups(self) -> list[tuple[tuple[int, ...], Fraction]]:
        """Return which blocks share noise, and each group's share of the budget."""
        order = sorted(range(len(self.sizes)), key=lambda b: (self.sizes[b], b))
        runs = _best_runs(tuple(self.sizes[b] for b in order))
        groups = [tuple(order[start:end]) for start, end in runs]
        roots = [_run_cost([self.sizes[b] for b in group]) for group in groups]
        parts = [max(1, math.floor(_PARTS * root / sum(roots))) for root in roots[:-1]]
        shares = [Fraction(part, _PARTS) for part in parts]
        return list(zip(groups, [*shares, 1 - sum(shares, Fraction(0))], strict=True))


def square_root(number: int) -> Fraction:
    """Return the root of a whole number, rounded up."""
    return Fraction(math.isqrt((number << 64) - 1) + 1, 1 << 32)


def _variances(sizes: list[int]) -> Floats:
    """Return the variance of a coordinate of each block at epsilon 1."""
    m, total = np.array(sizes, dtype=np.float64), sum(sizes)
    return np.asarray(2 * (total + 1) * (total + 2) / ((m + 1) * (m + 2)))


def _run_cost(sizes: list[int]) -> float:
    """Return the cube root of the blocks' variances: the best share is in proportion to it."""
    return float(_variances(sizes).sum() ** (1 / 3))


@lru_cache(maxsize=64)
def _best_runs(sizes: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """Cut sorted sizes into runs so that the variance in all is least, by dynamic programming."""
    best: list[tuple[float, tuple[tuple[int, int], ...]]] = [(0.0, ())]
    for end in range(1, len(sizes) + 1):
        tried = [
            (cost + _run_cost(list(sizes[start:end])), (*runs, (start, end)))
            for start, (cost, runs) in enumerate(best)
        ]
        best.append(min(tried))
    return best[-1][1]


def _uniform_in_ball(n: int, m: int, rng: np.random.Generator) -> Floats:
    sizes = rng.exponential(size=(n, m + 1))
    signs = 1 - 2 * rng.integers(0, 2, size=(n, m))
    return np.asarray(signs * sizes[:, :m] / sizes.sum(axis=1, keepdims=True))
