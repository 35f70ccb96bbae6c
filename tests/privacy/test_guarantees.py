import math
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.domain import Box
from shoal.errors import (
    IncomparableGuarantees,
    InvalidBudget,
    InvalidDomain,
    InvalidSetting,
    ShoalError,
)
from shoal.privacy import (
    ApproxDP,
    KAnonymity,
    LocalDP,
    MetricDP,
    PureDP,
    Unprotected,
    guarantee_of,
)

EVERY = [
    PureDP(0.1),
    PureDP("1/3", "replace-one", rows=4),
    ApproxDP(0.1, 1e-9),
    ApproxDP("1/3", "1/3000000", "replace-one", rows=4),
    LocalDP(2),
    MetricDP(0.5, slack=1e-6, unit="km", scale=(1, 2)),
    MetricDP(0.5, scale="box"),
    KAnonymity(5, person="id", l=3, t=0.2),
    Unprotected("made up"),
]


def test_decimal_budgets_add_exactly():
    assert PureDP(0.1) + PureDP(0.2) == PureDP(0.3)
    assert sum([PureDP(0.1)] * 9, PureDP(0.1)).epsilon == 1


@pytest.mark.heavy
@given(st.integers(1, 50), st.integers(1, 1000))
def test_shares_sum_to_the_whole(parts, thousandths):
    whole = PureDP(Fraction(thousandths, 1000))
    shares = [whole * Fraction(1, parts)] * parts
    assert sum(shares[1:], shares[0]) == whole
    assert whole / parts == shares[0]


@pytest.mark.parametrize(
    "epsilon", [0, -1, math.nan, math.inf, -math.inf, "x", None, True, [1], "1/0"]
)
@pytest.mark.parametrize("kind", [PureDP, LocalDP, MetricDP, lambda e: ApproxDP(e, 1e-6)])
def test_an_epsilon_that_is_no_positive_number_is_refused(kind, epsilon):
    with pytest.raises(InvalidBudget, match="positive"):
        kind(epsilon)


def test_epsilon_has_no_default():
    with pytest.raises(TypeError, match="epsilon"):
        PureDP()


@pytest.mark.parametrize("guarantee", EVERY, ids=str)
def test_a_promise_cannot_be_changed(guarantee):
    with pytest.raises(FrozenInstanceError):
        guarantee.simulation = True


@pytest.mark.parametrize("one", EVERY, ids=str)
@pytest.mark.parametrize("other", EVERY, ids=str)
def test_only_equal_kinds_add(one, other):
    if one.kind == other.kind and hasattr(one, "epsilon"):
        assert (one + other).epsilon == one.epsilon + other.epsilon
    else:
        with pytest.raises(IncomparableGuarantees):
            one + other


def test_neighbours_and_rows_keep_promises_apart():
    for other in (PureDP(1, "replace-one"), PureDP(1, rows=2)):
        with pytest.raises(IncomparableGuarantees, match="do not add"):
            PureDP(1) + other


def test_slack_adds_with_epsilon():
    assert (MetricDP(1, slack=0.25) + MetricDP(2, slack=0.5)).slack == Fraction(3, 4)


def test_a_simulation_stays_one_in_a_sum():
    assert (PureDP(1) + PureDP(1).simulated()).simulation
    assert PureDP(1) != PureDP(1).simulated()
    assert PureDP(1).kind == PureDP(1).simulated().kind


def test_replacing_a_row_is_removing_and_adding():
    assert PureDP(1).as_replace_one() == PureDP(2, "replace-one")
    assert PureDP(2, "replace-one").as_replace_one() == PureDP(2, "replace-one")


@pytest.mark.parametrize(
    ("promise", "per_row"),
    [
        (PureDP(1), "1"),
        (PureDP(1, "replace-one"), "1/2"),
        (PureDP(1, rows=4), "1/4"),
        (PureDP(1, "replace-one", rows=4), "1/8"),
    ],
    ids=str,
)
def test_a_promise_says_what_one_row_may_cost(promise, per_row):
    assert promise.per_row() == PureDP(per_row)


def test_deltas_add_and_are_shared_with_epsilon():
    assert ApproxDP(0.1, 1e-7) + ApproxDP(0.2, 2e-7) == ApproxDP(0.3, 3e-7)
    assert ApproxDP(1, 1e-6) / 4 == ApproxDP("0.25", "0.00000025")
    assert ApproxDP(1, 1e-6) * Fraction(1, 3) == ApproxDP("1/3", "1/3000000")


def test_a_pure_promise_is_an_approximate_one_with_a_delta_of_0():
    assert PureDP(1, rows=3).as_approx() == ApproxDP(1, 0, rows=3)
    assert PureDP(1).simulated().as_approx().simulation
    with pytest.raises(IncomparableGuarantees, match="as_approx"):
        PureDP(1) + ApproxDP(1, 1e-6)


@pytest.mark.parametrize("delta", [-1e-9, 1, 1.5, math.nan, math.inf, "x", None, True])
def test_a_delta_that_is_no_chance_is_refused(delta):
    with pytest.raises(InvalidBudget, match="delta"):
        ApproxDP(1, delta)


def test_deltas_that_sum_to_certainty_are_refused():
    with pytest.raises(InvalidBudget, match="nothing would be promised"):
        ApproxDP(1, "0.6") + ApproxDP(1, "0.4")


def test_both_amounts_must_be_within_a_limit():
    limit = ApproxDP(1, 1e-6)
    assert ApproxDP(1, 1e-6).within(limit)
    assert not ApproxDP("0.5", "1.1e-6").within(limit)
    assert not ApproxDP("1.1", "1e-7").within(limit)
    assert not PureDP("0.5").within(limit)


def dearest_answer(epsilon: float, delta: float, steps: int) -> tuple[float, float]:
    """P[yes] of two tables ``steps`` rows apart, where each row takes all the promise allows."""
    there = here = 1e-3
    for _ in range(steps):
        there = math.exp(epsilon) * there + delta
    return there, here


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_a_group_of_rows_costs_what_the_steps_add_up_to(steps):
    epsilon, delta = 0.3, 1e-4
    promise = ApproxDP("0.3", "1e-4", rows=1)
    for_all = ApproxDP(1, "0.01", rows=steps).for_all_rows(promise)
    there, here = dearest_answer(epsilon, delta, steps)
    assert float(for_all.epsilon) == pytest.approx(steps * epsilon)
    promised = math.exp(for_all.epsilon) * here + float(for_all.delta)
    assert there == pytest.approx(promised, rel=1e-9)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("rows", [1, 2, 7])
def test_per_row_and_back_is_the_promise_exactly(neighbours, rows):
    promise = ApproxDP("1.7", "3e-7", neighbours, rows)
    row = promise.per_row()
    assert (row.neighbours, row.rows) == ("add-remove", 1)
    assert row.epsilon * promise.steps == promise.epsilon
    assert promise.for_all_rows(row) == promise
    assert promise.for_all_rows(row * Fraction(1, 2)).within(promise)


def test_the_delta_of_a_row_is_never_rounded_up():
    row = ApproxDP(2, "1e-6", rows=3).per_row()
    least = math.fsum(math.exp(2 * j / 3) for j in range(3))
    assert row.delta * Fraction(least) <= Fraction(1, 10**6) * (1 + Fraction(1, 10**14))
    assert float(row.delta) == pytest.approx(1e-6 / least, rel=1e-12)


def test_replacing_a_row_takes_delta_twice_the_second_time_larger():
    swapped = ApproxDP(1, "1e-6").as_replace_one()
    assert swapped.epsilon == 2
    assert float(swapped.delta) == pytest.approx(1e-6 * (1 + math.e), rel=1e-12)
    assert swapped.as_replace_one() is swapped


def test_an_epsilon_too_large_for_a_group_is_refused_by_name():
    with pytest.raises(InvalidBudget, match="several rows"):
        ApproxDP(5000, "1e-6", rows=2).per_row()
    assert ApproxDP(5000, "1e-6").per_row().delta == Fraction(1, 10**6)


def test_metric_privacy_on_a_box_is_local_privacy_of_its_diameter():
    assert MetricDP(0.5).as_local(Box(x=(0, 3), y=(0, 4))) == LocalDP("2.5")
    assert MetricDP(1, scale="box").as_local(Box.unit(4)) == LocalDP(4)
    assert MetricDP(1, "manhattan", scale=(1, 2)).as_local(Box(x=(0, 3), y=(0, 4))) == LocalDP(5)
    assert MetricDP(1, "chebyshev", slack=1).as_local(Box(x=(0, 3), y=(0, 4))) == LocalDP(5)


@pytest.mark.heavy
@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=6))
def test_a_diameter_is_never_rounded_down(sides):
    box = Box.of([f"x{i}" for i in range(len(sides))], [0.0] * len(sides), sides)
    promised = MetricDP(1).as_local(box).epsilon
    square = sum(Fraction(side) ** 2 for side in sides)
    assert square <= promised**2 <= square * (1 + Fraction(1, 2**40))


def test_kilometres_and_degrees_are_not_mixed():
    with pytest.raises(InvalidDomain, match="per km"):
        MetricDP(4, unit="km").as_local(Box(x=(0, 1)))
    city = Box.geo(latitude=(40.5, 40.9), longitude=(-74.2, -73.7))
    assert 200 < MetricDP(4, unit="km").as_local(city).epsilon < 260


@pytest.mark.parametrize("guarantee", EVERY, ids=str)
def test_a_promise_survives_being_written_down(guarantee):
    assert guarantee_of(guarantee.to_dict()) == guarantee
    assert guarantee_of(guarantee.simulated().to_dict()) == guarantee.simulated()


def test_budgets_are_written_as_exact_decimals_or_fractions():
    shown = [PureDP(e).to_dict()["epsilon"] for e in ("1", "0.25", "1/3", "1e-7", "100", "2.50")]
    assert shown == ["1", "0.25", "1/3", "0.0000001", "100", "2.5"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: PureDP(1, "nearby"),
        lambda: PureDP(1, rows=0),
        lambda: PureDP(1, rows=1.5),
        lambda: ApproxDP(1, 0, "nearby"),
        lambda: ApproxDP(1, 0, rows=0),
        lambda: MetricDP(1, "taxi"),
        lambda: MetricDP(1, ["x"]),
        lambda: MetricDP(1, slack=-1),
        lambda: MetricDP(1, slack="abc"),
        lambda: MetricDP(1, slack=math.nan),
        lambda: MetricDP(1, scale=(1, -2)),
        lambda: MetricDP(1, scale=(1, 0)),
        lambda: MetricDP(1, scale=(math.nan,)),
        lambda: MetricDP(1, scale="foo"),
        lambda: MetricDP(1, scale=3),
        lambda: KAnonymity(1),
        lambda: KAnonymity(5, l=1),
        lambda: KAnonymity(5, t=math.nan),
        lambda: Unprotected(""),
        lambda: Unprotected(None),
        lambda: guarantee_of({"kind": "PureDP", "epsilon": "1", "colour": "red"}),
        lambda: guarantee_of("PureDP"),
        lambda: guarantee_of({"kind": "Vague"}),
    ],
)
def test_settings_out_of_range_are_refused(make):
    with pytest.raises(InvalidSetting):
        make()


@pytest.mark.parametrize("share", [0, -1, "abc", math.nan, None])
def test_a_share_must_be_positive(share):
    with pytest.raises(InvalidBudget):
        PureDP(1) * share


def test_numbers_of_numpy_are_numbers():
    assert PureDP(np.float64(0.1), rows=np.int64(2)) == PureDP("0.1", rows=2)
    assert type(PureDP(1, rows=np.int64(2)).rows) is int
    assert KAnonymity(np.int64(5)) == KAnonymity(5)
    assert MetricDP(1, scale=np.array([1, 2])) == MetricDP(1, scale=(1.0, 2.0))


def test_a_scale_of_another_width_is_refused():
    with pytest.raises(InvalidDomain, match="2 columns"):
        MetricDP(1, scale=(1, 2)).as_local(Box.unit(3))


def test_errors_say_what_came_and_what_next():
    with pytest.raises(ShoalError) as caught:
        PureDP(-1)
    assert caught.value.hint
    assert str(caught.value) == f"{caught.value.message}\n{caught.value.hint}"
