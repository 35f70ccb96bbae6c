"""Reports of a table on a cluster, drawn and stored where its rows are."""

from typing import Any

from shoal.domain import Box, Categories, Schema
from shoal.engine import Rows, rows_of
from shoal.engine.table import FrameTable
from shoal.errors import ConflictingSettings, DimensionMismatch, UnknownBounds, setting
from shoal.perturb._table_layout import Category, CellShape, MixtureShape, Names, Numbers, Shape


def rows_of_frame(table: FrameTable, shape: Shape) -> Rows:
    """Return the rows of a frame in the columns that are reported; no row is read yet."""
    moves = isinstance(shape, CellShape) or getattr(shape.drawn, "clip", False)
    domain = _domain(table.names, shape)
    return rows_of(table.frame, domain, outside="clip" if moves else "refuse")


def check_for_frame(person: str | None) -> None:
    """Refuse settings that need one machine to remember people.

    Parameters
    ----------
    person
        The column of tokens, which must be None.
    """
    if person is not None:
        raise ConflictingSettings(
            setting("person")
            + " does not work with a Spark frame: one machine remembers who was reported "
            "before.",
            "Let each person have one row: Streamed(mechanism) on rows_of(frame, domain, "
            f"person={person!r}, max_rows_per_person=1).",
        )


def _domain(columns: Names, shape: Shape) -> Box | Schema:
    """Return what is public about the columns of a mechanism."""
    if isinstance(shape, MixtureShape):
        return _schema(dict(shape.mechanism.columns))
    if isinstance(shape, Category):
        return _schema({_single_column(columns): shape.mechanism.categories})
    if isinstance(shape, CellShape):
        return shape.drawn.domain
    if not isinstance(shape, Numbers) or shape.box is None:
        raise UnknownBounds(
            "For a Spark frame, the mechanism needs a domain that names its columns.",
            "Give it one, e.g. NDLaplace(1.0, domain=Box(age=(0, 110))).",
        )
    return shape.box


def _schema(columns: dict[str, Any]) -> Schema:
    """Return the schema of columns of categories, numbers of codes, or ranges."""
    ranges = {
        name: public if isinstance(public, tuple) else (float(public.low[0]), float(public.high[0]))
        for name, public in columns.items()
        if isinstance(public, tuple | Box)
    }
    listed = {
        name: public if isinstance(public, Categories) else Categories(range(public))
        for name, public in columns.items()
        if name not in ranges
    }
    return Schema(tuple(columns), ranges, listed, dict.fromkeys(columns, 1.0))


def _single_column(columns: Names) -> str:
    if len(columns) != 1:
        raise DimensionMismatch(
            f"This mechanism takes one column of categories; got {len(columns)}.",
            "Select the column, frame.select(...), or use Mixed for several.",
        )
    return columns[0]
