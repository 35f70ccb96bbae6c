import numpy as np
import pytest

from shoal.errors import InvalidSetting
from shoal.planning._made_up import SHAPES, draw_table, place_centers, rows_about, spacing_of


@pytest.mark.parametrize("shape", SHAPES)
def test_a_made_up_table_lies_in_the_unit_box(shape):
    table = draw_table(400, 3, 4, shape, np.random.default_rng(1))
    assert table.rows.shape == (400, 3)
    assert table.centers.shape == (4, 3)
    assert table.rows.min() >= 0
    assert table.rows.max() <= 1


def test_shapes_go_from_clear_to_none():
    def spread(shape):
        table = draw_table(4_000, 2, 4, shape, np.random.default_rng(2))
        gaps = np.linalg.norm(table.rows[:, None] - table.centers[None], axis=2).min(axis=1)
        return np.median(gaps) / spacing_of(table.centers)

    clear, near, touching, _ = map(spread, SHAPES)
    assert clear < near < touching


def test_centres_stand_apart_and_away_from_the_bounds():
    centers = place_centers(6, 2, np.random.default_rng(3))
    assert spacing_of(centers) > 0.2
    assert centers.min() >= 0.1
    assert centers.max() <= 0.9


def test_a_single_centre_has_a_spacing_too():
    assert spacing_of(np.array([[0.3, 0.3]])) == 0.5


def test_each_group_can_have_a_spread_of_its_own():
    centers = np.array([[0.2, 0.5], [0.8, 0.5]])
    spreads = np.array([[0.001, 0.001], [0.05, 0.001]])
    rows = rows_about(centers, np.array([0.5, 0.5]), spreads, 2_000, np.random.default_rng(0))
    wide = rows[rows[:, 0] > 0.5, 0].std()
    assert 0.04 < wide < 0.06
    assert rows[rows[:, 0] < 0.5, 0].std() < 0.002


def test_another_shape_is_refused():
    with pytest.raises(InvalidSetting, match="clear, near, touching, no gaps"):
        draw_table(10, 1, 1, "round", np.random.default_rng(0))
