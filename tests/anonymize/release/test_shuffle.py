from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chisquare

from shoal.anonymize.release import _shuffle as shuffle
from shoal.anonymize.release._shuffle import shuffle_rows
from shoal.randomness import Randomness


def out(batches, rows, seed):
    return [
        x for b in shuffle_rows(batches, rows, Randomness(seed).noise) for x in b["x"].to_pylist()
    ]


@pytest.mark.parametrize("pile_bytes", [1 << 20, 1000])
def test_the_same_rows_come_out_in_another_order(monkeypatch, pile_bytes):
    monkeypatch.setattr(shuffle, "_PILE_BYTES", pile_bytes)
    table = pa.table({"x": np.arange(5000), "y": [f"{i}" for i in range(5000)]})
    parts = list(shuffle_rows(table.to_batches(max_chunksize=700), 5000, Randomness(1).noise))
    again = pa.Table.from_batches(parts)
    assert again["y"].to_pylist() == [str(x) for x in again["x"].to_pylist()]
    assert sorted(again["x"].to_pylist()) == list(range(5000))
    ranks = np.corrcoef(np.arange(5000), again["x"].to_numpy())[0, 1]
    assert abs(ranks) < 0.08  # 5.6 standard deviations


@pytest.mark.heavy
@pytest.mark.parametrize("pile_bytes", [1 << 20, 16])
def test_every_order_is_as_likely(monkeypatch, pile_bytes):
    monkeypatch.setattr(shuffle, "_PILE_BYTES", pile_bytes)
    batch = pa.record_batch({"x": [1, 2, 3, 4]})
    counts = Counter(tuple(out([batch], 4, seed)) for seed in range(1200))
    assert len(counts) == 24
    assert chisquare(list(counts.values())).pvalue > 1e-6


def test_no_rows_stay_no_rows():
    assert out([], 0, 1) == []


def test_piles_are_private_and_leave_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(shuffle, "_PILE_BYTES", 1000)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    batches = pa.table({"x": np.arange(5000)}).to_batches()
    coming = shuffle_rows(batches, 5000, Randomness(1).noise)
    next(coming)
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    assert sum(1 for _ in coming) > 0
    assert list(tmp_path.iterdir()) == []
