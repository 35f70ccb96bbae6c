"""Distributions, associations and models of a column, against their definitions."""

import numpy as np
import pyarrow as pa
import pytest

from shoal.anonymize._policy import Policy
from shoal.anonymize.search_problem import problem_of
from shoal.anonymize.utility import associations, classification_report, column_changes
from shoal.domain import Taxonomy
from shoal.errors import InvalidSetting, TooFewRows, UnknownColumn

AGES = Taxonomy.nested("*", {"young": ["18", "19"], "old": ["70", "71", "72"]})
SEXES = Taxonomy.nested("*", {"F": ["F"], "M": ["M"]})


def test_a_label_s_rows_are_spread_evenly_over_its_leaves():
    problem = problem_of({"age": AGES}, [[0]] * 6 + [[2]] * 3, k=2)
    old = next(at for at, node in enumerate(AGES.nodes) if node.label == "old")
    labels = np.array([[AGES.nodes.index(AGES.nodes[2])], [old]], dtype=np.int32)
    (change,) = column_changes(problem, labels, np.zeros(2, dtype=bool))
    assert change.after.round(4).tolist() == [0.6667, 0.0, 0.1111, 0.1111, 0.1111]
    assert change.distance == pytest.approx(2 / 9)


def test_rows_left_out_count_before_and_not_after():
    problem = problem_of({"age": AGES}, [[0]] * 6 + [[2]] * 3, k=2)
    labels = np.array([[2], [0]], dtype=np.int32)
    (change,) = column_changes(problem, labels, np.array([False, True]))
    assert change.after.tolist() == [1, 0, 0, 0, 0]


def cramers_v(a, b):
    table = np.array([[np.sum((a == x) & (b == y)) for y in np.unique(b)] for x in np.unique(a)])
    expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
    return np.sqrt(
        ((table - expected) ** 2 / expected).sum() / table.sum() / (min(table.shape) - 1)
    )


def test_association_is_cramer_s_v():
    rng = np.random.default_rng(1)
    rows = np.stack([rng.integers(0, 5, 200), rng.integers(0, 2, 200)], axis=1)
    rows[:80, 1] = rows[:80, 0] > 1
    problem = problem_of({"age": AGES, "sex": SEXES}, rows, k=2)
    tops = np.zeros(problem.codes.shape, dtype=np.int32)
    (pair,) = associations(problem, tops, np.zeros(len(problem.n), dtype=bool))
    assert pair.before == pytest.approx(cramers_v(rows[:, 0], rows[:, 1]))
    assert pair.after == 0


def policy_of(**roles):
    tree = {"tree": {"*": [*"abcd"]}}
    quasi = {name: {"role": "quasi", "hierarchy": tree} for name in "xy"}
    return Policy.of({"version": 1, "privacy": {"k": 2}, "attributes": {**quasi, **roles}})


@pytest.fixture
def rows():
    rng = np.random.default_rng(2)
    x, noise = rng.choice([*"abcd"], 600), rng.random(600)
    z = np.where(np.isin(x, ["a", "b"]) ^ (noise < 0.1), "yes", "no")
    return {"x": x.tolist(), "y": rng.choice([*"abcd"], 600).tolist(), "z": z.tolist()}


def test_a_release_that_hides_what_predicts_is_no_better_than_the_majority(rows):
    hidden = rows | {"x": ["*"] * 600}
    report = classification_report(policy_of(z={"role": "sensitive"}), rows, hidden, "z")
    assert report.original.accuracy > 0.85
    assert report.original.auc > 0.85
    assert abs(report.released.auc - 0.5) < 0.1
    assert report.majority == pytest.approx(max(map(rows["z"].count, ("yes", "no"))) / 600)
    assert not report.warnings


def test_a_target_that_is_a_quasi_identifier_is_warned_of(rows):
    tree = {"tree": {"*": ["yes", "no"]}}
    policy = policy_of(z={"role": "quasi", "hierarchy": tree})
    (warning,) = classification_report(policy, rows, rows, "z").warnings
    assert "itself a quasi-identifier" in warning


def test_targets_that_are_not_published_or_never_vary_are_refused(rows):
    policy = policy_of(z={"role": "sensitive"}, name={"role": "identifier"})
    with pytest.raises(InvalidSetting, match="not a published"):
        classification_report(policy, rows, rows, "name")
    with pytest.raises(InvalidSetting, match="two values"):
        classification_report(policy, rows | {"z": ["yes"] * 600}, rows, "z")


def test_tables_without_the_columns_or_without_rows_are_refused(rows):
    policy = policy_of(z={"role": "sensitive"})
    renamed = {"X": rows["x"], "y": rows["y"], "z": rows["z"]}
    for tables in ((rows, renamed), (renamed, rows)):
        with pytest.raises(UnknownColumn, match="'x' of 3 columns to compare"):
            classification_report(policy, *tables, "z")
    with pytest.raises(TooFewRows, match="no rows"):
        classification_report(policy, pa.table(rows).slice(0, 0), rows, "z")


def test_a_target_with_no_other_quasi_identifier_is_refused():
    tree = {"tree": {"*": [*"abcd"]}}
    policy = Policy.of(
        {
            "version": 1,
            "privacy": {"k": 2},
            "attributes": {"x": {"role": "quasi", "hierarchy": tree}},
        }
    )
    with pytest.raises(InvalidSetting, match="nothing is left"):
        classification_report(policy, {"x": [*"ab"]}, {"x": [*"ab"]}, "x")


def test_bounds_of_a_release_are_compared_like_labels():
    age = {"role": "quasi", "type": "int", "domain": [0, 3], "hierarchy": {"kind": "binary"}}
    policy = Policy.of(
        {
            "version": 1,
            "privacy": {"k": 2},
            "attributes": {"age": age, "z": {"role": "sensitive"}},
            "output": {"intervals": "bounds"},
        }
    )
    rows = {"age": [0, 1, 2, 3] * 50, "z": ["no", "no", "yes", "yes"] * 50}
    released = {"age_low": [0, 0, 2, 2] * 50, "age_high": [1, 1, 3, 3] * 50, "z": rows["z"]}
    assert classification_report(policy, rows, released, "z").released.accuracy == 1
