import math

import numpy as np
import pytest

from shoal.audit.membership._ceiling import ceiling_of
from shoal.errors import InvalidSetting
from shoal.privacy import KAnonymity, LocalDP, MetricDP, PureDP, Unprotected
from shoal.privacy.guarantees import ApproxDP


@pytest.mark.parametrize(
    ("epsilon", "advantage"), [("0.1", 0.05), ("0.5", 0.245), (1, 0.462), (2, 0.762), (5, 0.987)]
)
def test_someone_in_or_out_is_found_at_most_that_well(epsilon, advantage):
    assert ceiling_of(PureDP(epsilon), "own coin").advantage == pytest.approx(advantage, abs=5e-4)


def test_who_is_swapped_takes_two_steps_of_an_add_remove_promise():
    assert ceiling_of(PureDP(1), "swap").advantage == pytest.approx(math.tanh(1))


@pytest.mark.parametrize("guarantee", [LocalDP(1), PureDP(1, neighbours="replace-one")])
def test_a_promise_about_values_covers_a_swap_in_one_step(guarantee):
    assert ceiling_of(guarantee, "swap").advantage == pytest.approx(math.tanh(0.5))


@pytest.mark.parametrize(
    "guarantee", [LocalDP(1), MetricDP(1), PureDP(1, neighbours="replace-one")]
)
def test_a_promise_about_values_does_not_cover_taking_part(guarantee):
    found = ceiling_of(guarantee, "own coin")
    assert found.advantage is None
    assert "taking part" in str(found)


def test_distance_counts_under_a_metric_and_so_does_the_slack():
    found = ceiling_of(MetricDP(2, slack="0.5"), "swap", distance=0.25)
    assert found.epsilon == 1
    assert ceiling_of(MetricDP(2), "swap").advantage is None  # how far apart is not known


def test_reports_of_one_record_add_up():
    assert ceiling_of(LocalDP(1), "swap", reports=3).epsilon == 3


def test_delta_adds_to_it_and_grows_in_two_steps():
    one = ceiling_of(ApproxDP(1, 0.01), "own coin")
    assert one.advantage == pytest.approx((math.e - 1 + 0.02) / (math.e + 1))
    two = ceiling_of(ApproxDP(1, 0.01), "swap")
    assert two.delta == pytest.approx(0.01 * (1 + math.e))


def test_what_is_seen_beyond_the_promise_leaves_no_ceiling():
    found = ceiling_of(PureDP(1), "swap", uncovered="labels unprotected")
    assert str(found) == "no ceiling: labels unprotected"
    assert found.tpr([0.5]) is None


@pytest.mark.parametrize("guarantee", [None, Unprotected("no noise"), KAnonymity(5)])
def test_no_bound_on_odds_is_no_ceiling(guarantee):
    assert ceiling_of(guarantee, "swap").advantage is None


@pytest.mark.parametrize("delta", ["0", "0.05"])
def test_the_curve_is_where_both_inequalities_hold_and_touches_the_advantage(delta):
    found = ceiling_of(ApproxDP(1, delta), "own coin")
    fpr = np.linspace(0, 1, 10_001)
    tpr = found.tpr(fpr)
    assert (tpr <= math.e * fpr + float(delta) + 1e-12).all()
    assert (1 - fpr <= math.e * (1 - tpr) + float(delta) + 1e-12).all()
    assert (tpr - fpr).max() == pytest.approx(found.advantage, abs=1e-3)


@pytest.mark.parametrize("delta", ["0", "0.05"])
def test_its_corners_draw_the_same_curve(delta):
    found = ceiling_of(ApproxDP(1, delta), "own coin")
    x, y = np.array(found.corners()).T
    fpr = np.linspace(0, 1, 500)
    assert np.interp(fpr, x, y) == pytest.approx(found.tpr(fpr))
    assert (y - x).max() == pytest.approx(found.advantage)
    assert ceiling_of(None, "swap").corners() is None


def test_an_unknown_game_is_refused():
    with pytest.raises(InvalidSetting):
        ceiling_of(PureDP(1), "chess")


def test_a_promise_beyond_all_numbers_allows_everything():
    found = ceiling_of(LocalDP(5_000), "swap")
    assert found.advantage == 1
    assert found.tpr([0.0, 1e-9, 1.0]).tolist() == [0, 1, 1]
    assert found.corners() == [(0, 0), (0, 1), (1, 1), (1, 1)]
