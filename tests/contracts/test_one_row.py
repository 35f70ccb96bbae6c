"""One row more changes the answers by that row alone, whatever stands in its cells.

Files and lists leave open what a cell means. If a column's other cells had a say in it, one odd
row could move everybody's, and no noise would be enough.
"""

import csv
from collections import Counter

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from shoal.data import source_of
from shoal.domain import Grid, Schema
from shoal.engine._rows import Terms
from shoal.engine.local import LocalRows
from shoal.errors import PersonMissing

FIRST_LABEL = 123456789012345678
SCHEMA = Schema.of(
    {
        "version": 1,
        "columns": {
            "age": {"low": 0, "high": 110},
            "level": {"values": [1, 2, FIRST_LABEL, FIRST_LABEL + 1], "other": "bucket"},
        },
    }
)
NAMES = ["id", "age", "level"]
# People whose ids are neighbours beyond what floats hold, in the spellings files have.
OTHERS = [
    (str(10**17 + i // 2), f"{i}{ending}", level)
    for i, (ending, level) in enumerate(
        [("", "1"), (".0", "1.0"), (".50", " 2"), ("e0", "2.00"), ("", str(FIRST_LABEL))] * 12
        + [("", str(FIRST_LABEL + 1)), (",5", "x"), ("", "NA"), (".5", ""), ("", "01")] * 4
    )
]
ODD = [
    "1.5",
    "x",
    "",
    "NA",
    "99999999999999999999",
    "05",
    " 7",
    "1,5",
    "inf",
    "1e400",
    "7.0",
    '"',
    "\n",
]
CELLS = st.sampled_from([*ODD, OTHERS[0][0], "1"]) | st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), max_size=5
)


def as_csv(rows, folder):
    with (folder / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([NAMES, *rows])
    return folder / "t.csv"


def as_lists(rows, folder):
    return dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))


KINDS = {"csv": as_csv, "lists": as_lists}


def answers(X, limit):
    """How many rows there are of each kind, and in each cell."""
    person = {} if limit is None else {"person": "id", "max_rows_per_person": limit}
    terms = Terms(nonfinite="drop", **person)
    rows = LocalRows(source_of(X), SCHEMA, terms, key="k", block_rows=7)
    sizes = Counter(
        {(r["age"], r["level"]): r["n"] for r in rows.sizes(["age", "level"]).to_pylist()}
    )
    return sizes, rows.count(Grid(SCHEMA.box, 5)), rows.size()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limit", [None, 1])
@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(row=st.tuples(CELLS, CELLS, CELLS), place=st.integers(0, len(OTHERS)))
@example(row=("1.5", "1.5", "1.5"), place=0)
@example(row=("x", "x", "x"), place=0)
@example(row=("99999999999999999999", "05", " 1"), place=len(OTHERS))
@example(row=(OTHERS[0][0], "", "1"), place=30)
def test_one_row_more_changes_nothing_but_its_own(kind, limit, row, place, tmp_path):
    before, cells_before, size_before = answers(KINDS[kind](OTHERS, tmp_path), limit)
    rows = [*OTHERS[:place], row, *OTHERS[place:]]
    try:
        after, cells_after, size_after = answers(KINDS[kind](rows, tmp_path), limit)
    except PersonMissing:
        assert limit is not None
        return
    # With a limit, a person's new row may take the place of an old one.
    gained, lost = (after - before).total(), (before - after).total()
    assert gained <= 1
    assert lost <= (0 if limit is None else gained)
    assert size_after - size_before == gained - lost
    assert abs(cells_after - cells_before).sum() <= gained + lost


@pytest.mark.parametrize("odd", ["1.5", "99999999999999999999", "x"])
def test_people_with_long_ids_stay_apart_beside_any_other(odd, tmp_path):
    people = [(str(10**17 + i), "1", "1") for i in range(640)]
    assert answers(as_csv(people, tmp_path), 1)[2] == 640
    assert answers(as_csv([*people, (odd, "1", "1")], tmp_path), 1)[2] == 641


def test_spellings_of_one_id_stay_one_person_beside_any_other(tmp_path):
    person = [(f"7.{'0' * i}", "1", "1") for i in range(199)]
    assert answers(as_csv(person, tmp_path), 1)[2] == 1
    assert answers(as_csv([*person, ("x", "1", "1")], tmp_path), 1)[2] == 2
