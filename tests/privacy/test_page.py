"""The gate: check, write, then draw."""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest

from shoal.errors import (
    BudgetExceeded,
    IncomparableGuarantees,
    InvalidSetting,
    NotNumeric,
    PromiseExceeded,
    UnmarkedSimulation,
)
from shoal.mechanisms import Geometric
from shoal.privacy import KAnonymity, Ledger, LocalDP, PureDP, Unprotected
from shoal.randomness import Randomness


@dataclass
class Spy:
    """A mechanism that remembers being drawn from."""

    guarantee: object
    drawn: list = field(default_factory=list)

    def release(self, value, rng):
        self.drawn.append(value)
        return value


def noise():
    return Randomness().noise


def test_a_release_writes_the_whole_promise_once():
    ledger = Ledger()
    page = ledger.open(PureDP(1), by="test")
    for _ in range(2):
        page.release(Spy(page.budget * Fraction(1, 2)), 3, noise(), of="halves")
    assert ledger.totals() == [PureDP(1)]
    assert page.total() == PureDP(1)
    assert ledger.entries().column("what").to_pylist() == ["halves"]


def test_nothing_is_written_before_the_first_release():
    ledger = Ledger()
    page = ledger.open(PureDP(1), by="test")
    assert ledger.totals() == []
    with pytest.raises(InvalidSetting, match="Nothing was released"):
        page.total()


def test_a_swapped_budget_split_is_refused():
    """k-means at d = 10 with count and axis shares handed out the wrong way round: 1.21 for 1."""
    d, r0 = 10, Fraction(126, 100)
    page = Ledger().open(PureDP(1), by="k-means")
    count_share, axis_share = r0 / (d + r0), 1 / (d + r0)

    def spend(count, axis):
        spy = Spy(page.budget * count)
        page.release(spy, 0, noise(), of="counts")
        for _ in range(d):
            page.release(Spy(page.budget * axis), 0, noise(), of="sums")

    with pytest.raises(PromiseExceeded, match="mechanisms would have"):
        spend(count=axis_share, axis=count_share)
    page = Ledger().open(PureDP(1), by="k-means")
    spend(count=count_share, axis=axis_share)
    assert page.total() == PureDP(1)


def test_an_overdraft_draws_nothing():
    page = Ledger().open(PureDP(1), by="test")
    spy = Spy(PureDP(2))
    with pytest.raises(PromiseExceeded):
        page.release(spy, 0, noise(), of="too much")
    assert spy.drawn == []


def test_an_underspent_page_says_what_mechanisms_received():
    page = Ledger().open(PureDP(1), by="test")
    page.release(Spy(page.budget * Fraction(1, 4)), 0, noise(), of="a quarter")
    assert page.total() == PureDP("0.25")


@pytest.mark.parametrize("promise", [PureDP(1, "replace-one"), PureDP(1, rows=5)], ids=str)
def test_the_budget_is_for_one_row_and_the_total_for_the_promise(promise):
    page = Ledger().open(promise, by="test")
    assert page.budget == promise.per_row()
    page.release(Geometric(page.budget), np.zeros(3, int), noise(), of="counts")
    assert page.total() == promise


def test_over_the_limit_nothing_is_drawn_or_written():
    ledger = Ledger(limit=PureDP(1))
    first, second = (ledger.open(PureDP("0.6"), by="test") for _ in range(2))
    first.release(Spy(first.budget), 0, noise(), of="x")
    spy = Spy(second.budget)
    with pytest.raises(BudgetExceeded, match=r"needs PureDP\(epsilon=0\.6\); PureDP\(epsilon=0\.6\) of PureDP\(epsilon=1\)"):
        second.release(spy, 0, noise(), of="x")
    assert spy.drawn == []
    assert ledger.totals() == [PureDP("0.6")]
    with pytest.raises(BudgetExceeded):
        ledger.open(PureDP("0.6"), by="test")


def test_a_value_the_mechanism_cannot_take_spends_nothing():
    ledger = Ledger()
    page = ledger.open(PureDP(1), by="test")
    with pytest.raises(NotNumeric):
        page.release(Geometric(page.budget), np.array([0.5]), noise(), of="x")
    assert ledger.totals() == []


def test_other_kinds_are_refused_on_a_page():
    page = Ledger().open(PureDP(1), by="test")
    for stranger in (LocalDP(1), PureDP(1, "replace-one"), Unprotected("broken"), KAnonymity(2)):
        with pytest.raises(IncomparableGuarantees):
            page.release(Spy(stranger), 0, noise(), of="x")


def test_a_page_without_promise_lists_what_it_does_and_spends_nothing():
    ledger = Ledger(limit=PureDP(1))
    for promise in (Unprotected("plain k-means"), KAnonymity(5)):
        page = ledger.open(promise, by="test")
        page.release(Spy(promise), 0, noise(), of="x")
        assert page.total() == promise
    assert ledger.entries().column("epsilon").to_pylist() == [None, None]
    assert ledger.entries().num_rows == 2


def test_a_seeded_stream_marks_everything_a_simulation():
    ledger = Ledger()
    page = ledger.open(PureDP(1), by="test")
    page.release(Spy(page.budget), 0, Randomness(7).noise, of="x")
    assert page.total().simulation
    assert ledger.entries().column("simulation").to_pylist() == [True]
    assert ledger.totals()[0].epsilon == 1


def test_a_bare_generator_counts_as_a_simulation():
    page = Ledger().open(PureDP(1), by="test")
    page.release(Spy(page.budget), 0, np.random.default_rng(), of="x")
    assert page.total().simulation


def test_seeded_noise_cannot_slip_onto_a_page_written_as_real():
    page = Ledger().open(PureDP(1), by="test")
    page.release(Spy(page.budget * Fraction(1, 2)), 0, noise(), of="x")
    with pytest.raises(UnmarkedSimulation):
        page.release(Spy(page.budget * Fraction(1, 2)), 0, Randomness(7).noise, of="x")


def test_disjoint_parts_cost_their_dearest():
    page = Ledger().open(PureDP(1), by="test")
    page.release(Spy(page.budget * Fraction(1, 4)), 0, noise(), of="before")
    with page.parallel(of="regions") as part:
        for name, share in [("north", "1/4"), ("south", "1/2"), ("north", "1/4"), ("east", "1/8")]:
            part(name).release(Spy(page.budget * Fraction(share)), 0, noise())
    assert page.total() == PureDP("0.75")
    page.release(Spy(page.budget * Fraction(1, 4)), 0, noise(), of="after")
    assert page.total() == PureDP(1)


def test_a_part_cannot_exceed_the_promise_either():
    page = Ledger().open(PureDP(1), by="test")
    with page.parallel(of="regions") as part:
        part("north").release(Spy(page.budget * Fraction(3, 4)), 0, noise())
        page.release(Spy(page.budget * Fraction(1, 4)), 0, noise(), of="beside")
        part("south").release(Spy(page.budget * Fraction(3, 4)), 0, noise())
        with pytest.raises(PromiseExceeded):
            part("south").release(Spy(page.budget * Fraction(1, 8)), 0, noise())
    assert page.total() == PureDP(1)


def test_parts_are_declared_under_pure_dp_only():
    page = Ledger().open(LocalDP(1), by="test")
    with pytest.raises(IncomparableGuarantees), page.parallel(of="regions"):
        pass


def test_a_stranger_is_refused_in_a_part_too():
    page = Ledger().open(PureDP(1), by="test")
    with pytest.raises(IncomparableGuarantees), page.parallel(of="regions") as part:
        part("north").release(Spy(LocalDP(1)), 0, noise())
