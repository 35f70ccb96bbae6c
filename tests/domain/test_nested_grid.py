"""A zoomed grid: every row in one cell, by itself, on the borders and faces of the box too."""

import numpy as np
import pytest

from shoal.domain import Box, FarGrid, Grid, View, ZoomedGrid

BOX = Box.of(["a", "b", "c", "d", "e"], [-3.0, 0.0, 10.0, -1.0, 5.0], [7.0, 1.0, 1000.0, 1.0, 6.0])


def zoomed(d, center, width, cells=3):
    box = BOX.select(BOX.names[:d])
    view = View(box, np.eye(d), center, width)
    return ZoomedGrid(view, Grid(view.box, cells))


def rows_of(cells, seed, n=3_000):
    """Rows at all distances from the view, on its borders, and on faces and corners of the box."""
    rng = np.random.default_rng(seed)
    view, d = cells.view, cells.box.d
    away = rng.standard_normal((n, d)) * 2.0 ** rng.uniform(-2, 6, (n, 1)) * view.width
    on_borders = view.width * 2.0 ** rng.integers(-1, 4, (n, d)) * rng.choice([-1, 1], (n, d))
    corners = rng.choice([-1.0, 1.0], (n, d))
    faces = np.where(rng.random((n, d)) < 0.3, corners, rng.uniform(-1, 1, (n, d)))
    scaled = np.vstack([view.center + away, view.center + on_borders, corners, faces])
    return cells.box.unscale(np.clip(scaled, -1, 1), -1, 1)


CASES = [
    (d, center, width)
    for d in (1, 2, 3, 4, 5)
    for center in (0.0, -0.9, 1.0)
    for width in (0.5, 0.011)
]


@pytest.mark.parametrize(("d", "center", "width"), CASES)
def test_every_row_lies_within_the_bounds_of_its_cell(d, center, width):
    cells = zoomed(d, center, width)
    rows = rows_of(cells, d)
    keys = cells.keys(rows)
    assert keys.min() >= 0
    assert keys.max() < cells.size
    low, high = cells.bounds(keys)
    slack = 1e-6 * (cells.box.high - cells.box.low)
    assert ((low - slack <= rows) & (rows <= high + slack)).all()


@pytest.mark.parametrize(("d", "center", "width"), CASES[::3])
def test_a_row_is_in_the_same_cell_whoever_stands_beside_it(d, center, width):
    cells = zoomed(d, center, width)
    rows = rows_of(cells, d + 10, 200)
    alone = np.concatenate([cells.keys(row[None]) for row in rows])
    np.testing.assert_array_equal(cells.keys(rows), alone)
    np.testing.assert_array_equal(cells.keys(rows[::-1]), alone[::-1])


@pytest.mark.parametrize(("d", "center", "width"), CASES)
def test_the_cells_fill_the_box_without_overlap(d, center, width):
    cells = zoomed(d, center, width)
    low, high = cells.bounds(np.arange(cells.size))
    volume = ((high - low) / (cells.box.high - cells.box.low)).prod(axis=1).sum()
    assert volume == pytest.approx(1, abs=1e-5)


def test_a_border_belongs_to_the_inner_cell():
    cells = zoomed(1, 0.0, 0.25)
    width = 0.25 * 5  # half of a side of the box is 5
    keys = cells.keys([[2 + width], [2 + width + 1e-4], [2 + 2 * width], [2 + 2 * width + 1e-4]])
    assert cells.shell_of_cells()[keys].tolist() == [0, 1, 1, 2]


def test_a_cell_inwards_is_the_same_cell_at_half_the_distance():
    cells = zoomed(2, [0.2, -0.7], 0.05)
    shells, inward = cells.shell_of_cells(), cells.inward_cells()
    middles = cells.view.coordinates(np.add(*cells.bounds(np.arange(cells.size))) / 2).T
    whole = np.flatnonzero(shells > 1)
    # Cells that the box cuts have their middles elsewhere.
    low, high = cells.bounds(whole)
    sides = (high - low) / (cells.box.high - cells.box.low)
    whole = whole[(sides > 0.999 * sides.max(axis=1, keepdims=True)).all(axis=1)]
    np.testing.assert_array_equal(shells[inward[whole]], shells[whole] - 1)
    inside = whole[np.abs(middles[inward[whole]] * 2 - middles[whole]).max(axis=1) < 1e-3]
    assert inside.size > whole.size / 2


def test_a_row_moves_one_count_by_one():
    cells = zoomed(3, 0.1, 0.02)
    rows = rows_of(cells, 5, 400)
    before = np.bincount(cells.keys(rows), minlength=cells.size)
    for row in rows[::97]:
        after = np.bincount(cells.keys(np.vstack([row, rows])), minlength=cells.size)
        assert np.abs(after - before).sum() == 1


def test_a_view_of_all_of_the_box_has_no_shells():
    assert zoomed(2, 0.0, 1.0).shells == ()


def far_cells(d, farthest):
    names = [f"y{i}" for i in range(d)]
    return FarGrid(Grid(Box.of(names, [-1.0] * d, [1.0] * d), 2), farthest)


@pytest.mark.parametrize("d", [1, 3, 7, 9])
def test_far_points_lie_within_the_bounds_of_their_cells(d):
    rng, cells = np.random.default_rng(d), far_cells(d, 60.0)
    points = np.clip(
        rng.standard_normal((4_000, d)) * 2.0 ** rng.uniform(-1, 5, (4_000, 1)), -60, 60
    )
    keys = cells.keys(points)
    low, high = cells.bounds(keys)
    far = np.abs(points).max(axis=1) > FarGrid.BEYOND
    assert ((keys >= cells.grid.size) == far).all()
    assert far.any()
    assert ((low[far] <= points[far]) & (points[far] <= high[far])).all()
    np.testing.assert_array_equal(keys[~far], cells.grid.keys(np.clip(points[~far], -1, 1)))
    np.testing.assert_array_equal(cells.keys(points[::-1]), keys[::-1])


def test_what_lies_beyond_the_last_doubling_by_rounding_is_in_it():
    cells = far_cells(2, 8.0)
    assert cells.keys([[8.0, 0.0], [8.0 + 1e-9, 0.0]]).tolist() == [cells.size - 2] * 2


def test_no_coordinate_of_a_row_exceeds_the_farthest():
    rng = np.random.default_rng(4)
    axes = np.linalg.qr(rng.standard_normal((6, 3))).Q
    view = View(Box.of(list("abcdef"), [0.0] * 6, [5.0] * 6), axes, rng.uniform(-1, 1, 6), 0.03)
    corners = 5 * (rng.random((5_000, 6)) < 0.5)
    seen = np.abs(view.coordinates(corners)).max()
    assert 0.5 * view.farthest < seen <= view.farthest * (1 + 1e-9)
