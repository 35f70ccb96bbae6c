"""``shoal cluster --method wave``, from the words to the folder."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli._main import app
from shoal.cluster import WaveCluster
from shoal.data import write_table
from shoal.privacy import Ledger, PureDP

DOMAIN = """
version: 1
columns: {age: {low: 0, high: 110}, visits: {low: 0, high: 20}}
"""
CANARY = 37.123456789
FILES = {"model.json", "cells.parquet", "peaks.parquet", "passes.parquet", "description.json"}
PAGES = {"report.html", "report.json"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng, turn = np.random.default_rng(0), np.linspace(0, 2 * np.pi, 6_003)
    people = {
        "age": 55 + 35 * np.cos(turn) + rng.normal(0, 2, 6_003),
        "visits": 10 + 6 * np.sin(turn) + rng.normal(0, 0.4, 6_003),
        "name": ["secret name"] * 6_003,
    }
    people["age"][-1] = CANARY
    write_table(pa.table(people), tmp_path / "visits.csv")
    (tmp_path / "visits.yaml").write_text(DOMAIN)
    return tmp_path


def wave(*words, epsilon="1"):
    known = ("visits.csv", "--method", "wave", "--epsilon", epsilon, "--domain", "visits.yaml")
    return CliRunner().invoke(app, ["cluster", *known, *map(str, words)])


def inside(name="model"):
    return {file.name for file in Path(name).iterdir()}


@pytest.mark.heavy
def test_a_folder_is_left_that_holds_cells_tree_promise_and_page(folder):
    shown = wave("--ledger", "l.ledger")
    assert shown.exit_code == 0, shown.output
    assert inside() == FILES | PAGES
    assert Ledger("l.ledger").totals() == [PureDP(1)]
    assert json.loads(Path("model/report.json").read_text())["kind"] == "wave cluster"
    assert "cluster_map" in Path("model/report.json").read_text()


@pytest.mark.heavy
def test_the_model_comes_back_and_labels_rows(folder):
    wave("--seed", 1)
    model = shoal.load_model("model")
    assert isinstance(model, WaveCluster)
    ring, middle = model.predict([[55 + 35, 10], [55, 10]])
    assert ring >= 0
    assert middle == -1
    assert pq.read_table("model/cells.parquet").num_rows == model.cell_labels_.size


@pytest.mark.heavy
def test_it_is_what_the_estimator_does(folder):
    wave("--seed", 5, "--variant", "privthr", "--cells", "32,16", "--level", 1, "--wavelet", "db2")
    box = shoal.Box(age=(0, 110), visits=(0, 20))
    model = WaveCluster(domain=box, epsilon="1", variant="privthr", cells=(32, 16), level=1,
                        wavelet="db2", random_state=5).fit("visits.csv")  # fmt: skip
    again = shoal.load_model("model")
    np.testing.assert_array_equal(again.noisy_counts_, model.noisy_counts_)
    np.testing.assert_array_equal(again.cell_labels_, model.cell_labels_)


@pytest.mark.heavy
@pytest.mark.parametrize("variant", ["block", "privqt", "privthr", "privthrem", "baseline"])
def test_every_variant_keeps_its_promise_and_names_its_proof(folder, variant):
    assert wave("--variant", variant, "--cells", 24, "--ledger", "l.ledger").exit_code == 0
    assert Ledger("l.ledger").totals() == [PureDP(1)]
    page = Path("model/report.html").read_text()
    assert variant in page
    assert "release_methods.proof.md" in page


@pytest.mark.heavy
@pytest.mark.parametrize("selector", ["auto", "persistence", "percentile", "density", "mass"])
def test_every_selector_is_to_be_had(folder, selector):
    assert wave("--selector", selector).exit_code == 0
    assert shoal.load_model("model").selector == selector


@pytest.mark.heavy
def test_nothing_that_leaves_holds_a_row_the_number_of_rows_or_the_files_name(folder):
    shown = wave("--title", "Who comes", "--seed", 3)  # a fixed run: no number by bad luck
    texts = [shown.output, *(p.read_text() for p in Path("model").iterdir()
                             if p.suffix in (".json", ".html"))]  # fmt: skip
    planted = [f"{CANARY}", f"{CANARY:.6f}", f"{CANARY:.4f}", f"{CANARY / 110:.6f}", "secret",
               "visits.csv", "6003", "6,003"]  # fmt: skip
    plain = [re.sub(r"\b[0-9a-f]{64}\b", "", text) for text in texts]  # a digest holds anything
    assert not [word for word in planted for text in plain if word in text]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-k", 3), "finds the number of groups"),
        (("--delta", "1e-9"), "finds the number of groups"),
        (("--choose", "gap"), "finds the number of groups"),
        (("--cells", "few"), "--cells 64"),
        (("--cells", "4", "--level", 5), "--cells 32, --level 1"),
        (("--wavelet", "wavy"), "--wavelet haar"),
        (
            ("--variant", "privthr", "--selector", "mass"),
            "--selector mass does not go with --variant",
        ),
    ],
)
def test_what_cannot_be_is_said_with_a_next_step_and_leaves_nothing(folder, words, said):
    before = {file.name for file in folder.iterdir()}
    shown = wave(*words)
    assert shown.exit_code == 2, shown.output
    assert said in " ".join(shown.output.split())
    assert {file.name for file in folder.iterdir()} == before


@pytest.mark.heavy
def test_settings_may_come_from_the_environment(folder, monkeypatch):
    monkeypatch.setenv("SHOAL_CELLS", "20")
    monkeypatch.setenv("SHOAL_SELECTOR", "density")
    assert json.loads(wave("--json").stdout)["cells_an_axis"] == [20, 20]
    assert shoal.load_model("model").selector == "density"
