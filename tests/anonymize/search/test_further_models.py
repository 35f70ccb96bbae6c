"""Releases under each model, recounted in their files by the definition."""

import csv
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from shoal.anonymize import run_policy
from shoal.anonymize._policy import Policy, guarantee_of
from shoal.errors import InvalidPolicy, ShoalError, StartFails
from shoal.privacy import KAnonymity, KMap

BELOW = {"0-3": {"0-1": ["0", "1"], "2-3": ["2", "3"]}, "4-7": ["4", "5", "6", "7"]}
COVERS = {
    **{str(i): {str(i)} for i in range(8)},
    "0-1": {"0", "1"}, "2-3": {"2", "3"}, "0-3": set("0123"), "4-7": set("4567"),
    "F": {"F"}, "M": {"M"},
}  # fmt: skip


def covers(label, value):
    return label == "*" or value in COVERS[label]


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(1)
    everybody = [
        (str(a), s)
        for a, s in zip(
            (rng.beta(1, 2, 400) * 8).astype(int), rng.choice(["F", "M"], 400), strict=True
        )
    ]
    some = [everybody[i] for i in rng.choice(400, 80, replace=False)]
    for name, rows in (("population", everybody), ("in", some)):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("age", "sex"), *rows])
    return tmp_path


def content(folder, privacy, recoding="global"):
    return {
        "version": 1,
        "input": {"path": str(folder / "in.csv")},
        "attributes": {
            "age": {"role": "quasi", "hierarchy": {"tree": {"*": BELOW}}},
            "sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}},
        },
        "privacy": {"suppression": 0.05, **privacy},
        "search": {"recoding": recoding, "restarts": 2},
        "output": {"path": str(folder / "out.csv")},
    }


def read(path):
    with path.open(newline="") as file:
        return [(row["age"], row["sex"]) for row in csv.DictReader(file)]


def release(folder, privacy, recoding="global"):
    done = run_policy(content(folder, privacy, recoding))
    classes = Counter(read(folder / "out.csv"))
    people = {
        labels: sum(all(map(covers, labels, person)) for person in read(folder / "population.csv"))
        for labels in classes
    }
    return done, classes, people


@pytest.mark.heavy
@pytest.mark.parametrize("recoding", ["global", "local"])
def test_k_map_holds_in_the_population(folder, recoding):
    population = {"path": str(folder / "population.csv")}
    rule = {"k": 1, "k_map": {"k": 30}, "population": population}
    done, classes, people = release(folder, rule, recoding)
    assert min(people.values()) >= 30 > min(classes.values())
    assert done.produced.achieved.models == {"k_map": min(people.values())}
    assert done.manifest["models"]["reached"] == done.produced.achieved.models


@pytest.mark.heavy
def test_k_map_of_people_with_several_rows_counts_them_once(folder):
    rows = read(folder / "in.csv")
    with (folder / "in.csv").open("w", newline="") as file:
        doubled = [(*row, i) for i, row in enumerate(rows) for _ in range(1 + i % 2)]
        csv.writer(file).writerows([("age", "sex", "id"), *doubled])
    privacy = {"k": 3, "k_map": {"k": 30}, "population": {"path": str(folder / "population.csv")}}
    policy = content(folder, {**privacy, "person": "id"})
    policy["attributes"]["id"] = {"role": "identifier"}
    done = run_policy(policy)
    assert done.produced.achieved.by_person
    assert done.produced.achieved.k >= 3
    assert done.produced.achieved.models["k_map"] >= 30


@pytest.mark.heavy
@pytest.mark.parametrize(("least", "most"), [(0.0, 0.3), (0.1, 0.4)])
def test_presence_lies_between_its_bounds_for_everyone(folder, least, most):
    rule = {"least": least, "most": most}
    population = {"path": str(folder / "population.csv")}
    done, classes, people = release(folder, {"k": 2, "presence": rule, "population": population})
    for person in read(folder / "population.csv"):
        labels = [of for of in classes if all(map(covers, of, person))]
        share = Fraction(classes[labels[0]], people[labels[0]]) if labels else 0
        assert least - 1e-9 <= share <= most + 1e-9
    assert done.produced.achieved.models["presence"] <= most + 1e-9


@pytest.mark.heavy
@pytest.mark.parametrize("recoding", ["global", "local"])
def test_average_risk_is_kept(folder, recoding):
    _, classes, _ = release(folder, {"k": 2, "average_risk": 0.1}, recoding)
    rows = sum(classes.values())
    assert sum(n / n for n in classes.values()) / rows <= 0.1
    assert min(classes.values()) < 10  # classes may be small, if others are large


@pytest.mark.heavy
@pytest.mark.parametrize("recoding", ["global", "local"])
@pytest.mark.parametrize("within", ["sample", "population"])
def test_uniqueness_is_kept_beside_k_map(folder, recoding, within):
    population = {"path": str(folder / "population.csv")}
    unique = {"most": 0.02, "within": within}
    rule = {"k": 1, "k_map": {"k": 2}, "uniqueness": unique, "population": population}
    done, classes, _ = release(folder, rule, recoding)
    alone = sum(n == 1 for n in classes.values()) / sum(classes.values())
    assert done.produced.achieved.models["uniqueness"] <= min(0.02, alone)
    assert guarantee_of(done.policy) == KMap(2)


@pytest.mark.heavy
def test_a_stated_population_asks_for_enough_members(folder):
    rule = {"k": 1, "k_map": {"k": 20, "significance": 0.05}, "population": {"size": 400}}
    _, classes, _ = release(folder, rule)
    assert min(classes.values()) >= 8  # of 19 people, 8 or more are drawn 5 times in 100


def test_the_guarantee_follows_the_models(folder):
    stated = {"k_map": {"k": 20}, "population": {"size": 400}}
    policies = [Policy.of(content(folder, {"k": k, **stated})) for k in (1, 2)]
    assert [guarantee_of(policy) for policy in policies] == [KMap(20), KAnonymity(2)]


@pytest.mark.heavy
def test_a_kept_cut_keeps_the_models(folder):
    population = {"path": str(folder / "population.csv")}
    rule = {"k": 2, "k_map": {"k": 30}, "population": population}
    first = run_policy(content(folder, rule))
    again = run_policy(
        content(folder, rule), manifest=first.manifest, new_people=True, overwrite=True
    )
    assert again.produced.achieved.models["k_map"] >= 30


@pytest.mark.heavy
def test_what_cannot_be_kept_is_refused_and_nothing_is_written(folder):
    rule = {"presence": {"most": 0.1}, "population": {"path": str(folder / "population.csv")}}
    with pytest.raises(StartFails):
        run_policy(content(folder, {"k": 2, **rule}))  # one in five are in the table
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize(
    "privacy",
    [
        {"k": 1},
        {"k": 1, "average_risk": 0.1},
        {"k": 2, "k_map": {"k": 5}},
        {"k": 2, "presence": {"most": 0.5}, "population": {"size": 10}},
        {"k": 2, "uniqueness": {"most": 0.5}},
        {"k": 2, "average_risk": 0.1, "population": {"size": 10, "path": "x.csv"}},
        {"k": 2, "average_risk": 1.5},
    ],
)
def test_models_that_do_not_fit_are_refused_before_a_row_is_read(folder, privacy):
    with pytest.raises(ShoalError):
        Policy.of(content(folder, privacy))


def test_presence_is_refused_for_labels_that_overlap(folder):
    rule = {"presence": {"most": 0.5}, "population": {"path": "population.csv"}}
    with pytest.raises(InvalidPolicy, match="global"):
        Policy.of(content(folder, {"k": 2, **rule}, "local"))
