"""Copies of a database: one moment of it, and back without a second release or old ids."""

import os
import sqlite3
import stat
import threading
from contextlib import closing

import pytest

from shoal.collector import _storage as storage
from shoal.collector import client
from shoal.collector._backup import back_up, restore
from shoal.collector._campaign import Campaign
from shoal.collector._databases import open_store
from shoal.collector._storage import Arrival
from shoal.errors import AlreadyExists, CannotWrite, InvalidSetting, NotInstalled, ReleasedBefore

from .campaigns import campaign_document, envelope_of


def campaign_of(**changes):
    document = campaign_document(**changes)
    envelope = envelope_of("campaign", document)
    return Campaign(envelope, document, client.identity("campaign", client.canonical(document)))


SHUFFLED = {"setting": "shuffled", "delta": "0.000001", "n_least": 1, "enrolment": "token"}
SHARED = {
    "setting": "two_aggregators",
    "n_least": 1,
    "aggregators": [
        {"address": "https://a.example.org", "key": "a" * 64},
        {"address": "https://b.example.org", "key": "b" * 64},
    ],
}
OVER = {"closes": "2020-01-02T00:00:00Z"}


def store_of(campaign, url):
    return open_store(url, campaign.id, campaign.envelope)


@pytest.fixture
def second(request, database, tmp_path):
    """The URL of another empty database of the same kind."""
    if database.startswith("sqlite"):
        return f"sqlite:///{tmp_path / 'second.sqlite'}"
    return request.getfixturevalue("postgres")()


def rows_of(store, table):
    with store._transaction() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {table}")
        return cursor.fetchone()[0]


@pytest.mark.heavy
def test_a_copy_comes_back_with_sums_documents_and_ids_and_counts_nobody_twice(
    database, second, tmp_path
):
    campaign, whos = campaign_of(), [os.urandom(16) for _ in range(5)]
    store = store_of(campaign, database)
    store.enrol(whos)
    store.accept([Arrival(0, whos[:3], [1, 1, 2])], 0)
    store.publish("model", 0, {"payload": "tab\tand \\ backslash"})
    back_up(campaign, database, tmp_path / "copy")
    store.accept([Arrival(0, whos[3:], [4, 4])], 0)
    store.close()
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o600
    assert restore(campaign, tmp_path / "copy", second) == (3, True)
    copied = store_of(campaign, second)
    assert copied.sums(0) == {1: 2, 2: 1}
    assert copied.documents() == {("model", 0): {"payload": "tab\tand \\ backslash"}}
    (again,) = copied.accept([Arrival(0, whos, [1, 1, 2, 4, 4])], 0)
    assert (again.accepted, again.repeated) == (2, 3)
    assert copied.fold() >= 0
    copied.close()


@pytest.mark.heavy
def test_a_copy_made_while_reports_come_holds_codes_and_people_of_one_moment(
    database, second, tmp_path
):
    campaign, halt, reported = campaign_of(), threading.Event(), threading.Event()
    store = store_of(campaign, database)

    def report():
        while not halt.is_set():
            store.accept([Arrival(0, [os.urandom(16)], [7])], 0)
            reported.set()

    thread = threading.Thread(target=report)
    thread.start()
    try:
        assert reported.wait(20)
        back_up(campaign, database, tmp_path / "copy")
    finally:
        halt.set()
        thread.join()
    store.close()
    n, _ = restore(campaign, tmp_path / "copy", second)
    copied = store_of(campaign, second)
    assert copied.sums(0)[7] == rows_of(copied, "seen") == n > 0
    copied.close()


@pytest.mark.heavy
@pytest.mark.parametrize("changes", [SHUFFLED, SHARED], ids=["shuffled", "two-aggregators"])
def test_a_copy_that_could_release_a_second_time_needs_the_operators_word(
    database, second, tmp_path, changes
):
    campaign, who = campaign_of(**changes), os.urandom(16)
    store = store_of(campaign, database)
    shares = [b"s" * 32] if "aggregators" in changes else ()
    store.accept([Arrival(0, [who], [] if shares else [1], shares)], 0)
    back_up(campaign, database, tmp_path / "before")
    store.close_round(0)
    if shares:
        store.keep_opening({"payload": "the noise of the first time"})
    back_up(campaign, database, tmp_path / "after")
    store.close()
    with pytest.raises(ReleasedBefore, match="second time"):
        restore(campaign, tmp_path / "before", second)
    restore(campaign, tmp_path / "after", second)  # the refused one left nothing in its way
    copied = store_of(campaign, second)
    if shares:
        first = {"payload": "the noise of the first time"}
        assert copied.keep_opening({"payload": "other noise"}) == first
        assert list(copied.shares()) == []
    else:
        copied.enrol([b"x" * 16])
        assert copied.accept([Arrival(0, [b"x" * 16], [1])], 0)[0].problem == "closed"
    copied.close()


@pytest.mark.heavy
def test_with_the_operators_word_shares_come_back_to_be_opened(database, second, tmp_path):
    campaign, who = campaign_of(**SHARED, **OVER), os.urandom(16)
    store = store_of(campaign, database)
    store.accept([Arrival(0, [who], shares=[b"s" * 32])], 0)
    back_up(campaign, database, tmp_path / "copy")
    store.close()
    assert restore(campaign, tmp_path / "copy", second, nothing_released=True) == (1, True)
    copied = store_of(campaign, second)
    assert list(copied.shares()) == [(who, b"s" * 32)]
    copied.close()


@pytest.mark.heavy
def test_the_ids_of_a_campaign_that_is_over_do_not_come_back(database, second, tmp_path):
    campaign, who = campaign_of(**OVER), os.urandom(16)
    store = store_of(campaign, database)
    store.enrol([who])
    store.accept([Arrival(0, [who], [1])], 0)
    back_up(campaign, database, tmp_path / "copy")
    store.close()
    assert restore(campaign, tmp_path / "copy", second) == (1, False)
    copied = store_of(campaign, second)
    assert copied.sums(0) == {1: 1}
    assert rows_of(copied, "seen") == rows_of(copied, "enrolled") == 0
    copied.close()
    if second.startswith("sqlite"):
        files = list(tmp_path.glob("second.sqlite*"))
        assert files
        assert not any(who in file.read_bytes() for file in files)


def test_a_copy_made_after_the_close_holds_no_ids(tmp_path):
    campaign, who = campaign_of(), os.urandom(16)
    url = f"sqlite:///{tmp_path / 'a.sqlite'}"
    store = store_of(campaign, url)
    store.accept([Arrival(0, [who], [1])], 0)
    back_up(campaign, url, tmp_path / "before")
    store.forget_people(1)
    back_up(campaign, url, tmp_path / "after")
    store.close()
    assert who in (tmp_path / "before").read_bytes()
    assert who not in (tmp_path / "after").read_bytes()


@pytest.mark.heavy
def test_a_backup_of_an_older_version_stays_of_it_and_is_brought_up_when_it_is_restored(
    database, second, tmp_path
):
    campaign, who = campaign_of(), os.urandom(16)
    store = store_of(campaign, database)
    store.accept([Arrival(0, [who], [1])], 0)
    with store._transaction() as cursor:  # as the second version left it
        cursor.execute("ALTER TABLE enrolled DROP COLUMN label_of")
        cursor.execute("ALTER TABLE part DROP COLUMN is_open")
        cursor.execute("UPDATE meta SET version = 2")
    back_up(campaign, database, tmp_path / "copy")
    with store._transaction() as cursor:
        cursor.execute("SELECT version FROM meta")
        assert cursor.fetchone()[0] == 2
    store.close()
    restore(campaign, tmp_path / "copy", second)
    copied = store_of(campaign, second)
    with copied._transaction() as cursor:
        cursor.execute("SELECT version FROM meta")
        assert cursor.fetchone()[0] == storage.VERSION
    assert copied.sums(0) == {1: 1}
    copied.close()


@pytest.mark.heavy
def test_nothing_that_is_there_is_written_over_and_other_campaigns_are_refused(
    database, second, tmp_path
):
    campaign, other = campaign_of(), campaign_of(name="another walk")
    store_of(campaign, database).close()
    with pytest.raises(InvalidSetting, match="another campaign"):
        back_up(other, database, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    back_up(campaign, database, tmp_path / "copy")
    with pytest.raises(AlreadyExists):
        back_up(campaign, database, tmp_path / "copy")
    with pytest.raises(AlreadyExists):
        restore(campaign, tmp_path / "copy", database)
    with pytest.raises(InvalidSetting, match="another campaign"):
        restore(other, tmp_path / "copy", second)
    (tmp_path / "text").write_text("no database")
    for name in ("text", "nothing"):
        with pytest.raises(InvalidSetting):
            restore(campaign, tmp_path / name, second)
    restore(campaign, tmp_path / "copy", second)  # what was refused left nothing behind


def test_a_damaged_copy_and_a_log_of_another_database_are_refused(tmp_path):
    campaign, url = campaign_of(), f"sqlite:///{tmp_path / 'a.sqlite'}"
    store = store_of(campaign, url)
    store.accept([Arrival(0, [os.urandom(16) for _ in range(900)], range(900))], 0)
    back_up(campaign, url, tmp_path / "copy")
    store.close()
    content = (tmp_path / "copy").read_bytes()
    (tmp_path / "cut").write_bytes(content[: len(content) // 2])
    with pytest.raises(InvalidSetting, match="no whole database"):
        restore(campaign, tmp_path / "cut", f"sqlite:///{tmp_path / 'b.sqlite'}")
    (tmp_path / "b.sqlite-wal").write_bytes(b"")
    with pytest.raises(AlreadyExists, match="-wal exists"):
        restore(campaign, tmp_path / "copy", f"sqlite:///{tmp_path / 'b.sqlite'}")
    assert not (tmp_path / "b.sqlite").exists()


def test_a_database_that_is_not_there_is_not_made_by_copying_it(tmp_path):
    with pytest.raises(InvalidSetting, match="no file"):
        back_up(campaign_of(), f"sqlite:///{tmp_path / 'a.sqlite'}", tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []


def test_a_restored_file_is_its_owners_alone(tmp_path):
    campaign, url = campaign_of(), f"sqlite:///{tmp_path / 'a.sqlite'}"
    store_of(campaign, url).close()
    back_up(campaign, url, tmp_path / "copy")
    (tmp_path / "copy").chmod(0o644)  # as a careless hand left it
    restore(campaign, tmp_path / "copy", f"sqlite:///{tmp_path / 'b.sqlite'}")
    assert stat.S_IMODE((tmp_path / "b.sqlite").stat().st_mode) == 0o600
    with closing(sqlite3.connect(tmp_path / "b.sqlite")) as new:
        assert new.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.heavy
def test_missing_programs_and_servers_of_postgresql_are_named(postgres, tmp_path, monkeypatch):
    campaign, url = campaign_of(), postgres()
    with pytest.raises(CannotWrite, match="pg_dump failed"):
        back_up(campaign, "postgresql:///nowhere?host=/nowhere", tmp_path / "copy")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotInstalled, match="pg_dump"):
        back_up(campaign, url, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
