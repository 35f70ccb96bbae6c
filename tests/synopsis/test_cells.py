import numpy as np

from shoal.domain import Box, Grid
from shoal.synopsis import Cells


def test_cells_come_back_from_their_table():
    keys = np.array([0, 5, 11])
    cells = Cells(keys, *Grid(Box.unit(2), 4).bounds(keys), np.array([3, -1, 8]), keys / 3)
    table = cells.to_table(["age", "visits"])
    assert table.column_names[1:3] == ["low_age", "low_visits"]
    again = Cells.of_table(table, ["age", "visits"])
    for name in ("key", "low", "high", "noisy_count", "weight", "centers"):
        np.testing.assert_array_equal(getattr(again, name), getattr(cells, name))
    assert len(again) == 3
