import json
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from shoal.anonymize import TopDownSpecialization
from shoal.audit import lira
from shoal.cli._main import app
from shoal.cli.verbs._attack import _draw_rows
from shoal.data import write_table
from shoal.domain import Box

DOMAIN = """
version: 1
columns: {x: {low: 0, high: 1}, y: {low: 0, high: 1}}
"""
POLICY = """
version: 1
input: {path: people.csv}
attributes:
  age: {role: quasi, type: int, domain: [0, 99], hierarchy: {kind: binary}}
  town: {role: quasi, hierarchy: {tree: {"*": {north: [a, b], south: [c, secret town]}}}}
  ill: {role: sensitive}
privacy: {k: 5}
output: {path: out.csv}
"""


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    place = tmp_path_factory.mktemp("attack")
    rng = np.random.default_rng(0)
    points = np.clip(rng.normal(0.5, 0.15, (200, 2)), 0, 1)
    names = ["secret name"] * 200
    write_table(pa.table({"x": points[:, 0], "y": points[:, 1], "name": names}), place / "rows.csv")
    (place / "rows.yaml").write_text(DOMAIN)
    (place / "mixed.yaml").write_text(DOMAIN.replace("{x", "{name: {values: [a, b]}, x"))
    (place / "policy.yaml").write_text(POLICY)
    people = {
        "age": rng.integers(0, 100, 400),
        "town": rng.choice(["a", "b", "c", "secret town"], 400),
        "ill": rng.choice(["yes", "no", "no"], 400),
    }
    raw = pa.table({name: pa.array(values.tolist()) for name, values in people.items()})
    write_table(raw, place / "people.csv")
    write_table(raw.slice(0, 100).select(["age", "town"]), place / "second.csv")
    nobody = pa.table({"age": pa.array([], pa.int64()), "town": pa.array([], pa.string())})
    write_table(nobody, place / "nobody.csv")
    ages = {"type": "int", "domain": (0, 99), "hierarchy": {"kind": "binary"}}
    towns = {"hierarchy": {"tree": {"*": {"north": ["a", "b"], "south": ["c", "secret town"]}}}}
    model = TopDownSpecialization(k=5, hierarchies={"age": ages, "town": towns}, sensitive=["ill"])
    released = model.fit_transform(raw)
    write_table(released if isinstance(released, pa.Table) else pa.table(released),
                place / "released.csv")  # fmt: skip
    return place


@pytest.fixture(autouse=True)
def folder(tables, monkeypatch):
    monkeypatch.chdir(tables)
    return tables


def run(*words, stdin=None):
    return CliRunner().invoke(app, ["attack", *map(str, words)], input=stdin)


def membership(*words, table="rows.csv", **more):
    few = ("--shadows", 8, "--repeats", 5, "--sample-rows", 160, "--domain", "rows.yaml")
    return run("membership", table, *few, *words, **more)


def linkage(*words, released="released.csv"):
    return run("linkage", released, "--raw", "people.csv", "--policy", "policy.yaml", *words)


def told(shown, code=0):
    assert shown.exit_code == code, shown.output
    return json.loads(shown.stdout)


@pytest.mark.heavy
def test_a_plain_model_is_attacked_and_has_nothing_to_break():
    document = told(membership("--method", "plain", "-k", 60, "--json"))
    assert document["verdict"] == "no claim"
    assert (document["attacked"], document["rows"], document["repeats"]) == ("plain", 160, 5)
    assert document["advantage"]["mean"] > 0.1
    assert document["for_the_holder_alone"] is True
    assert document["setting"]["attack"] == "likelihood ratios, online"


@pytest.mark.heavy
def test_a_private_model_is_held_against_its_ceiling():
    document = told(membership("--epsilon", 1, "-k", 2, "--json"))
    assert document["verdict"] == "consistent"
    assert document["ceiling"]["advantage"] == pytest.approx(np.tanh(0.5))
    assert document["guarantee"]["epsilon"] == "1"


@pytest.mark.heavy
def test_rows_on_a_cluster_are_drawn_there_and_attacked_here(spark, folder):
    words = ("--method", "plain", "-k", 60, "--json", "--engine", "spark")
    document = told(membership(*words, table=folder.as_uri() + "/rows.csv"))
    assert (document["verdict"], document["rows"]) == ("no claim", 160)
    assert document["advantage"]["mean"] > 0.1


@pytest.mark.heavy
def test_shadow_models_and_a_forest_attack_too():
    document = told(membership("--method", "plain", "-k", 4, "--by", "shadow", "--json",
                               "--shadows", 2))  # fmt: skip
    assert "forest" in document["setting"]["attack"]


@pytest.mark.heavy
def test_a_passed_ceiling_is_a_finding(monkeypatch):
    def passed(*asked, **how):
        return replace(lira(*asked, **how), verdict="violated")

    monkeypatch.setattr("shoal.audit.lira", passed)
    assert told(membership("--method", "plain", "-k", 2, "--json"), code=1)["repeats"] == 5


@pytest.mark.heavy
def test_rows_may_come_from_standard_input():
    shown = membership("--method", "plain", "-k", 2, "--json", table="-",
                       stdin=Path("rows.csv").read_text())  # fmt: skip
    assert told(shown)["rows"] == 160


@pytest.mark.heavy
def test_a_page_is_for_its_owner_and_says_so():
    shown = membership("--method", "plain", "-k", 2, "-o", "attack.html")
    assert shown.exit_code == 0, shown.output
    page = Path("attack.html").read_text()
    assert "CURATOR ONLY" in page
    assert "may be passed on" not in page
    assert "Do not pass" in shown.output
    assert "secret" not in page + shown.output
    assert stat.S_IMODE(Path("attack.html").stat().st_mode) == 0o600
    before = page
    assert membership("--method", "plain", "-k", 2, "-o", "attack.html").exit_code == 2
    assert Path("attack.html").read_text() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--method", "plain"), "takes one number of groups"),
        (("--method", "plain", "-k", "2", "--epsilon", "1"), "no epsilon"),
        (("--method", "plain", "-k", "2-4"), "takes one number of groups"),
        (("-k", "2"), "--epsilon is missing"),
        (("--epsilon", "1"), "The number of groups is missing"),
        (("--method", "no-such", "--epsilon", "1"), "There is no method"),
        (("--method", "plain", "-k", "2", "--alpha", "0.9"), "alpha"),
        (("--method", "plain", "-k", "2", "-o", "attack.pdf"), "must end in"),
        (("--method", "plain", "-k", "2", "--columns", "z"), "not in rows.yaml"),
        (("--method", "plain", "-k", "2", "--by", "magic"), "magic"),
        (("--method", "plain", "-k", "2", "--domain", "mixed.yaml"), "'name' holds categories"),
    ],
)
def test_wrong_use_is_named(words, said):
    shown = membership(*words)
    assert shown.exit_code == 2, shown.output
    assert said in " ".join(shown.output.split())
    assert "secret" not in shown.output


def test_a_missing_table_is_named():
    assert membership("--method", "plain", "-k", 2, table="missing.csv").exit_code == 2


def test_a_table_that_is_too_small_is_named():
    Path("few.csv").write_text("x,y\n" + "0.1,0.2\n" * 20)
    shown = membership("--method", "plain", "-k", 2, table="few.csv")
    assert shown.exit_code == 2
    assert "TooFewRows" in shown.output


@pytest.mark.heavy
def test_people_are_looked_up_in_both_tables():
    document = told(linkage("--json"))
    assert (document["released"]["people"], document["released"]["unique"]) == (400, 0)
    assert document["raw"]["unique"] > 50
    assert (document["too_few"], document["k"], document["guessed"]) == (0, 5, None)


@pytest.mark.heavy
def test_a_second_file_may_be_given():
    assert told(linkage("--second", "second.csv", "--json"))["released"]["people"] == 100


@pytest.mark.heavy
def test_someone_with_fewer_records_than_promised_is_a_finding():
    lines = Path("released.csv").read_text().splitlines()
    Path("thin.csv").write_text("\n".join([lines[0], *sorted(set(lines[1:]))]) + "\n")
    shown = linkage("--json", released="thin.csv")
    assert told(shown, code=1)["too_few"] > 0
    assert "people have fewer than 5" in linkage(released="thin.csv").output


@pytest.mark.heavy
def test_a_file_of_nobody_finds_nobody():
    shown = linkage("--second", "nobody.csv", "-o", "nobody.html")
    assert shown.exit_code == 0, shown.output
    assert "is it about the same people" in " ".join(shown.output.split())
    assert "CURATOR ONLY" in Path("nobody.html").read_text()


@pytest.mark.heavy
def test_a_column_is_guessed_and_the_page_is_for_its_owner_and_quotes_nobody():
    document = told(linkage("--column", "ill", "--json", "-o", "links.html"))
    assert document["guessed"]["column"] == "ill"
    page = Path("links.html").read_text()
    assert "&#39;ill&#39; of 400 people" in page
    assert "CURATOR ONLY" in page
    assert "secret town" not in page
    assert stat.S_IMODE(Path("links.html").stat().st_mode) == 0o600


@pytest.mark.heavy
@pytest.mark.parametrize(
    "words",
    [
        ("--column", "height"),
        ("--second", "missing.csv"),
        ("--second", "rows.csv"),
        ("-o", "links.txt"),
    ],
)
def test_wrong_use_of_linkage_is_named_and_quotes_nobody(words):
    shown = linkage(*words)
    assert shown.exit_code == 2, shown.output
    assert "secret" not in shown.output


@pytest.mark.heavy
def test_a_missing_release_or_policy_is_named():
    assert linkage(released="missing.csv").exit_code == 2
    words = ("linkage", "released.csv", "--raw", "people.csv", "--policy", "missing.yaml")
    assert run(*words).exit_code == 2


@pytest.mark.heavy
def test_quiet_says_nothing():
    assert linkage("--quiet").output == ""


def test_rows_are_drawn_and_moved_into_the_box(tmp_path):
    (tmp_path / "rows.csv").write_text("x\n" + "\n".join(["-5", "0.25", "7"] * 100) + "\n")
    drawn = _draw_rows(str(tmp_path / "rows.csv"), Box(x=(0, 1)), 30, seed=1)
    assert drawn.shape == (30, 1)
    assert set(drawn.ravel().tolist()) <= {0.0, 0.25, 1.0}
    assert np.array_equal(drawn, _draw_rows(str(tmp_path / "rows.csv"), Box(x=(0, 1)), 30, 1))
