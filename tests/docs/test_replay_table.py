"""What the audit's page says of replays is what their last run computed, of what there is."""

import importlib.util
from pathlib import Path

import pytest

from shoal.audit.loss._replay_families import families
from shoal.audit.loss._twins import twins

TOOL = Path(__file__).parents[2] / "tools" / "replay_table.py"
_spec = importlib.util.spec_from_file_location("replay_table", TOOL)
replay_table = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(replay_table)


def test_the_page_shows_what_the_last_run_computed():
    page = replay_table.PAGE.read_text(encoding="utf-8")
    assert replay_table.with_tables(page) == page


@pytest.mark.parametrize(("kind", "models"), [("families", families), ("twins", twins)])
def test_all_there_are_were_replayed(kind, models):
    """If not: ``python bench/replay.py --resume``, then ``python tools/replay_table.py``."""
    assert [row["name"] for row in replay_table.rows_of(kind)] == list(models)


def test_no_family_loses_more_than_it_claims():
    for row in replay_table.rows_of("families"):
        assert row["verdict"] == "consistent", row["name"]
        assert row["worst"] <= row["epsilon"] + 1e-9, row["name"]
        assert row["loss"] <= row["epsilon"] + 1e-9 or row["delta_claim"], row["name"]
        assert row["delta"] <= row["delta_claim"], row["name"]
        assert row["faults"] == [], row["name"]


def test_every_family_was_replayed_on_two_hundred_pairs():
    fewer = [row["name"] for row in replay_table.rows_of("families") if row["pairs"] < 200]
    assert fewer == []


def test_every_twin_was_caught():
    for row in replay_table.rows_of("twins"):
        assert row["verdict"] in ("violated", "broken"), row["name"]
