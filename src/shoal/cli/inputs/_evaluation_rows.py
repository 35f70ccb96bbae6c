"""Draw the rows on which a model is scored, and their true groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import Floats, Integers
from shoal.cluster.prototypes import MixedRows, every_row, hold_rows
from shoal.data import source_of
from shoal.data.encode import encode_numbers
from shoal.data.source import find_columns
from shoal.domain import Schema
from shoal.engine import by_engine, unbounded_box
from shoal.engine.sample import Sample
from shoal.engine.table import FrameTable
from shoal.errors import (
    DimensionMismatch,
    InvalidSetting,
    NotFinite,
    TooFewRows,
    UnknownBounds,
    quantity,
)
from shoal.synopsis.mixed import mixed_columns

_Drawn = tuple[Floats, Integers, int]  # rows, their groups, rows in all


@dataclass(frozen=True, eq=False)
class EvaluationRows:
    """The rows of an evaluation, their groups if a column holds them, and their number.

    Parameters
    ----------
    rows
        The drawn rows, with the model's columns: an array, or ``MixedRows`` of a mixed table.
    """

    model: Any
    rows: Any
    labels: Integers | None
    n_rows: int


def _box(model: Any) -> Any:
    """Return the bounds of a model's columns, or None if it has none."""
    return model.domain.box if isinstance(model.domain, Schema) else model.domain


def column_names(model: Any, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Return the table's columns in the model's order: as asked, else as its box names them."""
    if is_mixed(model):
        return _mixed_names(model, columns)
    box, d = _box(model), int(model.n_features_in_)
    if columns is None and box is None:
        raise UnknownBounds(
            "The model does not name its columns.",
            f"Name {quantity(d, 'column')} of the table with --columns.",
        )
    names = tuple(box.names if columns is None else columns)
    if len(names) != d:
        raise DimensionMismatch(
            f"--columns names {quantity(len(names), 'column')}; the model has {d}.",
            "Name the columns of the model, in its order.",
            setting="--columns",
        )
    return names


def is_mixed(model: Any) -> bool:
    """Say whether a model is one of a table with categories."""
    return hasattr(model, "score_table")


def _mixed_names(model: Any, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Return the schema's columns: categories are found by name, so none may be renamed."""
    names = tuple(model.domain.columns)
    if columns is not None and tuple(columns) != names:
        raise DimensionMismatch(
            "--columns names other columns than the model's schema does.",
            "Leave it out: columns of a mixed table go by the names of the schema.",
            setting="--columns",
        )
    return names


def draw_evaluation_rows(
    model: Any, source: Any, names: Sequence[str], labels: str | None, most: int, seed: int
) -> EvaluationRows:
    """Draw a sample of the rows, each with its group, where the rows are.

    Parameters
    ----------
    source
        The path of a table, or a Spark frame: of this no more than the sample comes here.
    labels
        The column that holds the groups, if there is one.
    """
    wanted = _encoder(model, names), labels, most, seed
    drawn, codes, total = by_engine(
        source,
        embedded=lambda path: _draw_embedded(path, *wanted),
        distributed=lambda table: _draw_distributed(table, *wanted),
    )
    if len(drawn) < 2:
        raise TooFewRows(
            f"The table has {quantity(len(drawn), 'row')}; scores need at least two.",
            "Use a table with more rows.",
        )
    rows = wanted[0].decoded(np.ascontiguousarray(drawn))
    return EvaluationRows(model, rows, codes if labels else None, total)


@dataclass(frozen=True, eq=False)
class _Numbers:
    """Reads batches of a numeric table as arrays."""

    names: Sequence[str]

    def encoded(self, batch: pa.RecordBatch) -> Floats:
        rows = encode_numbers(batch, self.names)
        if not np.isfinite(rows).all():
            raise _missing_number_error()
        return rows

    def decoded(self, drawn: Floats) -> Any:
        return drawn

    @property
    def width(self) -> int:
        return len(self.names)


@dataclass(frozen=True, eq=False)
class _Mixed:
    """Reads batches of a mixed table as scaled numbers and codes."""

    names: Sequence[str]
    domain: Schema

    def encoded(self, batch: pa.RecordBatch) -> Floats:
        own = pa.Table.from_batches([batch]).select(list(self.names))
        held = hold_rows(own, every_row(self.domain))
        return np.hstack([held.numbers, held.codes])

    def decoded(self, drawn: Floats) -> Any:
        columns = mixed_columns(self.domain)
        p = len(columns.numbers)
        return MixedRows(columns, drawn[:, :p], drawn[:, p:].astype(np.int64))

    @property
    def width(self) -> int:
        return mixed_columns(self.domain).d


def _encoder(model: Any, names: Sequence[str]) -> _Numbers | _Mixed:
    return _Mixed(names, model.domain) if is_mixed(model) else _Numbers(names)


def _draw_embedded(
    source: str, reader: _Numbers | _Mixed, labels: str | None, most: int, seed: int
) -> _Drawn:
    """Draw in one pass over a table of this machine."""
    sample, total, groups = Sample(most, np.random.default_rng(seed)), 0, _Groups()
    for batch in source_of(source).batches(_columns(reader.names, labels)):
        rows = reader.encoded(batch)
        own = groups.codes(batch[labels]) if labels else np.zeros(batch.num_rows)
        sample.add(np.column_stack([rows, own]))
        total += batch.num_rows
    drawn = sample.rows(reader.width + 1)
    return drawn[:, :-1], drawn[:, -1].astype(np.int64), total


def _draw_distributed(
    table: FrameTable, reader: _Numbers | _Mixed, labels: str | None, most: int, seed: int
) -> _Drawn:
    """Draw by two Spark jobs: one counts and checks the rows, the other samples."""
    columns = _columns(reader.names, labels)
    find_columns(table.names, columns)
    domain = unbounded_box(reader.names) if isinstance(reader, _Numbers) else reader.domain
    try:
        total = table.rows(domain).size()  # scores move nothing
    except NotFinite:
        raise _missing_number_error() from None
    drawn = table.sample(columns, most, seed)
    (batch,) = drawn.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], drawn.schema)]
    codes = _Groups().codes(batch[labels]) if labels else np.zeros(batch.num_rows)
    return reader.encoded(batch), codes.astype(np.int64), total


def _columns(names: Sequence[str], labels: str | None) -> list[str]:
    return list(dict.fromkeys([*names, *([labels] if labels else [])]))


def _missing_number_error() -> NotFinite:
    return NotFinite(
        "Some rows lack a number.", "Fill those values or remove the rows, then try again."
    )


class _Groups:
    """The numbers of group names, in order of occurrence; a missing name, or -1, is no group."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def codes(self, column: pa.Array) -> Floats:
        try:
            names = column.cast(pa.string()).to_pylist()
        except pa.ArrowException:
            raise InvalidSetting(
                "The column of --labels holds values that cannot be written as text.",
                "Name one that holds text, whole numbers or dates.",
                setting="--labels",
            ) from None
        return np.array([self._code(name) for name in names], dtype=np.float64)

    def _code(self, name: str | None) -> int:
        if name is None or name.strip() in ("", "-1"):
            return -1
        return self._known.setdefault(name.strip(), len(self._known))
