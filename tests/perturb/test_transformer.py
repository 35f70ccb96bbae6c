import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from shoal.domain import Box, Categories
from shoal.errors import (
    BudgetExceeded,
    DimensionMismatch,
    InvalidDomain,
    InvalidSetting,
    NotAReport,
    NotFinite,
    OutsideDomain,
    ShoalError,
    UnknownCategory,
    UnknownColumn,
)
from shoal.mechanisms import (
    Duchi,
    Harmony,
    Hybrid,
    LocalGrid,
    Mixed,
    NDLaplace,
    Piecewise,
    PlanarLaplace,
    PrivUnit,
    RandomizedResponse,
    Reports,
    Restrict,
    SquareWave,
    Staircase,
    UnaryEncoding,
    bayes_remap,
    clamp,
    snap,
)
from shoal.perturb import Memo, Perturb
from shoal.privacy import Ledger, LocalDP, MetricDP

BOX = Box(x=(0, 9), y=(0, 9))
LAPLACE = NDLaplace(1.0, domain=BOX)
PEOPLE = {"who": ["ada", "bob", "ada", "cyd"], "x": [1.0, 5, 2, 8], "y": [1.0, 5, 2, 8]}
KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
kinds = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)

EXPECTED_TO_FAIL = {
    "check_dtype_object": "objects may hide text or dates, so such arrays are refused by name",
    "check_estimators_empty_data_messages": "no rows give no reports and cost nothing: no error",
    "check_estimators_pickle": "a pickled noise stream is a new one, never a twin of the first",
}

_FRESH_NOISE = "two transforms draw different noise, as they must"
NOT_APPLICABLE = {
    "check_array_api_input": "needs SCIPY_ARRAY_API set before SciPy is imported",
    "check_pipeline_consistency": _FRESH_NOISE,
    "check_transformer_data_not_an_array": _FRESH_NOISE,
    "check_transformer_general": _FRESH_NOISE,
}


@pytest.mark.heavy
@parametrize_with_checks(
    [Perturb(NDLaplace(1.0)), Perturb(NDLaplace(1.0), memo="fresh")],
    expected_failed_checks=lambda _: EXPECTED_TO_FAIL,
    xfail_strict=True,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_it_is_a_scikit_learn_transformer(estimator, check, run_check):
    run_check(check, estimator, NOT_APPLICABLE)


def entries(perturb):
    return len(perturb.ledger_.entries())


def values(frame):
    return np.column_stack([np.asarray(frame[name]) for name in ("x", "y")])


def same_reports(one, other):
    """Whether anybody has the same report in both; a single number may be the same by chance."""
    return bool((one == other).all(axis=1).any())


@kinds
def test_a_frame_comes_back_as_its_kind_with_perturbed_columns_only(make):
    frame = make(PEOPLE)
    reports = Perturb(LAPLACE, person="who", random_state=1).fit_transform(frame)
    assert type(reports) is type(frame)
    assert list(getattr(reports, "column_names", getattr(reports, "columns", None))) == ["x", "y"]
    assert not np.any(values(reports) == values(frame))


@pytest.mark.parametrize("output", ["default", "pandas"])
@pytest.mark.parametrize("frozen", [None, "who"])
def test_the_index_of_a_pandas_frame_stays_behind(output, frozen):
    frame = pd.DataFrame(PEOPLE).set_index(pd.Index(["078-05-1120", "b", "c", "d"], name="ssn"))
    perturb = Perturb(LAPLACE, person=frozen).set_output(transform=output)
    index = perturb.fit_transform(frame).index
    assert index.equals(pd.RangeIndex(4))
    assert index.name is None


def test_the_index_stays_behind_when_all_of_scikit_learn_is_told_to_give_frames():
    frame = pd.DataFrame(PEOPLE, index=[5, 6, 7, 8])
    with config_context(transform_output="pandas"):
        assert Perturb(LAPLACE).fit_transform(frame).index.equals(pd.RangeIndex(4))


def test_an_array_comes_back_as_an_array():
    reports = Perturb(LAPLACE).fit_transform([[1, 2], [3, 4]])
    assert isinstance(reports, np.ndarray)
    assert reports.shape == (2, 2)
    assert reports.dtype == np.float64


def test_columns_are_picked_by_name_whatever_their_order():
    frame = pd.DataFrame({"far": [99.0], "y": [9.0], "x": [0.0]})
    sharp = NDLaplace(1000.0, domain=BOX)
    reports = Perturb(sharp).fit(frame).transform(frame[["y", "x"]])
    assert reports.round(0).to_dict("list") == {"x": [0.0], "y": [9.0]}


def test_without_bounds_all_columns_but_the_token_are_reported():
    perturb = Perturb(NDLaplace(1.0), person="who").fit(pd.DataFrame(PEOPLE))
    assert perturb.get_feature_names_out().tolist() == ["x", "y"]
    assert perturb.transform(pd.DataFrame(PEOPLE)).columns.tolist() == ["x", "y"]


@kinds
@pytest.mark.parametrize("asked", ["pandas", "polars"])
def test_set_output_has_the_last_word(make, asked):
    perturb = Perturb(LAPLACE, person="who").set_output(transform=asked)
    reports = perturb.fit_transform(make(PEOPLE))
    assert type(reports) is KINDS[asked]
    assert list(reports.columns) == ["x", "y"]
    assert values(reports).tolist() == values(perturb.transform(make(PEOPLE))).tolist()


def test_it_runs_in_a_pipeline():
    double = FunctionTransformer(lambda X: X * 2, feature_names_out="one-to-one")
    pipeline = make_pipeline(double, Perturb(NDLaplace(1000.0, domain=BOX)))
    reports = pipeline.fit_transform(np.array([[1.0, 2.0]]))
    assert reports.round(0).tolist() == [[2.0, 4.0]]
    assert pipeline.get_feature_names_out(["a", "b"]).tolist() == ["x", "y"]


def test_fit_spends_nothing_and_knows_the_promise():
    perturb = Perturb(LAPLACE).fit(np.ones((3, 2)))
    assert entries(perturb) == 0
    assert perturb.guarantee_ == LAPLACE.guarantee
    assert not perturb.guarantee_.simulation


def test_a_seed_marks_promise_and_ledger_as_a_simulation():
    perturb = Perturb(LAPLACE, random_state=7)
    first = perturb.fit_transform(np.ones((3, 2)))
    assert perturb.guarantee_.simulation
    assert perturb.ledger_.totals()[0].simulation
    assert clone(perturb).fit_transform(np.ones((3, 2))).tolist() == first.tolist()


def test_a_seeded_stream_goes_on_from_one_transform_to_the_next():
    perturb = Perturb(LAPLACE, memo="fresh", random_state=7).fit(np.ones((3, 2)))
    assert not np.any(perturb.transform(np.ones((3, 2))) == perturb.transform(np.ones((3, 2))))


def test_a_person_has_one_report_whatever_their_rows_say_later():
    perturb = Perturb(LAPLACE, person="who")
    first = values(perturb.fit_transform(pd.DataFrame(PEOPLE)))
    moved = pd.DataFrame({"who": ["cyd", "ada"], "x": [0.0, 0.0], "y": [9.0, 9.0]})
    again = values(perturb.transform(moved))
    assert first[0].tolist() == first[2].tolist()
    assert again.tolist() == [first[3].tolist(), first[0].tolist()]
    assert entries(perturb) == 1


def test_only_newcomers_are_drawn():
    perturb = Perturb(LAPLACE, person="who")
    first = values(perturb.fit_transform(pd.DataFrame(PEOPLE)))
    both = pd.DataFrame({"who": ["bob", "dan"], "x": [5.0, 5.0], "y": [5.0, 5.0]})
    again = values(perturb.transform(both))
    assert again[0].tolist() == first[1].tolist()
    assert again[1].tolist() not in first.tolist()
    assert entries(perturb) == 2


def test_a_second_fit_forgets_nobody():
    perturb = Perturb(LAPLACE, person="who")
    first = values(perturb.fit_transform(pd.DataFrame(PEOPLE)))
    assert values(perturb.fit_transform(pd.DataFrame(PEOPLE))).tolist() == first.tolist()
    assert entries(perturb) == 1


def test_another_mechanism_is_another_collection():
    perturb = Perturb(LAPLACE, person="who")
    first = values(perturb.fit_transform(pd.DataFrame(PEOPLE)))
    perturb.set_params(mechanism=NDLaplace(2.0, domain=BOX))
    assert not same_reports(values(perturb.fit_transform(pd.DataFrame(PEOPLE))), first)
    assert perturb.ledger_.totals()[0].epsilon == 3


def test_a_memo_file_remembers_beyond_the_object(tmp_path):
    def report():
        memo = Memo(tmp_path / "reports.memo")
        return values(Perturb(LAPLACE, memo=memo, person="who").fit_transform(pd.DataFrame(PEOPLE)))

    assert report().tolist() == report().tolist()


def test_columns_of_other_names_are_another_collection():
    memo = Memo()
    frame = pd.DataFrame({**PEOPLE, "u": PEOPLE["x"], "v": PEOPLE["y"]})

    def report(*names):
        perturb = Perturb(NDLaplace(1.0), memo=memo, person="who")
        return perturb.fit_transform(frame[["who", *names]]).to_numpy()

    assert not same_reports(report("x", "y"), report("u", "v"))
    assert np.all(report("x", "y") == report("x", "y"))


def test_tokens_of_another_column_are_other_people():
    memo = Memo()
    frame = pd.DataFrame({**PEOPLE, "house": PEOPLE["who"]})

    def report(person):
        return values(Perturb(LAPLACE, memo=memo, person=person).fit_transform(frame))

    assert not same_reports(report("who"), report("house"))


def test_simulated_reports_are_never_taken_for_real_ones(tmp_path):
    memo = Memo(tmp_path / "reports.memo")
    rehearsal = Perturb(LAPLACE, memo=memo, person="who", random_state=7)
    real = Perturb(LAPLACE, memo=memo, person="who")
    first = values(rehearsal.fit_transform(pd.DataFrame(PEOPLE)))
    assert not same_reports(values(real.fit_transform(pd.DataFrame(PEOPLE))), first)


def test_a_clone_with_a_memo_shares_it():
    perturb = Perturb(LAPLACE, memo=Memo(), person="who", ledger=Ledger())
    first = values(perturb.fit_transform(pd.DataFrame(PEOPLE)))
    assert values(clone(perturb).fit_transform(pd.DataFrame(PEOPLE))).tolist() == first.tolist()


def test_a_pickled_one_remembers_too():
    perturb = Perturb(LAPLACE, person="who")
    first = values(perturb.fit_transform(pd.DataFrame(PEOPLE)))
    again = pickle.loads(pickle.dumps(perturb))
    assert values(again.transform(pd.DataFrame(PEOPLE))).tolist() == first.tolist()


def test_fresh_reports_add_up_by_the_most_rows_of_a_person():
    perturb = Perturb(LAPLACE, memo="fresh", person="who")
    reports = values(perturb.fit_transform(pd.DataFrame(PEOPLE)))
    assert reports[0].tolist() != reports[2].tolist()
    assert perturb.ledger_.totals() == [LAPLACE.guarantee * 2]  # ada has two rows
    perturb.transform(pd.DataFrame(PEOPLE))
    assert perturb.ledger_.totals() == [LAPLACE.guarantee * 4]
    assert perturb.guarantee_ == LAPLACE.guarantee


def test_without_a_token_every_transform_adds_up():
    perturb = Perturb(LAPLACE).fit(np.ones((3, 2)))
    for _ in range(3):
        perturb.transform(np.ones((3, 2)))
    assert perturb.ledger_.totals() == [LAPLACE.guarantee * 3]


def test_a_ledger_passed_in_is_charged_and_refuses_past_its_limit():
    ledger = Ledger(limit=MetricDP(1, slack="0.1"))
    perturb = Perturb(LAPLACE, ledger=ledger)
    perturb.fit_transform(np.ones((3, 2)))
    with pytest.raises(BudgetExceeded):
        clone(perturb).fit_transform(np.ones((3, 2)))
    assert ledger.entries()["by"].to_pylist() == ["Perturb"]


def test_over_the_limit_nobody_is_remembered():
    perturb = Perturb(LAPLACE, person="who", ledger=Ledger(limit=LocalDP(1)))
    perturb.fit(pd.DataFrame(PEOPLE))
    for _ in range(2):
        with pytest.raises(BudgetExceeded):
            perturb.transform(pd.DataFrame(PEOPLE))


@pytest.mark.parametrize("person", [None, "who"])
@kinds
def test_no_rows_give_no_reports_and_cost_nothing(make, person):
    empty = make({"who": ["a"], "x": [1.0], "y": [1.0]})[:0]
    perturb = Perturb(LAPLACE, remap=clamp(BOX), person=person).fit(make(PEOPLE))
    reports = perturb.transform(empty)
    assert type(reports) is type(empty)
    assert reports.shape == (0, 2)
    assert entries(perturb) == 0


def test_no_rows_of_an_array_give_an_empty_array():
    perturb = Perturb(LAPLACE).fit(np.empty((0, 2)))
    assert perturb.transform(np.empty((0, 2))).shape == (0, 2)
    assert entries(perturb) == 0


@pytest.mark.parametrize("remap", [clamp(BOX), snap(BOX, 4), bayes_remap()], ids=repr)
def test_a_remap_follows_the_reports_and_costs_nothing(remap):
    perturb = Perturb(NDLaplace(0.5, domain=BOX), remap=remap, person="who", random_state=3)
    reports = perturb.fit_transform(pd.DataFrame(PEOPLE))
    assert BOX.contains(values(reports)).all()
    assert values(perturb.transform(pd.DataFrame(PEOPLE))).tolist() == values(reports).tolist()
    assert perturb.ledger_.totals()[0].epsilon == LAPLACE.guarantee.epsilon / 2


@pytest.mark.parametrize(
    ("remap", "error"),
    [
        (clamp, InvalidDomain),  # the maker of remaps, not a remap
        (np.asarray, NotAReport),
        (clamp(Box.unit(3)), DimensionMismatch),
    ],
)
def test_a_wrong_remap_is_refused_before_anything_is_spent(remap, error):
    perturb = Perturb(LAPLACE, remap=remap, ledger=Ledger())
    with pytest.raises(error):
        perturb.fit(np.ones((2, 2)))
    assert perturb.ledger.totals() == []


def test_a_remap_never_receives_rows():
    with pytest.raises(NotAReport):
        clamp(BOX)(np.ones((2, 2)))


@pytest.mark.parametrize(
    "change",
    [
        {"mechanism": NDLaplace(9.0, domain=BOX)},
        {"remap": np.asarray},
        {"person": None},
        {"memo": "fresh"},
        {"ledger": Ledger()},
        {"random_state": 7},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_was_set_after_fit_is_refused_until_it_is_fitted(change):
    perturb = Perturb(LAPLACE, person="who").fit(pd.DataFrame(PEOPLE)).set_params(**change)
    with pytest.raises(InvalidSetting, match="Call fit again"):
        perturb.transform(pd.DataFrame(PEOPLE))
    assert entries(perturb) == 0


def test_a_remap_that_learns_needs_bounds_before_anything_is_spent():
    ledger = Ledger()
    spread = np.random.default_rng(0).normal(0, 1e4, (50, 2))
    with pytest.raises(InvalidSetting, match="needs a domain"):
        Perturb(NDLaplace(1.0), remap=bayes_remap("em"), ledger=ledger).fit_transform(spread)
    assert ledger.totals() == []


def test_degrees_are_refused_by_the_names_of_a_frame():
    frame = pd.DataFrame({"lat": [40.7], "lon": [-74.0]})
    with pytest.raises(InvalidDomain, match="per degree"):
        Perturb(NDLaplace(1.0)).fit(frame)
    Perturb(NDLaplace(1.0, scale=(0.1, 0.1))).fit(frame)  # degrees are really meant


def test_odd_rows_are_told_by_the_names_of_the_frame():
    with pytest.raises(NotFinite, match="1 of 2 rows have values in 'b'"):
        Perturb(NDLaplace(1.0)).fit(pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, np.nan]}))


BAD_ROWS = {
    "NaN": (np.array([[1.0, np.nan]]), NotFinite),
    "infinite": (np.array([[1.0, np.inf]]), NotFinite),
    "outside": (np.array([[1.0, 77.125]]), OutsideDomain),
    "wrong width": (np.ones((2, 3)), DimensionMismatch),
    "one row flat": (np.ones(2), DimensionMismatch),
    "a column gone": (pd.DataFrame({"x": [1.0]}), UnknownColumn),
}


@pytest.mark.parametrize(("rows", "error"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_bad_rows_raise_before_anything_is_written(rows, error):
    perturb = Perturb(LAPLACE).fit(pd.DataFrame(PEOPLE))
    with pytest.raises(error) as caught:
        perturb.transform(rows)
    assert entries(perturb) == 0
    assert "77" not in str(caught.value)


def test_other_names_than_those_fitted_are_refused():
    perturb = Perturb(NDLaplace(1.0)).fit(pd.DataFrame({"x": [1.0], "y": [1.0]}))
    with pytest.raises(UnknownColumn, match="should match"):
        perturb.transform(pd.DataFrame({"x": [1.0], "z": [1.0]}))


@pytest.mark.parametrize(
    "settings_",
    [
        {"mechanism": NDLaplace},
        {"mechanism": 1.0},
        {"memo": "thawed"},
        {"ledger": 7},
        {"random_state": "seven"},
        {"person": "x"},
        {"mechanism": NDLaplace(1.0, lattice=None)},
    ],
    ids=str,
)
def test_wrong_settings_are_refused_in_fit(settings_):
    perturb = Perturb(**{"mechanism": LAPLACE, **settings_})
    with pytest.raises(InvalidSetting):
        perturb.fit(pd.DataFrame(PEOPLE))


def test_a_token_column_needs_a_frame():
    with pytest.raises(InvalidSetting, match="array"):
        Perturb(LAPLACE, person="who").fit(np.ones((2, 2)))


def test_raw_floats_may_be_simulated():
    perturb = Perturb(NDLaplace(1.0, lattice=None), person="who", random_state=7)
    assert len(perturb.fit_transform(pd.DataFrame(PEOPLE))) == 4
    assert perturb.guarantee_.simulation


@pytest.mark.parametrize(
    "mechanism",
    [
        PlanarLaplace(1.0),
        Restrict(NDLaplace(5.0), BOX),
        Piecewise(1.0, domain=BOX),
        Duchi(1.0, domain=BOX),
        Hybrid(1.0, domain=BOX),
        Harmony(1.0, domain=BOX),
        PrivUnit(1.0, domain=BOX),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_every_mechanism_on_numbers_runs_over_a_table(mechanism):
    perturb = Perturb(mechanism, person="who")
    reports = perturb.fit_transform(pd.DataFrame(PEOPLE))
    assert reports.columns.tolist() == ["x", "y"]
    assert perturb.ledger_.totals() == [mechanism.guarantee]


@kinds
def test_cells_come_out_as_reports_that_centres_are_learnt_from(make):
    grid = LocalGrid(BOX, epsilon=2.0, cells=4)
    perturb = Perturb(grid, random_state=7).fit(make(PEOPLE))
    table = {"x": np.repeat([1.0, 8.0], 2_000), "y": np.repeat([1.0, 8.0], 2_000)}
    cells = np.asarray(perturb.transform(make(table))["cell"])
    counts = grid.counts(Reports(cells, grid)).value
    assert set(np.argsort(counts)[-2:]) == set(grid.grid.keys(np.array([[1.0, 1.0], [8.0, 8.0]])))
    assert perturb.get_feature_names_out().tolist() == ["cell"]
    assert perturb.guarantee_.epsilon == 2


def test_a_person_has_one_cell():
    cells = Perturb(LocalGrid(BOX, epsilon=1, cells=9), person="who").fit_transform(
        pa.table(PEOPLE)
    )
    assert cells["cell"][0] == cells["cell"][2]
    assert cells["cell"].type == pa.int64()


def test_cells_that_wait_for_the_number_of_people_are_refused_and_take_no_remap():
    with pytest.raises(InvalidSetting, match="needs the number of people"):
        Perturb(LocalGrid(BOX, epsilon=1)).fit(pd.DataFrame(PEOPLE))
    with pytest.raises(InvalidSetting, match="numbers only"):
        Perturb(LocalGrid(BOX, epsilon=1, cells=9), clamp(BOX)).fit(pd.DataFrame(PEOPLE))


@pytest.mark.parametrize(
    "mechanism", [SquareWave(1.0, Box(x=(0, 9))), Staircase(1.0, domain=Box(x=(0, 9)))]
)
def test_mechanisms_on_one_number_take_their_column(mechanism):
    assert Perturb(mechanism).fit_transform(pd.DataFrame(PEOPLE)).columns.tolist() == ["x"]


SEX = Categories(["F", "M"])
MIXED = Mixed(8.0, {"age": (0, 110), "sex": SEX, "town": Categories(range(40))})
STUDENTS = {"who": ["ada", "bob"], "sex": ["F", "M"], "age": [20, 30], "town": [3, 39]}


@kinds
def test_a_category_is_reported_as_one_of_the_list(make):
    frame = make({"who": ["ada", "bob", "ada"], "sex": ["F", "M", "M"]})
    reports = Perturb(RandomizedResponse(1.0, SEX), person="who").fit_transform(frame)
    told = list(np.asarray(reports["sex"]))
    assert set(told) <= {"F", "M"}
    assert told[0] == told[2]


def test_a_category_may_be_reported_as_bits():
    perturb = Perturb(UnaryEncoding(1.0, SEX))
    reports = perturb.fit_transform(pd.DataFrame({"sex": ["F", "M"]}))
    assert reports.columns.tolist() == ["sex=F", "sex=M"]
    assert perturb.get_feature_names_out().tolist() == ["sex=F", "sex=M"]
    assert set(reports.to_numpy().ravel()) <= {0, 1}


def test_codes_in_an_array_are_categories_too():
    reports = Perturb(RandomizedResponse(20, 5)).fit_transform(np.array([[4], [0], [2]]))
    assert reports.ravel().tolist() == [4, 0, 2]  # at epsilon 20 all but surely


@kinds
def test_mixed_records_keep_the_kind_of_each_column(make):
    perturb = Perturb(MIXED, person="who")
    reports = perturb.fit_transform(make(STUDENTS))
    assert list(perturb.get_feature_names_out())[:3] == ["age", "sex", "town"]
    assert set(np.asarray(reports["sex"])) <= {"F", "M"}
    assert set(np.asarray(reports["town"])) <= set(range(40))
    again = perturb.transform(make(STUDENTS))
    assert np.asarray(again["age"]).tolist() == np.asarray(reports["age"]).tolist()
    assert perturb.ledger_.totals() == [LocalDP(8)]


def test_an_unknown_category_is_counted_not_quoted():
    with pytest.raises(UnknownCategory, match="Column 'sex': 1 of 2") as caught:
        Perturb(MIXED).fit(pd.DataFrame({**STUDENTS, "sex": ["F", "secret"]}))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("mechanism", "table", "error"),
    [
        (MIXED, np.ones((2, 3)), InvalidSetting),
        (RandomizedResponse(1.0, SEX), pd.DataFrame(STUDENTS), DimensionMismatch),
        (RandomizedResponse(1.0, 3), np.ones((2, 2)), DimensionMismatch),
    ],
)
def test_categories_need_their_own_columns(mechanism, table, error):
    with pytest.raises(error):
        Perturb(mechanism).fit(table)


def test_categories_take_no_remap():
    with pytest.raises(InvalidSetting, match="numbers only"):
        Perturb(MIXED, remap=clamp(BOX)).fit(pd.DataFrame(STUDENTS))


VALUES = st.one_of(
    st.floats(), st.integers(), st.text(max_size=3), st.none(), st.booleans(), st.complex_numbers()
)


@pytest.mark.heavy
@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(VALUES, min_size=0, max_size=3), min_size=0, max_size=4))
def test_any_rows_are_reported_or_refused_by_name(rows):
    perturb = Perturb(LAPLACE).fit(np.ones((1, 2)))
    try:
        reports = perturb.transform(rows)
    except ShoalError:
        assert entries(perturb) == 0
    else:
        assert np.isfinite(reports).all()
        assert entries(perturb) == (len(reports) > 0)
