import math

import numpy as np
import pytest

from shoal.audit import Case, Twin
from shoal.audit.case import Cases
from shoal.errors import InvalidSetting
from shoal.mechanisms import Geometric
from shoal.privacy import PureDP

COUNT = Geometric(PureDP(1))


def test_a_case_finds_the_same_again():
    case = Case(COUNT, (5, 6), PureDP(1), draws=4_000, about="counts 5 and 6")
    found = case.run()
    assert found == case.run()
    assert found != case.run(random_state=1)
    assert (found.draws, found.seed, found.pair) == (4_000, 0, "counts 5 and 6")
    assert found.constructed


def test_fewer_draws_and_another_alpha_may_be_asked_for():
    found = Case(COUNT, (5, 6), PureDP(1)).run(draws=1_000, alpha=0.1)
    assert (found.draws, found.alpha) == (1_000, 0.1)


def test_an_event_and_a_delta_reach_the_audit():
    case = Case(COUNT, (5, 6), 1.0, draws=4_000, event=lambda z: z[:, 0] > 5, delta=0.9)
    assert case.run().epsilon == 0
    assert "given event" in case.run().event


def test_a_twin_is_a_case_with_a_figure_to_reach():
    twin = Twin(Geometric(PureDP(3)), (5, 6), PureDP(1), at_least=2.0, draws=10_000)
    found = twin.run()
    assert found.verdict == "violated"
    assert float(found) > twin.at_least


def test_an_unknown_instrument_is_refused():
    with pytest.raises(InvalidSetting, match="'ledger'"):
        Case(COUNT, (5, 6), 1.0, instrument="dowsing").run()


def test_cases_are_made_once_and_only_when_looked_at():
    made = []

    def make():
        made.append(1)
        return {"a": Case(COUNT, (5, 6), 1.0)}

    cases = Cases(make)
    assert not made
    assert list(cases) == ["a"]
    assert cases["a"] is cases["a"]
    assert repr(cases) == "<1 cases: 'a'>"
    assert made == [1]


@pytest.mark.parametrize(
    ("handed", "verdict"), [(1.0, "consistent"), (1.212, "violated"), (0.905, "broken")]
)
def test_the_ledger_s_sum_must_be_the_promise(handed, verdict):
    found = Case(lambda n, rng: handed, None, PureDP(1), instrument="ledger", draws=1).run()
    assert (found.verdict, float(found)) == (verdict, handed)
    assert found.notes == (("0.905 of 1 were handed out",) if verdict == "broken" else ())


@pytest.mark.parametrize(("worst", "verdict"), [(0.5 + 1e-15, "consistent"), (0.51, "violated")])
def test_a_sensitivity_found_is_held_against_the_one_stated(worst, verdict):
    case = Case(lambda n, rng: worst, None, 0.5, instrument="brute force", draws=1)
    assert case.run().verdict == verdict


def exponential_law(x):
    return -np.expm1(-x)


def test_a_law_is_told_from_a_near_one():
    def case(draw):
        return Case(draw, None, None, instrument="law", score=exponential_law, draws=20_000)

    right = case(lambda n, rng: rng.exponential(1.0, n)).run(alpha=1e-6)
    wrong = case(lambda n, rng: rng.exponential(1.1, n)).run(alpha=1e-6)
    assert right.verdict == "consistent"
    assert wrong.verdict == "violated"
    assert right.claim == pytest.approx(math.sqrt(math.log(2 / 1e-6) / 2 / 20_000), rel=0.01)


def test_the_test_of_a_law_keeps_its_level():
    """At alpha = 0.1, of 200 true laws at most 20 + 4.9 s.e. may be called wrong: 1e-6."""
    case = Case(
        lambda n, rng: rng.exponential(1.0, n), None, None, instrument="law",
        score=exponential_law, draws=500,
    )  # fmt: skip
    wrong = sum(case.run(alpha=0.1, random_state=s).verdict == "violated" for s in range(200))
    assert wrong <= 20 + 4.9 * math.sqrt(200 * 0.1 * 0.9)


def test_a_measure_without_what_it_measures_against_is_refused():
    with pytest.raises(InvalidSetting, match="distribution"):
        Case(lambda n, rng: rng.random(n), None, None, instrument="law", draws=9).run()
    with pytest.raises(InvalidSetting, match="claim"):
        Case(lambda n, rng: 1.0, None, None, instrument="ledger", draws=9).run()


@pytest.mark.parametrize("instrument", ["ledger", "brute force", "law"])
def test_what_is_no_number_is_broken(instrument):
    nothing = np.full(50, np.nan) if instrument == "law" else float("nan")
    case = Case(lambda draws, rng: nothing, None, 1.0, score=lambda r: r, instrument=instrument)
    found = case.run(draws=50)
    assert found.verdict == "broken"
    assert "NaN" in found.notes
