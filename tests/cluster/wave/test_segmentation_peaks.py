"""The tree of peaks against a sweep written out in full."""

import numpy as np
import pytest
from scipy import ndimage

from shoal.cluster.wave._segmentation import PeakTree, SmoothGrid, smooth_grid, smoothing_error


def swept(heights: np.ndarray, floor: float, z: float, variance: float, shrink: float) -> int:
    """Flood from the top, cell by cell; count the clusters that are left."""
    parent, peak = {}, {}

    def root(cell):
        while parent[cell] != cell:
            cell = parent[cell]
        return cell

    for cell in sorted(zip(*np.where(heights > floor), strict=True), key=lambda c: -heights[c]):
        parent[cell] = cell
        peak[cell] = heights[cell]
        around = [tuple(np.add(cell, s)) for s in np.ndindex(3, 3)]
        around = [(r - 1, c - 1) for r, c in around]
        for root_there in sorted({root(n) for n in around if n in parent and n != cell},
                                 key=lambda r: -peak[r]):  # fmt: skip
            here = root(cell)
            if here == root_there:
                continue
            low, high = sorted([here, root_there], key=lambda r: peak[r])
            P, h = peak[low], heights[cell]
            if low == cell or P - h < z * np.sqrt(2 * variance + shrink * max(P + h, 0)):
                parent[low] = high
    return len({root(cell) for cell in parent})


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("z", [0.5, 1.0, 2.0])
def test_it_finds_as_many_clusters_as_a_sweep(seed, z):
    rng = np.random.default_rng(seed)
    heights = ndimage.gaussian_filter(rng.normal(0, 6, (24, 24)), 1.2)
    grid = SmoothGrid(heights, noise_variance=0.02, shrink=0.05)
    tree = PeakTree.of(grid, floor=-0.5)
    labels = tree.labels(z)
    assert labels.max() + 1 == tree.n_clusters(z) == swept(heights, -0.5, z, 0.02, 0.05)
    assert ((labels >= 0) == (heights > -0.5)).all()


def two_hills(depth: float) -> np.ndarray:
    x = np.linspace(-3, 3, 61)
    hills = np.exp(-((x - 1.5) ** 2)) + np.exp(-((x + 1.5) ** 2))
    return 100 * np.maximum(hills, depth)[:, None] * np.exp(-(x**2))


def test_two_hills_part_where_the_valley_is_deep_enough():
    deep, shallow = (
        PeakTree.of(smooth_grid(two_hills(depth), 1.0, 1.0), 5.0) for depth in (0.0, 0.97)
    )
    assert deep.labels(3.0).max() == 1
    assert shallow.labels(3.0).max() == 0


def test_the_cells_of_a_hill_climb_to_its_own_peak():
    labels = PeakTree.of(smooth_grid(two_hills(0.0), 1.0, 1.0), 5.0).labels(3.0)
    inside = labels[:, 30]
    assert set(inside[inside >= 0][:15]) == {0}
    assert set(inside[inside >= 0][-15:]) == {1}


def test_every_cut_can_be_read_off_one_tree():
    rng = np.random.default_rng(0)
    tree = PeakTree.of(smooth_grid(rng.poisson(3, (40, 40)), 1.0, 1.0), 0.0)
    counts = [tree.n_clusters(z) for z in (0, 1, 2, 3, 99)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == tree.peaks.size
    assert counts[-1] == 1


def test_a_higher_floor_leaves_the_tree_that_would_be_made_there():
    grid = smooth_grid(np.random.default_rng(3).poisson(3, (40, 40)), 1.0, 1.0)
    made, left = PeakTree.of(grid, 2.5), PeakTree.of(grid, 0.0).above(2.5, grid)
    for z in (0.5, 1.0, 2.0):
        assert (made.labels(z) == left.labels(z)).all()
    assert made.significance.tolist() == left.significance.tolist()


def test_nothing_above_the_floor_makes_no_cluster():
    tree = PeakTree.of(smooth_grid(np.zeros((6, 6)), 1.0, 1.0), 1.0)
    assert tree.labels(3.0).max() == -1
    assert tree.n_clusters(3.0) == 0


def test_ties_do_not_depend_on_the_machine():
    flat = PeakTree.of(SmoothGrid(np.ones((5, 5)), 0.0, 1.0), 0.0)
    assert flat.labels(3.0, min_cells=1).max() == 0


def test_one_and_three_axes_work_alike():
    line = np.zeros(40)
    line[[8, 30]] = 300
    cube = np.zeros((12, 12, 12))
    cube[2, 2, 2] = cube[9, 9, 9] = 3000
    for grid in (line, cube):
        tree = PeakTree.of(smooth_grid(grid, 1.0, 1.0), 0.5)
        assert tree.labels(3.0, min_cells=3).max() == 1


def test_smoothing_keeps_rows_and_says_what_is_left_of_the_noise():
    noise = np.random.default_rng(1).normal(0, 2, (300, 300))
    scale = smooth_grid(noise, 4.0, 1.0)
    assert scale.noise_variance == pytest.approx(scale.heights[8:-8, 8:-8].var(), rel=0.03)
    assert smooth_grid(noise, 4.0, 0.0).heights is not None


def test_the_estimated_error_prefers_more_smoothing_of_more_noise():
    rng = np.random.default_rng(2)
    true = ndimage.gaussian_filter(rng.poisson(1, (64, 64)) * 20.0, 2)
    best = []
    for sd in (1, 10):
        noisy = true + rng.normal(0, sd, true.shape)
        errors = [smoothing_error(noisy, sd**2, s) for s in (0.0, 0.5, 1.0, 2.0)]
        best.append(int(np.argmin(errors)))
    assert best[0] < best[1]
