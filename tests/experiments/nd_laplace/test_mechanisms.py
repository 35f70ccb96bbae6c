import numpy as np
import pytest

from shoal.experiments.nd_laplace._data import data_named
from shoal.experiments.nd_laplace._mechanisms import AS_WRITTEN, GUARANTEES, OURS, reports_of
from shoal.privacy import Unprotected

DATA = data_named("blobs-50-3d")


@pytest.mark.parametrize("name", GUARANTEES)
def test_every_mechanism_sends_a_report_for_each_row(name):
    reports = reports_of(name, DATA, 2.0, seed=1)
    assert reports.shape == DATA.rows.shape
    assert np.isfinite(reports).all()
    assert not np.array_equal(reports, reports_of(name, DATA, 2.0, seed=2))


def test_each_has_its_promise_in_words():
    assert set(AS_WRITTEN) | set(OURS) <= set(GUARANTEES)


@pytest.mark.parametrize("name", sorted({*AS_WRITTEN} - {"laplace"}))
def test_forms_as_written_promise_nothing(name):
    from shoal.experiments.nd_laplace._mechanisms import mechanism_of

    assert isinstance(mechanism_of(name, 1.0, 3).guarantee, Unprotected)


def test_clamped_reports_lie_in_the_box():
    assert DATA.box.contains(reports_of("clamp", DATA, 0.5, seed=1)).all()


def test_a_box_too_small_for_the_noise_is_refused():
    assert reports_of("restrict", data_named("blobs-50-5d"), 0.05, seed=1) is None
