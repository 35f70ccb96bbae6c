"""Every kind of table gives the same batches."""

import gzip
from contextlib import suppress

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
import scipy.sparse
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from shoal.data import source_of
from shoal.data.encode import encode_numbers
from shoal.errors import (
    BadInput,
    DimensionMismatch,
    DuplicateColumn,
    NotNumeric,
    UnknownColumn,
    UnreadableTable,
)

X = np.random.default_rng(3).normal(size=(25, 3)).round(3)
NAMES = ["age", "visits", "score"]
TABLE = pa.table(list(X.T.copy()), names=NAMES)


def _write(folder, name):
    """The table as a file of the kind its name says; returns what to open."""
    path = folder / name
    if name == "parts":
        path.mkdir()
        pq.write_table(TABLE[:10], path / "part-0.parquet")
        pq.write_table(TABLE[10:], path / "part-1.parquet")
        (path / "_SUCCESS").touch()
    elif name == "*.csv":
        pa_csv.write_csv(TABLE[:10], folder / "a.csv")
        pa_csv.write_csv(TABLE[10:], folder / "b.csv")
        return str(path)
    elif name.endswith(".parquet"):
        pq.write_table(TABLE, path)
    else:
        separator = "\t" if ".tsv" in name else ","
        text = TABLE.to_pandas().to_csv(index=False, sep=separator).encode()
        path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return path


IN_MEMORY = {
    "array": lambda: X,
    "fortran array": lambda: np.asfortranarray(X),
    "strided array": lambda: np.repeat(X, 2, axis=0)[::2],
    "foreign byte order": lambda: X.astype(">f8"),
    "long doubles": lambda: X.astype(np.longdouble),
    "lists": X.tolist,
    "pandas": lambda: pd.DataFrame(X, columns=NAMES),
    "polars": lambda: pl.DataFrame(X, schema=NAMES),
    "arrow table": lambda: TABLE,
    "arrow chunks": lambda: pa.concat_tables([TABLE[:7], TABLE[7:]]),
    "record batch": lambda: TABLE.to_batches()[0],
    "arrow data set": lambda: ds.dataset(TABLE),
    "columns": TABLE.to_pydict,
    "relation": lambda: duckdb.connect().from_arrow(TABLE),
    "lazy frame": lambda: pl.LazyFrame(X, schema=NAMES),
}
IN_FILES = ["t.csv", "t.csv.gz", "t.tsv", "t.tsv.gz", "t.parquet", "parts", "*.csv"]


@pytest.fixture(params=[*IN_MEMORY, *IN_FILES])
def source(request, tmp_path):
    if request.param in IN_MEMORY:
        return source_of(IN_MEMORY[request.param](), names=NAMES)
    return source_of(_write(tmp_path, request.param))


def _read(source, columns, size=262_144):
    return np.concatenate([encode_numbers(b, columns) for b in source.batches(columns, size)])


def test_every_kind_gives_the_same_rows_in_the_columns_asked_for(source):
    assert source.names == tuple(NAMES)
    np.testing.assert_allclose(_read(source, ["score", "age"]), X[:, [2, 0]])


def test_every_kind_can_be_read_again_and_keeps_to_the_size(source):
    for size in (4, 7):
        batches = list(source.batches(NAMES, size))
        assert all(0 < batch.num_rows <= size for batch in batches)
        assert all(batch.schema.names == NAMES for batch in batches)
        np.testing.assert_allclose(_read(source, NAMES, size), X)


def test_every_kind_names_an_unknown_column(source):
    with pytest.raises(UnknownColumn, match="Did you mean 'visits'"):
        list(source.batches(["age", "visit"]))


def test_a_pathlike_and_a_string_are_the_same(tmp_path):
    path = _write(tmp_path, "t.csv")
    assert source_of(path).names == source_of(str(path)).names


def test_array_columns_have_default_names():
    assert source_of(X).names == ("x0", "x1", "x2")


def test_a_reader_is_read_once_and_says_so():
    source = source_of(TABLE.to_reader(max_chunksize=10))
    np.testing.assert_allclose(_read(source, ["age"], size=3), X[:, :1])
    with pytest.raises(UnreadableTable, match="read once"):
        list(source.batches(["age"]))


REFUSED = {
    "masked array": (np.ma.masked_array(X, X > 0), NotNumeric),
    "complex array": (X.astype(complex), NotNumeric),
    "object array": (X.astype(object), NotNumeric),
    "text array": (X.astype(str), NotNumeric),
    "truth values": (X > 0, NotNumeric),
    "sparse matrix": (scipy.sparse.csr_matrix(X), NotNumeric),
    "sparse array": (scipy.sparse.csr_array(X), NotNumeric),
    "ragged lists": ([[1.0, 2.0], [3.0]], DimensionMismatch),
    "empty list": ([], DimensionMismatch),
    "one row": (X[0], DimensionMismatch),
    "cube": (X[None], DimensionMismatch),
    "no columns": (X[:, :0], DimensionMismatch),
    "empty frame": (pd.DataFrame(), DimensionMismatch),
    "number": (3, UnreadableTable),
    "nothing": (None, UnreadableTable),
    "columns of different length": ({"a": [1], "b": [1, 2]}, UnreadableTable),
    "twice a name in pandas": (pd.DataFrame(X, columns=["a", "a", "b"]), DuplicateColumn),
    "twice a name in arrow": (pa.table([[1], [2]], names=["a", "a"]), DuplicateColumn),
    "twice a name as text": (pd.DataFrame(X, columns=[1, "1", 2]), DuplicateColumn),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_table_of_numbers_is_refused_by_name(kind):
    given, error = REFUSED[kind]
    with pytest.raises(error) as caught:
        source_of(given)
    assert caught.value.message
    assert caught.value.hint


def test_a_name_for_each_column_of_an_array_is_needed():
    with pytest.raises(DimensionMismatch, match="2 columns"):
        source_of(X, names=["a", "b"])


@pytest.mark.parametrize("odd", ["secret", 2**70])
@pytest.mark.parametrize(
    "make", [lambda values: {"a": values}, lambda values: [[v] for v in values]]
)
def test_python_values_of_several_kinds_are_read_one_by_one(make, odd):
    (batch,) = source_of(make([1, 2.5, odd]), names=["a"]).batches(["a"])
    expected = np.nan if odd == "secret" else 2.0**70
    values = encode_numbers(batch, ["a"], text="missing")[:, 0]
    np.testing.assert_array_equal(values, [1, 2.5, expected])


OBJECTS = {
    "pandas": lambda values: pd.DataFrame({"a": pd.Series(values, dtype=object)}),
    "categorical": lambda values: pd.DataFrame({"a": pd.Categorical(values)}),
    "array": lambda values: {"a": np.array(values, dtype=object)},
    "series": lambda values: {"a": pd.Series(values, dtype=object)},
}


@pytest.mark.parametrize("kind", OBJECTS)
@pytest.mark.parametrize("values", [[1, 2.5, "x"], ["1", "2"], [True, "x"]])
def test_objects_are_no_numbers_whatever_they_hold(kind, values):
    (batch,) = source_of(OBJECTS[kind](values)).batches(["a"])
    for text in ("refuse", "missing"):
        with pytest.raises(NotNumeric, match="no type of numbers"):
            encode_numbers(batch, ["a"], text=text)


def test_text_among_numbers_is_refused_without_its_words():
    (batch,) = source_of(pd.DataFrame({"age": [1, "secret"]})).batches(["age"])
    with pytest.raises(NotNumeric) as caught:
        encode_numbers(batch, ["age"])
    assert "secret" not in str(caught.value)


def test_numbers_beyond_64_bits_are_read():
    (batch,) = source_of({"age": [2**70, -(2**70), 1]}).batches(["age"])
    assert encode_numbers(batch, ["age"])[:, 0].tolist() == [2.0**70, -(2.0**70), 1.0]


def test_a_frame_arrow_cannot_hold_is_refused_by_its_columns():
    frame = pd.DataFrame({"age": [1j], "sex": ["F"]})
    with pytest.raises(NotNumeric, match="'age'"):
        list(source_of(frame).batches(["age"]))


def test_opening_a_frame_reads_no_row():
    class Untouchable(pd.DataFrame):
        @property
        def iloc(self):
            raise AssertionError

    assert source_of(Untouchable({"a": [1]})).names == ("a",)


def test_a_table_without_rows_has_no_batches(tmp_path):
    pq.write_table(TABLE[:0], tmp_path / "t.parquet")
    for empty in (X[:0], TABLE[:0], pd.DataFrame(X[:0]), tmp_path / "t.parquet"):
        source = source_of(empty)
        assert sum(batch.num_rows for batch in source.batches(source.names)) == 0


ARRAYS = hnp.arrays(
    dtype=st.sampled_from([np.float64, np.float32, np.int64, np.uint8, np.float16]),
    shape=hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
)


@pytest.mark.heavy
@given(ARRAYS, st.integers(1, 7))
def test_any_array_of_numbers_comes_back_in_batches_of_any_size(array, size):
    source = source_of(array)
    np.testing.assert_array_equal(_read(source, source.names, size), array.astype(float))


@pytest.mark.heavy
@given(
    hnp.arrays(
        dtype=st.sampled_from(["O", "?", "c8", "U3", "M8[s]", "S2"]),
        shape=hnp.array_shapes(max_side=3),
        elements=None,
        fill=st.nothing(),
    )
    | hnp.arrays(np.float64, hnp.array_shapes(min_dims=3, max_side=3))
    | st.lists(st.lists(st.text(max_size=2) | st.floats(), max_size=3), max_size=3)
    | st.dictionaries(st.text(max_size=2), st.lists(st.integers() | st.text(), max_size=3))
)
@example({"": [2**70]})
@example({"": [10**5000]})
@example([[1, [2]], [3, (4, 5)]])
@example({"": "text", "x": {}})
@example({"": [2**70, "x"]})
def test_anything_else_is_taken_or_refused_by_name_never_crashed_on(given):
    with suppress(BadInput):
        source = source_of(given)
        assert all(batch.num_rows for batch in source.batches(source.names))
