"""Groups of nobody are called so, whatever the method; groups of somebody are not."""

import json
import os
import re
import stat
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli._main import app
from shoal.cluster import PrivateKMeans, WaveCluster
from shoal.cluster.kmeans._settings import METHODS
from shoal.data import write_table
from shoal.domain import Box
from shoal.errors import NoGroupsDetected

FITS = 24
MOST = 3  # of so many, each wrong once in 1,000: P[over 3 of 24] < 2e-8
NOBODY = np.zeros((0, 2))


def groups(n, k=3, d=2, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.uniform(0.15, 0.85, (k, d))
    return np.clip(rng.normal(centers[np.arange(n) % k], 0.05), 0, 1)


def untold(make, X, fits=FITS):
    """How many fits say that no group can be distinguished from noise."""
    said = 0
    for seed in range(fits):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            model = make(seed).fit(X)
        warned = [each for each in heard if each.category is NoGroupsDetected]
        assert bool(warned) == (not model.is_certain_.any())
        said += bool(warned)
    return said


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
def test_no_group_of_nobody_is_told_by_k_means(method, epsilon):
    def make(seed):
        return PrivateKMeans(
            3, epsilon=epsilon, domain=Box.unit(2), method=method, random_state=seed
        )

    assert untold(make, NOBODY, 12) >= 12 - MOST


@pytest.mark.parametrize(
    "settings",
    [{}, {"selector": "persistence"}, {"selector": "percentile"}, {"cells": 48},
     {"variant": "privqt"}, {"variant": "baseline"}],
    ids=["auto", "persistence", "percentile", "48 cells", "privqt", "baseline"],
)  # fmt: skip
def test_no_group_of_nobody_is_told_by_waves(settings):
    def make(seed):
        return WaveCluster(epsilon=0.5, domain=Box.unit(2), random_state=seed, **settings)

    assert untold(make, NOBODY) >= FITS - MOST


@pytest.mark.parametrize("n", [200, 5_000])
def test_groups_of_somebody_are_told(n):
    box = Box.unit(2)
    assert untold(lambda s: PrivateKMeans(3, epsilon=1, domain=box, random_state=s), groups(n)) == 0
    assert untold(lambda s: WaveCluster(epsilon=1, domain=box, random_state=s), groups(n)) == 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("d", [1, 2, 8])
def test_sizes_add_up_to_the_number_of_rows(method, d):
    X, box = groups(2_000, d=d), Box.unit(d)
    model = PrivateKMeans(4, epsilon=1, domain=box, method=method, random_state=3).fit(X)
    assert model.cluster_sizes_.sum() == pytest.approx(model.n_rows_)
    assert (model.cluster_sizes_ >= 0).all()
    if model.synopsis_ is not None:
        assert model.synopsis_.n_rows_ == model.n_rows_


def test_both_counts_together_are_nearer_than_either():
    X, box = groups(2_000), Box.unit(2)
    fits = [PrivateKMeans(3, epsilon=1, domain=box, random_state=s).fit(X) for s in range(20)]
    off = np.array([fit.n_rows_ - 2_000 for fit in fits])
    assert np.sqrt(np.mean(off**2)) < 0.6 * np.sqrt(2) / 0.03  # of the first count alone
    assert np.mean([abs(o) <= fit.n_rows_within_ for o, fit in zip(off, fits, strict=True)]) > 0.6


@pytest.mark.parametrize(
    "make",
    [lambda: PrivateKMeans(3, epsilon=1, domain=Box.unit(2), random_state=1),
     lambda: WaveCluster(epsilon=1, domain=Box.unit(2), random_state=1)],
    ids=["k-means", "waves"],
)  # fmt: skip
def test_the_verdict_is_kept_with_the_model(make, tmp_path):
    model = make().fit(groups(3_000))
    model.save(tmp_path / "model")
    again = shoal.load_model(tmp_path / "model")
    for name in ("is_certain_", "noise_sizes_", "rows_detected_", "n_rows_", "n_rows_within_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    np.testing.assert_array_equal(again.cluster_sizes_, model.cluster_sizes_)


BOUNDS = "version: 1\ncolumns: {age: {low: 0, high: 110}, visits: {low: 0, high: 20}}\n"
LEFT_OUT, MOVED = 8_317, 7_193  # numbers that are found nowhere by chance


@pytest.fixture
def odd_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = groups(20_000)
    age, visits = 110 * X[:, 0], 20 * X[:, 1]
    age[:LEFT_OUT] = np.nan
    visits[-MOVED:] = 99.0
    write_table(pa.table({"age": age, "visits": visits}), tmp_path / "visits.csv")
    Path("visits.yaml").write_text(BOUNDS)


def shoal_cluster(*words):
    known = ("visits.csv", "--epsilon", "1", "--domain", "visits.yaml", "--drop", "--seed", "6")
    return CliRunner().invoke(app, ["cluster", *known, *words])


@pytest.mark.usefixtures("odd_rows")
@pytest.mark.parametrize("method", [("-k", "3"), ("--method", "wave")], ids=["k-means", "waves"])
def test_how_many_rows_were_left_out_or_moved_is_nowhere_but_with_the_holder(method):
    method = (*method, "--accept-clipping")
    shown = shoal_cluster(*method, "--curator", "mine.html")
    assert shown.exit_code == 0, shown.output
    told = shoal_cluster(*method, "-o", "other", "--json")
    public = [shown.output, told.output, *(p.read_text() for p in Path("model").iterdir()
                                           if p.suffix in (".json", ".html", ".csv"))]  # fmt: skip
    for count in (LEFT_OUT, MOVED):
        for text in public:
            plain = re.sub(r"\b[0-9a-f]{64}\b", "", text)
            assert not re.search(rf"(?<![\d.]){count}\b|\b{count:,}\b", plain)
    mine = Path("mine.html")
    assert f"{LEFT_OUT:,} without a number" in mine.read_text()
    assert f"{MOVED:,} outside the bounds" in mine.read_text()
    assert stat.S_IMODE(os.stat(mine).st_mode) == 0o600


@pytest.mark.usefixtures("odd_rows")
def test_a_page_for_the_holder_never_lies_in_the_folder_that_is_published():
    shown = shoal_cluster("-k", "3", "--curator", "model/mine.html")
    assert shown.exit_code == 2
    assert not Path("model").exists()


def test_decimal_commas_are_a_table_of_nobody_and_that_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = "".join(f'"{20 + i % 50},5","3,{i % 10}"\n' for i in range(2_000))
    Path("visits.csv").write_text(f"age,visits\n{lines}")
    Path("visits.yaml").write_text(BOUNDS)
    shown = shoal_cluster("-k", "3")
    assert shown.exit_code == 1  # a finding
    assert "No group can be distinguished" in " ".join(shown.output.split())
    assert "in 3 groups" not in " ".join(shown.output.split())
    told = json.loads(shoal_cluster("-k", "3", "--json", "-o", "other").output)
    assert (told["certain_groups"], told["rows_detected"]) == (0, False)
    assert "No group can be distinguished" in Path("other/report-simulation.html").read_text()
    assert shoal.load_model("other").is_certain_.tolist() == [False] * 3
