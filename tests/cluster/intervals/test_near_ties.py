import numpy as np

from shoal.cluster.intervals._near_ties import find_near_ties

CLEAR = np.array([[-0.5, 0.0], [0.5, 0.0]])


def about(n, rng):
    return CLEAR[rng.integers(2, size=n)] + 0.05 * rng.standard_normal((n, 2))


def even(n, rng):
    return rng.uniform(-1, 1, (n, 2))


def ties(draw, centers, n=2_000):
    sizes = np.full(len(centers), n / len(centers))
    return find_near_ties(draw, centers, sizes, n, np.random.default_rng(0))


def test_clear_groups_have_no_other_grouping_that_is_as_good():
    found = ties(about, CLEAR)
    assert not found.is_unstable.any()
    assert np.sqrt(found.centers).max() < 0.01


def test_an_even_spread_can_be_cut_in_many_ways_so_its_groups_are_unstable():
    assert ties(even, CLEAR).is_unstable.all()


def test_what_is_far_from_the_best_of_the_cells_is_wide():
    near, far = ties(about, CLEAR), ties(about, [*CLEAR, 0.1, 0.0])
    assert np.sqrt(far.centers[:, 0]).min() > 0.05 > np.sqrt(near.centers).max()


def test_squares_are_counted_without_what_a_sample_adds_to_them():
    found = ties(about, CLEAR, n=100_000)
    assert np.sqrt(found.sizes).max() < 0.05 * 50_000
