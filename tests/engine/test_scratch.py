import os
import signal
import subprocess
import sys

import pytest

from shoal.engine.scratch import private_file, scratch

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs the locks of POSIX")

KILLED = """
import sys, tempfile, time
tempfile.tempdir = sys.argv[1]
from shoal.engine.scratch import scratch
with scratch() as folder:
    (folder / "rows").write_text("secret")
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_what_a_killed_process_left_is_removed_by_the_next_and_not_before(temporary):
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(temporary)], stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        (left,) = temporary.iterdir()
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
    (temporary / "shoal-notes").mkdir()
    (temporary / "elsewhere").mkdir()
    private_file(temporary / "elsewhere" / "lock")
    (temporary / "shoal-link").symlink_to(temporary / "elsewhere")
    with scratch():
        pass
    assert sorted(os.listdir(temporary)) == ["elsewhere", "shoal-link", "shoal-notes"]


def test_files_are_their_owners_alone(temporary):
    with scratch() as folder:
        private_file(folder / "rows")
        assert all(path.stat().st_mode & 0o077 == 0 for path in [folder, *folder.iterdir()])
