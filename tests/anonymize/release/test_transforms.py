"""Means of groups, bounds, rounding and left-out cells, in released files by their definitions."""

import csv
import statistics
from collections import Counter, defaultdict

import numpy as np
import pytest

from shoal.anonymize import read_policy, recount, run_policy
from shoal.anonymize._policy import Policy
from shoal.anonymize._policy_rules import TransformSpec
from shoal.anonymize.release._manifest import policy_hash
from shoal.anonymize.release._transforms import change_numbers
from shoal.errors import InvalidPolicy, LooksIdentifying

AGE = {"role": "quasi", "type": "int", "domain": [0, 99],
       "hierarchy": {"kind": "interval", "width": 10}}  # fmt: skip
SEX = {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}}


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    return [
        {"age": int(age), "sex": str(rng.choice(["F", "M"])), "pay": round(float(pay), 2),
         "town": str(rng.choice(["a", "b", "c", "d"], p=[0.6, 0.3, 0.07, 0.03]))}
        for age, pay in zip(rng.integers(15, 80, 120), rng.lognormal(8, 1, 120), strict=True)
    ]  # fmt: skip


def released(tmp_path, rows, ending="csv", **changes):
    with (tmp_path / "in.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    attributes = {"age": AGE, "sex": SEX, "pay": {"role": "other", "force": True},
                  "town": {"role": "other"}}  # fmt: skip
    content = {
        "version": 1,
        "input": {"path": str(tmp_path / "in.csv")},
        "attributes": {name: of | changes.get(name, {}) for name, of in attributes.items()},
        "privacy": {"k": 4, "suppression": 0.05},
        "search": {"restarts": 0} | changes.get("search", {}),
        "output": {"path": str(tmp_path / f"out.{ending}"), **changes.get("output", {})},
    }
    done = run_policy(content, overwrite=True)
    with (tmp_path / "out.csv").open(newline="") as file:
        return done, list(csv.DictReader(file))


@pytest.mark.heavy
@pytest.mark.parametrize("how", ["mean", "median"])
@pytest.mark.parametrize("recoding", ["global", "local"])
def test_ages_are_the_mean_or_median_of_their_group(tmp_path, rows, how, recoding):
    done, table = released(tmp_path, rows, age={"publish": how}, search={"recoding": recoding})
    of_pay = {f"{row['pay']}": row["age"] for row in rows}  # pay tells rows apart here
    groups = defaultdict(list)
    for row in table:
        groups[row["age"], row["sex"]].append(of_pay[row["pay"]])
    compute = statistics.mean if how == "mean" else statistics.median
    for (age, _), ages in groups.items():
        assert float(age) == pytest.approx(compute(ages), abs=1e-6)
        assert len(ages) >= 4
    assert done.manifest["published"]["age"] == how
    assert recount(tmp_path / "out.csv", done.policy).k >= 4


@pytest.mark.heavy
def test_a_mean_does_not_depend_on_rows_that_are_left_out(tmp_path, rows):
    lonely = [*rows, {"age": 99, "sex": "F", "pay": 1.0, "town": "a"}]
    done, table = released(tmp_path, lonely, age={"publish": "mean"})
    assert done.outcome.metrics.suppressed >= 1
    assert max(float(row["age"]) for row in table) < 80


@pytest.mark.heavy
def test_missing_ages_stay_missing(tmp_path, rows):
    for row in rows[:8]:
        row["age"] = ""
    _, table = released(tmp_path, rows, age={"publish": "mean"})
    assert any(row["age"] == "" for row in table)


@pytest.mark.heavy
def test_numbers_are_bounded_and_rounded(tmp_path, rows):
    spec = {"bottom": 1000, "top": 20_000, "round": 500}
    _, table = released(tmp_path, rows, pay={"transform": spec})
    pays = [float(row["pay"]) for row in table]
    assert min(pays) >= 1000
    assert max(pays) <= 20_000
    assert all(pay % 500 == 0 for pay in pays)
    assert "." not in table[0]["pay"]


@pytest.mark.heavy
def test_values_that_few_rows_have_are_left_out_cell_by_cell(tmp_path, rows):
    _, table = released(tmp_path, rows, town={"transform": {"rare": 10}})
    counts = Counter(row["town"] for row in table)
    assert all(n >= 10 for town, n in counts.items() if town)
    assert counts[""] > 0
    assert counts["a"] > counts["b"] >= 10


@pytest.mark.heavy
def test_rare_values_need_no_word_that_they_are_harmless(tmp_path, rows):
    with pytest.raises(LooksIdentifying):
        released(tmp_path, rows, pay={"force": False})
    _, table = released(tmp_path, rows, pay={"force": False, "transform": {"rare": 4}})
    assert {row["pay"] for row in table} == {""}


@pytest.mark.heavy
def test_flat_hierarchies_and_local_recoding_suppress_cells(tmp_path, rows):
    ages = {"role": "quasi", "hierarchy": {"tree": {"*": [str(age) for age in range(100)]}}}
    rounded = [row | {"age": row["age"] // 10 * 10} for row in rows]
    _, table = released(
        tmp_path, rounded, age=ages | {"type": "text", "domain": None}, search={"recoding": "local"}
    )
    values = {row["age"] for row in table}
    assert values <= {"*", *map(str, range(0, 100, 10))}
    assert {"*"} < values


@pytest.mark.heavy
def test_cells_that_are_no_numbers_are_refused_and_not_quoted(tmp_path, rows):
    rows[3]["pay"] = "secret"
    with pytest.raises(InvalidPolicy) as refused:
        released(tmp_path, rows, pay={"transform": {"round": 10}})
    assert "secret" not in str(refused.value)
    assert not (tmp_path / "out.csv").exists()


def test_steps_below_one_round_to_their_digits():
    spec = TransformSpec(round=0.1)
    assert change_numbers(np.array([0.25, 0.31, -0.04]), spec).tolist() == [0.3, 0.3, 0.0]


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("sex", {"publish": "mean"}),
        ("age", {"transform": {"round": 5}}),
        ("pay", {"transform": {}}),
        ("pay", {"transform": {"top": 1, "bottom": 2}}),
        ("pay", {"publish": "mean"}),
    ],
)
def test_changes_that_make_no_sense_are_refused_before_a_row_is_read(column, change):
    attributes = {"age": AGE, "sex": SEX, "pay": {"role": "other"}}
    attributes[column] = attributes[column] | change
    with pytest.raises(InvalidPolicy):
        Policy.of({"version": 1, "attributes": attributes, "privacy": {"k": 2}})


def test_policies_without_new_keys_keep_their_hash():
    old = Policy.of({"version": 1, "attributes": {"sex": SEX}, "privacy": {"k": 2}})
    assert policy_hash(old) == ("d28a86b7a2a3f57d71e1ac79a767d98fdcf3167188b6a021e787fa506e43273e")


def test_changes_are_read_from_a_file(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text(
        "version: 1\nprivacy: {k: 2}\nattributes:\n"
        "  sex: {role: quasi, hierarchy: {tree: {'*': [F, M]}}}\n"
        "  pay: {role: other, transform: {round: 10, rare: 5}}\n"
    )
    spec = read_policy(path).attributes["pay"].transform
    assert (spec.round, spec.rare) == (10, 5)
