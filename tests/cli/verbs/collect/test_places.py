"""``shoal collect``: a campaign of places from its file to its page."""

import os

import numpy as np
import pytest

pytest.importorskip("cryptography", reason="pip install 'shoal[collector]'")

from shoal.collector import client
from shoal.collector._campaign import Campaign
from shoal.collector._databases import open_store
from shoal.collector._storage import Arrival

MIDDLES = np.array([[52.45, 13.3], [52.55, 13.5]])


@pytest.mark.heavy
def test_places_are_learnt_and_their_page_has_north_up(campaign, run, yaml, tmp_path):
    columns = yaml[yaml.index("columns") : yaml.index("n_expected")]
    places = (
        "columns:\n  - {name: latitude, low: 52.4, high: 52.6, unit: degrees}\n"
        "  - {name: longitude, low: 13.2, high: 13.6, unit: degrees}\n"
        'level: "2"\nradius: "0.5"\nenrolment: open\n'
    )
    (tmp_path / "town.yaml").write_text(yaml.replace(columns, places))
    assert run("sign", "town.yaml")["people_needed"] is None
    town = Campaign.load("town.json")
    store = open_store("sqlite:///town.sqlite", town.id, town.envelope)
    words, question = client.WordStream(), town.document["rounds"][0]["question"]
    rng = np.random.default_rng(0)
    people = MIDDLES[rng.integers(0, 2, 900)] + rng.standard_normal((900, 2)) * [0.004, 0.006]
    reports = [client._report_bytes(client.draw(question, one, words)) for one in people.tolist()]
    store.accept([Arrival(0, [os.urandom(16) for _ in reports], reports)], 0)
    store.close()
    db = ("--db", "sqlite:///town.sqlite")
    assert run("status", "town.json", *db)["people"] == 900
    assert run("cluster", "town.json", *db, "--robust")["error"] == "InvalidSetting"
    result = run("cluster", "town.json", *db, "-o", "places", "--seed", 1)
    assert result["published"]
    centers, errors = np.array(result["centers"]), np.array(result["errors"])
    order = np.argsort(centers[:, 0])
    assert (np.abs(centers[order] - MIDDLES) < np.maximum(6 * errors[order], 0.003)).all()
    assert 0 < errors.min() <= errors.max() < 0.01
    page = (tmp_path / "places" / "report.html").read_text()
    assert "by longitude and latitude" in page  # across and upwards
    assert run("close", "town.json", *db)["people"] == 900
