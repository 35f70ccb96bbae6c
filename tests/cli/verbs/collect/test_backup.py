"""``shoal collect backup | restore``."""

from pathlib import Path

import pytest

from shoal.collector._databases import open_store
from shoal.collector._storage import Arrival


@pytest.mark.heavy
def test_a_campaign_goes_on_from_its_copy(campaign, run):
    (token,) = run("tokens", "campaign.json", 1)["tokens"]
    store = open_store("sqlite:///campaign.sqlite", campaign.id, campaign.envelope)
    store.accept([Arrival(0, [b"a" * 16, b"b" * 16], [1, 1])], 0)
    copied = run("backup", "campaign.json", "-o", "monday.backup")
    assert copied["bytes"] == Path("monday.backup").stat().st_size > 0
    store.close()
    refused = run("restore", "campaign.json", "monday.backup")
    assert "exists already" in refused["message"]
    assert "Move it away" in refused["hint"]  # there is no flag that writes over it
    Path("campaign.sqlite").unlink()
    restored = run("restore", "campaign.json", "monday.backup")
    assert (restored["people"], restored["ids"]) == (2, True)
    assert run("status", "campaign.json")["people"] == 2
    assert run("revoke", "campaign.json", token)["revoked"]


@pytest.mark.heavy
def test_what_may_have_been_released_is_restored_only_with_a_flag(campaign, run, yaml):
    more = 'setting: shuffled\ndelta: "0.000001"\nn_least: 1000\n'
    Path("sums.yaml").write_text(yaml.replace("a walk", "sums") + more)
    run("sign", "sums.yaml")
    db = ("--db", "sqlite:///sums.sqlite")
    run("tokens", "sums.json", 1, *db)
    run("backup", "sums.json", *db, "-o", "copy")
    Path("sums.sqlite").unlink()
    refused = run("restore", "sums.json", "copy", *db)
    assert "--nothing-released" in refused["hint"]
    assert not Path("sums.sqlite").exists()
    assert run("restore", "sums.json", "copy", *db, "--nothing-released")["people"] == 0
