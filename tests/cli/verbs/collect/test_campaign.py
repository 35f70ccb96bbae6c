"""``shoal collect key | sign | serve | status | close``."""

import pytest

from shoal.collector.databases import open_store
from shoal.collector.storage import Arrival


def test_a_closed_campaign_keeps_its_sums_and_no_ids(campaign, run):
    store = open_store("sqlite:///campaign.sqlite", campaign.id, campaign.envelope)
    store.accept([Arrival(0, [b"a" * 16, b"b" * 16], [1, 1])], 0)
    assert run("status", "campaign.json")["people"] == 2
    assert run("close", "campaign.json")["people"] == 2
    assert store.sums(0) == {1: 2}
    with store._transaction() as cursor:
        cursor.execute("SELECT COUNT(*) FROM seen")
        assert cursor.fetchone()[0] == 0
    store.close()


def test_an_aggregator_is_named_only_where_there_are_two(campaign, run):
    pytest.importorskip("fastapi", reason="pip install 'shoal[collector]'")
    assert "two aggregators" in run("serve", "campaign.json", "--aggregator", 1)["message"]
