import os
import sys

import pytest

from shoal.files._locks import file_lock, is_still, take_lock, wait_for_lock

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs the locks of POSIX")


def test_a_lock_is_held_by_one_and_its_file_goes_with_it(tmp_path):
    path = tmp_path / "lock"
    with file_lock(path) as first, file_lock(path) as second:
        assert (first, second) == (True, False)
    assert not path.exists()


def test_a_name_that_was_given_to_another_file_is_told(tmp_path):
    path = tmp_path / "lock"
    handle = os.open(path, os.O_RDWR | os.O_CREAT)
    assert is_still(handle, path)
    path.unlink()
    assert not is_still(handle, path)
    path.touch()
    assert not is_still(handle, path)
    os.close(handle)


def test_a_lock_that_is_free_is_taken_at_once(tmp_path):
    path = tmp_path / "lock"
    first, second = (os.open(path, os.O_RDWR | os.O_CREAT) for _ in range(2))
    wait_for_lock(first)
    assert not take_lock(second)
    os.close(first)
    assert take_lock(second)
    os.close(second)
