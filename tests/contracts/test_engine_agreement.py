"""Counts do not depend on how rows arrive: their kind, their blocks, or the threads."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from shoal.data import source_of
from shoal.domain import Box, Grid
from shoal.engine import rows_of
from shoal.engine._rows import Terms
from shoal.engine.local import LocalRows

BOX = Box(age=(0, 110), visits=(-5, 20))
values = st.floats(-1e6, 1e6) | st.sampled_from([0.0, -0.0, 110.0, 20.0, 55.0])
tables = st.integers(0, 40).flatmap(lambda n: hnp.arrays(np.float64, (n, 2), elements=values))


@settings(max_examples=40, deadline=None)
@given(tables, st.integers(1, 7), st.integers(1, 50), st.sampled_from([1, 2, 3]))
def test_counts_are_those_of_the_grids_keys_for_any_blocks_and_threads(X, cells, size, threads):
    grid = Grid(BOX, cells)
    rows = LocalRows(source_of(X, BOX.names), BOX, Terms(), block_rows=size)
    expected = np.bincount(grid.keys(BOX.clip(X)), minlength=grid.size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHOAL_THREADS", str(threads))
        np.testing.assert_array_equal(rows.count(grid), expected)
        np.testing.assert_array_equal(rows.count(grid, sparse=True).dense(), expected)
        (summed,) = rows.sum(
            lambda block: (np.bincount(grid.keys(block.numbers), minlength=grid.size),)
        )
    np.testing.assert_array_equal(summed, expected)


@pytest.fixture
def kinds(tmp_path):
    X = np.random.default_rng(6).uniform(-10, 130, (500, 2)).round(3)
    table = pa.table(list(X.T), names=list(BOX.names))
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=70)
    pa_csv.write_csv(table, tmp_path / "t.csv")
    return {
        "array": X,
        "list": X.tolist(),
        "fortran": np.asfortranarray(X),
        "pandas": pd.DataFrame(X, columns=list(BOX.names)),
        "polars": pl.DataFrame(X, schema=list(BOX.names)),
        "arrow": table,
        "csv": tmp_path / "t.csv",
        "parquet": str(tmp_path / "t.parquet"),
    }


def test_every_kind_of_table_gives_the_same_results(kinds):
    def everything(X):
        rows = rows_of(X, BOX)
        sample = rows.take(30, np.random.default_rng(8))
        return rows.size(), rows.count(Grid(BOX, 9)).tolist(), sample.tolist(), rows.sizes(["age"])

    expected = everything(kinds["array"])
    for kind, X in kinds.items():
        assert everything(X) == expected, kind


def test_every_kind_of_table_keeps_the_same_rows_of_a_person(tmp_path):
    rng = np.random.default_rng(7)
    ids, ages = rng.integers(10**17, 10**17 + 90, 500), rng.integers(0, 110, 500)
    table = pa.table({"id": ids, "age": ages, "visits": ages})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=70)
    pa_csv.write_csv(table, tmp_path / "t.csv")
    kinds = {
        "pandas": table.to_pandas(),
        "ids as text objects": table.to_pandas().astype({"id": str}),
        "polars": pl.from_arrow(table),
        "arrow": table,
        "columns": table.to_pydict(),
        "csv": tmp_path / "t.csv",
        "parquet": tmp_path / "t.parquet",
    }
    terms = Terms(person="id", max_rows_per_person=2)
    kept = [LocalRows(source_of(X), BOX, terms, key="k").sizes(["age"]) for X in kinds.values()]
    assert 0 < kept[0].num_rows <= 2 * 90
    assert all(sizes == kept[0] for sizes in kept)
