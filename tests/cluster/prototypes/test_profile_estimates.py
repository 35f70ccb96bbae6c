import numpy as np
import pytest

from shoal.cluster.prototypes._group_measurements import NoisyMeasurements
from shoal.cluster.prototypes._profile_estimates import (
    NoiseQuantiles,
    count_noise,
    geometric_noise,
    geometric_variance,
    weigh_sizes,
)
from shoal.domain import Schema
from shoal.estimator import RowCount
from shoal.mechanisms import Geometric
from shoal.privacy import PureDP
from shoal.synopsis.mixed._columns import mixed_columns

EPSILON = 0.1


def weighed(sizes, count):
    rng = np.random.default_rng(0)
    draws = geometric_noise(EPSILON, (4000, len(sizes)), rng)
    return weigh_sizes(np.array(sizes, dtype=float), geometric_variance(EPSILON), draws, count)


def test_the_variance_is_that_of_the_mechanism_and_of_the_draws():
    assert geometric_variance(EPSILON) == pytest.approx(Geometric(PureDP("0.1")).variance)
    drawn = geometric_noise(EPSILON, 100_000, np.random.default_rng(1))
    assert drawn.var() == pytest.approx(geometric_variance(EPSILON), rel=0.05)


@pytest.mark.parametrize(
    ("epsilon", "expected"),
    [
        pytest.param(None, [405, 205], id="a public total has no noise"),
        pytest.param(0.0, [400, 200], id="noise that is not known counts for nothing"),
        pytest.param(0.1, [403, 204], id="equal noise takes a third"),
    ],
)
def test_what_sizes_and_total_disagree_by_is_divided_by_their_noise(epsilon, expected):
    sizes, (low, high), _ = weighed([400, 200], RowCount(610, epsilon))
    assert sizes.tolist() == expected
    assert (low + high) / 2 == pytest.approx(sizes, abs=1)


def test_a_public_total_makes_intervals_narrower():
    public, unknown = (weighed([400, 200], RowCount(600, e))[1] for e in (None, 0.0))
    assert (public[1] - public[0] < 0.8 * (unknown[1] - unknown[0])).all()


def test_a_size_below_nothing_is_shown_as_none_and_the_rest_still_adds_up():
    sizes, (low, high), _ = weighed([50, -10], RowCount(60, 0.0))
    assert sizes.tolist() == [40, 0]
    assert np.all((low <= sizes) & (sizes <= high))


def test_no_rows_at_all_are_one_so_that_they_can_divide():
    assert weighed([-5, -3], RowCount(1, 0.0))[0].sum() == 1


def test_sizes_are_whole_and_add_up():
    sizes, *_ = weighed([10.5, 20.5, 30.4], RowCount(60, 0.0))
    assert sizes.tolist() == [11, 20, 30]


@pytest.mark.heavy
@pytest.mark.parametrize("epsilon", [None, 0.05])
def test_intervals_hold_the_true_size_at_their_rate(epsilon):
    """4,000 intervals: six deviations are 0.02."""
    rng, inside = np.random.default_rng(3), []
    true, draws = np.array([400, 300, 200, 100]), geometric_noise(EPSILON, (16_000, 4), rng)
    for _ in range(1000):
        count = RowCount(1000, epsilon)
        count = RowCount(1000 + float(count_noise(count, 1, rng)[0]), epsilon)
        noisy = true + geometric_noise(EPSILON, 4, rng)
        _, (low, high), _ = weigh_sizes(noisy, geometric_variance(EPSILON), draws, count)
        inside.append((low <= true) & (true <= high))
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)


COLUMNS = mixed_columns(
    Schema.of(
        {
            "version": 1,
            "columns": {
                "age": {"low": 0, "high": 100},
                "sex": {"values": ["F", "M"]},
                "town": {"values": ["a", "b", "c"]},
            },
        }
    )
)


def law(epsilon=1.0):
    return NoiseQuantiles(
        NoisyMeasurements(COLUMNS, np.zeros((2, 6), dtype=np.int64), epsilon, np.ones(1))
    )


def test_limits_lie_about_the_measured_share_and_narrow_with_the_rows():
    widths = []
    for n in (100.0, 1000.0):
        counts = n * np.array([[0.3, 0.7], [0.5, 0.5]])
        low, high = law().share_limits(0, counts, np.array([n, n]))
        assert (low + high) / 2 == pytest.approx(counts / n, abs=0.02)
        widths.append((high - low).mean())
    assert widths[0] > 5 * widths[1]


def test_of_a_group_that_may_be_empty_nothing_is_known():
    low, high = law().share_limits(1, np.array([[1.0, 0.0, 0.0]]), np.array([1.0]))
    assert low.tolist() == [[0, 0, 0]]
    assert high.tolist() == [[1, 1, 1]]
    low, high = law().mean_limits(np.array([[0.5]]), np.array([1.0]))
    assert (low[0, 0], high[0, 0]) == (-1, 1)


def test_noise_of_sizes_is_drawn_for_each_group_apart():
    draws = law().size_noise(3)
    assert draws.shape[1] == 3
    assert np.abs(np.corrcoef(draws.T) - np.eye(3)).max() < 0.05
    assert np.ptp(draws.std(axis=0)) < 1e-9


def test_noise_alone_makes_a_size_certain_in_one_of_a_thousand_releases():
    rng, k = np.random.default_rng(7), 8
    count = RowCount(0, 0.0)
    draws = geometric_noise(EPSILON, (16_000, k), np.random.default_rng(0))
    variance = geometric_variance(EPSILON)
    noisy = geometric_noise(EPSILON, (400, k), rng)
    wrong = sum(weigh_sizes(sizes, variance, draws, count)[2].any() for sizes in noisy)
    assert wrong <= 6  # .4 expected; 7 or more come once in ten million runs
