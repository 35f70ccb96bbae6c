"""The flawed forms promise nothing, and the gate lets none of them through."""

import numpy as np
import pytest

import shoal
import shoal.mechanisms
from shoal import Ledger, LocalDP, MetricDP, Unprotected
from shoal.audit.twins import _flawed_mechanisms as flawed_mechanisms
from shoal.errors import DimensionMismatch, IncomparableGuarantees, InvalidSetting
from shoal.mechanisms.local.laplace._nd_laplace import NDLaplace
from shoal.randomness import Randomness

ALL = [kind for name, kind in vars(flawed_mechanisms).items() if name.startswith("Flawed")]
each = pytest.mark.parametrize("mechanism", ALL)


def rows_for(mechanism):
    d = mechanism.columns or 4
    return np.random.default_rng(1).uniform(-1, 1, (30, d))


@each
def test_a_flawed_form_says_why_it_is_unprotected(mechanism):
    guarantee = mechanism(1).guarantee
    assert isinstance(guarantee, Unprotected)
    assert len(guarantee.reason) > 20


@each
@pytest.mark.parametrize("promise", [LocalDP(1), MetricDP(1)])
def test_the_gate_refuses_a_flawed_form_on_a_page_with_a_promise(mechanism, promise):
    ledger = Ledger()
    with pytest.raises(IncomparableGuarantees):
        ledger.open(promise, by="test").release(
            mechanism(1), rows_for(mechanism), Randomness(1).noise, of="rows"
        )
    assert ledger.totals() == []


@each
def test_a_flawed_form_runs_on_a_page_that_promises_nothing(mechanism):
    made, rows = mechanism(1), rows_for(mechanism)
    page = Ledger().open(made.guarantee, by="test")
    reports = page.release(made, rows, Randomness(1).noise, of="rows")
    assert np.asarray(reports).shape == rows.shape
    assert np.isfinite(reports.values).all()


@each
def test_no_rows_give_no_reports(mechanism):
    empty = rows_for(mechanism)[:0]
    assert mechanism(1).release(empty, Randomness(1).noise).values.shape == empty.shape


def test_flawed_forms_are_found_on_purpose_only():
    for kind in ALL:
        assert kind.__name__ not in dir(shoal)
        assert not hasattr(shoal.mechanisms, kind.__name__)


def test_forms_of_two_and_three_columns_say_so():
    with pytest.raises(DimensionMismatch):
        flawed_mechanisms.FlawedAngles2D(1).check(np.zeros((3, 3)))
    with pytest.raises(DimensionMismatch):
        flawed_mechanisms.FlawedAngles3D(1).check(np.zeros((3, 2)))


def test_a_grid_needs_two_nodes():
    with pytest.raises(InvalidSetting):
        flawed_mechanisms.FlawedGridRemap(1, nodes=1)


def test_the_quarter_circle_only_ever_adds():
    noise = (
        flawed_mechanisms.FlawedAngles2D(1).release(np.zeros((500, 2)), Randomness(1).noise).values
    )
    assert noise.min() >= 0


@pytest.mark.parametrize("d", [4, 7, 10])
def test_angles_that_are_none_leave_the_last_column_nearly_alone(d):
    rows = np.zeros((5_000, d))
    wrong = flawed_mechanisms.FlawedAnglesND(1).release(rows, Randomness(1).noise).values
    right = NDLaplace(1).release(rows, Randomness(1).noise).values
    assert np.median(np.abs(wrong[:, -1])) < 0.15 * np.median(np.abs(right[:, -1]))
    assert wrong[:, 0].min() > 0


def test_the_grid_remap_keeps_to_the_rows_own_box():
    rows = np.random.default_rng(2).uniform(0, 10, (200, 2))
    values = flawed_mechanisms.FlawedGridRemap(0.1).release(rows, Randomness(1).noise).values
    assert values.min() >= rows.min()
    assert values.max() <= rows.max() + 1e-9
    assert np.isclose(values[:, 0], rows[:, 0].max()).any()


def test_the_optimal_remap_comes_back_to_a_lonely_row():
    """Far from everyone else the ball around the true row holds that row alone."""
    rows = np.vstack([[50.0, 50.0], np.random.default_rng(2).uniform(0, 10, (50, 2))])
    made, rng = flawed_mechanisms.FlawedOptimalRemap(1), Randomness(1).noise
    lonely = np.array([made.release(rows, rng).values[0] for _ in range(20)])
    assert np.isclose(lonely, 50).all(axis=1).mean() > 0.5
