import numpy as np
import pytest

from shoal.audit.bound._pairs import (
    are_equal,
    check_pair,
    check_row_pair,
    delta_of,
    describe_pair,
    epsilon_of,
    epsilon_of_pair,
)
from shoal.domain import Box
from shoal.errors import InvalidSetting
from shoal.mechanisms import Geometric, NDLaplace, RandomizedResponse, Restrict
from shoal.privacy import ApproxDP, KAnonymity, LocalDP, MetricDP, PureDP, Unprotected


def test_metric_claims_grow_with_the_distance_in_scaled_units():
    noise = NDLaplace(2.0, scale=(10.0, 5.0))
    slack = float(noise.guarantee.slack)
    claimed = epsilon_of_pair(noise.guarantee, noise, ([0, 0], [30, 20]))
    assert claimed == pytest.approx(2 * 5 + slack)
    bare = MetricDP(2, scale=(10, 5), slack="0.001")
    assert epsilon_of_pair(bare, lambda x: x, ([0, 0], [30, 20])) == pytest.approx(10.001)
    assert epsilon_of_pair(MetricDP(1, "manhattan"), None, ([0, 0], [3, 4])) == 7
    assert epsilon_of_pair(MetricDP(1, "chebyshev"), None, ([0, 0], [3, 4])) == 4
    assert epsilon_of_pair(MetricDP(3), None, (1.0, 2.5)) == 4.5


def test_a_restricted_mechanism_measures_as_its_noise_does():
    box = Box(x=(0, 8), y=(0, 8))
    made = Restrict(NDLaplace(1.0, domain=box, scale="box"))
    claimed = epsilon_of_pair(made.guarantee, made, ([0, 0], [4, 0]))
    assert claimed == pytest.approx(1 + float(made.guarantee.slack))


def test_kilometres_need_a_mechanism_that_knows_them():
    with pytest.raises(InvalidSetting, match="not known here"):
        epsilon_of_pair(MetricDP(1, unit="km"), None, ([0, 0], [1, 1]))


@pytest.mark.parametrize(
    ("claim", "epsilon"),
    [(PureDP(2), 2), (LocalDP(2), 2), (ApproxDP(2, 1e-6), 2), (3, 3), (np.float64(0.5), 0.5),
     (None, None), (Unprotected("a twin"), None)],
)  # fmt: skip
def test_other_claims_are_the_same_for_every_pair(claim, epsilon):
    assert epsilon_of(claim) == epsilon_of_pair(claim, None, (0, 1)) == epsilon


@pytest.mark.parametrize("claim", [MetricDP(1), KAnonymity(5), float("nan"), -1, "1", True])
def test_what_is_no_bound_by_itself_is_refused(claim):
    with pytest.raises(InvalidSetting):
        epsilon_of(claim)


def test_an_approximate_claim_brings_its_delta():
    assert delta_of(ApproxDP(1, "0.01"), 0) == 0.01
    assert delta_of(ApproxDP(1, "0.01"), 0.5) == 0.5
    assert delta_of(PureDP(1), 0.2) == 0.2


@pytest.mark.parametrize(
    ("mechanism", "pair"),
    [
        (len, (3, 3)),
        (len, ([1, 2], np.array([1, 2]))),
        (len, ({"a": [1]}, {"a": [1]})),
        (len, ([[1], [2, 3]], [[1], [2, 3]])),
        (len, (3, 3, 4)),
        (len, 3),
        (RandomizedResponse(1, 8), (0, 8)),
        (NDLaplace(1.0, domain=Box.unit(2)), ([0, 0], [0, 2])),
        (NDLaplace(1.0, domain=Box.unit(2)), ([0, 0], [0, 1, 0])),
        (Geometric(PureDP(1)), (0.5, 1)),
    ],
)
def test_equal_or_foreign_inputs_are_refused(mechanism, pair):
    with pytest.raises(InvalidSetting, check=lambda error: error.setting == "pair"):
        check_pair(pair, mechanism)


def test_the_error_quotes_no_input():
    with pytest.raises(InvalidSetting, check=lambda error: error.setting == "pair") as refused:
        check_pair(([0.0], [417.0]), NDLaplace(1.0, domain=Box.unit(1)))
    assert "417" not in str(refused.value)


def test_different_inputs_of_any_kind_pass():
    assert check_pair((1, 2), len) == (1, 2)
    assert not are_equal({"a": 1}, {"b": 1})
    assert not are_equal(object(), object())
    assert not are_equal([[1], [2, 3]], [[1], [2, 4]])


def test_inputs_of_others_are_not_kept():
    assert describe_pair((417, 418), constructed=False) == "given by the caller, not kept"
    assert describe_pair((417, 418), constructed=True) == "417 against 418"
    assert describe_pair((417, 418), constructed="two ends") == "two ends"
    long = np.arange(500)
    assert describe_pair((long, long), constructed=True) == "a ndarray against a ndarray"


def test_a_claim_in_other_units_than_the_mechanism_s_keeps_its_own():
    noise = NDLaplace(1.0, scale=(2.0, 2.0))
    pair = [0.0, 0.0], [2.0, 0.0]
    assert epsilon_of_pair(MetricDP(1), noise, pair) == 2
    assert epsilon_of_pair(noise.guarantee, noise, pair) == pytest.approx(
        1 + float(noise.guarantee.slack)
    )


@pytest.mark.parametrize(("metric", "far"), [("euclidean", 5), ("manhattan", 7), ("chebyshev", 4)])
def test_tables_are_as_far_apart_as_the_people_who_differ(metric, far):
    table = np.zeros((3, 2))
    moved = table.copy()
    moved[1] = 3, 4
    claim = MetricDP(1, metric, slack="0.5")
    assert epsilon_of_pair(claim, None, (table, moved)) == far + 0.5
    moved[2] = 3, 4
    assert epsilon_of_pair(claim, None, (table, moved)) == 2 * (far + 0.5)
    with pytest.raises(
        InvalidSetting, match="the same shape", check=lambda error: error.setting == "pair"
    ):
        epsilon_of_pair(claim, None, (table, table[:2]))


def test_a_promise_about_replaced_rows_compares_tables_of_one_size():
    table, replaced = np.zeros((3, 2)), np.ones((3, 2))
    promise = PureDP(1, neighbours="replace-one")
    with pytest.raises(
        InvalidSetting, match="3 and 2 rows", check=lambda error: error.setting == "pair"
    ):
        check_row_pair(promise, (table, table[:2]))
    assert check_row_pair(promise, (table, replaced)) == ()


def test_a_replaced_row_under_an_add_remove_promise_is_noted():
    table = np.zeros((3, 2))
    assert "2 epsilon" in check_row_pair(PureDP(1), (table, table + 1))[0]
    assert check_row_pair(PureDP(1), (table, table[:2])) == ()
    assert check_row_pair(PureDP(1), (3, 4)) == check_row_pair(1.0, (table, table + 1)) == ()
    assert check_row_pair(LocalDP(1), (table, table + 1)) == ()
