"""The Adult table as the literature on k-anonymity uses it."""

import csv
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from shoal.anonymize.problem import Problem, problem_of
from shoal.domain import Taxonomy

DATA = Path(os.environ.get("SHOAL_DATA", "../shared/data"))
QIDS = [
    *("sex", "age", "race", "marital-status", "education"),
    *("native-country", "workclass", "occupation", "income"),
]


@pytest.fixture(scope="session")
def adult() -> Callable[..., Problem]:
    """Make a problem of the complete rows among the first 32,561, with nine QIDs."""
    if not (DATA / "adult").is_dir():
        pytest.skip("the Adult table is not here; set SHOAL_DATA to the folder of the data sets")
    with (DATA / "adult" / "adult.csv").open() as file:
        rows = [row for row, _ in zip(csv.DictReader(file), range(32_561), strict=False)]
    rows = [row for row in rows if not {"", "?"} & set(row.values())]
    taxonomies = {name: _taxonomy(name) for name in QIDS}
    columns = [tree.codes([row[name] for row in rows]) for name, tree in taxonomies.items()]
    return partial(problem_of, taxonomies, list(zip(*columns, strict=True)))


def _taxonomy(name: str) -> Taxonomy:
    name = "salary-class" if name == "income" else name
    with (DATA / "adult" / "hierarchies" / f"adult_hierarchy_{name}.csv").open() as file:
        return Taxonomy.paths(list(csv.reader(file, delimiter=";")))


@pytest.fixture(scope="session")
def oulad() -> Problem:
    """Registrations of students, several of some, with six QIDs under flat hierarchies; k = 5."""
    path = DATA / "education" / "oulad_student_info.csv"
    if not path.is_file():
        pytest.skip("the OULAD table is not here; set SHOAL_DATA to the folder of the data sets")
    with path.open() as file:
        rows = list(csv.DictReader(file))
    names = ["gender", "region", "highest_education", "imd_band", "age_band", "disability"]
    columns = {name: [row[name] or "<null>" for row in rows] for name in names}
    trees = {name: Taxonomy.nested("*", sorted(set(values))) for name, values in columns.items()}
    codes = np.stack([trees[name].codes(columns[name]) for name in names], axis=1)
    students = np.array([int(row["id_student"]) for row in rows])
    return problem_of(trees, codes, k=5, suppression=0.02, entities=students)
