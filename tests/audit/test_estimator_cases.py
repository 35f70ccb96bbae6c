"""The cases of the estimators cover every method, and their pairs are neighbours."""

import numpy as np
import pytest

from shoal.audit.estimator_cases import PAIRS
from shoal.audit.estimators import estimators
from shoal.audit.fits import GateNumbers
from shoal.cluster.settings import Method as KMeansMethod
from shoal.cluster.wave.settings import Method as WaveMethod
from shoal.cluster.wave.settings import Selector
from shoal.privacy import PureDP


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_differs_by_one_row(name):
    without, more = PAIRS[name]
    assert len(more) == len(without) + 1
    assert np.array_equal(more[:-1], without)


def test_every_method_of_every_estimator_has_a_case():
    for method in KMeansMethod.__args__:
        assert f"PrivateKMeans, {method}" in estimators
    for method in WaveMethod.__args__:
        assert f"WaveCluster, {method}" in estimators
    for selector in set(Selector.__args__) - {"auto"}:  # which is what "block" takes
        assert f"WaveCluster, {selector}, fitted" in estimators
    for synopsis in ("UniformGrid", "AdaptiveGrid", "PrivTree"):
        assert {synopsis, f"{synopsis}, fitted"} <= set(estimators)


@pytest.mark.parametrize("name", estimators)
def test_a_case_is_held_against_what_its_estimator_promises(name):
    case = estimators[name]
    assert case.claim == PureDP(1)
    assert len(case.pair[1]) == len(case.pair[0]) + 1
    assert case.draws >= 1_000


@pytest.mark.parametrize(("name", "releases"), [("auto, its steps", 4), ("hybrid, its step", 3)])
def test_cases_of_steps_take_them(name, releases):
    case = estimators[f"PrivateKMeans, {name}, fitted"]
    gate = GateNumbers(case.mechanism.draw.model, 9)
    lengths = gate(case.pair[1], 1, np.random.default_rng(1)).reshape(9, -1)[:, 0]
    assert np.count_nonzero(lengths > 0) == releases


def test_what_leaves_the_gate_is_audited_on_ten_thousand_fits():
    assert sum(case.draws == 10_000 for case in estimators.values()) == 17
