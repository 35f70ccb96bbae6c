from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.anonymize import Policy, count_combinations
from shoal.anonymize.search._run_search import find_outcome
from shoal.errors import (
    HierarchyInvalid,
    InvalidPolicy,
    InvalidSetting,
    PersonMissing,
    TooFewRows,
    UnknownCategory,
)

TREE = {"*": {"x": ["a", "b"], "y": ["c", "d"]}}
LETTER = {"role": "quasi", "hierarchy": {"tree": TREE}}
AGE = {
    "role": "quasi", "type": "int", "domain": [0, 15],
    "hierarchy": {"kind": "binary", "min_width": 4},
}  # fmt: skip


def policy(attributes, **privacy):
    return Policy.of({"version": 1, "attributes": attributes, "privacy": {"k": 2, **privacy}})


cells = st.tuples(st.sampled_from("abcd"), st.integers(-2, 20), st.sampled_from(["u", "v", None]))


@pytest.mark.heavy
@settings(deadline=None, max_examples=25)
@given(st.lists(cells, min_size=1, max_size=40), st.integers(0, 10))
def test_lines_are_the_distinct_combinations_with_their_rows(rows, seed):
    letters, ages, values = zip(*rows, strict=True)
    table = pa.table({"q": letters, "age": ages, "s": pa.array(values, pa.string())})
    wanted = policy({"q": LETTER, "age": AGE, "s": {"role": "sensitive", "t": {"value": 0.5}}})
    problem = count_combinations(wanted, table).problem
    code = dict(zip("abcd", range(4), strict=True))
    size = Counter((code[q], min(max(a, 0), 15) // 4, v) for q, a, v in rows)
    names = [*sorted({v for v in values if v}), None]
    column = problem.sensitive[0].codes
    found = {
        (*codes, names[v]): n
        for codes, v, n in zip(
            problem.codes.tolist(), column.tolist(), problem.n.tolist(), strict=True
        )
    }
    assert found == size
    again = np.random.default_rng(seed).permutation(len(rows))
    shuffled = count_combinations(wanted, table.take(pa.array(again))).problem
    assert (shuffled.codes == problem.codes).all()
    assert (shuffled.n == problem.n).all()


def test_spellings_of_one_value_are_one_line():
    problem = count_combinations(policy({"q": LETTER}), {"q": ["a", " a", "a ", "b"]}).problem
    assert problem.n.tolist() == [3, 1]


@pytest.mark.parametrize("nulls", ["own_value", "as_root"])
def test_nulls_are_a_leaf_of_their_own(nulls):
    wanted = Policy.of({
        "version": 1, "attributes": {"q": LETTER}, "privacy": {"k": 2, "nulls": nulls},
        "input": {"null_values": ["", "NA"]},
    })  # fmt: skip
    problem = count_combinations(wanted, {"q": ["a", None, "NA", "", "b"]}).problem
    assert problem.codes[:, 0].tolist() == [0, 1, 4]
    assert problem.n.tolist() == [1, 1, 3]
    assert problem.costs[0][-1] == (1.0 if nulls == "as_root" else 0.0)
    assert problem.lost == 0


def test_nulls_to_be_suppressed_are_counted_and_left_out():
    table = {"q": ["a", None, "b", "a"], "r": [None, None, "a", "b"]}
    problem = count_combinations(
        policy({"q": LETTER, "r": LETTER}, nulls="suppress"), table
    ).problem
    assert problem.lost == 2
    assert problem.N == 4
    assert len(problem.n) == 2


@pytest.mark.heavy
def test_people_with_one_row_each_are_counted_as_rows():
    attributes = {"id": {"role": "identifier"}, "q": LETTER}
    table = {"id": [1, 2, 3], "q": ["a", "a", "b"]}
    problem = count_combinations(policy(attributes, person="id"), table).problem
    assert problem.people is None
    assert problem.n.tolist() == [2, 1]


@pytest.mark.heavy
def test_people_with_several_rows_are_told_apart():
    attributes = {"id": {"role": "identifier"}, "q": LETTER}
    table = {"id": ["p", "p", "p", "r"], "q": ["a", "a", "b", "a"]}
    problem, _, owners = count_combinations(policy(attributes, person="id"), table)
    lines = zip(
        problem.codes[:, 0].tolist(), problem.people.tolist(), problem.n.tolist(), strict=True
    )
    assert set(lines) == {(0, 0, 2), (0, 1, 1), (1, 0, 1)}
    assert owners.to_pylist() == ["p", "r"]


def test_a_row_that_belongs_to_nobody_is_refused():
    attributes = {"id": {"role": "identifier"}, "q": LETTER}
    with pytest.raises(PersonMissing, match="1 of 2"):
        count_combinations(policy(attributes, person="id"), {"id": ["p", None], "q": ["a", "b"]})


def test_values_without_a_leaf_are_counted_in_all_columns_and_not_quoted():
    with pytest.raises(UnknownCategory, check=lambda error: error.reason == "no leaf") as caught:
        count_combinations(
            policy({"q": LETTER, "age": AGE}), {"q": ["secret", "a"], "age": ["x9", "3"]}
        )
    assert "'q' (1 row), 'age' (1 row)" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "x9" not in str(caught.value)


@pytest.mark.heavy
def test_sensitive_values_outside_the_declared_order_are_refused():
    wanted = policy({
        "q": LETTER,
        "s": {"role": "sensitive", "order": ["low", "high"], 
              "t": {"kind": "ordered", "value": 0.9}},
    })  # fmt: skip
    with pytest.raises(UnknownCategory, match="'s'", check=lambda error: error.reason == "no leaf"):
        count_combinations(wanted, {"q": ["a", "b"], "s": ["low", "middle"]})
    problem = count_combinations(wanted, {"q": ["a", "b", "c"], "s": ["high", "low", None]}).problem
    assert problem.sensitive[0].codes.tolist() == [1, 0, -1]


def test_sensitive_numbers_are_ordered_by_size():
    wanted = policy({
        "q": LETTER,
        "s": {"role": "sensitive", "type": "int", "t": {"kind": "ordered", "value": 0.5}},
    })  # fmt: skip
    problem = count_combinations(wanted, {"q": ["a", "b", "c"], "s": ["100", "9", "9.0"]}).problem
    assert problem.sensitive[0].codes.tolist() == [1, 0, 0]
    assert problem.sensitive[0].size == 2


def test_more_diversity_than_there_are_values_is_refused():
    wanted = policy({"q": LETTER, "s": {"role": "sensitive", "l": {"value": 3}}})
    with pytest.raises(InvalidSetting, match="has only 2 in all"):
        count_combinations(wanted, {"q": ["a", "b"], "s": ["u", "v"]})


@pytest.mark.heavy
def test_max_level_is_where_the_search_begins():
    limited = {**LETTER, "max_level": 1}
    problem = count_combinations(
        policy({"q": limited, "r": LETTER}), {"q": ["a"], "r": ["c"]}
    ).problem
    labels = [problem.taxonomies[0].nodes[p].label for p in problem.start.nodes[0]]
    assert labels == ["x", "y"]
    assert problem.start.nodes[1] == (0,)
    with pytest.raises(InvalidPolicy, match="levels 0 to 2"):
        count_combinations(policy({"q": {**LETTER, "max_level": 3}}), {"q": ["a"]})


def test_an_empty_table_has_too_few_people():
    with pytest.raises(TooFewRows, check=lambda error: error.reason == "people"):
        count_combinations(policy({"q": LETTER}), pa.table({"q": pa.array([], pa.string())}))


def test_medians_and_prefixes_are_learnt_from_the_rows():
    attributes = {
        "age": {**AGE, "hierarchy": {"kind": "binary", "split": "median"}},
        "code": {"role": "quasi", "hierarchy": {"kind": "prefix", "keep": [2, 1]}},
    }
    table = {"age": [1, 2, 2, 9], "code": ["11", "12", "21", "21"]}
    problem, codec, _ = count_combinations(policy(attributes), table)
    assert all(tree.learnt for tree in codec.hierarchies.values())
    assert problem.taxonomies[1].leaves == ("11", "12", "21")


def test_an_empty_column_has_nothing_to_learn_from():
    attributes = {"code": {"role": "quasi", "hierarchy": {"kind": "prefix", "keep": [2, 1]}}}
    with pytest.raises(
        HierarchyInvalid, match="empty", check=lambda error: error.reason == "no values"
    ):
        count_combinations(policy(attributes), {"code": pa.array([None, None], pa.string())})


def test_the_class_column_of_label_gain_splits_lines():
    wanted = Policy.of({
        "version": 1, "attributes": {"q": LETTER, "y": {"role": "other", "force": True}},
        "privacy": {"k": 2}, "search": {"score": "label-gain", "target": "y"},
    })  # fmt: skip
    problem = count_combinations(wanted, {"q": ["a", "a", "a"], "y": ["1", "2", "1"]}).problem
    assert sorted(problem.n.tolist()) == [1, 2]
    assert len(set(problem.target.tolist())) == 2


DISTANT = {"*": {"EU": ["DE", "FR"], "other": ["US", "JP", "BR"]}}


def with_distances(distances):
    return Policy.of(
        {
            "version": 1,
            "privacy": {"k": 2, "suppression": 0},
            "attributes": {
                "c": {
                    "role": "quasi",
                    "hierarchy": {"tree": DISTANT},
                    "distances": distances,
                }
            },
        }
    )


def test_stated_distances_are_what_labels_lose():
    problem = count_combinations(with_distances({"EU": 0.2, "*": 0.9}), {"c": ["DE", "FR"]}).problem
    assert problem.costs[0].tolist() == [0.9, 0.2, 0, 0, 0.5, 0, 0, 0]


def test_a_listed_child_lifts_an_unlisted_parent_and_no_child_exceeds_its_parent():
    problem = count_combinations(with_distances({"US": 0.6, "*": 0.7}), {"c": ["DE", "FR"]}).problem
    assert problem.costs[0].tolist() == [0.7, 0.25, 0, 0, 0.6, 0.6, 0, 0]


@pytest.mark.parametrize("distances", [{"EU": 0.5, "*": 0.4}, {"Mars": 0.1}])
def test_distances_that_no_tree_can_have_are_refused(distances):
    with pytest.raises(InvalidPolicy, match="distances"):
        count_combinations(with_distances(distances), {"c": ["DE", "FR"]})


@pytest.mark.heavy
@pytest.mark.parametrize("far", [0.0, 0.6])
def test_the_loss_of_a_release_is_counted_by_stated_distances(far):
    rows = {"c": ["DE", "FR"] * 3 + ["US", "JP"] * 3, "d": (["x"] * 3 + ["y"] * 3) * 2}
    tree = {"role": "quasi", "hierarchy": {"tree": {"*": ["x", "y"]}}}
    of = with_distances({"EU": far, "other": far}).attributes["c"]
    content = {"version": 1, "privacy": {"k": 3, "suppression": 0}}
    policy = Policy.of(content | {"attributes": {"c": of, "d": tree}})
    outcome = find_outcome(policy, count_combinations(policy, rows))
    assert outcome.metrics.ncp == pytest.approx(far / 2)
