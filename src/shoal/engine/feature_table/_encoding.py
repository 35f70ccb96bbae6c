"""Rows as whole numbers: each encoded line is a function of one row and of public things.

Queries see these lines alone, so they hold no name and no value of a file, and both engines add up
the same numbers. Text travels in two columns only: whose a row is, and what is counted apart.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.data.encode import encode_codes, encode_numbers, is_missing
from shoal.data.source import find_columns
from shoal.data.untyped_cells import cells_of, texts_of
from shoal.domain import Categories
from shoal.domain.features import (
    Category,
    Condition,
    EventTable,
    Number,
    PeopleTable,
    Period,
    Text,
)
from shoal.domain.value_text import column_as_text, normalise_column
from shoal.engine.feature_table._owners import Owners
from shoal.engine.feature_table._times import NULL, clock_times
from shoal.errors import InvalidFeatures

Whole = NDArray[np.int64]
Column = Number | Category | Text
WORD_DAYS = 62  # days in one whole number of bits
REASONS = ("counted", "outside the period", "unreadable time", "arrived late", "without a person")
_DAY, _HOUR = 86_400_000_000, 3_600_000_000


class Output(NamedTuple):
    """A column of encoded lines: what it holds, and of which column or conditions.

    Kinds: ``rows`` (whether conditions hold), ``steps`` (a column in whole numbers), ``high`` and
    ``low`` (halves of its square), ``text``, ``days`` (bits of a part of the days), ``weeks``
    (bits), ``day``, ``week`` and ``at`` (whole numbers).
    """

    kind: str
    column: str = ""
    where: tuple[Condition, ...] = ()
    part: int = 0

    @property
    def arrow_type(self) -> pa.DataType:
        """The type of the encoded column."""
        return {"rows": pa.bool_(), "text": pa.string()}.get(self.kind, pa.int64())


@dataclass(frozen=True)
class PublicRows:
    """A public table in memory: the whole number of each column for each key."""

    keys: pa.Array
    columns: dict[str, Whole]


def read_public(batches: Any, key: str, columns: Mapping[str, Column]) -> tuple[pa.Array, Any]:
    """Return the keys of a public table as text, and its columns as whole numbers."""
    keys, encoded = [], []
    for batch in batches:
        keys.append(text_cells(batch, key))
        encoded.append([encode_column(batch, name, column) for name, column in columns.items()])
    texts = pa.concat_arrays(keys) if keys else pa.array([], pa.string())
    whole = [np.concatenate(parts) for parts in zip(*encoded, strict=True)]
    return texts, dict(zip(columns, whole or [np.empty(0, np.int64)] * len(columns), strict=True))


def text_cells(batch: pa.RecordBatch, name: str) -> pa.Array:
    """Return a column as text, each cell by itself, null where nothing is; 7.0 is 7."""
    (at,) = find_columns(batch.schema.names, [name])
    column = batch.column(at)
    column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    is_untyped = cells_of(batch.schema.field(at)) == "untyped"
    if not is_untyped and pa.types.is_nested(column.type):
        raise InvalidFeatures(
            f"{name!r} holds nested values.", "Store one plain value in each cell."
        )
    coded = column.dictionary_encode()  # cells repeat: keys, items; each text is read once
    each = coded.dictionary
    written = normalise_column(texts_of(each) if is_untyped else column_as_text(each))
    return pc.if_else(is_missing(written), None, written).take(coded.indices)


def encode_column(batch: pa.RecordBatch, name: str, column: Column) -> Whole:
    """Return a column as whole numbers: codes, or steps; ``NULL`` where there is no value."""
    if isinstance(column, Category):
        codes = encode_codes(batch, {name: column.listed})[:, 0].astype(np.int64)
        return np.where(codes == len(column.listed.values), NULL, codes)
    assert isinstance(column, Number)
    numbers = encode_numbers(batch, [name], text="missing")[:, 0]
    return to_steps(numbers, column)


def to_steps(numbers: NDArray[np.float64], column: Number) -> Whole:
    """Return numbers moved into their bounds, in whole steps.

    Examples
    --------
    >>> from fractions import Fraction
    >>> to_steps(np.array([2.5, 99.0, 2.04]), Number(0, 60, Fraction(1, 10))).tolist()
    [25, 600, 20]
    """
    is_known = np.isfinite(numbers)
    inside = np.clip(np.where(is_known, numbers, 0.0), column.low, column.high)
    steps = np.floor(inside * column.step.denominator / column.step.numerator + 0.5)
    return np.where(is_known, steps.astype(np.int64), NULL)


@dataclass(frozen=True, eq=False)
class EventEncoder:
    """Encodes batches of a table of events; pickled to where the rows are.

    Parameters
    ----------
    events, columns, public
        The table, its columns with those of joined tables, and the rows of these.
    outputs
        What lines hold besides whose they are, as ``c0, c1, ...``.
    only
        Encode the rows of one person; None for everybody's.
    """

    events: EventTable
    period: Period
    owners: Owners
    columns: dict[str, Column]
    public: dict[str, PublicRows]
    outputs: tuple[Output, ...]
    only: str | None = None

    @property
    def schema(self) -> pa.Schema:
        """The schema of encoded lines."""
        kinds = [(f"c{i}", output.arrow_type) for i, output in enumerate(self.outputs)]
        return pa.schema([("owner", pa.string()), *kinds])

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns of the table that are read."""
        wanted = [self.events.person, self.events.time]
        wanted += [] if self.events.arrived is None else [self.events.arrived]
        for name in self._columns_used():
            wanted.append(name if name in self.events.columns else self._key_of(name))
        return tuple(dict.fromkeys(wanted))

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the encoded lines of the rows that count."""
        return self.encode(batch)[0]

    def encode(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Counter[str]]:
        """Return the encoded lines, and how many rows count, and do not for each reason.

        Rows without a listed value in a column that is used count, and are counted by its name.
        """
        owners = self.owners.of(batch, self.events.person)
        at = clock_times(batch, self.events.time, self.period)
        reasons = self._reasons(batch, owners, at)
        if self.events.refuses_times and (reasons == 2).any():
            raise InvalidFeatures(
                f"{self.events.time!r} holds times that cannot be read.",
                "Write them like 2025-03-03 08:15:00; or leave such rows out: `times: drop`.",
            )
        is_counted = reasons == 0
        if self.only is not None:
            is_own = pc.fill_null(pc.equal(owners, self.only), False)
            is_counted &= is_own.to_numpy(zero_copy_only=False)
        counted = Counter(
            dict(zip(REASONS, np.bincount(reasons, minlength=5).tolist(), strict=True))
        )
        if not is_counted.all():
            kept = pa.array(is_counted)
            batch, owners, at = batch.filter(kept), owners.filter(kept), at[is_counted]
        cells = _Cells(self, batch, at)
        arrays = [cells.array(output) for output in self.outputs]
        counted.update(cells.unlisted())
        return pa.record_batch([owners, *arrays], schema=self.schema), counted

    def _reasons(self, batch: pa.RecordBatch, owners: pa.Array, at: Whole) -> Whole:
        """Return why each row does not count, by its own cells; 0 where it does."""
        day = (at - self.period.start_at) // _DAY
        reasons = np.where((day < 0) | (day >= self.period.n_days), 1, 0)
        reasons[at == NULL] = 2
        if self.events.arrived is not None and self.period.arrived_before is not None:
            arrived = clock_times(batch, self.events.arrived, self.period)
            last = self.period.start_at + self.period.day_of(self.period.arrived_before) * _DAY
            reasons[(reasons == 0) & ((arrived >= last) | (arrived == NULL))] = 3
        reasons[pc.is_null(owners).to_numpy(zero_copy_only=False)] = 4
        return reasons.astype(np.int64)

    def _columns_used(self) -> list[str]:
        named = [output.column for output in self.outputs if output.column]
        named += [c.column for output in self.outputs for c in output.where]
        return [name for name in dict.fromkeys(named) if not name.startswith("@")]

    def _key_of(self, name: str) -> str:
        """Return the column of the table that finds a joined column's value."""
        return next(
            key for table, key in self.events.joins.items() if name in self.public[table].columns
        )

    def joined(self, batch: pa.RecordBatch, name: str) -> Whole:
        """Return a joined column; ``NULL`` where no row of the public table has the key."""
        table = next(t for t in self.events.joins if name in self.public[t].columns)
        public = self.public[table]
        keys = text_cells(batch, self.events.joins[table])
        place = pc.fill_null(pc.index_in(keys, public.keys, skip_nulls=True), len(public.keys))
        known = np.append(public.columns[name], NULL)
        values: Whole = known[place.to_numpy(zero_copy_only=False)]
        return values


class _Cells:
    """The columns of one batch, each encoded once."""

    def __init__(self, encoder: EventEncoder, batch: pa.RecordBatch, at: Whole) -> None:
        self._encoder, self._batch, self._at = encoder, batch, at
        self._known: dict[str, Whole] = {}
        self._rows: dict[Condition, NDArray[np.bool_]] = {}

    def array(self, output: Output) -> pa.Array:
        """Return an encoded column."""
        if output.kind == "rows":
            return pa.array(self._where(output.where))
        if output.kind == "text":
            return text_cells(self._batch, output.column)
        if output.kind in ("steps", "high", "low"):
            values = self._column(output.column)
            is_null = values == NULL
            return pa.array(_square_half(values, is_null, output.kind), mask=is_null)
        return pa.array(self._of_time(output))

    def unlisted(self) -> dict[str, int]:
        """Return how many rows lack a listed value, for each column of categories that was read."""
        kinds = self._encoder.columns
        return {
            f"no listed {name}": int(np.count_nonzero(values == NULL))
            for name, values in self._known.items()
            if isinstance(kinds.get(name), Category)
        }

    def _of_time(self, output: Output) -> Whole:
        if output.kind == "at":
            return self._at
        day = self._column("@day")
        if output.kind == "days":
            within = day - output.part * WORD_DAYS
            is_here = (within >= 0) & (within < WORD_DAYS)
            return np.where(is_here, np.int64(1) << np.where(is_here, within, 0), 0)
        if output.kind == "weeks":
            return np.int64(1) << (day // 7)
        return day if output.kind == "day" else day // 7

    def _where(self, conditions: Sequence[Condition]) -> NDArray[np.bool_]:
        holds = np.ones(len(self._at), bool)
        for condition in conditions:
            holds = holds & self._holds(condition)
        return holds

    def _holds(self, condition: Condition) -> NDArray[np.bool_]:
        if condition not in self._rows:
            values = self._column(condition.column)
            self._rows[condition] = (
                (values >= condition.low) & (values <= condition.high)
                if condition.among is None
                else _is_among(values, condition.among)
            )
        return self._rows[condition]

    def _column(self, name: str) -> Whole:
        if name not in self._known:
            self._known[name] = self._encoded(name)
        return self._known[name]

    def _encoded(self, name: str) -> Whole:
        period = self._encoder.period
        since = self._at - period.start_at
        if name == "@day":
            return since // _DAY
        if name == "@hour":
            return since % _DAY // _HOUR
        if name == "@week":
            return self._column("@day") // 7
        if name == "@weekday":
            return (self._column("@day") + period.start.weekday()) % 7
        if name in self._encoder.events.columns:
            column = self._encoder.columns[name]
            return encode_column(self._batch, name, column)
        return self._encoder.joined(self._batch, name)


def _is_among(values: Whole, among: tuple[int, ...]) -> NDArray[np.bool_]:
    if len(among) == 1:
        alone: NDArray[np.bool_] = values == among[0]
        return alone
    return np.isin(values, among)


def _square_half(values: Whole, is_null: NDArray[np.bool_], kind: str) -> Whole:
    """Return values, or the upper or lower 32 bits of their squares, whose sums cannot overflow."""
    known = np.where(is_null, 0, values)
    if kind == "steps":
        return known
    square: Whole = known * known
    return square >> 32 if kind == "high" else square & 0xFFFFFFFF


@dataclass(frozen=True, eq=False)
class PeopleEncoder:
    """Encodes batches of the table of people: copied columns as whole numbers."""

    people: PeopleTable
    period: Period
    owners: Owners
    only: str | None = None

    @property
    def schema(self) -> pa.Schema:
        """The schema of encoded lines: ``k0, k1, ...`` are the copied columns."""
        kinds = [(f"k{i}", pa.int64()) for i in range(len(self.people.columns))]
        return pa.schema([("owner", pa.string()), ("moment", pa.int64()), *kinds])

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns of the table that are read."""
        latest = [] if self.people.latest is None else [self.people.latest]
        return tuple(dict.fromkeys([self.people.person, *latest, *self.people.columns]))

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a line for each row that has a person."""
        owners = self.owners.of(batch, self.people.person)
        at = np.zeros(len(owners), np.int64)
        if self.people.latest is not None:
            at = clock_times(batch, self.people.latest, self.period)
        copied = [_copied(batch, name, entry) for name, entry in self.people.columns.items()]
        lines = pa.record_batch([owners, pa.array(at), *copied], schema=self.schema)
        is_kept = pc.is_valid(owners)
        if self.only is not None:
            is_kept = pc.fill_null(pc.equal(owners, self.only), False)
        return lines.filter(is_kept)


def _copied(batch: pa.RecordBatch, name: str, entry: Mapping[str, Any]) -> pa.Array:
    """Return a copied column as whole numbers: codes, or the bits of doubles."""
    if listed := entry.get("values") or entry.get("levels"):
        codes = encode_codes(batch, {name: Categories(listed, "bucket")})[:, 0].astype(np.int64)
        return pa.array(codes, mask=codes == len(listed))
    numbers = np.ascontiguousarray(encode_numbers(batch, [name], text="missing")[:, 0])
    return pa.array(numbers.view(np.int64), mask=np.isnan(numbers))
