"""A run that is killed has lost nothing: started again it pays nothing and draws nothing anew."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.privacy import Ledger, PureDP
from shoal.privacy._journal import unpack_arrays

# One process imports everything and forks for each run: a start takes milliseconds, not a second.
STARTER = """
import json, os, signal, sys
import duckdb, numpy, pyarrow.csv, pyarrow.ipc, pyarrow.parquet, rich.text, sklearn.cluster, yaml
import shoal.cli._main, shoal.pages.groups, shoal.pages._write_page
import shoal.cluster, shoal.perturb.report_draft
from shoal.cli.start import main
from shoal.privacy._entry_store import FileStore


def kill_after_releases(number):
    def counted(work):
        def call(*arguments):
            nonlocal number
            work(*arguments)
            number -= 1
            if number == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return call
    FileStore.append = counted(FileStore.append)
    FileStore.add_record = counted(FileStore.add_record)


for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        sys.argv = ["shoal", *asked["arguments"]]
        os.chdir(asked["folder"])
        out = os.open("out.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1), os.dup2(out, 2)
        signal.setitimer(signal.ITIMER_REAL, asked["seconds"])  # nobody handles it: it kills
        kill_after_releases(asked["releases"])
        code = 0
        try:
            main()
        except SystemExit as error:
            code = error.code or 0
        sys.stdout.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
ROWS = 200_000
DOMAIN = "version: 1\ncolumns: {x: {low: 0, high: 1}, y: {low: 0, high: 1}}\n"
CLUSTER = ["cluster", "rows.parquet", "-k", "4", "--epsilon", "1", "--domain", "box.yaml"]
WAVES = ["cluster", "rows.parquet", "--method", "wave", "--epsilon", "1", "--domain", "box.yaml"]
REPORTS = ["perturb", "rows.parquet", "--epsilon", "9", "--domain", "box.yaml", "--keep-order"]


class Runs:
    """Starts commands in a folder, and kills them."""

    def __init__(self) -> None:
        self.folder = Path()
        self._starter = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", STARTER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, arguments: list[str], *, seconds: float = 0, releases: int = 0) -> int:
        """The exit code, negative if killed: after so many seconds, or so many releases."""
        asked = {"arguments": arguments, "seconds": seconds, "releases": releases}
        asked["folder"] = str(self.folder)
        self._starter.stdin.write(json.dumps(asked) + "\n")
        self._starter.stdin.flush()
        return int(self._starter.stdout.readline())

    @property
    def output(self) -> str:
        return (self.folder / "out.txt").read_text()

    def end(self) -> None:
        self._starter.communicate()


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Four groups, and who each row belongs to: two rows each."""
    rng = np.random.default_rng(5)
    centers = rng.uniform(0.2, 0.8, (4, 2))
    points = np.clip(centers[rng.integers(4, size=ROWS)] + rng.normal(0, 0.05, (ROWS, 2)), 0, 1)
    table = pa.table({"x": points[:, 0], "y": points[:, 1], "who": np.arange(ROWS) // 2})
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    pq.write_table(table, path, row_group_size=25_000)
    return path


@pytest.fixture(scope="module")
def starter():
    runs = Runs()
    yield runs
    runs.end()


@pytest.fixture
def runs(starter, tmp_path, rows):
    (tmp_path / "rows.parquet").symlink_to(rows)
    (tmp_path / "box.yaml").write_text(DOMAIN)
    starter.folder = tmp_path
    return starter


def duration_of(runs, arguments):
    assert runs.run(["--help"]) == 0
    began = time.monotonic()
    assert runs.run([*arguments, "-o", f"first-{arguments[0]}.parquet"]) == 0, runs.output
    return time.monotonic() - began


def released(ledger):
    """What the ledger keeps of unfinished runs."""
    query = "SELECT run, number, part, what, content FROM released ORDER BY run, number, part"
    with closing(sqlite3.connect(ledger)) as db:
        try:
            return db.execute(query).fetchall()
        except sqlite3.OperationalError:  # nothing was ever kept
            return []


def kill_over_and_over(runs, arguments, seen, done, longest, rng, kills):
    """Kill the same run again and again, then let it end; what was seen must stay as it was."""
    kept, killed = {}, 0
    for _ in range(kills):
        killed += runs.run([*arguments, "--overwrite"], seconds=rng.uniform(0.001, longest)) < 0
        if done():  # it was faster
            return kept, killed
        for name, content in seen().items():
            assert kept.setdefault(name, content) == content
    assert runs.run([*arguments, "--overwrite"]) == 0, runs.output
    assert done()
    return kept, killed


def is_done(ledger, output):
    """Whether a run came to its end: what it made is there, and the ledger keeps nothing of it."""
    return output.exists() and Ledger(ledger).unfinished() == []


def check_cluster(runs, arguments, rng, kills):
    longest, killed = duration_of(runs, arguments), 0
    number = 0
    while killed < kills:
        number += 1
        ledger = runs.folder / f"groups{number}.ledger"
        asked = [*arguments, "--ledger", ledger.name, "-o", f"model{number}"]

        def seen(ledger=ledger):
            return {row[:3]: row[3:] for row in released(ledger)} if ledger.exists() else {}

        done = partial(is_done, ledger, runs.folder / f"model{number}" / "model.json")
        killed += kill_over_and_over(runs, asked, seen, done, longest, rng, 3)[1]
        assert len(Ledger(ledger).entries()) == 2  # the check of the bounds, and all else
        assert released(ledger) == []


def check_perturb(runs, arguments, rng, kills):
    longest, killed = duration_of(runs, arguments), 0
    number = 0
    while killed < kills:
        number += 1
        ledger, output = f"reports{number}.ledger", f"noisy{number}.parquet"
        draft = runs.folder / f".{output}.draft"

        def seen(draft=draft):
            return {path.name: path.read_bytes() for path in draft.glob("block-*.arrow")}

        asked = [*arguments, "--ledger", ledger, "-o", output]
        done = partial(is_done, runs.folder / ledger, runs.folder / output)
        kept, more = kill_over_and_over(runs, asked, seen, done, longest, rng, 3)
        killed += more
        assert len(Ledger(runs.folder / ledger).entries()) == 1
        assert not draft.exists()
        whole = pq.read_table(runs.folder / output)
        for name in kept:  # each block stands in the output as it was first drawn
            block = pa.ipc.open_file(pa.py_buffer(kept[name])).read_all()
            place = int(name.removeprefix("block-").removesuffix(".arrow"))
            assert_stands_in(whole, block, place)


def assert_stands_in(whole, block, place):
    first = np.asarray(block.column(0))
    column = np.asarray(whole["x"])
    starts = np.flatnonzero(column == first[0])
    assert any(np.array_equal(column[s : s + len(first)], first) for s in starts), place


@pytest.mark.parametrize("arguments", [CLUSTER, WAVES], ids=["kmeans", "wave"])
def test_a_clustering_killed_at_any_moment_is_paid_once_and_never_drawn_again(runs, arguments):
    check_cluster(runs, arguments, random.Random(11), kills=6)


@pytest.mark.parametrize("person", [[], ["--person", "who"]], ids=["rows", "people"])
def test_reports_killed_at_any_moment_are_paid_once_and_drawn_once(runs, person):
    check_perturb(runs, [*REPORTS, *person], random.Random(12), kills=6)


@pytest.mark.slow
def test_sixty_kills_lose_no_budget_and_draw_nothing_twice(runs):
    check_cluster(runs, CLUSTER, random.Random(21), kills=30)
    check_perturb(runs, REPORTS, random.Random(22), kills=30)


def test_a_run_killed_right_after_each_of_its_releases_goes_on_from_there(runs):
    asked = [*CLUSTER, "--ledger", "a.ledger", "-o", "model"]
    kept = []
    for _ in range(20):
        code = runs.run(asked, releases=1)
        if code == 0:
            break
        assert code == -signal.SIGKILL
        assert released(runs.folder / "a.ledger")[:-1] == kept
        kept = released(runs.folder / "a.ledger")
    assert code == 0, runs.output
    assert len(kept) >= 4  # rows, two levels of cells, a radius, means
    assert "not paid for again" in " ".join(runs.output.split())
    assert Ledger(runs.folder / "a.ledger").entries()["epsilon"].to_pylist() == ["0.03", "0.97"]


def test_a_run_on_a_table_that_changed_is_a_new_payment(runs, rows):
    table = runs.folder / "own.parquet"
    table.write_bytes(rows.read_bytes())
    asked = ["cluster", "own.parquet", *CLUSTER[2:], "--ledger", "a.ledger", "-o", "model"]
    assert runs.run(asked, releases=2) == -signal.SIGKILL
    os.utime(table, ns=(1, 1))
    assert runs.run(asked) == 0
    assert len(Ledger(runs.folder / "a.ledger").entries()) == 4


def test_another_setting_is_another_run_and_pays(runs):
    asked = [*CLUSTER, "--ledger", "a.ledger", "-o", "model", "--overwrite"]
    assert runs.run(asked, releases=2) == -signal.SIGKILL
    other = ["5" if word == "4" else word for word in asked]
    assert runs.run(other) == 0
    assert len(Ledger(runs.folder / "a.ledger").entries()) == 4
    assert runs.run(asked) == 0
    assert "not paid for again" in " ".join(runs.output.split())
    assert len(Ledger(runs.folder / "a.ledger").entries()) == 4


def test_a_run_killed_after_the_check_of_its_bounds_pays_the_rest_alone(runs):
    asked = [*CLUSTER, "--ledger", "a.ledger", "-o", "model"]
    assert runs.run(asked, releases=1) == -signal.SIGKILL
    assert Ledger(runs.folder / "a.ledger").entries()["epsilon"].to_pylist() == ["0.03"]
    assert runs.run(asked) == 0
    assert Ledger(runs.folder / "a.ledger").entries()["epsilon"].to_pylist() == ["0.03", "0.97"]


def test_a_run_that_its_bounds_stopped_goes_on_where_clipping_is_accepted(runs):
    bounds = "version: 1\ncolumns: {x: {low: 900, high: 901}, y: {low: 900, high: 901}}\n"
    (runs.folder / "far.yaml").write_text(bounds)
    known = ["--epsilon", "1", "--domain", "far.yaml", "--ledger", "a.ledger", "-o", "model"]
    asked = ["cluster", CLUSTER[1], "-k", "2", *known]
    spent = []
    for _ in range(2):  # told again for nothing
        assert runs.run(asked) == 2, runs.output
        assert "BoundsMissTheRows" in runs.output
        spent.append(Ledger(runs.folder / "a.ledger").totals())
    assert spent[0] == spent[1]
    assert runs.run([*asked, "--accept-clipping"]) == 0, runs.output
    assert "Bounds" in runs.output
    assert Ledger(runs.folder / "a.ledger").totals() == [PureDP(1)]


def test_reports_whose_draft_is_gone_are_a_new_payment(runs):
    asked = [*REPORTS, "--ledger", "a.ledger", "-o", "noisy.parquet"]
    assert runs.run(asked, releases=1) == -signal.SIGKILL
    (draft,) = runs.folder.glob(".noisy.parquet.draft")
    shutil.rmtree(draft)
    assert runs.run(asked) == 0
    assert len(Ledger(runs.folder / "a.ledger").entries()) == 2
    assert Ledger(runs.folder / "a.ledger").unfinished() == []


def test_the_journal_holds_released_values_and_no_key_seed_or_row(runs):
    asked = [*CLUSTER, "--ledger", "a.ledger", "-o", "model"]
    assert runs.run(asked, releases=2) == -signal.SIGKILL
    with closing(sqlite3.connect(runs.folder / "a.ledger")) as db:
        columns = [row[1] for row in db.execute("PRAGMA table_info(released)")]
        runs_of = [row[1] for row in db.execute("PRAGMA table_info(runs)")]
    assert columns == ["run", "number", "part", "what", "content"]
    assert runs_of == ["name", "work", "at", "by", "compute_seed"]  # no promise rests on the last
    contents = [unpack_arrays(row[4]) for row in released(runs.folder / "a.ledger")]
    assert [len(arrays) for arrays in contents] == [1, 1]
    assert contents[0][0].shape == (2,)  # the noisy number of rows inside, and outside
    assert abs(int(contents[0][0].sum()) - ROWS) < 2_000
