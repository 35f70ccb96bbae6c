"""Two releases under one cut, subtracted: what is left is the newcomer, with the diagnosis.

Each release keeps k = 10, l = 3 and t = 0.4 by itself; k-anonymity says nothing about the two
together. So a snapshot that still holds the first release's people must not be released again.
"""

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from shoal.anonymize import Policy, TopDownSpecialization, run_policy
from shoal.anonymize.release._people_register import Register
from shoal.errors import NewPeopleNotStated, ReleasedBefore

SEEDS = range(5)
DIAGNOSES = ["flu", "cold", "asthma", "gout", "none"]
PLACES = {"*": {"town": ["north", "south"], "country": ["east", "west"]}}


def patients(seed, n=600):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "patient": [f"p{i}" for i in range(n)],
            "age": rng.integers(20, 80, n),
            "place": rng.choice(["north", "south", "east", "west"], n),
            "diagnosis": rng.choice(DIAGNOSES, n),
        }
    )


def newcomer(seed):
    """One person who is in the second month's table and not in the first's."""
    rng = np.random.default_rng(1_000 + seed)
    return pa.table(
        {
            "patient": ["newcomer"],
            "age": rng.integers(30, 70, 1),
            "place": rng.choice(["north", "south", "east", "west"], 1),
            "diagnosis": rng.choice(DIAGNOSES, 1),
        }
    )


def policy(folder, path, person):
    ages = {"kind": "interval", "width": 10}
    return Policy.of(
        {
            "version": 1,
            "attributes": {
                "patient": {"role": "identifier"},
                "age": {"role": "quasi", "type": "int", "domain": [0, 99], "hierarchy": ages},
                "place": {"role": "quasi", "hierarchy": {"tree": PLACES}},
                "diagnosis": {"role": "sensitive", "l": {"value": 3}, "t": {"value": 0.4}},
            },
            "privacy": {"k": 10, "suppression": 0.05, "person": person},
            "search": {"restarts": 0},
            "output": {"path": path},
        },
        folder,
    )


def rows_in(path):
    return Counter(tuple(row.values()) for row in pa_csv.read_csv(path).to_pylist())


def differenced(folder, seed, person, **how):
    """What the second release has and the first has not, and the newcomer's true diagnosis."""
    month, new = patients(seed), newcomer(seed)
    run_policy(policy(folder, "january.csv", person), month)
    snapshot = pa.concat_tables([month, new])
    cut = folder / "january.manifest.json"
    run_policy(policy(folder, "february.csv", person), snapshot, manifest=cut, **how)
    left = rows_in(folder / "february.csv") - rows_in(folder / "january.csv")
    return [row[-1] for row in left.elements()], new["diagnosis"][0].as_py()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_snapshot_is_refused_where_people_are_told_apart(tmp_path, seed):
    with pytest.raises(ReleasedBefore):
        differenced(tmp_path, seed, "patient")
    assert not (tmp_path / "february.csv").exists()
    assert not (tmp_path / "february.manifest.json").exists()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_snapshot_is_refused_where_nobody_states_that_people_are_new(tmp_path, seed):
    with pytest.raises(NewPeopleNotStated):
        differenced(tmp_path, seed, None)
    assert not (tmp_path / "february.csv").exists()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_statement_does_not_stand_in_for_the_comparison(tmp_path, seed):
    with pytest.raises(ReleasedBefore):
        differenced(tmp_path, seed, "patient", new_people=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_twin_that_compares_nobody_gives_the_diagnosis_away(tmp_path, seed, monkeypatch):
    monkeypatch.setattr(Register, "refuse_known", lambda self, prints: None)
    left, true = differenced(tmp_path, seed, "patient")
    assert left == [true]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_false_statement_gives_the_diagnosis_away(tmp_path, seed):
    """Why manifest and pages say what the promise rests on."""
    left, true = differenced(tmp_path, seed, None, new_people=True)
    assert left == [true]


@pytest.mark.parametrize("person", ["patient", None])
def test_the_estimator_refuses_a_snapshot_as_well(tmp_path, person):
    model = TopDownSpecialization(policy=policy(tmp_path, "never.csv", person))
    model.fit_transform(patients(1))
    snapshot = pa.concat_tables([patients(1), newcomer(1)])
    with pytest.raises(ReleasedBefore if person else NewPeopleNotStated):
        model.transform(snapshot)
