import numpy as np
import pytest

from shoal.cluster import LocalRounds
from shoal.planning._made_up import draw_table
from shoal.planning._trial_fits import (
    TrialTable,
    center_errors,
    central_errors,
    equivalent_epsilon,
    local_errors,
    rows_to_make,
)


@pytest.fixture(scope="module")
def trial():
    table = draw_table(2_000, 2, 3, "clear", np.random.default_rng(0))
    return TrialTable(table.rows, 2_000, table.centers)


def test_plain_centres_are_those_of_the_groups(trial):
    assert center_errors(trial.plain_centers, trial.start).max() < 0.02


@pytest.mark.heavy
def test_more_budget_means_less_error(trial):
    poor, rich = (np.mean(central_errors(trial, epsilon, 1)) for epsilon in (0.01, 5.0))
    assert rich < poor / 4


@pytest.mark.heavy
def test_a_table_that_stands_for_more_people_has_less_noise(trial):
    many = TrialTable(trial.rows, 200_000, trial.start)
    assert np.mean(central_errors(many, 0.02, 1)) < np.mean(central_errors(trial, 0.02, 1)) / 4


@pytest.mark.heavy
def test_reports_are_rougher_than_a_curator(trial):
    local = np.mean(local_errors(trial, 1.0, 1))
    assert local > np.mean(central_errors(trial, 1.0, 1))
    assert local < 0.5


def test_reports_that_stand_for_many_tell_more():
    assert equivalent_epsilon(2.0, 1) == pytest.approx(2.0)
    assert equivalent_epsilon(1.0, 50) > 3


def test_a_centre_that_was_not_released_counts_by_the_nearest_one():
    errors = center_errors(np.array([[0.0]]), np.array([[0.0], [0.75]]))
    assert errors.tolist() == [[0.0], [0.75]]


def test_wide_tables_are_shorter():
    assert rows_to_make(10**6, 5) > rows_to_make(10**6, 6)
    assert rows_to_make(100, 6) == 100


def test_four_columns_are_reported_in_rounds(monkeypatch):
    rng = np.random.default_rng(0)
    middles = rng.uniform(0.2, 0.8, (2, 4))
    rows = np.clip(middles[np.arange(4_000) % 2] + rng.normal(0, 0.03, (4_000, 4)), 0, 1)
    asked = []
    original = LocalRounds.simulate
    monkeypatch.setattr(
        LocalRounds, "simulate", lambda *given: asked.append(given[0]) or original(*given)
    )
    errors = local_errors(TrialTable(rows, 4_000, middles), 4.0, 1)
    assert [rounds.domain.d for rounds in asked] == [4]
    assert errors.mean() < 0.1
