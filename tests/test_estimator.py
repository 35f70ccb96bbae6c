import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from shoal.cluster import LocalClusterer, PrivateKMeans, WaveCluster
from shoal.domain import Box, Schema
from shoal.engine import rows_of
from shoal.errors import (
    ConflictingSettings,
    InvalidBudget,
    InvalidDomain,
    InvalidSetting,
    UnknownBounds,
    UnreadableTable,
)
from shoal.estimator import Spending, promise_from_settings, promise_to_settings
from shoal.mechanisms import RandomizedResponse
from shoal.perturb import Perturb
from shoal.privacy import ApproxDP, Ledger, PureDP
from shoal.randomness import Randomness
from shoal.synopsis import UniformGrid

BOX = Box.unit(2)
REPLACED = PureDP(1, neighbours="replace-one")
X = np.random.default_rng(0).random((300, 2))


def test_bounds_are_never_read_from_the_rows():
    with pytest.raises(UnknownBounds):
        UniformGrid(epsilon=1, domain=None).fit(X)


def test_rows_that_flow_past_once_are_refused_before_anything_is_paid():
    reader = pa.table({"x0": X[:, 0], "x1": X[:, 1]}).to_reader()
    ledger = Ledger()
    with pytest.raises(UnreadableTable, match="read_all"):
        UniformGrid(epsilon=1, domain=BOX, ledger=ledger).fit(reader)
    assert ledger.entries().num_rows == 0


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), "much", None])
def test_a_budget_that_is_none_is_refused(epsilon):
    with pytest.raises(InvalidBudget):
        UniformGrid(epsilon=epsilon, domain=BOX).fit(X)


@pytest.mark.heavy
def test_the_number_of_rows_is_noisy_unless_it_is_public():
    told = [
        UniformGrid(**{"epsilon": 1, "domain": BOX, "random_state": seed} | public).fit(X).n_rows_
        for seed in range(5)
        for public in ({}, {"n_public": 250}, {"epsilon": None, "privacy": REPLACED})
    ]
    noisy, public, constant = told[::3], told[1::3], told[2::3]
    assert len(set(noisy)) > 1
    assert set(public) == {250}
    assert set(constant) == {300}


@pytest.mark.parametrize(
    "terms", [{"nonfinite": "drop"}, {"outside": "drop"}], ids=lambda terms: next(iter(terms))
)
def test_where_values_decide_whether_a_row_stays_their_number_is_not_public(terms):
    """Replacing a row by one that is dropped changes the number of rows kept."""
    rows = rows_of(X, BOX, **terms)
    found = {
        UniformGrid(privacy=REPLACED, domain=BOX, random_state=seed).fit(rows).n_rows_
        for seed in range(5)
    }
    assert found != {300}


@pytest.mark.heavy
def test_a_person_with_many_rows_makes_their_number_private():
    table = pa.table({"x0": X[:, 0], "x1": X[:, 1], "who": np.arange(300) // 3})
    domain = Schema.of_box(BOX, person="who", max_rows_per_person=2)
    for privacy in (PureDP(1), REPLACED):
        sizes = {
            UniformGrid(privacy=privacy, domain=domain, random_state=s).fit(table).n_rows_
            for s in range(5)
        }
        assert len(sizes) > 1


@pytest.mark.heavy
def test_rows_limited_elsewhere_need_the_promise_that_covers_them():
    """With a limit, one row less of a person may let another row of theirs in."""
    table = pa.table({"x0": X[:, 0], "x1": X[:, 1], "who": np.arange(300) // 3})
    rows = rows_of(table, BOX, person="who", max_rows_per_person=2)
    with pytest.raises(InvalidSetting, match=r"rows? per person"):
        UniformGrid(epsilon=1, domain=BOX).fit(rows)
    domain = Schema.of_box(BOX, person="who", max_rows_per_person=2)
    fitted = UniformGrid(epsilon=1, domain=domain).fit(rows)
    assert fitted.guarantee_ == PureDP(1, rows=2)


def test_a_noisy_number_of_rows_is_at_least_one():
    rows = rows_of(np.empty((0, 2)), BOX)
    for seed in range(10):
        page = Ledger().open(PureDP(1), by="test")
        assert Spending(rows, page, page.budget, Randomness(seed)).count_rows() >= 1


def test_a_promise_is_said_once():
    for given in ({}, {"epsilon": 1, "privacy": PureDP(1)}):
        with pytest.raises((InvalidBudget, ConflictingSettings)):
            UniformGrid(domain=BOX, **given).fit(X)
    with pytest.raises(InvalidSetting, match="PureDP"):
        UniformGrid(domain=BOX, privacy=ApproxDP(1, 1e-6)).fit(X)


@pytest.mark.heavy
def test_the_schema_fills_the_rows_of_the_promise_and_contradicts_no_other():
    table = pa.table({"x0": X[:, 0], "x1": X[:, 1], "who": np.arange(300) // 3})
    domain = Schema.of_box(BOX, person="who", max_rows_per_person=2)
    for privacy in (PureDP(1), PureDP(1, rows=2)):
        fitted = UniformGrid(privacy=privacy, domain=domain).fit(table)
        assert fitted.guarantee_ == PureDP(1, rows=2)
    for rows, place in ((3, domain), (2, BOX)):
        with pytest.raises(ConflictingSettings, match=r"rows? per person"):
            UniformGrid(privacy=PureDP(1, rows=rows), domain=place).fit(table)


def test_a_schema_of_numbers_serves_as_a_box_and_one_of_categories_does_not():
    assert UniformGrid(epsilon=1, domain=Schema.of_box(BOX), random_state=1).fit(X).box == BOX
    mixed = Schema.of(
        {"version": 1, "columns": {"x0": {"low": 0, "high": 1}, "x1": {"values": ["a", "b"]}}}
    )
    with pytest.raises(InvalidDomain, match="numbers"):
        UniformGrid(epsilon=1, domain=mixed).fit(X)


def test_what_is_written_of_a_promise_is_read_back():
    people = Schema.of_box(BOX, person="who", max_rows_per_person=2)
    for given in (
        {"epsilon": "1/3", "domain": BOX},
        {"privacy": PureDP(2, neighbours="replace-one"), "domain": people},
        {"privacy": ApproxDP(1, 1e-8), "domain": BOX},
    ):
        model = PrivateKMeans(2, **given)
        again = PrivateKMeans(2, **promise_from_settings(promise_to_settings(model), BOX))
        assert again._promise() == model._promise()
        assert again.domain == model.domain


def test_rows_of_categories_weights_and_other_peoples_limits_are_refused_before_a_payment():
    columns = {"x0": {"low": 0, "high": 1}, "x1": {"low": 0, "high": 1}}
    mixed = Schema.of({"version": 1, "columns": columns | {"sex": {"values": ["F", "M"]}}})
    table = {"x0": X[:, 0], "x1": X[:, 1], "sex": ["F"] * 300, "who": np.arange(300)}
    weighted = Schema.of({"version": 1, "columns": columns | {"x1": columns["x1"] | {"weight": 5}}})
    ledger = Ledger()
    for domain, rows in ((mixed, rows_of(table, mixed)), (weighted, X)):
        with pytest.raises(InvalidDomain):
            UniformGrid(epsilon=1, domain=domain, ledger=ledger).fit(rows)
    others = rows_of(table, BOX, person="sex", max_rows_per_person=2)
    domain = Schema.of_box(BOX, person="who", max_rows_per_person=2)
    with pytest.raises(InvalidSetting):
        UniformGrid(epsilon=1, domain=domain, ledger=ledger).fit(others)
    assert ledger.entries().num_rows == 0


def test_the_page_says_who_is_compared_and_not_the_estimator():
    page = Ledger().open(PureDP(1), by="test")
    grid = UniformGrid(privacy=REPLACED, domain=BOX)
    grid.spend(Spending(rows_of(X, BOX), page, page.budget, Randomness(1)))
    assert grid.n_rows_ != 300
    page = Ledger().open(PureDP(1), by="test")
    UniformGrid(domain=BOX).spend(Spending(rows_of(X, BOX), page, page.budget, Randomness(1)))
    assert page.total().epsilon == 1


@pytest.mark.parametrize(("name", "instead"), [("labels_", "predict"), ("inertia_", "score")])
def test_what_tells_of_single_rows_is_no_attribute_and_the_error_says_why(name, instead):
    model = PrivateKMeans(2, epsilon=1, domain=Box.unit(2), random_state=1)
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=instead):
        getattr(model.fit(np.tile(X, (3, 1))), name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = model.nothing


def test_a_fit_knows_the_names_of_its_columns():
    table = pd.DataFrame({"age": [31.0, 47.0] * 400, "note": ["a", "b"] * 400})
    for kind in (lambda **of: PrivateKMeans(2, **of), UniformGrid, WaveCluster):
        model = kind(epsilon=1, domain=Box(age=(0, 110)), random_state=1).fit(table)
        assert model.feature_names_in_.tolist() == ["age"]
        assert model.n_features_in_ == 1


def test_distances_come_as_the_frame_that_is_asked_for():
    table = pd.DataFrame({"age": [31.0, 47.0]}, index=["ada", "bob"])
    model = PrivateKMeans(2, epsilon=1, domain=Box(age=(0, 110)), random_state=1)
    model.fit(pd.concat([table] * 400))
    assert isinstance(model.transform(table), np.ndarray)
    shown = model.set_output(transform="pandas").transform(table)
    assert shown.columns.tolist() == ["distance0", "distance1"]
    assert shown.index.tolist() == ["ada", "bob"]


@pytest.mark.heavy
def test_estimators_are_shown_in_notebooks_with_their_promise_and_no_warning():
    model = PrivateKMeans(2, epsilon=1, domain=Box.unit(2), random_state=1).fit(np.tile(X, (3, 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = model._repr_html_()
        assert "PureDP(epsilon=1" in shown
        assert "PrivateKMeans" in model._repr_mimebundle_()["text/html"]
        for other in (
            Perturb(RandomizedResponse(1.0, ["a", "b"])),
            LocalClusterer(2, mechanism=None),
        ):
            assert type(other).__name__ in other._repr_html_()
