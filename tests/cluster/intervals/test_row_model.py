import numpy as np
import pytest

from shoal.cluster.intervals._row_model import GroupCells, RowModel, WholeColumns, made_up_rows
from shoal.domain import Box

CENTERS = np.array([[-0.5, 0.0], [0.5, 0.0]])
SIZES = np.array([300.0, 100.0])


def of_cells():
    low = np.array([[-0.6, -0.1], [-0.5, 0.0], [0.4, -0.1]])
    return RowModel.from_cells(CENTERS, SIZES, low, low + 0.1, np.array([60.0, 60.0, 40.0]))


def test_a_million_rows_are_drawn_as_few():
    assert made_up_rows(10**6) == made_up_rows(10**8) == 20_000
    assert made_up_rows(0) == 1


def test_rows_are_drawn_about_released_centres_in_released_shares():
    rows = of_cells().draw(20_000, np.random.default_rng(0))
    assert rows.shape == (20_000, 2)
    assert np.abs(rows).max() <= 1
    left = rows[rows[:, 0] < 0]
    assert len(left) == pytest.approx(15_000, rel=0.03)
    np.testing.assert_allclose(left.mean(axis=0), CENTERS[0], atol=0.01)


def test_groups_are_as_wide_as_their_cells_less_what_the_cells_add():
    model = of_cells()
    corrected = 0.05**2 - 0.1**2 / 12
    np.testing.assert_allclose(model.cells[0].variances, corrected)
    left = model.draw(20_000, np.random.default_rng(0))
    left = left[left[:, 0] < 0]
    np.testing.assert_allclose(left.std(axis=0), np.sqrt(corrected), rtol=0.1)


def test_rows_in_a_single_cell_have_some_width():
    low = np.zeros((1, 2))
    cells = GroupCells(low, low + 0.1, np.ones(1))
    np.testing.assert_allclose(cells.variances, 0.1**2 / 12 / 4)


def test_half_of_the_rows_have_longer_tails_than_normal_ones():
    offsets = RowModel.without_cells(CENTERS, SIZES)._offsets(0, 50_000, np.random.default_rng(0))
    scaled = np.abs(offsets / 0.2)
    assert (scaled**2).mean() == pytest.approx(1, abs=0.1)
    assert (scaled > 3).mean() > 3 * 0.0027  # a normal law has 0.0027


def test_a_group_without_cells_is_as_wide_as_the_others():
    low = np.array([[-0.6, -0.1]])
    model = RowModel.from_cells(CENTERS, SIZES, low, low + 0.1, np.array([60.0]))
    assert model.cells[1] is None
    np.testing.assert_allclose(np.diag(model.roots[1]) ** 2, model.cells[0].variances)


def test_without_any_cell_groups_are_near_each_other():
    model = RowModel.without_cells(CENTERS, np.zeros(2))
    np.testing.assert_allclose(model.roots, np.tile(0.2 * np.eye(2), (2, 1, 1)))
    alone = RowModel.without_cells(CENTERS[:1], np.zeros(1))
    np.testing.assert_allclose(alone.roots[0], 0.3 * np.eye(2))
    assert not alone.has_cells


def test_rows_lie_along_the_line_that_their_cells_make():
    low = np.arange(8)[:, None] * [0.1, 0.1] - 0.4
    model = RowModel.from_cells(CENTERS[:1], SIZES[:1], low, low + 0.1, np.full(8, 20.0))
    drawn = model._offsets(0, 20_000, np.random.default_rng(0))
    assert np.corrcoef(drawn.T)[0, 1] > 0.9


def test_cells_as_they_are_lie_where_they_lie():
    drawn = of_cells().draw_from_cells(4_000, np.random.default_rng(0))
    assert (drawn[:, 0] > 0).mean() == pytest.approx(8 / 64, abs=0.03)  # soft weights
    assert drawn[drawn[:, 0] > 0].min(axis=0) == pytest.approx([0.4, -0.1], abs=0.01)


def test_cells_are_drawn_by_weight_about_their_mean():
    low = np.array([[0.0], [0.5]])
    cells = GroupCells(low, low + 0.5, np.array([3.0, 1.0]))
    assert cells.mean.tolist() == [0.375]
    drawn = cells.draw(10_000, np.random.default_rng(0))
    assert drawn.var() == pytest.approx(cells.variances[0], rel=0.05)
    assert abs(drawn.mean()) < 0.01
    in_first = drawn < (0.5 - 0.375) * np.sqrt(cells.variances / cells.even_variances)
    assert in_first.mean() == pytest.approx(0.75, abs=0.02)


def test_whole_columns_hold_whole_numbers_inside_the_bounds_and_others_are_left_as_they_are():
    box = Box(children=(0.5, 4.5), income=(0, 10))
    drawn = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    rounded = WholeColumns(box, (True, False)).round(drawn)
    children = box.unscale(rounded, -1, 1)[:, 0]
    np.testing.assert_allclose(children, np.rint(children), atol=1e-9)
    assert set(np.rint(children)) == {1, 2, 3, 4}
    np.testing.assert_allclose(rounded[:, 1], drawn[:, 1])


def test_a_part_of_the_variance_can_lie_along_the_centres_at_the_same_trace():
    round_ = RowModel.without_cells(CENTERS, SIZES)
    longer = round_.along_centers(0.6)
    before, after = (model.roots[0] @ model.roots[0].T for model in (round_, longer))
    assert after.trace() == pytest.approx(before.trace())
    assert after[0, 0] > 3 * after[1, 1]
    assert round_.along_centers(0.0) is round_
