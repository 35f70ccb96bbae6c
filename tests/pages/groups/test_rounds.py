import numpy as np
import pytest

import shoal
from shoal.cluster import LocalRounds, RoundsModel
from shoal.cluster.local.transcript import AllRounds
from shoal.domain import Box
from shoal.pages.groups import page
from shoal.randomness import Randomness


def model_of(d, epsilon=4.0):
    first = LocalRounds(Box.unit(d), n_clusters=2, epsilon=epsilon, n_expected=800)
    rows = np.random.default_rng(0).random((800, d))
    return RoundsModel.of(AllRounds(first, 7).release(rows, Randomness(1).noise))


@pytest.fixture(scope="module")
def model():
    return model_of(3)


@pytest.mark.heavy
def test_a_page_shows_groups_beside_those_without_data(model):
    shown = page(model, table="here/reports.csv", publisher="A school")
    assert [table.title for table in shown.tables] == [
        "What stands for each group",
        "The same without data",
    ]
    assert len(shown.values["groups"]) == len(shown.values["without_data"]["prototypes"]) == 2
    assert shown.values["spent"] is None
    assert "reports.csv" in shown.settings["code"]
    assert shown.settings["publisher"] == "A school"


@pytest.mark.heavy
def test_whose_a_report_is_stands_on_the_page(model):
    assert any("counts each time" in text for text in page(model).limits)
    assert "Each person was reported once." in page(model, protects="a person").limits


@pytest.mark.heavy
def test_groups_that_may_be_noise_are_marked():
    weak = model_of(3, epsilon=0.05)
    shown = page(weak)
    assert not weak.is_certain_.all()
    assert any("may be noise" in row[-1] for row in shown.tables[0].rows)
    assert shown.settings["title"].startswith("No clear groups") == (not shown.is_distinct)
    assert any("larger epsilon" in text for text in shown.limits)


@pytest.mark.heavy
def test_a_page_says_that_sizes_were_tested_and_places_were_not():
    limits = page(model_of(3, epsilon=0.05)).limits
    assert limits[0].startswith("Only the sizes of the groups were tested against noise.")
    assert not any("was not tried" in text for text in limits)


@pytest.mark.heavy
@pytest.mark.parametrize("columns", [5, 7])
def test_many_columns_are_said_to_be_coarse(columns):
    said = any(f"In {columns} columns" in text for text in page(model_of(columns)).limits)
    assert said == (columns == 7)


@pytest.mark.heavy
def test_the_page_of_a_model_is_written(model, tmp_path):
    path = shoal.report(model, tmp_path / "page.html", names=["early", "late"])
    assert "early" in path.read_text()
