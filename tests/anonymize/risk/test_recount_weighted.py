import numpy as np
import pyarrow as pa
import pytest

from shoal.anonymize import Policy, recount
from shoal.anonymize.risk._recount import CombinationCounts, _measure, cache_columns
from shoal.anonymize.table import QueriedTable

LETTER = {"role": "quasi", "hierarchy": {"tree": {"*": ["a", "b"]}}}


def rows(n=300):
    rng = np.random.default_rng(4)
    return pa.table(
        {
            "q": pa.array([*rng.choice(["a", "b"], n - 2), None, None], pa.string()),
            "s": rng.choice(["u", "v", "w"], n),
            "id": [f"p{i % 90}" for i in range(n)],
        }
    )


def asked(person=None):
    return Policy.of(
        {
            "version": 1,
            "attributes": {
                "q": LETTER,
                "s": {"role": "sensitive", "l": {"value": 2}, "t": {"value": 0.5}},
                "id": {"role": "identifier"},
            },
            "privacy": {"k": 2, "person": person},
        }
    )


@pytest.mark.heavy
def test_counted_combinations_answer_as_the_rows_do():
    for person in (None, "id"):
        policy, table = asked(person), rows()
        expected = recount(table, policy)
        counts = QueriedTable(table).counts(["q", "s"], person)
        found = _measure(policy, CombinationCounts(counts, ["q", "s"]), ["q"], person)
        assert found.sizes.tolist() == expected.sizes.tolist()
        assert (found.k, found.rows, found.classes) == (expected.k, expected.rows, expected.classes)
        assert (found.l, found.t, found.share) == (expected.l, expected.t, expected.share)


def test_a_table_of_this_machine_is_asked_itself():
    table = QueriedTable(rows())
    assert cache_columns(table, ["q", "s"], None) is table
