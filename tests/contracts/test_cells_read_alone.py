"""One odd cell changes how no other row is read, in any kind of table, or the call with it raises.

A column may get its type from all of its cells, in shoal or before: then one row would move every
other, and no noise would be enough. Every source of ``docs/guides/data.md`` is tried.
"""

import csv
import gzip
import struct
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from shoal.data import source_of
from shoal.domain import Categories, Schema
from shoal.engine import rows_of
from shoal.engine._rows import Terms
from shoal.engine.local import LocalRows
from shoal.engine.spark._session import read_table
from shoal.errors import NotNumeric, ShoalError, UnknownCategory

ODD = {
    "a decimal of many digits": Decimal("1.12345678901"),
    "a small decimal": Decimal("1.5E-10"),
    "a decimal of 30 digits": Decimal("123456789012345.678901234567891"),
    "a decimal that signals": Decimal("sNaN"),
    "text": "n/k",
    "text with zeros in front": "05",
    "text of a number": " 7.00",
    "text beyond floats": "1e400",
    "empty text": "",
    "half a character": "\ud800",
    "nothing": None,
    "a truth value": True,
    "a date": date(2020, 1, 31),
    "a time": datetime(2020, 1, 31, 10, 0, 0, 5),
    "a time with a zone": datetime(2020, 1, 31, 10, tzinfo=UTC),
    "a time of NumPy": np.datetime64("2020-01-31T10:00", "ns"),
    "a span of time": timedelta(seconds=5),
    "a float": 1.5,
    "a whole number beyond floats": 2**53 + 1,
    "a whole number beyond 64 bits": 2**70,
    "a whole number beyond text": 10**5000,
    "a whole number as a NumPy byte": np.int8(3),
    "not a number": float("nan"),
    "infinity": float("inf"),
    "bytes": b"x",
    "a list": [1, 2],
    "pandas' missing time": pd.NaT,
}
BASES = {
    "floats": ([1.1, 2.2, 0.3] * 4, {"low": 0, "high": 10}),
    "whole numbers": ([1, 2, 9] * 4, {"low": 0, "high": 10}),
    "decimals": ([Decimal("1.10"), Decimal("2.20")] * 6, {"low": 0, "high": 10}),
    "truth values as numbers": ([True, False] * 6, {"low": 0, "high": 10}),
    "numbers as text": (["1.10", "05", "7"] * 4, {"low": 0, "high": 10}),
    "codes": ([1, 2, 2] * 4, {"values": [1, 2]}),
    "codes as floats": ([1.0, 2.0, None] * 4, {"values": [1, 2]}),
    "long codes": ([1, 2**53 + 1] * 6, {"values": [1, 2**53, 2**53 + 1]}),
    "text": (["a", "05", "1.10"] * 4, {"values": ["a", "05", "1.1"]}),
    "zeros in front, listed as numbers": (["05", "07"] * 6, {"values": [5, 7]}),
    "truth": (["TRUE", "FALSE"] * 6, {"values": ["TRUE", "true", "False"]}),
    "truth values": ([True, False, False] * 4, {"values": [True, False]}),
    "dates": ([date(2020, 1, 31), date(2021, 1, 1)] * 6, {"values": [date(2020, 1, 31)]}),
    "dates as text": ([date(2020, 1, 31)] * 6, {"values": ["2020-01-31"]}),
    "times": ([datetime(2020, 1, 31, 10)] * 6, {"values": ["2020-01-31 10:00:00"]}),
}


def in_csv(name, opened=open):
    def write(cells, folder):
        path = folder / name
        with opened(path, "wt", newline="", encoding="utf-8") as file:
            lines = csv.writer(file, delimiter="\t" if name.endswith(".tsv") else ",")
            lines.writerows([["x", "y"], *([cell, "somewhere"] for cell in cells)])
        return path

    return write


def read_by(reader):
    return lambda cells, folder: reader(str(in_csv("t.csv")(cells, folder)))


def in_parquet(cells, folder):
    pq.write_table(arrow(cells), folder / "t.parquet")
    return folder / "t.parquet"


def in_parts(cells, folder):
    for i, part in enumerate((cells[:5], cells[5:])):
        (folder / "parts").mkdir(exist_ok=True)
        pq.write_table(arrow(part), folder / "parts" / f"{i}.parquet")
    return folder / "parts"


def arrow(cells):
    return pa.table({"x": pa.array(cells)})


# Tables without a type for their columns: what cannot be read of them is dropped cell by cell.
UNTYPED = {
    "rows": lambda cells, folder: [[cell] for cell in cells],
    "mapping": lambda cells, folder: {"x": cells},
    "csv": in_csv("t.csv"),
    "csv.gz": in_csv("t.csv.gz", gzip.open),
    "tsv": in_csv("t.tsv"),
}
TYPED = {
    "array": lambda cells, folder: np.array([[cell] for cell in cells]),
    "object array": lambda cells, folder: np.array([[cell] for cell in cells], dtype=object),
    "mapping of arrays": lambda cells, folder: {"x": np.array(cells)},
    "mapping of objects": lambda cells, folder: {"x": np.array([*cells, 0], dtype=object)[:-1]},
    "mapping of series": lambda cells, folder: {"x": pd.Series(cells)},
    "mapping of polars": lambda cells, folder: {"x": pl.Series(cells)},
    "pandas": lambda cells, folder: pd.DataFrame({"x": cells}),
    "pandas objects": lambda cells, folder: pd.DataFrame({"x": cells}, dtype=object),
    "pandas categories": lambda cells, folder: pd.DataFrame({"x": pd.Categorical(cells)}),
    "pandas nullable": lambda cells, folder: pd.DataFrame({"x": cells}, dtype="Int64"),
    "polars": lambda cells, folder: pl.DataFrame({"x": cells}),
    "polars objects": lambda cells, folder: pl.DataFrame({"x": pl.Series(cells, dtype=pl.Object)}),
    "lazy polars": lambda cells, folder: pl.LazyFrame({"x": cells}),
    "arrow": lambda cells, folder: arrow(cells),
    "arrow batch": lambda cells, folder: arrow(cells).to_batches()[0],
    "arrow dictionary": lambda cells, folder: pa.table({"x": pa.array(cells).dictionary_encode()}),
    "reader": lambda cells, folder: arrow(cells).to_reader(),
    "data set": lambda cells, folder: ds.dataset(arrow(cells)),
    "relation": lambda cells, folder: duckdb.from_arrow(arrow(cells)),
    "parquet": in_parquet,
    "parquet in parts": in_parts,
    "duckdb.read_parquet": lambda cells, folder: duckdb.read_parquet(
        str(in_parquet(cells, folder))
    ),
    "pd.read_csv": read_by(pd.read_csv),
    "pl.read_csv": read_by(pl.read_csv),
    "pl.scan_csv": read_by(pl.scan_csv),
    "duckdb.read_csv": read_by(duckdb.read_csv),
}
SOURCES = UNTYPED | TYPED
# What a library did to the other cells before shoal saw any: docs/known-gaps.md.
CHANGED_BEFORE = {
    "a whole number as a NumPy byte": {"mapping of polars", "polars", "lazy polars"},
    "a span of time": {"duckdb.read_parquet"},
}


def domain(public):
    if "low" in public:
        return Schema.of({"version": 1, "columns": {"x": public}})
    listed = {"x": Categories(public["values"], other="bucket")}
    return Schema(("x",), {}, listed, {"x": 1.0})


def made(kind, cells, folder):
    """The table, or None if its library refuses to make it of such cells."""
    try:
        return SOURCES[kind](cells, folder)
    except KeyboardInterrupt:
        raise
    except BaseException:  # polars panics with one of its own
        return None


def encoded(X, public, nonfinite="drop"):
    """How often each row occurs, as bytes."""
    terms = Terms(nonfinite=nonfinite)
    rows = LocalRows(source_of(X, names=["x"]), domain(public), terms, block_rows=5)
    blocks = list(rows.each(lambda block: block))
    numbers = (struct.pack("d", cell) for block in blocks for cell in block.numbers.ravel())
    codes = (struct.pack("i", cell) for block in blocks for cell in block.codes.ravel())
    return Counter([*numbers, *codes])


def encoded_or_none(X, public):
    try:
        return encoded(X, public)
    except ShoalError:
        return None


@pytest.mark.filterwarnings("ignore")  # of libraries, about the odd cells
@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("base", BASES)
def test_one_odd_cell_changes_how_no_other_is_read_or_is_refused(base, kind, tmp_path):
    cells, public = BASES[base]
    usual = made(kind, cells, tmp_path)
    before = None if usual is None else encoded_or_none(usual, public)
    for number, (odd, cell) in enumerate(ODD.items()):
        if kind in TYPED and odd == "a whole number beyond text":
            continue  # polars brings the whole process down
        place = (0, 7, len(cells))[number % 3]
        table = made(kind, [*cells[:place], cell, *cells[place:]], tmp_path)
        after = None if table is None else encoded_or_none(table, public)
        if kind in UNTYPED and table is not None:
            assert after is not None, f"{odd} is refused, and could be dropped by itself"
        if before and after is not None and kind not in CHANGED_BEFORE.get(odd, ()):
            assert before <= after, f"{odd} moved another row"
            assert (after - before).total() <= 1, f"{odd} is more than one row"


@pytest.mark.parametrize("kind", UNTYPED)
@pytest.mark.parametrize("base", BASES)
def test_a_table_without_types_is_read_whatever_its_cells_are(base, kind, tmp_path):
    cells, public = BASES[base]
    assert encoded_or_none(made(kind, cells, tmp_path), public) is not None


READ = {
    "floats": {"array", "pandas", "polars", "arrow", "relation", "parquet", "pd.read_csv"},
    "decimals": {"polars", "arrow", "relation", "lazy polars", "parquet", "duckdb.read_csv"},
    "codes": {"array", "pandas", "arrow dictionary", "pandas categories", "pl.read_csv"},
    "codes as floats": {"pandas", "pandas nullable", "polars"},
    "long codes": {"array", "pandas", "polars", "arrow", "relation", "pd.read_csv"},
    "text": {"mapping of objects", "pandas objects", "polars", "arrow", "duckdb.read_csv"},
    "truth values": {"pandas", "polars", "arrow", "duckdb.read_csv"},
    "dates": {"polars", "arrow", "parquet", "duckdb.read_csv"},
}


@pytest.mark.parametrize("base", READ)
def test_columns_of_their_own_kind_are_read(base, tmp_path):
    cells, public = BASES[base]
    for kind in READ[base]:
        assert encoded_or_none(made(kind, cells, tmp_path), public) is not None, kind


REFUSED = {
    "truth values as numbers": set(TYPED) - {"pandas nullable"},
    "numbers as text": {"pandas", "pandas objects", "polars", "arrow", "parquet", "relation"},
    "dates as text": set(TYPED) - {"pd.read_csv", "pl.read_csv", "pl.scan_csv"},
    "times": set(TYPED) - {"pd.read_csv", "pl.read_csv", "pl.scan_csv"},
}


@pytest.mark.parametrize("base", REFUSED)
def test_columns_of_another_kind_are_refused_with_and_without_an_odd_cell(base, tmp_path):
    cells, public = BASES[base]
    for kind in REFUSED[base]:
        for column in (cells, [*cells, None]):
            X = made(kind, column, tmp_path)
            if X is not None:
                with pytest.raises((NotNumeric, UnknownCategory)):
                    encoded(X, public)


ON_SPARK = ["decimals", "zeros in front, listed as numbers", "times"]
ODD_ON_SPARK = ["text", "a whole number beyond 64 bits"]


def on_spark(frame, public):
    try:
        groups = rows_of(frame, domain(public), nonfinite="drop").sizes(["x"]).to_pylist()
    except ShoalError:
        return None
    return Counter(
        {struct.pack("d", g["x"]) if "low" in public else g["x"]: g["n"] for g in groups}
    )


@pytest.mark.parametrize("base", ON_SPARK)
def test_one_odd_cell_changes_how_no_other_is_read_on_spark(base, spark, tmp_path):
    cells, public = BASES[base]
    readers = {
        "by path": lambda path: read_table(spark, f"file://{path}"),
        "inferred": lambda path: spark.read.csv(f"file://{path}", header=True, inferSchema=True),
    }
    for name, read in readers.items():
        before = on_spark(read(in_csv("usual.csv")(cells, tmp_path)), public)
        assert name == "inferred" or before is not None
        for odd in ODD_ON_SPARK:
            path = in_csv(f"{name} {odd}.csv")([ODD[odd], *cells], tmp_path)
            after = on_spark(read(path), public)
            assert name == "inferred" or after is not None
            if before is not None and after is not None:
                assert before <= after, f"{odd}, {name}, moved another row"
                assert (after - before).total() <= 1
