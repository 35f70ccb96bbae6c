import math

import numpy as np
import pyarrow as pa
import pytest

from shoal import evaluate
from shoal.cluster._scores import inertia, label_agreement, normalised_inertia
from shoal.domain import Box

BOX = Box(x=(0, 10), y=(0, 4))
ROWS = np.random.default_rng(6).uniform([0, 0], [10, 4], (2_000, 2))
CENTERS = np.array([[2.0, 1.0], [7.0, 3.0]])
PLAIN = np.array([[2.5, 2.0], [7.5, 2.0]])


def test_inertia_is_that_of_the_arrays():
    expected = evaluate.inertia(ROWS, CENTERS)
    assert inertia(ROWS, CENTERS, BOX) == pytest.approx(expected, rel=1e-6)
    relative = evaluate.normalised_inertia(ROWS, CENTERS, PLAIN)
    assert normalised_inertia(ROWS, CENTERS, PLAIN, BOX) == pytest.approx(relative, rel=1e-6)


def test_plain_centres_on_all_rows_leave_nothing_to_compare():
    rows = np.array([[2.0, 1.0], [7.0, 3.0]])
    assert normalised_inertia(rows, CENTERS, CENTERS, BOX) == 1.0
    assert math.isnan(normalised_inertia(rows, PLAIN, CENTERS, BOX))


@pytest.mark.heavy
def test_a_spark_frame_scores_as_its_rows_do(spark):
    labels = np.argmin(ROWS @ -CENTERS.T, axis=1)
    species = np.where(ROWS[:, 0] > 5, "b", "a")
    table = pa.table({"x": ROWS[:, 0], "y": ROWS[:, 1], "label": labels, "species": species})
    frame = spark.createDataFrame(table).repartition(3)
    assert inertia(frame, CENTERS, BOX) == inertia(ROWS, CENTERS, BOX)
    found = label_agreement(frame, "label", "species")
    truth = (species == "b").astype(int)
    assert found["ari"] == pytest.approx(evaluate.ari(labels, truth))
    assert found["nmi"] == pytest.approx(evaluate.nmi(labels, truth))
