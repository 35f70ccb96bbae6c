import math
from collections import Counter, defaultdict

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.anonymize import Policy, recount
from shoal.engine.duckdb import OWNER
from shoal.errors import UnknownColumn

QUASI = {"role": "quasi", "hierarchy": {"tree": {"*": ["a", "b"]}}}


def policy(l=None, t=None, person=None, **output):  # noqa: E741
    attributes = {"q": QUASI, "r": QUASI, "s": {"role": "sensitive", "order": ["u", "v", "w"]}}
    attributes["s"] |= {key: rule for key, rule in (("l", l), ("t", t)) if rule}
    if person:
        attributes[person] = {"role": "identifier"}
    privacy = {"k": 2, "person": person} if person else {"k": 2}
    return Policy.of({"version": 1, "attributes": attributes, "privacy": privacy, "output": output})


def by_definition(rows, people, l_kind, t_kind):
    """k, l and t straight from their definitions, with sets and loops."""
    classes = defaultdict(list)
    for row, person in zip(rows, people, strict=True):
        classes[row[:2]].append((person, row[2]))
    k = min(len({person for person, _ in found}) for found in classes.values())
    table = Counter(value for _, value in {(p, r[2]) for r, p in zip(rows, people, strict=True)})
    ls, ts = [], []
    for found in classes.values():
        counts = Counter(value for _, value in set(found))
        ls.append(diversity(counts, l_kind))
        ts.append(distance(counts, table, t_kind))
    return k, min(ls), max(ts)


def diversity(counts, kind):
    known = [n for value, n in counts.items() if value is not None]
    if kind == "distinct":
        return len(known)
    return math.exp(-sum(n / sum(known) * math.log(n / sum(known)) for n in known)) if known else 0


def distance(counts, table, kind):
    share = {v: counts[v] / sum(counts.values()) - table[v] / sum(table.values()) for v in table}
    if kind == "equal":
        return sum(abs(x) for x in share.values()) / 2
    order = [v for v in ("u", "v", "w", None) if table[v]]
    running, total = 0.0, 0.0
    for value in order[:-1]:
        running += share[value]
        total += abs(running)
    return total / max(len(order) - 1, 1)


rows = st.lists(
    st.tuples(
        st.sampled_from("ab"), st.sampled_from("ab"), st.sampled_from(["u", "v", "w", None]),
        st.integers(0, 6),
    ),
    min_size=1, max_size=30,
)  # fmt: skip


@pytest.mark.heavy
@settings(deadline=None, max_examples=30)
@given(
    rows,
    st.sampled_from(["distinct", "entropy"]),
    st.sampled_from(["equal", "ordered"]),
    st.booleans(),
)
def test_the_count_is_that_of_the_definition(drawn, l_kind, t_kind, by_person):
    table = [row[:3] for row in drawn]
    people = [row[3] for row in drawn] if by_person else list(range(len(drawn)))
    q, r, s = zip(*table, strict=True)
    columns = {"q": q, "r": r, "s": pa.array(s, pa.string())}
    asked = policy(
        {"kind": l_kind, "value": 2}, {"kind": t_kind, "value": 0.5}, "id" if by_person else None
    )
    if by_person:
        columns["id"] = people
    found = recount(pa.table(columns), asked)
    k, l, t = by_definition(table, people, l_kind, t_kind)  # noqa: E741
    assert found.k == k
    assert found.rows == len(table)
    assert found.classes == len({row[:2] for row in table})
    assert found.by_person == by_person
    assert found.l["s"] == pytest.approx(l)
    assert found.t["s"] == pytest.approx(t)


@pytest.mark.heavy
def test_owners_beside_the_file_are_counted(tmp_path):
    pq.write_table(
        pa.table({"q": ["a"] * 4, "r": ["b"] * 4, "s": ["u"] * 4}), tmp_path / "t.parquet"
    )
    pq.write_table(pa.table({OWNER: ["p", "p", "p", "o"]}), tmp_path / "owners.parquet")
    found = recount(str(tmp_path / "t.parquet"), policy(person="id"), tmp_path / "owners.parquet")
    assert (found.k, found.by_person) == (2, True)
    assert recount(str(tmp_path / "t.parquet"), policy()).k == 4


@pytest.mark.heavy
def test_nulls_are_a_group_like_any_other():
    table = pa.table({"q": ["a", None, None], "r": ["a", "b", "b"], "s": ["u", "u", "u"]})
    assert recount(table, policy()).k == 1
    assert recount(table, policy()).classes == 2


@pytest.mark.heavy
def test_broken_promises_are_named():
    table = pa.table({"q": ["a", "a", "b"], "r": ["a", "a", "b"], "s": ["u", "u", "v"]})
    asked = policy({"value": 2}, {"value": 0.1})
    wrong = recount(table, asked).broken(asked)
    assert len(wrong) == 3
    assert wrong[0] == "k is 1, not 2"
    assert recount(table.slice(0, 2), policy()).broken(policy()) == []


def test_a_table_without_the_policys_columns_is_refused():
    with pytest.raises(UnknownColumn, match="'r'"):
        recount({"q": ["a"], "s": ["u"]}, policy())


def test_a_table_without_rows_keeps_nothing():
    empty = pa.table({name: pa.array([], pa.string()) for name in "qrs"})
    assert recount(empty, policy()).k == 0
