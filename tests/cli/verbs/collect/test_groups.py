"""``shoal collect advance | cluster``: a campaign from its invitations to its groups."""

import os

import numpy as np
import pytest

pytest.importorskip("cryptography", reason="pip install 'shoal[collector]'")

from shoal.collector import client
from shoal.collector._campaign import Campaign
from shoal.collector._databases import open_store
from shoal.collector._report_batches import who_of
from shoal.collector._storage import Arrival


@pytest.mark.heavy
def test_a_campaign_from_invitations_to_published_groups(campaign, run):
    links = run("tokens", "campaign.json", 600, "--address", "https://walk.example.org/")["tokens"]
    tokens = [bytes.fromhex(link.rpartition("=")[2]) for link in links]
    assert links[0].startswith(f"https://walk.example.org/#key={campaign.key.hex()}&token=")
    assert run("revoke", "campaign.json", links[0])["revoked"]
    store = open_store("sqlite:///campaign.sqlite", campaign.id, campaign.envelope, has_tokens=True)
    words, question = client.WordStream(), campaign.document["rounds"][0]["question"]
    whos = [who_of(client.key_of(token, campaign.id)) for token in tokens]
    places = [[0.2, 0.2], [0.8, 0.7]]
    codes = [client.draw(question, places[i % 2], words) for i in range(len(whos))]
    assert store.accept([Arrival(0, whos[:1], codes[:1])], 0)[0].problem == "unknown"
    assert store.accept([Arrival(0, whos[1:], codes[1:])], 0)[0].accepted == 599
    assert run("status", "campaign.json")["people"] == 599
    result = run("cluster", "campaign.json", "-o", "model", "--seed", 1)
    assert result["n_reports"] == 599
    centers = sorted(result["centers"])
    assert all(
        abs(a - b) < 0.15
        for c, p in zip(centers, places, strict=True)
        for a, b in zip(c, p, strict=True)
    )
    assert {"reports.parquet", "reports.parquet.json", "report.html"} <= {*os.listdir("model")}
    model, _ = client.open_envelope(store.documents()["model", 0], "model", campaign.key)
    store.close()
    assert model["campaign"] == campaign.id.hex()
    assert run("status", "campaign.json")["documents"] == ["model 0"]


@pytest.mark.heavy
def test_nothing_is_learnt_before_anybody_reports(campaign, run):
    run("tokens", "campaign.json", 1)
    refusals = {
        ("cluster", "campaign.json"): ("TooFewRows", "No report"),
        ("advance", "campaign.json", 0): ("InvalidSetting", "1 round"),
        ("revoke", "campaign.json", "xyz"): ("InvalidSetting", "no token"),
        ("status", "campaign.yaml"): ("InvalidSetting", "no signed campaign"),
        ("key", "operator.key"): ("AlreadyExists", "exists already"),
    }
    for words, (error, message) in refusals.items():
        document = run(*words)
        assert document["error"] == error
        assert message in document["message"]


@pytest.mark.heavy
def test_a_robust_run_says_what_it_cut_and_an_alarm_names_uneven_reports(campaign, run):
    store = open_store("sqlite:///campaign.sqlite", campaign.id, campaign.envelope)
    words, question = client.WordStream(), campaign.document["rounds"][0]["question"]
    places = [[0.2, 0.2], [0.8, 0.7]]
    honest = [client.draw(question, places[i % 2], words) for i in range(15_000)]
    assert question["oracle"]["name"] == "local_hash"
    store.accept([Arrival(0, [os.urandom(16) for _ in honest], honest)], 0)
    assert run("status", "campaign.json")["alarms"] == []
    result = run("cluster", "campaign.json", "--robust", "--seed", 1)
    assert result["n_reports"] == 15_000
    assert result["cells_cut"] >= 0
    liars = [honest[0]] * 400
    store.accept([Arrival(0, [os.urandom(16) for _ in liars], liars)], 0)
    store.close()
    assert run("status", "campaign.json")["alarms"] == ["hash functions of round 0"]


@pytest.mark.heavy
def test_an_open_campaign_is_learnt_from_robustly_unless_it_is_told_not_to(
    campaign, run, yaml, tmp_path
):
    (tmp_path / "open.yaml").write_text(yaml + "enrolment: open\n")
    run("sign", "open.yaml")
    anybody, url = Campaign.load("open.json"), "sqlite:///open.sqlite"
    store = open_store(url, anybody.id, anybody.envelope)
    words, question = client.WordStream(), anybody.document["rounds"][0]["question"]
    places = [[0.2, 0.2], [0.8, 0.7]]
    codes = [client.draw(question, places[i % 2], words) for i in range(3_000)]
    store.accept([Arrival(0, [os.urandom(16) for _ in codes], codes)], 0)
    store.close()
    at = ("cluster", "open.json", "--db", url, "--seed", 1, "-o")
    assert "cells_cut" in run(*at, "robust")
    assert {*os.listdir("robust")} == {"reports.parquet", "reports.parquet.json"}
    for option in (("--title", "T"), ("--publisher", "P"), ("--engine", "spark")):
        assert f"{option[0]} says nothing" in run(*at, "other", *option)["message"]
    assert not os.path.exists("other")
    assert "cells_cut" not in run(*at, "plain", "--no-robust")
    assert "report.html" in os.listdir("plain")


@pytest.mark.heavy
def test_the_first_round_of_an_open_campaign_is_robust_and_later_ones_have_no_cells(
    run, campaign, yaml, tmp_path
):
    more = "rounds: 3\nenrolment: open\n"
    (tmp_path / "three.yaml").write_text(yaml + more)
    run("sign", "three.yaml")
    anybody, url = Campaign.load("three.json"), "sqlite:///three.sqlite"
    store = open_store(url, anybody.id, anybody.envelope)
    words, question = client.WordStream(), anybody.document["rounds"][0]["question"]
    places = [[0.2, 0.2], [0.8, 0.7]]
    codes = [client.draw(question, places[i % 2], words) for i in range(3_000)]
    store.accept([Arrival(0, [os.urandom(16) for _ in codes], codes)], 0)
    store.close()
    result = run("advance", "three.json", 0, "--db", url, "--seed", 1)
    assert result["published"]
    assert result["cells_cut"] >= 0
    answer = run("advance", "three.json", 1, "--db", url, "--robust")
    assert "no cells that could be cut" in answer["message"]


@pytest.mark.heavy
def test_a_shuffled_campaign_states_its_sums_and_releases_them_once(campaign, run, yaml, tmp_path):
    shuffled = yaml.replace('"4"', '"2"') + 'setting: shuffled\ndelta: "0.000001"\nn_least: 500\n'
    (tmp_path / "other.yaml").write_text(shuffled)
    signed = run("sign", "other.yaml")
    assert 0 < signed["sums_epsilon"] < 1
    other = Campaign.load("other.json")
    store = open_store("sqlite:///other.sqlite", other.id, other.envelope)
    words, question = client.WordStream(), other.document["rounds"][0]["question"]
    codes = [client.draw(question, [0.3, 0.3], words) for _ in range(600)]
    store.accept([Arrival(0, [os.urandom(16) for _ in range(400)], codes[:400])], 0)
    at = ("cluster", "other.json", "--db", "sqlite:///other.sqlite", "--robust", "--seed", 1)
    at = (*at, "--overwrite")
    assert "below 500" in run(*at)["message"]
    store.accept([Arrival(0, [os.urandom(16) for _ in range(200)], codes[400:])], 0)
    first = run(*at)
    assert store.accept([Arrival(0, [os.urandom(16)], [1])], 0)[0].problem == "closed"
    store.close()
    assert run(*at) == first


@pytest.mark.heavy
@pytest.mark.parametrize("robust", ["--robust", "--no-robust"])
def test_a_missing_key_or_a_folder_in_the_way_leaves_a_shuffled_campaign_open(
    campaign, run, yaml, tmp_path, robust
):
    shuffled = yaml.replace('"4"', '"2"') + 'setting: shuffled\ndelta: "0.000001"\nn_least: 500\n'
    (tmp_path / "other.yaml").write_text(shuffled)
    run("sign", "other.yaml")
    other = Campaign.load("other.json")
    store = open_store("sqlite:///other.sqlite", other.id, other.envelope)
    store.accept([Arrival(0, [os.urandom(16) for _ in range(600)], [*range(200)] * 3)], 0)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "notes.txt").write_text("mine")
    at = ("cluster", "other.json", "--db", "sqlite:///other.sqlite", robust)
    assert "error" in run(*at, "--key", "nowhere.key")
    assert run(*at, "-o", "taken")["error"] == "AlreadyExists"
    assert store.accept([Arrival(0, [os.urandom(16)], [1])], 0)[0].accepted == 1
    store.close()


@pytest.mark.slow
def test_groups_learnt_on_spark_are_nearly_those_learnt_here(campaign, run, spark):
    store = open_store("sqlite:///campaign.sqlite", campaign.id, campaign.envelope)
    words, question = client.WordStream(), campaign.document["rounds"][0]["question"]
    places = [[0.2, 0.2], [0.8, 0.7]]
    codes = [client.draw(question, places[i % 2], words) for i in range(600)]
    store.accept([Arrival(0, [os.urandom(16) for _ in codes], codes)], 0)
    store.close()
    here = run("cluster", "campaign.json", "-o", "here", "--seed", 1)
    there = run("cluster", "campaign.json", "-o", "there", "--seed", 1, "--engine", "spark")
    assert there["n_reports"] == here["n_reports"] == 600
    assert np.allclose(sorted(there["centers"]), sorted(here["centers"]), atol=0.02)  # other starts
