"""Which database a URL opens, and what is said when it cannot be."""

import os
import sqlite3
import stat
from contextlib import closing

import pytest

from shoal.collector._databases import PostgresStore, SqliteStore, open_store, wait_for_store
from shoal.collector._storage import Arrival, Unavailable
from shoal.errors import CannotWrite, InvalidSetting

CAMPAIGN = b"c" * 16


def test_a_path_and_a_url_open_the_same_sqlite_file(tmp_path):
    path = tmp_path / "campaign.sqlite"
    for url in (f"sqlite:///{path}", str(path)):
        store = open_store(url, CAMPAIGN, {})
        assert isinstance(store, SqliteStore)
        store.close()
    assert path.exists()


def test_a_new_sqlite_file_is_its_owners_alone_and_so_are_the_files_beside_it(tmp_path):
    before = os.umask(0)
    try:
        store = open_store(str(tmp_path / "campaign.sqlite"), CAMPAIGN, {})
        store.accept([Arrival(0, [b"w" * 16], [1])], 0)
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    store.close()
    assert set(modes.values()) == {0o600}
    assert len(modes) == 3


def test_nothing_of_people_is_left_in_the_files_once_they_are_forgotten(tmp_path):
    store = open_store(str(tmp_path / "campaign.sqlite"), CAMPAIGN, {}, has_tokens=True)
    whos = [os.urandom(16) for _ in range(2_000)]
    store.enrol(whos)
    store.accept([Arrival(0, whos, [1] * 2_000)], 0)
    store._connection.execute("PRAGMA secure_delete = OFF")  # as other builds of SQLite delete
    with store._transaction() as cursor:
        cursor.execute("DELETE FROM enrolled WHERE who < ?", (b"\x40",))
    store.forget_people(1)
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not any(who in content for who in whos)
    assert store.sums(0) == {1: 2_000}
    store.close()


def test_forgetting_people_fails_while_a_reader_keeps_them_in_the_log(tmp_path):
    path = tmp_path / "campaign.sqlite"
    store = open_store(str(path), CAMPAIGN, {})
    whos = [os.urandom(16) for _ in range(100)]
    store.accept([Arrival(0, whos, [1] * 100)], 0)
    store._connection.execute("PRAGMA busy_timeout = 50")
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT COUNT(*) FROM seen").fetchone()
    with pytest.raises(Unavailable, match="busy"):
        store.forget_people(1)
    reader.close()
    store.forget_people(1)
    content = b"".join(each.read_bytes() for each in tmp_path.iterdir())
    assert not any(who in content for who in whos)
    store.close()


@pytest.mark.heavy
def test_a_postgresql_url_opens_postgresql(postgres):
    store = open_store(postgres(), CAMPAIGN, {})
    assert isinstance(store, PostgresStore)
    assert store.count() == 0
    store.close()


@pytest.mark.heavy
def test_a_server_waits_for_a_postgresql_that_is_not_there_yet(postgres):
    import psycopg

    url = postgres()
    name = url.removeprefix("postgresql:///").partition("?")[0]
    with psycopg.connect(url.replace(name, "postgres", 1), autocommit=True) as admin:
        admin.execute(f"ALTER DATABASE {name} RENAME TO {name}_away")
        pauses = []

        def pause(seconds):
            pauses.append(seconds)
            if len(pauses) == 3:
                admin.execute(f"ALTER DATABASE {name}_away RENAME TO {name}")

        store = wait_for_store(url, CAMPAIGN, {}, pause=pause)
    assert len(pauses) == 3
    store.close()


def test_a_place_that_cannot_be_written_is_not_waited_for(tmp_path):
    with pytest.raises(CannotWrite, match="cannot be opened"):
        wait_for_store(f"sqlite:///{tmp_path / 'nowhere' / 'a.sqlite'}", CAMPAIGN, {}, pause=None)


def test_other_databases_and_places_that_cannot_be_written_are_refused(tmp_path):
    with pytest.raises(InvalidSetting, match="SQLite or PostgreSQL"):
        open_store("mysql://localhost/walk", CAMPAIGN, {})
    with pytest.raises(CannotWrite, match="cannot be opened"):
        open_store(f"sqlite:///{tmp_path / 'nowhere' / 'a.sqlite'}", CAMPAIGN, {})


def test_a_restored_copy_counts_nobody_twice_and_goes_on(tmp_path):
    store = open_store(str(tmp_path / "campaign.sqlite"), CAMPAIGN, {})
    whos = [os.urandom(16) for _ in range(6)]
    store.accept([Arrival(0, whos[:3], [1, 1, 2])], 0)
    with (
        closing(sqlite3.connect(tmp_path / "campaign.sqlite")) as running,
        closing(sqlite3.connect(tmp_path / "copy.sqlite")) as copy,
    ):
        running.backup(copy)
    store.accept([Arrival(0, whos[3:], [3, 3, 3])], 0)
    store.close()
    restored = open_store(str(tmp_path / "copy.sqlite"), CAMPAIGN, {})
    assert restored.sums(0) == {1: 2, 2: 1}
    (again,) = restored.accept([Arrival(0, whos[:4], [1, 1, 2, 3])], 0)
    assert (again.accepted, again.repeated) == (1, 3)
    restored.close()
