import numpy as np
import pytest

from shoal.domain import Box
from shoal.errors import InvalidSetting, UnknownColumn
from shoal.synopsis import AdaptiveGrid, PrivTree, Synopsis, UniformGrid
from shoal.synopsis._range_count import RATE, range_of

BOX = Box(x=(0, 10), y=(0, 1))


def rows(n=3_000):
    return BOX.unscale(np.random.default_rng(0).beta(2, 4, (n, 2)))


def fitted(kind=AdaptiveGrid, seed=1, **settings):
    return kind(epsilon=1, domain=BOX, random_state=seed, **settings).fit(rows())


def test_the_whole_box_holds_all_rows():
    found = fitted().range_count({})
    assert found.low <= 3_000 <= found.high
    assert found.rate == RATE
    assert found.missing is None


@pytest.mark.heavy
@pytest.mark.parametrize("kind", [AdaptiveGrid, UniformGrid, PrivTree])
def test_nine_in_ten_intervals_hold(kind):
    """60 ranges of 3 releases: ranges of a release share noise, so the limits are wide."""
    X, rng, held = rows(), np.random.default_rng(3), []
    for seed in range(3):
        synopsis = fitted(kind, seed=seed)
        for _ in range(20):
            ends = np.sort(rng.uniform(BOX.low, BOX.high, (2, 2)), axis=0)
            found = synopsis.range_count({"x": ends[:, 0], "y": ends[:, 1]})
            true = ((ends[0] <= X) & (ends[1] >= X)).all(axis=1).sum()
            held.append(found.low <= true <= found.high)
    assert np.mean(held) >= 0.75


def test_cells_inside_the_range_carry_their_noise_alone():
    grid = fitted(UniformGrid, cells=10)
    one, four = (grid.range_count({"x": (0, 1), "y": (0, end)}) for end in (0.1, 0.4))
    assert (four.high - four.count) == pytest.approx(2 * (one.high - one.count), rel=1e-6)


def test_a_range_that_cuts_cells_is_wider():
    grid = fitted(UniformGrid, cells=4)
    whole, cut = (grid.range_count({"x": (0, end)}) for end in (5, 4))
    assert cut.high - cut.count > whole.high - whole.count


def test_cells_that_one_side_cuts_err_together():
    """Twice as many rows on the wrong side of a cut then reach twice as far, and not 1.4 times."""
    grid = UniformGrid(epsilon=900, domain=BOX, cells=(4, 50), random_state=1)
    grid.fit(BOX.unscale(np.random.default_rng(0).uniform(size=(100_000, 2))))
    half, whole = (grid.range_count({"x": (0, 4), "y": (0, end)}) for end in (0.5, 1.0))
    ratio = (whole.high - whole.count) / (half.high - half.count)
    assert ratio == pytest.approx(2, rel=0.1)


def test_ranges_beyond_the_box_end_at_it():
    low, high = range_of(BOX, {"x": (-5, 20)})
    assert low.tolist() == [0, 0]
    assert high.tolist() == [10, 1]


def test_what_is_no_range_is_refused():
    with pytest.raises(UnknownColumn, match="no column"):
        fitted().range_count({"z": (0, 1)})
    with pytest.raises(InvalidSetting, match="not smaller"):
        fitted().range_count({"x": (3, 2)})
    with pytest.raises(InvalidSetting, match="not smaller"):
        fitted().range_count({"x": (float("nan"), 2)})


def test_a_loaded_synopsis_gives_the_count_and_says_why_no_interval(tmp_path):
    grid = fitted()
    grid.save(tmp_path / "cells")
    found = Synopsis.load(tmp_path / "cells").range_count({"x": (0, 5)})
    assert found.count == pytest.approx(grid.range_count({"x": (0, 5)}).count, rel=0.2)
    assert np.isnan(found.low)
    assert "not at hand" in found.missing


def test_cells_of_a_view_are_no_ranges():
    synopsis = fitted()
    synopsis.view_ = object()
    with pytest.raises(InvalidSetting, match="view"):
        synopsis.range_count({})
