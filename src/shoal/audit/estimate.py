"""A mean over repeats, with its standard error and, from five repeats up, Student's interval."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["FEWEST_REPEATS", "Estimate", "student"]

FEWEST_REPEATS = 5  # below it an interval says more about luck than about the attack


@dataclass(frozen=True)
class Estimate:
    """The mean of one number a repeat; ``float()`` of it is the mean.

    Attributes
    ----------
    mean, standard_error
        Of the repeats: rows of one model depend on each other, so they do not count. No standard
        error of a single repeat.
    low, high
        Student's interval of level 1 - alpha; ``None`` for fewer than five repeats.
    repeats
        How many.

    Examples
    --------
    >>> print(Estimate.of([0.1, 0.2, 0.3, 0.2, 0.2], alpha=0.05))
    0.200 (0.112 to 0.288)
    """

    mean: float
    standard_error: float | None
    low: float | None
    high: float | None
    repeats: int

    @classmethod
    def of(cls, values: ArrayLike, alpha: float) -> "Estimate":
        """From one number a repeat."""
        numbers = np.asarray(values, dtype=np.float64)
        mean, repeats = float(numbers.mean()), numbers.size
        if repeats == 1:
            return cls(mean, None, None, None, 1)
        error = float(numbers.std(ddof=1)) / math.sqrt(repeats)
        if repeats < FEWEST_REPEATS:
            return cls(mean, error, None, None, repeats)
        reach = student(repeats, alpha / 2) * error
        return cls(mean, error, mean - reach, mean + reach, repeats)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def __float__(self) -> float:
        return self.mean

    def __str__(self) -> str:
        if self.low is None:
            return f"{self.mean:.3f}"
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


def student(repeats: int, alpha: float) -> float:
    """How many standard errors a mean of so many repeats exceeds with probability alpha."""
    from scipy.stats import t

    return float(t.ppf(1 - alpha, repeats - 1))
