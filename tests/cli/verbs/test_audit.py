import json
import os
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shoal.audit import estimators, finding_of, mechanisms
from shoal.audit.twins import twins
from shoal.cli._main import app

MINE = """
import numpy as np

SECRET = "secret row"

def coin(x, rng):  # exactly epsilon = 1
    return int(rng.random() < (np.e if x else 1) / (1 + np.e))

def by_itself(x):
    return int(np.random.default_rng().random() < (np.e if x else 1) / (1 + np.e))

def too_little(x, rng):
    return round(x + rng.laplace(0, 0.2))

def raising(x, rng):
    raise ValueError(f"{SECRET} {x}")

def nan(x, rng):
    return float("nan")

def constant(x, rng):
    return 3

def shapeless(x, rng):
    return np.zeros(int(rng.integers(1, 3)))

def mean(rows, rng):
    return round(4 * sum(rows) / len(rows) + rng.laplace(0, 4))

class Mechanism:
    def release(self, value, rng):
        return coin(value, rng)

mechanism = Mechanism()
number = 3
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / f"{MODULE}.py").write_text(MINE)
    return tmp_path


MODULE = "functions_of_the_test_of_audit"


def run(*words):
    return CliRunner().invoke(app, ["audit", *map(str, words), "--seed", "7"])


def mine(name, *words, pair="[0, 1]", epsilon=("--epsilon", "1.2")):
    return run("--python", f"{MODULE}:{name}", "--pair", pair, "--draws", 1000, *epsilon, *words)


def told(shown, code=0):
    assert shown.exit_code == code, shown.output
    return json.loads(shown.stdout)


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["coin", "by_itself", "mechanism"])
def test_a_function_of_an_input_one_with_a_stream_and_an_object_are_audited(name):
    document = told(mine(name, "--json"))
    assert document["verdict"] == "consistent"
    (found,) = document["findings"].values()
    assert found["claim"] == 1.2
    assert ("draws by itself: the seed does not repeat it" in found["notes"]) == (
        name == "by_itself"
    )


@pytest.mark.heavy
def test_too_little_noise_is_violated_and_the_exit_code_says_so():
    assert told(mine("too_little", "--json"), code=1)["verdict"] == "violated"
    shown = mine("too_little")
    assert shown.exit_code == 1
    assert "violated: " in shown.output
    assert "event: " in shown.output


def test_rows_of_a_table_may_be_an_input():
    shown = mine("mean", "--json", pair="[[0, 0, 0, 0], [0, 0, 0, 1]]")
    assert told(shown)["verdict"] == "consistent"


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("raising", "raised ValueError"),
        ("nan", "NaN"),
        ("constant", "constant"),
        ("shapeless", "shape"),
    ],
)
def test_what_fails_is_broken_and_not_consistent(name, note):
    document = told(mine(name, "--json"), code=1)
    assert document["verdict"] == "broken"
    (found,) = document["findings"].values()
    assert note in " ".join(found["notes"])


def test_what_a_function_raised_is_not_quoted():
    shown = mine("raising", pair='["secret row", "another"]')
    assert shown.exit_code == 1
    assert "secret" not in shown.output


def test_without_a_claim_the_loss_is_measured_and_held_against_nothing():
    document = told(mine("coin", "--json", epsilon=()))
    assert document["verdict"] == "no claim"


@pytest.mark.heavy
def test_a_delta_belongs_to_the_claim():
    delta = told(mine("coin", "--delta", "0.1", "--json"))["findings"]
    none = told(mine("coin", "--json"))["findings"]
    (with_delta,), (without,) = delta.values(), none.values()
    assert with_delta["delta"] == 0.1
    assert with_delta["epsilon"] < without["epsilon"]


@pytest.mark.heavy
def test_inputs_that_may_be_somebodys_are_not_kept(folder):
    shown = mine("mean", "-o", "verdict.html", "--seed", 1, pair="[[0, 0, 0, 0], [0, 0, 0, 8191]]")
    page = Path("verdict.html").read_text()
    assert "CURATOR ONLY" in page
    assert "8191" not in page
    assert "8191" not in shown.output
    assert "for you only" in " ".join(shown.output.split())
    assert stat.S_IMODE(Path("verdict.html").stat().st_mode) == 0o600


def test_inputs_that_are_made_up_are_named_and_the_page_may_be_passed_on():
    document = told(mine("coin", "--made-up", "-o", "verdict.html", "--json"))
    (found,) = document["findings"].values()
    assert found["constructed"] is True
    assert found["pair"] == "0 against 1"
    assert document["for_the_holder_alone"] is False
    page = Path("verdict.html").read_text()
    assert "CURATOR ONLY" not in page
    assert "may be passed on" in page


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Give exactly one"),
        (("geometric", "--python", "a:b", "--pair", "[0, 1]"), "Give exactly one"),
        (("--python", f"{MODULE}:coin"), "needs --pair"),
        (("--python", f"{MODULE}:coin", "--pair", "[0"), "must be a JSON list"),
        (("--python", f"{MODULE}:coin", "--pair", "[0, 1, 2]"), "must be a JSON list"),
        (("--python", f"{MODULE}:coin", "--pair", '{"a": 1, "b": 2}'), "must be a JSON list"),
        (("--python", f"{MODULE}:coin", "--pair", '"ab"'), "must be a JSON list"),
        (("--python", f"{MODULE}:coin", "--pair", "[1, 1]"), "the same"),
        (("--python", f"{MODULE}:none", "--pair", "[0, 1]"), "AttributeError"),
        (("--python", f"{MODULE}:number", "--pair", "[0, 1]"), "must be a function"),
        (("--python", f"{MODULE}:Mechanism", "--pair", "[0, 1]"), "must be a function"),
        (("--python", "no_such_module:f", "--pair", "[0, 1]"), "ModuleNotFoundError"),
        (("geometric", "--pair", "[0, 1]"), "need --python"),
        (("geometric", "--delta", "0.1"), "need --python"),
        (("geometric", "--made-up"), "need --python"),
        (("geometric", "--epsilon", "one"), "must be a number"),
        (("geometric", "--epsilon", "-1"), "must be a number"),
        (("geometric", "--epsilon", "inf"), "must be a number"),
        (("geometric", "--epsilon", "nan"), "must be a number"),
        (("geometric", "--alpha", "0.7"), "alpha"),
        (("geometric", "--draws", "10"), "draws"),
        (("no-such-thing",), "nothing named"),
        (("geometric", "-o", "verdict.pdf"), "must end in"),
    ],
)
def test_wrong_use_is_named_and_nothing_is_run(words, said):
    shown = run(*words)
    assert shown.exit_code == 2, shown.output
    assert said in " ".join(shown.output.split())


@pytest.mark.heavy
def test_a_page_is_whole_and_an_older_one_stays_unless_told():
    first = run("harmony", "--draws", 2000, "-o", "verdict.html")
    assert first.exit_code == 0, first.output
    page = Path("verdict.html").read_text()
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")
    assert page.count("</figure>") == 2
    assert page.count("<details") == 2
    again = run("harmony", "--draws", 3000, "-o", "verdict.html")
    assert again.exit_code == 2
    assert "AlreadyExists" in again.output
    assert Path("verdict.html").read_text() == page
    assert run("harmony", "--draws", 3000, "-o", "verdict.html", "--overwrite").exit_code == 0
    assert Path("verdict.html").read_text() != page
    assert os.listdir(".").count("verdict.html") == 1
    assert not [name for name in os.listdir(".") if name.endswith(".part")]


def test_an_older_file_is_found_before_anything_is_drawn(monkeypatch):
    Path("verdict.html").write_text("kept")
    monkeypatch.setattr("shoal.audit.Case.run", lambda *_, **__: pytest.fail("drawn"))
    assert run("geometric", "-o", "verdict.html").exit_code == 2
    assert Path("verdict.html").read_text() == "kept"


@pytest.mark.heavy
def test_a_document_is_what_json_prints_and_findings_come_back_from_it():
    shown = told(run("harmony", "--draws", 2000, "--json", "-o", "verdict.json"))
    kept = json.loads(Path("verdict.json").read_text())
    assert shown == kept
    assert kept["schema"] == "shoal.audit/1"
    assert list(kept["findings"]) == ["harmony d=2", "harmony d=4"]
    for values in kept["findings"].values():
        found = finding_of(values)
        assert found.to_dict() == values
        assert found.alpha == 0.01 / 2
        assert found.seed == 7


@pytest.mark.heavy
def test_a_mechanism_is_made_with_the_epsilon_given():
    (found,) = told(run("hybrid", "--epsilon", 3, "--draws", 4000, "--json"))["findings"].values()
    assert found["claim"] == 3
    assert found["guarantee"]["epsilon"] == "3"
    assert found["epsilon"] > 2


@pytest.mark.heavy
def test_a_twin_is_caught_by_its_name():
    shown = run("Duchi with ties in both halves, d = 2", "--draws", 40_000)
    assert shown.exit_code == 1
    assert "violated" in shown.output


@pytest.mark.heavy
def test_an_estimator_is_audited_by_its_name():
    document = told(run("UniformGrid", "--draws", 1000, "--json"))
    assert document["verdict"] == "consistent"


@pytest.mark.heavy
def test_without_a_seed_a_fresh_one_is_drawn_and_told():
    words = ["audit", "--python", f"{MODULE}:coin", "--pair", "[0, 1]", "--epsilon", "5"]
    again = [CliRunner().invoke(app, [*words, "--draws", "1000", "--json"]) for _ in range(2)]
    seeds = {told(shown)["seed"] for shown in again}
    assert len(seeds) == 2


def test_quiet_says_nothing_and_the_exit_code_all():
    shown = mine("too_little", "--quiet")
    assert (shown.exit_code, shown.output) == (1, "")


@pytest.mark.heavy
def test_the_list_names_all_there_is():
    listed = told(run("--list", "--json"))
    assert set(listed) == {"mechanisms", "estimators", "twins"}
    assert listed["twins"].keys() == twins.keys()
    shown = run("--list").output
    words = " ".join(shown.split())
    assert not [name for name in (*mechanisms, *estimators, *twins) if name not in words]


@pytest.mark.heavy
def test_replays_of_an_estimator_say_that_they_are_exact():
    done = run("UniformGrid, sparse", "--replay", "--pairs", 3)
    assert done.exit_code == 0, done.output
    assert "At most 1 is lost on these pairs where 1 is claimed." in " ".join(done.output.split())
    assert "exact, nothing left to chance" in done.output


@pytest.mark.heavy
def test_a_twin_is_replayed_with_exit_code_1_and_its_page_repeats_the_command(folder):
    done = run("labels kept", "--replay", "--pairs", 3, "-o", "verdict.html")
    assert done.exit_code == 1
    assert "labels_ depends on the rows beside the gate" in " ".join(done.output.split())
    page = (folder / "verdict.html").read_text()
    assert "--replay --pairs 3 --seed 7" in page
    assert "alpha" not in page


@pytest.mark.parametrize(
    "options",
    [
        ("kmeans", "--replay", "--epsilon", "1"),
        ("kmeans", "--replay", "--draws", "2000"),
        ("kmeans", "--pairs", "3"),
        ("kmeans", "--replay", "--pair", "[0, 1]"),
        ("--replay",),
    ],
)
def test_options_of_draws_and_of_replays_do_not_mix(options):
    assert run(*options).exit_code == 2
