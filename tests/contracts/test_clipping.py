"""Every private estimator checks its bounds first, and stops where they miss the rows."""

import numpy as np
import pytest

from shoal.cluster import WaveCluster
from shoal.cluster.registry import REGISTRY
from shoal.domain import Box, Schema
from shoal.errors import BoundsMissTheRows, BudgetExceeded, InvalidSetting
from shoal.privacy import Ledger, PureDP, Unprotected
from shoal.synopsis import MixedSynopsis

CHECKED = [entry for entry in REGISTRY if entry.replays() and entry.name != "PrivateBounds"]
every = pytest.mark.parametrize("entry", CHECKED, ids=lambda entry: entry.name)
SCHEMA = Schema.of(
    {"version": 1, "columns": {"x": {"low": 0, "high": 1}, "c": {"values": ["a", "b"]}}}
)
SHARES = {"MixedSynopsis": "0.02", "PrivateKPrototypes": "0.02", "WaveCluster": "0.01"}


def made(entry, **settings):
    domain = SCHEMA if entry.is_mixed else Box(x=(0, 1))
    return entry.make(domain=domain, random_state=4, **settings)


def rows(entry, n=4000, at=3.0):
    x = np.random.default_rng(6).normal(at, 0.1, n)
    return {"x": x, "c": ["a", "b"] * (n // 2)} if entry.is_mixed else {"x": x}


@every
def test_it_stops_and_has_spent_the_check_alone(entry):
    ledger = Ledger()
    with pytest.raises(BoundsMissTheRows) as caught:
        made(entry, ledger=ledger).fit(rows(entry))
    entries = ledger.entries()
    assert entries["epsilon"][0].as_py() == SHARES.get(entry.name, "0.03")
    assert {*entries["what"].to_pylist()} == {"check of bounds", "which bound rows lie beyond"}
    (side,) = caught.value.sides
    assert (side["column"], side["end"]) == ("x", "high")
    assert str(ledger.totals()[0].epsilon) == str(PureDP(caught.value.spent).epsilon)
    assert ledger.totals()[0].epsilon <= PureDP("0.12").epsilon


@every
def test_it_goes_on_where_that_is_accepted_and_says_so(entry):
    ledger = Ledger(limit=PureDP(1))
    model = made(entry, ledger=ledger, clipping="accept").fit(rows(entry))
    assert model.bounds_check_.is_alarm
    assert model.guarantee_ == PureDP(1, simulation=True)
    assert ledger.totals() == [model.guarantee_]


@every
def test_good_bounds_cost_no_more_than_the_row_count(entry):
    ledger = Ledger()
    model = made(entry, ledger=ledger).fit(rows(entry, at=0.5))
    assert not model.bounds_check_.is_alarm
    assert model.guarantee_ == PureDP(1, simulation=True)
    share = PureDP(SHARES.get(entry.name, "0.03"))
    assert ledger.entries()["epsilon"].to_pylist()[0] == str(float(share.epsilon))
    assert ledger.entries().num_rows == 2


@every
def test_the_whole_promise_must_fit_the_limit_before_the_check(entry):
    ledger = Ledger(limit=PureDP("0.5"))
    with pytest.raises(BudgetExceeded):
        made(entry, ledger=ledger).fit(rows(entry))
    assert ledger.totals() == []


@every
def test_another_word_is_refused_before_rows_are_read(entry):
    with pytest.raises(InvalidSetting, match="clipping"):
        made(entry, clipping="ignore").fit("no-such-table.csv")


@pytest.mark.parametrize("entry", [e for e in CHECKED if e.is_model], ids=lambda entry: entry.name)
def test_a_saved_model_still_says_so(entry, tmp_path):
    from shoal.cluster import load_model
    from shoal.pages import groups

    model = made(entry, clipping="accept").fit(rows(entry, at=1.0))
    loaded = load_model(model.save(tmp_path / "model"))
    assert loaded.bounds_check_ == model.bounds_check_
    assert loaded.clipping == "accept"
    page = groups.page(loaded)
    assert page.summary.startswith(model.bounds_check_.share_text)
    assert "lie outside the bounds" in page.summary
    assert page.lines[0].label == "Bounds"
    assert page.values["bounds_check"]["is_alarm"]


def test_a_fit_without_a_check_does_not_keep_that_of_an_earlier_one():
    model = WaveCluster(epsilon=1, domain=Box(x=(0, 1)), clipping="accept", random_state=4)
    assert model.fit({"x": np.full(4000, 3.0)}).bounds_check_.is_alarm
    model.set_params(epsilon=None, privacy=Unprotected("A table of nobody."))
    assert model.fit({"x": np.linspace(0, 1, 100)}).bounds_check_ is None


def test_a_saved_synopsis_of_a_mixed_table_still_says_so(tmp_path):
    entry = next(entry for entry in CHECKED if entry.name == "MixedSynopsis")
    synopsis = made(entry, clipping="accept").fit(rows(entry))
    synopsis.save(tmp_path / "synopsis")
    loaded = MixedSynopsis.load(tmp_path / "synopsis")
    assert loaded.bounds_check_ == synopsis.bounds_check_
    assert loaded.bounds_check_.is_alarm
