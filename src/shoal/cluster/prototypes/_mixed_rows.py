"""Rows of numbers and categories in memory, prototypes, and what a row costs to a prototype.

``MixedRows`` holds synthetic rows, those of a plain method, or those that scores are about;
``hold_rows`` brings a table into memory, and ``even_rows`` makes rows that tell nothing.
"""

import itertools
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import Floats, Integers
from shoal.domain import Schema
from shoal.engine import Block, Rows, rows_of
from shoal.synopsis.mixed import LATTICE, MixedColumns, mixed_columns

# What another category costs, times its column's weight: a number spread evenly over its bounds
# then weighs as much as three categories do. Public, never read off the rows.
MISMATCH = 0.5


@dataclass(frozen=True, eq=False)
class Prototypes:
    """The means and modes that stand for groups.

    Parameters
    ----------
    numbers
        One line each, in [-1, 1].
    codes
        One line each, the code of each column of categories.
    """

    numbers: Floats
    codes: Integers

    def __len__(self) -> int:
        return len(self.numbers)

    def taken(self, places: Any) -> "Prototypes":
        """Return some of them."""
        return Prototypes(self.numbers[places], self.codes[places])

    def joined(self, others: "Prototypes") -> "Prototypes":
        """Return these and others after them."""
        return Prototypes(
            np.vstack([self.numbers, others.numbers]), np.vstack([self.codes, others.codes])
        )


def prototype_table(columns: MixedColumns, prototypes: Prototypes) -> pa.Table:
    """Return the prototypes in the columns' own units; a level is the nearest one."""
    made: dict[str, Any] = {}
    for i, number in enumerate(columns.numbers):
        values = number.unscaled(prototypes.numbers[:, i])
        made[number.name] = (
            [number.levels[round(float(v))] for v in values] if number.levels else values
        )
    for i, column in enumerate(columns.categories):
        made[column.name] = [column.labels[code] for code in prototypes.codes[:, i]]
    return pa.table({name: pa.array(values) for name, values in made.items()})


@dataclass(frozen=True, eq=False)
class MixedRows:
    """Rows held in memory: synthetic ones, or those of a plain method.

    Parameters
    ----------
    columns
        The columns.
    numbers
        One line each, in [-1, 1].
    codes
        One line each.
    """

    columns: MixedColumns
    numbers: Floats
    codes: Integers

    def __len__(self) -> int:
        return len(self.numbers)

    def taken(self, places: Any) -> "MixedRows":
        """Return some of them."""
        return MixedRows(self.columns, self.numbers[places], self.codes[places])

    def prototypes_at(self, places: Any) -> Prototypes:
        """Return some rows as prototypes."""
        return Prototypes(self.numbers[places], self.codes[places])

    @cached_property
    def points(self) -> Floats:
        """Rows as points whose squared distances are costs: one-hot categories, weighted."""
        weighted = self.numbers * np.sqrt(self.columns.number_weights)
        return np.hstack([weighted, self._one_hot * self._hot_scale])

    def costs(self, prototypes: Prototypes) -> Floats:
        """Return the cost of each row to each prototype."""
        centers = MixedRows(self.columns, prototypes.numbers, prototypes.codes).points
        squares = self._squares[:, None] + np.square(centers).sum(axis=1)
        return np.asarray(np.maximum(squares - 2 * (self.points @ centers.T), 0.0))

    def labels(self, prototypes: Prototypes) -> Integers:
        """Return the nearest prototype of each row."""
        return np.asarray(self.costs(prototypes).argmin(axis=1))

    def means(self, memberships: Floats) -> tuple[Floats, Floats]:
        """Return the sizes of groups and the mean of each in every coordinate of one-hot rows."""
        sizes = memberships.sum(axis=0)
        flat = np.hstack([self.numbers, self._one_hot])
        return sizes, (memberships.T @ flat) / np.maximum(sizes, 1e-12)[:, None]

    def prototypes_of(self, labels: Integers, old: Prototypes) -> Prototypes:
        """Return the means and modes of groups; of a group without rows, the old prototype."""
        sizes, means = self.means(np.eye(len(old))[labels])
        numbers, codes = self.split(means)
        empty = (sizes == 0)[:, None]
        return Prototypes(np.where(empty, old.numbers, numbers), np.where(empty, old.codes, codes))

    def split(self, points: Floats) -> tuple[Floats, Integers]:
        """Return means of one-hot rows as numbers and modes."""
        p = len(self.columns.numbers)
        ends = np.cumsum([p, *(column.size for column in self.columns.categories)])
        modes = [points[:, a:b].argmax(axis=1) for a, b in itertools.pairwise(ends)]
        codes = np.column_stack(modes) if modes else np.empty((len(points), 0))
        return points[:, :p], codes.astype(np.int64)

    @cached_property
    def _squares(self) -> Floats:
        return np.asarray(np.square(self.points).sum(axis=1))

    @cached_property
    def _one_hot(self) -> Floats:
        parts = [
            np.eye(column.size)[self.codes[:, i]]
            for i, column in enumerate(self.columns.categories)
        ]
        return np.hstack([np.empty((len(self), 0)), *parts])

    @property
    def _hot_scale(self) -> Floats:
        """Two one-hot rows of different categories are two coordinates apart."""
        sizes = [column.size for column in self.columns.categories]
        return np.repeat(np.sqrt(self.columns.category_weights * MISMATCH / 2), sizes)


def hold_rows(X: Any, domain: Schema | None) -> MixedRows:
    """Return the rows as numbers of [-1, 1] and codes, for their holder.

    Parameters
    ----------
    X
        Rows of any kind.
    domain
        Their schema.

    Examples
    --------
    >>> schema = Schema.of({"version": 1, "columns": {
    ...     "age": {"low": 0, "high": 100}, "level": {"values": ["basic", "higher"]}}})
    >>> rows = hold_rows({"age": [50.0, 100.0], "level": ["basic", "higher"]}, schema)
    >>> rows.numbers.ravel().tolist(), rows.codes.ravel().tolist()
    ([0.0, 1.0], [0, 1])
    """
    _ = mixed_columns(domain)  # refuses what is no schema
    assert domain is not None
    return hold_admitted(rows_of(X, domain))


def hold_admitted(rows: Rows) -> MixedRows:
    """Return rows of a schema that are open already, in memory."""
    domain: Any = rows.domain
    columns, parts = mixed_columns(domain), []
    mapped = rows.map(_Scaled(domain), columns.names)
    for batch in mapped.batches():
        parts.append(np.column_stack([np.asarray(column) for column in batch.columns]))
    table = np.concatenate(parts) if parts else np.empty((0, columns.d))
    p = len(columns.numbers)
    return MixedRows(columns, table[:, :p], table[:, p:].astype(np.int64))


class _Scaled:
    """A kernel that maps rows to numbers of [-1, 1] and codes."""

    def __init__(self, domain: Schema) -> None:
        self._columns = mixed_columns(domain)

    def __call__(self, block: Block) -> list[Any]:
        numbers = [wholes / LATTICE for wholes in self._columns.wholes(block)]
        return numbers + [codes.astype(np.float64) for codes in self._columns.codes(block)]


def every_row(domain: Schema) -> Schema:
    """Return the schema without limits on people: labels and scores are about every row.

    Parameters
    ----------
    domain
        A schema.
    """
    return replace(domain, person=None, max_rows_per_person=None)


def even_rows(domain: Any, n: int, seed: int = 0) -> pa.Table:
    """Return rows spread evenly over bounds and categories, one column apart from the others."""
    assert isinstance(domain, Schema)
    rng = np.random.default_rng(seed)
    made: dict[str, Any] = {}
    for name in domain.columns:
        if name in domain.bounds:
            made[name] = pa.array(rng.uniform(*domain.bounds[name], size=n))
        else:
            listed = domain.categories[name].values
            made[name] = pa.array([str(listed[i]) for i in rng.integers(len(listed), size=n)])
    if domain.person is not None:
        made[domain.person] = pa.array(np.arange(n))
    return pa.table(made)
