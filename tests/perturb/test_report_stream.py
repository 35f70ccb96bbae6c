import numpy as np
import pyarrow as pa
import pytest

from shoal.data import source_of
from shoal.domain import Box, Categories, Schema
from shoal.engine import rows_of
from shoal.engine._rows import Terms
from shoal.engine.local import LocalRows
from shoal.errors import (
    DimensionMismatch,
    NotFinite,
    OutsideDomain,
    RepeatedStream,
    UnreadableTable,
)
from shoal.mechanisms import LocalGrid, Mixed, NDLaplace, RandomizedResponse, snap
from shoal.perturb import Streamed
from shoal.privacy import Ledger
from shoal.randomness import Randomness

BOX = Box(x=(0, 9), y=(0, 9))
LAPLACE = NDLaplace(1.0, domain=BOX)
SHARP = NDLaplace(1000.0, domain=BOX)
IN_ORDER = Streamed(LAPLACE, keep_order=True)
ROWS = np.random.default_rng(0).uniform(0, 9, (1_000, 2))


def released(reports, rows, ledger=None, seed=7):
    page = Ledger.of(ledger).open(reports.guarantee, by="test")
    return page.release(reports, rows, Randomness(seed).noise, of="reports")


def table_of(drawn):
    return pa.Table.from_batches(drawn.batches())


def in_blocks(X, size):
    return LocalRows(source_of(X, BOX.names), BOX, Terms(), block_rows=size)


def test_many_blocks_are_one_entry_and_every_row_is_reported():
    ledger = Ledger()
    reports = table_of(released(Streamed(LAPLACE, keep_order=True), in_blocks(ROWS, 64), ledger))
    noise = np.column_stack([reports["x"], reports["y"]]) - ROWS
    assert reports.num_rows == 1_000
    assert ledger.totals() == [LAPLACE.guarantee.simulated()]
    assert np.hypot(*noise.T).mean() == pytest.approx(2, abs=0.2)  # d / epsilon


def test_no_two_blocks_share_their_noise():
    reports = table_of(released(IN_ORDER, in_blocks(np.full((128, 2), 4.0), 64)))
    first, second = reports["x"].to_numpy()[:64], reports["x"].to_numpy()[64:]
    assert not np.any(first == second)


def sorted_rows(n=1_000):
    return np.column_stack([np.linspace(0, 9, n)] * 2)


@pytest.mark.heavy
def test_the_order_of_a_sorted_table_does_not_come_out():
    reports = table_of(released(Streamed(SHARP), in_blocks(sorted_rows(), 64)))
    ranks = np.argsort(np.argsort(reports["x"].to_numpy()))
    assert abs(np.corrcoef(ranks, np.arange(1_000))[0, 1]) < 0.15  # 1 if the order were kept
    assert np.allclose(np.sort(reports["x"]), sorted_rows()[:, 0], atol=0.1)


@pytest.mark.heavy
def test_written_reports_are_shuffled_too_and_a_seed_repeats_the_order(tmp_path):
    def written(name):
        drawn = released(Streamed(SHARP), in_blocks(sorted_rows(), 64))
        return drawn.write(tmp_path / name).read_text()

    first = written("a.csv")
    places = [float(line.split(",")[0]) for line in first.splitlines()[1:]]
    assert abs(np.corrcoef(places, np.arange(1_000))[0, 1]) < 0.15
    assert written("b.csv") == first


@pytest.mark.heavy
def test_kept_order_is_the_rows_own():
    kept = Streamed(SHARP, keep_order=True)
    reports = table_of(released(kept, in_blocks(sorted_rows(), 64)))
    assert np.allclose(reports["x"], sorted_rows()[:, 0], atol=0.1)


@pytest.mark.heavy
def test_a_stream_of_noise_serves_many_releases_and_never_twice_the_same():
    noise = Randomness(7).noise
    both = [table_of(IN_ORDER.release(in_blocks(ROWS, 64), noise))["x"] for _ in range(2)]
    assert not np.any(both[0].to_numpy() == both[1].to_numpy())


def test_reports_can_be_taken_once():
    drawn = released(Streamed(LAPLACE), rows_of(ROWS, BOX))
    table_of(drawn)
    with pytest.raises(RepeatedStream, match="already taken"):
        drawn.batches()


def test_odd_rows_are_met_before_anything_is_written():
    ledger = Ledger()
    rows = in_blocks(np.vstack([ROWS, [[np.nan, 1]]]), 64)
    with pytest.raises(NotFinite, match="1 of 1001"):
        released(Streamed(LAPLACE), rows, ledger)
    assert ledger.totals() == []


@pytest.mark.parametrize(
    ("reports", "error"),
    [
        (Streamed(NDLaplace(1.0, domain=Box.unit(3))), DimensionMismatch),
        (Streamed(NDLaplace(1.0, domain=Box(x=(0, 1), y=(0, 1)))), OutsideDomain),
        (Streamed(LAPLACE, snap(Box.unit(3), 4)), DimensionMismatch),
    ],
)
def test_what_does_not_fit_the_domain_is_refused_before_anything_is_written(reports, error):
    ledger = Ledger()
    with pytest.raises(error):
        released(reports, rows_of(ROWS, BOX), ledger)
    assert ledger.totals() == []


def test_rows_that_flow_past_once_are_refused_before_anything_is_written():
    ledger = Ledger()
    table = pa.table({"x": ROWS[:, 0], "y": ROWS[:, 1]})
    with pytest.raises(UnreadableTable, match="read only once"):
        released(Streamed(LAPLACE), rows_of(table.to_reader(), BOX), ledger)
    assert ledger.totals() == []


@pytest.mark.heavy
def test_a_remap_follows_every_block():
    reports = table_of(released(Streamed(LAPLACE, snap(BOX, 4)), in_blocks(ROWS, 64)))
    assert set(reports["x"].to_pylist()) == {0.0, 3.0, 6.0, 9.0}


def test_a_bare_generator_is_taken_as_a_simulation():
    drawn = Streamed(LAPLACE).release(rows_of(ROWS, BOX), np.random.default_rng(1))
    assert table_of(drawn).num_rows == 1_000


SCHEMA = Schema.of(
    {
        "version": 1,
        "columns": {"sex": {"values": ["F", "M"]}, "age": {"low": 0, "high": 110}},
    }
)
PEOPLE = pa.table({"age": [31, 47] * 50, "sex": ["F", "M"] * 50})


def test_mixed_records_stream_too():
    mixed = Mixed(20, {"sex": Categories(["F", "M"]), "age": (0, 110)}, {"sex": 0.9, "age": 0.1})
    kept = Streamed(mixed, keep_order=True)
    reports = table_of(released(kept, rows_of(PEOPLE, SCHEMA)))
    assert reports.column_names == ["sex", "age"]
    assert reports["sex"].to_pylist() == PEOPLE["sex"].to_pylist()  # at epsilon 18 all but surely


def test_one_column_of_categories_streams():
    schema = Schema.of({"version": 1, "columns": {"sex": {"values": ["F", "M"]}}})
    response = RandomizedResponse(1.0, schema.categories["sex"])
    reports = table_of(released(Streamed(response), rows_of(PEOPLE, schema)))
    assert set(reports["sex"].to_pylist()) == {"F", "M"}


def test_cells_of_a_grid_stream_as_whole_numbers():
    grid = LocalGrid(BOX, epsilon=2.0, cells=6)
    reports = table_of(released(Streamed(grid), rows_of(np.ones((50, 2)), BOX)))
    assert (reports.column_names, reports["cell"].type) == (["cell"], pa.int64())


def test_no_rows_make_an_empty_table_of_the_right_columns(tmp_path):
    rows = rows_of(np.empty((0, 2)), BOX)
    path = Streamed(LAPLACE).release(rows, Randomness(1).noise).write(tmp_path / "none.csv")
    assert path.read_text() == "x,y\n"
