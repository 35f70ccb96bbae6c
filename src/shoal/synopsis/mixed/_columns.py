"""The columns of a mixed table as methods see them: numbers on a lattice, and category codes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.domain import Schema
from shoal.domain.categories import OTHER
from shoal.engine import Block
from shoal.errors import InvalidDomain, UnknownBounds, setting, value_text

LATTICE = 2**16  # steps to half the width of a number's bounds


@dataclass(frozen=True)
class NumberColumn:
    """A number, or levels in their order, scaled to [-1, 1] by public bounds.

    Parameters
    ----------
    axis
        Its place among a block's numbers, or among its codes if it has levels.
    low, high
        The bounds; -1 and 1 for levels.
    levels
        The labels of its levels, from low to high; none for a number.
    """

    name: str
    axis: int
    low: float
    high: float
    weight: float
    levels: tuple[Any, ...] = ()

    def wholes(self, block: Block) -> Integers:
        """Return the column of a block as whole steps from the middle of the bounds."""
        if self.levels:
            return self._level_wholes[block.codes[:, self.axis]]
        half = (self.high - self.low) / 2
        steps = (block.numbers[:, self.axis] - (self.low + half)) / half * LATTICE
        return np.clip(np.trunc(steps), -LATTICE, LATTICE).astype(np.int64)

    def bins_of(self, wholes: Integers, bins: int) -> Integers:
        """Return the bin of each value: of equal width, or the nearest level."""
        if self.levels:
            steps = len(self.levels) - 1
            return (wholes + LATTICE) * steps + LATTICE >> 17
        return np.asarray(np.minimum((wholes + LATTICE) * bins >> 17, bins - 1))

    def size(self, bins: int) -> int:
        """Return how many bins the column has."""
        return len(self.levels) or bins

    def unscaled(self, values: Any) -> Floats:
        """Return values of [-1, 1] in the column's own units; levels as places in their list.

        Parameters
        ----------
        values
            Values of [-1, 1].
        """
        low, high = (0, len(self.levels) - 1) if self.levels else (self.low, self.high)
        return np.asarray(low + (np.asarray(values, dtype=np.float64) + 1) * (high - low) / 2)

    @cached_property
    def _level_wholes(self) -> Integers:
        """The steps of each level; the middle for a missing one, whose code is the last."""
        places = np.linspace(-LATTICE, LATTICE, len(self.levels))
        return np.append(np.trunc(places), 0).astype(np.int64)


@dataclass(frozen=True)
class CategoryColumn:
    """A column of two or more categories, or the mark beside a number that may be missing.

    Parameters
    ----------
    labels
        The categories, the bucket for others last if there is one.
    marks
        The code that a mark stands for, where the column says whether levels are missing.
    """

    name: str
    axis: int
    labels: tuple[Any, ...]
    weight: float
    marks: int | None = None

    @property
    def size(self) -> int:
        """How many categories there are."""
        return len(self.labels)

    def codes(self, block: Block) -> Integers:
        """Return the codes of a block."""
        codes = block.codes[:, self.axis].astype(np.int64)
        return codes if self.marks is None else (codes == self.marks).astype(np.int64)


@dataclass(frozen=True)
class MixedColumns:
    """All columns of a schema that tell rows apart; numbers come first.

    Parameters
    ----------
    numbers
        Numbers, and columns with levels.
    categories
        Categories, and marks of missing values.
    """

    numbers: tuple[NumberColumn, ...]
    categories: tuple[CategoryColumn, ...]

    @property
    def d(self) -> int:
        """How many columns there are."""
        return len(self.numbers) + len(self.categories)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        numbers = tuple(column.name for column in self.numbers)
        return numbers + tuple(column.name for column in self.categories)

    def sizes(self, bins: int) -> tuple[int, ...]:
        """Return how many bins or categories each column has."""
        numbers = tuple(column.size(bins) for column in self.numbers)
        return numbers + tuple(column.size for column in self.categories)

    def wholes(self, block: Block) -> list[Integers]:
        """Return each number of a block, in whole steps."""
        return [column.wholes(block) for column in self.numbers]

    def codes(self, block: Block) -> list[Integers]:
        """Return each column of categories of a block."""
        return [column.codes(block) for column in self.categories]

    def binned(self, block: Block, bins: int) -> list[Integers]:
        """Return the bin or category of each row, column by column."""
        numbers = [column.bins_of(column.wholes(block), bins) for column in self.numbers]
        return numbers + self.codes(block)

    @property
    def number_weights(self) -> Floats:
        """How much each number counts."""
        return np.array([column.weight for column in self.numbers])

    @property
    def category_weights(self) -> Floats:
        """How much each column of categories counts."""
        return np.array([column.weight for column in self.categories])


def mixed_columns(domain: Any) -> MixedColumns:
    """Return the columns of a schema; those with a single category tell nothing and are left out.

    Parameters
    ----------
    domain
        A schema.

    Raises
    ------
    UnknownBounds
        If there is none.
    InvalidDomain
        If it is no schema, or no column can tell two rows apart.
    """
    if domain is None:
        raise UnknownBounds(
            "No public schema is given.",
            "Give e.g. domain=Schema.load('students.yaml'). Bounds and categories read from the "
            "rows would not be private.",
        )
    if not isinstance(domain, Schema):
        raise InvalidDomain(
            setting("domain") + f" must be a Schema; got {value_text(domain)}.",
            "Name bounds and categories, e.g. Schema.of({'version': 1, 'columns': {'sex': "
            "{'values': ['F', 'M']}}}).",
        )
    columns = MixedColumns(_numbers(domain), _categories(domain))
    if not columns.d:
        raise InvalidDomain(
            "Every column of the schema has one category only, so all rows are alike.",
            "Name a column with bounds, or with two or more values.",
        )
    return columns


def _numbers(schema: Schema) -> tuple[NumberColumn, ...]:
    axes = {name: axis for axis, name in enumerate(schema.numbers)}
    places = {name: axis for axis, name in enumerate(schema.categories)}
    made = []
    for name in schema.columns:
        weight = schema.weights[name]
        if name in axes:
            made.append(NumberColumn(name, axes[name], *schema.bounds[name], weight))
        elif name in schema.ordered:
            levels = schema.categories[name].values
            made.append(NumberColumn(name, places[name], -1.0, 1.0, weight, tuple(levels)))
    return tuple(made)


def _categories(schema: Schema) -> tuple[CategoryColumn, ...]:
    made = []
    for axis, (name, listed) in enumerate(schema.categories.items()):
        weight = schema.weights[name]
        if name in schema.ordered:
            if schema.missing.get(name) == "flag":
                made.append(_mark(name, axis, weight, len(listed.values)))
        elif listed.size > 1:
            bucket = (OTHER,) * (listed.other == "bucket")
            made.append(CategoryColumn(name, axis, (*listed.values, *bucket), weight))
    first = len(schema.categories)
    marks = [_mark(name, first + i, schema.weights[name]) for i, name in enumerate(schema.flagged)]
    return (*made, *marks)


def _mark(name: str, axis: int, weight: float, code: int | None = None) -> CategoryColumn:
    return CategoryColumn(f"{name} missing", axis, ("no", "yes"), weight, code)
