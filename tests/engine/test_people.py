import gc
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data import source_of
from shoal.domain import Box, Grid, Schema
from shoal.engine import rows_of
from shoal.engine._people import place_in_run
from shoal.engine._rows import Terms
from shoal.engine.local import LocalRows
from shoal.errors import NotFinite, PersonMissing

BOX = Box(score=(0, 100))
people = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=30)


def limited(pairs, limit, key="k", **how):
    table = {"id": [f"p{i}" for i, _ in pairs], "score": [float(s) for _, s in pairs]}
    terms = Terms(person="id", max_rows_per_person=limit)
    return LocalRows(source_of(table), BOX, terms, key=key, **how)


def scores(rows):
    return Counter(np.concatenate([[], *rows.each(lambda b: b.numbers[:, 0])]).tolist())


@pytest.mark.heavy
@settings(max_examples=10, deadline=None)
@given(people, st.integers(1, 4), st.randoms())
def test_places_in_the_table_do_not_matter(pairs, limit, random):
    shuffled = pairs.copy()
    random.shuffle(shuffled)
    assert scores(limited(pairs, limit)) == scores(limited(shuffled, limit, block_rows=3))


@pytest.mark.heavy
@settings(max_examples=10, deadline=None)
@given(people, st.integers(1, 4))
def test_a_person_who_leaves_changes_nobody_elses_rows(pairs, limit):
    gone = [(i, s) for i, s in pairs if i == pairs[0][0]]
    rest = [(i, s) for i, s in pairs if i != pairs[0][0]]
    own = scores(limited(gone, limit))
    assert (
        scores(limited(pairs, limit)) == (scores(limited(rest, limit)) if rest else Counter()) + own
    )
    assert own.total() == min(limit, len(gone))


@pytest.mark.heavy
def test_equal_rows_are_kept_as_often_as_they_repeat():
    assert scores(limited([(1, 5)] * 7, 3)) == {5.0: 3}


@pytest.mark.heavy
def test_which_rows_stay_depends_on_the_key_and_on_nothing_a_person_could_see():
    # 300 people, each keeping 2 of 6: every score 100 +- 8.2; 5 standard deviations, 1e-6 each.
    pairs = [(person, score) for person in range(300) for score in range(6)]
    kept = scores(limited(pairs, 2, key="a"))
    assert all(abs(kept[score] - 100) < 5 * 8.2 for score in range(6))
    assert kept != scores(limited(pairs, 2, key="b"))


@pytest.mark.heavy
def test_all_verbs_and_passes_see_the_same_rows():
    rng = np.random.default_rng(2)
    pairs = list(
        zip(rng.integers(0, 40, 500).tolist(), rng.integers(0, 90, 500).tolist(), strict=True)
    )
    rows = limited(pairs, 3, key=None, block_rows=64)
    grid = Grid(BOX, 100)
    counts = rows.count(grid)
    np.testing.assert_array_equal(counts, rows.count(grid))
    assert counts.sum() == rows.size() == rows.sizes(["score"])["n"].to_numpy().sum() == 120
    assert len(rows.take(1_000, rng)) == 120
    assert sum(b.num_rows for b in rows.map(lambda b: b.numbers, ["s"]).batches()) == 120


@pytest.mark.heavy
def test_a_schema_carries_person_limit_and_categories():
    schema = Schema.of(
        {
            "version": 1,
            "columns": {"sex": {"values": ["F", "M"]}, "age": {"low": 0, "high": 110}},
            "person": "id",
            "max_rows_per_person": 1,
        }
    )
    rows = rows_of({"id": [7, 7, 8], "sex": ["M", "M", "F"], "age": [1, 1, 2]}, schema)
    assert rows.sizes(["sex", "age"]).to_pydict() == {"sex": ["F", "M"], "age": [2, 1], "n": [1, 1]}


def test_categories_alone_are_limited_too():
    content = {"version": 1, "columns": {"sex": {"values": ["F", "M"]}}}
    schema = Schema.of(content | {"person": "id", "max_rows_per_person": 1})
    rows = rows_of({"id": ["a", "a", "b"], "sex": ["M", "F", "F"]}, schema)
    assert rows.size() == 2


@pytest.mark.heavy
def test_refused_rows_raise_before_anyone_is_counted():
    table = {"id": ["a", "b"], "score": [1.0, float("nan")]}
    with pytest.raises(NotFinite, match="1 of 2"):
        rows_of(table, BOX, person="id", max_rows_per_person=1).size()
    table = {"id": ["a", None], "score": [1.0, 2.0]}
    with pytest.raises(PersonMissing, match="1 of 2"):
        rows_of(table, BOX, person="id", max_rows_per_person=1).size()


@pytest.mark.heavy
def test_rows_left_out_do_not_use_up_a_persons_share():
    table = {"id": ["a"] * 4, "score": [1.0, None, None, 2.0]}
    rows = rows_of(table, BOX, nonfinite="drop", person="id", max_rows_per_person=2)
    assert rows.size() == 2


@pytest.mark.heavy
def test_the_rows_that_stay_are_removed_with_the_object(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rows = limited([(1, 5), (1, 6)], 1)
    assert rows.size() == 1
    (place,) = tmp_path.iterdir()
    assert place.stat().st_mode & 0o077 == 0
    (folder,) = [path for path in place.iterdir() if path.is_dir()]
    assert sorted(path.name for path in folder.iterdir()) == ["kept.parquet", "lock"]
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())
    del rows
    gc.collect()
    assert list(tmp_path.glob("*/run-*")) == []


@pytest.mark.heavy
def test_no_rows_are_nobodys():
    table = pa.table({"id": pa.array([], pa.string()), "score": pa.array([], pa.float64())})
    rows = rows_of(table, BOX, person="id", max_rows_per_person=2)
    assert rows.size() == 0


@pytest.mark.heavy
@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(1, 40))
def test_places_run_on_across_batches(values, size):
    values = sorted(values)
    last, places = None, []
    for start in range(0, len(values), size):
        found, last = place_in_run([pa.array(values[start : start + size])], last)
        places += found.tolist()
    assert places == [values[:i].count(value) for i, value in enumerate(values)]
