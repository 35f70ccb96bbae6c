"""A look at a table's columns: how many different texts they hold, and what these look like.

Every different text of a column is noted once: is it a number, a date, a sentence, how long is it.
Counts of equal notes tell all that a draft needs, and are few; so on Spark the texts themselves
stay there, but for those that many rows share.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from shoal.anonymize.table import AnyTable, Table
from shoal.engine.entry import by_engine
from shoal.engine.table import FrameTable

__all__ = ["COMMON", "LISTED", "ColumnProfile", "profile_columns"]

COMMON = 50  # a value that so many rows share may be quoted
LISTED = 40  # so many values may be listed
_LONGEST = 8  # characters that are told from more
_SENTENCE_WORDS, _SENTENCE_LENGTH = 5, 60  # so many words, or more characters, make a sentence
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
_SPACES = "length(text) - length(replace(text, ' ', ''))"
_SENTENCE = f"{_SPACES} >= {_SENTENCE_WORDS - 1} OR length(text) > {_SENTENCE_LENGTH}"
_EDGE = f"CASE WHEN number = 0 THEN 0 ELSE sign(number) * power * CASE {_STEPS} ELSE 10 END END"


@dataclass(frozen=True)
class ColumnProfile:
    """What was seen of a column: counts of rows, and values that are common.

    Attributes
    ----------
    name, common
        The column; the first values, in their order, that at least 50 rows share. Sentences are
        left out, however many share them.
    rows, known, different
        Rows; those with a value; different values.
    numbers, whole, days, sentence_rows
        Rows whose value is a number, a whole one, a date, or a sentence: five words and more.
    sentences
        Different values that are sentences.
    length
        Characters of the median value, 8 for all that are longer.
    low, high
        The numbers that 2 % and 98 % of those there are do not exceed, each rounded away from 0 to
        1, 2 or 5 times a power of ten. So most numbers may lie below ``low`` if it is positive, and
        above ``high`` if that is negative; from ``min(low, 0)`` to ``max(high, 0)`` most do lie.
    """

    name: str
    common: tuple[str, ...]
    rows: int
    known: int
    different: int
    numbers: int
    whole: int
    days: int
    sentence_rows: int
    sentences: int
    length: int
    low: float
    high: float

    @classmethod
    def of(
        cls, name: str, notes: Sequence[dict[str, Any]], common: Sequence[str]
    ) -> "ColumnProfile":
        """From the counts of equal notes."""

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
            sentence_rows=rows("sentence"),
            sentences=sum(note["different"] for note in notes if note["sentence"]),
            length=int(_quantile(notes, "length", 0.5)),
            low=_quantile(notes, "edge", _SPREAD[0]),
            high=_quantile(notes, "edge", _SPREAD[1]),
        )


def profile_columns(table: AnyTable) -> list[ColumnProfile]:
    """A look at every column.

    Parameters
    ----------
    table
        On this machine it is read twice for each column; on Spark once.

    Examples
    --------
    >>> (profile,) = profile_columns(Table({"age": [31, 47, None] * 60}))
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


def _embedded_notes(table: Table) -> tuple[_Lines, _Lines]:
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
    """Task: the different texts of each column of a block, with notes, where the rows are."""

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
    """DuckDB's query for the different texts of a column, what they look like, their rows."""
    text = "SELECT nullif(trim(CAST(c0 AS VARCHAR)), '') AS text FROM rows"
    counted = (
        f"SELECT text, TRY_CAST(text AS DOUBLE) AS value, count(*) AS n FROM ({text}) GROUP BY ALL"
    )
    finite = f"SELECT *, CASE WHEN isfinite(value) THEN value END AS number FROM ({counted})"
    return (
        f"SELECT {at} AS which, text, {_EDGE} AS edge, value IS NOT NULL AS number, "
        "coalesce(value = floor(value), false) AS whole, "
        "coalesce(regexp_matches(text, '^\\d{4}-\\d\\d-\\d\\d'), false) AS day, "
        f"coalesce({_SENTENCE}, false) AS sentence, "
        f"length(left(text, {_LONGEST})) AS length, n "
        f"FROM (SELECT *, {_POWER} AS power FROM ({finite}))"
    )


def _counts_query(texts: str) -> str:
    """The query for how many rows, and different texts, have the same notes."""
    notes = ", ".join(_SCHEMA.names[2:-1])
    counts = "CAST(sum(n) AS BIGINT) AS n, count(text) AS different"
    return f"SELECT which, {notes}, {counts} FROM ({texts}) GROUP BY ALL"


def _common_query(texts: str) -> str:
    """The query for the first texts of each column that many rows share."""
    order = "row_number() OVER (PARTITION BY which ORDER BY text) AS place"
    common = f"text IS NOT NULL AND NOT sentence AND n >= {COMMON}"
    many = f"SELECT which, text, {order} FROM ({texts}) WHERE {common}"
    return f"SELECT which, text FROM ({many}) WHERE place <= {LISTED + 1} ORDER BY which, place"


def _quantile(notes: Sequence[dict[str, Any]], of: str, share: float) -> float:
    """The least value that so many rows do not exceed; 0 of none."""
    counts = sorted((note[of], note["n"]) for note in notes if note[of] is not None)
    wanted, below = share * sum(n for _, n in counts), 0
    for value, n in counts:
        below += n
        if below >= wanted:
            return float(value)
    return 0.0
