import json
import os

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from shoal.cli.main import app
from shoal.mechanisms import Geometric
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness


def run(*words):
    return CliRunner().invoke(app, ["demo", *map(str, words)])


def test_the_demo_leaves_a_page_its_numbers_and_its_ledger(tmp_path):
    shown = run("-o", tmp_path / "demo")
    assert shown.exit_code == 0, shown.output
    files = sorted(os.listdir(tmp_path / "demo"))
    assert files == ["cells.parquet", "ledger.sqlite", "report.html", "report.json"]
    assert os.listdir(tmp_path) == ["demo"]
    page = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    assert "at most 24 in 100" in page
    assert len(page.encode()) < 400_000
    assert f"Page      {tmp_path / 'demo' / 'report.html'}\n" in shown.stdout


def test_the_promise_is_in_the_ledger_as_made(tmp_path):
    run("-o", tmp_path / "demo", "--epsilon", "0.3")
    ledger = Ledger(tmp_path / "demo" / "ledger.sqlite")
    assert ledger.totals() == [PureDP("0.3")]
    assert ledger.limits == (PureDP("0.9"),)


def test_the_cells_on_file_are_those_of_the_page(tmp_path):
    run("-o", tmp_path / "demo")
    cells = pq.read_table(tmp_path / "demo" / "cells.parquet")
    report = json.loads((tmp_path / "demo" / "report.json").read_text(encoding="utf-8"))
    drawn = report["figures"][-1]["data"]["noisy_counts"]
    assert cells["noisy_count"].to_pylist() == np.ravel(drawn).tolist()
    assert report["result"]["values"]["people_about"] == sum(cells["noisy_count"].to_pylist())
    assert cells.column_names == [
        "key",
        "low_sessions_per_week",
        "low_minutes_per_session",
        "high_sessions_per_week",
        "high_minutes_per_session",
        "noisy_count",
    ]


def test_json_names_every_file(tmp_path):
    told = json.loads(run("-o", tmp_path / "demo", "--json").stdout)
    assert all(os.path.exists(file) for file in told["files"])
    assert told["guarantee"]["epsilon"] == "1"
    assert told["simulation"] is False
    assert 9_000 < told["people_about"] < 11_000
    assert len(told["dense_areas"]) == 4
    assert {"within_95_in_100", "people_about"} <= told["dense_areas"][0].keys() & told.keys()


def test_two_runs_draw_other_noise(tmp_path):
    for name in ("one", "two"):
        run("-o", tmp_path / name)
    pages = [(tmp_path / name / "report.json").read_text() for name in ("one", "two")]
    assert pages[0] != pages[1]


def test_a_seeded_run_repeats_and_is_marked(tmp_path):
    for name in ("one", "two"):
        assert run("-o", tmp_path / name, "--seed", 7).exit_code == 0
    texts = [(tmp_path / n / "report-simulation.json").read_text() for n in ("one", "two")]
    first, second = ({**json.loads(text), "made": "then"} for text in texts)
    assert first == second
    assert "nothing here is protected" in texts[0]
    assert not (tmp_path / "one" / "report.html").exists()
    assert "Simulation." in run("-o", tmp_path / "three", "--seed", 7).stdout


def test_an_older_demo_is_kept_unless_overwritten(tmp_path):
    run("-o", tmp_path / "demo")
    before = (tmp_path / "demo" / "report.html").read_bytes()
    again = run("-o", tmp_path / "demo")
    assert again.exit_code == 2
    assert "AlreadyExists" in again.stderr
    assert (tmp_path / "demo" / "report.html").read_bytes() == before
    assert run("-o", tmp_path / "demo", "--overwrite").exit_code == 0
    assert (tmp_path / "demo" / "report.html").read_bytes() != before


def test_a_folder_of_other_files_is_never_replaced(tmp_path):
    (tmp_path / "thesis.docx").write_text("years of work")
    shown = run("-o", tmp_path, "--overwrite")
    assert shown.exit_code == 2
    assert (tmp_path / "thesis.docx").exists()


def test_a_ledger_inside_the_folder_to_replace_is_refused(tmp_path):
    run("-o", tmp_path / "demo")
    inside = tmp_path / "demo" / "ledger.sqlite"
    assert run("-o", tmp_path / "demo", "--overwrite", "--ledger", inside).exit_code == 2
    assert Ledger(inside).totals() == [PureDP(1)]


def test_a_run_that_fails_half_way_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    shown = run("-o", tmp_path / "demo")
    assert shown.exit_code == 2
    assert os.listdir(tmp_path) == []


def test_over_the_limit_is_refused_before_anything_is_written(tmp_path):
    ledger = Ledger(tmp_path / "shared.ledger", limit=PureDP(1))
    options = ("--ledger", tmp_path / "shared.ledger")
    assert run("-o", tmp_path / "one", *options).exit_code == 0
    refused = run("-o", tmp_path / "two", *options)
    assert refused.exit_code == 3
    assert "BudgetExceeded" in refused.stderr
    assert not (tmp_path / "two").exists()
    assert ledger.totals() == [PureDP(1)]


def test_the_ledger_of_a_real_table_is_not_spent_on_made_up_students(tmp_path, monkeypatch):
    path = tmp_path / "college.ledger"
    page = Ledger(path, limit=PureDP(3)).open(PureDP(1), by="me")
    page.release(Geometric(page.budget), np.zeros(2, dtype=int), Randomness().noise, of="counts")
    monkeypatch.setenv("SHOAL_LEDGER", str(path))
    assert run("-o", tmp_path / "one").exit_code == 0
    refused = run("-o", tmp_path / "two", "--ledger", path)
    assert refused.exit_code == 2
    assert "Leave --ledger out" in refused.stderr
    assert not (tmp_path / "two").exists()
    assert Ledger(path).totals() == [PureDP(1)]


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "one"])
def test_a_budget_that_is_none_is_refused(tmp_path, epsilon):
    shown = run("-o", tmp_path / "demo", f"--epsilon={epsilon}")
    assert shown.exit_code == 2
    assert "InvalidBudget" in shown.stderr
    assert os.listdir(tmp_path) == []


def test_a_tiny_and_a_huge_budget_still_make_a_page(tmp_path):
    for epsilon in ("0.001", "50"):
        assert run("-o", tmp_path / epsilon, "--epsilon", epsilon).exit_code == 0
        assert (tmp_path / epsilon / "report.html").exists()


def test_quiet_prints_nothing(tmp_path):
    assert run("-o", tmp_path / "demo", "--quiet").output == ""
