import math
import pickle

import numpy as np
import pytest

from shoal.audit import Replayed, replay
from shoal.audit.loss._replay import Pass, gaussian_delta
from shoal.audit.loss._replay_ledgers import StepLoss
from shoal.domain import Box, Schema
from shoal.errors import InvalidSetting, NotNumeric, ShoalError
from shoal.mechanisms import Gaussian, Geometric
from shoal.mechanisms.central._gaussian import least_deviation
from shoal.privacy import ApproxDP, PureDP, Unprotected
from shoal.synopsis import PrivTree, UniformGrid

LINE = Box(x=(0, 1))
GRID = UniformGrid(epsilon=1, domain=LINE, cells=4)
ROWS, MORE = np.full((5, 1), 0.1), np.r_[np.full((5, 1), 0.1), [[0.9]]]


def noisy_count(sensitivity=1, **also):
    """A function that counts, and publishes what it is told to beside the count."""

    def function(table, page, rng):
        noise = Geometric(page.budget, sensitivity)
        count = page.release(noise, 2 * len(table), rng.noise, of="rows")
        return {"count": count, **{name: make(table) for name, make in also.items()}}

    return function


def test_a_fit_that_spends_all_of_epsilon_on_a_row_loses_all_of_it():
    seen = replay(GRID, ROWS, MORE, runs=3)
    assert seen.verdict == "consistent"
    assert seen.worst == pytest.approx(1)
    assert seen.loss <= 1 + 1e-9
    assert len(seen.passes) == 6  # three runs, both ways
    assert [step.of for step in seen.passes[0].steps] == [
        "rows inside and outside the bounds",
        "cell counts",
    ]
    assert seen.claim == PureDP(1)


def test_the_order_of_the_two_tables_does_not_matter_to_the_worst_case():
    assert replay(GRID, ROWS, MORE).worst == replay(GRID, MORE, ROWS).worst


def test_equal_tables_lose_nothing():
    seen = replay(PrivTree(epsilon=1, domain=LINE), ROWS, ROWS)
    assert (seen.loss, seen.worst, seen.faults) == (0, 0, ())


def test_a_replay_is_the_same_every_time():
    assert replay(GRID, ROWS, MORE).passes == replay(GRID, ROWS, MORE).passes


def test_a_function_is_held_to_the_promise_it_is_given():
    honest = replay(noisy_count(2), ROWS, MORE, privacy=PureDP(1))
    assert (honest.verdict, honest.worst) == ("consistent", 1)
    short = replay(noisy_count(1), ROWS, MORE, privacy=PureDP(1))
    assert (short.verdict, short.worst) == ("violated", 2)
    assert "rows can lose 2 of its own 1" in short.faults


def test_what_is_published_beside_the_gate_is_named_and_never_shown():
    seen = replay(noisy_count(2, exact=len), ROWS, MORE, privacy=PureDP(1))
    assert seen.verdict == "broken"
    assert seen.different == ("result",)
    assert "5" not in str(seen)


def test_an_error_on_one_table_only_is_a_fault_and_its_text_is_not_kept():
    def refuse(table):
        if len(table) > 5:
            raise ValueError("there are 6 rows")

    seen = replay(noisy_count(2, refuse=refuse), ROWS, MORE, privacy=PureDP(1))
    assert seen.verdict == "broken"
    assert "ValueError is raised on one table only" in seen.branches
    assert "6 rows" not in str(seen)


def test_an_error_on_both_tables_is_the_fit_s_own_and_raised():
    with pytest.raises(NotNumeric):
        replay(lambda t, page, rng: page.release(Geometric(PureDP(1)), 0.5, rng.noise, of="n"),
               ROWS, MORE, privacy=PureDP(1))  # fmt: skip


def test_rows_that_are_refused_on_one_table_are_a_fault():
    seen = replay(GRID, ROWS, np.r_[ROWS, [[np.nan]]])
    assert seen.verdict == "broken"


def test_what_was_computed_from_both_tables_promises_nothing_and_cannot_be_saved():
    seen = replay(GRID, ROWS, MORE)
    assert isinstance(seen.guarantee, Unprotected)
    assert not hasattr(seen, "to_dict")
    with pytest.raises(InvalidSetting, match="cannot be saved"):
        pickle.dumps(seen)


def test_neither_an_estimator_nor_a_function_with_a_promise_is_refused():
    for model in (noisy_count(), 5):
        with pytest.raises(InvalidSetting, match="promise"):
            replay(model, ROWS, MORE)


def test_the_model_itself_and_its_ledger_are_left_alone():
    replay(GRID, ROWS, MORE)
    assert GRID.ledger is None
    assert not hasattr(GRID, "guarantee_")


def test_a_replaced_row_counts_for_two():
    grid = UniformGrid(privacy=PureDP(1, neighbours="replace-one"), domain=LINE, cells=4)
    other = ROWS.copy()
    other[0] = 0.9
    seen = replay(grid, ROWS, other)
    # A row within the bounds for another moves no row beyond them: the check, 1 %, loses nothing.
    assert (seen.verdict, round(seen.worst, 9)) == ("consistent", 0.99)
    assert replay(GRID, ROWS, other).verdict == "violated"  # it does not promise that


def test_the_same_rows_of_a_person_stay_on_both_tables():
    people = Schema.of_box(LINE, person="who", max_rows_per_person=2)
    grid = UniformGrid(epsilon=1, domain=people, cells=4)
    rows = {"x": [0.1, 0.4, 0.6, 0.9] * 3, "who": list("aaaabbbbcccc")}
    more = {"x": [*rows["x"], *[0.9] * 30], "who": [*rows["who"], *"d" * 30]}
    seen = replay(grid, rows, more)
    assert seen.verdict == "consistent", str(seen)
    assert seen.worst == pytest.approx(1)


def test_gaussian_steps_are_held_against_delta():
    def release(sensitivity):
        return lambda table, page, rng: page.release(
            Gaussian(page.budget, sensitivity), np.array([[10 * len(table)]]), rng.noise, of="sum"
        )

    fits = {s: replay(release(s), ROWS, MORE, privacy=ApproxDP(1, 1e-6)) for s in (10, 9)}
    assert fits[10].verdict == "consistent"
    assert fits[10].delta == pytest.approx(1e-6, rel=1e-6)
    assert fits[9].verdict == "violated"
    assert "sum moves by 1.111 times its sensitivity" in fits[9].faults


@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", 1e-9), (1, 1e-6), (4, 1e-3)])
def test_the_delta_of_a_path_is_that_of_the_mechanism_s_own_calibration(epsilon, delta):
    promise = ApproxDP(epsilon, delta)
    sigma = float(least_deviation(promise.epsilon, promise.delta))
    assert gaussian_delta(1 / (2 * sigma**2), float(promise.epsilon)) == pytest.approx(
        delta, rel=1e-6
    )


@pytest.mark.parametrize(("moved", "verdict"), [(0.01, "consistent"), (0.02, "violated")])
def test_gaussian_steps_that_share_a_budget_are_held_against_it_together(moved, verdict):
    normal = StepLoss("sum", "Gaussian", 1, 0.0, 0.0, math.inf, moved, 0.02, shared_limit=0.03)
    seen = Replayed((Pass(ApproxDP(1, "0.1"), (normal, normal)),))
    assert seen.verdict == verdict


def test_pure_steps_leave_less_of_epsilon_for_gaussian_ones():
    pure = StepLoss("n", "Geometric", 0.5, 0.0, 0.0, 0.5)
    normal = StepLoss("sum", "Gaussian", 0.5, 0.0, 0.0, math.inf, 0.01, 0.01)
    seen = Pass(ApproxDP(1, 1e-6), (pure, normal))
    assert seen.worst == 0.5
    assert seen.delta == gaussian_delta(0.01, 0.5)


def test_losses_of_steps_that_cancel_are_still_too_large_each():
    """A path on which one step favours one table and the next the other."""
    steps = (
        StepLoss("a", "Geometric", 0.5, 0.9, -0.9, 0.9),
        StepLoss("b", "Geometric", 0.5, -0.9, 0.9, 0.9),
    )
    seen = Replayed((Pass(PureDP(1), steps),))
    assert seen.loss == 0
    assert seen.verdict == "violated"


def test_errors_of_shoal_are_told_by_name():
    def fails(table, page, rng):
        raise ShoalError("no", "hint") if len(table) > 5 else KeyError("x")

    assert len(replay(fails, ROWS, MORE, privacy=PureDP(1)).branches) == 2
