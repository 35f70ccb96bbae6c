"""``shoal collect people | open | combine``: two operators, from a campaign to its groups."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from shoal.collector import client
from shoal.collector._campaign import Campaign
from shoal.collector._databases import open_store
from shoal.collector._storage import Arrival

TWO = """
setting: two_aggregators
n_least: 100
cells: 16
aggregators:
  - {address: "https://first.example.org", key: FIRST}
  - {address: "https://second.example.org", key: SECOND}
"""


@pytest.fixture
def shared(run, yaml, tmp_path, monkeypatch):
    """A campaign with two aggregators, and both their databases, with everybody's shares."""
    monkeypatch.chdir(tmp_path)
    run("key", "operator.key")
    first, second = (run("key", f"{name}.key")["public"] for name in ("first", "second"))
    (tmp_path / "campaign.yaml").write_text(
        yaml + TWO.replace("FIRST", first).replace("SECOND", second)
    )
    assert run("sign", "campaign.yaml")["people_needed"] is None
    campaign = Campaign.load("campaign.json")
    question = campaign.document["rounds"][0]["question"]
    rng = np.random.default_rng(0)
    middles = np.array([[0.2, 0.2], [0.8, 0.7]])
    people = middles[rng.integers(0, 2, 400)] + rng.normal(0, 0.04, (400, 2))
    whos = [os.urandom(16) for _ in people]
    pairs = [client.split(question, row) for row in people.tolist()]
    contents = {
        "first": [seed for seed, _ in pairs],
        "second": [client.tag_of(seed) + share for seed, share in pairs],
    }
    for name, shares in contents.items():
        store = open_store(f"sqlite:///{name}.sqlite", campaign.id, campaign.envelope)
        store.accept([Arrival(0, whos, shares=shares)], 0)
        store.close()
    return campaign


def open_both(run):
    for name in ("first", "second"):
        own = ("--key", f"{name}.key", "--db", f"sqlite:///{name}.sqlite")
        assert run("people", "campaign.json", *own, "-o", f"people-{name}.json")["people"] == 400
    for name, other in (("first", "second"), ("second", "first")):
        own = ("--key", f"{name}.key", "--db", f"sqlite:///{name}.sqlite", "-o", f"{name}.json")
        run("open", "campaign.json", f"people-{other}.json", *own, "--ledger", f"{name}.ledger")


@pytest.mark.heavy
def test_two_operators_open_their_sums_and_anybody_adds_them_up(shared, run):
    open_both(run)
    result = run(
        "combine", "campaign.json", "first.json", "second.json", "--db", "sqlite:///first.sqlite",
        "--seed", 1,
    )  # fmt: skip
    assert result["people"] == 400
    centers = np.array(sorted(result["centers"]))
    assert np.all(abs(centers - [[0.2, 0.2], [0.8, 0.7]]) < 0.05)
    envelope = json.loads(Path("model.json").read_text())
    model, _ = client.open_envelope(envelope, "model", shared.key)
    assert "if either of the two aggregators is honest" in model["guarantee"]
    assert "LDP" not in model["guarantee"]
    assert os.path.exists("first.ledger")
    assert run("status", "campaign.json", "--db", "sqlite:///first.sqlite")["documents"] == [
        "model 0",
        "opening 0",
    ]


@pytest.mark.heavy
def test_what_is_missing_or_of_another_is_refused(shared, run):
    own = ("--key", "first.key", "--db", "sqlite:///first.sqlite")
    run("tokens", "campaign.json", 1)
    refusals = {
        ("cluster", "campaign.json"): "two aggregators",
        ("serve", "campaign.json"): "two aggregators",
        ("people", "campaign.json"): "neither",
        ("open", "campaign.json", "campaign.yaml", *own): "no signed document",
        ("open", "campaign.json", "campaign.json", *own): "aggregator 2 signed",
        ("combine", "campaign.json", "campaign.json"): "two openings",
        ("combine", "campaign.json", "campaign.json", "campaign.json"): "aggregator 1 signed",
    }
    for words, message in refusals.items():
        assert message in run(*words)["message"], words
