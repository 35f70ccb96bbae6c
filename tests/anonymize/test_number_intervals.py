import numpy as np
import pyarrow as pa
import pytest

from shoal.anonymize._frequency_table import count_combinations
from shoal.anonymize._number_intervals import interval_replacements, replace_by_lower_bounds
from shoal.anonymize._policy import Policy
from shoal.anonymize.hierarchies import build_intervals
from shoal.anonymize.table import QueriedTable
from shoal.errors import UnknownCategory

FLOATS = {"type": "float", "domain": [0, 100], "hierarchy": {"kind": "interval", "width": 10}}


def policy(**columns):
    quasi = {name: {"role": "quasi", **entry} for name, entry in columns.items()}
    return Policy.of({"version": 1, "privacy": {"k": 2}, "attributes": quasi})


@pytest.mark.parametrize("whole", [True, False])
def test_every_cell_keeps_its_leaf(whole):
    hierarchy = build_intervals((-3.3 if not whole else -3, 50), whole=whole, width=7)
    numbers = np.random.default_rng(0).uniform(-20, 80, 500)
    cells = pa.array(np.floor(numbers) if whole else numbers)
    replaced = replace_by_lower_bounds(hierarchy, [])(cells)
    assert hierarchy.leaf_of(replaced).tolist() == hierarchy.leaf_of(cells).tolist()


def test_bounds_of_domains_that_are_no_short_decimals_keep_their_leaf():
    hierarchy = build_intervals((0.1, 0.7), whole=False, width=0.1)
    cells = pa.array(hierarchy.edges.low)
    replaced = replace_by_lower_bounds(hierarchy, [])(cells)
    assert hierarchy.leaf_of(replaced).tolist() == list(range(len(cells)))


def test_only_declared_intervals_that_merge_numbers_are_replaced():
    years = {"type": "int", "domain": [0, 9], "hierarchy": {"kind": "interval", "width": 1}}
    tens = years | {"domain": [0, 99], "hierarchy": {"kind": "interval", "width": 10}}
    learnt = {"type": "float", "domain": [0, 9], "hierarchy": {"kind": "binary", "split": "median"}}
    every = interval_replacements(policy(a=FLOATS, b=years, c=tens, d=learnt))
    assert list(every) == ["a", "c"]


@pytest.mark.heavy
def test_a_table_is_counted_by_interval_and_its_lines_are_the_same():
    rng = np.random.default_rng(1)
    columns = {"x": rng.uniform(0, 100, 4_000), "y": rng.uniform(0, 100, 4_000)}
    rules = policy(x=FLOATS, y=FLOATS)
    counted = QueriedTable(columns).counts(["x", "y"], None, interval_replacements(rules))
    assert counted.num_rows == 100
    problem = count_combinations(rules, columns).problem
    cells = np.stack([np.floor(columns[name] / 10) for name in "xy"], axis=1)
    lines, n = np.unique(cells, axis=0, return_counts=True)
    assert problem.codes.tolist() == lines.tolist()
    assert problem.n.tolist() == n.tolist()


@pytest.mark.heavy
def test_nulls_stay_nulls_and_what_is_no_number_is_still_refused():
    rules = Policy.of(
        {
            "version": 1,
            "input": {"null_values": ["NA"]},
            "privacy": {"k": 2},
            "attributes": {"x": {"role": "quasi", **FLOATS}},
        }
    )
    problem = count_combinations(rules, {"x": ["1", " NA", None, "95"]}).problem
    assert problem.n.tolist() == [1, 1, 2]
    with pytest.raises(UnknownCategory, match="1 row"):
        count_combinations(rules, {"x": ["1", "twelve", "95"]})


@pytest.mark.heavy
def test_people_are_counted_beside_intervals():
    rules = Policy.of(
        {
            "version": 1,
            "privacy": {"k": 2, "person": "id"},
            "attributes": {"x": {"role": "quasi", **FLOATS}, "id": {"role": "identifier"}},
        }
    )
    table = {"x": [1.5, 2.5, 3.5, 11.0], "id": ["a", "a", "b", "b"]}
    problem = count_combinations(rules, table).problem
    assert sorted(problem.n.tolist()) == [1, 1, 2]
    assert len(set(problem.people.tolist())) == 2
