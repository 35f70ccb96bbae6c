import numpy as np
import pytest

from shoal.domain import Box, Schema
from shoal.pages import findings, render
from shoal.pages._synopsis import page
from shoal.privacy import Unprotected
from shoal.synopsis import AdaptiveGrid, PrivTree, UniformGrid

BOX = Box(age=(0, 100), visits=(0, 20))
ROWS = np.random.default_rng(0).uniform([0, 0], [100, 20], (400, 2))


@pytest.mark.parametrize("kind", [AdaptiveGrid, PrivTree, UniformGrid])
def test_a_summary_says_how_many_and_how_noisy(kind):
    model = kind(epsilon=1, domain=BOX, random_state=1).fit(ROWS)
    made = page(model, title="Visits", publisher="A museum")
    assert made.settings["title"] == "Visits"
    assert made.facts[0].value == f"{model.n_rows_:,}"
    assert f"off by about {np.ceil(model.noise_variance_**0.5):,.0f}" in made.limits[0]
    assert "Visits" in render(findings(made.to_result()))


def test_the_title_names_the_columns():
    made = page(UniformGrid(epsilon=1, domain=BOX, random_state=1).fit(ROWS))
    assert made.settings["title"] == "How many lie where, by age and visits"


def test_only_a_table_without_names_of_people_takes_a_row_for_a_person():
    table = {"age": ROWS[:, 0], "visits": ROWS[:, 1], "who": np.arange(400)}
    schema = Schema.of_box(BOX, person="who", max_rows_per_person=1)
    known = page(UniformGrid(epsilon=1, domain=schema, random_state=1).fit(table))
    unknown = page(UniformGrid(epsilon=1, domain=BOX, random_state=1).fit(ROWS))
    assert not any("One row is taken" in line for line in known.limits)
    assert any("One row is taken" in line for line in unknown.limits)
    assert not isinstance(known.result.guarantee, Unprotected)
