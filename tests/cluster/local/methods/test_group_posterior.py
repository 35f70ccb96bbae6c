"""Groups drawn from what noisy counts leave possible."""

from dataclasses import replace

import numpy as np
import pytest

from shoal.cluster.local.methods import _group_posterior as group_posterior
from shoal.cluster.local.methods._gaussian_groups import CellCounts, GaussianGroups
from shoal.cluster.local.methods._group_posterior import _Chains, draw_groups, likely_groups

EDGES = (np.linspace(-1, 1, 11), np.linspace(-1, 1, 9))
CENTERS = np.array([[-0.55, -0.5], [0.55, 0.45], [0.5, -0.6]])


def cells_behind(sizes, deviation=60.0, seed=0, edges=EDGES) -> CellCounts:
    true = GaussianGroups(CENTERS, np.log([0.1, 0.1, 0.1]), np.array(sizes, dtype=float), 0.0)
    empty = CellCounts(edges, np.zeros(80), deviation, round(sum(sizes)))
    noise = deviation * np.random.default_rng(seed).normal(size=80)
    return replace(empty, counts=true.masses(empty) + noise)


def mean_counts(cells: CellCounts, drawn: list[GaussianGroups]) -> np.ndarray:
    return np.mean([each.masses(cells) for each in drawn], axis=0)


def farthest(drawn: list[GaussianGroups]) -> float:
    """The mean distance of true centres to the nearest drawn one, of the worst centre."""
    gaps = [np.linalg.norm(CENTERS[:, None] - each.centers, axis=2).min(axis=1) for each in drawn]
    return float(np.mean(gaps, axis=0).max())


@pytest.mark.parametrize("sizes", [[4_000, 3_000, 3_000], [16_000, 4_000, 800]])
def test_groups_alike_and_unlike_are_found(sizes):
    drawn = draw_groups(cells_behind(sizes), 3, np.random.default_rng(0))
    assert farthest(drawn) < 0.07
    found = np.mean([np.sort(each.sizes) for each in drawn], axis=0)
    np.testing.assert_allclose(found, np.sort(sizes), atol=250)


def test_a_group_below_the_noise_is_drawn_in_many_places():
    """No peak of the noise is taken for the group: its draws lie far apart."""
    cells = cells_behind([10_000, 8_000, 60], deviation=120.0)
    drawn = draw_groups(cells, 3, np.random.default_rng(0))
    smallest = np.array([each.centers[each.sizes.argmin()] for each in drawn])
    assert smallest.std(axis=0).min() > 0.3


def test_the_mean_of_the_draws_is_nearer_to_the_truth_than_the_counts():
    cells = cells_behind([4_000, 3_000, 3_000], deviation=150.0)
    truth = cells_behind([4_000, 3_000, 3_000], deviation=1e-9).counts
    drawn = mean_counts(cells, draw_groups(cells, 3, np.random.default_rng(0)))
    assert np.linalg.norm(drawn - truth) < 0.5 * np.linalg.norm(cells.counts - truth)


def test_draws_are_inside_the_box_with_sizes_that_sum_to_the_people():
    drawn = draw_groups(cells_behind([500, 300, 200], 200.0), 4, np.random.default_rng(0))
    assert all(np.all(np.abs(each.centers) <= 1) for each in drawn)
    assert all(np.all(each.sizes >= 0) for each in drawn)
    np.testing.assert_allclose([each.sizes.sum() for each in drawn], 1_000, rtol=0.1)


def test_a_seed_repeats_the_draws():
    first, second = (
        draw_groups(cells_behind([5_000, 3_000, 2_000]), 3, np.random.default_rng(3))
        for _ in range(2)
    )
    np.testing.assert_array_equal(first[-1].centers, second[-1].centers)


def test_evidence_is_that_of_sizes_summed_one_by_one():
    """One group and another that is known: the integral over both sizes, by a fine sum."""
    cells = cells_behind([900, 600, 0], deviation=100.0)
    chains = _Chains(cells, 2, np.random.default_rng(0))
    chains.any_size[:] = False
    chains.variance = cells.deviation**2
    for group in (0, 1):
        chains._put(group, np.tile(CENTERS[group], (chains.n, 1)), np.full(chains.n, np.log(0.1)))
    lattice = chains._lattice(1)
    found = chains._evidence(lattice, [0], whole=True)[0]
    sizes = np.linspace(0, 2_500, 401)
    own, other = np.meshgrid(sizes, sizes, indexing="ij")

    def summed(point: int) -> float:
        center, width = lattice.point(np.full(chains.n, point))
        masses = [
            GaussianGroups(at[None], np.array([log]), np.ones(1), 0.0).masses(cells)
            for at, log in ((center[0], width[0]), (CENTERS[0], np.log(0.1)))
        ]
        gram = np.array(masses) @ np.array(masses).T
        cross = np.array(masses) @ cells.counts
        square = gram[0, 0] * own**2 + 2 * gram[0, 1] * own * other + gram[1, 1] * other**2
        cost = (square - 2 * cross[0] * own - 2 * cross[1] * other) / chains.variance
        cost += ((own + other - 1_500) / 15) ** 2
        cost += ((own - 750) ** 2 + (other - 750) ** 2) / 300**2
        return float(np.log(np.exp(-(cost - cost.min()) / 2).sum()) - cost.min() / 2)

    points = np.argsort(found)[[-1, -20, -200]]
    exact = np.array([summed(int(point)) for point in points])
    np.testing.assert_allclose(found[points] - found[points[0]], exact - exact[0], atol=0.05)


def test_sizes_that_differ_are_taken_for_any_and_alike_ones_for_alike():
    chains = _Chains(cells_behind([4_000, 3_000, 3_000]), 5, np.random.default_rng(0))
    chains.sizes = np.tile([0.03, 0.06, 0.13, 0.26, 0.52], (chains.n, 1))
    chains._choose_prior()
    assert chains.any_size.all()
    chains.sizes = np.full((chains.n, 5), 0.2)
    drawn = []
    for _ in range(20):
        chains._choose_prior()
        drawn.append(chains.any_size.mean())
    assert np.mean(drawn) < 0.1


def test_one_group_one_column_and_no_people_to_speak_of():
    counts = np.random.default_rng(0).normal(size=12) * 50
    cells = CellCounts((np.linspace(-1, 1, 13),), counts, 50.0, 1)
    drawn = draw_groups(cells, 1, np.random.default_rng(0))
    assert all(np.isfinite(each.centers).all() and np.isfinite(each.sizes).all() for each in drawn)


def test_three_columns_and_very_many_slices_are_fitted(monkeypatch):
    monkeypatch.setattr(group_posterior, "fit_from_many_starts", lambda *_: [])
    edges = np.linspace(-1, 1, 4)
    cube = CellCounts((edges,) * 3, np.zeros(27), 1.0, 10)
    line = CellCounts((np.linspace(-1, 1, 300),), np.zeros(299), 1.0, 10)
    rng = np.random.default_rng(0)
    assert likely_groups(cube, 2, rng) == likely_groups(line, 2, rng) == []
    assert likely_groups(cells_behind([500, 300, 200]), 2, rng) != []


def test_progress_is_heard_before_the_end():
    heard = []
    draw_groups(cells_behind([500, 300, 200]), 2, np.random.default_rng(0), heard.append)
    assert heard == sorted(heard)
    assert 0 < heard[0] < heard[-1] < 1
