import pickle

import numpy as np
import pytest

from shoal.domain import Box, Grid, View, ViewedCells
from shoal.engine import rows_of
from shoal.errors import InvalidDomain, TooLarge

rng = np.random.default_rng(3)


def looking(d, p, **settings):
    box = Box.of([f"c{i}" for i in range(d)], np.full(d, 10.0), np.full(d, 14.0))
    return View(box, np.linalg.qr(rng.normal(size=(d, p))).Q, **settings)


def test_a_view_of_all_axes_comes_back():
    view = looking(4, 4, center=0.1, width=3.0)
    X = rng.uniform(10, 14, (50, 4))
    np.testing.assert_allclose(view.embed(view.apply(X)), X, atol=1e-5)


def test_distances_are_those_of_the_scaled_box_divided_by_the_width():
    view = looking(5, 5, width=4.0)
    X = rng.uniform(10, 14, (2, 5))
    seen, scaled = view.apply(X), view.domain.scale(X, -1, 1)
    np.testing.assert_allclose(
        np.linalg.norm(seen[0] - seen[1]) * 4, np.linalg.norm(scaled[0] - scaled[1]), atol=1e-5
    )


def test_rows_far_off_land_on_the_walls_of_the_cube():
    seen = looking(6, 2, width=0.01).apply(rng.uniform(10, 14, (100, 6)))
    assert np.abs(seen).max() == 1


@pytest.mark.parametrize(("d", "p"), [(2, 1), (12, 12), (50, 12), (256, 12)])
def test_where_a_row_lands_depends_on_that_row_alone(d, p):
    """A product summed in another order may round otherwise and cross the wall of a cell."""
    view = looking(d, p, center=rng.uniform(-1, 1, d), width=0.7)
    X = rng.uniform(10, 14, (301, d))
    together = view.apply(X)
    one_by_one = np.concatenate([view.apply(X[i : i + 1]) for i in range(len(X))])
    np.testing.assert_array_equal(together, one_by_one)
    np.testing.assert_array_equal(together[1:], view.apply(np.asfortranarray(X[1:])))


def test_floats_as_they_come_would_depend_on_their_neighbours():
    """The broken twin: the same product without the lattice rounds by its place in the block."""
    differing = 0
    for d in (50, 129, 256):
        Q, X = np.linalg.qr(rng.normal(size=(d, 12))).Q, rng.uniform(-1, 1, (301, d))
        one_by_one = np.concatenate([X[i : i + 1] @ Q for i in range(len(X))])
        differing += np.count_nonzero(one_by_one != X @ Q)
    assert differing > 0


def test_cells_of_a_view_are_counted_like_any_others():
    view = looking(7, 2)
    X = rng.uniform(9, 15, (1000, 7))
    cells = ViewedCells(view, Grid(view.box, 5))
    counts = rows_of(X, view.domain).count(cells)
    expected = np.bincount(Grid(view.box, 5).keys(view.apply(X)), minlength=25)
    np.testing.assert_array_equal(counts, expected)


def test_a_view_is_kept_as_plain_values_and_travels():
    view = looking(3, 2, center=[0.1, 0, -0.2], width=0.5)
    X = rng.uniform(10, 14, (9, 3))
    for again in (View.of(view.domain, view.to_dict()), pickle.loads(pickle.dumps(view))):
        np.testing.assert_array_equal(again.apply(X), view.apply(X))


@pytest.mark.parametrize(
    "settings",
    [
        {"axes": np.eye(3)},
        {"axes": np.ones((2, 2))},
        {"axes": [1.0, 0.0]},
        {"axes": np.eye(2), "width": 0.0},
        {"axes": np.eye(2), "center": np.nan},
    ],
)
def test_what_makes_no_view_is_refused(settings):
    with pytest.raises(InvalidDomain):
        View(Box.unit(2), **settings)


def test_more_columns_than_sums_are_exact_for_are_refused():
    with pytest.raises(TooLarge, check=lambda error: error.reason == "columns"):
        View(Box.unit(257), np.eye(257)[:, :2])
