import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shoal.cli._main import app
from shoal.cli.inputs import _demo_results as demo_results
from shoal.cli.verbs import _demo as verb
from shoal.privacy import Ledger, PureDP

FILES = ["ledger.sqlite", "policy.yaml", "report.html", "report.json", "students.csv",
         "students.yaml"]  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def _small():
    """A demo of fewer students, fits and shadow models, which is quick."""
    small = {"FITS": 1, "BUDGETS": (1,), "ATTACKED": 160, "SHADOWS": 8, "ATTACK_GROUPS": 9}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verb, "STUDENTS", 2_000)
        for name, value in small.items():
            patch.setattr(demo_results, name, value)
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory, _small):
    folder = tmp_path_factory.mktemp("made") / "demo"
    return folder, run("-o", folder, "--epsilon", "0.3")


def run(*words):
    return CliRunner().invoke(app, ["demo", *map(str, words)])


@pytest.mark.heavy
def test_the_demo_leaves_a_page_its_table_its_files_and_its_ledger(made):
    folder, shown = made
    assert shown.exit_code == 0, shown.output
    assert sorted(os.listdir(folder)) == FILES
    assert os.listdir(folder.parent) == ["demo"]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "at most 14 in 100" in page
    assert len(page.encode()) < 400_000
    assert f"Page      {folder / 'report.html'}\n" in shown.stdout


@pytest.mark.heavy
def test_the_promise_is_in_the_ledger_as_made(made):
    ledger = Ledger(made[0] / "ledger.sqlite")
    assert ledger.totals() == [PureDP("0.3")]
    assert ledger.limits == (PureDP("0.9"),)


@pytest.mark.heavy
def test_an_older_demo_is_kept_unless_overwritten(made):
    before = (made[0] / "report.html").read_bytes()
    again = run("-o", made[0])
    assert again.exit_code == 2
    assert "AlreadyExists" in again.stderr
    assert (made[0] / "report.html").read_bytes() == before


@pytest.mark.heavy
def test_the_three_commands_run_as_printed_and_the_demo_can_be_made_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = json.loads(run("--json").stdout)
    first = Path("shoal-demo/report.json").read_text()
    printed = values["commands"]
    assert len(printed) == 3
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for command in printed:
        assert Path(command.split()[0]).exists() or command.startswith("shoal ")
        done = subprocess.run(
            command, shell=True, capture_output=True, text=True, env=environment, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    assert {"groups", "released.csv"} <= {*os.listdir("shoal-demo")}
    assert Ledger("shoal-demo/ledger.sqlite").totals() == [PureDP(2)]
    assert run("--overwrite").exit_code == 0
    assert sorted(os.listdir("shoal-demo")) == FILES
    assert Path("shoal-demo/report.json").read_text() != first  # other students, other noise
    assert values["guarantee"]["epsilon"] == "1"
    assert values["simulation"] is False
    assert len(values["groups"]) == 5
    assert values["attack"].keys() == {"private", "plain", "ceiling"}


@pytest.mark.heavy
def test_a_seeded_run_repeats_and_is_marked(tmp_path):
    for name in ("one", "two"):
        assert run("-o", tmp_path / name, "--seed", 7).exit_code == 0
    texts = [(tmp_path / n / "report-simulation.json").read_text() for n in ("one", "two")]
    first, second = ({**json.loads(text), "made": "then"} for text in texts)
    assert first == second
    assert "nothing here is protected" in texts[0]
    assert not (tmp_path / "one" / "report.html").exists()


def test_a_folder_of_other_files_is_never_replaced(tmp_path):
    (tmp_path / "thesis.docx").write_text("years of work")
    shown = run("-o", tmp_path, "--overwrite")
    assert shown.exit_code == 2
    assert (tmp_path / "thesis.docx").exists()


@pytest.mark.heavy
def test_a_run_that_fails_half_way_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    shown = run("-o", tmp_path / "demo")
    assert shown.exit_code == 2
    assert os.listdir(tmp_path) == []


@pytest.mark.heavy
def test_the_ledger_of_a_real_table_is_not_spent_on_made_up_students(tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_LEDGER", str(tmp_path / "college.ledger"))
    assert run("-o", tmp_path / "one").exit_code == 0
    assert not (tmp_path / "college.ledger").exists()


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "one"])
def test_a_budget_that_is_none_is_refused(tmp_path, epsilon):
    shown = run("-o", tmp_path / "demo", f"--epsilon={epsilon}")
    assert shown.exit_code == 2
    assert "InvalidBudget" in shown.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.heavy
@pytest.mark.parametrize("epsilon", ["0.001", "50"])
def test_a_tiny_and_a_huge_budget_still_make_a_page(tmp_path, epsilon):
    shown = run("-o", tmp_path / epsilon, "--epsilon", epsilon)
    assert shown.exit_code == 0, shown.output
    assert (tmp_path / epsilon / "report.html").exists()


@pytest.mark.heavy
def test_quiet_prints_nothing(tmp_path):
    assert run("-o", tmp_path / "demo", "--quiet").output == ""
