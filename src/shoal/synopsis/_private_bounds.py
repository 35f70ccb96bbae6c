"""Estimate the bounds of columns from noisy counts between public powers of two."""

import math
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.domain import Box, Schema
from shoal.engine import Block, Rows
from shoal.estimator import PrivateEstimator, Spending
from shoal.mechanisms import Geometric
from shoal.privacy import LedgerOrPath, PureDP
from shoal.randomness import Seed

_EXPONENTS = range(-20, 63)  # from a millionth to 4.6e18; public, whatever the rows hold
_NEAR_ZERO = 1 / 16  # an end this near to 0, as a share of the other end, becomes 0
_FALSE_BUCKETS = 0.05  # empty buckets, of all columns, that are taken for occupied, on average


class PrivateBounds(PrivateEstimator):
    r"""Estimate between which powers of two the numbers of each column lie.

    For tables whose columns have no public bounds. Bounds by what a column means are better: they
    cost nothing, and no row moves them.

    Guarantee
    ---------
    :math:`\varepsilon`-DP: a row changes one count of each of the d columns by one, and all counts
    carry two-sided geometric noise of sensitivity d. See ``private_bounds.proof.md``.

    Parameters
    ----------
    epsilon
        The budget of one ``fit``, short for ``privacy=PureDP(epsilon)``.
    privacy
        The whole promise. Give this or ``epsilon``.
    domain
        The widest range that is thinkable; ``widest_box`` makes one of column names. A schema may
        also say whose each row is.
    nonfinite
        What NaN does: "refuse" the table, or "drop" the row.
    ledger
        Where the promise is written and added up; None keeps no record.
    random_state
        A seed makes the fit a simulation, marked as such; None draws real noise.

    Attributes
    ----------
    bounds_
        The lowest and highest edge of the buckets that hold more rows than noise explains, for
        each column that has one; an end near 0 becomes 0. A few rows beyond them are taken for
        noise; later they are moved to the edge.
    box_
        The same as a box, marked if the noise was seeded: what is fitted with such a box is a
        simulation too. None if no column has bounds.
    noisy_counts_
        The noisy counts of each column's buckets.
    edges_
        The public edges of each column's buckets.
    threshold_
        The count from which a bucket is taken for occupied: an empty one of any column reaches it
        with a chance of at most 1 in 20.

    Examples
    --------
    >>> ages = np.arange(18.0, 70.0).repeat(200)[:, None]
    >>> wide = widest_box(["age"])
    >>> PrivateBounds(epsilon=0.1, domain=wide, random_state=7).fit(ages).bounds_
    {'age': (16.0, 128.0)}

    References
    ----------
    Wilson, Zhang, Lam, Desfontaines, Simmons-Marengo, Gipson, Differentially private SQL with
    bounded user contribution, PoPETs 2020 (approximate bounds by powers of two).
    """

    def __init__(
        self,
        *,
        epsilon: Any = None,
        privacy: PureDP | None = None,
        domain: Box | Schema | None = None,
        nonfinite: Literal["refuse", "drop"] = "refuse",
        ledger: LedgerOrPath | None = None,
        random_state: Seed = None,
    ) -> None:
        self.epsilon = epsilon
        self.privacy = privacy
        self.domain = domain
        self.nonfinite = nonfinite
        self.ledger = ledger
        self.random_state = random_state

    def _release_name(self, rows: Rows) -> str:
        return f"counts between powers of two of {self.box.d} columns"

    def spend(self, spending: Spending) -> Self:
        """Estimate with a budget that the caller opened; see ``PrivateEstimator.spend``.

        Parameters
        ----------
        spending
            The rows, the page that pays, the budget and the noise.
        """
        box = spending.box
        edges = [
            power_edges(low, high) for low, high in zip(box.low, box.high, strict=True)
        ]  # [P1]
        noise = Geometric(spending.budget, sensitivity=box.d)  # [P2] one bucket of each column
        (counts,) = spending.sum(PowerCounts(tuple(edges)))
        noisy_counts = spending.release(noise, counts, of="counts between powers of two")  # [P3]
        starts = np.cumsum([len(each) - 1 for each in edges])[:-1]
        parts = np.split(noisy_counts, starts)
        self.threshold_ = _threshold(len(noisy_counts), float(noise.step))
        self.edges_ = dict(zip(box.names, edges, strict=True))
        self.noisy_counts_ = dict(zip(box.names, parts, strict=True))
        self.bounds_ = dict(self._occupied())
        return self

    @property
    def box_(self) -> Box | None:
        """The released bounds as a box, marked if their noise was seeded."""
        return Box(**self.bounds_).simulated(self.guarantee_.simulation) if self.bounds_ else None

    def _occupied(self) -> Any:
        """Yield each column's bounds: those of its first and last bucket above the threshold."""
        for name, counts in self.noisy_counts_.items():
            at = np.flatnonzero(counts >= self.threshold_)  # [P4] released numbers only
            if len(at):
                edges = self.edges_[name]
                yield name, _with_zero(float(edges[at[0]]), float(edges[at[-1] + 1]))


@dataclass(frozen=True, eq=False)
class PowerCounts:
    """A kernel that counts rows in the buckets of each column, one column after another.

    Parameters
    ----------
    edges
        The edges of each column's buckets, in the order of the numbers.

    Examples
    --------
    >>> block = Block(np.array([[3.0], [5.0], [7.0]]), np.empty((3, 0), np.int32))
    >>> PowerCounts((np.array([0.0, 4.0, 8.0]),))(block)
    (array([1, 2]),)
    """

    edges: tuple[Floats, ...]

    def __call__(self, block: Block) -> tuple[Integers, ...]:
        """Return the counts of a block of rows."""
        return (np.concatenate([self._counts(block, at) for at in range(len(self.edges))]),)

    def _counts(self, block: Block, at: int) -> Integers:
        inner = self.edges[at][1:-1]
        buckets = np.searchsorted(inner, block.numbers[:, at], side="right")
        return np.bincount(buckets, minlength=len(inner) + 1)


def power_edges(low: float, high: float) -> Floats:
    """Return the edges of buckets: both ends, 0 and the powers of two of both signs between.

    Examples
    --------
    >>> power_edges(-2, 5)[[0, 1, -3, -2, -1]].tolist()
    [-2.0, -1.0, 2.0, 4.0, 5.0]
    """
    powers = [2.0**exponent for exponent in _EXPONENTS]
    edges = [-power for power in reversed(powers)] + [0.0] + powers
    return np.array([low, *(edge for edge in edges if low < edge < high), high])


def widest_box(names: list[str]) -> Box:
    """Return bounds that hold any number that is thinkable, for ``PrivateBounds``.

    Parameters
    ----------
    names
        The columns.

    Examples
    --------
    >>> widest_box(["age"])
    Box(age=(-4.61169e+18, 4.61169e+18))
    """
    most = 2.0 ** _EXPONENTS[-1]
    return Box.of(names, [-most] * len(names), [most] * len(names))


def _with_zero(low: float, high: float) -> tuple[float, float]:
    """Widen bounds of one sign to 0 if that adds little: a low end of 0.0005 helps nobody."""
    if 0 < low <= high * _NEAR_ZERO:
        return 0.0, high
    return (low, 0.0) if low * _NEAR_ZERO <= high < 0 else (low, high)


def _threshold(buckets: int, step: float) -> int:
    """Return the count that on average 1 in 20 empty buckets of all reaches by noise.

    One does with probability a^t / (1 + a), a = e^-step, of which a^t is more.
    """
    return max(1, math.ceil(math.log(buckets / _FALSE_BUCKETS) / step))
