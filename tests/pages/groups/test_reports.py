from dataclasses import replace

import numpy as np
import pytest

from shoal.cluster import LocalClusterer
from shoal.cluster.local._group_test import Evidence
from shoal.domain import Box
from shoal.mechanisms import LocalGrid, NDLaplace
from shoal.pages.groups import LocalGroups, page
from shoal.pages.groups._reports import NO_GROUPS, NOT_TESTED, PLAIN
from shoal.privacy import LocalDP
from shoal.randomness import Randomness

BOX = Box(x=(0, 10), y=(0, 10), z=(0, 10))
PLACES = np.array([[2.0, 2.0, 5.0], [8.0, 7.0, 5.0]])


def shown(groups, n_clusters=(2,)):
    return page(groups, table="reports.parquet", n_clusters=n_clusters)


def groups(mechanism, box, n=800, method="auto", total=None):
    rows = np.random.default_rng(0).normal(np.repeat(PLACES, n // 2, axis=0), 0.3)[:, : box.d]
    reports = mechanism.release(box.clip(rows), Randomness(1).noise)
    made = reports.mechanism
    model = LocalClusterer(2, mechanism=made, method=method, random_state=1).fit(reports)
    control = model.control(random_state=1)
    return LocalGroups(model, control, total or n, protects="a person, identified by 'who'")


@pytest.fixture(scope="module")
def placed():
    return groups(NDLaplace(3, domain=BOX), BOX)


@pytest.mark.heavy
def test_sizes_are_shares_of_the_density(placed):
    assert placed.sizes == pytest.approx([400, 400], abs=60)
    assert sum(placed.sizes) == 800


@pytest.mark.heavy
def test_centres_without_data_leave_much_more_inertia(placed):
    assert placed.ratio > 5
    assert placed.needed is None


def test_the_same_centres_agree_and_leave_the_same(placed):
    same = replace(placed, control=placed.model)
    assert same.agreement == pytest.approx(1)
    assert same.ratio == pytest.approx(1)


@pytest.mark.heavy
@pytest.mark.parametrize("certain", [True, False, None])
def test_the_verdict_is_said_first_on_the_page_and_in_the_document(placed, certain, monkeypatch):
    evidence = None if certain is None else Evidence(certain, {"spread evenly": 1.0}, 2.0, 1.5)
    monkeypatch.setattr(placed.model, "evidence_", evidence)
    made = shown(placed)
    first = {False: NO_GROUPS, None: NOT_TESTED}.get(certain)
    assert (made.limits[0] == first) if first else NO_GROUPS not in made.limits
    title = {True: "2 groups", False: "No clear groups", None: "Untested groups"}[certain]
    assert made.settings["title"].startswith(title)
    assert made.is_distinct is (certain is True)
    assert made.values["may_be_noise"] is (None if certain is None else not certain)


def test_what_is_counted_are_people_only_where_each_reported_once(placed):
    assert placed.unit == "people"
    assert replace(placed, protects="a row").unit == "reports"


def test_maps_are_of_the_two_pairs_that_differ_most_found_and_without_data(placed):
    drawn = placed.maps()
    assert [figure.data["names"] for figure in drawn[:2]] == [["X", "Y"], ["X", "Y"]]
    assert len(drawn) == 4
    assert sum(map(sum, drawn[0].data["noisy_counts"])) == pytest.approx(800, rel=0.1)


@pytest.mark.heavy
def test_what_a_page_says_depends_on_how_it_was_learnt(placed):
    plain = groups(NDLaplace(3, domain=BOX), BOX, method="plain", total=5_000)
    made = shown(plain)
    assert PLAIN in made.limits
    assert any("drawn at random" in line for line in made.limits)
    assert (made.values["reports"], made.values["reports_used"]) == (5_000, 800)
    assert PLAIN not in shown(placed).limits


@pytest.mark.heavy
def test_a_choice_among_numbers_is_told(placed):
    limits = " ".join(shown(placed, range(2, 7)).limits)
    assert "chosen among 2 to 6" in limits
    assert "Each person was reported once." in limits


@pytest.mark.heavy
def test_a_grid_s_promise_is_the_reports_own():
    box = BOX.select(["x", "y"])
    result = shown(groups(LocalGrid(box, epsilon=4, cells=6), box, 400)).to_result()
    assert result.guarantee == LocalDP(4).simulated(True)
    assert "nothing was spent" in result.settings["releases"].value


@pytest.mark.heavy
def test_a_page_says_from_how_many_reports_was_learnt(placed, monkeypatch):
    there = replace(placed, total=9_000, protects="a row")
    assert "800 reports, drawn at random" in " ".join(shown(there).limits)
    monkeypatch.setattr(placed.model, "n_used_", 9_000)
    made = shown(there)
    assert "drawn at random" not in " ".join(made.limits)
    assert made.values["reports_used"] == 9_000


@pytest.mark.heavy
def test_a_control_of_fewer_reports_is_told(placed, monkeypatch):
    made = shown(placed)
    assert "as many as one machine holds" not in " ".join(made.limits)
    assert "the same number of reports" in made.tables[1].note
    monkeypatch.setattr(placed.model, "n_used_", 9_000)
    made = shown(placed)
    limits = " ".join(made.limits)
    assert "tried with 800 reports, as many as one machine holds; with all 9,000" in limits
    assert "The same learner, 800 reports, and" in made.tables[1].note
    assert made.values["without_data"]["reports"] == 800


@pytest.mark.heavy
@pytest.mark.parametrize(("d", "said"), [(3, False), (4, True), (8, True)])
def test_a_grid_of_many_columns_is_said_to_be_coarse(d, said):
    box = Box.unit(d)
    grid = LocalGrid(box, epsilon=4, cells=2)
    rows = np.tile([0.2] * d, (400, 1))
    reports = grid.release(rows, Randomness(1).noise)
    model = LocalClusterer(2, mechanism=grid, random_state=1).fit(reports)
    made = shown(LocalGroups(model, model, 400))
    assert any("asks again about the centres" in line for line in made.limits) == said


@pytest.mark.heavy
def test_a_model_of_a_grid_without_given_cells_has_a_page_and_a_verdict():
    box = BOX.select(["x", "y"])
    rows = np.random.default_rng(0).normal(np.repeat(PLACES[:, :2], 200, axis=0), 0.3)
    grid = LocalGrid(box, epsilon=4)
    reports = grid.release(box.clip(rows), Randomness(1).noise)
    model = LocalClusterer(2, mechanism=grid, random_state=1).fit(reports)
    model.evidence(reports, random_state=1)
    assert page(model).settings["mechanism"] == reports.mechanism
    assert model.mechanism is grid
