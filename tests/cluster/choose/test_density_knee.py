import numpy as np
import pytest

from shoal.cluster.choose._density import knee

rng = np.random.default_rng(3)
BULK = np.exp(rng.normal(0, 0.3, 1_000))
ones = np.ones_like
rules = pytest.mark.parametrize("by", ["knee", "bulk"])


@rules
def test_the_bend_lies_between_bulk_and_noise(by):
    far = np.append(BULK, rng.uniform(8, 12, 100))
    assert np.quantile(BULK, 0.6) < knee(far, ones(far), by) < 8


@pytest.mark.parametrize("noise", [0, 10, 100, 400])
def test_noise_hardly_moves_the_bend_of_the_bulk(noise):
    far = np.append(BULK, rng.uniform(8, 1_000, noise))
    alone = knee(BULK, ones(BULK), "bulk")
    assert knee(far, ones(far), "bulk") == pytest.approx(alone, rel=0.5)


@rules
def test_the_unit_of_distances_does_not_matter(by):
    assert knee(BULK * 1e3, ones(BULK), by) == pytest.approx(1e3 * knee(BULK, ones(BULK), by))


@rules
def test_a_weight_is_as_many_points(by):
    weights = rng.integers(1, 4, 1_000).astype(float)
    repeated = np.repeat(BULK, weights.astype(int))
    ours = knee(BULK, weights, by)
    assert ours == pytest.approx(knee(repeated, ones(repeated), by), rel=0.02)


@rules
@pytest.mark.parametrize("far", [[3.0], [3.0, 3.0, 3.0]])
def test_equal_distances_are_their_own_bend(by, far):
    assert knee(np.array(far), np.ones(len(far)), by) == pytest.approx(3)
