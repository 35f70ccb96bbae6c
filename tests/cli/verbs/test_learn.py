import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli._main import app
from shoal.cli.verbs._learn import control_size
from shoal.cluster import LocalClusterer
from shoal.cluster.local import _estimator as estimator
from shoal.cluster.local._distributed_frames import GatheredReports
from shoal.cluster.local._group_test import Evidence, evidence_of
from shoal.data import write_table
from shoal.domain import Box
from shoal.jobs.reports._load_reports import LoadedReports
from shoal.mechanisms import NDLaplace, Reports
from shoal.privacy import LocalDP

TOWN = "version: 1\ncolumns: {east: {low: 0, high: 20}, north: {low: 0, high: 12}}\n"
PLACES = np.array([[4.0, 3.0], [15.0, 4.0], [10.0, 10.0]])
FILES = {"model.json", "centers.csv", "density.parquet", "description.json"}


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


SEED = ("--seed", 1)


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """Rows, and reports of three mechanisms, each with the file beside it."""
    folder = tmp_path_factory.mktemp("town")
    rng = np.random.default_rng(0)
    rows = rng.normal(PLACES[np.arange(3_000) % 3], 0.5)
    write_table(pa.table({"east": rows[:, 0], "north": rows[:, 1]}), folder / "rows.csv")
    (folder / "town.yaml").write_text(TOWN)
    common = ("--domain", folder / "town.yaml", "--clip", "-q")
    for name, *words in (
        ("grid.parquet", "--mechanism", "local-grid", "--epsilon", 4, "--cells", 12),
        ("repeatable.parquet", "--mechanism", "local-grid", "--epsilon", 4, "--cells", 12, *SEED),
        ("laplace.parquet", "--epsilon", 2, *SEED),
        ("laplace.csv", "--epsilon", 2),
        ("clamped.parquet", "--epsilon", 2, "--remap", "clamp"),
        ("guessed.parquet", "--epsilon", 2, "--remap", "bayes"),
        ("one.parquet", "--mechanism", "square-wave", "--epsilon", 3, "--columns", "east"),
    ):
        made = run("perturb", folder / "rows.csv", *words, *common, "-o", folder / name)
        assert made.exit_code == 0, made.output
    return folder


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where a test runs; the verdict on many reports is tried in ``learnt`` and its own tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(estimator, "evidence_of", told_if_many)
    return tmp_path


def told_if_many(model, reports, random_state):
    if len(reports.values) < 100:
        return evidence_of(model, reports, random_state)
    return Evidence(True, {"spread evenly": 9.0}, 1.5, 3.0)


def learn(table, *words, k="3"):
    return run("learn", table, "-k", k, "--seed", 1, *words)


def centers(name="model"):
    table = pa_csv.read_csv(f"{name}/centers.csv")
    found = np.column_stack([table["east"], table["north"]])
    return found[found[:, 0].argsort()]


@pytest.fixture(scope="module")
def learnt(reported):
    """What was said about a model of each of two files, which lie beside them."""
    said = {}
    for table in ("grid.parquet", "laplace.csv"):
        words = ("-k", 3, "--seed", 1, "--json", "-o", reported / f"{table}-model")
        shown = run("learn", reported / table, *words)
        assert shown.exit_code == 0, shown.output
        said[table] = json.loads(shown.stdout)
    return said


def model_of(said):
    return Path(said["report"]).parent


@pytest.mark.heavy
@pytest.mark.parametrize("table", ["grid.parquet", "laplace.csv"])
def test_centres_are_learnt_from_reports_alone(learnt, table):
    folder = model_of(learnt[table])
    np.testing.assert_allclose(centers(folder), PLACES[[0, 2, 1]], atol=0.5)
    assert {file.name for file in folder.iterdir()} == FILES | {"report.html", "report.json"}


@pytest.mark.heavy
def test_the_model_comes_back_with_the_reports_promise_and_labels_a_record(learnt):
    model = shoal.load_model(model_of(learnt["grid.parquet"]))
    assert isinstance(model, LocalClusterer)
    assert model.guarantee_ == LocalDP(4)
    assert model.n_reports_ == 3_000
    assert len({*model.predict(PLACES)}) == 3


def test_what_is_kept_has_a_line_a_cell_and_none_a_report(learnt):
    density = pq.read_table(model_of(learnt["grid.parquet"]) / "density.parquet")
    assert density.num_rows <= 12 * 12


@pytest.mark.heavy
def test_the_chain_from_rows_to_scores_runs_and_beats_no_data(learnt, reported):
    model = model_of(learnt["laplace.csv"])
    scored = run("evaluate", model, "--against", reported / "rows.csv", "--controls", 1, "--json")
    assert scored.exit_code == 0, scored.output
    lines = {line["score"]: line for line in json.loads(scored.stdout)["scores"]}
    assert lines["normalised_inertia"]["value"] < 1.5
    assert lines["normalised_inertia"]["control"] > 3


@pytest.mark.parametrize("table", ["grid.parquet", "laplace.csv"])
def test_what_is_found_without_data_stands_beside_what_was_found(learnt, table):
    told = learnt[table]
    nothing = told["without_data"]
    assert len(nothing["centers"]) == 3
    assert nothing["inertia_ratio"] > 3
    assert -0.1 < nothing["agreement"] <= 1
    assert told["spent"] is None
    assert told["may_be_noise"] is False
    assert sum(group["reports_about"] for group in told["groups"]) == 3_000
    page = json.loads((model_of(told) / "report.json").read_text())
    titles = [each["title"] for each in page["figures"] if each["section"] == "result"]
    assert [title.startswith("Without data") for title in titles] == [False, True]
    assert "Found without data" in [table["title"] for table in page["result"]["tables"]]
    assert page["ledger"]["bar"] == []


@pytest.mark.heavy
def test_a_terminal_says_that_nothing_was_spent_and_that_labels_stay(reported):
    shown = learn(reported / "laplace.csv")
    said = " ".join(shown.output.split())
    assert "Nothing was spent here" in said
    assert "keep the label" in said
    assert "leave" in said
    assert "times the inertia" in said


@pytest.mark.heavy
def test_reports_of_a_seed_make_a_marked_page(reported):
    assert learn(reported / "laplace.parquet").exit_code == 0
    assert Path("model/report-simulation.html").exists()
    assert shoal.load_model("model").guarantee_.simulation


@pytest.mark.heavy
def test_a_seed_of_the_learner_alone_makes_no_simulation_and_repeats_the_run(learnt, reported):
    learn(reported / "laplace.csv")
    first = model_of(learnt["laplace.csv"]) / "centers.csv"
    assert first.read_text() == Path("model/centers.csv").read_text()
    assert not shoal.load_model("model").guarantee_.simulation


@pytest.mark.heavy
@pytest.mark.parametrize("table", ["repeatable.parquet", "laplace.parquet"])
def test_a_range_is_chosen_from_on_the_density(reported, table):
    shown = learn(reported / table, "--json", k="2-6")
    assert json.loads(shown.stdout)["n_clusters"] == 3


@pytest.mark.heavy
def test_a_method_may_be_named(reported):
    shown = learn(reported / "laplace.csv", "--method", "moments", "--json")
    assert json.loads(shown.stdout)["method"] == "moments"


@pytest.mark.heavy
def test_one_column_has_a_page_without_a_map(reported):
    shown = learn(reported / "one.parquet", k="2")
    assert shown.exit_code == 0, shown.output
    page = json.loads(Path("model/report.json").read_text())
    assert not [each for each in page["figures"] if each["section"] == "result"]


def assert_refused(shown, error, *words):
    said = " ".join(shown.stderr.split())
    assert shown.exit_code == 2, shown.output
    assert said.startswith(error), said
    assert not [each for each in words if each not in said], said
    assert not Path("model").exists()


def test_rows_are_refused_and_the_way_to_reports_is_said(reported):
    assert_refused(learn(reported / "rows.csv"), "NotAReport", "rows.csv.json", "shoal perturb")


def test_standard_input_is_refused(reported):
    assert_refused(learn("-"), "NotAReport", "standard input")


@pytest.mark.parametrize(
    ("name", "done"),
    [("clamped.parquet", "clamped"), ("guessed.parquet", "moved to guesses of their rows")],
)
def test_remapped_reports_are_refused_where_the_law_is_needed(reported, name, done):
    assert_refused(learn(reported / name), "NotAReport", done, "--remap", "--method plain")
    shown = learn(reported / name, "--method", "plain")
    assert shown.exit_code == 0, shown.output
    assert "centres of the noisy reports" in Path("model/report.html").read_text()


@pytest.mark.parametrize(
    "words",
    [
        ("--epsilon", "1"),
        ("--domain", "town.yaml"),
        ("--ledger", "a.ledger"),
        ("--delta", "1e-9"),
        ("--columns", "east"),
        ("--cells", "12"),
        ("--drop",),
    ],
)
def test_what_a_private_fit_needs_is_refused(reported, words):
    assert_refused(learn(reported / "grid.parquet", *words), "NoSuchOption", words[0])


@pytest.mark.heavy
def test_settings_for_other_verbs_in_the_environment_are_left_alone(reported, monkeypatch):
    monkeypatch.setenv("SHOAL_EPSILON", "1")
    monkeypatch.setenv("SHOAL_DOMAIN", "nowhere.yaml")
    assert learn(reported / "laplace.csv", "-q").exit_code == 0


def test_an_unknown_method_and_a_missing_k_are_refused(reported):
    assert_refused(
        learn(reported / "grid.parquet", "--method", "wave"), "InvalidSetting", "moments"
    )
    shown = run("learn", reported / "grid.parquet")
    assert_refused(shown, "InvalidSetting", "-k 5")


def test_a_method_that_does_not_fit_the_mechanism_is_refused(reported):
    assert_refused(learn(reported / "laplace.csv", "--method", "grid"), "NotAReport", "LocalGrid")


@pytest.mark.heavy
def test_an_older_model_is_kept_unless_told_otherwise(learnt, reported):
    folder = model_of(learnt["laplace.csv"])
    shown = learn(reported / "laplace.csv", "-o", folder)
    assert shown.exit_code == 2
    assert "--overwrite" in shown.stderr
    assert learn(reported / "laplace.csv", "-o", folder, "--overwrite", "-q").exit_code == 0


@pytest.mark.heavy
def test_few_reports_are_said_to_leave_noise(reported):
    rows = pa.table({"east": [1.0, 5.0, 9.0], "north": [2.0, 3.0, 4.0]})
    write_table(rows, "few.csv")
    common = ("--domain", reported / "town.yaml", "-q", "-o", "few.parquet")
    run("perturb", "few.csv", "--mechanism", "local-grid", "--epsilon", 1, *common)
    shown = learn("few.parquet", "--json", k="2")
    assert json.loads(shown.stdout)["may_be_noise"] is True
    assert "No group can be distinguished" in Path("model/report.html").read_text()


def test_only_reports_on_spark_may_be_too_many_for_a_control(monkeypatch):
    monkeypatch.setattr("shoal.jobs.reports._load_reports.MOST_NUMBERS", 1_500)
    model, box = SimpleNamespace(n_used_=800), Box(x=(0, 10), y=(0, 10), z=(0, 10))
    mechanism = NDLaplace(3, domain=box)
    here = Reports(np.zeros((800, 3)), mechanism)
    there = GatheredReports(np.zeros((800, 3)), mechanism, rows=SimpleNamespace(size=lambda: 800))
    for reports, used in ((here, 800), (there, 500)):
        loaded = LoadedReports(reports, 800, mechanism.guarantee, box, "a row")
        assert control_size(model, loaded) == used
