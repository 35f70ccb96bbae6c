"""The database: every acknowledged report exactly once, in SQLite and in PostgreSQL alike."""

import json
import os
import sqlite3
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from shoal.collector import _storage as storage
from shoal.collector._databases import open_store
from shoal.collector._storage import Arrival, Unavailable
from shoal.collector.client import LABEL_ROUND
from shoal.errors import InvalidSetting

CAMPAIGN = b"c" * 16
HERE = Path(__file__).parent


def store_of(url, **settings):
    return open_store(url, CAMPAIGN, {"payload": ""}, **settings)


def people(n):
    return [os.urandom(16) for _ in range(n)]


@pytest.mark.heavy
def test_reports_are_added_up_and_repetitions_are_not(database, monkeypatch):
    monkeypatch.setattr(storage, "_RESERVE", 10)
    store, whos = store_of(database), people(100)
    codes = [i % 7 for i in range(100)]
    (first,) = store.accept([Arrival(0, whos, codes)], epoch=3)
    assert (first.accepted, first.repeated, first.problem) == (100, 0, None)
    more = people(5)
    (second,) = store.accept([Arrival(0, [*whos[:50], *more], [6] * 55)], epoch=4)
    assert (second.accepted, second.repeated) == (5, 50)
    expected = dict(sorted((Counter(codes) + Counter({6: 5})).items()))
    assert store.sums(0) == expected
    assert store.fold() == 1  # the other part is open
    assert store.part_count() == 0
    assert store.sums(0) == expected
    assert store.count() == 105
    store.close()


@pytest.mark.heavy
def test_several_requests_share_a_transaction_and_each_is_whole(database):
    store, whos = store_of(database, has_tokens=True), people(6)
    store.enrol(whos[:4])
    arrivals = [
        Arrival(0, whos[:2], [1, 2]),
        Arrival(0, whos[3:5], [3, 3]),  # the second is not enrolled
        Arrival(0, whos[2:4], [4, 5]),
        Arrival(0, whos[:1], [6]),  # came before, in the same transaction
    ]
    results = store.accept(arrivals, 0)
    assert [r.problem for r in results] == [None, "unknown", None, None]
    assert [r.accepted for r in results] == [2, 0, 2, 0]
    assert store.sums(0) == {1: 1, 2: 1, 4: 1, 5: 1}
    store.close()


@pytest.mark.heavy
def test_a_person_who_comes_twice_at_once_counts_once(database):
    store, (one, other) = store_of(database), people(2)
    results = store.accept([Arrival(0, [one, one], [1, 2]), Arrival(0, [other, one], [3, 4])], 0)
    assert [(r.accepted, r.repeated) for r in results] == [(1, 1), (1, 1)]
    assert store.sums(0) == {1: 1, 3: 1}
    store.close()


@pytest.mark.heavy
def test_who_is_revoked_cannot_report_and_who_reported_cannot_be_revoked(database):
    store, whos = store_of(database, has_tokens=True), people(3)
    store.enrol(whos[:2])
    store.enrol(whos[:2])
    assert store.revoke(whos[0])
    assert not store.revoke(whos[2])
    assert store.accept([Arrival(0, whos[:1], [1])], 0)[0].problem == "unknown"
    assert store.accept([Arrival(0, whos[1:2], [1])], 0)[0].accepted == 1
    assert not store.revoke(whos[1])
    assert store.sums(0) == {1: 1}
    store.close()


@pytest.mark.heavy
def test_a_closed_round_takes_nothing_and_its_digest_stays(database):
    store = store_of(database)
    store.accept([Arrival(0, people(3), [5, 1, 1]), Arrival(1, people(1), [2])], 0)
    digest = store.close_round(0)
    (late,) = store.accept([Arrival(0, people(1), [1])], 1)
    assert (late.accepted, late.problem) == (0, "closed")
    assert store.close_round(0) == digest
    assert store.accept([Arrival(1, people(1), [2])], 1)[0].accepted == 1
    assert (store.sums(0), store.sums(1)) == ({1: 2, 5: 1}, {2: 2})
    store.close()


@pytest.mark.heavy
def test_closing_a_round_leaves_the_others_something_to_mix_with(database):
    store = store_of(database)
    store.accept([Arrival(0, people(5), [1] * 5), Arrival(1, people(500), [2] * 500)], 0)
    store.close_round(0)
    store.accept([Arrival(1, people(1), [3])], 0)
    with store._transaction() as cursor:
        cursor.execute("SELECT round, n FROM part")
        assert [tuple(row) for row in cursor.fetchall()] == [(1, 501)]
    assert (store.sums(0), store.sums(1)) == ({1: 5}, {2: 500, 3: 1})
    store.close()


def test_asking_for_an_invitation_does_not_wait_for_whoever_writes(tmp_path):
    store, (who,) = store_of(f"sqlite:///{tmp_path / 'a.sqlite'}", has_tokens=True), people(1)
    store.enrol([who])
    store._connection.execute("PRAGMA busy_timeout = 50")
    writer = sqlite3.connect(tmp_path / "a.sqlite", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    assert (store.is_known(who), store.has_reported(who)) == (True, False)
    writer.close()
    store.close()


def test_no_row_joins_a_person_to_a_report(tmp_path):
    store = store_of(f"sqlite:///{tmp_path / 'a.sqlite'}")
    whos = people(50)
    store.accept([Arrival(0, whos, [i * 37 % 1009 for i in range(50)])], 0)
    store.close()
    raw = sqlite3.connect(tmp_path / "a.sqlite")
    ((codes,),) = raw.execute("SELECT codes FROM part").fetchall()
    numbers = [int.from_bytes(codes[i : i + 4], "little") for i in range(0, len(codes), 4)]
    assert numbers == sorted(numbers)
    rows = [row[0] for row in raw.execute("SELECT who FROM seen")]
    assert rows == sorted(whos)
    raw.close()


@pytest.mark.heavy
def test_what_postgresql_notes_of_transactions_joins_nobody_to_a_report(postgres, monkeypatch):
    import psycopg

    monkeypatch.setattr(storage, "_RESERVE", 100)
    url = postgres()
    store, whos = store_of(url), people(300)
    for i, who in enumerate(whos):  # one by one: each in a transaction of its own
        store.accept([Arrival(0, [who], [i])], 0)
    join = "SELECT part.n FROM seen JOIN part ON seen.xmin::text = part.xmin::text"
    with psycopg.connect(url) as thief:
        sizes = [n for (n,) in thief.execute(join).fetchall()]
    # Only whoever came last, or when a part was filled, meets a part; it holds a hundred others.
    assert len(sizes) <= 6
    assert min(sizes) >= 100
    assert sorted(store.sums(0)) == list(range(300))
    store.close()


@pytest.mark.heavy
def test_a_second_worker_waits_for_the_codes_that_it_mixes_its_own_with(postgres):
    url = postgres()
    store, second = store_of(url), store_of(url)
    store.accept([Arrival(0, people(50), [1] * 50)], 0)
    late = threading.Thread(target=second.accept, args=([Arrival(0, people(1), [2])], 0))
    with store._transaction() as cursor:
        codes = store._take_reserve(cursor, 0)
        late.start()
        late.join(0.3)
        assert late.is_alive()
        store._insert_part(cursor, 0, 0, codes, is_open=True)
    late.join(20)
    with store._transaction() as cursor:
        cursor.execute("SELECT n FROM part")
        assert cursor.fetchall() == [(51,)]
    store.close()
    second.close()


@pytest.mark.heavy
def test_workers_on_one_database_count_everybody_once(database):
    whos = people(600)
    answers = []

    def work(seed):
        store = store_of(database)
        for start in range(0, 600, 60):
            at = (start + 60 * seed) % 600
            part = whos[at : at + 60]
            answers.extend(store.accept([Arrival(0, part, [1] * 60)], 0))
            store.fold()
        store.close()

    store_of(database).close()
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = store_of(database)
    assert sum(answer.accepted for answer in answers) == 600
    assert store.sums(0) == {1: 600}
    store.close()


@pytest.mark.heavy
def test_a_database_of_another_campaign_or_of_a_newer_program_is_refused(database):
    store_of(database).close()
    with pytest.raises(InvalidSetting, match="another campaign"):
        open_store(database, b"d" * 16, {})
    store = store_of(database)
    with store._transaction() as cursor:
        cursor.execute("UPDATE meta SET version = 99")
    store.close()
    with pytest.raises(InvalidSetting, match="version 99"):
        store_of(database)


@pytest.mark.heavy
def test_documents_are_kept_and_replaced(database):
    store = store_of(database)
    store.publish("model", 0, {"payload": "a"})
    store.publish("model", 0, {"payload": "b"})
    store.publish("round", 1, {"payload": "c"})
    assert store.documents() == {("model", 0): {"payload": "b"}, ("round", 1): {"payload": "c"}}
    store.close()


@pytest.mark.heavy
def test_a_label_is_not_counted_as_a_person(database):
    store = store_of(database)
    store.accept([Arrival(LABEL_ROUND, people(4), [0] * 4)], 0)
    assert store.count() == 0
    store.accept([Arrival(0, people(3), [1, 1, 2])], 0)
    assert store.count() == 3
    store.forget_people(1)
    assert store.count() == 3
    store.close()


@pytest.mark.heavy
def test_forgetting_people_leaves_sums_and_takes_no_more(database):
    store = store_of(database, has_tokens=True)
    whos = people(4)
    store.enrol(whos)
    store.accept([Arrival(0, whos[:3], [1, 1, 2])], 0)
    store.forget_people(1)
    assert store.sums(0) == {1: 2, 2: 1}
    assert store.count() == 3
    assert store.accept([Arrival(0, whos[:1], [1])], 0)[0].problem == "closed"
    store.close()


@pytest.mark.heavy
def test_a_database_of_the_first_version_is_brought_up_and_keeps_its_sums(database):
    store = store_of(database)
    store.accept([Arrival(0, people(2), [1, 1])], 0)
    with store._transaction() as cursor:  # as the first version left it
        cursor.execute("DROP TABLE share")
        cursor.execute("ALTER TABLE enrolled DROP COLUMN label_of")
        cursor.execute("ALTER TABLE part DROP COLUMN is_open")
        cursor.execute("UPDATE meta SET version = 1")
    store.close()
    store = store_of(database)
    assert store.sums(0) == {1: 2}
    assert list(store.shares()) == []
    with store._transaction() as cursor:
        cursor.execute("SELECT version FROM meta")
        assert cursor.fetchone()[0] == storage.VERSION == 3
    store.close()


@pytest.mark.heavy
def test_keys_of_the_second_version_still_report_and_are_counted_as_unmarked(database):
    store, whos = store_of(database, has_tokens=True), people(2)
    with store._transaction() as cursor:  # as the second version left it
        cursor.execute("ALTER TABLE enrolled DROP COLUMN label_of")
        cursor.execute("ALTER TABLE part DROP COLUMN is_open")
        store_part = "INSERT INTO part (round, epoch, n, codes) VALUES (1, 0, 2, ?)"
        cursor.execute(store._sql(store_part), (np.array([4, 5], dtype="<u4").tobytes(),))
        rows = [(who,) for who in whos]
        cursor.executemany(store._sql("INSERT INTO enrolled (who) VALUES (?)"), rows)
        cursor.execute("UPDATE meta SET version = 2")
    store.close()
    store = store_of(database, has_tokens=True)
    assert store.unmarked_keys() == 2
    assert store.sums(1) == {4: 1, 5: 1}
    assert store.fold() == 1
    assert store.sums(1) == {4: 1, 5: 1}
    assert store.accept([Arrival(0, whos[:1], [1])], 0)[0].accepted == 1
    assert store.accept([Arrival(LABEL_ROUND, whos[1:], [1])], 0)[0].accepted == 1
    store.close()


@pytest.mark.heavy
def test_a_database_as_the_third_version_wrote_it_goes_on(tmp_path):
    with closing(sqlite3.connect(tmp_path / "old.sqlite")) as old:
        old.executescript((HERE / "database_3.sql").read_text())
    old = store_of(str(tmp_path / "old.sqlite"), has_tokens=True)
    assert (old.count(), old.sums(0), old.sums(1)) == (2, {3: 1}, {4: 1})
    assert old.documents() == {("model", 0): {"payload": "model"}}
    answers = old.accept([Arrival(0, [name * 16], [3]) for name in (b"a", b"d")], 0)
    assert [(one.repeated, one.problem) for one in answers] == [(1, None), (0, "unknown")]
    assert old.accept([Arrival(LABEL_ROUND, [b"l" * 16], [1])], 0)[0].accepted == 1
    old.close()
    store_of(str(tmp_path / "new.sqlite")).close()
    # Other tables need another version, and a way there from this one.
    assert tables_of(tmp_path / "old.sqlite") == tables_of(tmp_path / "new.sqlite")


def tables_of(path):
    with closing(sqlite3.connect(path)) as database:
        lines = database.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        return {name: " ".join(sql.split()) for name, sql in lines}


@pytest.mark.heavy
def test_shares_are_kept_once_by_person_and_go_when_they_are_opened(database, monkeypatch):
    monkeypatch.setattr(storage, "_READ_SHARES", 3)  # several reads
    store, whos = store_of(database), people(7)
    shares = [bytes([i]) * 40 for i in range(7)]
    (first,) = store.accept([Arrival(0, whos, shares=shares)], 0)
    assert (first.accepted, first.repeated) == (7, 0)
    (again,) = store.accept([Arrival(0, whos[:2], shares=[b"other"] * 2)], 0)
    assert (again.accepted, again.repeated) == (0, 2)
    assert list(store.shares()) == sorted(zip(whos, shares, strict=True))
    assert store.sums(0) == {}
    assert store.keep_opening({"payload": "a"}) == {"payload": "a"}
    assert store.keep_opening({"payload": "b"}) == {"payload": "a"}  # the first one stays
    assert list(store.shares()) == []
    assert store.count() == 7
    store.close()


def test_a_full_disk_is_unavailable_and_leaves_the_sums_as_they_were(tmp_path):
    store = store_of(f"sqlite:///{tmp_path / 'a.sqlite'}")
    store.accept([Arrival(0, people(10), [1] * 10)], 0)
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages + 1}")
    with pytest.raises(Unavailable):
        store.accept([Arrival(0, people(5_000), [1] * 5_000)], 0)
    assert store.sums(0) == {1: 10}
    assert store.count() == 10
    store._connection.execute("PRAGMA max_page_count = 1000000")
    assert store.accept([Arrival(0, people(5_000), [1] * 5_000)], 0)[0].accepted == 5_000
    store.close()


@pytest.mark.heavy
def test_a_database_that_became_read_only_is_unavailable(database):
    store = store_of(database)
    store.accept([Arrival(0, people(2), [1, 1])], 0)
    statement = (
        "PRAGMA query_only = ON"
        if "sqlite" in database
        else ("SET default_transaction_read_only = on")
    )
    store._connection.execute(statement)
    with pytest.raises(Unavailable):
        store.accept([Arrival(0, people(2), [1, 1])], 0)
    store.close()  # the next transaction opens a new connection
    assert store.accept([Arrival(0, people(2), [1, 1])], 0)[0].accepted == 2
    assert store.sums(0) == {1: 4}
    store.close()


@pytest.mark.heavy
def test_a_lost_connection_is_unavailable_once_and_opened_anew(postgres):
    import psycopg

    url = postgres()
    store = store_of(url)
    with psycopg.connect(url, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    with pytest.raises(Unavailable):
        store.accept([Arrival(0, people(2), [1, 1])], 0)
    assert store.accept([Arrival(0, people(2), [1, 1])], 0)[0].accepted == 2
    store.close()


@pytest.mark.heavy
def test_both_databases_digest_the_same_sums_alike(tmp_path, postgres):
    digests = set()
    for url in (f"sqlite:///{tmp_path / 'a.sqlite'}", postgres()):
        store = store_of(url)
        store.accept([Arrival(0, people(30), [i % 4 for i in range(30)])], 0)
        digests.add(store.close_round(0))
        store.close()
    assert len(digests) == 1
    assert json.dumps(sorted(digests))
