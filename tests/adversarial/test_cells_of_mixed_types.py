"""One odd cell beside a thousand equal rows shows no more than the budget, or is refused in sight.

A type that follows from all cells of a column lets one row change how every other is read. Losses
are computed, not estimated: see ``audit.replay``.
"""

import csv
from datetime import datetime
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal.audit import replay
from shoal.cluster import PrivateKPrototypes
from shoal.domain import Box, Schema
from shoal.errors import ShoalError
from shoal.synopsis import MixedSynopsis, UniformGrid

ROWS = 1_000
NOON = datetime(2020, 1, 1, 12)
# Cells end at 1.1: the nearest double lies above that edge, the one below it beneath.
AMOUNTS = UniformGrid(epsilon=1, domain=Box(x=(0, 2.2)), cells=2, nonfinite="drop")
LEVELS = UniformGrid(epsilon=1, domain=Box(x=(0, 10)), cells=2, nonfinite="drop")


def schema(values):
    columns = {"x": {"values": values, "other": "bucket"}, "town": {"values": ["Oslo", "Rome"]}}
    return Schema.of({"version": 1, "columns": columns})


def mixed_models(values):
    """The two methods of mixed tables, for a column of such values."""
    domain = schema(values)
    return {
        "MixedSynopsis": MixedSynopsis(epsilon=1, domain=domain, n_public=1000),
        "PrivateKPrototypes": PrivateKPrototypes(
            2, epsilon=1, domain=domain, n_public=1000, n_init=1, n_synthetic=100
        ),
    }


def is_refused(model, table):
    try:
        replay(model, table, table)
    except ShoalError:
        return True
    return False


def check(model, table, neighbour, *, refused=(False, False)):
    """Hold the loss against the claim where both tables are read."""
    assert (is_refused(model, table), is_refused(model, neighbour)) == refused
    if not any(refused):
        replayed = replay(model, table, neighbour)
        assert replayed.verdict == "consistent", replayed.faults
        assert replayed.loss <= 1 + 1e-9


def columns_of(cells):
    return {"x": list(cells), "town": ["Oslo"] * len(cells)}


DECIMAL_TABLES = {
    "a mapping": lambda cells: {"x": cells},
    "rows": lambda cells: [[cell] for cell in cells],
    "polars": lambda cells: pl.DataFrame({"x": cells}),
    "arrow": lambda cells: pa.table({"x": pa.array(cells)}),
    "duckdb": lambda cells: duckdb.from_arrow(pa.table({"x": pa.array(cells)})),
}


@pytest.mark.parametrize("odd", ["1.12345678901", "1.5E-10"])
@pytest.mark.parametrize("kind", DECIMAL_TABLES)
def test_a_decimal_of_many_digits_moves_no_other(kind, odd):
    amounts = [Decimal("1.10")] * ROWS
    make = DECIMAL_TABLES[kind]
    check(AMOUNTS, make(amounts), make([*amounts, Decimal(odd)]))


@pytest.mark.parametrize("kind", ["a mapping", "polars"])
def test_a_tiny_amount_moves_none_of_five_thousand_amounts_in_cents(kind):
    amounts = [Decimal(cents).scaleb(-2) for cents in range(5_000)]
    grid = UniformGrid(epsilon=1, domain=Box(x=(0, 50)), cells=500, nonfinite="drop")
    make = DECIMAL_TABLES[kind]
    check(grid, make(amounts), make([*amounts, Decimal("1.5E-10")]))


@pytest.mark.parametrize("model", mixed_models(["x"]))
def test_one_text_beside_times_in_a_mapping_moves_no_other(model):
    times = [NOON] * ROWS
    fit = mixed_models([str(NOON)])[model]
    check(fit, columns_of(times), columns_of([*times, "n/k"]))


@pytest.mark.parametrize("model", mixed_models(["x"]))
def test_times_in_a_frame_are_refused_with_and_without_a_text_beside_them(model):
    times = [NOON] * ROWS
    fit = mixed_models([str(NOON)])[model]
    frames = [pd.DataFrame(columns_of(cells)) for cells in (times, [*times, "n/k"])]
    check(fit, *frames, refused=(True, True))


def written(folder, name, cells):
    path = folder / name
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["x", "town"], *([cell, "Oslo"] for cell in cells)])
    return str(path)


CELLS = {"decimals": "1.10", "truth": "TRUE", "time": "9:05:00", "times": "2020-01-01 12:00:00"}


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
@pytest.mark.parametrize("model", mixed_models(["x"]))
def test_a_type_that_duckdb_inferred_is_refused_for_a_list_of_text(model, cell, tmp_path):
    fit = mixed_models([cell])[model]
    usual = written(tmp_path, "usual.csv", [cell] * ROWS)
    odd = written(tmp_path, "odd.csv", ["n/k", *[cell] * ROWS])
    # Whoever sees the refusal sees a type; nothing is released of the rows.
    check(fit, duckdb.read_csv(usual), duckdb.read_csv(odd), refused=(True, False))
    check(fit, usual, odd)


READERS = {
    "pandas": pd.read_csv,
    "polars": pl.read_csv,
    "lazy polars": pl.scan_csv,
    "duckdb": duckdb.read_csv,
}


# DuckDB takes 05 for text by itself.
INFERRED = {name: "text" if name == "duckdb" else "numbers" for name in READERS}


@pytest.mark.parametrize("reader", READERS)
def test_zeros_in_front_beside_a_text_are_refused_unless_the_path_is_given(reader, tmp_path):
    usual = written(tmp_path, "usual.csv", ["05"] * ROWS)
    odd = written(tmp_path, "odd.csv", ["n/k", *["05"] * ROWS])
    refused = INFERRED[reader] == "text", True
    check(LEVELS, *map(READERS[reader], (usual, odd)), refused=refused)
    check(LEVELS, usual, odd)


@pytest.mark.parametrize("reader", READERS)
def test_codes_beside_a_text_are_refused_unless_the_path_is_given(reader, tmp_path):
    usual = written(tmp_path, "usual.csv", ["05"] * ROWS)
    odd = written(tmp_path, "odd.csv", ["n/k", *["05"] * ROWS])
    is_text = INFERRED[reader] == "text"
    for values, refused in ([5], (is_text, True)), (["05"], (not is_text, False)):
        fit = mixed_models(values)["MixedSynopsis"]
        check(fit, *map(READERS[reader], (usual, odd)), refused=refused)
        check(fit, usual, odd)


def test_truth_values_beside_a_missing_one_and_a_text_are_refused(tmp_path):
    """A frame of pandas keeps truth values beside a gap as objects, and as text beside a text."""
    fit = mixed_models(["True", "False"])["MixedSynopsis"]
    gap = written(tmp_path, "gap.csv", [*["True"] * ROWS, ""])
    odd = written(tmp_path, "odd.csv", [*["True"] * ROWS, "", "n/k"])
    check(fit, pd.read_csv(gap), pd.read_csv(odd), refused=(True, False))


def test_floats_are_refused_for_labels_they_cannot_hold_whatever_the_rows_are():
    fit = mixed_models([1, 2**60])["MixedSynopsis"]
    cells = np.ones(ROWS)
    check(
        fit,
        pd.DataFrame(columns_of(cells)),
        pd.DataFrame(columns_of([*cells, np.nan])),
        refused=(True, True),
    )
