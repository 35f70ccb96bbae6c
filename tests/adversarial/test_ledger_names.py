"""One ledger under two names: whoever spends under both must not get more than its limit.

SQLite keeps locks and log beside a file's name. Each attack here spends under two names of one file
as fast as it can; 20 spends of 0.05 are what a limit of 1 allows.
"""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from shoal.errors import BudgetExceeded, LedgerError, UnsafeLedgerPlace
from shoal.mechanisms import Geometric
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness

ALLOWED, TRIES = 20, 40

SPENDS = """
import contextlib, json, os, signal, sqlite3, sys, time
from shoal.errors import ShoalError
from shoal.mechanisms import Geometric
from shoal.privacy import Ledger, PureDP, sqlite_file
from shoal.randomness import Randomness

def spend(path):
    page = Ledger(path).open(PureDP("0.05"), by="test")
    page.release(Geometric(page.budget), 1, Randomness().noise, of="a count")

def attempt(path):
    try:
        spend(path)
    except ShoalError as error:
        return type(error).__name__
    return "spent"
"""

BOTH = (
    SPENDS
    + """
names, tries = sys.argv[2:], int(sys.argv[1])
read, write = os.pipe()
children = []
for name in names:
    ours, theirs = os.pipe()
    if not (child := os.fork()):
        os.close(write)
        os.read(read, 1)  # until the parent lets all of them go at once
        told = [attempt(name) for _ in range(tries)]
        os.write(theirs, json.dumps(told).encode())
        os._exit(0)
    os.close(theirs)
    children.append((child, ours))
os.close(read)
os.close(write)
for child, ours in children:
    with open(ours, "rb") as told:
        print(told.read().decode())
    os.waitpid(child, 0)
"""
)

KILLED = (
    SPENDS
    + """
first, second, when, how, tries = *sys.argv[1:5], int(sys.argv[5])
read, write = os.pipe()
if not (child := os.fork()):
    if when == "before the commit":
        whole = sqlite_file.SqliteFile.open
        @contextlib.contextmanager
        def held(self, *, write=False):
            with whole(self, write=write) as db:
                yield db
                if write:
                    os.write(told, b"x")
                    time.sleep(600)
        told = write
        sqlite_file.SqliteFile.open = held
        spend(first)
    reader = sqlite3.connect(first)  # so that no close of a spend empties the log
    reader.execute("SELECT count(*) FROM entries").fetchall()
    for _ in range(20):
        attempt(first)
    os.write(write, b"x")
    time.sleep(600)
os.close(write)
assert os.read(read, 1)
if how == "linked":
    os.link(first, second)
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
print(json.dumps([attempt(second) for _ in range(tries)]))
"""
)


def run(code: str, *words: object, before: tuple[str, ...] = ()) -> list[Counter]:
    command = [*before, sys.executable, "-c", code, *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    return [Counter(json.loads(line)) for line in done.stdout.splitlines()]


@pytest.fixture
def path(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    path = tmp_path / "a" / "t.ledger"
    Ledger(path, limit=PureDP(1))
    return path


@pytest.fixture
def mounting(tmp_path):
    """A command that binds one path over another, for what runs after it alone."""
    for how in (["unshare", "-m"], ["unshare", "-rm"]):
        script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
        words = [*how, "sh", "-c", script, "sh"]
        for name in ("x", "y"):
            (tmp_path / name).touch()
        tried = [*words, str(tmp_path / "x"), str(tmp_path / "y"), "true"]
        if shutil.which("unshare") and not subprocess.run(tried, check=False).returncode:
            return lambda old, new: (*words, str(old), str(new))
    pytest.skip("mounts need root or user namespaces")


def spent(path: Path) -> int:
    return Ledger(path).entries().num_rows


def spend(ledger: Ledger) -> None:
    page = ledger.open(PureDP("0.05"), by="test")
    page.release(Geometric(page.budget), 1, Randomness().noise, of="a count")


def test_a_hard_link_is_refused_under_both_names_until_it_is_gone(path):
    link = path.parent.parent / "b" / "t.ledger"
    os.link(path, link)
    told = run(BOTH, TRIES, path, link)
    assert told == [{"UnsafeLedgerPlace": TRIES}] * 2
    link.unlink()
    assert run(BOTH, ALLOWED, path, path)[0].keys() <= {"spent", "BudgetExceeded"}
    assert spent(path) == ALLOWED
    assert Ledger(path).totals() == [PureDP(1)]


def test_a_file_mounted_over_another_name_is_refused_there(path, mounting):
    other = path.parent.parent / "b" / "t.ledger"
    other.touch()
    real, mounted = run(BOTH, TRIES, path, other, before=mounting(path, other))
    assert mounted == {"UnsafeLedgerPlace": TRIES}
    assert real == {"spent": ALLOWED, "BudgetExceeded": TRIES - ALLOWED}
    assert spent(path) == ALLOWED


def test_a_file_mounted_under_a_name_with_a_space_is_refused_there(tmp_path, path, mounting):
    other = tmp_path / "b" / "my\\040 t.ledger"
    other.touch()
    assert run(BOTH, 1, other, before=mounting(path, other)) == [{"UnsafeLedgerPlace": 1}]


def test_a_symlink_to_a_mounted_file_is_refused(tmp_path, path, mounting):
    other = tmp_path / "b" / "t.ledger"
    other.touch()
    (tmp_path / "link").symlink_to(other)
    told = run(BOTH, 1, tmp_path / "link", before=mounting(path, other))
    assert told == [{"UnsafeLedgerPlace": 1}]


def test_a_folder_mounted_twice_is_one_ledger(tmp_path, path, mounting):
    """What `docker -v folder:/data` makes: log and locks lie in the one real folder."""
    other = tmp_path / "b"
    told = run(BOTH, TRIES, path, other / path.name, before=mounting(path.parent, other))
    assert sum(told, Counter()) == {"spent": ALLOWED, "BudgetExceeded": 2 * TRIES - ALLOWED}
    assert spent(path) == ALLOWED


@pytest.mark.parametrize("to", ["absolute", "relative", "folder", "chain"])
def test_a_symlink_and_its_target_are_one_ledger(tmp_path, path, to):
    link = tmp_path / "b" / "other.ledger"
    if to == "absolute":
        link.symlink_to(path)
    elif to == "relative":
        link.symlink_to("../a/t.ledger")
    elif to == "chain":
        (tmp_path / "b" / "between").symlink_to("../a/t.ledger")
        link.symlink_to("between")
    else:
        (tmp_path / "b" / "folder").symlink_to("../a")
        link = tmp_path / "b" / "folder" / ".." / "a" / "t.ledger"
    told = run(BOTH, TRIES, path, link)
    assert sum(told, Counter()) == {"spent": ALLOWED, "BudgetExceeded": 2 * TRIES - ALLOWED}
    assert spent(path) == spent(link) == ALLOWED


WHEN = ["before the commit", "after the commit"]


@pytest.mark.parametrize("when", WHEN)
def test_a_kill_under_one_name_leaves_nothing_to_spend_under_a_hard_link(path, when):
    link = path.parent.parent / "b" / "t.ledger"
    told = run(KILLED, path, link, when, "linked", TRIES)
    assert told == [{"UnsafeLedgerPlace": TRIES}]


@pytest.mark.parametrize("when", WHEN)
def test_a_kill_under_one_name_leaves_nothing_to_spend_under_a_mounted_file(path, mounting, when):
    other = path.parent.parent / "b" / "t.ledger"
    other.touch()
    told = run(KILLED, path, other, when, "mounted", TRIES, before=mounting(path, other))
    assert told == [{"UnsafeLedgerPlace": TRIES}]


@pytest.mark.parametrize("when", WHEN)
def test_a_kill_under_one_name_of_a_folder_is_mended_under_the_other(path, mounting, when):
    other = path.parent.parent / "b"
    before = mounting(path.parent, other)
    (told,) = run(KILLED, path, other / path.name, when, "mounted", TRIES, before=before)
    left = ALLOWED if when == "before the commit" else 0
    assert told == Counter({"spent": left, "BudgetExceeded": TRIES - left})
    assert spent(path) == ALLOWED


def test_a_link_made_while_a_ledger_lives_is_seen_at_the_next_spend(path):
    ledger, link = Ledger(path), path.with_name("second")
    spend(ledger)
    os.link(path, link)
    with pytest.raises(UnsafeLedgerPlace, match="2 names"):
        spend(ledger)
    link.unlink()
    spend(ledger)
    assert ledger.totals() == [PureDP("0.1")]


@pytest.mark.parametrize("act", [os.link, os.rename])
def test_a_name_that_changes_in_the_middle_of_a_spend_spends_nothing(path, act):
    ledger, new = Ledger(path), path.with_name("second")
    spend(ledger)
    (entry,) = ledger._store.entries()

    def check(total, limits):
        act(path, new)
        return entry

    with pytest.raises(LedgerError):
        ledger._store.append("kind", check)
    assert new.exists()
    os.replace(new, path) if act is os.rename else new.unlink()
    assert spent(path) == 1


def test_a_limit_holds_where_all_is_well(path):
    ledger = Ledger(path)
    for _ in range(ALLOWED):
        spend(ledger)
    with pytest.raises(BudgetExceeded):
        spend(ledger)
