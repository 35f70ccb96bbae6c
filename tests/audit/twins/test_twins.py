"""The mapping of broken forms: what it must hold, what each says, and that the gate refuses all."""

import subprocess
import sys

import numpy as np
import pytest

from shoal import Ledger, LocalDP, PureDP
from shoal.audit import Twin
from shoal.audit.twins import _flawed_mechanisms as flawed_mechanisms
from shoal.audit.twins import twins
from shoal.audit.twins._base import BrokenMechanism
from shoal.errors import IncomparableGuarantees
from shoal.randomness import Randomness

NAMED = [  # every form that was ever found and written down; none may be lost
    "2-D angle in a quarter circle",
    "3-D polar angle uniform",
    "3-D angles swapped, first axis",
    "3-D angles swapped, second axis",
    "3-D angles swapped, third axis",
    "unit vector read as angles, d = 7, first axis",
    "unit vector read as angles, d = 7, last axis",
    "unit vector read as angles, d = 10, first axis",
    "unit vector read as angles, d = 10, last axis",
    "Gamma shape 1 at d = 2",
    "Gamma shape 2 at d = 3",
    "Gamma shape 6 at d = 7",
    "Gaussian noise of equal variance, distance 1",
    "Gaussian noise of equal variance, distance 3",
    "resample until inside, distance 1",
    "resample until inside, distance 0.5",
    "grid from the rows, inner person",
    "grid from the rows, extreme person",
    "union with the true rows, extreme person",
    "remap around the true row, inner person",
    "remap around the true row, extreme person",
    "Piecewise, epsilon on every column, d = 2",
    "Piecewise, epsilon on every column, d = 3",
    "Piecewise, epsilon on every column, d = 4",
    "Duchi with ties in both halves, d = 2",
    "Duchi with ties in both halves, d = 4",
    "unary encoding with p = e/(e+1), q = 1 - p",
    "randomised response with p = e/(e+1), k = 8",
    "Staircase sold as MetricDP",
    "Laplace noise on raw floats",
    "Piecewise on raw floats",
    "memo per value",
    "add-remove counts sold as replace-one",
    "sparse grid without false cells",
    "cells listed in the order drawn",
    "PrivTHREM up to the true maximum, epsilon 0.3",
    "PrivTHREM up to the true maximum, epsilon 1",
    "PrivTHREM without interval lengths",
    "threshold averaged over ten draws",
    "empty coefficients charged as one",
    "Haar with mirrored edges",
    "box from the rows",
    "split the wrong way round, d = 10",
    "accountant copied with its estimator",
    "Lloyd that skips empty clusters",
    "one seed for count and sum noise",
    "sums with the width of the box as sensitivity",
    "exact number of rows in a threshold",
    "rows kept by their place",
    "loss of the true rows on the model",
    "true cluster label sent each round",
    "rounds not counted",
    "a string that hops between slots",
    "a bit that is never cleared",
    "ten runs averaged",
    "exemplars that are rows",
    "epsilon a bit claimed for a vector",
    "exponential mechanism, normaliser forgotten",
]
FORMS = {name: twin for name, twin in twins.items() if isinstance(twin.mechanism, BrokenMechanism)}


SOUND = """
import sys
import shoal, shoal.audit, shoal.cli.inputs._audit_cases
def loaded():
    return sorted(name for name in sys.modules if name.startswith("shoal.audit.twins"))
assert loaded() == [], loaded()
from shoal.cli._main import app
try:
    app(["audit", "Harmony", "--draws", "2000", "--json"])
except SystemExit as stopped:
    assert stopped.code == 0, stopped.code
assert loaded() == [], loaded()
"""


def test_no_twin_is_loaded_unless_one_is_named():
    run = [sys.executable, "-c", SOUND]
    done = subprocess.run(run, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_no_form_is_lost():
    assert not set(NAMED) - set(twins)


@pytest.mark.parametrize("name", twins)
def test_a_twin_says_who_erred_what_was_claimed_and_what_must_be_found(name):
    twin = twins[name]
    assert isinstance(twin, Twin)
    assert twin.claim is not None
    assert twin.at_least > 0
    assert len(twin.about) > 60


def test_instruments_are_those_the_faults_need():
    others = {name: twin.instrument for name, twin in twins.items()} | {}
    assert others["Gamma shape 6 at d = 7"] == "law"
    assert others["Haar with mirrored edges"] == "brute force"
    assert others["PrivTHREM without interval lengths"] == "brute force"
    for name in ("threshold averaged over ten draws", "split the wrong way round, d = 10"):
        assert others[name] == "ledger"


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("promise", [PureDP(1), LocalDP(1)])
def test_the_gate_refuses_a_twin_on_a_page_with_a_promise(name, promise):
    ledger, twin = Ledger(), FORMS[name]
    with pytest.raises(IncomparableGuarantees):
        ledger.open(promise, by="test").release(
            twin.mechanism, twin.pair[0], Randomness(1).noise, of="rows"
        )
    assert ledger.totals() == []


@pytest.mark.parametrize("name", FORMS)
def test_a_twin_draws_one_output_or_many(name):
    twin, rng = FORMS[name], Randomness(1).noise
    assert len(twin.mechanism.draw(twin.pair[1], 7, rng)) == 7
    assert len(twin.mechanism.release(twin.pair[0], rng)) == 1


def test_every_flawed_mechanism_is_reached_by_a_twin():
    reasons = {twin.mechanism.reason for twin in FORMS.values()}
    flawed = {kind.reason for name, kind in vars(flawed_mechanisms).items() if name[:6] == "Flawed"}
    assert len(flawed) > 5
    assert flawed <= reasons


def test_twins_are_looked_up_like_any_mapping():
    assert len(twins) == len(list(twins)) >= len(NAMED)
    assert "no such form" not in twins
    assert str(len(twins)) in repr(twins)
    with pytest.raises(KeyError):
        twins["no such form"]


@pytest.mark.parametrize("name", ["3-D polar angle uniform", "Gamma shape 1 at d = 2"])
def test_scores_are_log_likelihood_ratios(name):
    """P(E) under the first input is the mean of e^score over E under the second; s.e. 0.01."""
    twin, rng = twins[name], np.random.default_rng(1)
    A, B = (twin.mechanism.draw(x, 100_000, rng) for x in twin.pair)
    a, b = twin.score(A), twin.score(B)
    for low, high in ((-3, 0), (0, 1), (1, 3)):
        weighed = np.mean(np.where((b > low) & (b < high), np.exp(b), 0))
        assert np.mean((a > low) & (a < high)) == pytest.approx(weighed, abs=0.02)


def test_swapped_angles_have_the_score_of_their_own_density():
    twin, rng = twins["3-D angles swapped, first axis"], np.random.default_rng(1)
    A, B = (twin.score(twin.mechanism.draw(x, 100_000, rng)) for x in twin.pair)
    weighed = np.mean(np.where((B > -2) & (B < 2), np.exp(B), 0))
    assert np.mean((A > -2) & (A < 2)) == pytest.approx(weighed, abs=0.02)
