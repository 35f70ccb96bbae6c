import csv
import html
import json
import re
import stat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
import yaml
from typer.testing import CliRunner

from shoal.cli._main import app
from shoal.data import write_table

RARE = "canary value"
POLICY = """
version: 1
input: {path: visits.csv}
attributes:
  name: {role: identifier}
  age: {role: quasi, type: int, domain: [0, 99], hierarchy: {kind: interval, width: 10}}
  place:
    role: quasi
    hierarchy: {tree: {"*": {town: [north, south], country: [east, canary value]}}}
  illness: {role: sensitive, l: {value: 2}}
  visits: {role: other}
privacy: {k: 5, suppression: 0.05}
search: {restarts: 2}
output: {path: out.csv}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    places = [*rng.choice(["north", "south", "east"], 599), RARE]
    people = {
        "name": [f"secret {i}" for i in range(600)],
        "age": rng.integers(20, 80, 600),
        "place": places,
        "illness": rng.choice(["flu", "cold", "none"], 600),
        "visits": rng.integers(0, 9, 600),
    }
    write_table(pa.table(people), tmp_path / "visits.csv")
    (tmp_path / "p.yaml").write_text(POLICY)
    return tmp_path


def shoal(*words, code=0):
    done = CliRunner().invoke(app, ["anonymize", *words])
    assert done.exit_code == code, done.output
    return done


def told(*words, code=0):
    return json.loads(shoal(*words, "--json", code=code).stdout)


@pytest.mark.heavy
def test_a_release_leaves_table_mapping_manifest_and_two_pages(folder):
    said = shoal("--policy", "p.yaml").output
    assert "at least 5 people share every combination" in " ".join(said.split())
    written = {path.name for path in folder.iterdir()} - {"visits.csv", "p.yaml"}
    assert written == {
        "out.csv", "out.mapping.csv", "out.manifest.json",
        "out.report.html", "out.report.json", "out.report.curator.html",
    }  # fmt: skip
    with Path("out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["age", "place", "illness", "visits"]


@pytest.mark.heavy
def test_the_curators_page_is_its_owners_alone(folder):
    shoal("--policy", "p.yaml")
    assert stat.S_IMODE(Path("out.report.curator.html").stat().st_mode) == 0o600
    page = Path("out.report.curator.html").read_text()
    assert "<title>CURATOR ONLY" in page
    assert "Whom suppression hit" in page


@pytest.mark.heavy
def test_public_files_name_nobody_and_no_rare_value(folder):
    shoal("--policy", "p.yaml", "--title", "Visits", "--publisher", "A clinic")
    public = [Path("out.report.html"), Path("out.report.json"), Path("out.manifest.json")]
    for text in (path.read_text() for path in public):
        assert "secret" not in text
        assert "visits.csv" not in text
    for text in (path.read_text() for path in public[:2]):
        assert RARE not in text  # the manifest lists labels of the declared hierarchy, used or not
    page = public[0].read_text()
    assert "Visits" in page
    assert "A clinic" in page
    assert "Rows in all" not in page
    assert RARE in Path("out.report.curator.html").read_text()


@pytest.mark.heavy
def test_json_holds_manifest_risk_and_files():
    document = told("--policy", "p.yaml")
    assert document["manifest"]["k"]["reached"] >= 5
    assert document["risk"]["prosecutor"] <= 1 / 5
    assert document["risk"]["exposed"] == 0
    assert document["files"]["table"] == "out.csv"


@pytest.mark.heavy
def test_a_dry_run_reads_all_and_writes_nothing(folder):
    before = sorted(folder.iterdir())
    document = told("--policy", "p.yaml", "--dry-run")
    assert (document["valid"], document["rows"]) == (True, 600)
    assert sorted(folder.iterdir()) == before


@pytest.mark.heavy
def test_a_dry_run_finds_a_value_without_a_leaf(folder):
    Path("p.yaml").write_text(POLICY.replace(f", {RARE}", ""))
    done = shoal("--policy", "p.yaml", "--dry-run", code=2)
    assert "'place' (1 row)" in done.stderr
    assert RARE not in done.output


@pytest.mark.heavy
def test_a_second_run_is_refused_unless_told_to_replace():
    first = told("--policy", "p.yaml")
    refused = " ".join(shoal("--policy", "p.yaml", code=2).stderr.split())
    assert "exist already" in refused
    assert "Choose other names, or replace them with --overwrite." in refused
    second = told("--policy", "p.yaml", "--overwrite")
    assert first["manifest"]["policy_sha256"] == second["manifest"]["policy_sha256"]


def test_a_taken_page_is_noticed_before_anything_is_written(folder):
    Path("out.report.html").write_text("mine")
    shoal("--policy", "p.yaml", code=2)
    assert Path("out.report.html").read_text() == "mine"
    assert not Path("out.csv").exists()


@pytest.mark.heavy
def test_explain_says_what_it_is_not_and_why_columns_sit_where_they_do():
    said = " ".join(shoal("--policy", "p.yaml", "--explain").output.split())
    for words in ("not differential privacy", "Two releases", "Minimality", "Same values"):
        assert words in said
    assert re.search(r"place: quasi; .*(Splitting|It cannot be split further)", said)
    assert "name: identifier, names a person, so it is dropped." in said


@pytest.mark.heavy
def test_explained_costs_are_those_of_opening_the_label():
    from shoal.anonymize import read_policy, run_policy
    from shoal.pages.table_explanation import column_texts

    content = yaml.safe_load(POLICY) | {"privacy": {"k": 5, "suppression": 0.0}}
    Path("p.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    finished = run_policy(read_policy("p.yaml"))
    said = column_texts(finished)["place"]
    rows = re.search(
        r"would put ([\d,]+) rows? into groups that do not meet k, l or t; 0 more", said
    )
    assert rows is not None
    assert int(rows[1]) >= 1  # the one row that stands alone, at least


@pytest.mark.heavy
def test_local_recoding_is_explained_as_such():
    Path("p.yaml").write_text(POLICY.replace("{restarts: 2}", "{recoding: local}"))
    said = " ".join(shoal("--policy", "p.yaml", "--explain").output.split())
    assert "every group has labels of its own" in said
    assert not Path("out.mapping.csv").exists()


@pytest.mark.heavy
def test_a_release_passes_its_check_and_the_rows_do_not():
    shoal("--policy", "p.yaml")
    kept = told("check", "out.csv", "--policy", "p.yaml")
    assert (kept["kept"], kept["broken"]) == (True, [])
    raw = told("check", "visits.csv", "--policy", "p.yaml", code=1)
    assert raw["k"] == {"asked": 5, "reached": 1}
    assert raw["risk"]["prosecutor"] == 1.0
    assert raw["risk"]["exposed"] > 0
    assert "Broken" in shoal("check", "visits.csv", "--policy", "p.yaml", code=1).output


@pytest.mark.heavy
def test_a_check_says_when_people_cannot_be_told_apart():
    content = yaml.safe_load(POLICY)
    content["privacy"]["person"] = "name"
    Path("p.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    shoal("--policy", "p.yaml")
    said = " ".join(shoal("check", "out.csv", "--policy", "p.yaml").output.split())
    assert "rows were counted, not people" in said


@pytest.mark.heavy
def test_a_kept_cut_is_applied_to_new_rows():
    first = told("--policy", "p.yaml")
    Path("q.yaml").write_text(POLICY.replace("out.csv", "next.csv"))
    words = ("apply", "--policy", "q.yaml", "--cut", "out.manifest.json")
    assert "--new-people" in shoal(*words, code=2).stderr
    second = told(*words, "--new-people")
    assert second["manifest"]["cut"] == first["manifest"]["cut"]
    assert second["manifest"]["score"] == "kept cut"


@pytest.mark.heavy
def test_a_table_by_its_place_is_released_under_its_own_name():
    first = told("--policy", "p.yaml")
    Path("new.csv").write_bytes(Path("visits.csv").read_bytes())
    words = ("apply", "new.csv", "--policy", "p.yaml", "--cut", "out.manifest.json", "--new-people")
    second = told(*words)
    assert second["manifest"]["cut"] == first["manifest"]["cut"]
    assert Path("new.released.csv").stat().st_size
    assert Path(first["files"]["table"]).stat().st_size


@pytest.mark.heavy
def test_a_promise_that_rests_on_a_statement_says_so_everywhere():
    shoal("--policy", "p.yaml")
    Path("q.yaml").write_text(POLICY.replace("out.csv", "next.csv"))
    words = ("apply", "--policy", "q.yaml", "--cut", "out.manifest.json", "--new-people")
    said = "rests on the publisher's statement that nobody in this table was in an earlier release"
    assert said in " ".join(shoal(*words).output.split())
    assert json.loads(Path("next.manifest.json").read_text())["people"]["basis"] == "stated"
    for page in ("next.report.html", "next.report.curator.html"):
        assert said in html.unescape(Path(page).read_text())
        assert "nothing compared them" in Path(page).read_text()
    for page in ("out.report.html", "out.report.curator.html"):
        assert said not in html.unescape(Path(page).read_text())


@pytest.mark.heavy
def test_with_a_person_column_people_are_compared_whatever_is_stated(folder):
    told_apart = POLICY.replace("suppression: 0.05", "suppression: 0.05, person: name")
    Path("p.yaml").write_text(told_apart)
    files = told("--policy", "p.yaml")["files"]
    assert (folder / "out.people.curator").samefile(files["people"])
    Path("q.yaml").write_text(told_apart.replace("out.csv", "next.csv"))
    words = ("apply", "--policy", "q.yaml", "--cut", "out.manifest.json")
    for more in ((), ("--new-people",)):
        done = shoal(*words, *more, "--json", code=3)
        assert "People of an earlier release are in this table." in " ".join(done.output.split())
        assert "600" not in done.output
    assert not Path("next.csv").exists()
    rows = Path("visits.csv").read_text().replace("secret", "newcomer")
    Path("visits.csv").write_text(rows)
    shoal(*words)
    page = Path("next.report.html").read_text()
    assert "Nobody in it was in an earlier release under the same grouping" in page
    assert "publisher's statement" not in html.unescape(page)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "The policy is missing."),
        (("apply", "--policy", "p.yaml"), "The manifest is missing."),
        (("check", "visits.csv"), "The policy is missing."),
        (("--policy", "none.yaml"), "none.yaml"),
    ],
)
def test_what_is_missing_is_named(words, said):
    assert said in " ".join(shoal(*words, code=2).stderr.split())


@pytest.mark.heavy
def test_a_population_speaks_to_the_journalist():
    rng = np.random.default_rng(1)
    crowd = {"age": rng.integers(0, 99, 9_000), "place": rng.choice(["north", "south"], 9_000)}
    write_table(pa.table(crowd), "crowd.csv")
    shoal("--policy", "p.yaml", "--population", "crowd.csv")
    page = Path("out.report.html").read_text()
    assert "Counted in a table of the population." in page
    assert "The population has fewer people" not in page
    assert "The population has fewer people" in Path("out.report.curator.html").read_text()


@pytest.mark.heavy
def test_a_failure_leaves_nothing_behind(folder, monkeypatch):
    def fails(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("shoal.pages.table.page_files", fails)
    before = sorted(folder.iterdir())
    shoal("--policy", "p.yaml", code=130)
    assert sorted(folder.iterdir()) == before


def pairs(folder, force=False):
    """A policy under which a number of two rows each is published as it is."""
    table = pa.csv.read_csv(folder / "visits.csv")
    table = table.append_column("case", pa.array([i // 2 for i in range(table.num_rows)]))
    write_table(table, folder / "visits.csv", overwrite=True)
    policy = yaml.safe_load(POLICY)
    policy["attributes"]["case"] = {"role": "other"} | ({"force": True} if force else {})
    (folder / "p.yaml").write_text(yaml.safe_dump(policy))


WARNING = "'case' is published as it is, and in 100 % of rows"


@pytest.mark.heavy
def test_a_column_called_other_that_two_rows_share_is_warned_of_to_the_holder_alone(folder):
    pairs(folder)
    assert WARNING in " ".join(shoal("--policy", "p.yaml", "--dry-run").output.split())
    done = shoal("--policy", "p.yaml")
    assert WARNING in " ".join(done.output.split())
    assert "published as it is, and in" in (folder / "out.report.curator.html").read_text()
    for public in ("out.report.html", "out.report.json", "out.manifest.json"):
        assert "fewer than k" not in (folder / public).read_text()
    asked = ("--policy", "p.yaml", "--overwrite")
    assert "warnings_for_the_holder_alone" not in told(*asked)
    (line,) = told(*asked, "--explain")["warnings_for_the_holder_alone"]
    assert line.startswith(WARNING)


@pytest.mark.heavy
def test_no_warning_comes_where_there_is_nothing_to_warn_of(folder):
    assert "warnings_for_the_holder_alone" not in told("--policy", "p.yaml")
    pairs(folder, force=True)
    assert "warnings_for_the_holder_alone" not in told("--policy", "p.yaml", "--overwrite")


@pytest.mark.heavy
@pytest.mark.parametrize(
    "words", ["--dry-run", "--overwrite", "apply --new-people --overwrite --cut out.manifest.json"]
)
def test_a_table_without_a_header_shows_nobody(folder, words):
    shoal("--policy", "p.yaml")
    rows = (folder / "visits.csv").read_text().split("\n", 1)[1]
    (folder / "visits.csv").write_text("CANARY Roe,47,north,CANARYitis,3\n" + rows)
    done = shoal(*words.split(), "--policy", "p.yaml", code=2)
    assert "UnknownColumn" in done.output
    for word in ("CANARY", "47", "north"):
        assert word not in done.output


def test_check_of_a_table_without_a_header_shows_nobody(folder):
    (folder / "t.csv").write_text("CANARY Roe,47,north,CANARYitis,3\n")
    done = shoal("check", "t.csv", "--policy", "p.yaml", code=2)
    assert "CANARY" not in done.output


@pytest.mark.heavy
def test_advice_has_a_line_to_copy_and_is_the_holders_alone(folder):
    text = POLICY.replace("width: 10", "width: 1").replace("suppression: 0.05", "suppression: 0")
    Path("p.yaml").write_text(text)
    said = " ".join(shoal("--policy", "p.yaml").output.split())
    assert "Advice" in said
    assert "recoding: local" in said
    assert "recoding: local" in html.unescape(Path("out.report.curator.html").read_text())
    for name in ("out.report.html", "out.report.json", "out.manifest.json"):
        assert "recoding: local" not in Path(name).read_text()
    assert "advice_for_the_holder_alone" not in told("--policy", "p.yaml", "--overwrite")
    document = told("--policy", "p.yaml", "--overwrite", "--explain")
    assert any("recoding: local" in text for text in document["advice_for_the_holder_alone"])
    Path("p.yaml").write_text(text.replace("restarts: 2", "restarts: 2, recoding: local"))
    assert "Advice" not in shoal("--policy", "p.yaml", "--overwrite").output


@pytest.mark.heavy
def test_exploring_writes_a_page_and_its_trials_for_the_holder_and_goes_on(folder):
    asked = ("explore", "--policy", "p.yaml", "-k", "3,5", "--suppression", "0,0.05")
    first = told(*asked, "--recoding", "global")
    assert len(first["trials"]) == 4
    for name in ("explore.curator.html", "explore.curator.json"):
        assert stat.S_IMODE(Path(name).stat().st_mode) == 0o600
    page = Path("explore.curator.html").read_text()
    assert "CURATOR ONLY" in page
    assert "secret" not in page
    assert RARE not in page
    again = told(*asked)
    assert again["trials"][:4] == first["trials"]
    assert len(again["trials"]) == 8
    assert not Path("out.csv").exists()


@pytest.mark.heavy
@pytest.mark.parametrize(
    "wrong", [("-k", "five"), ("--suppression", "2"), ("-k", "1"), ("--output", "page.json")]
)
def test_exploring_refuses_settings_that_make_no_sense(folder, wrong):
    shoal("explore", "--policy", "p.yaml", *wrong, code=2)


@pytest.mark.heavy
def test_predictions_from_a_release_are_compared_for_the_holder(folder):
    shoal("--policy", "p.yaml")
    found = told("utility", "--policy", "p.yaml", "--target", "illness")
    assert found["original"]["rows"] == 600
    assert found["released"]["rows"] < 600
    assert 0.3 < found["majority"] < 0.5
    assert not found["warnings"]
    shown = shoal("utility", "--policy", "p.yaml", "--target", "place").output
    assert "itself a quasi-identifier" in " ".join(shown.split())


@pytest.mark.heavy
@pytest.mark.parametrize("wrong", [(), ("--target", "name"), ("--target", "nothing")])
def test_a_target_that_is_not_published_is_refused(folder, wrong):
    shoal("--policy", "p.yaml")
    shoal("utility", "--policy", "p.yaml", *wrong, code=2)


@pytest.mark.heavy
def test_a_population_is_promised_and_counted_again(folder):
    rows = list(csv.DictReader(Path("visits.csv").read_text().splitlines()))
    with Path("people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "place"])
        writer.writerows([row["age"], row["place"]] for row in rows for _ in range(3))
    text = Path("p.yaml").read_text()
    asked = "{k: 1, suppression: 0.05, k_map: {k: 20}, population: {path: people.csv}}"
    Path("p.yaml").write_text(text.replace("{k: 5, suppression: 0.05}", asked))
    found = told("--policy", "p.yaml")
    assert found["manifest"]["models"]["reached"]["k_map"] >= 20
    page = html.unescape(Path("out.report.html").read_text())
    assert "At least 20 people of the population share every combination" in page
    assert "20 people of the population share each combination" in page
    checked = told("check", "out.csv", "--policy", "p.yaml")
    assert checked["models"] == found["manifest"]["models"]["reached"]
