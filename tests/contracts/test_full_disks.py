"""Full disks, few open files and two runs at once: told in words, and nothing paid twice."""

import errno
import os
import resource
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from shoal.cli._main import app
from shoal.errors import LedgerNotWritable
from shoal.files import file_set
from shoal.privacy import Ledger
from shoal.privacy._entry_store import FileStore

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")

DOMAIN = "version: 1\ncolumns: {x: {low: 0, high: 1}, y: {low: 0, high: 1}}\n"
SHOAL = [sys.executable, "-W", "ignore", "-c", "from shoal.cli.start import main; main()"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rows = np.random.default_rng(1).uniform(size=(2000, 2))
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",", header="x,y", comments="")
    (tmp_path / "box.yaml").write_text(DOMAIN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(verb, output, ledger="a.ledger"):
    groups = ["-k", "2"] if verb == "cluster" else []
    how = ["--epsilon", "1", "--domain", "box.yaml", "--ledger", str(ledger)]
    return [verb, "rows.csv", *groups, *how, "-o", str(output)]


def shown(arguments):
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, " ".join(result.output.split())


def run(arguments, **how):
    done = subprocess.run([*SHOAL, *arguments], capture_output=True, text=True, check=False, **how)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def entries(ledger="a.ledger"):
    return Ledger(ledger).entries().num_rows


def no_room(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


OUTPUTS = [("cluster", "model"), ("perturb", "noisy.csv")]
ENTRIES = {"cluster": 2, "perturb": 1}  # of the check of the bounds, and of all else


@contextmanager
def small_disk(folder, kilobytes):
    """A file system of its own, where the machine lets us make one."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", folder]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine mounts no tmpfs for this user; the tests beside it fake one")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def stopped_once_written(write):
    """SIGTERM in the moment after the ledger has the entry, and before anybody here knows."""

    def append(*arguments):
        write(*arguments)
        raise SystemExit(143)

    return append


@pytest.mark.parametrize(("verb", "output"), OUTPUTS)
def test_a_run_that_is_stopped_right_after_its_entry_is_written_pays_once(
    folder, verb, output, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(FileStore, "append", stopped_once_written(FileStore.append))
        assert shown(asked(verb, output))[0] == 143
    assert entries() == 1
    code, text = shown(asked(verb, output))
    assert code == 0, text
    assert "not paid for again" in text
    assert entries() == ENTRIES[verb]
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(("verb", "output"), OUTPUTS)
def test_a_disk_that_is_full_after_the_payment_costs_it_once(folder, verb, output, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("shoal.files._atomic.flush", no_room)
        code, text = shown(asked(verb, output))
    assert code == 2
    assert "No space left on device" in text
    assert "keeps what was paid so far as spent. Run the same command again" in text
    assert not (folder / output).exists()
    code, text = shown(asked(verb, output))
    assert code == 0, text
    assert "not paid for again" in text
    assert entries() == ENTRIES[verb]
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(("verb", "output"), OUTPUTS)
def test_a_real_disk_that_is_full_after_the_payment_costs_it_once(folder, verb, output):
    with small_disk(folder / "small", 40) as small:
        code, text = run(asked(verb, small / output))
        assert code == 2, text
        assert "No space left on device" in text
        assert not (small / output).exists()
        paid = entries()
        subprocess.run(["mount", "-o", "remount,size=20m", small], check=True)
        code, text = run(asked(verb, small / output))
        assert code == 0, text
        assert paid <= entries() == ENTRIES[verb]
        assert not [path.name for path in small.iterdir() if path.name.startswith(".")]


def test_a_ledger_on_a_full_disk_spends_nothing_and_releases_nothing(folder):
    with small_disk(folder / "small", 100) as small:
        Ledger(small / "a.ledger")
        with suppress(OSError), (small / "filler").open("wb", buffering=0) as file:
            for _ in range(100):  # 400 kB, more than there is
                file.write(bytes(4096))
        code, text = run(asked("cluster", "model", small / "a.ledger"))
        assert code == 2, text
        assert "Nothing was spent" in text
        assert not (folder / "model").exists()
        (small / "filler").unlink()
        assert entries(small / "a.ledger") == 0
        subprocess.run(["mount", "-o", "remount,size=20m", small], check=True)
        code, text = run(asked("cluster", "model", small / "a.ledger"))
        assert (code, entries(small / "a.ledger")) == (0, ENTRIES["cluster"]), text


@pytest.mark.parametrize(("verb", "output"), OUTPUTS)
def test_a_ledger_that_is_full_when_all_is_done_is_true_about_the_payment(
    folder, verb, output, monkeypatch
):
    def full(self, run):
        with self._open(write=True):
            no_room()

    with monkeypatch.context() as patch:
        patch.setattr(FileStore, "forget_run", _after_payment(full))
        code, text = shown(asked(verb, output))
    assert code == 2
    assert "Nothing was spent" not in text
    assert "keeps what was paid so far as spent" in text
    assert (folder / output).exists()
    code, text = shown(asked(verb, output))
    assert code == 0, text
    assert entries() == ENTRIES[verb]
    assert Ledger("a.ledger").unfinished() == []


def _after_payment(work):
    from shoal.privacy import _entry_store as store

    def call(*arguments):
        with store._after_payment():
            return work(*arguments)

    return call


def test_an_error_after_a_payment_does_not_say_that_nothing_was_spent(folder, monkeypatch):
    ledger = Ledger("a.ledger")
    monkeypatch.setattr("shoal.privacy.sqlite_file.check_place", no_room)
    with pytest.raises(LedgerNotWritable) as caught:
        ledger._store.forget_run("some run")
    assert "Nothing was spent" not in caught.value.hint
    with pytest.raises(LedgerNotWritable) as caught:
        ledger._store.append("kind", lambda *_: None)
    assert "Nothing was spent" in caught.value.hint


@pytest.mark.parametrize(("verb", "output"), OUTPUTS)
def test_a_second_run_onto_the_same_output_is_refused_before_it_pays(folder, verb, output):
    with file_set(output):
        code, text = shown(asked(verb, output))
    assert code == 2
    assert "Another run is writing" in text
    assert not Path("a.ledger").exists() or entries() == 0
    assert shown(asked(verb, output))[0] == 0


def test_a_limit_on_open_files_is_named(folder, monkeypatch):
    def none_left(*_, **__):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr("shoal.data.files.pa_csv.open_csv", none_left)
    code, text = shown(asked("cluster", "model"))
    assert code == 2
    assert "TooManyOpenFiles" in text
    assert "ulimit -n" in text


@pytest.mark.parametrize("files", [8, 11])
def test_few_open_files_leave_nothing_half_done_and_lose_no_budget(folder, files):
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))  # noqa: E731
    before = {path.name for path in folder.iterdir()}
    code, text = run(asked("cluster", "model"), preexec_fn=limit)
    if code:
        assert not {path.name for path in folder.iterdir()} - before - {"a.ledger", ".model.shoal"}
        code, text = run(asked("cluster", "model"))
    assert code == 0, text
    assert entries() == ENTRIES["cluster"]
    assert {path.name for path in folder.iterdir()} - before == {"a.ledger", "model"}
