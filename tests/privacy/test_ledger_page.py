"""The gate: check, write, then draw."""

import copy
import os
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest

from shoal.errors import (
    BudgetExceeded,
    IncomparableGuarantees,
    InvalidSetting,
    NotNumeric,
    PageMisused,
    PromiseExceeded,
)
from shoal.mechanisms import Gaussian, Geometric, KNorm
from shoal.privacy import ApproxDP, KAnonymity, Ledger, LocalDP, MetricDP, PureDP, Unprotected
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


def test_a_page_that_names_the_whole_says_so_in_the_ledger():
    ledger = Ledger()
    page = ledger.open(PureDP(1), by="test", of="4 groups")
    for part in ("number of rows", "cell counts"):
        page.release(Spy(page.budget * Fraction(1, 2)), 3, noise(), of=part)
    assert ledger.entries().column("what").to_pylist() == ["4 groups"]


@pytest.mark.parametrize("of", ["", "  ", 4])
def test_a_whole_that_is_no_text_is_refused(of):
    with pytest.raises(InvalidSetting, match="of must be non-empty text"):
        Ledger().open(PureDP(1), by="test", of=of)


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

    with pytest.raises(PromiseExceeded, match="mechanisms would use"):
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


def test_pure_and_approximate_mechanisms_share_a_page():
    ledger = Ledger()
    page = ledger.open(ApproxDP(1, 1e-6), by="test")
    half = page.budget / 2
    page.release(Geometric(PureDP(half.epsilon)), np.zeros(3, int), noise(), of="counts")
    assert page.total() == ApproxDP("0.5", 0)
    page.release(Gaussian(ApproxDP(half.epsilon, 1e-6), 9), np.zeros(3, int), noise(), of="sums")
    assert page.total() == ApproxDP(1, 1e-6) == ledger.totals()[0]
    with pytest.raises(PromiseExceeded):
        page.release(KNorm(PureDP("0.001"), 1), np.zeros(3, int), noise(), of="more")


def test_a_delta_spent_twice_is_refused():
    page = Ledger().open(ApproxDP(1, 1e-6), by="test")
    share = ApproxDP("0.1", 1e-6)
    page.release(Spy(share), 0, noise(), of="x")
    with pytest.raises(PromiseExceeded, match="delta"):
        page.release(Spy(share), 0, noise(), of="x")


@pytest.mark.parametrize(
    "made", [ApproxDP("0.1", 1e-9), ApproxDP("0.1", 0), LocalDP("0.1")], ids=str
)
def test_an_approximate_mechanism_is_refused_on_a_pure_page(made):
    page = Ledger().open(PureDP(1), by="test")
    with pytest.raises(IncomparableGuarantees):
        page.release(Spy(made), 0, noise(), of="x")


def test_a_pure_mechanism_for_other_neighbours_is_refused_on_an_approximate_page():
    page = Ledger().open(ApproxDP(1, 1e-6, "replace-one"), by="test")
    with pytest.raises(IncomparableGuarantees):
        page.release(Spy(PureDP("0.1", "replace-one")), 0, noise(), of="x")


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_an_approximate_page_of_several_rows_totals_its_promise(neighbours):
    promise = ApproxDP(1, 1e-6, neighbours, rows=3)
    page = Ledger().open(promise, by="test")
    page.release(Gaussian(page.budget, 5), np.zeros(3, int), noise(), of="sums")
    assert page.total() == promise


def test_a_limit_on_approximate_promises_holds_for_both_amounts():
    ledger = Ledger(limit=ApproxDP(5, 2e-6))
    for _ in range(2):
        page = ledger.open(ApproxDP(1, 1e-6), by="test")
        page.release(Spy(page.budget), 0, noise(), of="x")
    with pytest.raises(BudgetExceeded):
        ledger.open(ApproxDP(1, 1e-9), by="test")
    with pytest.raises(BudgetExceeded, match="covers no promise of the kind"):
        ledger.open(PureDP(1), by="test")


def test_over_the_limit_nothing_is_drawn_or_written():
    ledger = Ledger(limit=PureDP(1))
    first, second = (ledger.open(PureDP("0.6"), by="test") for _ in range(2))
    first.release(Spy(first.budget), 0, noise(), of="x")
    spy = Spy(second.budget)
    with pytest.raises(
        BudgetExceeded,
        match=r"needs PureDP\(epsilon=0\.6\); PureDP\(epsilon=0\.6\) of PureDP\(epsilon=1\)",
    ):
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
    with pytest.raises(PageMisused, check=lambda error: error.reason == "simulation"):
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


@pytest.mark.parametrize("stranger", [LocalDP(1), PureDP(1, "replace-one"), PureDP(1, rows=50)])
def test_a_stranger_is_refused_in_a_part_too(stranger):
    page = Ledger().open(PureDP(1), by="test")
    with page.parallel(of="regions") as part:
        part("north").release(Spy(PureDP(1)), 0, noise())
        with pytest.raises(IncomparableGuarantees):
            part("south").release(Spy(stranger), 0, noise())


def test_parts_that_print_alike_are_one_part():
    """NaN is an ordinary group key, and not equal to itself."""
    page = Ledger().open(PureDP(1), by="test")
    with page.parallel(of="regions") as part:
        part(float("nan")).release(Spy(PureDP(1)), 0, noise())
        with pytest.raises(PromiseExceeded):
            part(float("nan")).release(Spy(PureDP(1)), 0, noise())


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_page_is_not_copied(again):
    with pytest.raises(
        PageMisused, match="spend what is left", check=lambda error: error.reason == "copied"
    ):
        again(Ledger().open(PureDP(1), by="test"))


@pytest.mark.heavy
def test_a_page_is_not_used_in_another_process():
    page = Ledger().open(PureDP(1), by="test")
    page.release(Spy(page.budget * Fraction(1, 2)), 0, noise(), of="half")
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            page.release(Spy(page.budget * Fraction(1, 2)), 0, noise(), of="half")
        except PageMisused:
            os.write(writing, b"refused")
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    assert os.read(reading, 100) == b"refused"


def test_threads_share_a_page_without_overspending():
    page = Ledger().open(PureDP(1), by="test")
    share = page.budget * Fraction(1, 10)

    def release(_):
        try:
            return page.release(Slow(share), 1, noise(), of="tenths")
        except PromiseExceeded:
            return 0

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(release, range(40))) == 10
    assert page.total() == PureDP(1)


class Slow(Spy):
    def check(self, value):
        time.sleep(0.005)


@pytest.mark.parametrize("rng", [Randomness(), None, 7, np.random.RandomState(1)])
def test_something_else_than_a_stream_of_noise_spends_nothing(rng):
    ledger = Ledger()
    page = ledger.open(PureDP(1), by="test")
    with pytest.raises(InvalidSetting, match=r"rng\.noise"):
        page.release(Spy(page.budget), 0, rng, of="x")
    assert ledger.totals() == []


@pytest.mark.parametrize("word", ["", " ", None, 5])
def test_words_for_the_ledger_must_be_words(word):
    with pytest.raises(InvalidSetting, match="non-empty text"):
        Ledger().open(PureDP(1), by=word)
    page = Ledger().open(PureDP(1), by="test")
    with pytest.raises(InvalidSetting, match="non-empty text"):
        page.release(Spy(page.budget), 0, noise(), of=word)


def test_odd_characters_are_written_as_something(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    page = ledger.open(PureDP(1), by="\ud800")
    page.release(Spy(page.budget), 0, noise(), of="\ud800 counts")
    assert ledger.entries().column("what").to_pylist() == ["? counts"]


def test_slack_is_totalled_as_it_was_received():
    page = Ledger().open(MetricDP(1, slack=1), by="test")
    page.release(Spy(MetricDP(0.5, slack=1)), 0, noise(), of="reports")
    assert page.total() == MetricDP(0.5, slack=1)


def test_a_mechanism_that_says_it_simulates_marks_the_total():
    page = Ledger().open(PureDP(1), by="test")
    page.release(Spy(page.budget.simulated()), 0, noise(), of="x")
    assert page.total().simulation


def test_releases_of_a_block_are_charged_to_an_entry_of_their_own():
    ledger = Ledger()
    page = ledger.open(ApproxDP(1, "1e-6"), by="test", of="the whole")
    with page.entry(Fraction(1, 10), of="a check"):
        page.release(Spy(PureDP("0.1")), 1, noise(), of="first")
    assert ledger.totals() == [ApproxDP("0.1", 0)] == [page.total()]
    page.release(Spy(ApproxDP("0.9", "1e-6")), 1, noise(), of="second")
    assert ledger.entries()["what"].to_pylist() == ["a check", "the whole"]
    assert ledger.totals() == [ApproxDP(1, "1e-6")] == [page.total()]


def test_an_entry_and_what_follows_are_held_against_their_parts():
    page = Ledger().open(PureDP(1), by="test")
    with page.entry(Fraction(1, 10), of="a check"), pytest.raises(PromiseExceeded):
        page.release(Spy(PureDP("0.2")), 1, noise(), of="first")
    with page.entry(Fraction(1, 10), of="a check"):
        page.release(Spy(PureDP("0.05")), 1, noise(), of="first")
    with pytest.raises(PromiseExceeded):
        page.release(Spy(PureDP("0.95")), 1, noise(), of="second")
    page.release(Spy(PureDP("0.9")), 1, noise(), of="second")


def test_an_entry_without_a_release_costs_nothing_and_a_late_one_changes_nothing():
    ledger = Ledger()
    page = ledger.open(PureDP(1), by="test")
    with page.entry(Fraction(1, 10), of="a check"):
        pass
    page.release(Spy(PureDP("0.5")), 1, noise(), of="first")
    with page.entry(Fraction(1, 10), of="a check"):
        page.release(Spy(PureDP("0.5")), 1, noise(), of="second")
    assert ledger.entries()["epsilon"].to_pylist() == ["1"]


def test_a_limit_is_held_against_all_that_a_page_may_still_need():
    ledger = Ledger(limit=PureDP(1))
    page = ledger.open(PureDP(1), by="test")
    ledger.open(PureDP("0.5"), by="other").release(Spy(PureDP("0.5")), 1, noise(), of="x")
    with page.entry(Fraction(1, 10), of="a check"), pytest.raises(BudgetExceeded):
        page.release(Spy(PureDP("0.1")), 1, noise(), of="first")
    assert ledger.totals() == [PureDP("0.5")]


def test_a_limit_that_another_spender_reached_meanwhile_says_what_is_spent():
    ledger = Ledger(limit=PureDP(2))
    page = ledger.open(PureDP(1), by="test")
    with page.entry(Fraction(1, 10), of="a check"):
        page.release(Spy(PureDP("0.1")), 1, noise(), of="first")
    ledger.open(PureDP("1.5"), by="other").release(Spy(PureDP("1.5")), 1, noise(), of="x")
    with pytest.raises(BudgetExceeded, match=r"PureDP\(epsilon=0.1\) of this release is spent"):
        page.release(Spy(PureDP("0.9")), 1, noise(), of="second")
    assert page.total() == PureDP("0.1")
