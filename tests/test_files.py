import errno
import os
import shutil

import pytest

from shoal.errors import AlreadyExists, CannotWrite
from shoal.files import atomic_file, atomic_folder


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
        with pytest.raises(CannotWrite, match="you are in"), atomic_folder(path, overwrite=True):
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
    with pytest.raises(CannotWrite, match="is written, but what it replaced") as caught:
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
