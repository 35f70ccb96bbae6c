from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from shoal.cluster.kmeans._budget_plan import (
    cells_alone,
    cells_then_step,
    direction_share,
    hardness,
    location_share,
    make_plan,
    own_quantile,
    part_share,
    plan_of_halves,
    plan_of_small_view,
    plan_of_view,
    rational,
    strength,
    takes_halves,
    view_cells_an_axis,
)
from shoal.cluster.kmeans._location import MEAN
from shoal.domain import Box, View
from shoal.estimator import Spending
from shoal.privacy import ApproxDP, Ledger, PureDP

LEFT = Fraction(97, 100)


def spent(plan):
    return plan.cells + plan.micro + sum(plan.last_steps, Fraction(0))


@pytest.mark.parametrize("d", [1, 2, 5, 6, 8, 13, 32, 100, 256])
@pytest.mark.parametrize("n_rows", [1, 50, 2_000, 10_000, 10**6, 10**9])
@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1, 20])
@pytest.mark.parametrize("k", [1, 10, 500])
def test_shares_sum_to_what_is_left_exactly_and_pay_for_every_radius(d, n_rows, epsilon, k):
    located = LEFT - Fraction(3, 2) * location_share(n_rows, epsilon, d)
    assert located > 0
    for plan, left in (
        (cells_then_step(LEFT, n_rows, epsilon, d, k), LEFT),
        (plan_of_view(located, n_rows, epsilon, d, k), located),
        (cells_alone(LEFT, d), LEFT),
    ):
        assert spent(plan) == left
        assert all(step.means > 0 and step.radii > 0 for step in plan.steps)
        assert (plan.micro == 0) == (plan.micro_clusters == 0)
        assert 1 <= plan.axes <= d
        assert plan.refined <= k


@pytest.mark.parametrize("d", [6, 13, 32, 100, 256])
@pytest.mark.parametrize("n_rows", [50, 500, 2_000, 10_000, 10**6])
@pytest.mark.parametrize("epsilon", [0.1, 1, 20])
@pytest.mark.parametrize("k", [1, 10, 500])
def test_a_second_look_leaves_something_for_every_step_of_gaussian_means(d, n_rows, epsilon, k):
    hard = hardness(d, ApproxDP(epsilon, 1e-6))
    share = location_share(n_rows, epsilon, d, hard)
    expected = plan_of_view(LEFT - share, n_rows, epsilon, d, k, hard)
    after = plan_of_view(LEFT - Fraction(3, 2) * share, n_rows, epsilon, d, k, hard)
    left = expected.means - MEAN * share / 2
    plan = after.fitted_to(SimpleNamespace(gaussian=True, gaussian_left=left))
    assert plan.means == left
    assert spent(plan) == spent(after)
    assert plan.cells > 0
    assert all(step.means > 0 for step in plan.steps)


def test_a_plan_without_a_shared_budget_stays_as_it_is():
    plan = plan_of_view(LEFT, 2_000, 1, 32, 10)
    assert plan.fitted_to(SimpleNamespace(gaussian=None)) is plan


def test_a_delta_makes_means_of_many_columns_easier_and_of_few_no_harder():
    few, many = (hardness(d, ApproxDP(1, 1e-6)) / hardness(d) for d in (5, 64))
    assert few == 1
    assert many == pytest.approx(4.2247 / 66**0.5, rel=1e-4)


def test_location_is_paid_for_in_many_columns_and_where_rows_are_many():
    assert location_share(1_000, 1, 5) == 0
    assert location_share(10_000, 1, 5) == Fraction(8, 100)
    assert location_share(10_000, 1, 6) == Fraction(6, 100)
    assert location_share(1_000, 0.1, 6) == Fraction(1, 4)
    assert location_share(300, 0.1, 6) == 0


def test_a_step_is_taken_where_clusters_stand_out():
    assert not cells_then_step(LEFT, 10_000, 0.1, 2, 10).steps
    assert cells_then_step(LEFT, 10_000, 1, 2, 10).steps
    assert cells_then_step(LEFT, 10_000, 0.1, 4, 10).steps
    assert not cells_then_step(LEFT, 1_797, 0.1, 4, 10).steps


def test_small_clusters_are_sought_where_rows_are_many():
    assert plan_of_view(Fraction(9, 10), 10_000, 1, 8, 10).micro_clusters == 40
    few = plan_of_view(Fraction(9, 10), 1_797, 0.1, 16, 10)
    assert (few.micro_clusters, len(few.last_steps)) == (0, 1)
    assert few.refined < 10


def test_a_shadow_takes_two_last_steps():
    shadow = plan_of_view(Fraction(9, 10), 10_000, 1, 32, 10)
    assert shadow.axes == 12
    assert len(shadow.last_steps) == 2


def test_strength_grows_with_rows_and_falls_with_clusters_and_columns():
    assert strength(1_000, 1, 2, 10) == pytest.approx(100 / 8**0.5)


def test_cells_of_a_view_stay_few():
    assert view_cells_an_axis(0.1, 12) == 2
    assert view_cells_an_axis(1e12, 8) ** 8 <= 100_000


def test_all_steps_are_named_in_order_and_divide_what_their_radii_leave():
    plan = plan_of_view(Fraction(9, 10), 1_000_000, 1, 40, 10)
    assert [step.name for step in plan.steps] == [
        "small clusters",
        "clusters, step 1",
        "clusters, step 2",
    ]
    together = plan.micro + sum(plan.last_steps)
    assert sum(step.share for step in plan.steps) == together
    assert plan.means == together - sum(step.radii for step in plan.steps)
    assert plan.first_clusters(10) == plan.micro_clusters


def test_many_rows_get_a_radius_a_cluster_and_two_last_steps():
    few, many = (cells_then_step(LEFT, n, 1, 2, 10) for n in (10_000, 1_000_000))
    assert (few.quantile, len(few.last_steps)) == (None, 1)
    assert (many.quantile, len(many.last_steps)) == (Fraction(15, 16), 2)


def test_a_radius_holds_more_rows_where_they_are_more():
    parts = [own_quantile(rows, 8, 10) for rows in (19_999, 20_000, 40_000, 10**6)]
    assert parts[0] is None
    assert parts[1:] == sorted(parts[1:])
    assert all(Fraction(1, 2) <= part < 1 for part in parts[1:])


def whole_plan(n, epsilon, **settings):
    spending = Spending(
        None,
        Ledger().open(PureDP(epsilon), by="plan"),
        PureDP(epsilon),
        None,
        n,
        View(Box.unit(2), np.eye(2)),
    )
    return make_plan(
        LEFT, spending, 5, **({"auto": True, "in_view": False, "refine": True} | settings)
    )


def test_few_rows_are_counted_in_a_few_even_cells():
    few, more = (whole_plan(n, Fraction(1, 10)) for n in (300, 3_000))
    assert (few.even, few.cells_an_axis) == (True, 2)
    assert (more.even, more.cells_an_axis) == (False, 0)


def test_a_named_method_keeps_its_cells():
    assert not whole_plan(300, Fraction(1, 10), auto=False).even


def test_a_small_view_of_three_columns_and_more_finds_small_clusters_first():
    two, four = (plan_of_small_view(LEFT, n, 1, 4, 10) for n in (800, 5_000))
    assert not two.micro_clusters
    assert four.micro_clusters == 40
    assert len(four.last_steps) == 2
    assert four.cells + four.micro + sum(four.last_steps) == LEFT


def test_cells_that_are_more_than_halves_get_half_of_what_is_left():
    fine, coarse = (plan_of_view(LEFT, 10_000, Fraction(1, 10), d, 10) for d in (6, 16))
    assert fine.cells == LEFT / 2
    assert coarse.cells < LEFT / 2


def test_directions_are_looked_at_where_each_of_many_columns_has_an_axis():
    shares = [
        direction_share(n, 1, d) for n, d in ((10_000, 5), (10_000, 8), (10_000, 16), (500, 8))
    ]
    assert shares == [0, Fraction(1, 100), 0, 0]


def test_a_part_of_a_box_of_few_columns_is_drawn_where_rows_are_some():
    shares = [
        part_share(n, 1, d) for n, d in ((600, 2), (640, 2), (1_999, 5), (2_000, 5), (999, 6))
    ]
    assert shares == [0, Fraction(1, 16), rational(40 / 1_999), 0, 0]


def test_halves_of_six_to_eight_columns_are_the_cells_where_clusters_drown():
    assert [takes_halves(100, 1, d, 8) for d in (5, 6, 8, 9)] == [False, True, True, False]
    assert not takes_halves(1_000, 1, 6, 8)
    plan = plan_of_halves(LEFT, 6, 8)
    assert (plan.cells + sum(plan.last_steps), plan.cells_an_axis, plan.even) == (LEFT, 2, True)
