"""Local privacy for records of numbers and categories, by splitting the budget over the columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.domain import Box, Categories
from shoal.errors import DimensionMismatch, InvalidBudget, InvalidDomain, UnknownColumn, setting
from shoal.mechanisms.local._reports import Reports
from shoal.mechanisms.local.bounded._base import local_budget
from shoal.mechanisms.local.bounded._hybrid import Hybrid
from shoal.mechanisms.local.categories._randomized_response import RandomizedResponse
from shoal.mechanisms.local.categories._unary_encoding import UnaryEncoding, frequency_oracle
from shoal.privacy import LocalDP, Number

Column = tuple[float, float] | Box | Categories | int
OneColumn = Hybrid | RandomizedResponse | UnaryEncoding


@dataclass(frozen=True)
class Mixed:
    """Randomise each column of a record by a mechanism of its own, at a share of epsilon.

    Numbers go through ``Hybrid``, categories through what ``frequency_oracle`` chooses.

    Guarantee
    ---------
    ``LocalDP(epsilon)`` for the whole record: the columns' promises, exact fractions, sum to it.
    See ``mixed.proof.md``.

    Parameters
    ----------
    epsilon
        The promise of one record, all its columns together; at most 20.
    columns
        What is public about each: a pair ``(low, high)`` or a box of one column for numbers,
        ``Categories`` for categories, or their number if the values are codes 0 .. k-1.
    shares
        Of epsilon, by name, chosen without the rows, summing to exactly 1; fractions may be text
        such as ``"1/3"``. ``None``: equal.
    clip
        Move numbers outside to the nearest bound instead of refusing them.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> mixed = Mixed(2.0, {"age": (0, 110), "sex": Categories(["F", "M"])},
    ...               shares={"age": 0.75, "sex": 0.25})
    >>> people = {"age": [30, 50] * 5_000, "sex": ["F", "M"] * 5_000}
    >>> reports = mixed.release(people, Randomness(7).noise)
    >>> age = mixed.mechanisms["age"].mean(reports["age"])
    >>> bool(abs(age.value[0] - 40) < 4 * age.standard_error[0])
    True
    >>> [str(m.guarantee) for m in mixed.mechanisms.values()]
    ['LocalDP(epsilon=1.5)', 'LocalDP(epsilon=0.5)']
    """

    epsilon: Number
    columns: Mapping[str, Column]
    shares: Mapping[str, Number] | None = None
    clip: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping) or not self.columns:
            raise InvalidDomain(
                setting("columns") + " must name at least one column.",
                'E.g. {"age": (0, 110), "sex": Categories(["F", "M"])}.',
            )
        local_budget(self.epsilon)
        _ = self.mechanisms  # whatever is wrong with them is said now

    @property
    def guarantee(self) -> LocalDP:
        """The sum of the columns' guarantees."""
        made = [mechanism.guarantee for mechanism in self.mechanisms.values()]
        total = LocalDP(sum((each.epsilon for each in made), Fraction(0)))  # [P2]
        return total.simulated(any(each.simulation for each in made))

    @property
    def mechanisms(self) -> dict[str, OneColumn]:
        """The mechanism of each column, by name."""
        shares = self._exact_shares()
        whole = local_budget(self.epsilon)
        return {name: self._mechanism(name, whole * shares[name]) for name in self.columns}

    def check(self, value: Mapping[str, Any]) -> None:
        """Refuse records that cannot be randomised, before anything is written or drawn.

        Parameters
        ----------
        value
            The columns by name.
        """
        names = _names(value)
        missing = [name for name in self.columns if name not in names]
        if missing:
            raise UnknownColumn(
                f"The records have no column {', '.join(map(repr, missing))}.",
                f"Give all of {', '.join(map(repr, self.columns))}.",
            )
        # One person a line: columns of unequal length would pair people wrongly.
        shapes = {np.shape(value[name]) for name in self.columns}
        if len(shapes) > 1 or len(shapes.pop()) > 1:
            raise DimensionMismatch(
                "The columns have different lengths, or more than one number for a record.",
                "Give one value for each record in each column.",
            )
        for name, mechanism in self.mechanisms.items():
            mechanism.check(_column(value[name], mechanism))

    def release(self, value: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Reports]:
        """Return the reports of each column, by name.

        Parameters
        ----------
        value
            The columns by name: a mapping or a data frame.
        rng
            The noise stream.
        """
        self.check(value)
        return {
            name: mechanism.release(_column(value[name], mechanism), rng)  # [P1]
            for name, mechanism in self.mechanisms.items()
        }

    def _mechanism(self, name: str, epsilon: Fraction) -> OneColumn:
        public = self.columns[name]
        if isinstance(public, tuple):
            return Hybrid(epsilon, Box(**{name: public}), self.clip)
        if isinstance(public, Box):
            return Hybrid(epsilon, public.select([name]), self.clip)
        if isinstance(public, list) and all(isinstance(each, int | float) for each in public):
            raise InvalidDomain(
                f"It is not clear whether the list of numbers for {name!r} means bounds or "
                "categories.",
                "Write bounds as a pair, (0, 110), and categories as Categories([...]).",
            )
        return frequency_oracle(epsilon, public)

    def _exact_shares(self) -> dict[str, Fraction]:
        if self.shares is None:
            return dict.fromkeys(self.columns, Fraction(1, len(self.columns)))
        shares = {name: LocalDP(share).epsilon for name, share in self.shares.items()}  # type: ignore[arg-type]
        if set(shares) != set(self.columns) or sum(shares.values()) != 1:
            raise InvalidBudget(
                "The shares do not name every column once, or do not sum to 1.",
                'E.g. shares={"age": "2/3", "sex": "1/3"}, or leave them out for equal ones.',
            )
        return shares


def _names(value: Any) -> list[str]:
    """Return the column names of a mapping, a data frame or an Arrow table."""
    for attribute in ("column_names", "columns"):
        if hasattr(value, attribute):
            return list(getattr(value, attribute))
    return list(value) if isinstance(value, Mapping) else []


def _column(values: Any, mechanism: OneColumn) -> Any:
    """Return a column in the shape its mechanism takes: numbers one a line."""
    if not isinstance(mechanism, Hybrid):
        return values
    return values if isinstance(values, np.ma.MaskedArray) else np.asarray(values).reshape(-1, 1)
