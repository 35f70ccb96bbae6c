import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from shoal.domain import Box
from shoal.errors import UnknownColumn
from shoal.figures import CellMap, Mosaic
from shoal.privacy import Ledger
from shoal.synopsis import AdaptiveGrid, UniformGrid

SHIFT = np.array([1000, -20])
BOX = Box(age=(0, 110), visits=(0, 20))
X = np.random.default_rng(1).normal([40, 5], [9, 2], (5000, 2))


@pytest.fixture(scope="module")
def synopsis():
    return AdaptiveGrid(epsilon=1, domain=BOX, random_state=3).fit(X)


def test_points_are_the_centres_of_cells_and_their_weights(synopsis):
    centers, weights = synopsis.points()
    np.testing.assert_array_equal(centers, (synopsis.cells_.low + synopsis.cells_.high) / 2)
    assert weights.min() > 0
    assert np.all(np.diff(synopsis.cells_.key) > 0)


def test_synthetic_points_look_like_the_rows(synopsis):
    points = synopsis.sample(20_000, np.random.default_rng(0))
    assert points.shape == (20_000, 2)
    assert BOX.contains(points).all()
    np.testing.assert_allclose(points.mean(axis=0), X.mean(axis=0), rtol=0.05)
    np.testing.assert_allclose(points.std(axis=0), X.std(axis=0), rtol=0.2)
    np.testing.assert_array_equal(synopsis.sample(5, 7), synopsis.sample(5, 7))
    assert synopsis.sample(0).shape == (0, 2)


def test_synthetic_points_of_nothing_fill_the_box():
    grid = UniformGrid(epsilon=1, domain=BOX, cells=3, n_public=1, random_state=0)
    empty = grid.fit(np.empty((0, 2)))
    empty.cells_ = empty.cells_.of_table(empty.cells_.to_table(BOX.names).slice(0, 0), BOX.names)
    points = empty.sample(1000, 0)
    assert BOX.contains(points).all()
    np.testing.assert_allclose(points.mean(axis=0), [55, 10], rtol=0.1)


def test_what_lies_within_cells_makes_up_for_the_inertia_of_their_centres():
    synopsis = UniformGrid(epsilon=1, domain=BOX, cells=6, random_state=3).fit(X)
    centers, weights = synopsis.points()
    middle = np.average(centers, axis=0, weights=weights)
    inertia = weights @ ((centers - middle) ** 2).sum(axis=1)
    points = synopsis.sample(200_000, 0)
    spread = ((points - points.mean(axis=0)) ** 2).sum(axis=1).mean() * weights.sum()
    assert inertia + synopsis.within_cells() == pytest.approx(spread, rel=0.02)
    assert inertia < 0.9 * spread


def test_a_synopsis_that_is_not_fitted_says_so():
    grid = UniformGrid(epsilon=1, domain=BOX)
    for use in (
        grid.points,
        grid.within_cells,
        lambda: grid.sample(3),
        lambda: grid.noise_variance,
    ):
        with pytest.raises(NotFittedError):
            use()


def test_a_clone_shares_the_ledger_and_pays_again():
    ledger = Ledger()
    grid = UniformGrid(epsilon=1, domain=BOX, ledger=ledger, random_state=1)
    for each in (grid, clone(grid), clone(grid)):
        each.fit(X)
    assert [float(total.epsilon) for total in ledger.totals()] == [3]


def test_the_same_seed_gives_the_same_synopsis_in_a_shifted_box():
    far = Box(age=(1000, 1110), visits=(-20, 0))
    here, there = (
        AdaptiveGrid(epsilon=1, domain=box, random_state=5).fit(rows)
        for box, rows in ((BOX, X.round(3)), (far, X.round(3) + SHIFT))
    )
    assert abs(len(here.cells_) - len(there.cells_)) <= 3  # a row on a wall may round otherwise
    assert here.n_rows_ == there.n_rows_


def fitted(d, **settings):
    X = np.clip(np.random.default_rng(2).normal(0.3, 0.1, (3000, d)), 0, 1)
    return AdaptiveGrid(epsilon=1, domain=Box.unit(d), random_state=1, **settings).fit(X)


@pytest.mark.parametrize(("d", "kind"), [(1, Mosaic), (2, Mosaic), (3, CellMap), (6, CellMap)])
def test_a_synopsis_of_any_number_of_columns_has_a_picture(d, kind):
    figure = fitted(d).plot()
    assert type(figure) is kind
    assert figure.svg().startswith("<svg")
    assert figure.data["names"][0] == "x0"


def test_two_columns_of_many_can_be_chosen():
    figure = fitted(4).plot(columns=["x3", "x1"])
    assert figure.data["names"] == ["x3", "x1"]
    assert "near x3 0.2" in figure.alt


def test_more_tiles_than_a_picture_holds_are_added_up():
    grid = UniformGrid(epsilon=1, domain=Box.unit(2), cells=150, negative="zero", random_state=1)
    assert type(grid.fit(np.random.default_rng(2).random((90_000, 2))).plot()) is CellMap


@pytest.mark.parametrize("columns", [["x0"], ["x0", "x0"], ["x0", "age"], "x0", ["x0", "x1", "x2"]])
def test_columns_that_make_no_map_are_refused(columns):
    with pytest.raises(UnknownColumn):
        fitted(3).plot(columns=columns)
