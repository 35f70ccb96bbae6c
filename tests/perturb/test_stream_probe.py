import numpy as np
import pytest

from shoal.domain import Box
from shoal.errors import DimensionMismatch, InvalidSetting, NotAReport
from shoal.mechanisms import NDLaplace, RandomizedResponse, bayes_remap, clamp
from shoal.perturb._table_layout import shape_of
from shoal.perturb.report_stream import check_remap

LAPLACE = NDLaplace(1.0, domain=Box(x=(5, 9), y=(5, 9)))


def check(remap, mechanism=LAPLACE, width=2):
    check_remap(remap, mechanism, shape_of(mechanism), width)


@pytest.mark.parametrize("remap", [None, clamp(LAPLACE.domain), bayes_remap()])
def test_a_remap_that_fits_passes(remap):
    check(remap)


def test_the_point_is_public_the_centre_of_the_box():
    seen = []
    check(lambda reports: seen.append(reports.values.tolist()) or reports)
    assert seen == [[[7.0, 7.0]]]


@pytest.mark.parametrize(
    ("remap", "error"), [(np.asarray, NotAReport), (clamp(Box.unit(3)), DimensionMismatch)]
)
def test_one_that_does_not_raises(remap, error):
    with pytest.raises(error):
        check(remap)


def test_learning_where_records_lie_needs_bounds():
    with pytest.raises(InvalidSetting, match="needs a domain"):
        check(bayes_remap("em"), NDLaplace(1.0))
    check(bayes_remap(([[0.0, 0.0], [1.0, 1.0]], [1, 3])), NDLaplace(1.0))


def test_categories_are_not_moved():
    with pytest.raises(InvalidSetting):
        check(clamp(Box.unit(1)), RandomizedResponse(1.0, 3), width=1)
