import errno
import os
import shutil
import subprocess
import sys
from contextlib import suppress

import pytest

from shoal.errors import AlreadyExists, CannotWrite
from shoal.files import atomic_file, atomic_folder, file_set, undo_killed_run


def _names(folder):
    return sorted(path.name for path in folder.iterdir())


def _stop(_, error):
    raise error


def _full_disk(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("whole", [atomic_file, atomic_folder])
def test_what_exists_is_kept_unless_overwritten(whole, tmp_path):
    path = tmp_path / "old"
    path.mkdir()
    (path / "kept").touch()
    with pytest.raises(AlreadyExists), whole(path):
        pytest.fail("the block must not run")
    assert _names(path) == ["kept"]


def test_a_file_made_meanwhile_by_another_is_kept(tmp_path):
    path = tmp_path / "t.csv"
    with pytest.raises(AlreadyExists), atomic_file(path) as part:
        _ = part.write_text("ours"), path.write_text("theirs")
    assert path.read_text() == "theirs"
    assert _names(tmp_path) == ["t.csv"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, SystemExit])
def test_whatever_stops_the_writing_leaves_the_old_file(error, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("old")
    with pytest.raises(error), atomic_file(path, overwrite=True) as part:
        _stop(part.write_text("half"), error)
    assert path.read_text() == "old"
    assert _names(tmp_path) == ["t.csv"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_whatever_stops_the_filling_leaves_the_old_folder(error, tmp_path):
    path = tmp_path / "model"
    path.mkdir()
    (path / "old").touch()
    with pytest.raises(error), atomic_folder(path, overwrite=True) as part:
        _stop((part / "half").touch(), error)
    assert _names(path) == ["old"]
    assert _names(tmp_path) == ["model"]


def test_a_folder_appears_whole(tmp_path):
    path = tmp_path / "model"
    with atomic_folder(path) as part:
        (part / "inner").mkdir()
        (part / "inner" / "file").write_text("x")
        assert not path.exists()
    assert (path / "inner" / "file").read_text() == "x"
    assert _names(tmp_path) == ["model"]


def test_an_overwritten_folder_keeps_nothing_old(tmp_path):
    path = tmp_path / "model"
    for name in ("old", "new"):
        with atomic_folder(path, overwrite=True) as part:
            (part / name).touch()
    assert _names(path) == ["new"]
    assert _names(tmp_path) == ["model"]


def test_the_old_folder_comes_back_if_the_new_one_cannot_take_its_place(tmp_path, monkeypatch):
    path = tmp_path / "model"
    path.mkdir()
    (path / "old").touch()
    monkeypatch.setattr(os, "replace", _full_disk)
    with pytest.raises(CannotWrite), atomic_folder(path, overwrite=True) as part:
        (part / "new").touch()
    assert _names(path) == ["old"]
    assert _names(tmp_path) == ["model"]


def test_the_folder_you_are_in_is_never_replaced(tmp_path, monkeypatch):
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    for path in (".", tmp_path):
        with (
            pytest.raises(CannotWrite, match="the current folder"),
            atomic_folder(path, overwrite=True),
        ):
            pytest.fail("the block must not run")


def _replaced(path):
    """Fill ``path`` anew over an old folder."""
    with atomic_folder(path, overwrite=True) as part:
        (part / "new").touch()


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "model"
    path.mkdir()
    (path / "old").touch()
    return path


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_stop_while_the_old_folder_is_removed_leaves_the_new_one_alone(old, monkeypatch, stop):
    remove = shutil.rmtree

    def stopped(folder, ignore_errors=False):
        monkeypatch.setattr(shutil, "rmtree", remove)
        raise stop

    monkeypatch.setattr(shutil, "rmtree", stopped)
    with pytest.raises(stop):
        _replaced(old)
    assert _names(old) == ["new"]
    assert _names(old.parent) == ["model"]


def test_a_stop_between_the_renames_brings_the_old_folder_back(old, monkeypatch):
    rename = os.rename

    def stopped(source, target):
        rename(source, target)
        monkeypatch.setattr(os, "rename", rename)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "rename", stopped)
    with pytest.raises(KeyboardInterrupt):
        _replaced(old)
    assert _names(old) == ["old"]
    assert _names(old.parent) == ["model"]


def test_an_old_folder_that_cannot_be_removed_is_named_and_the_new_one_stands(old, monkeypatch):
    remove = shutil.rmtree

    def refused(folder, ignore_errors=False):
        monkeypatch.setattr(shutil, "rmtree", remove)
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(shutil, "rmtree", refused)
    with pytest.raises(CannotWrite, match="was written, but the old version") as caught:
        _replaced(old)
    (left,) = set(_names(old.parent)) - {"model"}
    assert left in caught.value.hint
    assert _names(old) == ["new"]


def test_a_link_to_a_folder_is_replaced_and_its_folder_kept(old):
    link = old.with_name("link")
    link.symlink_to(old)
    _replaced(link)
    assert (_names(link), _names(old)) == (["new"], ["old"])
    assert _names(old.parent) == ["link", "model"]


SET = """
import os, signal, sys
from pathlib import Path
from shoal.files import file_set

folder, number = Path(sys.argv[1]), int(sys.argv[2])

def counted(name):
    work = getattr(os, name)
    def call(*arguments, **more):
        global number
        number -= 1
        if number == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return work(*arguments, **more)
    setattr(os, name, call)

for name in ("rename", "replace", "unlink", "fsync", "open"):
    counted(name)
with file_set(folder / "table", overwrite=True) as files:
    for name in ("table", "manifest", "page"):
        files.file(folder / name).write_text("new")
"""


@pytest.mark.heavy
@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_a_set_killed_at_any_step_is_the_old_one_or_the_new_one_to_the_next_process(tmp_path):
    outcomes = set()
    for number in range(1, 200):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name in ("table", "manifest"):
            (folder / name).write_text("old")
        killed = subprocess.run([sys.executable, "-c", SET, str(folder), str(number)], check=False)
        table = folder / "table"
        if table.exists() and table.read_text() == "new":
            assert {(folder / name).read_text() for name in ("manifest", "page")} == {"new"}
        undo_killed_run(table)
        found = {path.name: path.read_text() for path in folder.iterdir()}
        old = {"table": "old", "manifest": "old"}
        assert found in (old, dict.fromkeys(("table", "manifest", "page"), "new")), number
        outcomes.add(len(found))
        if killed.returncode == 0:
            break
    assert outcomes == {2, 3}


def _finished_and_stopped(path, run):
    """Give a file its name, and fail before the run has come to its end."""
    with file_set(path) as files:
        files.work_for(run, lambda: True)
        files.file(path).write_text(run)
        files.publish()
        raise KeyboardInterrupt


def test_a_run_may_replace_what_it_had_finished_and_no_other_may(tmp_path):
    path = tmp_path / "table"
    with pytest.raises(KeyboardInterrupt):
        _finished_and_stopped(path, "one")
    with pytest.raises(AlreadyExists):
        _finished_and_stopped(path, "two")
    assert path.read_text() == "one"
    with pytest.raises(KeyboardInterrupt):
        _finished_and_stopped(path, "one")


def test_what_somebody_put_there_since_is_not_replaced(tmp_path):
    path = tmp_path / "table"
    with pytest.raises(KeyboardInterrupt):
        _finished_and_stopped(path, "one")
    path.unlink()
    path.write_text("theirs")
    with pytest.raises(AlreadyExists):
        _finished_and_stopped(path, "one")
    assert path.read_text() == "theirs"


def test_two_processes_do_not_write_one_set(tmp_path):
    path = tmp_path / "table"
    with file_set(path), pytest.raises(CannotWrite, match="Another run"), file_set(path):
        pytest.fail("the block must not run")


def test_the_key_stays_the_same_until_the_set_is_written(tmp_path):
    keys = []
    for error in (KeyboardInterrupt, None, None):
        with suppress(KeyboardInterrupt), file_set(tmp_path / "table", overwrite=True) as files:
            files.work_for("one", lambda: True)
            keys.append(files.key)
            files.file(tmp_path / "table").write_text("x")
            if error:
                raise error
    assert keys[0] == keys[1] != keys[2]
