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
