"""Three rounds, one report a person."""

from dataclasses import replace

import numpy as np
import pytest

from shoal.cluster.local._rounds import LocalRounds
from shoal.domain import Box
from shoal.errors import InvalidBudget, InvalidSetting, NotAReport
from shoal.mechanisms import LocalGrid, Reports
from shoal.mechanisms.local.categories._residual_sign import ResidualSign
from shoal.privacy import LocalDP
from shoal.randomness import Randomness

BOX = Box.of(list("abcd"), [-1.0] * 4, [1.0] * 4)
MEANS = np.array([[-0.5, -0.4, 0.5, 0.1], [0.5, 0.35, -0.4, -0.15], [0.3, -0.6, 0.2, 0.6]])


_PLAN = {"n_clusters": 3, "epsilon": 2, "n_expected": 60_000, "cells": 5}


def people(n: int = 60_000) -> np.ndarray:
    rng = np.random.default_rng(0)
    return MEANS[rng.integers(0, 3, n)] + 0.05 * rng.normal(size=(n, 4))


def plan(**settings) -> LocalRounds:
    return LocalRounds(BOX, **(_PLAN | settings))


@pytest.fixture(scope="module")
def states():
    rows, state, found = people(), plan(), []
    groups = state.groups(len(rows), Randomness(3).noise)
    while state.mechanism is not None:
        reports = state.mechanism.release(rows[groups == state.round], Randomness(4).noise)
        state = state.advance(reports, 7)
        found.append(state)
    return found


def error(state: LocalRounds) -> float:
    centers = state.cluster_centers
    return max(np.linalg.norm(centers - mean, axis=1).min() for mean in MEANS)


def test_everybody_is_in_one_round_half_of_them_in_the_first():
    groups = plan().groups(100_000, Randomness(1).noise)
    shares = np.bincount(groups, minlength=3) / 100_000
    assert np.abs(shares - [0.5, 0.25, 0.25]).max() < 0.01  # over six standard errors


@pytest.mark.heavy
def test_rounds_bring_centres_nearer(states):
    assert error(states[-1]) < 0.05
    assert error(states[-1]) < error(states[0]) + 0.01


def test_later_rounds_ask_about_published_centres(states):
    assert isinstance(plan().mechanism, LocalGrid)
    first, second = states[0].mechanism, states[1].mechanism
    assert isinstance(first, ResidualSign)
    assert first.centers == states[0].centers != second.centers
    assert second.reach < first.reach
    assert states[2].mechanism is None


@pytest.mark.heavy
def test_the_promise_is_that_of_one_report(states):
    assert plan().guarantee == LocalDP(2)
    for state in states[:2]:
        assert state.mechanism.guarantee == LocalDP(2)


def test_a_state_takes_no_reports_but_its_own(states):
    stale = plan().mechanism.release(people(50), Randomness(1).noise)
    for state in states:
        with pytest.raises(NotAReport):
            state.advance(stale)
    with pytest.raises(NotAReport):
        plan().advance(Reports(np.array([0]), plan(epsilon=1).mechanism))


def test_a_round_without_reports_leaves_the_centres(states):
    nobody = states[0].mechanism.release(np.empty((0, 4)), Randomness(1).noise)
    np.testing.assert_allclose(states[0].advance(nobody).cluster_centers, states[0].cluster_centers)


def test_spare_centres_are_published_once(states):
    assert [len(state.centers) for state in states] == [5, 3, 3]
    assert [len(state.cluster_centers) for state in states] == [3, 3, 3]


def test_a_cluster_that_the_first_round_missed_is_found_by_a_spare_centre():
    """Two of the first three centres are on one cluster; a spare one is near another."""
    near = np.array([*MEANS[:2], MEANS[0] + 0.05, MEANS[2] + 0.1, [0.9, 0.9, 0.9, 0.9]])
    state = replace(plan(), round=1, centers=tuple(map(tuple, near)))
    assert error(state) > 0.5
    heard = state.advance(state.mechanism.release(people(20_000), Randomness(4).noise), 7)
    assert error(heard) < 0.15


def test_spare_centres_without_people_are_dropped():
    near = np.array([*MEANS, [0.9, 0.9, 0.9, 0.9], [-0.9, 0.9, -0.9, 0.9]])
    state = replace(plan(), round=1, centers=tuple(map(tuple, near)))
    heard = state.advance(state.mechanism.release(people(20_000), Randomness(4).noise), 7)
    assert np.abs(heard.cluster_centers - MEANS).max() < 0.1


@pytest.mark.heavy
def test_simulated_rounds_find_the_centres():
    state = plan().simulate(people(), random_state=1)
    assert state.round == 3
    assert error(state) < 0.06
    assert state == plan().simulate(people(), random_state=1)


@pytest.mark.heavy
def test_few_and_equal_people_give_centres_in_the_box():
    state = plan(n_expected=60).simulate(np.full((60, 4), 0.3), random_state=1)
    assert np.all(BOX.contains(state.cluster_centers))


@pytest.mark.parametrize(
    ("wrong", "settings"),
    [
        (InvalidBudget, {"epsilon": 0}),
        (InvalidSetting, {"n_clusters": 0}),
        (InvalidSetting, {"n_expected": 0.5}),
        (InvalidSetting, {"n_expected": None}),
    ],
)
def test_settings_that_are_none_are_refused(wrong, settings):
    with pytest.raises(wrong):
        plan(**settings)
