"""Which database a URL opens, and what is said when it cannot be."""

import pytest

from shoal.collector._databases import PostgresStore, SqliteStore, open_store
from shoal.errors import CannotWrite, InvalidSetting

CAMPAIGN = b"c" * 16


def test_a_path_and_a_url_open_the_same_sqlite_file(tmp_path):
    path = tmp_path / "campaign.sqlite"
    for url in (f"sqlite:///{path}", str(path)):
        store = open_store(url, CAMPAIGN, {})
        assert isinstance(store, SqliteStore)
        store.close()
    assert path.exists()


@pytest.mark.heavy
def test_a_postgresql_url_opens_postgresql(postgres):
    store = open_store(postgres(), CAMPAIGN, {})
    assert isinstance(store, PostgresStore)
    assert store.count() == 0
    store.close()


def test_other_databases_and_places_that_cannot_be_written_are_refused(tmp_path):
    with pytest.raises(InvalidSetting, match="SQLite or PostgreSQL"):
        open_store("mysql://localhost/walk", CAMPAIGN, {})
    with pytest.raises(CannotWrite, match="cannot be opened"):
        open_store(f"sqlite:///{tmp_path / 'nowhere' / 'a.sqlite'}", CAMPAIGN, {})
