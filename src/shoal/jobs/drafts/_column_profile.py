"""Profile a table's columns: how many distinct texts they hold, and what these look like.

Each distinct text of a column gets one note: whether it is a number, a date or a sentence, and how
long it is. A draft needs only counts of equal notes, which are few. So on Spark the texts
themselves stay there, except those that many rows share.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from shoal.anonymize.table import AnyTable, QueriedTable
from shoal.engine import by_engine
from shoal.engine.table import FrameTable

COMMON = 50  # rows that must share a value for it to be quoted
LISTED = 40  # most values that are listed
_LONGEST = 8  # longer texts are not distinguished by length
_SENTENCE_WORDS, _SENTENCE_LENGTH = 5, 60  # as many words, or more characters, make a sentence
_SPREAD = (0.02, 0.98)  # quantiles of numbers: never the extremes
# Spark runs a task on each core. A block fits in memory; if it did not, nothing of it would lie on
# a worker's disk.
_CONFIG: dict[str, Any] = {"threads": 1, "temp_directory": ""}
_Lines = list[dict[str, Any]]
_SCHEMA = pa.schema(
    [
        ("which", pa.int64()),
        ("text", pa.string()),
        ("edge", pa.float64()),
        ("number", pa.bool_()),
        ("whole", pa.bool_()),
        ("day", pa.bool_()),
        ("day_first", pa.bool_()),
        ("month_first", pa.bool_()),
        ("sentence", pa.bool_()),
        ("length", pa.int64()),
        ("n", pa.int64()),
    ]
)
_NAMED = ", ".join(f"c{i} AS {name}" for i, name in enumerate(_SCHEMA.names))
_SAME = f"SELECT {_NAMED} FROM rows"
# The next of 1, 2, 5 times a power of ten, away from 0. It rises with the number: quantiles of
# edges are edges of quantiles.
_POWER = "pow(10, floor(log10(nullif(abs(number), 0))))"
_STEPS = " ".join(f"WHEN abs(number) * (1 - 1e-12) <= {m} * power THEN {m}" for m in (1, 2, 5))
# Which parts of 05/03/2001 can be a day of 1 to 31 and a month of 1 to 12.
_DAY_PART, _MONTH_PART = "(0?[1-9]|[12][0-9]|3[01])", "(0?[1-9]|1[0-2])"
_DAY_FIRST = f"^{_DAY_PART}[/.-]{_MONTH_PART}[/.-][0-9]{{4}}( |$)"
_MONTH_FIRST = f"^{_MONTH_PART}[/.-]{_DAY_PART}[/.-][0-9]{{4}}( |$)"
_SPACES = "length(text) - length(replace(text, ' ', ''))"
_SENTENCE = f"{_SPACES} >= {_SENTENCE_WORDS - 1} OR length(text) > {_SENTENCE_LENGTH}"
_EDGE = f"CASE WHEN number = 0 THEN 0 ELSE sign(number) * power * CASE {_STEPS} ELSE 10 END END"


@dataclass(frozen=True)
class ColumnProfile:
    """What was seen of a column: counts of rows, and common values.

    Attributes
    ----------
    name
        The column.
    common
        The first values, in their order, that at least 50 rows share, without sentences.
    rows
        The number of rows.
    known
        Rows with a value.
    different
        Distinct values.
    numbers
        Rows whose value is a number.
    whole
        Rows whose value is a whole number.
    days
        Rows whose value is a date that begins with the year.
    days_first
        Rows whose value can be a date that begins with the day, such as 05/03/2001.
    months_first
        Rows whose value can be a date that begins with the month.
    sentence_rows
        Rows whose value is a sentence, of five words or more.
    sentences
        Distinct values that are sentences.
    length
        Characters of the median value, at most 8.
    low
        The 2 % quantile of the numbers, rounded away from 0 to 1, 2 or 5 times a power of ten.
    high
        The 98 % quantile, rounded likewise. Most numbers lie between ``min(low, 0)`` and
        ``max(high, 0)``.
    """

    name: str
    common: tuple[str, ...]
    rows: int
    known: int
    different: int
    numbers: int
    whole: int
    days: int
    days_first: int
    months_first: int
    sentence_rows: int
    sentences: int
    length: int
    low: float
    high: float

    @classmethod
    def of(
        cls, name: str, notes: Sequence[dict[str, Any]], common: Sequence[str]
    ) -> "ColumnProfile":
        """Build the profile from counts of equal notes."""

        def rows(kind: str) -> int:
            return sum(note["n"] for note in notes if note[kind])

        return cls(
            name,
            tuple(common),
            rows=rows("n"),
            known=rows("length"),
            different=sum(note["different"] for note in notes),
            numbers=rows("number"),
            whole=rows("whole"),
            days=rows("day"),
            days_first=rows("day_first"),
            months_first=rows("month_first"),
            sentence_rows=rows("sentence"),
            sentences=sum(note["different"] for note in notes if note["sentence"]),
            length=int(_quantile(notes, "length", 0.5)),
            low=_quantile(notes, "edge", _SPREAD[0]),
            high=_quantile(notes, "edge", _SPREAD[1]),
        )


def profile_columns(table: AnyTable) -> list[ColumnProfile]:
    """Profile every column of a table.

    Parameters
    ----------
    table
        The table. On this machine it is read twice for each column; on Spark once.

    Examples
    --------
    >>> (profile,) = profile_columns(QueriedTable({"age": [31, 47, None] * 60}))
    >>> profile.common, profile.known, profile.different, profile.high
    (('31', '47'), 120, 2, 50.0)
    """
    notes, common = by_engine(table, embedded=_embedded_notes, distributed=_distributed_notes)
    return [
        ColumnProfile.of(
            name,
            [note for note in notes if note["which"] == at],
            [line["text"] for line in common if line["which"] == at],
        )
        for at, name in enumerate(table.names)
    ]


def _embedded_notes(table: QueriedTable) -> tuple[_Lines, _Lines]:
    notes, common = [], []
    for at, name in enumerate(table.names):
        notes += table.query(_counts_query(_notes_query(at)), [name]).to_pylist()
        common += table.query(_common_query(_notes_query(at)), [name]).to_pylist()
    return notes, common


def _distributed_notes(table: FrameTable) -> tuple[_Lines, _Lines]:
    with table.added_up(_Notes(table.names), _SCHEMA) as texts:
        notes = texts.query(_counts_query(_SAME), _SCHEMA.names).to_pylist()
        return notes, texts.query(_common_query(_SAME), _SCHEMA.names).to_pylist()


@dataclass(frozen=True)
class _Notes:
    """A task that returns the distinct texts of each column of a block, with notes."""

    columns: tuple[str, ...]

    def __call__(self, blocks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with duckdb.connect(config=_CONFIG) as con:
            for block in blocks:
                for at in range(len(self.columns)):
                    yield from self._one(con, block, at)

    def _one(self, con: Any, block: pa.RecordBatch, at: int) -> list[pa.RecordBatch]:
        con.register("rows", pa.table({"c0": block.column(at)}))
        notes = con.sql(_notes_query(at)).to_arrow_table().cast(_SCHEMA)
        return list(notes.to_batches())


def _notes_query(at: int) -> str:
    """Return DuckDB's query for the distinct texts of a column, their notes and rows."""
    text = "SELECT nullif(trim(CAST(c0 AS VARCHAR)), '') AS text FROM rows"
    counted = (
        f"SELECT text, TRY_CAST(text AS DOUBLE) AS value, count(*) AS n FROM ({text}) GROUP BY ALL"
    )
    finite = f"SELECT *, CASE WHEN isfinite(value) THEN value END AS number FROM ({counted})"
    return (
        f"SELECT {at} AS which, text, {_EDGE} AS edge, value IS NOT NULL AS number, "
        "coalesce(value = floor(value), false) AS whole, "
        "coalesce(regexp_matches(text, '^\\d{4}-\\d\\d-\\d\\d'), false) AS day, "
        f"coalesce(regexp_matches(text, '{_DAY_FIRST}'), false) AS day_first, "
        f"coalesce(regexp_matches(text, '{_MONTH_FIRST}'), false) AS month_first, "
        f"coalesce({_SENTENCE}, false) AS sentence, "
        f"length(left(text, {_LONGEST})) AS length, n "
        f"FROM (SELECT *, {_POWER} AS power FROM ({finite}))"
    )


def _counts_query(texts: str) -> str:
    """Return the query for how many rows, and distinct texts, have the same notes."""
    notes = ", ".join(_SCHEMA.names[2:-1])
    counts = "CAST(sum(n) AS BIGINT) AS n, count(text) AS different"
    return f"SELECT which, {notes}, {counts} FROM ({texts}) GROUP BY ALL"


def _common_query(texts: str) -> str:
    """Return the query for the first texts of each column that many rows share."""
    order = "row_number() OVER (PARTITION BY which ORDER BY text) AS place"
    common = f"text IS NOT NULL AND NOT sentence AND n >= {COMMON}"
    many = f"SELECT which, text, {order} FROM ({texts}) WHERE {common}"
    return f"SELECT which, text FROM ({many}) WHERE place <= {LISTED + 1} ORDER BY which, place"


def _quantile(notes: Sequence[dict[str, Any]], of: str, share: float) -> float:
    """Return the least value that a share of the rows does not exceed; 0 without rows."""
    counts = sorted((note[of], note["n"]) for note in notes if note[of] is not None)
    wanted, below = share * sum(n for _, n in counts), 0
    for value, n in counts:
        below += n
        if below >= wanted:
            return float(value)
    return 0.0
