"""NDLaplace: units, lattice, settings and bad input. Its law is held in tests/statistical."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import special

from shoal import Box, Ledger, MetricDP, NDLaplace, Randomness
from shoal.errors import (
    DimensionMismatch,
    IncomparableGuarantees,
    InvalidBudget,
    InvalidDomain,
    InvalidSetting,
    NotFinite,
    NotNumeric,
    OutsideDomain,
    PromiseExceeded,
    UnknownBounds,
)
from shoal.mechanisms import PlanarLaplace, SphericalLaplace
from shoal.mechanisms.local.laplace._nd_laplace import to_places
from shoal.privacy import Unprotected

CITY = Box.geo(latitude=(40.4, 41.0), longitude=(-74.3, -73.7))


def noise(seed: int = 7) -> np.random.Generator:
    return Randomness(seed).noise


def test_the_promise_is_per_unit_of_scaled_distance_with_a_slack_of_a_millionth():
    promise = NDLaplace(0.5, scale=(10, 2)).guarantee
    assert promise.kind == MetricDP(0.5, scale=(10, 2)).kind
    assert promise.epsilon == Fraction(1, 2)
    assert 0 < promise.slack <= 1e-6 * math.sqrt(2)


@pytest.mark.parametrize("d", [1, 2, 3, 10, 50])
def test_the_slack_covers_the_diagonal_of_a_cell(d):
    mechanism = NDLaplace(3, domain=Box.unit(d))
    exact = 3 * mechanism.step * math.sqrt(d)
    assert exact <= mechanism.guarantee.slack <= exact + 1e-9


def test_without_bounds_the_slack_is_stated_for_1024_columns_and_wider_rows_are_refused():
    mechanism = NDLaplace(1)
    assert mechanism.guarantee.slack >= mechanism.step * 32
    assert mechanism.release(np.zeros((1, 1024)), noise()).values.shape == (1, 1024)
    with pytest.raises(DimensionMismatch, match="got 1025"):
        mechanism.check(np.zeros((1, 1025)))


def test_reports_lie_on_the_lattice_of_the_box():
    box = Box(age=(18, 110), visits=(0, 20))
    mechanism = NDLaplace(0.3, domain=box, scale=(8, 0.5))
    rows = Randomness(1).compute.uniform(box.low, box.high, (5_000, 2))
    places = (mechanism.release(rows, noise()).values - box.low) / (
        8 * mechanism.step,
        0.5 * mechanism.step,
    )
    assert np.abs(places - np.rint(places)).max() < 1e-4


@pytest.mark.heavy
@given(arrays(np.float64, (2, 3), elements=st.floats(-1e4, 1e4)))
@settings(max_examples=100, deadline=None)
def test_the_noise_never_meets_the_record_before_both_are_whole_numbers(pair):
    mechanism = SphericalLaplace(1.0)
    at = [mechanism.release(row, noise(3)).values / mechanism.step for row in pair]
    places = np.rint(pair / mechanism.step)
    assert np.array_equal(at[0] - at[1], (places[0] - places[1]).reshape(1, 3))


@pytest.mark.heavy
@given(arrays(np.float64, st.tuples(st.integers(0, 5), st.integers(1, 4)), elements=st.floats()))
@settings(max_examples=100, deadline=None)
def test_a_deployed_client_reports_whatever_number_it_holds(rows):
    box = Box.unit(rows.shape[1])
    reports = NDLaplace(1.0, domain=box, clip=True).release(rows, noise())
    assert reports.values.shape == rows.shape
    assert np.isfinite(reports.values).all()


def test_the_table_that_came_is_not_touched_unless_asked():
    rows = np.zeros((10, 2))
    first = NDLaplace(1.0).release(rows, noise()).values
    assert not rows.any()
    in_place = NDLaplace(1.0).release(rows, noise(), out=rows)
    assert np.shares_memory(in_place.values, rows)
    assert np.array_equal(rows, first)


@pytest.mark.parametrize("out", [np.empty((3, 2)), np.empty((2, 2), order="F"), [[0, 0], [0, 0]]])
def test_a_place_that_cannot_take_the_reports_is_refused(out):
    with pytest.raises(InvalidSetting, match="out"):
        NDLaplace(1.0).release(np.zeros((2, 2)), noise(), out=out)


def test_blocks_and_single_rows_have_the_same_shape_and_no_rows_give_none():
    mechanism = NDLaplace(1.0, domain=Box.unit(3))
    assert mechanism.release(np.zeros((20_000, 3)), noise()).values.shape == (20_000, 3)
    assert mechanism.release([0, 0.5, 1], noise()).values.shape == (1, 3)
    assert mechanism.release(np.empty((0, 3)), noise()).values.shape == (0, 3)


def test_a_table_is_one_entry_of_the_ledger():
    mechanism, ledger = NDLaplace(1.0, domain=Box.unit(2)), Ledger()
    page = ledger.open(mechanism.guarantee, by="test")
    page.release(mechanism, np.zeros((50, 2)), noise(), of="reports")
    assert len(ledger.entries()) == 1
    assert page.total().epsilon == 1
    with pytest.raises(PromiseExceeded):
        page.release(mechanism, np.zeros((50, 2)), noise(), of="reports")


def test_a_bad_table_is_refused_before_the_ledger_is_written():
    mechanism, ledger = NDLaplace(1.0, domain=Box.unit(2)), Ledger()
    with pytest.raises(OutsideDomain):
        ledger.open(mechanism.guarantee, by="test").release(
            mechanism, np.full((5, 2), 3.0), noise(), of="reports"
        )
    assert len(ledger.entries()) == 0


def test_kilometres_come_from_a_geographic_box():
    mechanism = PlanarLaplace.from_radius(level=1, radius=0.5, domain=CITY)
    assert mechanism.guarantee.unit == "km"
    assert mechanism.guarantee.epsilon == 2
    home = np.tile([40.7, -74.0], (40_000, 1))
    east_north = CITY.to_plane(mechanism.release(home, noise()).values) - CITY.to_plane(home)
    assert east_north.std(axis=0) == pytest.approx([math.sqrt(3) / 2] * 2, rel=0.03)
    assert np.hypot(*east_north.T).mean() == pytest.approx(1.0, rel=0.02)


def test_kilometres_and_plain_units_do_not_add():
    with pytest.raises(IncomparableGuarantees):
        _ = PlanarLaplace(1, domain=CITY).guarantee + PlanarLaplace(1).guarantee


@pytest.mark.parametrize("names", [("latitude", "longitude"), ("Lat", "LNG"), ("lon", "lat")])
def test_epsilon_per_degree_is_refused(names):
    degrees = Box.of(names, [40, 40], [41, 41])
    with pytest.raises(InvalidDomain, match="per degree"):
        PlanarLaplace(1.0, domain=degrees)
    assert PlanarLaplace(1.0, domain=degrees, scale=(0.009, 0.012)).guarantee.unit == "1"


def test_the_scale_of_the_box_is_half_its_sides():
    box = Box(age=(0, 100), visits=(0, 20))
    mechanism = NDLaplace(1.0, domain=box, scale="box")
    spread = mechanism.release(np.tile([50.0, 10.0], (40_000, 1)), noise()).values.std(axis=0)
    assert spread == pytest.approx(np.array([50, 10]) * math.sqrt(3), rel=0.03)
    assert float(mechanism.guarantee.as_local(box).epsilon) == pytest.approx(2 * math.sqrt(2))


@pytest.mark.parametrize("d", [1, 2, 3, 7, 50, 400])
@pytest.mark.parametrize("p", [1e-9, 0.05, 0.5, 0.95, 1 - 1e-9])
def test_error_quantiles_are_those_of_the_gamma_law(d, p):
    mechanism = NDLaplace(0.25, scale=np.ones(d))
    assert mechanism.error_quantile(p) == pytest.approx(4 * special.gammaincinv(d, p), rel=1e-8)


@pytest.mark.parametrize("p", [0, 1, -0.5, math.nan])
def test_a_quantile_outside_its_range_is_refused(p):
    with pytest.raises(InvalidSetting):
        PlanarLaplace(1).error_quantile(p)


def test_a_quantile_needs_the_number_of_columns():
    with pytest.raises(DimensionMismatch, match="not known"):
        NDLaplace(1).error_quantile(0.5)


def test_the_density_integrates_to_one_per_scaled_volume():
    mechanism = PlanarLaplace(2.0, scale=(3, 0.5))
    axis = np.linspace(-8, 8, 401)
    plane = np.stack(np.meshgrid(3 * axis, 0.5 * axis), axis=-1).reshape(-1, 2)
    mass = np.exp(mechanism.log_density(plane, [[0, 0]])).sum() * (axis[1] - axis[0]) ** 2
    assert mass == pytest.approx(1, abs=2e-3)


def test_raw_floats_are_unprotected_and_for_simulations_only():
    raw = NDLaplace(1.0, lattice=None)
    assert isinstance(raw.guarantee, Unprotected)
    raw.release([[0.0]], noise())
    with pytest.raises(InvalidSetting, match="lattice=None"):
        raw.release([[0.0]], Randomness().noise)
    page = Ledger().open(NDLaplace(1.0).guarantee, by="test")
    with pytest.raises(IncomparableGuarantees):
        page.release(raw, [[0.0]], noise(), of="reports")


def test_mechanisms_of_equal_settings_are_equal():
    assert NDLaplace(1.0, scale=[1, 2]) == NDLaplace(1.0, scale=(1.0, 2.0))
    assert hash(NDLaplace(1.0, scale=[1, 2])) == hash(NDLaplace(1.0, scale=(1.0, 2.0)))
    assert NDLaplace(1.0, scale=[1, 2]) != PlanarLaplace(1.0, scale=[1, 2])


def test_a_mechanism_travels_to_other_processes():
    mechanism = PlanarLaplace("0.1", domain=CITY, clip=True)
    there = pickle.loads(pickle.dumps(mechanism))
    assert there == mechanism
    assert there.guarantee == mechanism.guarantee


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "much", True, None, 1e-200, 1e200])
def test_a_budget_that_is_none_is_refused(epsilon):
    with pytest.raises(InvalidBudget):
        NDLaplace(epsilon)


@pytest.mark.parametrize("radius", [0, -2, math.nan, math.inf, "near"])
def test_a_radius_that_is_none_is_refused(radius):
    with pytest.raises(InvalidDomain, match="radius"):
        NDLaplace.from_radius(1, radius)


@pytest.mark.parametrize(
    "scale",
    [0, (1, -1), (1, math.nan), (math.inf, 1), (1, 2, 3), "wide", ((1, 2),), (), ("a", "b")],
)
def test_a_scale_that_is_none_is_refused(scale):
    with pytest.raises(InvalidDomain, match="scale"):
        NDLaplace(1.0, scale=scale, domain=Box.unit(2))


@pytest.mark.parametrize(("epsilon", "scale"), [(1e90, 1e-250), (1e-90, 1e250)])
def test_units_beyond_float64_are_refused(epsilon, scale):
    with pytest.raises(InvalidDomain, match="float64"):
        NDLaplace(epsilon, scale=[scale])


def test_bounds_are_asked_for_where_they_are_needed():
    for setting in ({"clip": True}, {"scale": "box"}):
        with pytest.raises(UnknownBounds, match="public"):
            NDLaplace(1.0, **setting)


def test_planar_and_spherical_noise_keep_to_their_columns():
    for mechanism, d in ((PlanarLaplace, 2), (SphericalLaplace, 3)):
        with pytest.raises(DimensionMismatch):
            mechanism(1.0, domain=Box.unit(d + 1))
        with pytest.raises(DimensionMismatch):
            mechanism(1.0, scale=np.ones(d + 1))
        with pytest.raises(DimensionMismatch):
            mechanism(1.0).check(np.zeros((4, d + 1)))


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([[0.5, math.nan]], NotFinite),
        ([[0.5, 1.5]], OutsideDomain),
        ([[0.5, 0.5, 0.5]], DimensionMismatch),
        (np.empty((4, 0)), DimensionMismatch),
        ([["0.5", "0.5"]], NotNumeric),
        ([[True, False]], NotNumeric),
    ],
)
def test_bad_rows_get_a_named_error_and_a_next_step(rows, error):
    with pytest.raises(error) as refused:
        NDLaplace(1.0, domain=Box.unit(2)).release(rows, noise())
    assert refused.value.hint


def test_promises_scaled_by_two_boxes_do_not_add():
    small, large = (NDLaplace(1.0, domain=Box(x=(0, w)), scale="box").guarantee for w in (1, 9))
    assert small.scale == (0.5,)
    with pytest.raises(IncomparableGuarantees):
        small + large
    assert float(large.as_local(Box(x=(0, 9))).epsilon) == pytest.approx(2, abs=1e-5)


def test_the_noise_is_rounded_before_it_meets_the_record():
    """With one seed, two records far apart get the very same whole number of steps added."""
    mechanism = NDLaplace(1.0, domain=Box(x=(0, 1000)), lattice=0.25)
    records = np.array([[0.1], [999.9]])
    added = []
    for record in records:
        report = mechanism.release([record] * 500, Randomness(5).noise).values
        added.append(report[:, 0] / 0.25 - np.rint(record[0] / 0.25))
    assert np.array_equal(added[0], added[1])


@pytest.mark.parametrize("epsilon", ["0.1", "0.3", "1/3", "0.7"])
def test_the_noise_is_never_narrower_than_promised(epsilon):
    mechanism = NDLaplace(epsilon)
    exact = Fraction(epsilon) * Fraction(mechanism.step)
    assert Fraction(mechanism.lattice_rate) <= exact
    assert Fraction(mechanism.lattice_rate) > exact * (1 - Fraction(1, 2**50))


def test_records_the_lattice_does_not_reach_are_refused():
    with pytest.raises(OutsideDomain, match="1 of 2 rows"):
        NDLaplace(1.0).release([[1.7e12], [5]], Randomness(1).noise)
    far = NDLaplace(1.0).release([[3e7]], Randomness(1).noise).values
    assert abs(far[0, 0] - 3e7) < 100
    with pytest.raises(InvalidSetting, match=r"2\*\*50 steps"):
        NDLaplace(1.0, domain=Box(x=(0, 1e12)))


@pytest.mark.parametrize("scale", [(0.1,), (0.3,), (7.0,), None])
def test_rounding_far_from_the_origin_stays_within_the_slack(scale):
    """Against exact fractions, at the edge of what is taken without bounds."""
    mechanism = NDLaplace(1.0, scale=scale)
    unit = 1.0 if scale is None else scale[0]
    edge = 2.0**44 * mechanism.step * unit
    rng, worst = np.random.default_rng(3), Fraction(0)
    cell = Fraction(unit) * Fraction(mechanism.step)
    for x in edge * (1 - 1e-3 * rng.random(300)):
        placed = np.array([[x]])
        to_places(placed, np.zeros((1, 1)), np.array([[unit * mechanism.step]]))
        worst = max(worst, abs(Fraction(placed[0, 0]) - Fraction(x) / cell))
    assert 2 * worst * Fraction(mechanism.step) <= mechanism.guarantee.slack


def test_what_the_promise_comes_to_is_asked_of_the_mechanism():
    assert float(NDLaplace(1.0, domain=Box(x=(0, 100))).as_local().epsilon) == pytest.approx(100)
    with pytest.raises(UnknownBounds):
        NDLaplace(1.0).as_local()


def test_bounds_that_are_no_box_are_refused():
    with pytest.raises(InvalidDomain, match="list"):
        NDLaplace(1.0, domain=[(0, 1)])


@pytest.mark.parametrize(
    "names", [("start_lat", "start_lon"), ("Latitude", "LNG"), ("lat", "x_long")]
)
def test_degrees_are_recognised_in_longer_names(names):
    with pytest.raises(InvalidDomain, match="per degree"):
        NDLaplace(1.0, domain=Box.of(names, [0, 0], [1, 1]))
