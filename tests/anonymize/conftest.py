"""Tables with hierarchies: made up, and those that the literature on k-anonymity uses."""

import csv
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from shoal.anonymize.search_problem import Problem, problem_of
from shoal.data import adults, adults_hierarchies
from shoal.domain import Taxonomy

QIDS = [
    *("sex", "age", "race", "marital-status", "education"),
    *("native-country", "workclass", "occupation", "income"),
]


@pytest.fixture(scope="session")
def made_adult() -> Callable[..., Problem]:
    """Make a problem of 30,000 made-up adults, with nine QIDs."""
    table, paths = adults(30_000), adults_hierarchies()
    rows = {name: [str(value) for value in table[name].to_pylist()] for name in QIDS}
    return _problems({name: Taxonomy.paths(paths[name]) for name in QIDS}, rows)


@pytest.fixture(scope="session")
def adult(real_file) -> Callable[..., Problem]:
    """Make a problem of the complete rows among the first 32,561 of Adult, with nine QIDs."""
    with real_file("adult/adult.csv").open() as file:
        lines = [row for row, _ in zip(csv.DictReader(file), range(32_561), strict=False)]
    complete = [line for line in lines if not {"", "?"} & set(line.values())]
    rows = {name: [line[name] for line in complete] for name in QIDS}
    return _problems({name: _adult_taxonomy(real_file, name) for name in QIDS}, rows)


def _problems(taxonomies, rows) -> Callable[..., Problem]:
    columns = [tree.codes(rows[name]) for name, tree in taxonomies.items()]
    return partial(problem_of, taxonomies, list(zip(*columns, strict=True)))


def _adult_taxonomy(real_file, name: str) -> Taxonomy:
    name = "salary-class" if name == "income" else name
    with real_file(f"adult/hierarchies/adult_hierarchy_{name}.csv").open() as file:
        return Taxonomy.paths(list(csv.reader(file, delimiter=";")))


@pytest.fixture(scope="session")
def made_registrations() -> Problem:
    """Registrations of 6,000 made-up adults, one to five of each, with five QIDs; k = 5."""
    names = ["sex", "race", "marital-status", "workclass", "income"]
    rng = np.random.default_rng(7)
    people = np.repeat(np.arange(6_000), rng.choice([1, 2, 5], 6_000, p=[0.7, 0.2, 0.1]))
    table = adults(6_000, seed=7)
    columns = {name: np.array(table[name].to_pylist())[people].tolist() for name in names}
    return _flat_problem(columns, people)


@pytest.fixture(scope="session")
def oulad(real_file) -> Problem:
    """Registrations of students, several of some, with six QIDs under flat hierarchies; k = 5."""
    with real_file("education/oulad_student_info.csv").open() as file:
        rows = list(csv.DictReader(file))
    names = ["gender", "region", "highest_education", "imd_band", "age_band", "disability"]
    columns = {name: [row[name] or "<null>" for row in rows] for name in names}
    return _flat_problem(columns, np.array([int(row["id_student"]) for row in rows]))


def _flat_problem(columns: dict[str, list[str]], people: np.ndarray) -> Problem:
    trees = {name: Taxonomy.nested("*", sorted(set(values))) for name, values in columns.items()}
    codes = np.stack([trees[name].codes(columns[name]) for name in columns], axis=1)
    return problem_of(trees, codes, k=5, suppression=0.02, people=people)
