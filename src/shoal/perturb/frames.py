"""Reports of a Spark frame: drawn where its rows are, and kept there."""

from typing import Any

from shoal.domain import Box, Categories, Schema
from shoal.engine import Rows, rows_of
from shoal.errors import ConflictingSettings, DimensionMismatch, UnknownBounds
from shoal.mechanisms.remaps import BayesRemap
from shoal.perturb.shape import Category, Cell, Mixture, Names, Numbers, Shape

__all__ = ["check_for_frame", "rows_of_frame"]


def rows_of_frame(X: Any, shape: Shape) -> Rows:
    """The columns of a Spark frame that are reported. No row is read yet."""
    moves = isinstance(shape, Cell) or getattr(shape.drawn, "clip", False)
    return rows_of(X, _domain(X, shape), outside="clip" if moves else "refuse")


def check_for_frame(user: str | None, remap: object) -> None:
    """Refuse what one machine would have to remember, or to see whole."""
    if user is not None:
        raise ConflictingSettings(
            "user came with a Spark frame: who was reported before is remembered by one machine.",
            "Let each person have one row: Streamed(mechanism) on rows_of(frame, domain, "
            f"entity={user!r}, max_rows_per_person=1).",
        )
    if isinstance(remap, BayesRemap):
        raise ConflictingSettings(
            "A remap came that looks at all reports at once, with a Spark frame.",
            "Use clamp or snap, which look at one report; or remap what was written.",
        )


def _domain(X: Any, shape: Shape) -> Box | Schema:
    if isinstance(shape, Mixture):
        return _schema(dict(shape.mechanism.columns))
    if isinstance(shape, Category):
        return _schema({_only(X.columns): shape.mechanism.categories})
    if isinstance(shape, Cell):
        return shape.drawn.domain
    if not isinstance(shape, Numbers) or shape.box is None:
        raise UnknownBounds(
            "A Spark frame came, and the mechanism has no bounds to name its columns.",
            "Give it bounds, e.g. NDLaplace(1.0, bounds=Box(age=(0, 110))).",
        )
    return shape.box


def _schema(columns: dict[str, Any]) -> Schema:
    """What is public about columns: categories, how many there are, or the ends of a range."""
    ranges = {name: public for name, public in columns.items() if isinstance(public, tuple)}
    listed = {
        name: public if isinstance(public, Categories) else Categories(range(public))
        for name, public in columns.items()
        if name not in ranges
    }
    return Schema(tuple(columns), ranges, listed, dict.fromkeys(columns, 1.0))


def _only(columns: Names) -> str:
    if len(columns) != 1:
        raise DimensionMismatch(
            f"{len(columns)} columns came; this mechanism takes one column of categories.",
            "Choose the column, frame.select(...), or use Mixed for several.",
        )
    return columns[0]
