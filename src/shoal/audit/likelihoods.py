"""What models say about each record when it is in and when it is out, as two normal laws."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.audit.victim import Matrix

__all__ = ["Mask", "Seen", "best_threshold"]

Mask = NDArray[np.bool_]
_OWN_VARIANCES = 64  # shadow models from which on each record has variances of its own
_FLOOR = 1e-6  # of a standard deviation


@dataclass(frozen=True, eq=False)
class Side:
    """What models on one side said about each record: how many, their sum and sum of squares."""

    count: Matrix
    total: Matrix
    squares: Matrix

    @classmethod
    def of(cls, said: Matrix, there: Mask) -> "Side":
        own = np.where(there, said, 0.0)
        return cls(there.sum(axis=0, dtype=float), own.sum(axis=0), (own**2).sum(axis=0))

    def without(self, said: Matrix, there: Mask) -> "Side":
        """For each model, what the others on this side said."""
        own = np.where(there, said, 0.0)
        return Side(self.count - there, self.total - own, self.squares - own**2)

    @property
    def mean(self) -> Matrix:
        return self.total / np.maximum(self.count, 1)

    @property
    def variance(self) -> Matrix:
        spread = self.squares / np.maximum(self.count, 1) - self.mean**2
        return np.maximum(spread, 0) * self.count / np.maximum(self.count - 1, 1)


@dataclass(frozen=True, eq=False)
class Seen:
    """The law of what is said about each record, in and out, from the shadow models."""

    said: Matrix
    coins: Mask
    inside: Side
    outside: Side
    middle: NDArray[np.float64]

    @classmethod
    def of(cls, said: Matrix, coins: Mask) -> "Seen":
        """From (models, records): what was said, and who was in."""
        middle = said.mean(axis=0)  # taken off first: squares of large numbers would cancel
        off = said - middle
        return cls(off, coins, Side.of(off, coins), Side.of(off, ~coins), middle)

    def scored(self, said: Matrix, online: bool) -> Matrix:
        """How much each answer speaks for "in"."""
        return self._scores(said - self.middle, self.inside, self.outside, online)

    def rehearsed(self, online: bool) -> Matrix:
        """The same for each shadow model, judged by the others: to fix a threshold on."""
        inside = self.inside.without(self.said, self.coins)
        outside = self.outside.without(self.said, ~self.coins)
        return self._scores(self.said, inside, outside, online)

    def _scores(self, said: Matrix, inside: Side, outside: Side, online: bool) -> Matrix:
        out = _log_density(said, outside, self._spread(outside))
        if online:
            scores = _log_density(said, inside, self._spread(inside)) - out
        else:
            scores = (said - outside.mean) / self._spread(outside)
        lacking = (outside.count < 2) | (online & (inside.count < 2))
        return np.where(lacking, 0.0, scores)

    def _spread(self, side: Side) -> Matrix:
        """Standard deviations: a record's own, or one for all where models are few."""
        own = side.variance
        if len(self.said) < _OWN_VARIANCES:
            own = np.average(own, weights=side.count, axis=-1, keepdims=True)
        return np.maximum(np.sqrt(own), _FLOOR)


def _log_density(said: Matrix, side: Side, spread: Matrix) -> Matrix:
    return -0.5 * ((said - side.mean) / spread) ** 2 - np.log(spread)


def best_threshold(scores: Matrix, coins: Mask) -> float:
    """Where the shadow models are told apart best."""
    inside, outside = np.sort(scores[coins]), np.sort(scores[~coins])
    tried = np.unique(scores)
    missed = np.searchsorted(inside, tried, side="right") / max(inside.size, 1)
    kept = np.searchsorted(outside, tried, side="right") / max(outside.size, 1)
    return float(tried[np.argmax(kept - missed)])
