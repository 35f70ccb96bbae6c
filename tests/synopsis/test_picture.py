import numpy as np
import pytest

from shoal.domain import Box
from shoal.errors import UnknownColumn
from shoal.figures import CellMap, Mosaic
from shoal.synopsis import AdaptiveGrid, UniformGrid


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
