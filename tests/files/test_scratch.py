import gc
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from shoal.files import _scratch as scratch_module
from shoal.files._scratch import nameless_file, private_file, scratch

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs the locks of POSIX")

KILLED = """
import sys, tempfile, time
tempfile.tempdir = sys.argv[1]
from shoal.files._scratch import scratch
with scratch() as folder:
    (folder / "rows").write_text("secret")
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.heavy
def test_what_a_killed_process_left_is_removed_by_the_next_and_not_before(temporary):
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(temporary)], stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        (left,) = temporary.glob("*/run-*")
        with scratch():
            assert (left / "rows").exists()
        process.send_signal(signal.SIGTERM)
        process.wait()
    assert (left / "rows").exists()
    with scratch():
        assert not left.exists()


def test_folders_of_one_process_leave_each_other_alone(temporary):
    with scratch() as outer, scratch() as inner:
        assert outer.exists()
        assert inner.exists()
    assert list(temporary.iterdir()) == []


def test_folders_and_links_that_are_not_ours_stay(temporary):
    for name in ("shoal-notes", "shoal-scratch-mine", "elsewhere"):
        (temporary / name / "run-1").mkdir(parents=True)
        private_file(temporary / name / "lock")
        private_file(temporary / name / "run-1" / "lock")
    (temporary / "shoal-link").symlink_to(temporary / "elsewhere")
    before = sorted(temporary.rglob("*"))
    with scratch():
        pass
    assert sorted(temporary.rglob("*")) == before


@pytest.mark.parametrize("marker", [None, b"", b"my notes\n"])
def test_a_users_folder_of_the_very_name_is_neither_written_to_nor_swept(temporary, marker):
    with scratch() as folder:
        place = folder.parent
    place.mkdir(mode=0o700)
    (place / "run-1").mkdir()
    (place / "run-1" / "diary").write_text("mine")
    if marker is not None:
        (place / "marker").write_bytes(marker)
    before = {path: path.is_file() and path.read_bytes() for path in temporary.rglob("*")}
    with scratch() as folder:
        assert folder.parent != place
        assert folder.stat().st_mode & 0o077 == 0
    assert {path: path.is_file() and path.read_bytes() for path in temporary.rglob("*")} == before


def test_a_place_that_others_may_enter_is_not_used(temporary):
    with scratch() as folder:
        place = folder.parent
    place.mkdir()
    place.chmod(0o755)
    with scratch() as folder:
        assert folder.parent == temporary
    assert list(temporary.iterdir()) == [place]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_a_nameless_file_can_be_read_again_and_has_no_content_on_disk_by_any_name(temporary):
    with nameless_file("rows.csv") as (path, file):
        file.write(b"x\nsecret\n")
        file.flush()
        assert path.name == "rows.csv"
        assert [path.read_bytes(), path.read_bytes()] == [b"x\nsecret\n"] * 2
        on_disk = [each for each in temporary.rglob("*") if not each.is_symlink()]
        assert not any(b"secret" in each.read_bytes() for each in on_disk if each.is_file())
    assert list(temporary.iterdir()) == []


@pytest.mark.heavy
def test_a_forked_child_leaves_the_folder_to_its_parent(temporary):
    with scratch() as folder:
        child = os.fork()
        if child == 0:
            try:
                with scratch():
                    pass
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert folder.exists()


@pytest.mark.heavy
def test_many_processes_share_the_place_and_leave_nothing(temporary):
    script = (
        "import sys, tempfile; tempfile.tempdir = sys.argv[1]\n"
        "from shoal.files._scratch import scratch\n"
        "for _ in range(100):\n"
        "    with scratch() as folder:\n"
        "        (folder / 'a').write_text('a'); assert (folder / 'a').read_text() == 'a'\n"
    )
    asked = [sys.executable, "-c", script, str(temporary)]
    processes = [subprocess.Popen(asked) for _ in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    assert list(temporary.iterdir()) == []


@pytest.mark.heavy
@pytest.mark.parametrize("moment", ["is_still", "_sweep"])
def test_work_that_is_dropped_while_the_place_is_held_does_not_wait_for_itself(
    temporary, monkeypatch, moment
):
    during = getattr(scratch_module, moment)
    work = [scratch()]
    work[0].__enter__()

    def drop_first(*given):
        work.clear()
        gc.collect()
        return during(*given)

    def go_on():
        monkeypatch.setattr(scratch_module, moment, drop_first)
        with scratch():
            pass

    thread = threading.Thread(target=go_on, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    assert not list(temporary.glob("*/run-*"))


def test_files_are_their_owners_alone(temporary):
    with scratch() as folder:
        private_file(folder / "rows")
        assert all(path.stat().st_mode & 0o077 == 0 for path in [folder, *folder.iterdir()])
