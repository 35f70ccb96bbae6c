"""The ledger: adds up, refuses, and is itself wherever it goes."""

import copy
import json
import os
import pickle
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone

from shoal.errors import (
    BudgetExceeded,
    InvalidSetting,
    LedgerLocked,
    LedgerNotWritable,
    LimitMismatch,
    NotALedger,
)
from shoal.mechanisms import Geometric
from shoal.privacy import KAnonymity, Ledger, LocalDP, MetricDP, PureDP, sqlite_file
from shoal.randomness import Randomness


def spend(ledger: Ledger, epsilon: object, by: str = "test", *, seed: int | None = None) -> None:
    page = ledger.open(PureDP(epsilon), by=by)
    page.release(Geometric(page.budget), 1, Randomness(seed).noise, of="a count")


@dataclass
class Report:
    """A mechanism of any promise."""

    guarantee: object

    def release(self, value, rng):
        return value


class Estimator(BaseEstimator):
    """The least an estimator needs to pay through a ledger."""

    def __init__(self, epsilon=0.5, ledger=None):
        self.epsilon = epsilon
        self.ledger = ledger

    def fit(self, X=None, y=None):
        spend(Ledger.of(self.ledger), self.epsilon)
        return self


@pytest.fixture(params=["private", "file"])
def ledger(request, tmp_path):
    return Ledger(None if request.param == "private" else tmp_path / "ledger.sqlite")


def test_three_clones_at_a_half_record_one_and_a_half(ledger):
    estimator = Estimator(0.5, ledger)
    for _ in range(3):
        clone(estimator).fit()
    assert ledger.totals() == [PureDP(1.5)]
    assert ledger.entries().num_rows == 3


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_a_copy_writes_to_the_same_ledger(ledger, again):
    spend(ledger, 1)
    spend(again(ledger), 1)
    assert ledger.totals() == [PureDP(2)]


@pytest.mark.heavy
def test_fits_in_other_processes_are_recorded(ledger):
    fits = [delayed(Estimator(0.25, ledger).fit)() for _ in range(4)]
    Parallel(n_jobs=2)(fits)
    assert ledger.totals() == [PureDP(1)]


@pytest.mark.heavy
def test_a_forked_child_records_in_the_parents_ledger(ledger):
    process = get_context("fork").Process(target=spend, args=(ledger, 1))
    process.start()
    process.join()
    assert ledger.totals() == [PureDP(1)]


def test_a_private_ledger_that_travels_is_for_its_owner_only(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ledger = Ledger()
    spend(ledger, 1)
    assert ledger.path is None
    pickle.dumps(ledger)
    assert stat.S_IMODE(ledger.path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    assert ledger.totals() == [PureDP(1)]


@pytest.mark.heavy
def test_a_temporary_ledger_is_removed_when_its_owner_ends(tmp_path):
    code = "import pickle, shoal; ledger = shoal.Ledger(); pickle.dumps(ledger); print(ledger.path)"
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip().startswith(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_kinds_are_kept_apart(ledger):
    spend(ledger, 1)
    spend(ledger, 1)
    for promise in (PureDP(3, "replace-one"), PureDP(4, rows=2)):
        page = ledger.open(promise, by="test")
        page.release(Geometric(page.budget), 1, Randomness().noise, of="a count")
    assert ledger.totals() == [PureDP(2), PureDP(3, "replace-one"), PureDP(4, rows=2)]


def test_a_simulation_is_totalled_apart_and_real_spends_stay_real(ledger):
    for epsilon, seed in (("0.25", 7), ("0.5", None), (1, 8), ("1/3", None)):
        spend(ledger, epsilon, seed=seed)
    assert ledger.totals() == [PureDP("5/6"), PureDP("1.25", simulation=True)]
    assert ledger.entries().column("total").to_pylist() == ["0.25", "0.75", "1.75", "25/12"]


def test_a_limit_binds_real_and_simulated_spends_together(ledger):
    ledger.set_limit(PureDP(1))
    spend(ledger, "0.6", seed=7)
    spend(ledger, "0.4")
    with pytest.raises(
        BudgetExceeded,
        match=r"; PureDP\(epsilon=1\) of PureDP\(epsilon=1\) is spent, simulations in",
    ):
        spend(ledger, "0.1")
    assert ledger.totals() == [PureDP("0.4"), PureDP("0.6", simulation=True)]


def test_a_kind_the_limit_does_not_name_is_refused(ledger):
    ledger.set_limit(PureDP(1))
    with pytest.raises(BudgetExceeded, match="covers no promise"):
        ledger.open(LocalDP(0.1), by="test")
    ledger.set_limit([PureDP(1), LocalDP(1)])
    ledger.open(LocalDP(0.1), by="test")


def test_a_limit_without_slack_allows_a_little_of_it(ledger):
    ledger.set_limit(MetricDP(2))
    for _ in range(2):
        page = ledger.open(MetricDP(1, slack="0.005"), by="test")
        page.release(Report(page.budget), 1, Randomness().noise, of="reports")
    assert ledger.totals() == [MetricDP(2, slack="0.01")]
    ledger.set_limit(MetricDP(9))
    with pytest.raises(BudgetExceeded):
        ledger.open(MetricDP("0.1", slack="0.001"), by="test")
    ledger.set_limit(MetricDP(9, slack=1))
    ledger.open(MetricDP("0.1", slack="0.001"), by="test")


def test_the_last_drop_can_be_spent(ledger):
    ledger.set_limit(PureDP(1))
    for _ in range(10):
        spend(ledger, 0.1)
    with pytest.raises(
        BudgetExceeded, match=r"PureDP\(epsilon=1\) of PureDP\(epsilon=1\) is spent"
    ):
        spend(ledger, 0.001)


def test_a_limit_is_stored_and_must_be_met_again(tmp_path):
    path = tmp_path / "ledger.sqlite"
    Ledger(path, limit=PureDP(3))
    assert Ledger(path).limits == (PureDP(3),)
    Ledger(path, limit=PureDP(3))
    with pytest.raises(LimitMismatch, match=r"epsilon=3.*epsilon=4"):
        Ledger(path, limit=PureDP(4))


def test_a_limit_cannot_be_slipped_onto_a_ledger_in_use(tmp_path):
    spend(Ledger(tmp_path / "ledger.sqlite"), 1)
    with pytest.raises(LimitMismatch, match="limit is none"):
        Ledger(tmp_path / "ledger.sqlite", limit=PureDP(4))


@pytest.mark.parametrize("limit", [3, "3", [], [3], [PureDP(1), PureDP(2)]])
def test_a_limit_that_is_no_guarantee_is_refused(limit):
    with pytest.raises(InvalidSetting):
        Ledger(limit=limit)


@pytest.mark.parametrize("other", [5, b"ledger.sqlite", PureDP(1)])
def test_something_else_as_a_ledger_is_refused(other):
    with pytest.raises(InvalidSetting, match="ledger must be a"):
        Ledger.of(other)


@pytest.mark.parametrize("kind", [str, Path])
def test_the_path_of_a_file_is_the_ledger_in_it(tmp_path, kind):
    path = tmp_path / "table.ledger"
    spend(Ledger(path), 0.5)
    spend(Ledger.of(kind(path)), 1)
    assert Ledger.of(kind(path)).path == path
    assert Ledger(path).totals() == [PureDP(1.5)]


def test_entries_say_who_what_when_and_how_much(ledger):
    spend(ledger, 0.5)
    (entry,) = ledger.entries().to_pylist()
    assert (entry["by"], entry["what"]) == ("test", "a count")
    assert (entry["epsilon"], entry["total"], entry["simulation"]) == ("0.5", "0.5", False)
    assert abs(entry["at"].timestamp() - time.time()) < 60


def test_entries_can_be_added_but_not_changed(tmp_path):
    spend(Ledger(tmp_path / "ledger.sqlite"), 1)
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as db, db:
        for statement in ("UPDATE entries SET by = 'x'", "DELETE FROM entries"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                db.execute(statement)


@pytest.mark.parametrize("content", [b"", b"not a database at all, but long enough" * 50])
def test_a_file_that_is_not_ours_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(NotALedger, match=r"notes\.txt"):
        Ledger(path)
    assert path.read_bytes() == content


def test_another_programs_database_is_refused(tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.db")) as db, db:
        db.execute("CREATE TABLE entries (id INTEGER)")
    with pytest.raises(NotALedger):
        Ledger(tmp_path / "other.db")


def test_a_ledger_of_a_later_format_is_refused(tmp_path):
    Ledger(tmp_path / "ledger.sqlite")
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as db, db:
        db.execute("PRAGMA user_version = 9")
    with pytest.raises(NotALedger, match="format 9"):
        Ledger(tmp_path / "ledger.sqlite")


OLD_FORMAT = """
CREATE TABLE entries (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, by TEXT NOT NULL, what TEXT NOT NULL,
    kind TEXT NOT NULL, guarantee TEXT NOT NULL, total TEXT NOT NULL);
CREATE INDEX entries_by_kind ON entries (kind, id);
CREATE TABLE limits (guarantee TEXT NOT NULL);
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
    BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entries
    BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
PRAGMA application_id = 1936224097;
PRAGMA user_version = 1;
INSERT INTO limits VALUES
    ('{"kind": "PureDP", "simulation": false, "epsilon": "3", "neighbours": "add-remove", "rows": 1}'),
    ('{"kind": "LocalDP", "simulation": false, "epsilon": "2"}');
INSERT INTO entries VALUES
    (1, '2026-01-17T05:34:08+00:00', 'PrivateKMeans', 'number of rows', '["PureDP", "add-remove", 1]',
     '{"kind": "PureDP", "simulation": false, "epsilon": "0.5", "neighbours": "add-remove", "rows": 1}',
     '{"kind": "PureDP", "simulation": false, "epsilon": "0.5", "neighbours": "add-remove", "rows": 1}'),
    (2, '2026-01-17T05:34:09+00:00', 'WaveCluster', 'number of rows', '["PureDP", "add-remove", 1]',
     '{"kind": "PureDP", "simulation": true, "epsilon": "0.25", "neighbours": "add-remove", "rows": 1}',
     '{"kind": "PureDP", "simulation": true, "epsilon": "0.75", "neighbours": "add-remove", "rows": 1}'),
    (3, '2026-01-17T05:34:10+00:00', 'UniformGrid', 'cell counts', '["PureDP", "add-remove", 1]',
     '{"kind": "PureDP", "simulation": false, "epsilon": "1/3", "neighbours": "add-remove", "rows": 1}',
     '{"kind": "PureDP", "simulation": true, "epsilon": "13/12", "neighbours": "add-remove", "rows": 1}'),
    (4, '2026-01-17T05:34:11+00:00', 'Perturb', 'reports', '["LocalDP"]',
     '{"kind": "LocalDP", "simulation": false, "epsilon": "1"}',
     '{"kind": "LocalDP", "simulation": false, "epsilon": "1"}'),
    (5, '2026-01-17T05:34:12+00:00', 'anonymize', 'table', '["KAnonymity", 5, null, null, null]',
     '{"kind": "KAnonymity", "simulation": false, "k": 5, "entity": null, "l": null, "t": null}',
     '{"kind": "KAnonymity", "simulation": false, "k": 5, "entity": null, "l": null, "t": null}');
"""  # noqa: E501 - as it was written
"""What version 0.1.0 wrote before totals were kept apart, statement by statement."""


def test_a_ledger_of_the_first_version_is_read_and_continued(tmp_path):
    path = tmp_path / "old.ledger"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(OLD_FORMAT)
    ledger = Ledger(path)
    assert ledger.limits == (PureDP(3), LocalDP(2))
    real = [PureDP("5/6"), LocalDP(1), KAnonymity(5)]
    assert ledger.totals() == [*real, PureDP("0.25", simulation=True)]
    assert ledger.entries().column("what").to_pylist()[:3] == ["number of rows"] * 2 + [
        "cell counts"
    ]
    spend(ledger, "23/12")  # up to the limit: 13/12 are spent, simulations included
    with pytest.raises(BudgetExceeded):
        spend(ledger, "0.01")


def test_what_is_written_now_the_first_version_reads(tmp_path):
    """It took the total of a kind from the last entry's, and refused any other format."""
    path = tmp_path / "new.ledger"
    spend(Ledger(path), 1, seed=7)
    spend(Ledger(path), "0.5")
    with closing(sqlite3.connect(path)) as db:
        (total,) = db.execute("SELECT total FROM entries ORDER BY id DESC LIMIT 1").fetchone()
        assert json.loads(total)["epsilon"] == "1.5"
        assert db.execute("PRAGMA user_version").fetchone() == (1,)


def test_a_missing_folder_is_named_an_error(tmp_path):
    with pytest.raises(LedgerNotWritable, match="folder exists"):
        Ledger(tmp_path / "nowhere" / "ledger.sqlite")


def test_a_ledger_that_vanished_is_not_made_anew(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    (tmp_path / "ledger.sqlite").unlink()
    with pytest.raises(LedgerNotWritable):
        spend(ledger, 1)
    assert not (tmp_path / "ledger.sqlite").exists()


@pytest.mark.heavy
def test_a_ledger_held_by_another_process_is_waited_for_then_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_file, "TIMEOUT_SECONDS", 0.2)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)) as other, other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerLocked, match="Nothing was spent"):
            spend(ledger, 1)
        other.execute("ROLLBACK")
    spend(ledger, 1)
    assert ledger.totals() == [PureDP(1)]


def test_a_read_only_ledger_spends_nothing(tmp_path, monkeypatch):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    connect = sqlite3.connect
    read_only = lambda where, **kw: connect(where.replace("mode=rw", "mode=ro"), **kw)  # noqa: E731
    monkeypatch.setattr(sqlite3, "connect", read_only)
    with pytest.raises(LedgerNotWritable, match="Nothing was spent"):
        spend(ledger, 1)
    monkeypatch.undo()
    assert ledger.totals() == []


def test_a_ledger_in_a_read_only_folder_can_be_read(tmp_path, monkeypatch):
    spend(Ledger(tmp_path / "ledger.sqlite"), 1)
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert Ledger(tmp_path / "ledger.sqlite").totals() == [PureDP(1)]
    assert sorted(tmp_path.iterdir()) == before


def test_a_full_disk_spends_nothing(tmp_path, monkeypatch):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    connect = sqlite_file.SqliteFile._connect

    def nearly_full(self, real, write):
        db = connect(self, real, write)
        db.execute("PRAGMA max_page_count = 1")  # SQLite's own way to run out of room
        return db

    page = ledger.open(PureDP(1), by="x" * 100_000)
    monkeypatch.setattr(sqlite_file.SqliteFile, "_connect", nearly_full)
    with pytest.raises(LedgerNotWritable, match="No room"):
        page.release(Geometric(page.budget), 1, Randomness().noise, of="a count")
    monkeypatch.undo()
    assert ledger.totals() == []


def _spend_often(path: Path, times: int) -> int:
    ledger, done = Ledger(path), 0
    for _ in range(times):
        try:
            spend(ledger, "0.001")
            done += 1
        except BudgetExceeded:
            pass
    return done


@pytest.mark.heavy
def test_eight_processes_never_exceed_a_limit_and_lose_nothing(tmp_path):
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path, limit=PureDP(1))
    with get_context("fork").Pool(8) as pool:
        done = pool.starmap(_spend_often, [(path, 150)] * 8)
    assert sum(done) == 1000  # 8 x 150 were tried
    assert ledger.totals() == [PureDP(1)]
    assert ledger.entries().num_rows == 1000


_SPENDER = """
import sys
from shoal import Ledger, PureDP, Randomness
from shoal.mechanisms import Geometric
ledger = Ledger(sys.argv[1])
while True:
    page = ledger.open(PureDP("0.001"), by="test")
    page.release(Geometric(page.budget), 1, Randomness().noise, of="a count")
    print("released", flush=True)
"""


@pytest.mark.heavy
def test_a_killed_process_leaves_a_readable_ledger_that_never_under_counts(tmp_path):
    path = tmp_path / "ledger.sqlite"
    released = 0
    for _ in range(5):
        process = subprocess.Popen(
            [sys.executable, "-c", _SPENDER, str(path)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(20):
            process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        released += 20 + process.stdout.read().count("released\n")
        process.wait()
        process.stdout.close()
        written = Ledger(path).entries().num_rows
        assert released <= written
        assert written <= released + 5  # at most the one in the air, for each process killed
        assert Ledger(path).totals() == [PureDP("0.001") * written]


@pytest.mark.heavy
def test_forks_beside_a_busy_thread_lose_nothing_and_hang_nobody(ledger):
    """SQLite must not be in the middle of a call when the process forks."""
    done, stop = set(), threading.Event()

    def keep_spending():
        while not stop.is_set():
            name = f"thread {len(done)}"
            spend(ledger, "0.001", name)
            done.add(name)

    thread = threading.Thread(target=keep_spending)
    thread.start()
    children = {}
    for i in range(15):
        if (child := os.fork()) == 0:
            spend(ledger, "0.001", f"child {i}")
            os._exit(0)
        children[child] = f"child {i}"
    ended = [_ends_well(child) for child in children]  # all of them, so that none is left behind
    stop.set()
    thread.join()
    assert all(ended)
    done |= set(children.values())
    assert done <= set(ledger.entries().column("by").to_pylist())


def _ends_well(child: int) -> bool:
    for _ in range(3_000):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


@pytest.mark.heavy
def test_a_private_ledger_moves_to_one_file_and_loses_nothing_on_the_way():
    for _ in range(10):
        ledger = Ledger()
        with ThreadPoolExecutor(6) as pool:
            spending = [pool.submit(spend, ledger, 1) for _ in range(10)]
            paths = [pool.submit(pickle.dumps, ledger) for _ in range(3)]
        assert len({path.result() for path in paths}) == 1
        assert [each.result() for each in spending] == [None] * 10
        assert ledger.totals() == [PureDP(10)]


@pytest.mark.heavy
def test_a_private_ledger_that_cannot_be_shared_refuses_in_the_fork(tmp_path, monkeypatch):
    """Python forks even if a hook before it fails: the child must not count for itself."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: None)
    ledger = Ledger()
    if (child := os.fork()) == 0:
        try:
            spend(ledger, 1)
        except LedgerNotWritable:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    spend(ledger, 1)


def test_a_pickled_ledger_whose_file_is_gone_is_not_made_anew(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite", limit=PureDP(1))
    ticket = pickle.dumps(ledger)
    ledger.path.unlink()
    with pytest.raises(LedgerNotWritable, match="was removed"):
        pickle.loads(ticket)
    assert list(tmp_path.glob("*.sqlite")) == []


def test_a_relative_path_is_the_same_file_from_any_folder(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    ledger = Ledger("ledger.sqlite")
    Ledger("other/ledger.sqlite")
    monkeypatch.chdir(tmp_path / "other")
    spend(ledger, 1)
    assert Ledger(tmp_path / "ledger.sqlite").totals() == [PureDP(1)]


def _settled(path: Path, epsilon: int) -> bool:
    try:
        Ledger(path, limit=PureDP(epsilon))
    except LimitMismatch:
        return False
    return True


@pytest.mark.heavy
def test_two_limits_given_at_once_are_not_both_taken(tmp_path):
    with get_context("fork").Pool(4) as pool:
        for i in range(15):
            path = tmp_path / f"{i}.sqlite"
            taken = pool.starmap(_settled, [(path, 1), (path, 3)])
            assert sum(taken) == 1


def test_a_spend_is_on_the_disk_before_it_counts(tmp_path):
    Ledger(tmp_path / "ledger.sqlite")
    with sqlite_file.SqliteFile(tmp_path / "ledger.sqlite", ()).open() as db:
        assert db.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize("table", ["entries", "limits"])
@pytest.mark.parametrize("said", ["CANARY", "null", "[" * 50_000, '{"kind": "CANARY"}'])
def test_a_promise_that_cannot_be_read_makes_a_damaged_ledger(tmp_path, table, said):
    path = tmp_path / "ledger"
    spend(Ledger(path, limit=PureDP(5)), 1)
    db = sqlite3.connect(path)
    for trigger in ("entries_stay", "entries_remain"):
        db.execute(f"DROP TRIGGER {trigger}")
    db.execute(f"UPDATE {table} SET guarantee = ?", (said,))
    db.commit()
    db.close()
    looked_at = (lambda ledger: ledger.limits) if table == "limits" else Ledger.entries
    with pytest.raises(NotALedger, match="damaged") as caught:
        looked_at(Ledger(path))
    assert "CANARY" not in str(caught.value)


def test_a_damaged_ledger_is_said_to_be_damaged(tmp_path):
    path = tmp_path / "ledger.sqlite"
    spend(Ledger(path), 1)
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\x55" * (len(whole) - 4096))
    with pytest.raises(NotALedger, match="damaged"):
        Ledger(path).entries()


@pytest.mark.parametrize("call", [
    lambda: Ledger(PureDP(1)),
    lambda: Ledger(5),
    lambda: Ledger().open(1.0, by="test"),
    lambda: Ledger().open(None, by="test"),
])  # fmt: skip
def test_the_first_mistakes_of_a_newcomer_are_named(call):
    with pytest.raises(InvalidSetting, match="; got "):
        call()


def test_notebooks_show_entries_totals_and_the_limit():
    ledger = Ledger(limit=PureDP(3))
    page = ledger.open(PureDP(1), by="<me>", of="counts & more")
    page.release(Geometric(page.budget), np.array([1]), Randomness(1).noise, of="counts")
    shown = ledger._repr_html_()
    for text in ("&lt;me&gt;", "counts &amp; more", "PureDP(epsilon=1", "limit PureDP(epsilon=3)"):
        assert text in shown
    assert "nothing" in Ledger()._repr_html_()
