"""Models recounted in tables, broken ones included."""

import pytest

from shoal.anonymize import recount
from shoal.anonymize._policy import Policy
from shoal.anonymize.hierarchies._build import build_hierarchy
from shoal.errors import InvalidPolicy


@pytest.fixture
def population(tmp_path):
    path = tmp_path / "population.csv"
    path.write_text("age\n" + "\n".join(["1"] * 6 + ["2"] * 4 + ["3"] * 3))
    return path


def policy_of(population, **rules):
    hierarchy = {"kind": "interval", "breaks": [2, 3]}
    age = {"role": "quasi", "type": "int", "domain": [1, 3], "hierarchy": hierarchy}
    privacy = {"k": 2, "population": {"path": str(population)}, **rules}
    return Policy.of({"version": 1, "attributes": {"age": age}, "privacy": privacy})


@pytest.mark.heavy
def test_what_a_table_reaches_is_counted_under_its_labels(population):
    policy = policy_of(population, k_map={"k": 5}, presence={"most": 0.5})
    reached = recount({"age": ["1"] * 3 + ["2"] * 3}, policy)
    assert reached.models == {"k_map": 4, "presence": 0.75, "least_presence": 0.0}
    assert reached.broken(policy) == ["k_map is 4, not 5", "presence is 0.75, above 0.5"]


@pytest.mark.heavy
def test_a_label_that_covers_everybody_reaches_everybody(population):
    policy = policy_of(population, presence={"most": 0.5, "least": 0.2})
    label = build_hierarchy(policy, "age").taxonomy.nodes[0].label
    reached = recount({"age": [label] * 4}, policy)
    assert reached.models == {"presence": 4 / 13, "least_presence": 4 / 13}
    assert not reached.broken(policy)


@pytest.mark.heavy
def test_a_label_of_no_hierarchy_is_refused_unquoted(population):
    with pytest.raises(InvalidPolicy) as refused:
        recount({"age": ["secret"] * 4}, policy_of(population, k_map={"k": 2}))
    assert "secret" not in str(refused.value)


def test_learnt_hierarchies_need_the_release_that_learnt_them(tmp_path, population):
    policy = Policy.of(
        {
            "version": 1,
            "attributes": {"age": {"role": "quasi", "hierarchy": {"kind": "prefix", "keep": [1]}}},
            "privacy": {"k": 2, "k_map": {"k": 2}, "population": {"path": str(population)}},
        }
    )
    with pytest.raises(InvalidPolicy, match="learnt"):
        recount({"age": ["1", "1"]}, policy)
