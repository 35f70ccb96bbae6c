"""Tables as CSV text in which only what needs quotes has them (RFC 4180)."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_NEEDS_QUOTES = r'[",\r\n]|^\s|\s$'


class CSVText:
    """Writes batches of one schema to a stream, a header line first.

    Arrow's own writer puts every text into quotes, numbers that came as text among them.

    Examples
    --------
    >>> stream = pa.BufferOutputStream()
    >>> batch = pa.record_batch({"age": ["31", None], "town": ["York, PA", "Rome"]})
    >>> CSVText(stream, batch.schema).write(batch)
    >>> stream.getvalue().to_pybytes().decode().splitlines()
    ['age,town', '31,"York, PA"', ',Rome']
    """

    def __init__(self, stream: Any, schema: pa.Schema) -> None:
        self._stream = stream
        self._write_lines([_quoted(pa.array([name])) for name in schema.names])

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch."""
        if batch.num_rows:
            self._write_lines([_cells(column) for column in batch.columns])

    def _write_lines(self, columns: list[Any]) -> None:
        *first, last = columns
        ended = pc.binary_join_element_wise(last, "\n", "")
        lines = pc.binary_join_element_wise(*first, ended, ",")
        self._stream.write(_joined(lines))


def _cells(column: Any) -> Any:
    """Return each cell as it is written; nothing for a null, and ``""`` for an empty text."""
    if not pa.types.is_dictionary(column.type) and not _is_text(column.type):
        return pc.fill_null(column.cast(pa.string()), "")
    # Labels repeat: each different one is looked at once.
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    written = pa.concat_arrays([_quoted(coded.dictionary.cast(pa.string())), pa.array([""])])
    return written.take(pc.fill_null(coded.indices.cast(pa.int64()), len(written) - 1))


def _quoted(text: Any) -> Any:
    """Text in quotes where a reader would else take it for something else."""
    needed = pc.or_(pc.match_substring_regex(text, _NEEDS_QUOTES), pc.equal(text, ""))
    if not pc.any(needed).as_py():
        return text
    doubled = pc.replace_substring(text, '"', '""')
    return pc.if_else(needed, pc.binary_join_element_wise('"', doubled, '"', ""), text)


def _is_text(kind: pa.DataType) -> bool:
    """Whether cells may hold what needs quotes; numbers, dates and times do not."""
    tests = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
    return any(getattr(pa.types, f"is_{name}")(kind) for name in tests)


def _joined(lines: Any) -> memoryview:
    """The text of all lines, which lie in memory one after another."""
    _, offsets, text = lines.buffers()
    ends = np.frombuffer(offsets, np.int32)[lines.offset : lines.offset + len(lines) + 1]
    return memoryview(text)[ends[0] : ends[-1]]
