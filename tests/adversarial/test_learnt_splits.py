"""Salaries that one person alone has are looked for in every public file of a release.

The splits of the column are learnt from the rows, whole numbers and others. No salary of these
tables is a multiple of the public step, so that finding one is no coincidence.
"""

import re

import numpy as np
import pyarrow as pa
import pytest

from shoal.anonymize import run_policy
from shoal.anonymize.hierarchies import _rules as rules
from shoal.pages import table as table_pages

OUTLIER = 987_653
K = 3


def salaries(n=400, seed=1):
    """Salaries that differ, one far from all others; no multiple of 100 nor the number before."""
    drawn = np.random.default_rng(seed).lognormal(10.3, 0.4, 4 * n).astype(np.int64)
    own = [s for s in dict.fromkeys(drawn.tolist()) if 0 < s % 100 < 99 and s < 900_000][: n - 1]
    return [*own, OUTLIER]


def table(own, kind):
    towns = [("Ahl", "Boll", "Calw", "Dorf")[i % 4] for i in range(len(own))]
    cells = [float(s) if kind == "float" else s for s in own]
    return pa.table({"id": [f"p{i}" for i in range(len(own))], "pay": cells, "town": towns})


def policy(folder, kind="int", parts=None, **search):
    tree = {"*": {"north": ["Ahl", "Boll"], "south": ["Calw", "Dorf"]}}
    learnt = {"kind": "binary", "split": "median", "min_width": 10}
    return {
        "version": 1,
        "attributes": {
            "id": {"role": "identifier"},
            "pay": {"role": "quasi", "type": kind, "domain": [0, 999_999], "hierarchy": learnt},
            "town": {"role": "quasi", "hierarchy": {"tree": tree}},
        },
        "privacy": {"k": K, "suppression": 0.05},
        "search": {"restarts": 2, **search},
        "output": {"path": str(folder / "out.csv"), **(parts or {})},
    }


def found(folder, own, given, rows):
    """The salaries of single people that stand in some public file."""
    run_policy(given, rows, pages=lambda done: table_pages.page_files(done, table_pages.page(done)))
    files = [path for path in folder.iterdir() if "curator" not in path.name]
    assert len(files) == 4 + (given["search"].get("recoding") != "local")
    hashes = r"[0-9a-f]{64}|(?<=\d),(?=\d{3})"  # and commas of thousands
    texts = [re.sub(hashes, "", path.read_text()) for path in files]
    told = {float(number) for text in texts for number in re.findall(r"\d+(?:\.\d+)?", text)}
    return told & {float(s) for s in own}


@pytest.mark.parametrize(
    ("kind", "parts", "search"),
    [
        ("int", {}, {}),
        ("float", {}, {}),
        ("int", {"intervals": "bounds"}, {}),
        ("int", {"suppressed": "star"}, {"recoding": "local"}),
    ],
)
def test_no_salary_of_one_person_is_in_a_public_file(tmp_path, kind, parts, search):
    own = salaries()
    given = policy(tmp_path, kind, parts, **search)
    assert found(tmp_path, own, given, table(own, kind)) == set()
    assert len(set((tmp_path / "out.csv").read_text().splitlines())) > 20  # they were split


def test_splits_at_numbers_of_the_table_are_caught(tmp_path, monkeypatch):
    own = salaries()
    values = np.array([0, *sorted(own), 1_000_000], dtype=np.float64)
    monkeypatch.setattr(rules, "_lattice", lambda *_: values)
    assert len(found(tmp_path, own, policy(tmp_path), table(own, "int"))) > 10


def test_wherever_an_outlier_lies_the_public_files_are_the_same(tmp_path):
    own = salaries()
    texts = []
    for at in (OUTLIER, 700_001, 444_444, 3_000_000):
        folder = tmp_path / str(at)
        folder.mkdir()
        run_policy(policy(folder), table([*own[:-1], at], "int"))
        names = ("out.csv", "out.mapping.csv")
        texts.append([sorted((folder / name).read_text().splitlines()) for name in names])
    assert texts == [texts[0]] * 4


def test_people_with_several_rows_are_counted_once_on_a_side(tmp_path):
    """Ten rows of one person with a salary each would be split off, counted by rows."""
    own = salaries(60)
    rich = [600_007 + 1_009 * i for i in range(10)]
    rows = table([*own, *rich], "int")
    ids = [*rows["id"].to_pylist()[:60], *["rich"] * 10]
    rows = rows.set_column(0, "id", pa.array(ids))
    given = policy(tmp_path)
    given["privacy"] |= {"person": "id", "suppression": 0.2}
    run_policy(given, rows)
    text = (tmp_path / "out.mapping.csv").read_text()
    bounds = {int(number) for number in re.findall(r"(?<=pay,).*?(\d{6})", text)}
    assert not [at for at in bounds if at > 600_000]


def test_a_split_with_fewer_than_k_on_a_side_is_caught(monkeypatch):
    people = rules.HeldNumbers(np.array([1.0, 2, 3, 4, 5, 900]), np.ones(6, dtype=np.int64))
    fair = rules.build_halves((0, 999), whole=True, min_width=1, people=people, k=K)
    assert smallest(fair, people) >= K
    split = rules._split
    monkeypatch.setattr(rules, "_split", lambda held, a, b, k: split(held, a, b, 1))
    assert (
        smallest(rules.build_halves((0, 999), whole=True, min_width=1, people=people, k=K), people)
        < K
    )


def smallest(tree, people):
    codes = tree.leaf_of(pa.array(people.values))
    return min(((codes >= node.low) & (codes < node.high)).sum() for node in tree.taxonomy.nodes)
