from pathlib import Path

import numpy as np
import pytest

from shoal.cli.inputs.reports import Heard
from shoal.cli.verbs.cluster_local import _users
from shoal.cluster import LocalClusterer
from shoal.cluster.local.evidence import Evidence
from shoal.cluster.local.frames import Gathered
from shoal.domain import Box
from shoal.mechanisms import LocalGrid, NDLaplace
from shoal.pages.local import NONE_TOLD, NOT_TRIED, PLAIN, Asked, Groups, document, maps, result
from shoal.privacy import LocalDP
from shoal.randomness import Randomness

BOX = Box(x=(0, 10), y=(0, 10), z=(0, 10))
PLACES = np.array([[2.0, 2.0, 5.0], [8.0, 7.0, 5.0]])
ASKED = Asked("reports.parquet", "auto", range(2, 3))


def groups(mechanism, box, n=800, method="auto", total=None):
    rows = np.random.default_rng(0).normal(np.repeat(PLACES, n // 2, axis=0), 0.3)[:, : box.d]
    reports = mechanism.release(box.clip(rows), Randomness(1).noise)
    made = reports.mechanism
    model = LocalClusterer(2, mechanism=made, method=method, random_state=1).fit(reports)
    heard = Heard(reports, total or n, made.guarantee, box, "a person, told by 'who'")
    return Groups(model, model.control(random_state=1), heard)


@pytest.fixture(scope="module")
def placed():
    return groups(NDLaplace(3, domain=BOX), BOX)


def test_sizes_are_shares_of_the_density(placed):
    assert placed.sizes == pytest.approx([400, 400], abs=60)
    assert sum(placed.sizes) == 800


def test_centres_without_data_leave_much_more_inertia(placed):
    assert placed.ratio > 5
    assert placed.needed is None


def test_the_same_centres_agree_and_leave_the_same(placed):
    same = Groups(placed.model, placed.model, placed.heard)
    assert same.agreement == pytest.approx(1)
    assert same.ratio == pytest.approx(1)


@pytest.mark.parametrize("told", [True, False, None])
def test_the_verdict_is_said_first_on_the_page_and_in_the_document(placed, told):
    evidence = None if told is None else Evidence(told, {"spread evenly": 1.0}, 2.0, 1.5)
    shown = Groups(placed.model, placed.control, placed.heard, evidence)
    page = result(shown, ASKED)
    errors, title = page.released["errors"].value, page.settings["title"].value
    first = {False: NONE_TOLD, None: NOT_TRIED}.get(told)
    assert (errors[0] == first) if first else NONE_TOLD not in errors
    assert title.startswith("No groups can be told" if told is False else "2 groups")
    document_ = document(shown, [Path("model/report.html")])
    assert document_["may_be_noise"] is (None if told is None else not told)


def test_what_is_counted_are_people_only_where_each_reported_once(placed):
    assert placed.unit == "people"
    assert far(placed, 9_000).unit == "reports"


def test_maps_are_of_the_two_pairs_that_differ_most_found_and_without_data(placed):
    drawn = maps(placed)
    assert [figure.data["names"] for figure in drawn[:2]] == [["x", "y"], ["x", "y"]]
    assert len(drawn) == 4
    assert sum(map(sum, drawn[0].data["noisy_counts"])) == pytest.approx(800, rel=0.1)


def test_what_a_page_says_depends_on_how_it_was_learnt(placed):
    plain = groups(NDLaplace(3, domain=BOX), BOX, method="plain", total=5_000)
    said = result(plain, ASKED).released["errors"].value
    assert PLAIN in said
    assert any("drawn at random" in line for line in said)
    told = document(plain, [Path("model/report.html")])
    assert (told["reports"], told["reports_used"]) == (5_000, 800)
    assert PLAIN not in result(placed, ASKED).released["errors"].value


def test_a_choice_among_numbers_is_told(placed):
    asked = Asked("reports.parquet", "auto", range(2, 7))
    said = " ".join(result(placed, asked).released["errors"].value)
    assert "chosen among 2 to 6" in said
    assert "Each person was reported once." in said


def test_a_grid_s_promise_is_the_reports_own():
    box = BOX.select(["x", "y"])
    told = result(groups(LocalGrid(box, epsilon=4, cells=6), box, 400), ASKED)
    assert told.guarantee == LocalDP(4)
    assert "nothing was spent" in told.settings["releases"].value


def far(here, size):
    """The groups as if their reports were some of those on Spark."""

    class Many:
        def size(self):
            return size

    reports = Gathered(here.heard.reports.values, here.model.mechanism, rows=Many())
    heard = Heard(reports, size, here.heard.guarantee, here.box, "a row")
    return Groups(here.model, here.control, heard)


def test_a_page_says_from_how_many_reports_on_spark_was_learnt(placed, monkeypatch):
    there = far(placed, 9_000)
    said = " ".join(result(there, ASKED).released["errors"].value)
    assert "800 reports, drawn at random" in said
    monkeypatch.setattr(placed.model, "n_used_", 9_000)
    said = " ".join(result(there, ASKED).released["errors"].value)
    assert "drawn at random" not in said
    assert document(there, [Path("model/report.html")])["reports_used"] == 9_000


def test_a_control_of_fewer_reports_is_told(placed, monkeypatch):
    def told():
        page = result(placed, ASKED).released
        return " ".join(page["errors"].value), page["tables"].value[1]["note"]

    errors, note = told()
    assert "as many as one machine holds" not in errors
    assert "the same number of reports" in note
    monkeypatch.setattr(placed.model, "n_used_", 9_000)
    errors, note = told()
    assert "tried with 800 reports, as many as one machine holds; with all 9,000" in errors
    assert "The same learner, 800 reports, and" in note
    nothing = document(placed, [Path("model/report.html")])["without_data"]
    assert nothing["reports"] == 800


def test_only_reports_on_spark_may_be_too_many_for_a_control(placed, monkeypatch):
    monkeypatch.setattr("shoal.cli.inputs.reports.MOST_NUMBERS", 1_500)
    assert _users(placed.model, placed.heard) == 800
    assert _users(placed.model, far(placed, 800).heard) == 500
