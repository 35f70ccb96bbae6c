"""Reports moved by a prior that a sample of all of them taught, drawn once."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from shoal.data import source_of
from shoal.domain import Box
from shoal.engine import rows_of
from shoal.engine._rows import Terms
from shoal.engine.local import LocalRows
from shoal.errors import RepeatedStream, TooLarge
from shoal.mechanisms import NDLaplace, bayes_remap, clamp
from shoal.mechanisms.local._reports import Reports
from shoal.mechanisms.local.laplace._remaps import Then
from shoal.perturb import Streamed, learnt_remap
from shoal.privacy import Ledger
from shoal.randomness import Randomness

BOX = Box(x=(0, 4), y=(0, 4))
LAPLACE = NDLaplace(2.0, domain=BOX)
CHAIN = Then(bayes_remap("em"), clamp(Box(x=(1, 3), y=(1, 3))))
TOWNS = bayes_remap(([[1.0, 1.0], [3.0, 3.0]], [1, 2]))
X = np.random.default_rng(1).choice([[1.0, 1.0], [3.0, 3.0]], 300)


def release(remap, X=X, keep_order=True, mechanism=LAPLACE):
    reports = Streamed(mechanism, remap, keep_order)
    page = Ledger().open(reports.guarantee, by="test")
    rows = LocalRows(source_of(X, BOX.names), BOX, Terms(), block_rows=64)  # several blocks
    return page.release(reports, rows, Randomness(7).noise, of="reports")


def matrix(table):
    return np.column_stack([table[name].to_numpy() for name in ("x", "y")])


@pytest.mark.parametrize("remap", [bayes_remap("em"), CHAIN], ids=["em", "chain"])
def test_blocks_are_moved_by_one_prior_as_a_whole_table_is(remap):
    plain, moved = (matrix(release(each).frame()) for each in (None, remap))
    np.testing.assert_allclose(moved, remap(Reports(plain, LAPLACE)).values, atol=1e-9)
    assert np.abs(moved - plain).max() > 0.1


def test_shuffled_reports_are_the_same_in_another_order():
    kept, shuffled = (
        matrix(release(bayes_remap("em"), keep_order=k).frame()) for k in (True, False)
    )
    assert np.abs(kept - shuffled).max() > 0.1
    pairs = [rows[np.lexsort(rows.round(3).T)] for rows in (kept, shuffled)]
    np.testing.assert_allclose(*pairs, atol=1e-3)


def test_batches_and_files_hold_what_a_frame_does(tmp_path):
    frame = release(bayes_remap("em")).frame()
    assert pa.Table.from_batches(release(bayes_remap("em")).batches()).equals(frame)
    written = release(bayes_remap("em")).write(tmp_path / "moved.csv")
    assert len(written.read_text().splitlines()) == 301


def test_a_prior_is_learnt_from_a_sample_of_very_many_reports(monkeypatch):
    learnt = []
    monkeypatch.setattr(learnt_remap, "SAMPLE", 50)
    monkeypatch.setattr(
        learnt_remap, "with_learnt_prior", lambda _, reports: learnt.append(reports) or TOWNS
    )
    assert len(release(bayes_remap("em")).frame()) == 300
    (sample,) = learnt
    assert sample.values.shape == (50, 2)


def test_rows_are_drawn_once_though_reports_are_read_three_times(monkeypatch):
    drawn = []
    original = NDLaplace.release
    monkeypatch.setattr(
        NDLaplace,
        "release",
        lambda self, value, rng: drawn.append(len(value)) or original(self, value, rng),
    )
    release(bayes_remap("em")).frame()
    assert sum(drawn) == 300


def test_reports_are_taken_once_and_leave_nothing_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    reports = release(bayes_remap("em"))
    reports.frame()
    with pytest.raises(RepeatedStream):
        reports.batches()
    assert not [path for path in Path(tmp_path).rglob("*") if path.suffix == ".parquet"]


def test_nobody_teaches_nothing():
    assert len(release(bayes_remap("em"), np.empty((0, 2))).frame()) == 0


def test_too_fine_a_lattice_is_refused_before_anything_is_spent():
    ledger = Ledger()
    reports = Streamed(NDLaplace(1_000.0, domain=BOX), bayes_remap("em"))
    page = ledger.open(reports.guarantee, by="test")
    with pytest.raises(TooLarge):
        page.release(reports, rows_of(X, BOX), Randomness(7).noise, of="reports")
    assert ledger.totals() == []
