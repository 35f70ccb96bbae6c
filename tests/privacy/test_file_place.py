"""Where a shared file may lie, and what is said where it may not."""

import os
import sqlite3
from multiprocessing import get_context
from pathlib import Path

import pytest

from shoal.errors import CannotWrite, LedgerNotWritable, UnsafeLedgerPlace
from shoal.mechanisms import Geometric
from shoal.perturb._memo import Memo
from shoal.privacy import Ledger, PureDP
from shoal.privacy import _file_place as file_place
from shoal.privacy._file_place import TEMPORARY_SUFFIX, file_system, place_of
from shoal.randomness import Randomness

MOUNTS = rb"""22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
36 35 98:0 /a\040b /mnt\040- rw,noatime master:1 shared:7 - nfs4 server:/\040x rw,vers=4
40 27 0:50 / /home/ada/far rw - fuse.sshfs ada@far:/ rw
"""


def spend(ledger: Ledger) -> None:
    page = ledger.open(PureDP(1), by="test")
    page.release(Geometric(page.budget), 1, Randomness().noise, of="a count")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.ledger"


@pytest.mark.parametrize(
    ("mount", "kind"),
    [(27, "ext4"), (36, "nfs4"), (40, "fuse.sshfs"), (7, None), (2, None), (None, None)],
)
def test_a_file_system_is_found_by_the_number_of_its_mount(mount, kind):
    assert file_system(mount, MOUNTS) == kind


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "fuse.glusterfs"])
def test_disks_of_several_machines_are_refused_by_name(path, monkeypatch, kind):
    Ledger(path)
    monkeypatch.setattr(file_place, "file_system", lambda mount: kind)
    with pytest.raises(UnsafeLedgerPlace, match=rf"other machines.*{kind}"):
        Ledger(path)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "overlay", "tmpfs", "fuseblk", None])
def test_disks_of_this_machine_and_unknown_ones_are_taken(path, monkeypatch, kind):
    monkeypatch.setattr(file_place, "file_system", lambda mount: kind)
    spend(Ledger(path))
    assert len(Ledger(path).entries()) == 1


@pytest.mark.skipif(not hasattr(os, "O_PATH"), reason="only Linux tells mounts")
def test_nothing_is_made_on_a_disk_that_is_refused(path, monkeypatch):
    path.touch()
    here = file_system(place_of(path).mount)
    path.unlink()
    assert here is not None
    monkeypatch.setattr(file_place, "SHARED_DISKS", {here})
    with pytest.raises(UnsafeLedgerPlace, match="Nothing was spent"):
        Ledger(path)
    assert not list(path.parent.iterdir())


def test_a_memo_lies_under_one_name_too(path):
    memo = Memo(path)
    os.link(path, path.with_name("second"))
    with pytest.raises(CannotWrite, match="2 names"), memo.open(b"trips"):
        pass
    with pytest.raises(CannotWrite, match="2 names"):
        Memo(path.with_name("second"))


@pytest.mark.parametrize("name", ["t.ledger", "t [1]*?.ledger"])
def test_the_name_a_killed_maker_left_behind_is_removed(tmp_path, name):
    path = tmp_path / name
    ledger = Ledger(path)
    left = tmp_path / f".{name}.k2x9_3ab{TEMPORARY_SUFFIX}"
    os.link(path, left)
    spend(ledger)
    assert not left.exists()
    assert Ledger(path).totals() == [PureDP(1)]


def test_a_left_behind_name_that_somebody_used_is_refused_and_stays(path):
    Ledger(path)
    left = path.with_name(f".{path.name}.k2x9_3ab{TEMPORARY_SUFFIX}")
    os.link(path, left)
    used = sqlite3.connect(left, isolation_level=None)
    used.execute("INSERT INTO limits VALUES ('{}')")
    with pytest.raises(UnsafeLedgerPlace, match="2 names"):
        Ledger(path)
    assert left.exists()
    used.close()


def test_anothers_file_of_such_a_name_stays(path):
    ledger = Ledger(path)
    other = path.with_name(f".{path.name}.k2x9_3ab{TEMPORARY_SUFFIX}")
    other.write_text("mine")
    os.link(path, path.with_name("second"))
    with pytest.raises(UnsafeLedgerPlace):
        spend(ledger)
    assert other.read_text() == "mine"


def _spend_in_new_files(folder: Path, files: int) -> int:
    for i in range(files):
        spend(Ledger(folder / f"{i}.ledger"))
    return files


@pytest.mark.heavy
def test_many_who_make_one_file_at_once_are_not_refused(tmp_path):
    """Each file has two names for a moment, which the others may see."""
    with get_context("fork").Pool(4) as pool:
        done = pool.starmap(_spend_in_new_files, [(tmp_path, 25)] * 4)
    assert done == [25] * 4
    assert [Ledger(tmp_path / f"{i}.ledger").totals() for i in range(25)] == [[PureDP(4)]] * 25
    assert not list(tmp_path.glob(f".*{TEMPORARY_SUFFIX}"))


def test_a_link_that_leads_nowhere_yet_makes_the_file_where_it_leads(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "t.ledger").symlink_to("far/real.ledger")
    spend(Ledger(tmp_path / "t.ledger"))
    assert Ledger(tmp_path / "far" / "real.ledger").totals() == [PureDP(1)]
    assert (tmp_path / "t.ledger").is_symlink()


def test_a_link_that_leads_to_itself_is_named_an_error(path):
    path.symlink_to(path.name)
    with pytest.raises(LedgerNotWritable):
        Ledger(path)


def test_a_folder_in_a_ledgers_place_is_named_an_error(tmp_path):
    with pytest.raises(LedgerNotWritable):
        Ledger(tmp_path)


def test_a_reader_through_a_link_sees_what_is_in_the_log_beside_the_file(tmp_path, monkeypatch):
    (tmp_path / "far").mkdir()
    real, link = tmp_path / "far" / "real.ledger", tmp_path / "t.ledger"
    ledger = Ledger(real)
    link.symlink_to(real)
    reader = sqlite3.connect(real)  # while it is open, no spend empties the log
    reader.execute("SELECT count(*) FROM entries").fetchall()
    spend(ledger)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert Ledger(link).totals() == [PureDP(1)]
    reader.close()


@pytest.mark.heavy
@pytest.mark.parametrize(("look", "kept"), [(place_of, True), (Path.read_bytes, False)])
def test_looking_at_a_file_drops_no_lock_of_this_process(path, look, kept):
    """Closing a descriptor that can read does: then another process takes the log away."""
    Ledger(path)
    holder = sqlite3.connect(path)
    holder.execute("SELECT count(*) FROM entries").fetchall()
    look(path)
    with get_context("spawn").Pool(1) as pool:
        pool.apply(_come_and_go, (path,))
    assert Path(f"{path}-wal").exists() == kept
    holder.close()


def _come_and_go(path: Path) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("INSERT INTO limits VALUES ('{}')")
    other.close()
