"""A page that does not show the groups says nothing of where they lie, whatever found them."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from shoal.cli._main import app
from shoal.cluster import (
    LocalClusterer,
    LocalRounds,
    PrivateKMeans,
    PrivateKPrototypes,
    RoundsModel,
    WaveCluster,
)
from shoal.cluster.local._group_test import Evidence
from shoal.cluster.local.transcript import AllRounds
from shoal.domain import Box, Schema
from shoal.mechanisms import NDLaplace
from shoal.pages import findings
from shoal.pages.groups import page
from shoal.pages.page import is_withheld
from shoal.randomness import Randomness

BOX = Box(age=(0, 110), visits=(0, 20))
PLACES = np.array([[23.7, 4.3], [71.9, 13.6]])
ROWS = BOX.clip(np.random.default_rng(0).normal(np.repeat(PLACES, 300, axis=0), [3.0, 0.8]))
# What only a group has: its number, a centre, an interval, a cell of its map.
OF_A_GROUP = r"[Gg]roup \d|[Cc]entres? \d|± \d|pale cell|these centres|what you see"


def without_verdict(model):
    """The fitted model, with no group that passes the test."""
    model.is_certain_ = np.zeros(model.n_clusters_, dtype=bool)
    return model


def k_means():
    return without_verdict(PrivateKMeans(2, epsilon=1, domain=BOX, random_state=1).fit(ROWS))


def waves():
    return without_verdict(WaveCluster(epsilon=1, domain=BOX, random_state=1).fit(ROWS))


def prototypes():
    schema = Schema.of({"version": 1, "columns": {
        "age": {"low": 0, "high": 110}, "visits": {"low": 0, "high": 20},
        "town": {"values": ["harbour", "hills"]}}})  # fmt: skip
    rows = {"age": ROWS[:, 0], "visits": ROWS[:, 1],
            "town": np.repeat(["harbour", "hills"], 300)}  # fmt: skip
    model = PrivateKPrototypes(
        2, epsilon=1, domain=schema, n_init=2, n_synthetic=300, random_state=1
    )
    return without_verdict(model.fit(rows))


def reports():
    made = NDLaplace(1, domain=BOX).release(ROWS, Randomness(1).noise)
    model = LocalClusterer(2, mechanism=made.mechanism, random_state=1).fit(made)
    model._set_evidence(Evidence(False, {"spread evenly": 0.1}, 2.0, 1.5))
    return model


def untested_reports():
    model = reports()
    model._set_evidence(None)
    return model


def rounds():
    first = LocalRounds(BOX, n_clusters=2, epsilon=0.01, n_expected=len(ROWS))
    return RoundsModel.of(AllRounds(first, 7).release(ROWS, Randomness(1).noise))


@pytest.mark.parametrize("make", [k_means, waves, prototypes, reports, untested_reports, rounds])
def test_a_withheld_page_says_nothing_of_where_a_group_lies(make):
    model = make()
    built = page(model)
    result = built.to_result()
    assert is_withheld(result)
    shown = findings(result)
    text = json.dumps([shown["result"], shown["errors"]], ensure_ascii=False)
    assert not re.search(OF_A_GROUP, text)
    assert not {"Groups", "Centres"} & {fact["name"] for fact in shown["result"]["facts"]}
    centers = getattr(model, "cluster_centers_", np.empty(0))
    assert not [value for value in np.ravel(centers) if f"{value:.1f}" in text]


@pytest.mark.parametrize("make", [k_means, waves, prototypes])
def test_a_withheld_page_says_why_and_the_terminal_shows_no_group(make):
    built = page(make())
    first = findings(built.to_result())["errors"][0]
    assert first.startswith("No group can be distinguished from noise")
    printed = " ".join(str(line) for line in built.lines)
    assert not re.search(r"[Gg]roup \d|in \d groups", printed)


@pytest.mark.parametrize("make", [k_means, prototypes])
def test_groups_that_are_published_anyway_keep_their_limits(make):
    shown = findings(page(make()).to_result(publish_anyway=True))
    assert shown["groups"]
    assert any("Other people in the table" in text for text in shown["errors"])


def test_a_saved_model_that_was_not_tested_is_shown_by_no_page_until_it_is(tmp_path):
    untested_reports().save(tmp_path / "model")
    words = ["report", str(tmp_path / "model"), "--overwrite"]
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 1
    assert "model.evidence(reports)" in " ".join(shown.output.split())
    assert CliRunner().invoke(app, [*words, "--publish-anyway"]).exit_code == 0


@pytest.mark.parametrize("make", [k_means, waves])
def test_the_document_calls_the_verdict_on_a_group_certain(make):
    assert all(group["certain"] is False for group in page(make()).values["groups"])
