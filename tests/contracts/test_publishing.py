"""Groups that cannot be distinguished from noise are not published without an explicit flag."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli._main import app
from shoal.cluster.group_sizes import ignore_no_groups_warning

pytestmark = pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
rng = np.random.default_rng(5)
DOMAIN = "version: 1\ncolumns: {east: {low: 0, high: 1}, north: {low: 0, high: 1}}\n"
MIXED = DOMAIN.replace("}}\n", "}, sex: {values: [F, M]}}\n")
ANYWAY = "--publish-anyway"


def run(*words, code=0):
    shown = CliRunner().invoke(app, [str(word) for word in words])
    assert shown.exit_code == code, shown.output
    return shown


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A table of four people, and public bounds."""
    monkeypatch.chdir(tmp_path)
    Path("domain.yaml").write_text(DOMAIN)
    Path("mixed.yaml").write_text(MIXED)
    few = pd.DataFrame(rng.uniform(0, 1, (4, 2)), columns=["east", "north"])
    few.assign(sex=["F", "M", "F", "F"]).to_csv("few.csv", index=False)
    return tmp_path


def has_groups(folder="model"):
    """Whether the public page, made of the numbers beside it, shows anything of a group."""
    numbers = json.loads((Path(folder) / "report.json").read_text())
    shown = numbers["result"]
    return bool(numbers["groups"] or shown["values"] or shown["tables"])


METHODS = {
    "kmeans": ("-k", 2, "--epsilon", 0.1, "--domain", "domain.yaml"),
    "wave": ("--method", "wave", "--epsilon", 0.1, "--domain", "domain.yaml"),
    "mixed": ("-k", 2, "--epsilon", 0.01, "--domain", "mixed.yaml"),
}


def cluster_noise(*words):
    """What `cluster` prints where it withholds groups of four people.

    By design one group of noise in 1,000 counts as certain: not two such fits in a row.
    """
    words = [str(word) for word in ("cluster", "few.csv", *words)]
    shown = CliRunner().invoke(app, words)
    return shown if shown.exit_code == 1 else run(*words, "--overwrite", code=1)


@pytest.mark.parametrize("words", METHODS.values(), ids=METHODS)
def test_a_public_page_shows_no_groups_of_noise_unless_its_publisher_says_so(words):
    shown = cluster_noise(*words)
    assert "--publish-anyway" in shown.output
    assert not has_groups()
    page = Path("model/report.html").read_text()
    assert "so they are not shown" in page
    assert "centers.csv" not in page  # a file that is listed is meant to go with the page
    assert shoal.load_model("model") is not None  # paid for, and kept
    run("cluster", "few.csv", *words, ANYWAY, "--overwrite")


def test_the_page_drawn_again_from_a_folder_follows_the_same_rule():
    cluster_noise(*METHODS["kmeans"], "--curator", "mine.html")
    assert "Plan nothing on it" in Path("mine.html").read_text()  # the holder sees them
    shown = run("report", "model", "--overwrite", code=1)
    assert ANYWAY in shown.output
    assert not has_groups()
    run("report", "model", "--overwrite", ANYWAY)
    assert has_groups()
    model = shoal.load_model("model")
    Path("again").mkdir()
    shoal.report(model, "again/report.html")
    assert not has_groups("again")
    shoal.report(model, "again/report.html", publish_anyway=True, overwrite=True)
    assert has_groups("again")


@pytest.mark.parametrize("mechanism", ["local-grid", "rounds"])
def test_groups_learnt_from_a_few_reports_follow_the_same_rule(mechanism):
    rows = pd.DataFrame(rng.uniform(0, 1, (120, 2)), columns=["east", "north"])
    rows.to_csv("rows.csv", index=False)
    k = ("-k", 2)
    words = ("--mechanism", mechanism, "--epsilon", 0.1, "--domain", "domain.yaml", "--clip")
    run("perturb", "rows.csv", *words, *(k if mechanism == "rounds" else ()), "-o", "r.parquet")
    more = k if mechanism == "local-grid" else ()
    held = json.loads(run("learn", "r.parquet", *more, "--json", "--seed", 1, code=1).stdout)
    assert held["published"] is False
    assert not has_groups()
    again = run("report", "model", "--overwrite", "--json", code=1)
    assert json.loads(again.stdout)["published"] is False
    assert not has_groups()
    run("learn", "r.parquet", *more, "--overwrite", "--seed", 1, ANYWAY)
    assert has_groups()


# What devices are shown.

CAMPAIGN = """
name: a walk
purpose: Where people walk.
operator: The town
contact: town@example.org
columns: [{name: x, low: 0, high: 1}, {name: y, low: 0, high: 1}]
epsilon: "1"
n_expected: 19000
n_clusters: 3
opens: 2020-01-01T00:00:00Z
closes: 2999-01-01T00:00:00Z
"""


@pytest.fixture
def campaign():
    """Signs a campaign, and takes 22 reports of each round; gives it and what a device asks."""
    pytest.importorskip("cryptography", reason="pip install 'shoal[collector]'")
    pytest.importorskip("uvicorn", reason="pip install 'shoal[collector]'")
    from tests.collector.conftest import serving

    from shoal.collector import client
    from shoal.collector._campaign import Campaign
    from shoal.collector._databases import open_store
    from shoal.collector._server import create_app
    from shoal.collector._storage import Arrival

    def make(extra=""):
        Path("campaign.yaml").write_text(CAMPAIGN + extra)
        run("collect", "key", "operator.key")
        run("collect", "sign", "campaign.yaml")
        signed = Campaign.load("campaign.json")
        store = open_store("sqlite:///campaign.sqlite", signed.id, signed.envelope)
        words, question = client.WordStream(), signed.document["rounds"][0]["question"]
        codes = [client.draw(question, row, words) for row in rng.uniform(0, 1, (22, 2)).tolist()]
        store.accept([Arrival(0, [os.urandom(16) for _ in codes], codes)], 0)
        store.close()

        def served(path):
            store = open_store("sqlite:///campaign.sqlite", signed.id, signed.envelope)
            with serving(create_app(signed, store)) as address:
                status, body, _ = client.http(address + path)
            return status, body

        return served

    return make


def control_of(body):
    from shoal.collector import client
    from shoal.collector._campaign import Campaign

    key = Campaign.load("campaign.json").key
    return client.open_envelope(json.loads(body), "model", key)[0]["control"]


@pytest.mark.parametrize("robust", [(), ("--robust",)], ids=["usual", "robust"])
def test_devices_are_served_no_groups_of_noise_without_the_flag(campaign, robust):
    served = campaign()
    words = ("collect", "cluster", "campaign.json", *robust, "--seed", 1)
    held = run(*words, "--json", code=1)
    assert json.loads(held.stdout)["published"] is False
    assert served("/v1/model")[0] == 404
    if not robust:
        assert not has_groups()
    run(*words, "-o", "published", ANYWAY)
    status, body = served("/v1/model")
    assert status == 200
    assert "Noise alone would look like this" in control_of(body)


def test_a_round_goes_on_with_groups_of_noise_only_with_the_flag(campaign):
    served = campaign("rounds: 3\n")
    words = ("collect", "advance", "campaign.json", 0, "--seed", 1)
    assert json.loads(run(*words, "--json", code=1).stdout)["published"] is False
    assert served("/v1/round/1")[0] == 404
    run(*words, ANYWAY)
    assert served("/v1/round/1")[0] == 200


def test_counts_of_two_aggregators_are_held_against_their_noise():
    pytest.importorskip("cryptography", reason="pip install 'shoal[collector]'")
    from types import SimpleNamespace

    from tests.collector.campaigns import campaign_document

    from shoal.collector._aggregators import count_deviation
    from shoal.collector._opened_sums import OpenedCounts, are_distinct

    signed = SimpleNamespace(document=campaign_document())
    deviation, cells = count_deviation("2"), 15 * 15
    centers = np.array([[0.2, 0.2], [0.8, 0.8]])
    verdicts = []
    for people in (0, 2_000):
        counts = np.zeros(cells)
        counts[[16 * 3, 16 * 11]] = people / 2
        for _ in range(20):
            noisy = np.rint(counts + rng.normal(0, deviation, cells)).astype(np.int64)
            opened = OpenedCounts(noisy, people, deviation)
            verdicts.append(are_distinct(signed, opened, centers))
    assert verdicts == [False] * 20 + [True] * 20


def test_a_page_drawn_again_lists_no_files_of_groups_that_it_withholds(tmp_path):
    rows = np.random.default_rng(1).uniform(size=(20, 2))
    with ignore_no_groups_warning():
        model = shoal.PrivateKMeans(4, epsilon=0.05, domain=shoal.Box.unit(2)).fit(rows)
    model.save(tmp_path / "model")
    page = shoal.report(tmp_path / "model", tmp_path / "page.html")
    assert "centers.csv" not in page.read_text()
    anyway = shoal.report(tmp_path / "model", tmp_path / "anyway.html", publish_anyway=True)
    assert "centers.csv" in anyway.read_text()
