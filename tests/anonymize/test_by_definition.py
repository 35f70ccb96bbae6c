"""Releases of random tables under random policies, checked in their files by the definitions.

Nothing of the package is used for the check but the policy's own words.
"""

import csv
import json
import math
from collections import Counter, defaultdict

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.anonymize import read_policy, run_policy
from shoal.errors import InvalidSetting, ShoalError, StartFails, TooFewRows

VALUES = ["u", "v", "w"]


@st.composite
def trees(draw, at, leaves):
    """A random hierarchy over these leaves."""
    if len(leaves) <= 2 or draw(st.booleans()):
        return list(leaves)
    middle = draw(st.integers(1, len(leaves) - 1))
    parts = leaves[:middle], leaves[middle:]
    return {f"{at}{i}": draw(trees(f"{at}{i}", part)) for i, part in enumerate(parts)}


@st.composite
def runs(draw):
    seed, n = draw(st.integers(0, 10**6)), draw(st.integers(12, 80))
    rng = np.random.default_rng(seed)
    sizes = [draw(st.integers(2, 6)) for _ in range(draw(st.integers(1, 3)))]
    columns = {
        f"q{i}": [f"q{i}v{x}" for x in (rng.beta(0.7, 1.5, n) * size).astype(int)]
        for i, size in enumerate(sizes)
    }
    attributes = {
        f"q{i}": {
            "role": "quasi",
            "hierarchy": {"tree": {"*": draw(trees(f"q{i}n", [f"q{i}v{x}" for x in range(size)]))}},
        }
        for i, size in enumerate(sizes)
    }
    columns["s"] = rng.choice(VALUES, n, p=[0.5, 0.3, 0.2]).tolist()
    rule = {}
    if draw(st.booleans()):
        rule["l"] = {"kind": draw(st.sampled_from(["distinct", "entropy", "recursive"]))}
        rule["l"] |= {"value": 2, "c": 2.0}
    if draw(st.booleans()):
        rule["t"] = {"kind": draw(st.sampled_from(["equal", "ordered"])), "value": 0.35}
    attributes["s"] = {"role": "sensitive", "order": VALUES, **rule}
    content = {
        "version": 1,
        "input": {"path": "in.csv"},
        "attributes": attributes,
        "privacy": {"k": draw(st.integers(2, 6)), "suppression": draw(st.sampled_from([0.0, 0.2]))},
        "search": {
            "recoding": draw(st.sampled_from(["global", "local"])),
            "restarts": draw(st.sampled_from([0, 3])),
        },
        "output": {"path": "out.csv"},
    }
    if draw(st.booleans()):
        columns["who"] = [f"p{x}" for x in rng.integers(0, max(n // 2, 2), n)]
        content["attributes"]["who"] = {"role": "other", "force": True}
        content["privacy"]["person"] = "who"
    return content, columns


def write(folder, content, columns):
    with (folder / "in.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    (folder / "p.yaml").write_text(yaml.safe_dump(content, sort_keys=False))


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def broken(content, rows):
    """Which promises the rows of a file break, straight from the definitions."""
    quasi = [name for name, of in content["attributes"].items() if of["role"] == "quasi"]
    by_person = "person" in content["privacy"]
    groups = defaultdict(list)
    for at, row in enumerate(rows):
        whose = row["who"] if by_person else at
        groups[tuple(row[name] for name in quasi)].append((whose, row["s"]))
    whole = shares([pair for group in groups.values() for pair in group])
    rule, wrong = content["attributes"]["s"], []
    for group in groups.values():
        if len({who for who, _ in group}) < content["privacy"]["k"]:
            wrong.append("k")
        counts = Counter(value for _, value in set(group))
        if "l" in rule and not diverse(rule["l"], counts):
            wrong.append("l")
        if "t" in rule and distance(rule["t"]["kind"], shares(group), whole) > 0.35 + 1e-9:
            wrong.append("t")
    return wrong


def shares(pairs):
    counts = Counter(value for _, value in set(pairs))
    return [counts[value] / sum(counts.values()) for value in VALUES]


def diverse(rule, counts):
    if rule["kind"] == "distinct":
        return len(counts) >= rule["value"]
    if rule["kind"] == "entropy":
        total = sum(counts.values())
        bits = -sum(n / total * math.log(n / total) for n in counts.values())
        return bits >= math.log(rule["value"]) - 1e-9
    falling = sorted(counts.values(), reverse=True)
    return falling[0] < rule["c"] * sum(falling[rule["value"] - 1 :])


def distance(kind, group, whole):
    moved = [a - b for a, b in zip(group, whole, strict=True)]
    if kind == "equal":
        return sum(map(abs, moved)) / 2
    occurring = [m for m, share in zip(moved, whole, strict=True) if share > 0]
    steps = np.abs(np.cumsum(occurring))[:-1].sum()
    return steps / max(len(occurring) - 1, 1)


@pytest.mark.heavy
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(runs())
def test_a_released_file_keeps_every_promise_and_counts_every_row(tmp_path_factory, drawn):
    folder = tmp_path_factory.mktemp("run")
    write(folder, *drawn)
    content, columns = drawn
    try:
        done = run_policy(read_policy(folder / "p.yaml"))
    except (StartFails, TooFewRows):
        assert not (folder / "out.csv").exists()
        return
    except InvalidSetting:  # l asks for more values than there are
        assert len(set(columns["s"])) < 2
        return
    rows = read(folder / "out.csv")
    assert not broken(content, rows)
    left_out = json.loads((folder / "out.manifest.json").read_text())["suppression"]["rows"]
    assert len(rows) + left_out == len(columns["s"])
    assert left_out <= content["privacy"]["suppression"] * len(columns["s"])
    assert not Counter(row["s"] for row in rows) - Counter(columns["s"])
    if content["search"]["recoding"] == "global":
        with (folder / "out.mapping.csv").open(newline="") as file:
            labels = {(line["column"], line["label"]) for line in csv.DictReader(file)}
        quasi = [name for name in columns if name.startswith("q")]
        assert {(name, row[name]) for row in rows for name in quasi} <= labels
    assert done.produced.achieved.rows == len(rows)


@pytest.mark.heavy
@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(runs(), st.randoms(use_true_random=False))
def test_shuffled_rows_give_the_same_release(tmp_path_factory, drawn, random):
    content, columns = drawn
    order = list(range(len(columns["s"])))
    random.shuffle(order)
    mixed = {name: [values[at] for at in order] for name, values in columns.items()}
    found = []
    for cells in (columns, mixed):
        folder = tmp_path_factory.mktemp("run")
        write(folder, content, cells)
        try:
            run_policy(read_policy(folder / "p.yaml"))
        except ShoalError as error:
            found.append((type(error), error.message))
        else:
            found.append(Counter(tuple(row.values()) for row in read(folder / "out.csv")))
    assert found[0] == found[1]


def test_the_check_itself_finds_what_is_broken():
    content = {
        "attributes": {
            "q": {"role": "quasi"},
            "s": {"l": {"kind": "distinct", "value": 2}, "role": "sensitive"},
        },
        "privacy": {"k": 2},
    }
    rows = [{"q": "a", "s": "u"}, {"q": "b", "s": "u"}, {"q": "b", "s": "u"}]
    assert broken(content, rows) == ["k", "l", "l"]
    content["attributes"]["s"] = {"role": "sensitive", "t": {"kind": "equal", "value": 0.35}}
    rows = [{"q": q, "s": s} for q, s in zip("aabb", "uuvv", strict=True)]
    assert broken(content, rows) == ["t", "t"]


@pytest.mark.parametrize("kind", ["equal", "ordered"])
def test_the_distance_of_the_check_is_the_one_of_the_paper(kind):
    # Li et al. 2007: {3, 4, 5} of nine salaries, 3 to 11 thousand; here of three values.
    assert distance(kind, [1, 0, 0], [1 / 3] * 3) == pytest.approx(
        {"equal": 2 / 3, "ordered": 0.5}[kind]
    )
