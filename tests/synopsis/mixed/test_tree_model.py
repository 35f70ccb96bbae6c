import numpy as np
import pytest

from shoal.synopsis.mixed._tree_model import consistent_model, norm_sub, spread_counts

RNG = np.random.default_rng(0)
CHAIN = np.array([[40.0, 10.0], [5.0, 45.0]])
SECOND = np.array([[30.0, 10.0, 5.0], [5.0, 10.0, 40.0]])


def model(noise=0.0):
    rng = np.random.default_rng(1)
    margins = [CHAIN.sum(1), CHAIN.sum(0), SECOND.sum(0)]
    margins[1] = SECOND.sum(1)
    noisy = [m + rng.normal(0, noise, m.size) for m in margins]
    tables = [t + rng.normal(0, noise, t.shape) for t in (CHAIN, SECOND)]
    return consistent_model(noisy, [1.0] * 3, [(0, 1), (1, 2)], tables, 1.0, (100, np.inf))


@pytest.mark.parametrize("noise", [0.0, 5.0])
def test_tables_agree_with_the_columns_and_have_no_negative_counts(noise):
    made = model(noise)
    for (i, j), table in zip(made.edges, made.tables, strict=True):
        assert table.min() >= 0
        assert table.sum(axis=1) == pytest.approx(made.one_ways[i], rel=1e-3)
        assert table.sum(axis=0) == pytest.approx(made.one_ways[j], rel=1e-3)
    assert len({round(counts.sum(), 6) for counts in made.one_ways}) == 1


def test_a_pair_without_a_table_follows_from_those_between():
    made = model()
    through = made.table(0, 2)
    expected = made.tables[0] @ (made.tables[1] / made.tables[1].sum(1, keepdims=True))
    assert through == pytest.approx(expected)
    assert made.table(2, 0) == pytest.approx(through.T)


def test_columns_of_different_trees_are_independent():
    made = consistent_model(
        [np.array([30.0, 70.0]), np.array([50.0, 50.0])], [1.0, 1.0], [], [], 1.0, (100, 0.0)
    )
    assert made.table(0, 1) == pytest.approx(np.array([[15.0, 15.0], [35.0, 35.0]]))


def test_a_probability_is_that_of_the_drawn_rows():
    made = model()
    rows = made.sample(4000, RNG)
    mask = [np.array([1.0, 0.0]), np.ones(2), np.array([0.0, 0.0, 1.0])]
    seen = np.mean((rows[:, 0] == 0) & (rows[:, 2] == 2))
    assert made.probability(mask) == pytest.approx(seen, abs=0.03)
    assert made.probability([np.ones(2), np.ones(2), np.ones(3)]) == pytest.approx(1)


def test_drawn_rows_have_the_tables_of_the_model():
    made = model()
    rows = made.sample(2000, RNG)
    counted = np.zeros((2, 2))
    np.add.at(counted, (rows[:, 0], rows[:, 1]), 1)
    assert counted / 20 == pytest.approx(made.tables[0], abs=1)


@pytest.mark.parametrize("counts", [[5.0, 3.0, -2.0], [-1.0, -2.0, -9.0], [0.0, 0.0, 0.0]])
def test_norm_sub_keeps_the_order_and_the_sum(counts):
    made = norm_sub(np.array(counts), 6.0)
    assert made.min() >= 0
    assert made.sum() == pytest.approx(6)
    assert np.all(np.diff(made) <= 1e-12)


def test_nothing_is_left_of_counts_whose_sum_is_nothing():
    assert norm_sub(np.array([3.0, -4.0]), 0.0).tolist() == [0, 0]


@pytest.mark.parametrize("n", [0, 1, 7, 100])
def test_shares_are_spread_over_so_many_rows(n):
    codes = spread_counts(np.array([0.5, 0.0, 0.5]), n, np.random.default_rng(3))
    assert codes.size == n
    assert 1 not in codes
