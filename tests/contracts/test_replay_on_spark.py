"""A fit loses on Spark what it loses on one machine: the same record, the neighbour there."""

import numpy as np
import pytest

from shoal.audit import replay
from shoal.cluster import PrivateKMeans, WaveCluster
from shoal.domain import Box

PLANE = Box(x=(0, 1), y=(0, 1))
ROWS = np.random.default_rng(1).uniform(0.2, 0.4, (60, 2))
MODELS = {
    "PrivateKMeans": PrivateKMeans(2, epsilon=1, domain=PLANE, n_public=3000),
    "WaveCluster": WaveCluster(epsilon=1, domain=PLANE, cells=8, min_cells=1),
}
ADDED = {"at a corner": [1.0, 1.0], "on a cell's edge": [0.5, 0.25], "beyond the box": [9e9, -1]}


def frame_of(spark, rows):
    return spark.createDataFrame(rows.tolist(), list(PLANE.names)).repartition(2)


@pytest.mark.slow
@pytest.mark.parametrize("place", ADDED)
@pytest.mark.parametrize("name", MODELS)
def test_the_loss_on_spark_is_that_of_one_machine(spark, name, place):
    more = np.vstack([ROWS, ADDED[place]])
    here = replay(MODELS[name], ROWS, more)
    there = replay(MODELS[name], ROWS, frame_of(spark, more))
    assert here.verdict == there.verdict == "consistent", str(there)
    assert there.worst == pytest.approx(here.worst, abs=1e-9)
    assert there.loss == pytest.approx(here.loss, abs=1e-9)
    assert [step.of for step in there.passes[0].steps] == [s.of for s in here.passes[0].steps]
