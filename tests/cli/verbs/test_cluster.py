import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli._main import app
from shoal.cluster import PrivateKMeans
from shoal.data import write_table
from shoal.errors import CannotWrite
from shoal.privacy import Ledger, PureDP

VISITS = """
version: 1
columns: {age: {low: 0, high: 110}, visits: {low: 0, high: 20}}
"""
MIXED = """
version: 1
columns:
  town: {values: [A, B]}
  age: {low: 0, high: 110}
  sex: {values: [F, M]}
  visits: {low: 0, high: 20}
"""
CITY = """
version: 1
columns: {lat: {low: 40.4, high: 41.0}, lon: {low: -74.3, high: -73.6}}
geo: {latitude: lat, longitude: lon}
person: rider
max_rows_per_person: 4
"""
CANARY = 37.123456789
FILES = {"model.json", "centers.csv", "cells.parquet", "synopsis.json", "description.json"}
PAGES = {"report.html", "report.json"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    group = np.arange(2_003) % 2
    people = {
        "age": np.append(30 + 40 * group[:-1] + rng.normal(0, 3, 2_002), CANARY),
        "visits": 4 + 10 * group + rng.normal(0, 1, 2_003),
        "sex": ["F", "M", "F"] * 667 + ["F", "M"],
        "name": ["secret name"] * 2_003,
    }
    write_table(pa.table(people), tmp_path / "visits.csv")
    write_table(pa.table(people), tmp_path / "visits.parquet")
    places = np.array([[40.5, -74.2], [40.7, -73.7], [40.9, -74.1]])
    trips = {
        "rider": np.arange(3_600) % 900,
        "lat": places[np.arange(3_600) % 3, 0] + rng.normal(0, 0.01, 3_600),
        "lon": places[np.arange(3_600) % 3, 1] + rng.normal(0, 0.01, 3_600),
    }
    write_table(pa.table(trips), tmp_path / "trips.csv")
    (tmp_path / "visits.yaml").write_text(VISITS)
    (tmp_path / "mixed.yaml").write_text(MIXED)
    (tmp_path / "city.yaml").write_text(CITY)
    return tmp_path


def run(*words, stdin=None):
    return CliRunner().invoke(app, ["cluster", *map(str, words)], input=stdin)


def visits(*words, epsilon="1", k="2", table="visits.csv", **more):
    known = ("-k", k, "--epsilon", epsilon, "--domain", "visits.yaml")
    return run(table, *known, *words, **more)


def inside(name="model"):
    return {file.name for file in Path(name).iterdir()}


def files(folder):
    return {file.name for file in folder.iterdir()}


@pytest.mark.heavy
def test_a_folder_is_left_that_holds_centres_cells_promise_and_page(folder):
    shown = visits()
    assert shown.exit_code == 0, shown.output
    assert inside() == FILES | PAGES
    centers = pa_csv.read_csv("model/centers.csv")
    found = np.sort(centers["age"].to_numpy())
    np.testing.assert_allclose(found, [30, 70], atol=2)
    document = json.loads(Path("model/model.json").read_text())
    assert document["class"] == "PrivateKMeans"
    assert document["guarantee"]["epsilon"] == "1"
    page = json.loads(Path("model/report.json").read_text())
    assert page["kind"] == "private k-means"
    hashes = {file["name"]: file["sha256"] for file in page["files"]}
    assert set(hashes) == FILES
    assert {"name": "centers.csv", "sha256": hashes["centers.csv"]} in document["files"]


@pytest.mark.heavy
def test_the_model_comes_back_and_labels_rows(folder):
    visits()
    model = shoal.load_model("model")
    assert isinstance(model, PrivateKMeans)
    assert model.guarantee_ == PureDP(1)
    low, high = model.predict(np.array([[30, 4], [70, 14]]))
    assert low != high
    cells = pq.read_table("model/cells.parquet")
    assert len(model.synopsis_.cells_) == cells.num_rows


@pytest.mark.heavy
@pytest.mark.parametrize("table", ["visits.csv", "visits.parquet", "-"])
def test_files_of_each_kind_and_standard_input_give_the_same(folder, table):
    stdin = Path("visits.csv").read_text() if table == "-" else None
    visits("--seed", 5, "-o", "a")
    assert visits("--seed", 5, "-o", "b", table=table, stdin=stdin).exit_code == 0
    assert Path("a/centers.csv").read_text() == Path("b/centers.csv").read_text()


@pytest.mark.heavy
def test_it_is_what_the_estimator_does(folder):
    visits("--seed", 5, "--columns", "visits,age")
    box = shoal.Box(visits=(0, 20), age=(0, 110))
    model = PrivateKMeans(2, epsilon="1", domain=box, random_state=5).fit("visits.csv")
    kept = pa_csv.read_csv("model/centers.csv")
    assert kept.column_names[:2] == ["visits", "age"]
    np.testing.assert_array_equal(kept["visits"].to_numpy(), model.cluster_centers_[:, 0])


@pytest.mark.heavy
def test_the_summary_says_what_is_promised_and_found_and_shows_no_row(folder):
    words = " ".join(visits().output.split())
    assert "10 in 100, this release can move them to at most 24 in 100" in words
    assert "ε = 1, pure differential privacy, for one row." in words
    assert "in 2 groups." in words
    assert "model/report.html" in words
    assert "--ledger FILE records and adds up" in words
    assert "secret" not in words


@pytest.mark.heavy
def test_json_is_one_document_of_released_numbers(folder):
    shown = json.loads(visits("--json", "--ledger", "visits.ledger").stdout)
    assert shown["report"] == "model/report.html"
    assert {Path(file).name for file in shown["files"]} == FILES | PAGES
    assert shown["ledger"] == "visits.ledger"
    assert shown["n_clusters"] == len(shown["groups"]) == 2
    assert shown["guarantee"] == PureDP(1).to_dict()
    assert set(shown["groups"][0]["center"]) == {"age", "visits"}
    assert abs(shown["rows_about"] - 2_003) <= 5 * shown["rows_within_95_in_100"]
    assert shown["counted"] == "rows"
    assert shown["certain_groups"] == 2
    assert sum(group["rows_about"] for group in shown["groups"]) == shown["rows_about"]


@pytest.mark.heavy
def test_quiet_prints_nothing(folder):
    assert visits("--quiet").output == ""


@pytest.mark.heavy
def test_nothing_that_leaves_holds_a_row_the_number_of_rows_or_the_files_name(folder):
    """A planted value in each column, also rounded and scaled to the box, and the exact N."""
    shown = visits("--title", "Who comes", "--seed", 4)  # a fixed run: no number by bad luck
    texts = [shown.output, *(p.read_text() for p in Path("model").iterdir()
                             if p.suffix in (".json", ".html", ".csv"))]  # fmt: skip
    planted = [f"{CANARY}", f"{CANARY:.6f}", f"{CANARY:.4f}", f"{CANARY / 110:.6f}",
               f"{2 * CANARY / 110 - 1:.6f}", "secret", "visits.csv", "2003", "2,003"]  # fmt: skip
    plain = [re.sub(r"\b[0-9a-f]{64}\b", "", text) for text in texts]  # a digest holds anything
    assert not [word for word in planted for text in plain if word in text]


@pytest.mark.heavy
def test_a_run_is_one_entry_in_the_ledger_and_the_page_counts_them(folder):
    visits("--ledger", "l.ledger", "-o", "a")
    visits("--ledger", "l.ledger", "-o", "b", epsilon="0.5")
    assert Ledger("l.ledger").totals() == [PureDP("1.5")]
    page = json.loads(Path("b/report.json").read_text())
    assert page["label"][6]["value"].startswith("ε = 1.5")
    assert page["ledger"]["earlier"] == "1"


@pytest.mark.heavy
def test_a_limit_set_before_the_first_release_binds_it(folder):
    made = CliRunner().invoke(app, ["ledger", "limit", "l.ledger", "--epsilon", "1"])
    assert made.exit_code == 0
    shown = visits("--ledger", "l.ledger", epsilon="2")
    assert shown.exit_code == 3
    assert "BudgetExceeded" in shown.output
    assert visits("--ledger", "l.ledger").exit_code == 0
    check, rest = Ledger("l.ledger").entries().to_pylist()
    assert (rest["by"], rest["what"], rest["total"]) == ("PrivateKMeans", "2 groups", "1")
    assert check["what"] == "check of bounds"


@pytest.mark.heavy
def test_past_the_limit_nothing_is_read_or_written(folder):
    Ledger("l.ledger", limit=PureDP(1))
    assert visits("-o", "a", "--ledger", "l.ledger").exit_code == 0
    before = files(folder)
    shown = visits("-o", "b", "--ledger", "l.ledger", table="visits.parquet", epsilon="0.1")
    assert shown.exit_code == 3
    assert "BudgetExceeded" in shown.output
    assert files(folder) == before


@pytest.mark.heavy
def test_a_seed_repeats_and_marks_a_simulation_everywhere(folder):
    shown = visits("--seed", 7, "--ledger", "l.ledger")
    assert inside() == FILES | {"report-simulation.html", "report-simulation.json"}
    assert "nothing here is protected" in " ".join(shown.output.split())
    assert Ledger("l.ledger").totals()[0].simulation
    assert json.loads(Path("model/model.json").read_text())["simulation"] is True
    assert shoal.load_model("model").guarantee_.simulation


@pytest.mark.heavy
def test_a_range_is_chosen_from_at_no_further_cost(folder):
    shown = json.loads(visits("--json", "--ledger", "l.ledger", k="1-6").stdout)
    assert shown["n_clusters"] == 2
    assert Ledger("l.ledger").totals() == [PureDP(1)]
    assert "chosen among 1 to 6" in Path("model/report.html").read_text()


@pytest.mark.heavy
@pytest.mark.parametrize("method", ["adaptive-grid", "uniform-grid", "privtree", "hybrid"])
def test_every_method_leaves_the_same_kind_of_folder(folder, method):
    assert visits("--method", method).exit_code == 0
    assert inside() == FILES | PAGES
    assert shoal.load_model("model").method == method


@pytest.mark.heavy
def test_noisy_steps_alone_leave_no_cells(folder):
    assert visits("--method", "lloyd").exit_code == 0
    assert inside() == {"model.json", "centers.csv", "description.json"} | PAGES
    assert shoal.load_model("model").synopsis_ is None


@pytest.mark.heavy
def test_people_with_several_rows_are_covered_as_asked_or_as_the_domain_says(folder):
    city = ("trips.csv", "-k", 3, "--epsilon", 1, "--domain", "city.yaml")
    assert run(*city).exit_code == 0
    promised = shoal.load_model("model").guarantee_
    assert promised == PureDP(1, rows=4)
    page = Path("model/report.html").read_text()
    assert "one person, up to 4 rows" in page
    assert run(*city, "--max-rows-per-person", 2, "--overwrite").exit_code == 0
    assert shoal.load_model("model").guarantee_ == PureDP(1, rows=2)


@pytest.mark.heavy
def test_neighbours_and_a_public_number_of_rows_reach_the_promise(folder):
    visits("--neighbours", "replace-one")
    assert shoal.load_model("model").guarantee_ == PureDP(1, neighbours="replace-one")
    visits("--n-public", 2_000, "--overwrite")
    assert shoal.load_model("model").n_rows_ == 2_000


@pytest.mark.heavy
def test_a_delta_reaches_the_promise_and_the_page(folder):
    names = [f"x{i}" for i in range(40)]
    columns = {name: np.random.default_rng(i).random(2_000) for i, name in enumerate(names)}
    write_table(pa.table(columns), folder / "wide.csv")
    bounds = ", ".join(f"{name}: {{low: 0, high: 1}}" for name in names)
    (folder / "wide.yaml").write_text(f"version: 1\ncolumns: {{{bounds}}}\n")
    known = ("-k", 2, "--epsilon", 4, "--domain", "wide.yaml", "--delta", "1e-9")
    assert run("wide.csv", *known).exit_code == 0
    page = Path("model/report.html").read_text()
    assert "but for a chance of at most 1 in 1,000,000,000" in page


@pytest.mark.heavy
def test_a_delta_that_few_columns_do_not_need_is_not_spent(folder):
    assert visits("--delta", "1e-9").exit_code == 0
    assert "but for a chance" not in Path("model/report.html").read_text()


@pytest.mark.heavy
def test_rows_that_lack_a_number_are_refused_or_dropped(folder):
    Path("holes.csv").write_text(Path("visits.csv").read_text() + '"",5,"F","secret name"\n')
    shown = visits(table="holes.csv")
    assert shown.exit_code == 2
    assert "--drop" in shown.output
    assert "secret" not in shown.output
    assert not Path("model").exists()
    assert visits("--drop", table="holes.csv").exit_code == 0


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--epsilon is missing"),
        (("--epsilon", "1"), "the public bounds, is missing"),
        (("--epsilon", "1", "--domain", "visits.yaml"), "The number of groups is missing"),
        (("--epsilon", "1", "--domain", "visits.yaml", "-k", "few"), "-k 2-12 to choose"),
        (("--epsilon", "1", "--domain", "visits.yaml", "-k", "6-2"), "must be an increasing range"),
        (("--epsilon", "0", "--domain", "visits.yaml", "-k", "2"), "InvalidBudget"),
        (("--epsilon", "1", "--domain", "none.yaml", "-k", "2"), "none.yaml"),
        (("--epsilon", "1", "--domain", "mixed.yaml", "-k", "2", "--columns", "sex",
          "--method", "lloyd"), "'sex' holds categories"),
        (("--epsilon", "1", "--domain", "visits.yaml", "-k", "2", "--columns", "pay"),
         "'pay' of 1 column"),
        (("--epsilon", "1", "--domain", "visits.yaml", "-k", "2", "--method", "kmean"),
         "Did you mean kmeans?"),
        (("--epsilon", "1", "--domain", "city.yaml", "-k", "2", "--columns", "lat"),
         "only one of latitude and longitude"),
        (("--epsilon", "1", "--domain", "visits.yaml", "-k", "2", "--person", "name"),
         "--max-rows-per-person 5"),
        (("--epsilon", "1", "--domain", "visits.yaml", "-k", "2", "--method", "lloyd",
          "--delta", "1e-9"), "--method kmeans"),
        (("--epsilon", "1", "--domain", "visits.yaml", "-k", "2-4", "--method", "lloyd"),
         "--method kmeans"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_with_a_next_step_and_leaves_nothing(folder, words, said):
    before = files(folder)
    shown = run("visits.csv", *words)
    assert shown.exit_code == 2, shown.output
    assert said in " ".join(shown.output.split())
    assert files(folder) == before


@pytest.mark.heavy
@pytest.mark.parametrize("how", [("-k", 2, "--method", "privtree"), ("--method", "wave")])
@pytest.mark.parametrize("where", [(), ("--engine", "spark")])
def test_category_columns_are_refused_by_name_not_left_out_and_nothing_is_spent(folder, how, where):
    before = files(folder)
    known = ("--epsilon", 1, "--domain", "mixed.yaml", "--ledger", "l.ledger")
    shown = run("visits.csv", *how, *known, *where)
    said = " ".join(shown.output.split())
    assert shown.exit_code == 2, shown.output
    assert "'town', 'sex' hold categories" in said
    assert "--columns age,visits" in said
    assert "domain file without" in said
    assert files(folder) == before  # no ledger either


@pytest.mark.heavy
@pytest.mark.parametrize("how", [("-k", 2), ("--method", "wave")])
def test_numeric_columns_chosen_on_purpose_are_clustered_beside_categories(folder, how):
    known = ("--epsilon", 1, "--domain", "mixed.yaml", "--ledger", "l.ledger")
    shown = run("visits.csv", *how, *known, "--columns", "age,visits")
    assert shown.exit_code == 0, shown.output
    assert Ledger("l.ledger").totals() == [PureDP(1)]
    assert shoal.load_model("model").domain.names == ("age", "visits")


@pytest.mark.heavy
def test_an_older_model_is_replaced_only_when_asked_and_nothing_else_ever(folder):
    visits("--seed", 1)
    assert visits("--seed", 2).exit_code == 2
    assert visits("--seed", 2, "--overwrite").exit_code == 0
    Path("model/thesis.txt").write_text("mine")
    shown = visits("--overwrite")
    assert shown.exit_code == 2
    assert "that no model wrote" in shown.output
    assert Path("model/thesis.txt").read_text() == "mine"


def test_a_ledger_inside_the_folder_is_refused(folder):
    Path("model").mkdir()
    shown = visits("--ledger", "model/l.ledger", "--overwrite")
    assert shown.exit_code == 2
    assert "is in the folder" in shown.output


@pytest.mark.heavy
def test_a_failure_after_the_draw_says_that_the_budget_is_gone(folder, monkeypatch):
    def full(*_, **__):
        raise CannotWrite("The disk is full.", "Make room.")

    monkeypatch.setattr("shoal.cluster.model_folder.write_model", full)
    shown = visits("--ledger", "l.ledger")
    assert shown.exit_code == 2
    assert "The ledger keeps what was paid so far as spent." in " ".join(shown.output.split())
    assert not Path("model").exists()
    assert Ledger("l.ledger").totals() == [PureDP(1)]


def test_a_failure_before_the_draw_does_not(folder):
    shown = visits("--ledger", "l.ledger", table="nothing.csv")
    assert shown.exit_code == 2
    assert "spent" not in shown.output


@pytest.mark.heavy
def test_settings_may_come_from_the_environment(folder, monkeypatch):
    for name, value in {
        "GROUPS": "2",
        "EPSILON": "1",
        "DOMAIN": "visits.yaml",
        "JSON": "1",
    }.items():
        monkeypatch.setenv(f"SHOAL_{name}", value)
    assert json.loads(run("visits.csv").stdout)["n_clusters"] == 2


@pytest.mark.heavy
def test_help_comes_with_examples_and_without_heavy_imports(folder):
    shown = run("--help")
    assert "shoal cluster visits.csv -k 8 --epsilon 1" in " ".join(shown.output.split())
    code = "import sys; from shoal.cli._main import app; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def run_mixed(tmp_path, rows, columns, *options):
    (tmp_path / "in.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "in.yaml").write_text(f"version: 1\ncolumns: {columns}\n")
    files = [str(tmp_path / name) for name in ("in.csv", "in.yaml", "groups")]
    arguments = ["cluster", files[0], "--domain", files[1], "-o", files[2], *options]
    return CliRunner().invoke(app, arguments)


@pytest.mark.heavy
def test_a_table_with_categories_gets_profiles(tmp_path):
    lines = [f"{20 + 50 * (i % 2)},{'basic' if i % 2 else 'higher'}" for i in range(400)]
    columns = "{age: {low: 0, high: 100}, level: {values: [basic, higher]}}"
    options = ("-k", "2", "--epsilon", "2", "--seed", "1", "--json")
    answer = run_mixed(tmp_path, ["age,level", *lines], columns, *options)
    assert answer.exit_code == 0, answer.output
    assert len(json.loads(answer.stdout)["groups"]) == 2
    assert (tmp_path / "groups" / "profiles.csv").exists()
    assert (tmp_path / "groups" / "report-simulation.html").exists()


@pytest.mark.heavy
def test_public_rows_are_a_start_that_costs_nothing():
    public = {"visits": [4.0, 14.0, 5.0], "age": [31.0, 69.0, 30.0], "year": [1, 2, 3]}
    write_table(pa.table(public), Path("last_year.csv"))
    result = run("visits.csv", "-k", "2", "--epsilon", "1", "--domain", "visits.yaml",
                 "--init", "last_year.csv", "--seed", "1")  # fmt: skip
    assert result.exit_code == 0, result.output
    centers = shoal.load_model("model").cluster_centers_
    assert np.allclose(sorted(centers[:, 0]), [30, 70], atol=2)
    assert shoal.load_model("model").init is not None


def test_the_table_itself_is_no_public_start():
    result = run("visits.csv", "-k", "2", "--epsilon", "1", "--domain", "visits.yaml",
                 "--init", "visits.csv")  # fmt: skip
    assert result.exit_code == 2
    assert "--init names the table itself" in result.output + result.stderr


def run_named(tmp_path, names, k="2"):
    lines = [f"{20 + 50 * (i % 2)},{'basic' if i % 2 else 'higher'}" for i in range(400)]
    columns = "{age: {low: 0, high: 100}, level: {values: [basic, higher]}}"
    options = ("-k", k, "--epsilon", "2", "--seed", "1", "--json", "--names", names)
    return run_mixed(tmp_path, ["age,level", *lines], columns, *options)


def titles_of(folder):
    with open(folder / "profiles.csv", encoding="utf-8") as file:
        return {line["group"]: line["title"] for line in csv.DictReader(file)}


@pytest.mark.heavy
def test_a_publisher_names_the_groups_on_page_csv_and_json(tmp_path):
    answer = run_named(tmp_path, "Evening school, Adults <b>")
    assert answer.exit_code == 0, answer.output
    groups = tmp_path / "groups"
    assert titles_of(groups) == {"1": "Evening school", "2": "Adults <b>"}
    shown = {each["title"] for each in json.loads(answer.stdout)["groups"]}
    assert shown == {"Evening school", "Adults <b>"}
    page = (groups / "report-simulation.html").read_text()
    assert "Evening school" in page
    assert "Adults &lt;b&gt;" in page
    assert shoal.load_model(groups).profiles_.titles == ("Evening school", "Adults <b>")


@pytest.mark.heavy
def test_released_groups_are_named_from_a_file_without_rows_or_payment(tmp_path):
    run_named(tmp_path, ",")
    made = titles_of(tmp_path / "groups")
    (tmp_path / "titles.txt").write_text("\nThose, who come late\n", encoding="utf-8")
    words = ["cluster", str(tmp_path / "groups"), "--names", str(tmp_path / "titles.txt")]
    answer = CliRunner().invoke(app, [*words, "-o", str(tmp_path / "named"), "--json"])
    assert answer.exit_code == 0, answer.output
    assert titles_of(tmp_path / "named") == {"1": made["1"], "2": "Those, who come late"}
    before, after = (shoal.load_model(tmp_path / name) for name in ("groups", "named"))
    assert after.guarantee_ == before.guarantee_
    assert after.prototypes_.equals(before.prototypes_)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("one", "1 title for 2 groups"),
        ("one,two,three", "3 titles for 2 groups"),
        ("a" * 201 + ",b", "more than 200 letters"),
    ],
)
def test_names_that_do_not_fit_are_refused_before_a_row_is_read(tmp_path, names, message):
    answer = run_named(tmp_path, names)
    assert answer.exit_code == 2
    assert message in " ".join((answer.output + answer.stderr).split())
    assert not (tmp_path / "groups").exists()


@pytest.mark.heavy
def test_names_are_for_groups_that_have_titles(folder):
    shown = run("visits.csv", "-k", 2, "--epsilon", 1, "--domain", "visits.yaml", "--names", "a,b")
    assert shown.exit_code == 2
    assert "--names is for groups in a table with categories" in " ".join(shown.output.split())
    visits("--seed", 1)
    for words, message in (
        (("model",), "holds groups that were released"),
        (("model", "--epsilon", "1"), "is for a table of rows"),
    ):
        shown = run(*words, "-o", "other")
        assert shown.exit_code == 2
        assert message in " ".join(shown.output.split())


@pytest.mark.parametrize(
    ("columns", "cell", "message"),
    [
        ("{level: {values: [basic, basic]}}", "basic", "listed more than once"),
        ("{level: {values: []}}", "basic", "at least one value"),
        ("{level: {levels: [basic]}}", "basic", "two or more"),
        ("{level: {values: [basic], low: 0, high: 1}}", "basic", "not both"),
        ("{level: {values: [basic]}}", "basic", "one category only"),
        ("{level: {values: [basic, higher]}}", "secret", "`other: bucket`"),
        ("{level: {low: 0, high: 1}, sex: {values: [F, M]}}", "secret", "'level'"),
    ],
)
def test_schemas_and_rows_that_do_not_fit_are_named_at_the_terminal(
    tmp_path, columns, cell, message
):
    rows = ["level,sex", *[f"{cell},F"] * 5]
    options = ("--epsilon", "1", "--method", "prototypes", "-k", "2")
    answer = run_mixed(tmp_path, rows, columns, *options)
    text = " ".join((answer.output + answer.stderr).split())
    assert answer.exit_code == 2, text
    assert message in text
    assert "secret" not in text
    assert not (tmp_path / "groups").exists()


@pytest.mark.heavy
def test_the_number_of_groups_of_a_table_with_categories_is_chosen(tmp_path):
    lines = [f"{20 + 50 * (i % 2)},{'basic' if i % 2 else 'higher'}" for i in range(400)]
    columns = "{age: {low: 0, high: 100}, level: {values: [basic, higher]}}"
    options = ("-k", "2-3", "--epsilon", "2", "--seed", "1", "--json")
    answer = run_mixed(tmp_path, ["age,level", *lines], columns, *options)
    assert answer.exit_code == 0, answer.output
    assert len(json.loads(answer.stdout)["groups"]) == 2


@pytest.mark.heavy
def test_labels_and_units_of_the_domain_file_are_on_the_page_and_in_the_folder(folder):
    labelled = VISITS.replace(
        "low: 0, high: 110", "low: 0, high: 110, label: Age then, unit: years"
    )
    (folder / "labelled.yaml").write_text(labelled)
    done = run("visits.csv", "-k", "2", "--epsilon", "1", "--domain", "labelled.yaml")
    assert done.exit_code == 0, done.output
    assert "Age then, years" in (folder / "model" / "report.html").read_text()
    assert shoal.load_model("model").domain.labels == {"age": "Age then"}
    again = CliRunner().invoke(app, ["report", "model", "-o", "again.html"])
    assert again.exit_code == 0, again.output
    assert "Age then, years" in (folder / "again.html").read_text()
