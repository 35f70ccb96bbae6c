import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone

from shoal.cluster import PrivateKPrototypes, without_data
from shoal.domain import Box, Schema
from shoal.errors import (
    BudgetExceeded,
    InvalidBudget,
    InvalidDomain,
    InvalidSetting,
    NotFinite,
    NotNumeric,
    UnknownCategory,
)
from shoal.privacy import ApproxDP, Ledger, PureDP

COLUMNS = {
    "age": {"low": 0, "high": 100},
    "grade": {"levels": ["low", "middle", "high"], "missing": "flag"},
    "sex": {"values": ["F", "M"]},
    "town": {"values": ["a", "b", "c"], "other": "bucket"},
}
SCHEMA = Schema.of({"version": 1, "columns": COLUMNS})
FAST = {"n_init": 2, "n_synthetic": 300, "random_state": 3}


def people(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    older = rng.random(n) < 0.5
    grade = np.where(older, "high", "low").astype(object)
    grade[rng.random(n) < 0.05] = None
    return {
        "age": np.clip(np.where(older, 80, 20) + rng.normal(0, 5, n), 0, 100),
        "grade": grade.tolist(),
        "sex": np.where(older, "F", "M"),
        "town": rng.choice(["a", "b", "c", "elsewhere"], n),
    }


def fitted(k=2, n=1500, **settings):
    usual = {"epsilon": 2, "domain": SCHEMA, **FAST}
    return PrivateKPrototypes(k, **usual | settings).fit(people(n))


@pytest.mark.heavy
def test_two_groups_are_told_apart():
    model = fitted()
    assert sorted(model.prototypes_["sex"].to_pylist()) == ["F", "M"]
    labels = model.predict(people())
    assert len({*zip(labels.tolist(), people()["sex"].tolist(), strict=True)}) <= 4
    assert np.mean(labels == labels[0]) == pytest.approx(0.5, abs=0.1)
    assert model.cluster_sizes_.sum() == pytest.approx(1500, rel=0.1)


@pytest.mark.heavy
def test_the_promise_is_paid_once_and_kept():
    ledger = Ledger(limit=PureDP(2))
    model = fitted(ledger=ledger)
    assert model.guarantee_ == PureDP(2, simulation=True)
    assert ledger.entries()["epsilon"].to_pylist() == ["0.04", "1.96"]
    with pytest.raises(BudgetExceeded):
        fitted(ledger=ledger)


@pytest.mark.parametrize("n", [0, 1, 2, 40])
@pytest.mark.parametrize("k", [1, 3, 60])
def test_any_number_of_rows_and_groups_is_fitted(n, k):
    model = fitted(k, n, n_init=1, n_synthetic=100)
    assert model.n_clusters_ == k
    assert model.guarantee_.epsilon == 2
    assert len(model.profiles_.titles) == k


@pytest.mark.heavy
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_all_levels_spend_the_whole_budget(neighbours):
    promise = PureDP(1, neighbours=neighbours)
    levels = set()
    for n_public in (None, 300, 1000, 10_000):
        model = fitted(epsilon=None, privacy=promise, n_public=n_public, n=200)
        assert model.guarantee_.epsilon == 1
        levels.add(model.level_)
    assert len(levels) >= 3


@pytest.mark.heavy
def test_people_with_several_rows_are_covered():
    schema = Schema.of({"version": 1, "columns": COLUMNS, "person": "id", "max_rows_per_person": 2})
    rows = people(400) | {"id": np.arange(400) // 4}
    model = PrivateKPrototypes(2, epsilon=4, domain=schema, **FAST).fit(rows)
    assert model.guarantee_.rows == 2
    assert abs(model.n_rows_ - 200) < 150
    assert model.predict(rows).shape == (400,)


@pytest.mark.heavy
def test_costs_labels_and_score_agree():
    model, rows = fitted(), people(100)
    costs = model.transform(rows)
    assert np.array_equal(costs.argmin(axis=1), model.predict(rows))
    assert model.score(rows) == pytest.approx(-costs.min(axis=1).sum(), abs=1e-4)


@pytest.mark.heavy
def test_prototypes_are_those_that_were_profiled():
    """With next to no noise a profile's sizes are the counts of ``predict``."""
    model = fitted(epsilon=400, n_init=1)
    counts = np.bincount(model.predict(people()), minlength=2)
    assert model.cluster_sizes_ == pytest.approx(counts, abs=5)


@pytest.mark.heavy
def test_frames_files_and_arrow_give_the_same(tmp_path):
    rows = pa.table({name: pa.array(values) for name, values in people(300).items()})
    frame = rows.to_pandas()
    frame.to_csv(tmp_path / "rows.csv", index=False)
    models = [
        clone(PrivateKPrototypes(2, epsilon=2, domain=SCHEMA, **FAST)).fit(each)
        for each in (rows, frame, str(tmp_path / "rows.csv"))
    ]
    assert len({str(model.prototypes_.to_pydict()) for model in models}) == 1


@pytest.mark.heavy
def test_the_control_is_fitted_without_data():
    model = fitted()
    control = without_data(model)
    assert control.n_clusters_ == 2
    assert control.score(people()) < model.score(people())


@pytest.mark.parametrize("k", [0, -1, 2.5, None, True, 1000])
def test_numbers_of_groups_that_are_none_are_refused(k):
    with pytest.raises(InvalidSetting, match="n_clusters"):
        fitted(k)


@pytest.mark.parametrize("name", ["n_init", "n_synthetic"])
def test_settings_are_refused_before_a_row_is_read(name):
    with pytest.raises(InvalidSetting, match=name):
        fitted(**{name: 0})


def test_a_budget_and_a_schema_are_needed():
    with pytest.raises(InvalidBudget):
        fitted(epsilon=None)
    with pytest.raises(InvalidDomain, match="Schema"):
        fitted(domain=Box(age=(0, 1)))


@pytest.mark.parametrize(
    ("column", "value", "error"),
    [
        ("sex", "x", UnknownCategory),
        ("age", None, NotFinite),
        ("age", "old", NotNumeric),
    ],
)
def test_rows_outside_the_schema_are_refused_before_anything_is_released(column, value, error):
    ledger, rows = Ledger(), people(20)
    rows[column] = [value, *list(rows[column])[1:]]
    if error is NotNumeric:
        rows[column] = [str(each) for each in rows[column]]
    with pytest.raises(error) as raised:
        PrivateKPrototypes(2, epsilon=1, domain=SCHEMA, ledger=ledger, **FAST).fit(rows)
    assert ledger.entries().num_rows == 0
    assert "old" not in str(raised.value)


@pytest.mark.heavy
def test_two_hundred_categories_and_sixty_columns_are_fine():
    rng = np.random.default_rng(0)
    wide = {f"c{i}": {"values": ["a", "b", "c", "d"]} for i in range(60)}
    rows = {name: rng.choice(["a", "b", "c", "d"], 300) for name in wide}
    model = PrivateKPrototypes(
        2, epsilon=1, domain=Schema.of({"version": 1, "columns": wide}), **FAST | {"n_init": 1}
    )
    assert model.fit(rows).n_clusters_ == 2
    many = {"c": {"values": list(range(200))}, "x": {"low": 0, "high": 1}}
    rows = {"c": rng.integers(0, 200, 300), "x": rng.random(300)}
    model = PrivateKPrototypes(
        3, epsilon=1, domain=Schema.of({"version": 1, "columns": many}), **FAST
    )
    assert model.fit(rows).profiles_.shares[0].shape == (3, 200)


@pytest.mark.parametrize(
    "columns", [{"x": {"low": 0, "high": 1}}, {"c": {"values": ["a", "b", "c"]}}]
)
def test_numbers_alone_and_categories_alone_are_fine(columns):
    rows = {"x": np.linspace(0, 1, 200), "c": ["a", "b"] * 100}
    rows = {name: rows[name] for name in columns}
    model = PrivateKPrototypes(
        2, epsilon=2, domain=Schema.of({"version": 1, "columns": columns}), **FAST
    )
    assert model.fit(rows).prototypes_.num_rows == 2


def test_a_public_choice_says_what_unknown_and_missing_values_become():
    columns = {
        "town": {"values": ["harbour", "hills"], "other": "bucket"},
        "age": {"low": 0, "high": 100, "missing": "flag"},
        "visits": {"low": 0, "high": 10, "missing": "middle"},
    }
    rows = {
        "town": ["harbour", "hills", "nowhere", None] * 100,
        "age": [20.0, None, 70.0, 80.0] * 100,
        "visits": [1.0, 2.0, None, 4.0] * 100,
    }
    model = PrivateKPrototypes(
        2, epsilon=4, domain=Schema.of({"version": 1, "columns": columns}), **FAST
    ).fit(rows)
    assert [name for name, _ in model.profiles_.categories] == ["town", "age missing"]
    assert model.profiles_.categories[0][1] == ("harbour", "hills", "<other>")
    town, missing = model.profiles_.everyone_shares
    assert town == pytest.approx([0.25, 0.25, 0.5], abs=0.1)
    assert missing == pytest.approx([0.75, 0.25], abs=0.1)


class WatchedLedger(Ledger):
    """Keeps the page it opened last."""

    def open(self, promise, **texts):
        self.page = super().open(promise, **texts)
        return self.page


WIDE = Schema.of(
    {"version": 1, "columns": {f"c{i}": {"values": ["a", "b", "c", "d"]} for i in range(30)}}
)


def wide_rows(n):
    rng = np.random.default_rng(4)
    groups = rng.integers(2, size=n)
    draws = {
        name: np.where(rng.random(n) < 0.8, groups, rng.integers(4, size=n))
        for name in WIDE.columns
    }
    return {name: [("a", "b", "c", "d")[i] for i in codes] for name, codes in draws.items()}


@pytest.mark.parametrize(("n", "level"), [(2_000, 0), (40_000, 2)])
def test_measurements_of_groups_take_all_of_the_gaussian_budget_they_share(n, level):
    ledger, promise = WatchedLedger(), ApproxDP(1, "1e-6")
    settings = {"domain": WIDE, "n_synthetic": 500, "n_init": 2, "random_state": 3}
    model = PrivateKPrototypes(2, privacy=promise, ledger=ledger, **settings).fit(wide_rows(n))
    assert model.level_ == level
    assert model.guarantee_ == promise.simulated()
    assert ledger.page.gaussian_left == 0
    assert model.profiles_.measured


def test_a_delta_that_would_buy_more_noise_is_not_spent():
    model = fitted(epsilon=None, privacy=ApproxDP(1, "1e-30"))
    assert model.guarantee_.delta == 0


def test_a_delta_that_no_release_could_use_costs_nothing():
    ledger = Ledger()
    with pytest.raises(InvalidBudget):
        fitted(epsilon=None, privacy=ApproxDP(1, 0), ledger=ledger)
    assert ledger.totals() == []
