import json
import os

import numpy as np
import pytest
from typer.testing import CliRunner

from shoal.cli._main import app
from shoal.errors import BudgetExceeded, LedgerLocked, LedgerNotWritable
from shoal.mechanisms import Gaussian, Geometric
from shoal.privacy import ApproxDP, Ledger, LocalDP, MetricDP, PureDP
from shoal.randomness import Randomness


def run(*words):
    return CliRunner().invoke(app, ["ledger", *map(str, words)])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "college.ledger"


def spend(path, epsilon, by="me", seed=None):
    page = Ledger(path).open(PureDP(epsilon), by=by)
    noise = Randomness(seed).noise
    page.release(Geometric(page.budget), np.zeros(2, dtype=int), noise, of="cell counts")


def test_show_lists_who_what_and_what_is_left(path):
    Ledger(path, limit=PureDP(3))
    spend(path, "0.5", by="first method")
    spend(path, 1, by="second method", seed=7)
    shown = run("show", path)
    assert shown.exit_code == 0
    for words in ("first method", "cell counts", "epsilon 1.5", "simulation"):
        assert words in " ".join(shown.stdout.split())


def test_show_is_json_too(path):
    Ledger(path, limit=PureDP(3))
    spend(path, "0.5")
    told = json.loads(run("show", path, "--json").stdout)
    assert [entry["by"] for entry in told["entries"]] == ["me"]
    assert told["totals"][0]["epsilon"] == "0.5"
    assert told["left"] == [{"of": "PureDP(epsilon=3)", "epsilon": "2.5", "text": "2.5"}]


def test_an_empty_ledger_says_so(path):
    Ledger(path)
    assert "Nothing has been promised yet." in run("show", path).stdout


def test_the_path_may_come_from_the_environment(path, monkeypatch):
    Ledger(path)
    monkeypatch.setenv("SHOAL_LEDGER", str(path))
    assert run("show").exit_code == 0


@pytest.mark.parametrize("verb", ["show", "limit"])
def test_a_missing_ledger_is_named_and_not_made(path, verb):
    shown = run(verb, path)
    assert shown.exit_code == 2
    assert "NotALedger" in shown.stderr
    assert not path.exists()


@pytest.mark.heavy
def test_a_limit_makes_the_ledger_before_the_first_spend_and_says_so(path):
    shown = run("limit", path, "--epsilon", 1)
    assert shown.exit_code == 0
    assert "new ledger" in shown.stdout
    assert Ledger(path).limits == (PureDP(1),)
    with pytest.raises(BudgetExceeded):
        spend(path, 2)
    again = run("limit", path, "--epsilon", 2)
    assert "new ledger" not in again.stdout
    spend(path, 2)


@pytest.mark.heavy
def test_a_script_is_told_whether_a_limit_made_the_ledger(path):
    made = [json.loads(run("limit", path, "--epsilon", 1, "--json").stdout) for _ in range(2)]
    assert [told["made"] for told in made] == [True, False]


@pytest.mark.parametrize("words", [("--epsilon=-1",), ("--epsilon", 1, "--kind", "local",
                                                       "--delta", "1e-8")])  # fmt: skip
def test_a_limit_that_is_refused_makes_nothing(path, words):
    assert run("limit", path, *words).exit_code == 2
    assert not path.exists()


def test_a_folder_is_no_ledger_to_set_a_limit_on(tmp_path):
    shown = run("limit", tmp_path, "--epsilon", 1)
    assert shown.exit_code == 2
    assert "NotALedger" in shown.stderr


@pytest.mark.heavy
def test_simulations_are_shown_apart_and_count_towards_the_limit(path):
    Ledger(path, limit=PureDP(3))
    spend(path, "0.5")
    spend(path, 1, seed=7)
    spend(path, "0.25")
    shown = " ".join(run("show", path).stdout.split())
    assert "In all PureDP(epsilon=0.75) Simulated PureDP(epsilon=1): " in shown
    assert "Left epsilon 1.25 of PureDP(epsilon=3)" in shown
    told = json.loads(run("show", path, "--json").stdout)
    assert [(each["epsilon"], each["simulation"]) for each in told["totals"]] == [("0.75", False)]
    assert [(each["epsilon"], each["simulation"]) for each in told["simulated"]] == [("1", True)]
    assert told["left"][0]["epsilon"] == "1.25"


@pytest.mark.heavy
def test_a_ledger_of_two_names_is_refused_to_readers_without_a_word_of_spending(path):
    spend(path, 1)
    os.link(path, path.with_name("second"))
    for words in (("show", path), ("limit", path.with_name("second"))):
        shown = run(*words)
        assert shown.exit_code == 2
        assert "UnsafeLedgerPlace" in shown.stderr
        assert "spent" not in shown.stderr


def test_a_file_that_is_something_else_is_left_alone(path):
    path.write_text("age,town\n31,Ullapool\n")
    shown = run("show", path)
    assert shown.exit_code == 2
    assert "Ullapool" not in shown.output
    assert path.read_text() == "age,town\n31,Ullapool\n"


@pytest.mark.heavy
def test_limit_shows_and_changes_the_limit(path):
    Ledger(path)
    assert "none" in run("limit", path).stdout
    assert run("limit", path, "--epsilon", 3).exit_code == 0
    assert Ledger(path).limits == (PureDP(3),)
    assert "PureDP(epsilon=3)" in run("limit", path).stdout


@pytest.mark.heavy
def test_limits_of_other_kinds_stay(path):
    Ledger(path, limit=PureDP(3))
    run("limit", path, "--epsilon", 2, "--kind", "local")
    run("limit", path, "--epsilon", 4, "--kind", "metric", "--unit", "km")
    run("limit", path, "--epsilon", 1, "--kind", "pure")
    expected = {PureDP(1), LocalDP(2), MetricDP(4, unit="km")}
    assert set(Ledger(path).limits) == expected


def test_a_limit_for_people_of_several_rows(path):
    Ledger(path)
    run("limit", path, "--epsilon", 1, "--kind", "replace-one", "--max-rows-per-person", 5)
    assert Ledger(path).limits == (PureDP(1, neighbours="replace-one", rows=5),)


@pytest.mark.heavy
@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "much"])
def test_a_limit_that_is_no_budget_is_refused(path, epsilon):
    Ledger(path)
    shown = run("limit", path, f"--epsilon={epsilon}")
    assert shown.exit_code == 2
    assert "InvalidBudget" in shown.stderr


def test_what_a_method_wrote_cannot_move_the_cursor(path):
    spend(path, 1, by="a\x1b[2Jb")
    assert "\x1b" not in run("show", path).stdout


def test_a_limit_below_what_is_spent_leaves_nothing(path):
    spend(path, 2)
    told = json.loads(run("limit", path, "--epsilon", 1, "--json").stdout)
    assert told["left"][0]["epsilon"] == "0"


@pytest.mark.heavy
def test_a_limit_with_a_delta_is_set_and_what_is_left_of_both_is_shown(path):
    spend(path, 1)
    run("limit", path, "--epsilon", 3, "--delta", "1e-8")
    assert Ledger(path).limits == (ApproxDP(3, 1e-8),)
    page = Ledger(path).open(ApproxDP(1, "2.5e-9"), by="test")
    page.release(Gaussian(page.budget, 5), [1, 2], Randomness().noise, of="x")
    shown = run("show", path)
    assert "Left      epsilon 2 and delta 0.0000000075 of" in shown.stdout
    left = json.loads(run("show", path, "--json").stdout)["left"][0]
    assert (left["epsilon"], left["delta"]) == ("2", "0.0000000075")


@pytest.mark.parametrize("kind", ["local", "metric"])
def test_a_delta_is_refused_where_it_has_no_meaning(path, kind):
    spend(path, 1)
    assert run("limit", path, "--epsilon", 1, "--delta", "1e-8", "--kind", kind).exit_code == 2


@pytest.mark.parametrize("delta", ["1", "-1e-9", "x"])
def test_a_delta_that_is_no_chance_is_refused(path, delta):
    spend(path, 1)
    assert run("limit", path, "--epsilon", 1, f"--delta={delta}").exit_code == 2


@pytest.mark.heavy
def test_what_is_shown_as_left_can_be_spent(path):
    Ledger(path, limit=PureDP(1))
    spend(path, "2/3")
    assert "Left      epsilon about 0.333 of" in run("show", path).stdout
    assert "Left      epsilon about 0.333 of" in run("limit", path).stdout
    left = json.loads(run("show", path, "--json").stdout)["left"][0]
    assert left["epsilon"] == "1/3"
    spend(path, left["text"].removeprefix("about "))
    assert json.loads(run("show", path, "--json").stdout)["left"][0]["epsilon"] == "1/3000"


@pytest.mark.parametrize("width", [30, 40, 63, 64, 65, 70, 80])
def test_no_width_cuts_a_promise(path, monkeypatch, width):
    spend(path, "0.125", by="a method of a long name")
    monkeypatch.setenv("COLUMNS", str(width))
    shown = run("show", path).stdout
    lines = shown.split("In all")[0].splitlines()
    if "What" in lines[0]:  # a table: read its last column
        lines = [line[lines[0].index("Promise") :] for line in lines]
    assert "PureDP(epsilon=0.125)" in "".join("".join(lines).split())
    assert max(map(len, shown.splitlines())) <= width


@pytest.mark.parametrize("error", [LedgerNotWritable, LedgerLocked])
def test_who_only_looks_is_not_told_about_spending(path, monkeypatch, error):
    Ledger(path)

    def refuse(*_):
        raise error.unspent("It cannot be opened for writing.", "Look at it.")

    monkeypatch.setattr(Ledger, "entries", refuse)
    shown = run("show", path)
    assert shown.exit_code == 2
    assert error.__name__ in shown.stderr
    assert "spent" not in shown.stderr
    assert ("writing" in shown.stderr) == (error is LedgerLocked)


@pytest.mark.heavy
def test_a_run_that_was_stopped_is_listed_with_what_to_do(tmp_path):
    path = tmp_path / "t.ledger"

    def stopped():
        with Ledger(path).resumable({"k": 4}, by="shoal cluster") as ledger:
            page = ledger.open(PureDP(1), by="test")
            page.release(Geometric(PureDP(1)), np.array([5]), Randomness().noise, of="rows")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stopped()
    shown = run("show", path)
    assert "continues and pays for nothing twice" in " ".join(shown.output.split())
    document = json.loads(run("show", path, "--json").output)
    assert [each["by"] for each in document["unfinished"]] == ["shoal cluster"]
