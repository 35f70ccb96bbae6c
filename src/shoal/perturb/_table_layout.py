"""The table layouts of mechanisms: what each reads of a table, and the columns of its reports."""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats, Integers
from shoal.domain import Box, Categories
from shoal.domain.value_text import value_to_text
from shoal.errors import (
    DimensionMismatch,
    InvalidSetting,
    NotFinite,
    quantity,
    setting,
)
from shoal.mechanisms import Hybrid, LocalGrid, Mixed, RandomizedResponse, UnaryEncoding
from shoal.perturb.tables import codes_of, numbers_of

Names = tuple[str, ...]


class Shape(Protocol):
    """Converts a table to what a mechanism takes, and its reports to columns.

    In between reports are a matrix of float64, a line each: that is what a memo keeps.
    """

    @property
    def drawn(self) -> Any:
        """The mechanism, taking values as ``read`` returns them."""

    @property
    def names(self) -> Names | None:
        """The columns it names; ``None`` if it takes any."""

    def read(self, X: Any, columns: Names | None) -> Any:
        """Return what the mechanism takes of these columns.

        Parameters
        ----------
        columns
            The columns of the frame; None for an array.
        """

    def some(self, value: Any, at: list[int]) -> Any:
        """Return some lines of what ``read`` returned.

        Parameters
        ----------
        value
            What ``read`` returned.
        """

    def matrix(self, released: Any) -> Floats:
        """Return reports as a matrix of numbers, a line each."""

    def names_out(self, columns: Names) -> Names:
        """Return the columns of the reports."""

    def columns(self, reports: Floats) -> list[NDArray[Any]]:
        """Return reports as columns of a table, each of its own type."""


def shape_of(mechanism: Any) -> Shape:
    """Return the shape of a mechanism's table.

    Parameters
    ----------
    mechanism
        A local mechanism.
    """
    needed = ("guarantee", "check", "release")
    if isinstance(mechanism, type) or not all(hasattr(mechanism, name) for name in needed):
        raise InvalidSetting(
            setting("mechanism") + f" must be a local mechanism; got a {type(mechanism).__name__}.",
            "E.g. NDLaplace(1.0, domain=Box(age=(0, 110))).",
        )
    if isinstance(mechanism, Mixed):
        return MixtureShape(mechanism)
    if isinstance(mechanism, RandomizedResponse | UnaryEncoding):
        return Category(mechanism)
    if isinstance(mechanism, LocalGrid):
        return CellShape(mechanism)
    return Numbers(mechanism)


@dataclass(frozen=True)
class Numbers:
    """The shape of rows of numbers, reported as rows of numbers."""

    drawn: Any

    @property
    def names(self) -> Names | None:
        """The columns of the mechanism's box, if it has one."""
        return None if self.box is None else self.box.names

    @property
    def box(self) -> Box | None:
        """The mechanism's public box, if it has one."""
        box = getattr(self.drawn, "domain", None)
        return box if isinstance(box, Box) else None

    def read(self, X: Any, columns: Names | None) -> Floats:
        """Return float64 rows."""
        rows = numbers_of(X, columns)
        if columns is not None and self.box is None:  # or the mechanism would call them x0, x1
            _refuse_nonfinite(rows, columns)
        return rows

    def some(self, value: Floats, at: list[int]) -> Floats:
        """Return some rows."""
        return value[at]

    def matrix(self, released: Any) -> Floats:
        """Return the reports as they are."""
        return np.asarray(released, dtype=np.float64)

    def names_out(self, columns: Names) -> Names:
        """Return the same columns."""
        return columns

    def columns(self, reports: Floats) -> list[NDArray[Any]]:
        """Return one column for each number."""
        return [np.ascontiguousarray(column) for column in reports.T]


@dataclass(frozen=True)
class Category:
    """The shape of one column of categories, reported as a category or as a bit for each.

    Parameters
    ----------
    names
        The column, if it is named.
    """

    mechanism: RandomizedResponse | UnaryEncoding
    names: Names | None = None

    @property
    def drawn(self) -> Any:
        """The mechanism on codes."""
        return replace(self.mechanism, categories=self.mechanism.size)

    def read(self, X: Any, columns: Names | None) -> Integers:
        """Return the codes of the one column."""
        if columns is None:
            rows = np.asanyarray(X)
            if rows.ndim != 2 or rows.shape[1] != 1:
                raise _one_column_error(f"an array of shape {rows.shape}")
            X, columns = {"x0": rows[:, 0]}, ("x0",)
        if len(columns) != 1:
            raise _one_column_error(quantity(len(columns), "column"))
        listed = self.mechanism.categories
        known = listed if isinstance(listed, Categories) else Categories(range(listed))
        return codes_of(X, columns[0], known)

    def some(self, value: Integers, at: list[int]) -> Integers:
        """Return some codes."""
        return value[at]

    def matrix(self, released: Any) -> Floats:
        """Return codes, or bits."""
        values = np.asarray(released, dtype=np.float64)
        return values[:, None] if values.ndim == 1 else values

    def names_out(self, columns: Names) -> Names:
        """Return the column itself, or ``sex=F`` for the bit of a category."""
        (name,) = columns
        if isinstance(self.mechanism, RandomizedResponse):
            return (name,)
        return tuple(f"{name}={label}" for label in self._labels)

    def columns(self, reports: Floats) -> list[NDArray[Any]]:
        """Return labels, or bits."""
        if isinstance(self.mechanism, UnaryEncoding):
            return [column.astype(np.uint8) for column in reports.T]
        return [self._labels[reports[:, 0].astype(np.int64)]]

    @property
    def _labels(self) -> NDArray[Any]:
        listed = self.mechanism.categories
        if not isinstance(listed, Categories):
            return np.arange(listed)
        labels = listed.labels(np.arange(listed.size)).tolist()
        made = np.array(labels)  # of one kind
        return (
            np.array([value_to_text(label) for label in labels]) if made.dtype == object else made
        )


@dataclass(frozen=True)
class CellShape:
    """The shape of rows of numbers, each reported as the randomised number of its cell."""

    drawn: LocalGrid

    def __post_init__(self) -> None:
        _ = self.drawn.grid  # all rows are reported in the same cells: refuse ones not chosen yet

    @property
    def names(self) -> Names:
        """The columns of the grid."""
        return self.drawn.domain.names

    def read(self, X: Any, columns: Names | None) -> Floats:
        """Return float64 rows."""
        return numbers_of(X, columns)

    def some(self, value: Floats, at: list[int]) -> Floats:
        """Return some rows."""
        return value[at]

    def matrix(self, released: Any) -> Floats:
        """Return one number a line, small enough for a float to hold exactly."""
        return np.asarray(released, dtype=np.float64)[:, None]

    def names_out(self, columns: Names) -> Names:
        """Return one column for all."""
        return ("cell",)

    def columns(self, reports: Floats) -> list[NDArray[Any]]:
        """Return whole numbers again, as ``Reports(values, mechanism)`` takes them."""
        return [reports[:, 0].astype(np.int64)]


@dataclass(frozen=True)
class MixtureShape:
    """The shape of columns of several types, each reported by a mechanism of its own."""

    mechanism: Mixed

    @property
    def names(self) -> Names:
        """The columns the mechanism names."""
        return tuple(self.mechanism.columns)

    @property
    def drawn(self) -> Mixed:
        """The mechanism with categories as codes."""
        sizes = {
            name: public.size if isinstance(public, Categories) else public
            for name, public in self.mechanism.columns.items()
        }
        return replace(self.mechanism, columns=sizes)

    def read(self, X: Any, columns: Names | None) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        if columns is None:
            raise InvalidSetting(
                "The columns of a mixed record are found by name; got an array.",
                "Pass a data frame.",
            )
        parts = self._parts()
        read = {name: parts[name].read(X, (name,)) for name in columns}
        return {name: v[:, 0] if v.ndim == 2 else v for name, v in read.items()}

    def some(self, value: dict[str, NDArray[Any]], at: list[int]) -> dict[str, NDArray[Any]]:
        """Return some lines of every column."""
        return {name: column[at] for name, column in value.items()}

    def matrix(self, released: Any) -> Floats:
        """Return all columns' reports side by side."""
        parts = self._parts()
        return np.hstack([parts[name].matrix(released[name]) for name in self.names])

    def names_out(self, columns: Names) -> Names:
        """Return the report columns of every column, in order."""
        parts = self._parts()
        return tuple(out for name in columns for out in parts[name].names_out((name,)))

    def columns(self, reports: Floats) -> list[NDArray[Any]]:
        """Return the report columns of every column, in order."""
        parts = self._parts()
        widths = [len(parts[name].names_out((name,))) for name in self.names]
        pieces = np.split(reports, np.cumsum(widths)[:-1], axis=1)
        pairs = zip(self.names, pieces, strict=True)
        return [column for name, piece in pairs for column in parts[name].columns(piece)]

    def _parts(self) -> dict[str, Numbers | Category]:
        return {
            name: Numbers(one) if isinstance(one, Hybrid) else Category(one)
            for name, one in self.mechanism.mechanisms.items()
        }


def _refuse_nonfinite(rows: Floats, columns: Names) -> None:
    bad = ~np.isfinite(rows)
    if not bad.any():
        return
    names = [repr(name) for name, column in zip(columns, bad.T, strict=True) if column.any()]
    raise NotFinite(
        f"{np.count_nonzero(bad.any(axis=1))} of {len(bad)} rows have values in "
        f"{', '.join(names)} that are NaN or infinite.",
        "Drop or fill those rows, or give the mechanism a domain and "
        + setting("clip", True)
        + ".",
    )


def _one_column_error(given: str) -> DimensionMismatch:
    return DimensionMismatch(
        f"This mechanism takes one column of categories; got {given}.",
        "Choose the column, or use Mixed for several.",
    )
