"""Reports of a table whose rows stay on a cluster: drawn there, and kept there."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.domain import Box, Categories, Schema
from shoal.domain.box import Matrix
from shoal.engine import Block, Rows, rows_of
from shoal.engine.entry import unbounded_box
from shoal.engine.table import FrameTable
from shoal.errors import ConflictingSettings, DimensionMismatch, UnknownBounds, setting
from shoal.mechanisms.local.laplace.remaps import with_learnt_prior
from shoal.mechanisms.local.reports import Remap, Reports
from shoal.perturb.shape import Category, Cell, Mixture, Names, Numbers, Shape

__all__ = ["SAMPLE", "check_for_frame", "remap_frame", "rows_of_frame"]

SAMPLE = 200_000  # reports that come to this machine


def rows_of_frame(table: FrameTable, shape: Shape) -> Rows:
    """The rows of a frame in the columns that are reported. No row is read yet.

    Parameters
    ----------
    table
        The frame.
    shape
        What the mechanism reports.
    """
    moves = isinstance(shape, Cell) or getattr(shape.drawn, "clip", False)
    domain = _domain(table.names, shape)
    return rows_of(table.frame, domain, outside="clip" if moves else "refuse")


def check_for_frame(user: str | None) -> None:
    """Refuse what one machine would have to remember."""
    if user is not None:
        raise ConflictingSettings(
            setting("user")
            + " does not work with a Spark frame: one machine remembers who was reported "
            "before.",
            "Let each person have one row: Streamed(mechanism) on rows_of(frame, domain, "
            f"entity={user!r}, max_rows_per_person=1).",
        )


def remap_frame(reports: Any, mechanism: Any, remap: Remap, rng: np.random.Generator) -> Any:
    """The reports of a frame, moved by what a sample of all of them tells.

    Parameters
    ----------
    reports
        A frame of reports that is computed already.
    mechanism
        What drew them.
    remap
        Learns what it must from at most 200,000 of the reports, here; then each is moved there.
    rng
        Draws the sample.
    """
    rows = rows_of(reports, unbounded_box(reports.columns))
    if not rows.size():
        return reports
    one_by_one = with_learnt_prior(remap, Reports(rows.take(SAMPLE, rng), mechanism))
    return rows.map(_Moved(one_by_one, mechanism), reports.columns).frame()


@dataclass(frozen=True, eq=False)
class _Moved:
    """Kernel: reports, each moved by itself."""

    remap: Remap
    mechanism: Any

    def __call__(self, block: Block) -> Matrix:
        """As many columns as came."""
        return self.remap(Reports(block.numbers, self.mechanism)).values


def _domain(columns: Names, shape: Shape) -> Box | Schema:
    if isinstance(shape, Mixture):
        return _schema(dict(shape.mechanism.columns))
    if isinstance(shape, Category):
        return _schema({_only(columns): shape.mechanism.categories})
    if isinstance(shape, Cell):
        return shape.drawn.domain
    if not isinstance(shape, Numbers) or shape.box is None:
        raise UnknownBounds(
            "For a Spark frame, the mechanism needs a domain that names its columns.",
            "Give it one, e.g. NDLaplace(1.0, domain=Box(age=(0, 110))).",
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
            f"This mechanism takes one column of categories; got {len(columns)}.",
            "Select the column, frame.select(...), or use Mixed for several.",
        )
    return columns[0]
