import numpy as np
import pandas as pd
import pytest

from shoal.domain import Box, Categories
from shoal.errors import InvalidSetting
from shoal.mechanisms import (
    LocalGrid,
    Mixed,
    NDLaplace,
    RandomizedResponse,
    Restrict,
    UnaryEncoding,
)
from shoal.perturb._table_layout import shape_of
from shoal.randomness import Randomness

BOX = Box(age=(0, 110))
TOWNS = Categories(["Aachen", "Ulm", "Zwickau"])
MIXED = Mixed(60 / 3, {"age": (0, 110), "town": TOWNS})
TABLE = pd.DataFrame({"age": [31.0, 47.0], "town": ["Ulm", "Aachen"]})


@pytest.mark.parametrize(
    ("mechanism", "names"),
    [
        (NDLaplace(1.0), None),
        (NDLaplace(1.0, domain=BOX), ("age",)),
        (Restrict(NDLaplace(1.0), BOX), ("age",)),
        (RandomizedResponse(1.0, TOWNS), None),
        (MIXED, ("age", "town")),
        (LocalGrid(BOX, epsilon=1, cells=5), ("age",)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_mechanism_names_the_columns_it_knows(mechanism, names):
    assert shape_of(mechanism).names == names


def test_reports_become_a_matrix_and_columns_again():
    shape = shape_of(MIXED)
    value = shape.read(TABLE, ("age", "town"))
    matrix = shape.matrix(shape.drawn.release(value, Randomness(1).noise))
    age, town = shape.columns(matrix)
    assert matrix.shape == (2, 2)
    assert town.tolist() == ["Ulm", "Aachen"]  # at epsilon 10 all but surely
    assert age.dtype == np.float64


def test_some_lines_are_those_asked_for():
    shape = shape_of(MIXED)
    some = shape.some(shape.read(TABLE, ("age", "town")), [1])
    assert some["age"].tolist() == [47.0]
    assert some["town"].tolist() == [0]


def test_bits_are_named_by_their_category():
    shape = shape_of(UnaryEncoding(1.0, TOWNS))
    assert shape.names_out(("town",)) == ("town=Aachen", "town=Ulm", "town=Zwickau")
    assert [column.dtype for column in shape.columns(np.eye(3))] == [np.uint8] * 3


def test_codes_stay_codes_where_no_list_is_given():
    shape = shape_of(RandomizedResponse(1.0, 4))
    assert shape.columns(np.array([[3.0], [0.0]]))[0].tolist() == [3, 0]


def test_cells_are_whole_numbers_in_one_column():
    grid = LocalGrid(Box(age=(0, 110), visits=(0, 20)), epsilon=12, cells=(5, 4))
    shape = shape_of(grid)
    rows = np.array([[31.0, 2.0], [500.0, np.nan]])
    reports = grid.release(shape.read(rows, None), Randomness(1).noise)
    (column,) = shape.columns(shape.matrix(reports))
    assert shape.names_out(("age", "visits")) == ("cell",)
    assert column.dtype == np.int64
    np.testing.assert_array_equal(column, reports.values)


def test_cells_are_known_before_rows_come():
    with pytest.raises(InvalidSetting, match="needs the number of people"):
        shape_of(LocalGrid(BOX, epsilon=1))


@pytest.mark.parametrize("thing", [NDLaplace, 1.0, None, "nd-laplace"])
def test_what_randomises_nothing_is_refused(thing):
    with pytest.raises(InvalidSetting, match="must be a local mechanism"):
        shape_of(thing)
