"""Remaps see reports and public things, never rows; what they do is written on the reports."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from shoal import Box, NDLaplace, Randomness, Reports
from shoal.errors import (
    DimensionMismatch,
    InvalidDomain,
    InvalidSetting,
    NotAReport,
    NotFinite,
    TooLarge,
)
from shoal.mechanisms import Geometric, PlanarLaplace, Prior, bayes_remap, clamp, snap
from shoal.privacy import PureDP

BOX = Box(x=(-1, 2), y=(0, 10))
MECHANISM = PlanarLaplace(1.5, domain=BOX)
VALUES = arrays(np.float64, st.tuples(st.integers(0, 6), st.just(2)), elements=st.floats(-50, 50))
TOWNS = np.array([[0.0, 1.0], [1.5, 8.0], [-1.0, 9.5]])


def of(values, mechanism=MECHANISM):
    return Reports(np.asarray(values, dtype=float), mechanism)


REMAPS = [clamp(BOX), snap(BOX, 5), bayes_remap("em"), bayes_remap((TOWNS, [1, 2, 3]), "euclidean")]


@pytest.mark.parametrize("remap", REMAPS)
@pytest.mark.parametrize("rows", [np.zeros((3, 2)), [[0.0, 1.0]], None])
def test_a_remap_given_rows_refuses_them(remap, rows):
    with pytest.raises(NotAReport) as refused:
        remap(rows)
    assert refused.value.hint


@pytest.mark.parametrize("remap", REMAPS)
def test_a_remap_is_a_function_of_the_reports_alone(remap):
    reports = MECHANISM.release(np.tile([0.0, 1.0], (40, 1)), Randomness(1).noise)
    first, again = remap(reports), remap(of(np.array(reports.values)))
    assert np.array_equal(first.values, again.values)
    assert first.mechanism is MECHANISM
    assert first.remap == remap
    assert reports.remap is None


@pytest.mark.heavy
@given(VALUES)
def test_clamping_goes_to_the_nearest_point_of_the_box_and_stays_there(values):
    clamped = clamp(BOX)(of(values))
    assert BOX.contains(clamped.values).all()
    assert np.array_equal(clamped.values, np.clip(values, BOX.low, BOX.high))
    assert np.array_equal(clamp(BOX)(clamped).values, clamped.values)


@pytest.mark.heavy
@given(VALUES, st.integers(2, 7), st.integers(2, 7))
def test_snapping_goes_to_the_nearest_of_all_nodes(values, m, k):
    axes = np.linspace(-1, 2, m), np.linspace(0, 10, k)
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    snapped = snap(BOX, (m, k))(of(values)).values
    nearest = np.linalg.norm(values[:, None] - nodes, axis=2).min(axis=1, initial=np.inf)
    assert np.linalg.norm(values - snapped, axis=1) == pytest.approx(nearest, abs=1e-9)


def test_corners_are_nodes_exactly():
    box = Box(x=(0.1, 0.7), y=(-0.3, 1.1))
    corners = snap(box, 7)(of([[9, 9], [-9, -9]], PlanarLaplace(1.0))).values
    assert corners.tolist() == [box.high.tolist(), box.low.tolist()]


def test_one_remap_may_follow_another_where_no_law_is_needed():
    both = snap(BOX, 4)(clamp(BOX)(of([[5, 5]])))
    assert both.remap(of([[5, 5]])).values.tolist() == both.values.tolist()


def test_bayes_needs_the_law_so_remapped_reports_are_refused():
    for remap in (clamp(BOX), snap(BOX, 4)):
        with pytest.raises(NotAReport, match="distribution of their noise"):
            bayes_remap()(remap(of([[5, 5]])))
    with pytest.raises(NotAReport, match="Geometric"):
        bayes_remap()(of([[5, 5]], Geometric(PureDP(1))))


@pytest.mark.heavy
@given(VALUES)
@settings(deadline=None)
def test_the_squared_loss_gives_the_posterior_mean(values):
    moved = bayes_remap((TOWNS, [1, 2, 3]))(of(values)).values
    for z, guess in zip(values, moved, strict=True):
        log_posterior = np.log([1, 2, 3]) - 1.5 * np.linalg.norm(z - TOWNS, axis=1)
        posterior = np.exp(log_posterior - log_posterior.max())
        assert guess == pytest.approx(posterior @ TOWNS / posterior.sum(), abs=1e-9)


def test_the_euclidean_loss_gives_the_point_of_least_expected_distance():
    weights, scale = np.array([0.3, 0.4, 0.3]), (1.0, 4.0)
    mechanism = PlanarLaplace(0.4, scale=scale)
    z = np.array([0.3, 6.0])
    guess = bayes_remap((TOWNS, weights), "euclidean")(of([z], mechanism)).values[0]
    posterior = weights * np.exp(-0.4 * np.linalg.norm((z - TOWNS) / scale, axis=1))

    def expected(point):
        return posterior @ np.linalg.norm((point - TOWNS) / scale, axis=1)

    best = minimize(expected, guess, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    assert expected(guess) == pytest.approx(best.fun, rel=1e-6)


def test_blocks_do_not_change_the_result(monkeypatch):
    reports = of(Randomness(2).compute.uniform(-3, 12, (500, 2)))
    whole = bayes_remap((TOWNS, [1, 1, 1]))(reports).values
    monkeypatch.setattr("shoal.mechanisms.local.laplace._remaps._MOST_POSTERIORS", 7)
    assert np.allclose(bayes_remap((TOWNS, [1, 1, 1]))(reports).values, whole, atol=1e-12)


@pytest.mark.heavy
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_a_prior_learnt_from_the_reports_brings_them_nearer_to_the_records(d):
    box = Box.of([f"x{i}" for i in range(d)], np.zeros(d), np.full(d, 6.0))
    mechanism = NDLaplace(1.0, domain=box)
    rows = np.repeat([np.full(d, 1.0), np.full(d, 5.0)], 400, axis=0)
    reports = mechanism.release(rows, Randomness(3).noise)
    before = np.square(reports.values - rows).sum(axis=1).mean()
    clamped = np.square(clamp(box)(reports).values - rows).sum(axis=1).mean()
    after = np.square(bayes_remap("em")(reports).values - rows).sum(axis=1).mean()
    assert after < 0.8 * clamped < before


@pytest.mark.heavy
@pytest.mark.parametrize("d", [1, 2, 3])
def test_many_reports_come_as_near_as_those_moved_one_by_one(d, monkeypatch):
    box = Box.of([f"x{i}" for i in range(d)], np.zeros(d), np.full(d, 6.0))
    rows = np.repeat([np.full(d, 1.0), np.full(d, 5.0)], 400, axis=0)
    reports = NDLaplace(1.0, domain=box).release(rows, Randomness(3).noise)
    one_by_one = np.square(bayes_remap("em")(reports).values - rows).sum(axis=1).mean()
    monkeypatch.setattr("shoal.mechanisms.local.laplace._prior._MANY", 0)
    moved = bayes_remap("em")(reports).values
    assert box.contains(moved).all()
    assert np.square(moved - rows).sum(axis=1).mean() < 1.02 * one_by_one


def test_without_bounds_the_lattice_of_the_prior_covers_the_reports():
    reports = PlanarLaplace(0.7).release(np.zeros((300, 2)), Randomness(4).noise)
    after = bayes_remap("em")(reports).values
    assert np.square(after).sum(axis=1).mean() < 0.2 * np.square(reports.values).sum(axis=1).mean()


def test_noise_too_small_for_a_lattice_says_that_reports_will_do():
    with pytest.raises(
        TooLarge, match="use the reports as they are", check=lambda error: error.reason == "lattice"
    ):
        bayes_remap("em")(of([[0, 1]], PlanarLaplace(500.0, domain=BOX)))


def test_one_report_and_equal_reports_are_no_trouble():
    for values in ([[0.5, 5.0]], [[0.5, 5.0]] * 20):
        for mechanism in (MECHANISM, PlanarLaplace(1.5)):
            assert np.isfinite(bayes_remap("em")(of(values, mechanism)).values).all()


def test_a_report_far_from_every_atom_goes_to_the_nearest():
    far = bayes_remap((TOWNS, [1, 1, 1]))(of([[-1.0, 20.0]], PlanarLaplace(800.0))).values
    assert far[0] == pytest.approx(TOWNS[2])


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: clamp((0, 1)), InvalidDomain),
        (lambda: snap(None, 4), InvalidDomain),
        (lambda: snap(BOX, 1), InvalidSetting),
        (lambda: snap(BOX, 2.5), InvalidSetting),
        (lambda: snap(BOX, True), InvalidSetting),
        (lambda: snap(BOX, (3, 3, 3)), InvalidSetting),
        (lambda: bayes_remap("guess"), InvalidSetting),
        (lambda: bayes_remap("em", loss="absolute"), InvalidSetting),
        (lambda: bayes_remap((TOWNS, [1, 2])), DimensionMismatch),
        (lambda: bayes_remap((TOWNS, [1, -1, 1])), InvalidSetting),
        (lambda: bayes_remap((TOWNS, [0, 0, 0])), InvalidSetting),
        (lambda: bayes_remap((TOWNS, [1, math.nan, 1])), NotFinite),
        (lambda: bayes_remap((TOWNS, [1, 1, 1]))(of([[1.0]], NDLaplace(1.0))), DimensionMismatch),
        (lambda: bayes_remap("em")(of(np.empty((0, 2)))), InvalidSetting),
    ],
)
def test_what_makes_no_remap_is_refused(make, error):
    with pytest.raises(error) as refused:
        make()
    assert refused.value.hint


def test_atoms_of_weight_zero_are_left_out():
    prior = Prior(TOWNS, [0, 1, 3])
    assert prior.atoms.tolist() == TOWNS[1:].tolist()
    assert prior.weights.tolist() == [0.25, 0.75]


def test_a_prior_that_is_an_array_is_refused_by_name():
    with pytest.raises(InvalidSetting, match="pair of points and weights"):
        bayes_remap(prior=np.zeros((3, 2)))
