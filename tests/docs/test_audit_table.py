"""What the audit's page says is what the last full run found, and that run was of what there is."""

import importlib.util
from pathlib import Path

import pytest
from scipy.stats import binom

from shoal.audit import estimators, mechanisms
from shoal.audit.twins import twins

TOOL = Path(__file__).parents[2] / "tools" / "audit_table.py"
_spec = importlib.util.spec_from_file_location("audit_table", TOOL)
audit_table = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(audit_table)

KINDS = {"mechanisms": mechanisms, "estimators": estimators, "twins": twins}


def test_the_page_shows_what_the_last_run_found():
    page = audit_table.PAGE.read_text(encoding="utf-8")
    assert audit_table.with_tables(page) == page


def test_the_package_ships_what_the_last_runs_found():
    assert audit_table.SHIPPED.read_text(encoding="utf-8") == audit_table.shipped()


@pytest.mark.parametrize("kind", KINDS)
def test_every_case_there_is_was_run(kind):
    """If not: ``python bench/audit.py KIND --resume``, then ``python tools/audit_table.py``."""
    assert sorted(row["name"] for row in audit_table.rows_of(kind)) == sorted(KINDS[kind])


@pytest.mark.parametrize("kind", ["mechanisms", "estimators"])
def test_nothing_of_ours_exceeded_its_claim(kind):
    for row in audit_table.rows_of(kind):
        assert row["certified"] <= row["claimed"], row["name"]
        assert row["verdict"] == "consistent", row["name"]


def test_every_mechanism_was_run_at_full_size():
    for row in (*audit_table.rows_of("mechanisms"), *audit_table.rows_of("twins")):
        assert row["draws"] == row["own_draws"], row["name"]


def test_four_fifths_of_every_reference_were_certified():
    for row in (*audit_table.rows_of("mechanisms"), *audit_table.rows_of("twins")):
        if row["must_show"] is not None:
            assert row["certified"] >= 0.8 * row["must_show"], row["name"]


def test_every_twin_was_caught():
    assert {row["verdict"] for row in audit_table.rows_of("twins")} == {"violated"}


def test_false_alarms_are_no_more_than_the_binomial_allows():
    rows = audit_table.rows_of("alarms")
    wrong = sum(row["verdict"] == "violated" for row in rows)
    assert len(rows) == 200
    assert binom.sf(wrong - 1, len(rows), audit_table.results("audit")["alpha"]) > 0.01
