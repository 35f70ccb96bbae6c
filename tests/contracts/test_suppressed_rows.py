"""Nothing public tells of a suppressed row: equal published rows, equal bytes of everything.

One row of a tiny table takes every value of the whole domain in turn, nulls included. Whenever two
such tables are published as the same rows, their public files must agree byte for byte: the table
itself, the mapping, the manifest, the public page and its numbers, and what ``--json`` prints. What
the curator alone reads may differ.
"""

import json
import os
from itertools import product

import pyarrow as pa
import pytest

from shoal.anonymize import run_policy, table
from shoal.anonymize.release import _people_register as people_register
from shoal.anonymize.release import _run as run
from shoal.engine import duckdb
from shoal.errors import ShoalError
from shoal.pages import table as table_pages
from shoal.randomness import Randomness

TOWN = {"tree": {"*": {"north": ["Ahl", "Boll"], "south": ["Calw", "Dorf"]}}}
WIDE = {"tree": {"*": {"n": {"nn": ["Ahl", "Boll"], "ns": ["Calw"]}, "s": ["Dorf"]}}}
AGE = {"type": "int", "domain": [0, 3]}
NUMBER = {"type": "float", "domain": [0, 4]}
TOWNS, AGES = ["Ahl", "Boll", "Calw", "Dorf", None], [0, 1, 2, 3, None]
CODES = ["711", "712", "721", "81", None]
DAYS = ["2001-01-05", "2001-02-07", "2002-03-01", "2011-01-01", None]
HALVES = {**AGE, "hierarchy": {"kind": "binary"}}
MEDIANS = {**AGE, "hierarchy": {"kind": "binary", "split": "median"}}
FLOATS = {**NUMBER, "hierarchy": {"kind": "binary", "split": "median", "min_width": 0.5}}
BREAKS = {**AGE, "hierarchy": {"kind": "interval", "breaks": [1]}}
PREFIX = {"hierarchy": {"kind": "prefix", "keep": [3, 2, 1]}}
DATE = {"type": "date", "hierarchy": {"kind": "date", "levels": ["day", "month", "year"]}}
DECLARED = {**DATE, "domain": ["2001-01-01", "2002-12-31"]}

COLUMNS = {
    "tree and halves": (({"hierarchy": TOWN}, TOWNS), (HALVES, AGES)),
    "two trees": (({"hierarchy": TOWN}, TOWNS), ({"hierarchy": WIDE}, TOWNS)),
    "a limit": (({"hierarchy": WIDE, "max_level": 2}, TOWNS), (BREAKS, AGES)),
    "medians": (({"hierarchy": TOWN}, TOWNS), (MEDIANS, AGES)),
    "medians of floats": (({"hierarchy": TOWN}, TOWNS), (FLOATS, [0.25, 1.5, 2.5, 3.75, None])),
    "prefixes": ((PREFIX, CODES), (HALVES, AGES)),
    "dates": ((DATE, DAYS), ({"hierarchy": TOWN}, TOWNS)),
    "declared dates": ((DECLARED, DAYS), ({"hierarchy": WIDE}, TOWNS)),
}
POLICIES = {
    "plain": {},
    "one run": {"search": {"restarts": 0}},
    "by entropy": {"search": {"objective": "entropy", "score": "leteo"}},
    "local": {"search": {"recoding": "local"}},
    "stars": {"output": {"suppressed": "star"}},
    "nulls suppressed": {"privacy": {"nulls": "suppress"}},
    "nulls as root, bounds": {"privacy": {"nulls": "as_root"}, "output": {"intervals": "bounds"}},
    "nulls as root, local": {"privacy": {"nulls": "as_root"}, "search": {"recoding": "local"}},
    "l": {"s": {"l": {"value": 2}}},
    "t": {"s": {"t": {"value": 0.6}}},
    "local, entropy l": {
        "s": {"l": {"kind": "entropy", "value": 2}}, "search": {"recoding": "local"},
    },
    "people": {"privacy": {"person": "id"}},
}  # fmt: skip
# Places in the columns' domains; the last row is the one that varies.
TABLES = [
    [(0, 0), (0, 0), (0, 0), (1, 1), (1, 1), (1, 1), None],
    [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (1, 3), None],
    [(0, 0), (0, 0), (2, 2), (2, 2), (0, 0), (2, 3), (1, 1), None],
    [(3, 3), (3, 3), (3, 3), (3, 2), None],
    [(0, 4), (0, 4), (0, 4), (4, 1), (4, 1), (4, 1), None],
    [(0, 4), (0, 4), (0, 4), (0, 1), (0, 1), (0, 1), None],
]

ASKED = {}


def content(folder, columns, extra):
    quasi = {name: {"role": "quasi", **of} for name, (of, _) in zip("pq", columns, strict=True)}
    return {
        "version": 1,
        "attributes": {
            "id": {"role": "identifier"},
            **quasi,
            "s": {"role": "sensitive", **extra.get("s", {})},
        },
        "privacy": {"k": 2, "suppression": 0.34, **extra.get("privacy", {})},
        "search": {"restarts": 2, **extra.get("search", {})},
        "output": {"path": str(folder / "out.csv"), "overwrite": True, **extra.get("output", {})},
    }


def table_of(columns, rows, varied):
    places = [varied if row is None else row for row in rows]
    cells = {
        name: [domain[place[q]] for place in places]
        for q, (name, (_, domain)) in enumerate(zip("pq", columns, strict=True))
    }
    ids = [f"p{i}" for i in range(len(rows) - 2)]
    ids = [ids[0], *ids, "p99"]  # the first has two rows
    return pa.table(
        {"id": ids, **cells, "s": ["u", "v", "w", "u", "v", "w", "u", "v"][: len(rows)]}
    )


def public(folder, policy, table):
    """The published rows, and every public byte."""
    done = run_policy(
        policy, table, pages=lambda done: table_pages.page_files(done, table_pages.page(done))
    )
    files = {
        file.name: file.read_bytes() for file in folder.iterdir() if "curator" not in file.name
    }
    files["stdout"] = json.dumps(table_pages.page(done).values).encode()
    rows = tuple(sorted(files["out.csv"].splitlines()))
    for file in folder.iterdir():
        file.unlink()
    return rows, files


@pytest.fixture
def quick(monkeypatch):
    """One order of rows for all; what was asked of the same rows before is not asked again."""
    monkeypatch.setattr(run, "Randomness", lambda: Randomness(7))
    monkeypatch.setattr(
        people_register.secrets, "token_hex", lambda n: "0" * 2 * n
    )  # a register's name
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(table, "query_stream", remembered)
    monkeypatch.setattr(duckdb, "query_stream", remembered)


def remembered(sql, schema, batches, plainly=duckdb.query_stream):
    rows = pa.Table.from_batches(batches, schema)
    key = (sql, str(schema), str(rows.to_pydict()))
    if key not in ASKED:
        ASKED[key] = plainly(sql, schema, rows.to_batches())
    return ASKED[key]


def differing(folder, columns, extra, tables=TABLES):
    """Tables that are published as the same rows, and those of them whose files differ."""
    of, alike, unlike = COLUMNS[columns], 0, []
    policy = content(folder, of, POLICIES[extra])
    for rows in tables:
        seen = {}
        for varied in product(range(5), range(5)):
            try:
                published, files = public(folder, policy, table_of(of, rows, varied))
            except ShoalError:
                continue  # nothing is published
            alike += published in seen
            first = seen.setdefault(published, files)
            names = [
                name for name in first.keys() | files.keys() if first.get(name) != files.get(name)
            ]
            unlike += [(rows, varied, name) for name in names]
    return alike, unlike


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("columns", "extra"),
    [
        *product(COLUMNS, ["one run"]),
        *product(["tree and halves"], sorted(POLICIES.keys() - {"one run"})),
    ],
)
def test_where_published_rows_are_equal_every_public_byte_is(tmp_path, columns, extra):
    alike, unlike = differing(tmp_path, columns, extra, TABLES[:1])
    assert alike > 0
    assert unlike == []


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("columns", "extra"),
    [
        ("medians", "nulls as root, bounds"),
        ("medians", "nulls as root, local"),
        ("tree and halves", "nulls as root, local"),
    ],
)
def test_a_null_that_is_published_as_the_root_is_a_root_to_every_page(tmp_path, columns, extra):
    alike, unlike = differing(tmp_path, columns, extra, TABLES[-1:])
    assert alike > 0
    assert unlike == []


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("extra", POLICIES)
def test_that_holds_for_every_policy_and_column(tmp_path, columns, extra):
    alike, unlike = differing(tmp_path, columns, extra)
    assert alike > 0
    assert unlike == []
