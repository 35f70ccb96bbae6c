"""The best of some candidates by noisy scores, with its exact probabilities."""

import math
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.mechanisms import Geometric
from shoal.mechanisms.exact.whole_numbers import check_vectors
from shoal.privacy import PureDP

__all__ = ["NoisyBest"]

Integers = NDArray[np.int64]
_DIGITS = 60  # sums of candidates' products cancel: up to 2^48 of 10^60 is lost
_CONTEXT = Context(prec=_DIGITS, Emin=-(10**9), Emax=10**9)


@dataclass(frozen=True)
class NoisyBest:
    r"""The place of the highest score of each line, once noise has raised all (permute and flip).

    Guarantee
    ---------
    :math:`\varepsilon`-DP if a row moves the scores of one line only, each by at most
    ``sensitivity``. See ``noisy_best.proof.md``.

    Parameters
    ----------
    guarantee
        The promise of one ``release``.
    sensitivity
        The most one row can move a score, a whole number.
    one_way
        Whether a row that is added moves no score up, or none down: half the noise will do.

    Examples
    --------
    >>> best, scores, more = NoisyBest(PureDP(1), 1), np.array([[3, 5]]), np.array([[4, 4]])
    >>> round(best.worst_ratio(scores, more), 3), best.worst_ratio(scores, scores)
    (0.638, 0.0)

    References
    ----------
    McKenna, Sheldon, Permute-and-flip: a new mechanism for differentially private selection,
    NeurIPS 2020; Ding, Kifer, Steinke, Wang, Zhang, The permute-and-flip mechanism is identical to
    report-noisy-max with exponential noise, 2021.
    """

    guarantee: PureDP
    sensitivity: int
    one_way: bool = False

    @property
    def scale(self) -> float:
        """Of the noise on each score."""
        return float(self.needed_move / self.guarantee.epsilon)

    @property
    def needed_move(self) -> int:
        """How far a row moves one score against the highest of the others, at most."""
        return self.sensitivity if self.one_way else 2 * self.sensitivity  # [P1]

    def check(self, value: object) -> None:
        """Refuse what is no array of whole numbers, by its kind and shape alone.

        Parameters
        ----------
        value
            Scores, a line each.
        """
        check_vectors(value)

    def release(self, value: Integers, rng: np.random.Generator) -> Integers:
        """Return one place a line, the first of equal ones.

        Parameters
        ----------
        value
            Scores, a line each.
        rng
            The noise stream.
        """
        noise = Geometric(self.guarantee, self.needed_move)
        raised = np.abs(noise.release(np.zeros_like(value), rng))  # [P2]
        return np.asarray((value + raised).argmax(axis=-1))

    def log_ratio(self, output: Integers, value: Integers, other: Integers) -> float:
        """Return by how much, in logarithms, an output is likelier on one value than on another.

        Parameters
        ----------
        output
            What ``release`` returned.
        value
            The scores that the output is held to be likelier on.
        other
            The scores it is compared with, of the same shape.
        """
        return float(
            sum(
                self._log_ratio(int(place), before, after)
                for place, before, after in zip(output, value, other, strict=True)
                if not np.array_equal(before, after)
            )
        )

    def worst_ratio(self, value: Integers, other: Integers) -> float:
        """Return the largest ``log_ratio`` over all outputs.

        Parameters
        ----------
        value
            The scores that an output is held to be likelier on.
        other
            The scores it is compared with, of the same shape.
        """
        changed = (value != other).any(axis=1)
        return float(
            sum(
                max(self._log_ratio(place, before, after) for place in range(len(before)))
                for before, after in zip(value[changed], other[changed], strict=True)
            )
        )

    def _log_ratio(self, place: int, before: Integers, after: Integers) -> float:
        with localcontext(_CONTEXT):
            ratio = self._probability(place, before) / self._probability(place, after)
            return float(ratio.ln())

    def _probability(self, place: int, scores: Integers) -> Decimal:
        r"""Return the probability of a place in one line of scores.

        A raised score passes another by t with the chance that noise is at most t more than the
        gap between them, :math:`1 - 2 a^{gap + t + 1} / (1 + a)`. The product over all others is a
        polynomial in :math:`a^t`, whose sum over t, weighted by the chance of t, is a sum of
        geometric series.
        """
        a = self._decay
        gaps = [int(scores[place]) - int(score) for score in np.delete(scores, place)]
        gaps = [gap - (number < place) for number, gap in enumerate(gaps)]  # the first of equals
        least = max(0, -min(gaps, default=0))  # noise below which another is higher for sure
        missed = [2 * a ** (gap + least + 1) / (1 + a) for gap in gaps]
        terms = [Decimal(1)]
        for part in missed:  # coefficients of the product of (1 - part x)
            terms = [
                first - part * second
                for first, second in zip([*terms, Decimal(0)], [Decimal(0), *terms], strict=True)
            ]
        series = sum(term / (1 - a ** (power + 1)) for power, term in enumerate(terms))
        chance = 2 * (1 - a) / (1 + a)  # of t, over a^t; half of it for t = 0
        first = math.prod((1 - part for part in missed), start=Decimal(1)) if least == 0 else 0
        return chance * (a**least * series - Decimal(first) / 2)

    @cached_property
    def _decay(self) -> Decimal:
        step = self.guarantee.epsilon / self.needed_move
        with localcontext(_CONTEXT):
            return (-Decimal(step.numerator) / Decimal(step.denominator)).exp()
