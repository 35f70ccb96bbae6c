import numpy as np
import pytest

from shoal.cluster import PrivateKPrototypes
from shoal.cluster.prototypes._group_measurements import (
    Assignment,
    GroupSums,
    NoisyMeasurements,
    group_blocks,
)
from shoal.cluster.prototypes._mixed_rows import MixedRows
from shoal.cluster.prototypes._profile_estimates import (
    _shares_within,
    geometric_noise,
    measured_profiles,
)
from shoal.domain import Schema
from shoal.engine import rows_of
from shoal.errors import InvalidSetting
from shoal.estimator import RowCount

SCHEMA = Schema.of(
    {
        "version": 1,
        "columns": {
            "age": {"low": 0, "high": 100},
            "grade": {"levels": ["low", "middle", "high"]},
            "enrolled": {"values": ["yes", "no"]},
            "town": {"values": ["harbour", "hills", "plain"]},
        },
    }
)


def people(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    older = rng.random(n) < 0.4
    return {
        "age": np.clip(np.where(older, 75, 25) + rng.normal(0, 8, n), 0, 100),
        "grade": np.where(older, "high", "low"),
        "enrolled": np.where(older ^ (rng.random(n) < 0.1), "no", "yes"),
        "town": np.where(rng.random(n) < 0.7, np.where(older, "harbour", "hills"), "plain"),
    }


def fitted(n=2000, epsilon=1, **settings):
    usual = {"n_init": 2, "n_synthetic": 400, "random_state": 5}
    return PrivateKPrototypes(2, epsilon=epsilon, domain=SCHEMA, **usual | settings).fit(people(n))


@pytest.mark.heavy
def test_shares_add_up_and_lie_in_their_intervals():
    profiles = fitted().profiles_
    for shares, low, high in zip(
        profiles.shares, profiles.shares_low, profiles.shares_high, strict=True
    ):
        assert np.all((low <= shares) & (shares <= high))
        assert shares.sum(axis=1) == pytest.approx([1, 1], abs=1e-9)
    assert np.all(profiles.sizes == np.rint(profiles.sizes))
    middles = (profiles.intervals.sizes_low + profiles.intervals.sizes_high) / 2
    assert profiles.sizes == pytest.approx(middles, abs=1)
    assert np.all(profiles.intervals.centers_low <= profiles.means)
    assert np.all(profiles.means <= profiles.intervals.centers_high)


@pytest.mark.heavy
def test_a_group_is_told_by_what_differs_from_everyone():
    profiles = fitted(epsilon=4).profiles_
    young = int(profiles.means[:, 0].argmin())
    columns = {each.column: each for each in profiles.differences(young)}
    assert columns["town"].value == "hills"
    assert columns["town"].lift > 1.2
    assert columns["age"].here < 35 < columns["age"].everyone
    assert profiles.titles[young] == "Low age, low grade, enrolled yes"
    nears = [each.near for each in profiles.differences(young)]
    assert nears == sorted(nears, reverse=True)


def test_the_mean_of_everyone_is_right_where_rows_crowd_at_an_edge():
    columns = {"attempts": {"low": 0, "high": 6}, "sex": {"values": ["F", "M"]}}
    schema = Schema.of({"version": 1, "columns": columns})
    rows = {"attempts": [0.0] * 3600 + [1.0] * 400, "sex": ["F", "M"] * 2000}
    model = PrivateKPrototypes(
        2, epsilon=2, domain=schema, n_init=2, n_synthetic=400, random_state=5
    )
    profiles = model.fit(rows).profiles_
    assert profiles.measured
    assert profiles.everyone_means[0] == pytest.approx(0.1, abs=0.03)
    together = profiles.sizes @ profiles.means / profiles.sizes.sum()
    assert profiles.everyone_means == pytest.approx(together)


@pytest.mark.heavy
def test_names_that_say_nothing_alone_carry_their_column():
    labels = {
        each.label for group in (0, 1) for each in fitted(epsilon=4).profiles_.differences(group)
    }
    assert labels & {"enrolled yes", "enrolled no"}


def test_weak_tables_say_that_shares_are_modelled():
    model = fitted(60)
    assert model.level_ == "weak"
    assert not model.profiles_.measured
    assert all(np.isnan(low).all() for low in model.profiles_.shares_low)
    assert all(
        t == "Not clear at this budget" or t.startswith("Perhaps ") for t in model.profiles_.titles
    )


@pytest.mark.heavy
def test_titles_can_be_replaced_and_made_again():
    model = fitted()
    made = model.profiles_.titles
    assert model.name_groups(["first", " second "]).profiles_.titles == ("first", "second")
    assert model.name_groups(None).profiles_.titles == made
    for names in (["one"], ["", "x"], ["a", 3]):
        with pytest.raises(InvalidSetting, match="2 groups"):
            model.name_groups(names)


@pytest.mark.heavy
def test_a_table_of_all_values_is_made():
    table = fitted().profiles_.to_arrow()
    assert table.num_rows == 2 * (2 + 2 + 3)
    assert {
        "group",
        "title",
        "rows",
        "column",
        "value",
        "here",
        "low",
        "high",
        "everyone",
        "lift",
    } <= {*table.column_names}


def coverage(redraws):
    """How often intervals of shares, means and sizes hold the truth, over redrawn noise."""
    model, rows = fitted(n=3000, epsilon=1), people(3000)
    (exact,) = rows_of(rows, SCHEMA).sum(GroupSums(Assignment(SCHEMA, model._prototypes)))
    columns, rng = model.columns, np.random.default_rng(11)
    synthetic = MixedRows(columns, *model.synopsis_.synthetic_rows(300, rng))
    true = NoisyMeasurements(columns, exact, 1.0, np.ones(2))
    inside = []
    noise = group_blocks(columns).draw(0.25, 2 * redraws, rng).reshape(redraws, 2, -1)
    units = np.repeat(group_blocks(columns).sensitivities, group_blocks(columns).sizes)
    for each in noise:
        noisy = NoisyMeasurements(
            columns, np.rint(exact + each * units).astype(np.int64), 0.25, np.ones(2)
        )
        n = exact[:, 0]
        count = RowCount(n.sum() + float(geometric_noise(0.02, 1, rng)[0]), 0.02)
        made = measured_profiles(model.synopsis_, synthetic, model._prototypes, noisy, count)
        inside += list((made.intervals.sizes_low <= n) & (n <= made.intervals.sizes_high))
        for i, (low, high) in enumerate(zip(made.shares_low, made.shares_high, strict=True)):
            share = true.histogram(i)[0] / n[:, None]
            inside += list(((low <= share) & (share <= high)).ravel())
        for i, number in enumerate(columns.numbers):
            mean = number.unscaled(true.sums()[0][:, i] / n)
            low, high = made.intervals.centers_low[:, i], made.intervals.centers_high[:, i]
            inside += list((low <= mean) & (mean <= high))
    return np.mean(inside), len(inside)


@pytest.mark.heavy
def test_intervals_hold_the_truth_at_about_their_rate():
    """40 redraws, 640 intervals: far below or above 95 of 100 would be a fault."""
    rate, n = coverage(40)
    assert n == 40 * 2 * (1 + 5 + 2)
    assert 0.92 < rate < 0.99


@pytest.mark.slow
def test_intervals_hold_the_truth_at_their_rate():
    assert 0.935 < coverage(400)[0] < 0.975


@pytest.mark.parametrize("n", [60, 3000])
def test_a_public_number_of_rows_is_what_sizes_add_up_to(n):
    assert fitted(n, n_public=n).profiles_.sizes.sum() == n


def test_shares_go_to_the_nearest_in_their_limits_that_add_up():
    low, high = np.array([0.1, 0.2, 0.0]), np.array([0.3, 0.9, 0.1])
    assert _shares_within(np.array([0.5, 0.6, 0.1]), low, high) == pytest.approx([0.3, 0.6, 0.1])
    apart = np.array([0.6, 0.6, 0.0])  # limits that no shares meet are left aside
    assert _shares_within(apart, apart, apart).sum() == pytest.approx(1)
