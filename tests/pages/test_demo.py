import json

import numpy as np
import pytest
from typer.testing import CliRunner

from shoal.cli.main import app
from shoal.domain import Box, Grid
from shoal.mechanisms import Geometric
from shoal.pages.demo import Release, page
from shoal.privacy import Ledger, PureDP
from shoal.report import findings, render

GRID = Grid(Box(sessions_per_week=(0, 30), minutes_per_session=(0, 120)), 30)


def a_release(epsilon=1, simulation=False):
    counts = np.random.default_rng(2).poisson(11, GRID.shape)
    promise = PureDP(epsilon, simulation=simulation)
    seed = 7 if simulation else None
    return Release(GRID, Geometric(PureDP(epsilon)), counts, promise, Ledger(), seed)


@pytest.mark.parametrize("simulation", [False, True])
@pytest.mark.parametrize("epsilon", [1, "0.25", "1/3"])
def test_the_code_on_the_page_runs_and_keeps_the_promise(epsilon, simulation):
    code = page(a_release(epsilon, simulation)).settings["code"]
    names = {}
    exec(code, names)
    assert names["noisy_counts"].sum() == pytest.approx(10_000, abs=2_000)
    assert names["page"].total() == PureDP(epsilon, simulation=simulation)


@pytest.mark.parametrize("seed", [7, 42])
def test_the_code_of_a_simulation_makes_the_very_same_counts(seed, tmp_path):
    demo = CliRunner().invoke(app, ["demo", "--seed", str(seed), "-o", str(tmp_path / "demo")])
    assert demo.exit_code == 0, demo.output
    told = json.loads((tmp_path / "demo" / "report-simulation.json").read_text(encoding="utf-8"))
    assert told["settings"]["seed"] == seed
    names = {}
    exec(told["settings"]["code"], names)
    drawn = np.ravel(told["figures"][-1]["data"]["noisy_counts"])
    assert names["noisy_counts"].tolist() == drawn.tolist()


def test_a_total_that_noise_drowns_is_not_told():
    counts = np.full(GRID.shape, -43_469_256)
    drowned = Release(GRID, Geometric(PureDP("1e-9")), counts, PureDP("1e-9"), Ledger())
    made = page(drowned)
    released = made.to_result().released.items()
    words = json.dumps([leaf.value for name, leaf in released if name != "figures"])
    assert "cannot be told" in words
    assert "-39" not in words
    assert "cannot be told at this epsilon" in " ".join(line.text for line in made.lines)
    assert made.values["people_about"] == 0


def test_words_say_that_noise_chose_the_areas():
    made = page(a_release(1))
    assert "chosen by their noisy counts" in made.tables[0].note
    listed = made.tables[0].rows
    described = made.figures[0].alt
    assert described.count(" sessions a week of ") == len(listed)
    assert all(f"{row[1]} sessions a week of {row[2]} minutes" in described for row in listed)


def test_a_map_without_people_makes_a_page_too():
    empty = Release(GRID, Geometric(PureDP(1)), np.zeros(GRID.shape, int), PureDP(1), Ledger())
    made = page(empty)
    assert made.tables[0].rows == []
    assert "No area stands clear" in made.tables[0].note
    assert "No area stands clear" in made.figures[0].alt
    assert "No area stands clear" in render(findings(made.to_result()))
