"""Report columns of a record of numbers and categories, and its nearest prototype with them."""

import math
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.arrays import Floats, Integers
from shoal.domain.box import as_matrix
from shoal.errors import InvalidSetting
from shoal.mechanisms.local._reports import Reports
from shoal.mechanisms.local.bounded._base import STEPS, Estimate, local_budget, own_reports
from shoal.mechanisms.local.categories._local_grid import Oracle, cell_oracle
from shoal.privacy import LocalDP, Number

MISMATCH = 0.5  # what another category costs, as in the cost of mixed tables
_BLOCK = 2**15  # records whose costs to all prototypes are looked at together


@dataclass(frozen=True)
class PrototypeReport:
    r"""Report the answer to one question about a record, drawn without looking at it.

    A question names one or two columns. Before there are prototypes the answer is the category of
    each, numbers in equal bins. With prototypes it is the nearest of them, together with the
    category, or with a coin for the side on which a number lies: + with probability
    :math:`(1 + way/reach)/2`. The answer goes through one frequency oracle as a whole.

    Guarantee
    ---------
    ``LocalDP(epsilon)`` for the whole record. Drawn exactly. See ``prototype_report.proof.md``.

    Parameters
    ----------
    sizes
        How many categories each column has; 0 for a number. Numbers come first.
    questions
        The columns of each question, by their places; one is drawn, each as likely.
    bins
        How many bins each number has before there are prototypes.
    weights
        How much each column counts in the cost.
    prototypes
        Published ones, a line each: numbers of [-1, 1], then codes; none in a first round.
    reach
        How far from a prototype each number is told apart.
    epsilon
        The promise of one report; at most 20.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> mechanism = PrototypeReport((0, 3), ((0,), (1,)), (2,), epsilon=3.0)
    >>> records = np.tile([0.5, 2.0], (5_000, 1))
    >>> reports = mechanism.release(records, Randomness(7).noise)
    >>> [int(mechanism.answers(reports, question).value.argmax()) for question in (0, 1)]
    [1, 2]
    """

    sizes: tuple[int, ...]
    questions: tuple[tuple[int, ...], ...]
    bins: tuple[int, ...] = ()
    weights: tuple[float, ...] = ()
    prototypes: tuple[tuple[float, ...], ...] = ()
    reach: tuple[float, ...] = ()
    _: KW_ONLY
    epsilon: Number

    def __post_init__(self) -> None:
        local_budget(self.epsilon)
        d, p = len(self.sizes), self._n_numbers
        columns = [column for question in self.questions for column in question]
        if not columns or not all(0 <= column < d for column in columns) or any(self.sizes[:p]):
            raise InvalidSetting(
                "The questions must name columns by their places, numbers before categories.",
                "E.g. sizes=(0, 3), questions=((0,), (1,)).",
            )
        name = "reach" if self.prototypes else "bins"
        if len(getattr(self, name)) != p or not all(each > 0 for each in getattr(self, name)):
            raise InvalidSetting.of(
                name, f"must be {p} positive numbers, one for each", (1,) * p, getattr(self, name)
            )
        if not self.weights:
            object.__setattr__(self, "weights", (1.0,) * d)

    @property
    def guarantee(self) -> LocalDP:
        """``LocalDP(epsilon)``: any two records give every report with odds within e^epsilon."""
        return LocalDP(self.exact_epsilon)

    @property
    def exact_epsilon(self) -> Fraction:
        """Epsilon as the fraction its decimal form names."""
        return local_budget(self.epsilon)

    @property
    def _n_numbers(self) -> int:
        return sum(size == 0 for size in self.sizes)

    def answer_sizes(self, question: int) -> tuple[int, ...]:
        """Return how many values each part of an answer has: prototypes first, if there are any."""
        numbers = (2,) * self._n_numbers if self.prototypes else self.bins
        own = tuple(self.sizes[column] or numbers[column] for column in self.questions[question])
        return ((len(self.prototypes),) if self.prototypes else ()) + own

    def oracle(self, question: int) -> Oracle | None:
        """Return the frequency oracle of a question; None if there is only one answer."""
        size = math.prod(self.answer_sizes(question))
        return cell_oracle(self.epsilon, size) if size > 1 else None

    def check(self, value: ArrayLike) -> None:
        """Refuse what is no table of numbers and codes, before anything is written or drawn."""
        as_matrix(value, len(self.sizes))

    def release(self, value: ArrayLike, rng: np.random.Generator) -> Reports:
        """Return one report for each record: the question and the oracle's report.

        Parameters
        ----------
        value
            A line each: numbers of [-1, 1], then codes.
        """
        records = self._clipped(as_matrix(value, len(self.sizes)))  # [P1]
        drawn = rng.integers(0, len(self.questions), size=len(records))  # [P2]
        nearest = self._nearest(records)
        reports = np.zeros(len(records), dtype=np.int64)
        for question in range(len(self.questions)):
            own = np.flatnonzero(drawn == question)
            answers = self._answers(question, records[own], nearest[own], rng)  # [P3]
            oracle = self.oracle(question)
            if oracle is not None and own.size:
                reports[own] = oracle.release(answers, rng).values  # [P4]
        return Reports.drawn(np.column_stack([drawn, reports]), self, rng)

    def answers(self, reports: Reports, question: int) -> Estimate:
        """Estimate the share of each answer to a question, in the shape of its parts.

        Returns
        -------
            Unbiased shares, and the standard error of a rare one. 0 and infinite errors if nobody
            was asked.
        """
        values = own_reports(reports, self).values
        codes, shape = values[values[:, 0] == question, 1], self.answer_sizes(question)
        oracle = self.oracle(question)
        if oracle is None:
            return Estimate(np.ones(shape), np.zeros(shape))
        if not codes.size:
            return Estimate(np.zeros(shape), np.full(shape, np.inf))
        shares = oracle.frequencies(Reports(codes, oracle)).value.reshape(shape)
        return Estimate(shares, np.full(shape, math.sqrt(oracle.variance() / codes.size)))

    def _clipped(self, records: Floats) -> Floats:
        """Return records inside what is public; what is missing counts as the middle."""
        p, clean = self._n_numbers, np.nan_to_num(records, nan=0.0, posinf=1.0, neginf=-1.0)
        most = np.array(self.sizes[p:], dtype=np.float64) - 1
        clean[:, :p] = np.clip(clean[:, :p], -1.0, 1.0)
        clean[:, p:] = np.clip(np.rint(clean[:, p:]), 0, most)
        return clean

    def _answers(
        self, question: int, records: Floats, nearest: Integers, rng: np.random.Generator
    ) -> Integers:
        """Return the code of each record's answer."""
        sizes = self.answer_sizes(question)
        codes = nearest if self.prototypes else np.zeros(len(records), dtype=np.int64)
        own = sizes[1:] if self.prototypes else sizes
        for column, size in zip(self.questions[question], own, strict=True):
            codes = codes * size + self._values(column, records[:, column], nearest, rng)
        return codes

    def _values(
        self, column: int, values: NDArray[Any], nearest: Integers, rng: np.random.Generator
    ) -> Integers:
        """Return what is told of one column: a category, a bin, or a side."""
        if self.sizes[column]:
            return np.asarray(values, dtype=np.int64)
        if not self.prototypes:
            bins = np.floor((values + 1) / 2 * self.bins[column]).astype(np.int64)
            return np.minimum(bins, self.bins[column] - 1)
        ways = values - np.array(self.prototypes)[nearest, column]
        steps = np.rint((np.clip(ways / self.reach[column], -1, 1) + 1) * (STEPS // 2))
        sides = rng.integers(0, STEPS, size=len(values)) < steps
        return np.asarray(sides, dtype=np.int64)

    def _nearest(self, records: Floats) -> Integers:
        """Return the prototype of the least cost, of two as cheap the first."""
        nearest = np.zeros(len(records), dtype=np.int64)
        if len(self.prototypes) < 2:
            return nearest
        for start in range(0, len(records), _BLOCK):
            part = slice(start, start + _BLOCK)
            nearest[part] = np.argmin(self._costs(records[part]), axis=1)
        return nearest

    def _costs(self, records: Floats) -> Floats:
        p, weights = self._n_numbers, np.array(self.weights)
        costs = [
            np.square(records[:, :p] - line[:p]) @ weights[:p]
            + MISMATCH * ((records[:, p:] != line[p:]) @ weights[p:])
            for line in np.array(self.prototypes)
        ]
        return np.column_stack(costs)
