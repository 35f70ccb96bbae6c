"""Reports in a Spark frame: counts of all of them, and what follows, are those of one machine."""

import numpy as np
import pyarrow as pa
import pytest

from shoal.cluster.local import LocalClusterer
from shoal.cluster.local._distributed_frames import FrameReports, sum_over_reports
from shoal.domain import Box
from shoal.errors import DimensionMismatch, NotAReport, OutsideDomain, UnknownColumn
from shoal.mechanisms import LocalGrid, NDLaplace
from shoal.randomness import Randomness

BOX = Box(x=(0, 10), y=(0, 10))
CENTERS = np.array([[2.0, 2.0], [8.0, 3.0], [5.0, 8.0]])
ROWS = np.repeat(CENTERS, 700, axis=0)
LAPLACE = NDLaplace(2.0, domain=BOX)
GRID = LocalGrid(BOX, epsilon=3.0, cells=4)


@pytest.fixture(scope="module")
def frame_of(spark):
    def make(**columns):
        return spark.createDataFrame(pa.table(columns)).repartition(3).persist()

    return make


def in_order(centers):
    return centers[np.argsort(centers[:, 1])]


@pytest.mark.heavy
def test_cells_are_counted_on_spark_and_give_the_same_centres(frame_of):
    reports = GRID.release(ROWS, Randomness(7).noise)
    far = FrameReports(frame_of(cell=reports.values), GRID, simulation=True)
    here, there = (
        LocalClusterer(3, mechanism=GRID, random_state=7).fit(each) for each in (reports, far)
    )
    np.testing.assert_array_equal(there.cluster_centers_, here.cluster_centers_)
    assert there.n_reports_ == there.n_used_ == len(ROWS)
    assert there.guarantee_ == here.guarantee_
    assert there.report_labels_ is None
    # The verdict on cells that Spark counted is that of the same cells here.
    assert (
        there.evidence(far, random_state=1).is_certain
        == here.evidence(reports, random_state=1).is_certain
    )


@pytest.mark.heavy
def test_counts_on_the_lattice_of_em_give_the_same_density(frame_of):
    reports = LAPLACE.release(ROWS, Randomness(7).noise)
    far = FrameReports(frame_of(y=reports.values[:, 1], x=reports.values[:, 0]), LAPLACE)
    here, there = (
        LocalClusterer(3, mechanism=LAPLACE, method="em", random_state=7).fit(each)
        for each in (reports, far)
    )
    close = in_order(there.cluster_centers_), in_order(here.cluster_centers_)
    np.testing.assert_allclose(*close, atol=1e-3)
    np.testing.assert_allclose(there.density_.weights, here.density_.weights, atol=1e-4)
    assert np.abs(in_order(there.cluster_centers_) - CENTERS).max() < 0.5


@pytest.mark.heavy
def test_other_methods_learn_from_a_sample_and_sums_are_of_all(frame_of, monkeypatch):
    monkeypatch.setattr("shoal.cluster.local._distributed_frames.SAMPLE", 900)
    reports = LAPLACE.release(ROWS, Randomness(7).noise)
    far = FrameReports(frame_of(x=reports.values[:, 0], y=reports.values[:, 1]), LAPLACE)
    gathered = far.gather(random_state=7)
    assert gathered.values.shape == (900, 2)
    assert len(gathered) == len(ROWS)
    sums = sum_over_reports(gathered, lambda values: values.sum(axis=0))
    np.testing.assert_allclose(sums, reports.values.sum(axis=0), rtol=1e-6)
    model = LocalClusterer(3, mechanism=LAPLACE, method="moments", random_state=7).fit(far)
    assert (model.n_reports_, model.n_used_) == (len(ROWS), 900)
    assert np.abs(in_order(model.cluster_centers_) - CENTERS).max() < 0.8


@pytest.mark.heavy
def test_what_is_no_frame_of_these_reports_is_refused(frame_of):
    with pytest.raises(NotAReport, match="got a list"):
        FrameReports([[1.0, 2.0]], LAPLACE)
    wide = frame_of(cell=[1, 2], weight=[1, 1])
    with pytest.raises(DimensionMismatch, match="has 2 columns"):
        FrameReports(wide, GRID).gather()
    with pytest.raises(UnknownColumn, match="'x'"):
        FrameReports(wide, LAPLACE).gather()
    with pytest.raises(OutsideDomain, match="1 of 2"):
        len(FrameReports(frame_of(cell=[1, GRID.oracle.codes]), GRID).gather())
    with pytest.raises(NotAReport, match="another NDLaplace"):
        LocalClusterer(1, mechanism=NDLaplace(1.0)).fit(
            FrameReports(frame_of(x=[1.0, 2.0], y=[1.0, 2.0]), LAPLACE)
        )
