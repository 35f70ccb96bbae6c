import json

import numpy as np
import pytest

import shoal
from shoal.cluster import LocalClusterer, PrivateKMeans, PrivateKPrototypes, WaveCluster
from shoal.domain import Box, Schema
from shoal.errors import AlreadyExists, CannotWrite, InvalidSetting, NotPublishable, UnreadableModel
from shoal.mechanisms import LocalGrid, NDLaplace
from shoal.pages import Verdicts, findings
from shoal.pages._write_page import build_page, report
from shoal.planning import plan
from shoal.privacy import Ledger, Protected, Public, PureDP, Released, Result, Unprotected
from shoal.randomness import Randomness
from shoal.synopsis import UniformGrid

BOX = Box(age=(0, 100), visits=(0, 20))
SCHEMA = Schema.of(
    {"version": 1, "columns": {"age": {"low": 0, "high": 100}, "sex": {"values": ["F", "M"]}}}
)


def rows(n=600):
    near = np.where(np.arange(n)[:, None] % 2, [20, 5], [80, 15])
    return BOX.clip(near + np.random.default_rng(0).normal(0, 1, (n, 2)))


def kmeans(**settings):
    return PrivateKMeans(2, epsilon=1, domain=BOX, random_state=1, **settings).fit(rows())


def prototypes():
    table = {"age": rows()[:, 0], "sex": np.where(rows()[:, 0] > 50, "F", "M")}
    model = PrivateKPrototypes(
        2, epsilon=2, domain=SCHEMA, n_init=1, n_synthetic=300, random_state=1
    )
    return model.fit(table)


def learnt():
    mechanism = LocalGrid(BOX, epsilon=3, cells=8)
    reports = mechanism.release(rows(), Randomness(1).noise)
    model = LocalClusterer(2, mechanism=reports.mechanism, random_state=1).fit(reports)
    assert model.evidence(reports, random_state=1).is_certain
    return model


SUBJECTS = {
    "k-means": kmeans,
    "prototypes": prototypes,
    "waves": lambda: WaveCluster(epsilon=1, domain=BOX, random_state=1).fit(rows()),
    "reports": learnt,
    "summary": lambda: UniformGrid(epsilon=1, domain=BOX, cells=8, random_state=1).fit(rows()),
    "plan": lambda: plan(
        2, domain=BOX, n_expected=500, epsilons=[4], trust="central", groups="clear"
    ),
    "result": lambda: Result("example", PureDP(1), {"title": Public("By hand")}),
}


@pytest.fixture(scope="module")
def model():
    return kmeans()


@pytest.mark.heavy
@pytest.mark.parametrize("kind", SUBJECTS)
def test_whatever_is_fitted_has_a_page(tmp_path, kind):
    page = shoal.report(SUBJECTS[kind](), tmp_path / "page.html")
    html = page.read_text()
    assert page == tmp_path / "page.html"
    assert html.startswith("<!doctype html>")
    assert html.rstrip().endswith("</html>")
    has_numbers = (tmp_path / "page.json").exists()
    assert has_numbers == (kind != "plan")  # a plan is about no release


@pytest.mark.heavy
def test_the_numbers_beside_the_page_are_those_of_the_page(tmp_path, model):
    report(model, tmp_path / "page.html", title="Visitors", publisher="A museum")
    numbers = json.loads((tmp_path / "page.json").read_text())
    assert numbers["settings"]["title"] == "Visitors"
    assert "A museum" in (tmp_path / "page.html").read_text()


@pytest.mark.heavy
def test_a_page_that_is_there_is_not_replaced_unasked(tmp_path, model):
    page = tmp_path / "page.html"
    page.write_text("mine")
    with pytest.raises(AlreadyExists):
        report(model, page)
    assert page.read_text() == "mine"
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
    assert report(model, page, overwrite=True).read_text() != "mine"


@pytest.mark.heavy
def test_numbers_that_are_there_stop_the_page_as_well(tmp_path, model):
    (tmp_path / "page.json").write_text("mine")
    with pytest.raises(AlreadyExists):
        report(model, tmp_path / "page.html")
    assert (tmp_path / "page.json").read_text() == "mine"
    assert [each.name for each in tmp_path.iterdir()] == ["page.json"]


@pytest.mark.parametrize("path", ["page.pdf", "page", "."])
def test_a_page_is_an_html_file(tmp_path, model, path):
    with pytest.raises(InvalidSetting, match="HTML file") as raised:
        report(model, tmp_path / path)
    assert "page.html" in raised.value.hint


@pytest.mark.heavy
def test_a_folder_that_is_not_there_is_named(tmp_path, model):
    with pytest.raises(CannotWrite, match="missing"):
        report(model, tmp_path / "missing" / "page.html")


def test_what_has_no_page_is_refused_with_what_has():
    with pytest.raises(InvalidSetting, match="no page for a dict") as raised:
        build_page({})
    assert "fitted model" in raised.value.hint


def test_a_model_that_promises_nothing_has_no_public_page(tmp_path):
    unprotected = Result("example", Unprotected("a test"))
    with pytest.raises(NotPublishable):
        report(unprotected, tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.heavy
def test_the_model_s_own_ledger_says_what_was_promised_in_all(tmp_path):
    ledger = Ledger()
    kmeans(ledger=ledger)
    report(kmeans(ledger=ledger), tmp_path / "page.html")
    account = json.loads((tmp_path / "page.json").read_text())["ledger"]
    assert (account["here"], account["total"]) == ("1", "2")


@pytest.mark.heavy
def test_reports_that_were_learnt_from_show_no_budget_spent_here(tmp_path):
    report(learnt(), tmp_path / "page.html")
    assert json.loads((tmp_path / "page.json").read_text())["ledger"]["bar"] == []


def test_reports_without_a_public_box_have_no_page():
    mechanism = NDLaplace(3)
    reports = mechanism.release(rows(40), Randomness(1).noise)
    model = LocalClusterer(2, mechanism=mechanism, method="plain", random_state=1).fit(reports)
    with pytest.raises(InvalidSetting, match="no public box"):
        build_page(model)


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["k-means", "prototypes", "waves", "reports", "summary"])
def test_a_saved_model_has_the_page_of_its_folder(tmp_path, kind):
    SUBJECTS[kind]().save(tmp_path / "model")
    report(tmp_path / "model", tmp_path / "page.html")
    numbers = json.loads((tmp_path / "page.json").read_text())
    assert numbers["simulation"] is True
    listed = {each["name"] for each in numbers["files"]}
    assert ("model.json" in listed) == (kind != "summary")


def test_the_page_of_a_table_is_drawn_again_from_its_numbers(tmp_path):
    content = findings(Result("table", PureDP(1), {"title": Public("A table")}))
    (tmp_path / "out.report.json").write_text(json.dumps(content))
    assert "A table" in report(tmp_path, tmp_path / "page.html").read_text()


@pytest.mark.parametrize("content", ["{", "[]", '{"schema": "other"}'])
def test_numbers_of_something_else_are_refused(tmp_path, content):
    (tmp_path / "report.json").write_text(content)
    with pytest.raises(UnreadableModel):
        report(tmp_path, tmp_path / "page.html")


def test_a_page_for_the_holder_can_be_read_by_its_owner_only(tmp_path):
    result = Result("example", PureDP(1), {}, {}, {"lines": Protected(["7 rows were moved."])})
    page = report(result, tmp_path / "mine.html", audience="curator")
    assert "7 rows were moved." in page.read_text()
    assert page.stat().st_mode & 0o077 == 0
    assert [each.name for each in tmp_path.iterdir()] == ["mine.html"]
    assert "7 rows" not in report(result, tmp_path / "public.html").read_text()


def test_verdicts_made_from_rows_can_be_read_by_their_owner_only(tmp_path):
    words = {"title": "Audit", "lead": "", "heading": "", "sub": "", "says": [], "says_not": []}
    page = report(Verdicts(**words, constructed=False), tmp_path / "page.html")
    assert page.stat().st_mode & 0o077 == 0


def test_a_protected_value_among_the_released_is_refused(tmp_path):
    result = Result("example", PureDP(1), {}, {"inertia": Released(Protected(3.0))})
    with pytest.raises(NotPublishable):
        report(result, tmp_path / "page.html")


def test_the_function_is_the_one_that_pages_export():
    assert shoal.report is shoal.pages.report is report


def test_a_page_without_a_path_is_shown_and_not_written(tmp_path, model, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = shoal.report(model)
    written = shoal.report(model, tmp_path / "other.html")
    assert page.html == written.read_text(encoding="utf-8").replace("other.json", "page.json")
    assert not list(tmp_path.glob("page*"))
    assert repr(page).startswith("<page of a PrivateKMeans;")


def test_a_shown_page_cannot_leave_its_frame(model):
    shown = shoal.report(model, title='"><script>alert(1)</script>')._repr_html_()
    assert shown.startswith('<iframe sandbox="" srcdoc="&lt;!')
    assert shown.count("<") == shown.count(">") == 2
    assert shown.split('srcdoc="')[1].count('"') == 5
