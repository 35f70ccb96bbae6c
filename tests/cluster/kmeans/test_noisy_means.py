import math
from fractions import Fraction

import numpy as np
import pytest

from shoal.cluster.kmeans._budget_plan import Step
from shoal.cluster.kmeans._kernels import CANDIDATES, LATTICE
from shoal.cluster.kmeans._noisy_means import (
    candidate_radii,
    draw_radii,
    longest_move,
    move_to_means,
    pick_radii,
    pick_reach,
    read_rings,
)
from shoal.domain import Box
from shoal.engine import rows_of
from shoal.estimator import Spending
from shoal.privacy import ApproxDP, Ledger, PureDP
from shoal.randomness import Randomness

rng = np.random.default_rng(5)
BOX = Box.of(["x", "y"], [-1, -1], [1, 1])


def spending(promise=None, seed=1, X=None, box=BOX):
    page = Ledger().open(promise or PureDP(2_000), by="test")
    rows = rows_of(np.empty((0, box.d)) if X is None else X, box)
    return Spending(rows, page, page.budget, Randomness(seed), n_rows=6_000)


def rings(X, centers, box=BOX):
    return read_rings(spending(X=X, box=box), np.array(centers))


def test_a_large_budget_finds_the_median_radius_and_the_means():
    X = np.r_[rng.normal([-0.5, 0], 0.05, (4_000, 2)), rng.normal([0.5, 0], 0.05, (2_000, 2))]
    summed, half = rings(X, [[-0.4, 0.1], [0.4, 0.1]]), spending().share(Fraction(1, 2))
    pick = pick_radii(summed.together(), half, guess=0.3, quantile=Fraction(1, 2), of="radius")
    distances = np.linalg.norm(X - [-0.4, 0.1], axis=1)
    distances = np.minimum(distances, np.linalg.norm(X - [0.4, 0.1], axis=1))
    radius = candidate_radii(summed.reach)[pick[0]]
    assert 0.25 < np.mean(distances <= radius) < 0.85
    means = move_to_means(summed, pick, half, of="means")
    assert np.allclose(means.centers, [[-0.5, 0], [0.5, 0]], atol=0.02)  # the cut keeps some back
    assert means.sizes.round().tolist() == [4_000, 2_000]
    assert np.allclose(means.excess, means.sizes, atol=1)


PARTS = [Fraction(1, 2), Fraction(5, 8), Fraction(15, 16)]


@pytest.mark.heavy
@pytest.mark.parametrize("part", PARTS)
def test_a_row_moves_the_scores_of_one_cluster_by_no_more_than_the_noise_is_for(part):
    X, centers = rng.uniform(-1, 1, (500, 2)), rng.uniform(-1, 1, (4, 2))
    before, most = rings(X, centers).scores(part), max(part, 1 - part) * part.denominator
    for row in rng.uniform(-1, 1, (30, 2)):
        moves = np.abs(rings(np.vstack([X, row]), centers).scores(part) - before)
        assert np.count_nonzero(moves.any(axis=1)) == 1
        assert moves.max() == most


@pytest.mark.parametrize("distance", [0.011, 0.3, 1.1])
def test_rows_all_at_one_distance_lie_within_the_radius(distance):
    """Between two candidates none holds half: more than half makes it the larger of the two."""
    turn = rng.uniform(0, 2 * np.pi, 6_000)
    X = distance * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    summed = read_rings(spending(X=X, box=Box.of(["x", "y"], [-2, -2], [2, 2])), np.zeros((1, 2)))
    pick = pick_radii(summed, spending(PureDP(1)), guess=0.3, thrift=True, of="radius")
    assert distance / 2 <= candidate_radii(summed.reach)[pick[0]] < distance


def test_each_cluster_gets_a_radius_of_its_own():
    X = np.r_[rng.normal([-0.5, 0], 0.01, (3_000, 2)), rng.normal([0.5, 0], 0.2, (3_000, 2))]
    summed = rings(X, [[-0.5, 0.0], [0.5, 0.0]])
    step = Step("clusters", Fraction(1, 2), Fraction(1, 10), Fraction(3, 4))
    tight, loose = candidate_radii(summed.reach)[
        draw_radii(summed, spending(PureDP(10)), step, 0.3)
    ]
    assert tight < 0.04
    assert loose > 0.15


def test_a_cluster_that_lies_far_from_its_centre_is_reached():
    X = np.r_[rng.normal([-0.5, 0], 0.01, (5_000, 2)), rng.normal([0.9, 0.9], 0.01, (1_000, 2))]
    summed = rings(X, [[-0.5, 0.0], [0.0, 0.0]])
    step = Step("clusters", Fraction(1, 2), Fraction(1, 10), Fraction(15, 16))
    paying = spending(PureDP(10))
    means = move_to_means(
        summed, draw_radii(summed, paying, step, 0.02), paying.share(step.means), of="means"
    )
    assert np.allclose(means.centers[1], 0.9, atol=0.02)


@pytest.mark.heavy
@pytest.mark.parametrize("entry", [Fraction(1, 2), Fraction(3, 10)])
@pytest.mark.parametrize("d", [1, 2, 7])
def test_a_row_moves_one_vector_by_no_more_than_the_noise_is_for(d, entry):
    box = Box.of([f"x{i}" for i in range(d)], -np.ones(d), np.ones(d))
    X, centers = rng.uniform(-1, 1, (200, d)), rng.uniform(-1, 1, (3, d))
    unit, longest = int(LATTICE * entry), 0.0
    before = rings(X, centers, box)
    for row in rng.uniform(-1, 1, (20, d)):
        after = rings(np.vstack([X, row]), centers, box)
        for pick in range(CANDIDATES):
            picks = np.full(3, pick)
            moves = after.clipped(picks, unit) - before.clipped(picks, unit)
            lengths = np.linalg.norm(moves, axis=1)
            assert np.count_nonzero(lengths) == 1
            longest = max(longest, lengths.max())
    assert 0.99 * math.hypot(LATTICE, unit) < longest <= longest_move(d, unit)


def test_all_but_few_rows_lie_within_the_reach_and_it_is_not_much_wider():
    X = np.r_[rng.uniform(-0.1, 0.1, (5_980, 2)), np.full((20, 2), 0.9)]
    summed = rings(X, [[0.0, 0.0]])
    reach = [pick_reach(summed, spending(PureDP(1), seed), of="reach") for seed in range(20)]
    assert 0.1 <= min(reach) <= max(reach) < 0.3
    assert pick_reach(summed, spending(PureDP(100)), of="reach") < 0.2


def test_a_second_reach_is_held_by_the_first():
    summed = rings(rng.uniform(-0.1, 0.1, (3_000, 2)), [[0.0, 0.0]])
    free, held = (
        [pick_reach(summed, spending(PureDP(0.02), seed), likely=at, of="x") for seed in range(60)]
        for at in (None, 0.15)
    )
    assert max(held) < max(free)
    assert np.mean(held) < np.mean(free)


@pytest.mark.parametrize("epsilon", [0.02, 0.05, 0.2])
def test_however_little_is_paid_a_reach_of_next_to_nothing_does_not_win(epsilon):
    summed = rings(rng.uniform(-1, 1, (6_000, 2)), [[0.0, 0.0]])
    picks = [pick_reach(summed, spending(PureDP(epsilon), seed), of="reach") for seed in range(40)]
    assert min(picks) > 0.3


def test_a_row_moves_no_count_beyond_a_radius_down_nor_by_more_than_one():
    X = rng.uniform(-1, 1, (100, 2))
    before = rings(X, [[0.2, 0.1]]).rows_beyond()
    for row in rng.uniform(-1, 1, (20, 2)):
        moves = rings(np.vstack([X, row]), [[0.2, 0.1]]).rows_beyond() - before
        assert set(moves.ravel()) <= {0, 1}


def test_far_rows_are_clusters_of_their_own_and_no_row_is_in_two():
    X = np.r_[rng.normal(-0.5, 0.01, (500, 2)), rng.normal(0.6, 0.01, (60, 2))]
    summed = rings(X, [[-0.5, -0.5], [0.9, -0.9]])
    split, picks = summed.split(np.array([14]))
    assert split.k == 4
    assert sorted(split.counts.sum(axis=1).tolist()) == [0, 0, 60, 500]
    means = move_to_means(split, picks, spending(), of="means")
    assert means.sizes.sum().round() == 560
    far = means.with_detected(2)
    assert len(far.centers) == 3
    assert np.allclose(far.centers[2], 0.6, atol=0.05)


@pytest.mark.heavy
def test_a_row_moves_one_vector_of_near_and_far_ones():
    X, centers = rng.uniform(-1, 1, (200, 2)), rng.uniform(-1, 1, (3, 2))
    unit = LATTICE // 2
    before, picks = rings(X, centers).split(np.array([9]))
    for row in rng.uniform(-1, 1, (30, 2)):
        after, _ = rings(np.vstack([X, row]), centers).split(np.array([9]))
        lengths = np.linalg.norm(after.clipped(picks, unit) - before.clipped(picks, unit), axis=1)
        assert np.count_nonzero(lengths) == 1
        assert lengths.max() <= longest_move(2, unit)


@pytest.mark.heavy
def test_an_empty_cluster_is_noised_like_any_other_and_stays_near():
    X = np.full((500, 2), -0.5)
    summed = rings(X, [[-0.5, -0.5], [0.9, 0.9]])
    steps = [move_to_means(summed, 4, spending(PureDP(1), seed), of="means") for seed in range(200)]
    sizes = np.array([means.sizes[1] for means in steps])
    assert len(set(sizes)) == 200
    assert abs(sizes.mean()) < 5 * sizes.std() / np.sqrt(200)  # as it came out: no bias
    drowned = [means for means in steps if means.excess[1] == 0]
    assert 100 < len(drowned) < 200
    # Divided by two deviations at least: however small the size, the mean is not flung away.
    assert max(means.errors[1] for means in drowned) < 2 * min(means.errors[1] for means in drowned)


@pytest.mark.heavy
def test_noise_moves_centres_by_what_is_expected():
    X = rng.normal([0.2, 0.1], 0.05, (2_000, 2))
    summed = rings(X, [[0.0, 0.0]])
    runs = [
        move_to_means(summed, 6, spending(PureDP(0.05), seed), of="means") for seed in range(400)
    ]
    exact = move_to_means(summed, 6, spending(), of="means").centers
    moved = [np.linalg.norm(run.centers[0] - exact[0]) for run in runs]
    expected = np.mean([run.errors[0] for run in runs])
    assert 0.8 < np.sqrt(np.mean(np.square(moved))) / expected < 1.2


def total_of_a_step(columns, gaussian):
    X, box = rng.uniform(0, 1, (500, columns)), Box.unit(columns)
    summed = rings(X, [[0.0] * columns], box)
    one = spending(ApproxDP(1, 1e-6))
    half = (one.with_gaussian(Fraction(1)) if gaussian else one).share(Fraction(1, 2))
    move_to_means(summed, 6, half, of="means")
    return one.page.total(), one.page.gaussian_left


def test_gaussian_means_take_a_part_of_a_budget_that_is_charged_whole():
    assert total_of_a_step(20, True) == (ApproxDP(1, 1e-6).simulated(), Fraction(1, 2))


def test_means_of_a_page_without_such_a_budget_are_pure():
    assert total_of_a_step(20, False) == (ApproxDP("0.5", 0).simulated(), 1)
