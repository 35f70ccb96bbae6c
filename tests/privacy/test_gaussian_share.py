"""Gaussian releases that share one budget by their variances: what the gate and runs allow."""

from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest

from shoal.errors import (
    BudgetExceeded,
    IncomparableGuarantees,
    InvalidBudget,
    InvalidSetting,
    PromiseExceeded,
    RunChanged,
)
from shoal.mechanisms import Gaussian, Geometric, KNorm
from shoal.privacy import ApproxDP, GaussianShare, Ledger, PureDP
from shoal.randomness import Randomness

VALUE = np.zeros((2, 3), dtype=np.int64)
BUDGET = ApproxDP("0.6", 1e-6)


@pytest.fixture
def noise():
    return Randomness().noise


@pytest.fixture
def page():
    return Ledger().open(ApproxDP(1, 1e-6), by="test")


def part(fraction, budget=BUDGET):
    return Gaussian(GaussianShare.of(budget, fraction), 100)


def release(page, noise, *fractions):
    return [page.release(part(each), VALUE, noise, of="sums") for each in fractions]


def test_the_first_part_charges_the_whole_budget(page, noise):
    release(page, noise, Fraction(1, 3))
    assert page.total() == BUDGET
    assert page.gaussian_left == Fraction(2, 3)


def test_further_parts_cost_nothing_and_sum_to_one(page, noise):
    release(page, noise, *[Fraction(1, 3)] * 3)
    assert page.total() == BUDGET
    assert page.gaussian_left == 0


def test_pure_releases_before_between_and_after_add_their_epsilon(page, noise):
    for _ in range(2):
        page.release(KNorm(PureDP("0.1"), 100), VALUE, noise, of="vectors")
        release(page, noise, Fraction(1, 2))
    page.release(Geometric(PureDP("0.2")), VALUE[0], noise, of="counts")
    assert page.total() == ApproxDP(1, 1e-6)


def test_parts_beyond_one_are_refused_and_nothing_is_spent_by_it(page, noise):
    release(page, noise, Fraction(2, 3))
    with pytest.raises(PromiseExceeded, match="took 2/3 of"):
        release(page, noise, Fraction(1, 3) + Fraction(1, 10**30))
    release(page, noise, Fraction(1, 3))
    assert page.gaussian_left == 0


def test_pure_releases_do_not_take_what_the_parts_were_charged(page, noise):
    release(page, noise, Fraction(1, 100))
    with pytest.raises(PromiseExceeded):
        page.release(KNorm(PureDP("0.41"), 100), VALUE, noise, of="vectors")


def test_a_second_shared_budget_is_refused(page, noise):
    release(page, noise, Fraction(1, 2))
    with pytest.raises(PromiseExceeded, match="part of"):
        page.release(part(Fraction(1, 2), ApproxDP("0.4", 1e-9)), VALUE, noise, of="sums")


def test_a_delta_of_its_own_is_refused_after_the_first_part_only(noise):
    page = Ledger().open(ApproxDP(1, 2e-6), by="test")
    alone = Gaussian(ApproxDP("0.2", 1e-7), 100)
    page.release(alone, VALUE, noise, of="sums")
    release(page, noise, Fraction(1, 2))
    with pytest.raises(PromiseExceeded, match="a delta of its own"):
        page.release(alone, VALUE, noise, of="sums")
    assert page.total() == ApproxDP("0.8", 1.1e-6)


def test_a_budget_that_the_page_does_not_have_is_refused_before_the_draw(page, noise):
    with pytest.raises(PromiseExceeded):
        page.release(part(Fraction(1, 9), ApproxDP(2, 1e-6)), VALUE, noise, of="sums")


def test_a_pure_page_takes_no_part(noise):
    with pytest.raises(IncomparableGuarantees):
        release(Ledger().open(PureDP(1), by="test"), noise, Fraction(1, 2))


def test_a_person_s_rows_divide_the_budget_before_it_is_shared(noise):
    promise = ApproxDP(1, 1e-6, rows=2)
    page = Ledger().open(promise, by="test")
    share = part(Fraction(1, 2), page.budget)
    page.release(share, VALUE, noise, of="sums")
    assert page.total() == promise
    with pytest.raises(InvalidBudget, match="one row"):
        GaussianShare.of(promise, Fraction(1, 2))


@pytest.mark.parametrize("fraction", [0, -1, Fraction(11, 10), "a half"])
def test_only_fractions_up_to_one_are_parts(fraction):
    with pytest.raises(InvalidBudget, match="fraction above 0"):
        GaussianShare.of(BUDGET, fraction)


@pytest.mark.parametrize("budget", [PureDP(1), ApproxDP(1, 0)])
def test_only_a_budget_with_a_delta_is_shared(budget):
    with pytest.raises(InvalidBudget):
        GaussianShare.of(budget, Fraction(1, 2))


def test_parts_of_one_budget_add_and_others_do_not():
    half = GaussianShare.of(BUDGET, "0.5")
    assert (half + half).fraction == 1
    for other in (BUDGET, GaussianShare.of(ApproxDP(1, 1e-6), "0.5")):
        with pytest.raises(IncomparableGuarantees):
            half + other


def test_a_part_is_no_promise():
    with pytest.raises(InvalidSetting, match="needs a promise"):
        Ledger().open(GaussianShare.of(BUDGET, 1), by="test")


def test_a_limit_that_does_not_cover_the_delta_refuses_the_page():
    ledger = Ledger(limit=ApproxDP(3, 1e-7))
    with pytest.raises(BudgetExceeded):
        ledger.open(ApproxDP(1, 1e-6), by="test")
    assert ledger.totals() == []


def stopped_run(path, fractions):
    """Begin a run, and stop it after these parts."""
    outputs = []
    with suppress(KeyboardInterrupt), Ledger(path).resumable({"n": 1}, by="test") as ledger:
        page = ledger.open(ApproxDP(1, 1e-6), by="test")
        outputs += release(page, Randomness().noise, *fractions)
        raise KeyboardInterrupt
    return outputs


def test_a_run_that_goes_on_takes_the_same_parts_and_no_more(tmp_path):
    path, half = tmp_path / "table.ledger", Fraction(1, 2)
    (before,) = stopped_run(path, [half])
    with Ledger(path).resumable({"n": 1}, by="test") as ledger:
        page = ledger.open(ApproxDP(1, 1e-6), by="test")
        again, _ = release(page, Randomness().noise, half, half)
        assert (again == before).all()
        with pytest.raises(PromiseExceeded):
            release(page, Randomness().noise, half)
    assert Ledger(path).totals() == [ApproxDP(1, 1e-6)]


def test_a_run_that_goes_on_with_another_part_is_forgotten(tmp_path):
    path = tmp_path / "table.ledger"
    stopped_run(path, [Fraction(1, 2)])
    with Ledger(path).resumable({"n": 1}, by="test") as ledger:
        page = ledger.open(ApproxDP(1, 1e-6), by="test")
        with pytest.raises(RunChanged):
            release(page, Randomness().noise, Fraction(1, 3))
