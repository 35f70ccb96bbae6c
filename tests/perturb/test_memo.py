import copy
import pickle
import sqlite3
import stat
import threading
from contextlib import closing, suppress

import pytest

from shoal.errors import CannotWrite, InvalidSetting
from shoal.perturb import Memo


@pytest.fixture(params=["memory", "file"])
def memo(request, tmp_path):
    return Memo() if request.param == "memory" else Memo(tmp_path / "reports.memo")


def kept(memo, *people, collection=b"trips"):
    with memo.open(collection) as notes:
        return notes.find(people)


def keep(memo, reports, collection=b"trips"):
    with memo.open(collection) as notes:
        notes.add(reports)


def test_a_report_is_found_again_and_only_that(memo):
    ada, bob = memo.hashed(["ada", "bob"])
    keep(memo, {ada: b"one"})
    assert kept(memo, ada, bob) == {ada: b"one"}


def test_collections_are_kept_apart(memo):
    (ada,) = memo.hashed(["ada"])
    keep(memo, {ada: b"one"})
    assert kept(memo, ada, collection=b"visits") == {}


def test_two_memos_hash_a_token_differently(memo):
    assert memo.hashed(["ada"]) != Memo().hashed(["ada"])
    assert memo.hashed(["ada"]) == memo.hashed(["ada"])


def test_a_copy_is_the_memo_itself(memo):
    assert copy.copy(memo) is memo
    assert copy.deepcopy(memo) is memo


def test_a_pickled_memo_remembers(memo):
    (ada,) = memo.hashed(["ada"])
    keep(memo, {ada: b"one"})
    again = pickle.loads(pickle.dumps(memo))
    assert again.hashed(["ada"]) == [ada]
    assert kept(again, ada) == {ada: b"one"}


def test_a_file_outlives_the_object_and_holds_no_token(tmp_path):
    path = tmp_path / "reports.memo"
    memo = Memo(path)
    (ada,) = memo.hashed(["ada-lovelace"])
    keep(memo, {ada: b"one"})
    assert kept(Memo(path), *Memo(path).hashed(["ada-lovelace"])) == {ada: b"one"}
    assert b"lovelace" not in path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["reports.memo"]


def test_a_failure_inside_keeps_nothing_in_the_file(tmp_path):
    memo = Memo(tmp_path / "reports.memo")
    (ada,) = memo.hashed(["ada"])
    with suppress(RuntimeError), memo.open(b"trips") as notes:
        notes.add({ada: b"one"})
        raise RuntimeError
    assert kept(memo, ada) == {}


@pytest.mark.heavy
def test_two_writers_take_turns(memo):
    (ada,) = memo.hashed(["ada"])
    drawn = []

    def report():
        with memo.open(b"trips") as notes:
            if not notes.find([ada]):
                drawn.append(1)
                notes.add({ada: b"one"})

    threads = [threading.Thread(target=report) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(drawn) == 1


def test_another_file_is_no_memo(tmp_path):
    text, other = tmp_path / "a.csv", tmp_path / "b.sqlite"
    text.write_text("age\n31\n" * 200)
    with closing(sqlite3.connect(other)) as db, db:
        db.execute("CREATE TABLE t (x)")
    db.close()
    for path in (text, other):
        with pytest.raises(InvalidSetting, match="not a memo"):
            Memo(path)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(CannotWrite, match=r"reports\.memo"):
        Memo(tmp_path / "nowhere" / "reports.memo")
