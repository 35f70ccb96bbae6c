import numpy as np
import pytest

import shoal
from shoal.cluster.choose import k
from shoal.cluster.choose._simulation import (
    CellRelease,
    Clusters,
    Gains,
    PlainGroups,
    WeightedCells,
    count_with_most_gain,
)

rng = np.random.default_rng(3)
PLACES = np.array([[0.2, 0.2], [0.8, 0.3], [0.4, 0.8]])
ROWS = np.clip(rng.normal(np.repeat(PLACES, 700, axis=0), 0.06), 0, 1)


def synopsis_of(rows, epsilon=1):
    return shoal.AdaptiveGrid(epsilon=epsilon, domain=shoal.Box.unit(2), random_state=1).fit(rows)


def test_gains_no_larger_than_those_of_plain_groups_add_no_cluster():
    plain = np.array([[0.5, 0.5], [0.3, 0.3]])
    falling = np.exp(-np.array([0, 0.5, 0.8]))
    assert count_with_most_gain(Gains((1, 2, 3), falling, plain)) == 1
    assert count_with_most_gain(Gains((1, 2, 3), falling, plain / 3)) == 3


def test_a_single_number_has_no_gains():
    assert count_with_most_gain(Gains((4,), np.array([0.5]), np.empty((0, 4)))) == 4


@pytest.mark.heavy
def test_one_group_stays_one_where_the_elbow_has_no_end_to_lean_on():
    one = np.clip(rng.normal(0.5, 0.1, (2_000, 2)), 0, 1)
    assert k(synopsis_of(one), among=range(1, 7)).value == 1


@pytest.mark.heavy
def test_two_groups_are_found_at_the_end_of_the_range():
    two = np.clip(rng.normal(np.repeat(PLACES[:2], 1_000, axis=0), 0.06), 0, 1)
    assert k(synopsis_of(two), among=range(2, 9)).value == 2


def test_the_release_is_simulated_with_its_own_noise():
    synopsis = synopsis_of(ROWS, epsilon=0.2)
    release = CellRelease(synopsis)
    again = release.simulate(2 * ROWS - 1, np.random.default_rng(1))
    assert again.total == pytest.approx(release.observed.total, rel=0.2)
    assert abs(len(again.points) - len(release.observed.points)) < 0.5 * len(again.points)


def test_the_band_widens_as_epsilon_falls():
    bands = [k(synopsis_of(ROWS, e), among=[2, 3]).costs.deviations[0] for e in (0.2, 2)]
    assert bands[0] > 3 * bands[1] > 0


def test_no_rows_at_all_choose_some_number():
    assert k(synopsis_of(ROWS[:0]), among=range(2, 5)).value in (2, 3, 4)


def test_gaps_between_the_numbers_are_allowed():
    assert k(synopsis_of(ROWS), among=[1, 3, 6]).value == 3


@pytest.mark.heavy
def test_a_synopsis_that_was_loaded_chooses_on_its_cells(tmp_path):
    synopsis_of(ROWS).save(tmp_path / "synopsis")
    loaded = shoal.synopsis.Synopsis.load(tmp_path / "synopsis")
    choice = k(loaded, among=range(1, 7))
    assert choice.value in (3, 4)
    assert choice.guarantee == loaded.guarantee_


def test_the_widest_clusters_are_cut_along_their_longest_axis():
    points = np.array([[-4.0, 0], [4, 0], [0, 9], [0, 10]])
    cells = WeightedCells(points, np.ones(4), np.zeros((4, 2)))
    clusters = Clusters(np.array([[0.0, 0], [0, 9.5]]), np.array([0, 0, 1, 1]), 8.0)
    centers = clusters.split(cells, 3)
    assert centers.shape == (3, 2)
    assert centers[0, 0] == -centers[2, 0] != 0
    assert centers[1].tolist() == [0, 9.5]


@pytest.mark.parametrize("even", [False, True])
def test_plain_groups_have_the_spread_they_were_given(even):
    groups = PlainGroups(np.zeros((1, 2)), np.ones(1), np.array([[[2.0, 0], [0, 1]]]))
    drawn = groups.widened(3).draw(20_000, np.random.default_rng(1), even)
    assert drawn.std(axis=0) == pytest.approx([6, 3], rel=0.05)
    assert (np.abs(drawn[:, 1]).max() < 3 * 3**0.5) == even
