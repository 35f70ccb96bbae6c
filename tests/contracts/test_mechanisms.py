"""What every mechanism keeps, whatever it randomises."""

import dataclasses
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal import mechanisms
from shoal.domain import SparseCounts
from shoal.errors import InvalidBudget, ShoalError
from shoal.mechanisms.registry import REGISTRY
from shoal.privacy import Ledger
from shoal.randomness import Randomness

CASES = {name: example for entry in REGISTRY for name, example in entry.examples.items()}
PUBLIC = {
    name
    for name in mechanisms.__all__
    if hasattr(getattr(mechanisms, name), "release") and name != "Reports"
}
every = pytest.mark.parametrize(("make", "value"), CASES.values(), ids=CASES)


def flat(released: object) -> list[object]:
    """Whatever was released, as plain values."""
    if isinstance(released, dict):
        return [flat(part) for part in released.values()]
    if isinstance(released, SparseCounts):
        return [released.keys.tolist(), released.counts.tolist()]
    if isinstance(released, mechanisms.Splits):
        return [flags.tolist() for flags in released.flags]
    return np.asarray(released).tolist()


def test_every_public_mechanism_is_held_to_this():
    assert {entry.name for entry in REGISTRY} == PUBLIC


@every
def test_it_is_frozen_pickles_and_equals_its_copy(make, value):
    mechanism = make(1)
    assert dataclasses.is_dataclass(mechanism)
    with pytest.raises(dataclasses.FrozenInstanceError):
        mechanism.guarantee = None
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism


@every
def test_the_gate_passes_it_once_and_the_total_is_the_promise(make, value):
    ledger, mechanism = Ledger(), make(1)
    page = ledger.open(mechanism.guarantee, by="test")
    page.release(mechanism, value, Randomness().noise, of="x")
    assert page.total() == mechanism.guarantee == ledger.totals()[0]
    with pytest.raises(ShoalError):
        page.release(mechanism, value, Randomness().noise, of="x")


@every
def test_a_seed_repeats_it_and_real_noise_does_not(make, value):
    def runs(seed):
        noise = Randomness(seed).noise
        return [flat(make(1).release(value, noise)) for _ in range(40)]

    assert runs(3) == runs(3)
    assert runs(None) != runs(None)


@every
@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "x", None, True])
def test_a_budget_that_is_none_is_refused(make, value, epsilon):
    with pytest.raises(InvalidBudget):
        make(epsilon)


@every
@pytest.mark.parametrize("bad", ["text", object(), np.array([[1 + 2j]]), np.ma.masked_array([1.0])])
def test_a_value_it_cannot_take_is_refused_and_spends_nothing(make, value, bad):
    ledger, mechanism = Ledger(), make(1)
    page = ledger.open(mechanism.guarantee, by="test")
    with pytest.raises(ShoalError):
        page.release(mechanism, bad, Randomness().noise, of="x")
    assert ledger.totals() == []


@every
def test_the_value_is_left_as_it_was(make, value):
    before = pickle.dumps(value)
    make(1).release(value, Randomness(1).noise)
    assert pickle.dumps(value) == before


def test_public_bounds_have_one_name():
    for name in PUBLIC:
        names = {field.name for field in dataclasses.fields(getattr(mechanisms, name))}
        assert names.isdisjoint({"bounds", "box"}), name


def test_every_mechanism_has_a_proof_beside_it():
    for name in PUBLIC:
        home = Path(__import__(getattr(mechanisms, name).__module__, fromlist=["x"]).__file__)
        assert home.with_name(f"{home.stem.lstrip('_')}.proof.md").exists(), name


def test_the_facade_offers_those_of_the_guides_first_pages_only():
    assert PUBLIC & set(shoal.__all__) == {"LocalGrid", "NDLaplace"}
