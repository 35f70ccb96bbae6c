"""Rates, areas and curves of scores of members and others, with means over repeats.

Means over repeats have a standard error and, from five repeats up, Student's interval.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats, Integers

_GRID = np.unique(np.concatenate([np.linspace(0, 0.1, 21), np.linspace(0, 1, 51)]).round(3))

FEWEST_REPEATS = 5  # below it an interval says more about luck than about the attack


@dataclass(frozen=True, eq=False)
class GameScores:
    """One game: the scores of members and of others, and the threshold fixed before them.

    Examples
    --------
    >>> game = GameScores(np.array([0.9, 0.8, 0.2]), np.array([0.7, 0.1, 0.1]), threshold=0.5)
    >>> round(game.advantage, 3), round(game.auc, 3), game.tpr_at(0.4)
    (0.333, 0.889, 1.0)
    """

    inside: Floats
    outside: Floats
    threshold: float

    @property
    def tpr(self) -> float:
        """The share of members called members."""
        return float((self.inside > self.threshold).mean())

    @property
    def fpr(self) -> float:
        """The share of others called members."""
        return float((self.outside > self.threshold).mean())

    @property
    def advantage(self) -> float:
        """How much likelier a member is called one: 0 for a constant score."""
        return self.tpr - self.fpr

    @property
    def auc(self) -> float:
        """The probability that a member scores above another; ties count half."""
        false, true = threshold_counts(self.inside, self.outside)
        area = np.trapezoid(true, false) / (self.inside.size * self.outside.size)
        return float(area)

    def tpr_at(self, fpr: float) -> float | None:
        """Return the largest share of members found while at most this share of others is.

        It is None if there are too few others to resolve such a rate.
        """
        most = int(fpr * self.outside.size + 1e-9)
        if most < 1:
            return None
        false, true = threshold_counts(self.inside, self.outside)
        return float(true[false <= most].max()) / self.inside.size


@dataclass(frozen=True, eq=False)
class Roc:
    """The ROC curve of the mean game.

    Attributes
    ----------
    fpr
        False positive rates.
    tpr
        True positive rates, means over the games. Between its knots the curve is straight, as for
        an attacker who tosses a coin between two thresholds.
    low
        The lower end of Student's band; ``None`` for fewer than five games.
    high
        The upper end of the band.
    true_positives
        The members found at each rate, over all games.
    members
        The members of all games.
    others
        The others of all games.
    """

    fpr: Floats
    tpr: Floats
    low: Floats | None
    high: Floats | None
    true_positives: Integers
    members: int
    others: int

    def points(self) -> list[tuple[float, float, float | None, float | None]]:
        """Return points for a figure: both rates, and the ends of the band."""
        none = [None] * len(self.fpr)
        low = none if self.low is None else self.low.tolist()
        high = none if self.high is None else self.high.tolist()
        return list(zip(self.fpr.tolist(), self.tpr.tolist(), low, high, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        arrays = {name: getattr(self, name) for name in ("fpr", "tpr", "low", "high")}
        arrays["found"] = self.true_positives
        plain = {name: None if a is None else a.tolist() for name, a in arrays.items()}
        return {**plain, "members": self.members, "others": self.others}


def threshold_counts(inside: Floats, outside: Floats) -> tuple[Integers, Integers]:
    """Count others and members above each threshold, from none to all.

    Examples
    --------
    >>> false, true = threshold_counts(np.full(4, 0.5), np.full(2, 0.5))  # a constant score
    >>> false.tolist(), true.tolist()
    ([0, 2], [0, 4])
    """
    thresholds = np.unique(np.concatenate([inside, outside]))
    above = [s.size - np.searchsorted(np.sort(s), thresholds) for s in (outside, inside)]
    false, true = (np.concatenate([[0], counts[::-1]]).astype(np.int64) for counts in above)
    return false, true


def mean_roc(games: Sequence[GameScores], alpha: float) -> Roc:
    """Return the mean of the games' curves over false positive rates from 0 to 1."""
    curves = np.stack([_at_rates(game) for game in games])
    columns = [MeanOverRepeats.of(column, alpha) for column in curves.T]
    low, high = (
        None
        if columns[0].low is None
        else np.clip(np.array([getattr(c, end) for c in columns]), 0, 1)
        for end in ("low", "high")
    )
    members = [game.inside.size for game in games]
    true_positives = np.rint(np.array(members) @ curves).astype(np.int64)
    others = sum(game.outside.size for game in games)
    return Roc(_GRID, curves.mean(axis=0), low, high, true_positives, sum(members), others)


def roc_of_one_game(game: GameScores, alpha: float) -> Roc:
    """Return the curve of one game of independent trials, with Clopper and Pearson's limits."""
    from scipy.stats import beta

    curve, n = _at_rates(game), game.inside.size
    hits = np.rint(curve * n).astype(np.int64)
    low = np.where(hits == 0, 0.0, beta.ppf(alpha / 2, np.maximum(hits, 1), n - hits + 1))
    high = np.where(hits == n, 1.0, beta.ppf(1 - alpha / 2, hits + 1, np.maximum(n - hits, 1)))
    return Roc(_GRID, curve, low, high, hits, n, game.outside.size)


def _at_rates(game: GameScores) -> Floats:
    false, true = threshold_counts(game.inside, game.outside)
    wanted = _GRID * game.outside.size
    left = np.searchsorted(false, wanted, side="right") - 1
    right = np.minimum(left + 1, false.size - 1)
    step = np.maximum(false[right] - false[left], 1)
    share = (wanted - false[left]) / step
    curve: Floats = (true[left] + share * (true[right] - true[left])) / game.inside.size
    return curve


@dataclass(frozen=True)
class MeanOverRepeats:
    """A mean over repeats; ``float()`` of it is the mean.

    Attributes
    ----------
    mean
        Of one number for each repeat: rows of one model depend on each other, so they do not count.
    standard_error
        Of the mean; None for a single repeat.
    low
        The lower end of Student's interval of level 1 - alpha; ``None`` for fewer than five
        repeats.
    high
        The upper end.
    repeats
        The number of repeats.

    Examples
    --------
    >>> print(MeanOverRepeats.of([0.1, 0.2, 0.3, 0.2, 0.2], alpha=0.05))
    0.200 (0.112 to 0.288)
    """

    mean: float
    standard_error: float | None
    low: float | None
    high: float | None
    repeats: int

    @classmethod
    def of(cls, values: ArrayLike, alpha: float) -> "MeanOverRepeats":
        """Compute the estimate from one number for each repeat."""
        numbers = np.asarray(values, dtype=np.float64)
        mean, repeats = float(numbers.mean()), numbers.size
        if repeats == 1:
            return cls(mean, None, None, None, 1)
        error = float(numbers.std(ddof=1)) / math.sqrt(repeats)
        if repeats < FEWEST_REPEATS:
            return cls(mean, error, None, None, repeats)
        reach = t_quantile(repeats, alpha / 2) * error
        return cls(mean, error, mean - reach, mean + reach, repeats)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    def __float__(self) -> float:
        return self.mean

    def __str__(self) -> str:
        if self.low is None:
            return f"{self.mean:.3f}"
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


def t_quantile(repeats: int, alpha: float) -> float:
    """Return how many standard errors a mean exceeds with probability alpha (Student's t)."""
    from scipy.stats import t

    return float(t.ppf(1 - alpha, repeats - 1))
