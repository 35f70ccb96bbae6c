"""``shoal collect key | sign | serve | status | close``."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from shoal.cli._main import app
from shoal.collector._campaign import Campaign
from shoal.collector._databases import open_store
from shoal.collector._storage import Arrival


@pytest.mark.heavy
def test_a_closed_campaign_keeps_its_sums_and_no_ids(campaign, run):
    store = open_store("sqlite:///campaign.sqlite", campaign.id, campaign.envelope)
    store.accept([Arrival(0, [b"a" * 16, b"b" * 16], [1, 1])], 0)
    assert run("status", "campaign.json")["people"] == 2
    assert run("close", "campaign.json")["people"] == 2
    assert run("status", "campaign.json")["closed"]
    assert "is closed" in run("tokens", "campaign.json", 1)["message"]
    assert store.sums(0) == {1: 2}
    with store._transaction() as cursor:
        cursor.execute("SELECT COUNT(*) FROM seen")
        assert cursor.fetchone()[0] == 0
    store.close()


@pytest.mark.heavy
def test_an_aggregator_is_named_only_where_there_are_two(campaign, run):
    pytest.importorskip("fastapi", reason="pip install 'shoal[collector]'")
    assert "two aggregators" in run("serve", "campaign.json", "--aggregator", 1)["message"]


@pytest.mark.heavy
def test_campaigns_of_one_server_need_paths_and_databases_of_their_own(campaign, run):
    pytest.importorskip("fastapi", reason="pip install 'shoal[collector]'")
    Path("other.json").write_text(Path("campaign.json").read_text())
    Path("v1.json").write_text(Path("campaign.json").read_text())
    assert "of its own" in run("serve", "campaign.json", "other.json")["message"]
    for pair in (("campaign.json", "v1.json"), ("campaign.json", "campaign.json")):
        assert "different names" in run("serve", *pair, "--db", "{name}.sqlite")["message"]


@pytest.mark.parametrize(("rounds", "words"), [("auto", "Rounds 3, each closed"), ("1", "Note")])
def test_what_four_columns_mean_is_said_before_anybody_reports(campaign, yaml, rounds, words):
    more = "".join(f"  - {{name: c{i}, low: 0, high: 1}}\n" for i in range(2))
    start = yaml.index("epsilon")
    Path("four.yaml").write_text(f"{yaml[:start]}{more}{yaml[start:]}rounds: {rounds}\n")
    shown = CliRunner().invoke(app, ["collect", "sign", "four.yaml"])
    assert shown.exit_code == 0, shown.output
    assert words in " ".join(shown.output.split())
    assert Campaign.load("four.json").document["n_clusters"] == 2


@pytest.mark.heavy
def test_a_campaign_whose_sums_promise_nothing_is_refused_before_it_is_written(campaign, yaml):
    shuffled = 'setting: shuffled\ndelta: "0.000001"\nn_least: 1000\n'
    Path("loud.yaml").write_text(yaml.replace('epsilon: "4"', 'epsilon: "5"') + shuffled)
    shown = CliRunner().invoke(app, ["collect", "sign", "loud.yaml"])
    assert shown.exit_code == 2
    assert not Path("loud.json").exists()
    Path("loud.yaml").write_text(yaml + shuffled)
    assert CliRunner().invoke(app, ["collect", "sign", "loud.yaml"]).exit_code == 0
    assert Path("loud.json").exists()


def test_a_database_that_is_not_there_is_a_wrong_name_and_is_not_made(campaign, run):
    for verb in ("status", "close"):
        assert "no database" in run(verb, "campaign.json", "--db", "wrong.sqlite")["message"]
    assert not Path("wrong.sqlite").exists()
