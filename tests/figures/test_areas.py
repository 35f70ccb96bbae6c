import numpy as np

from shoal.figures import dense_areas


def test_the_densest_block_comes_first_and_blocks_do_not_overlap():
    counts = np.random.default_rng(3).poisson(2, (20, 12))
    counts[4:7, 4:7] += 50
    counts[14:17, 2:5] += 30
    areas = dense_areas(counts, (0, 0), (20, 12), how_many=5)
    assert areas[0].middle == (5.5, 5.5)
    assert areas[1].middle == (15.5, 3.5)
    for i, one in enumerate(areas):
        for other in areas[:i]:
            apart = [
                one.low[a] >= other.high[a] - 1e-9 or other.low[a] >= one.high[a] - 1e-9
                for a in (0, 1)
            ]
            assert any(apart)


def test_an_area_reports_the_sum_of_its_cells():
    counts = np.arange(36).reshape(6, 6)
    (area,) = dense_areas(counts, (0, 0), (60, 6), how_many=1)
    assert area.noisy_count == counts[3:, 3:].sum()
    assert (area.low, area.high, area.cells) == ((30.0, 3.0), (60.0, 6.0), 9)


def test_a_map_of_nothing_has_no_areas():
    assert dense_areas(np.full((5, 5), -3), (0, 0), (1, 1)) == []


def test_a_grid_of_one_cell_is_one_area():
    assert [a.noisy_count for a in dense_areas([[7]], (0, 0), (1, 1))] == [7]


def test_areas_come_in_order_of_their_counts_and_only_above_what_is_asked():
    counts = np.random.default_rng(5).poisson(3, (30, 30))
    sums = [area.noisy_count for area in dense_areas(counts, (0, 0), (1, 1), how_many=20)]
    assert sums == sorted(sums, reverse=True)
    high = dense_areas(counts, (0, 0), (1, 1), how_many=20, above=38)
    assert 0 < len(high) < 20
    assert all(area.noisy_count > 38 for area in high)
