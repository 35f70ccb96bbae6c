"""Whatever is made with seeded bounds, or from a seeded release, says that it is a simulation."""

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.cluster import DBSCAN, AffinityPropagation
from typer.testing import CliRunner

import shoal
from shoal import Box, Ledger, Schema, choose, mechanisms
from shoal.cli._main import app
from shoal.cluster import (
    LocalClusterer,
    LocalPrototypes,
    LocalRounds,
    PrivateKPrototypes,
    RoundsModel,
    cluster_synopsis,
)
from shoal.cluster.local._synopsis import synopsis_of
from shoal.cluster.local.transcript import AllRounds
from shoal.collector._campaign_draft import draft_campaign
from shoal.errors import InvalidSetting, ShoalError
from shoal.mechanisms.local.categories._residual_sign import ResidualSign
from shoal.pages import findings, write
from shoal.planning import what_if
from shoal.privacy import LocalDP
from shoal.randomness import Randomness
from shoal.synopsis import MixedSynopsis, PrivateBounds, widest_box
from shoal.synopsis.folder import read_box

pytestmark = pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")

rng = np.random.default_rng(3)
ROWS = np.clip(rng.normal([[0.3, 0.3], [0.7, 0.7]], 0.05, (400, 2, 2)).reshape(-1, 2), 0, 1)
PUBLIC = Box.unit(2)
SEEDED = PUBLIC.simulated()
MIXED = {
    "version": 1,
    "columns": {"age": {"low": 0, "high": 1}, "level": {"values": ["basic", "higher"]}},
}
SEEDED_MIXED = copy.deepcopy(MIXED)
SEEDED_MIXED["columns"]["age"]["simulation"] = True
PEOPLE = pd.DataFrame({"age": ROWS[:, 0], "level": np.where(ROWS[:, 1] > 0.5, "basic", "higher")})

ON_BOXES = {
    "PrivateKMeans": lambda **more: shoal.PrivateKMeans(2, **more),
    "PrivateKMeans, lloyd": lambda **more: shoal.PrivateKMeans(2, method="lloyd", **more),
    "PrivateKMeans, hybrid": lambda **more: shoal.PrivateKMeans(2, method="hybrid", **more),
    "PrivateKMeans, not refined": lambda **more: shoal.PrivateKMeans(2, refine=False, **more),
    "PrivateKMeans, number chosen": lambda **more: shoal.PrivateKMeans(range(2, 5), **more),
    "WaveCluster": shoal.WaveCluster,
    "UniformGrid": shoal.UniformGrid,
    "AdaptiveGrid": shoal.AdaptiveGrid,
    "PrivTree": shoal.PrivTree,
    "PrivateBounds": PrivateBounds,
}
ON_SCHEMAS = {
    "PrivateKPrototypes": lambda **more: PrivateKPrototypes(2, **more),
    "MixedSynopsis": MixedSynopsis,
}
ESTIMATORS = {name: (make, SEEDED, ROWS) for name, make in ON_BOXES.items()} | {
    name: (make, Schema.of(SEEDED_MIXED), PEOPLE) for name, make in ON_SCHEMAS.items()
}


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    shown = CliRunner().invoke(app, [str(word) for word in words])
    assert shown.exit_code in (0, 1), shown.output
    return shown


# Bounds keep their mark wherever they go.


def test_a_mark_survives_every_form_in_which_bounds_travel():
    schema = Schema.of_box(SEEDED, person="who", max_rows_per_person=2)
    city = Box.geo(latitude=(52, 53), longitude=(13, 14)).simulated()
    forms = [
        SEEDED.select(["x1"]),
        pickle.loads(pickle.dumps(SEEDED)),
        copy.deepcopy(SEEDED),
        read_box(json.loads(json.dumps(SEEDED.to_dict()))),
        read_box(city.to_dict()),
        schema,
        schema.box,
        schema.select(["x0"]),
        Schema.of(json.loads(json.dumps(schema.to_dict()))),
        Schema.of_box(city).box,
        schema.with_texts({"x0": "Width"}, {}),
        Schema.of(SEEDED_MIXED).box,
    ]
    assert [form.simulation for form in forms] == [True] * len(forms)
    assert SEEDED.simulated(False).simulation
    assert SEEDED != PUBLIC
    assert not PUBLIC.simulation
    assert not Schema.of(MIXED).simulation


def test_columns_without_seeded_bounds_are_public_by_themselves():
    assert not Schema.of(SEEDED_MIXED).select(["level"]).simulation


@pytest.mark.parametrize(
    "column", [{"values": ["a"], "simulation": True}, {"low": 0, "high": 1, "simulation": "yes"}]
)
def test_a_mark_belongs_to_bounds_and_is_true_or_false(column):
    with pytest.raises(ShoalError, match="simulation"):
        Schema.of({"version": 1, "columns": {"x": column}})


def test_private_bounds_hand_on_whether_their_noise_was_seeded():
    wide = widest_box(["x", "y"])
    assert PrivateBounds(epsilon=5, domain=wide, random_state=1).fit(ROWS).box_.simulation
    assert not PrivateBounds(epsilon=5, domain=wide).fit(ROWS).box_.simulation


# What is fitted with such bounds, with real noise.


@pytest.mark.parametrize(("make", "domain", "rows"), ESTIMATORS.values(), ids=ESTIMATORS)
def test_a_fit_with_seeded_bounds_is_a_simulation_though_its_noise_is_real(
    make, domain, rows, in_folder
):
    ledger = Ledger()
    model = make(epsilon=1, domain=domain, ledger=ledger).fit(rows)
    assert model.guarantee_.simulation
    assert ledger.entries()["simulation"].to_pylist() == [True] * len(ledger.entries())
    if getattr(model, "synopsis_", None) is not None:
        assert model.synopsis_.guarantee_.simulation
    if hasattr(model, "save"):
        model.save("saved")
        load = getattr(type(model), "load", shoal.load_model)
        again = load("saved")
        assert again.guarantee_.simulation
        assert again.domain.simulation
    if hasattr(model, "to_result"):
        made = write(findings(model.to_result()), in_folder)
        assert {path.stem for path in made} == {"report-simulation"}


@pytest.mark.parametrize("make", ON_BOXES.values(), ids=ON_BOXES)
def test_a_fit_with_public_bounds_is_none(make):
    assert not make(epsilon=1, domain=PUBLIC).fit(ROWS).guarantee_.simulation


# What is made of a seeded release.


def seeded_grid():
    return shoal.UniformGrid(epsilon=1, domain=PUBLIC, cells=12, random_state=7).fit(ROWS)


def grid_with_seeded_bounds():
    return shoal.UniformGrid(epsilon=1, domain=SEEDED, cells=12).fit(ROWS)


def loaded_grid(tmp="saved-grid"):
    seeded_grid().save(tmp, overwrite=True)
    return shoal.UniformGrid.load(tmp)


def grid_of_seeded_reports():
    grid = mechanisms.LocalGrid(PUBLIC, epsilon=3, cells=6)
    return synopsis_of(grid.release(ROWS, Randomness(7).noise))


def grid_of_reports_in_seeded_bounds():
    grid = mechanisms.LocalGrid(SEEDED, epsilon=3, cells=6)
    return synopsis_of(grid.release(ROWS, Randomness().noise))


GRIDS = [
    seeded_grid,
    grid_with_seeded_bounds,
    loaded_grid,
    grid_of_seeded_reports,
    grid_of_reports_in_seeded_bounds,
]


@pytest.mark.parametrize("grid", GRIDS, ids=lambda make: make.__name__)
def test_what_is_made_of_a_seeded_synopsis_is_a_simulation(grid, in_folder):
    synopsis = grid()
    groups = shoal.PrivateKMeans.from_synopsis(synopsis, 2)
    groups.save("groups")
    made = {
        "synopsis": synopsis.guarantee_,
        "centres": groups.guarantee_,
        "saved centres": shoal.load_model("groups").guarantee_,
        "density": cluster_synopsis(synopsis, DBSCAN(eps=0.3, min_samples=20)).guarantee,
        "messages": cluster_synopsis(synopsis, AffinityPropagation()).guarantee,
        "number": choose.k(synopsis, among=range(1, 4)).guarantee,
        "radius": choose.radius(synopsis).guarantee,
        "points": choose.min_points(synopsis).guarantee,
        "preference": choose.preference(synopsis).guarantee,
    }
    assert [name for name, promise in made.items() if not promise.simulation] == []


def test_wave_clusters_of_a_seeded_grid_and_coarser_ones_are_a_simulation():
    model = shoal.WaveCluster.from_synopsis(seeded_grid())
    assert model.guarantee_.simulation
    fitted = shoal.WaveCluster(epsilon=1, domain=SEEDED, cells=16).fit(ROWS)
    assert fitted.coarser(1).guarantee_.simulation


@pytest.mark.parametrize("domain", [PUBLIC, SEEDED], ids=["seeded noise", "seeded bounds"])
def test_plans_say_whether_what_they_rest_on_was_seeded(domain):
    seed = 7 if domain is PUBLIC else None
    model = shoal.PrivateKMeans(2, epsilon=1, domain=domain, random_state=seed).fit(ROWS)
    assert what_if(model, epsilons=[1]).simulation
    facts = {"n_expected": 500, "epsilons": [1.0], "trust": "central"}
    assert shoal.plan(2, domain=domain, **facts).simulation == domain.simulation


# Reports of people.


BOUNDED = ["Duchi", "Harmony", "Hybrid", "Piecewise", "PrivUnit", "SquareWave", "Staircase"]


def local_mechanisms(box):
    one = box.select(["x0"])
    for name in BOUNDED:
        yield getattr(mechanisms, name)(1.0, domain=one)
    yield mechanisms.LocalGrid(box, epsilon=1, cells=4)
    yield mechanisms.NDLaplace(1.0, domain=box)
    yield mechanisms.PlanarLaplace(1.0, domain=box)
    yield mechanisms.Restrict(mechanisms.NDLaplace(1.0, domain=box))
    yield mechanisms.Mixed(1.0, {"x0": one, "level": 3})
    yield ResidualSign(box, ((0.5, 0.5),), 0.5, epsilon=1)
    yield LocalRounds(box, n_clusters=2, epsilon=1, n_expected=100)


def test_reports_within_seeded_bounds_are_a_simulation():
    unmarked = [m for m in local_mechanisms(SEEDED) if not m.guarantee.simulation]
    assert unmarked == []
    assert not any(m.guarantee.simulation for m in local_mechanisms(PUBLIC))
    rounds = {"n_clusters": 2, "epsilon": 1, "n_expected": 100}
    assert LocalPrototypes(Schema.of(SEEDED_MIXED), **rounds).guarantee.simulation


def test_a_remap_to_seeded_bounds_makes_a_simulation():
    reports = mechanisms.NDLaplace(1.0).release(ROWS, Randomness().noise)
    assert not reports.guarantee.simulation
    assert mechanisms.clamp(SEEDED)(reports).guarantee.simulation
    assert mechanisms.snap(SEEDED, 4)(reports).guarantee.simulation


def test_reports_and_what_is_learnt_of_them_keep_the_mark(in_folder):
    grid, ledger = mechanisms.LocalGrid(SEEDED, epsilon=4, cells=6), Ledger()
    perturb = shoal.Perturb(grid, ledger=ledger).fit(ROWS)
    perturb.transform(ROWS)
    assert perturb.guarantee_.simulation
    assert ledger.entries()["simulation"].to_pylist() == [True]
    model = LocalClusterer(2, mechanism=grid).fit(grid.release(ROWS, Randomness().noise))
    model.save("model")
    assert model.guarantee_.simulation
    assert shoal.load_model("model").guarantee_.simulation
    assert model.answered_guarantee(1).simulation
    assert choose.k(model, among=range(1, 3)).guarantee.simulation


@pytest.mark.parametrize("seed", [None, 5], ids=["seeded bounds", "seeded noise"])
def test_rounds_of_reports_keep_the_mark(seed, in_folder):
    box = SEEDED if seed is None else PUBLIC
    first = LocalRounds(box, n_clusters=2, epsilon=2, n_expected=len(ROWS))
    transcript = AllRounds(first, 1).release(ROWS, Randomness(seed).noise)
    model = RoundsModel.of(transcript, first.guarantee.simulated(seed is not None))
    model.save("rounds")
    assert shoal.load_model("rounds").guarantee_.simulation


def test_the_gate_marks_a_page_on_which_a_simulated_mechanism_releases():
    ledger = Ledger()
    page = ledger.open(LocalDP(1), by="test")
    grid = mechanisms.LocalGrid(SEEDED, epsilon=1, cells=4)
    page.release(grid, ROWS, Randomness().noise, of="reports")
    assert page.total().simulation
    assert ledger.entries()["simulation"].to_pylist() == [True]


def test_a_campaign_refuses_seeded_bounds(in_folder):
    column = {"name": "age", "low": 0, "high": 110}
    fields = {
        **dict.fromkeys(("name", "purpose", "operator", "contact"), "ages"),
        **{"epsilon": "1", "n_expected": 900, "n_clusters": 2},
        **{"opens": "2026-11-01T00:00:00Z", "closes": "2027-11-01T00:00:00Z"},
    }
    for mark in ({}, {"simulation": False}):
        Path("c.yaml").write_text(yaml.safe_dump(fields | {"columns": [column | mark]}))
        assert draft_campaign("c.yaml")["columns"][0]["name"] == "age"
    Path("c.yaml").write_text(yaml.safe_dump(fields | {"columns": [column | {"simulation": True}]}))
    with pytest.raises(InvalidSetting, match="seeded noise"):
        draft_campaign("c.yaml")


# From the command line.


@pytest.fixture
def estimated(in_folder):
    """A table, and its domain with bounds that were estimated with seeded noise."""
    incomes = np.clip(rng.normal(30_000, 4_000, 900), 1, 60_000).round()
    visits = rng.integers(1, 60, 900)
    table = pd.DataFrame({"income": incomes, "spent": visits, "sex": ["F", "M", "F"] * 300})
    table.to_csv("visits.csv", index=False)
    run("init", "visits.csv", "--estimate-bounds", "--epsilon", 2, "--seed", 7)
    return in_folder


def test_a_drafted_domain_marks_seeded_bounds_in_the_file_and_says_so(estimated):
    columns = yaml.safe_load((estimated / "visits.yaml").read_text())["columns"]
    assert [columns[name]["simulation"] for name in ("income", "spent")] == [True, True]
    assert "SIMULATED" in (estimated / "visits.yaml").read_text()
    words = ("--estimate-bounds", "--epsilon", 2, "--overwrite", "--json")
    assert json.loads(run("init", "visits.csv", *words, "--seed", 7).stdout)["simulation"]
    assert not json.loads(run("init", "visits.csv", *words).stdout)["simulation"]
    assert "simulation" not in (estimated / "visits.yaml").read_text()


@pytest.mark.parametrize("method", [("-k", 2), ("--method", "wave")], ids=["kmeans", "wave"])
def test_groups_in_a_drafted_domain_are_a_simulation_on_every_page(estimated, method):
    words = ("--epsilon", 1, "--domain", "visits.yaml", "--ledger", "l.ledger", "--json")
    words += ("--columns", "income,spent")
    shown = json.loads(run("cluster", "visits.csv", *method, *words, "-o", "model").stdout)
    assert shown["simulation"]
    assert json.loads((estimated / "model/model.json").read_text())["simulation"]
    names = {path.name for path in (estimated / "model").iterdir()}
    assert {"report-simulation.html", "report-simulation.json"} <= names
    assert "report.html" not in names
    assert Ledger("l.ledger").entries()["simulation"].to_pylist() == [True, True]
    page = (estimated / "model/report-simulation.html").read_text()
    assert "so not public" in page
    assert "public, fixed beforehand" not in page


def test_mixed_groups_in_a_drafted_domain_are_a_simulation(estimated):
    schema = yaml.safe_load((estimated / "visits.yaml").read_text())
    schema["columns"]["sex"] = {"values": ["F", "M"]}
    (estimated / "mixed.yaml").write_text(yaml.safe_dump(schema))
    words = ("-k", 2, "--epsilon", 1, "--domain", "mixed.yaml", "-o", "model", "--json")
    assert json.loads(run("cluster", "visits.csv", *words).stdout)["simulation"]
    assert (estimated / "model/report-simulation.html").exists()


def test_a_plan_for_a_drafted_domain_says_that_it_is_a_simulation(estimated):
    words = ("-k", 2, "--n-expected", 900, "--domain", "visits.yaml", "--trust", "central")
    words += ("--epsilon", 1, "--columns", "income,spent")
    assert json.loads(run("plan", *words, "--json").stdout)["simulation"]
    assert "Simulation." in run("plan", *words).output


MECHANISMS = ["nd-laplace", "local-grid", "hybrid", "mixed", "rounds"]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_reports_in_a_drafted_domain_are_a_simulation_and_so_is_what_is_learnt(
    estimated, mechanism
):
    words = ("--mechanism", mechanism, "--epsilon", 2, "--domain", "visits.yaml", "--clip")
    words += ("--ledger", "l.ledger", "-o", "reports.parquet", "-q")
    words += ("-k", 2) if mechanism == "rounds" else ()
    words += () if mechanism == "mixed" else ("--columns", "income,spent")
    run("perturb", "visits.csv", *words)
    (sidecar,) = (path for path in estimated.glob("reports*.json"))
    assert json.loads(sidecar.read_text())["simulation"]
    assert Ledger("l.ledger").entries()["simulation"].to_pylist() == [True]
    if mechanism in ("nd-laplace", "local-grid", "rounds"):
        more = () if mechanism == "rounds" else ("-k", 2)
        run("learn", "reports.parquet", *more, "-o", "learnt", "-q")
        assert (estimated / "learnt/report-simulation.html").exists()
        assert json.loads((estimated / "learnt/model.json").read_text())["simulation"]
