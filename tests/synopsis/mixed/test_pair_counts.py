import numpy as np
import pytest

from shoal.domain import Schema
from shoal.engine import rows_of
from shoal.synopsis.mixed._columns import mixed_columns
from shoal.synopsis.mixed._pair_counts import MOST_CELLS, pair_counts

SCHEMA = Schema.of(
    {
        "version": 1,
        "columns": {
            "age": {"low": 0, "high": 100},
            "grade": {"levels": ["low", "middle", "high"]},
            "sex": {"values": ["F", "M"]},
        },
    }
)
ROWS = {"age": [1.0, 99.0, 51.0], "grade": ["low", "high", "high"], "sex": ["F", "M", "F"]}


def counts():
    kernel = pair_counts(mixed_columns(SCHEMA))
    return kernel.unpacked(rows_of(ROWS, SCHEMA).sum(kernel)[0])


def test_every_column_and_pair_is_counted_in_one_pass():
    exact = counts()
    assert [each.sum() for each in exact.one_ways] == [3, 3, 3]
    assert exact.tables[1, 2].tolist() == [[1, 0], [0, 0], [1, 1]]
    assert set(exact.tables) == {(0, 1), (0, 2), (1, 2)}


@pytest.mark.parametrize("bins", [4, 8, 32])
def test_fewer_bins_are_sums_of_more(bins):
    coarse = counts().coarsened(bins)
    assert coarse.one_ways[0].size == bins
    assert coarse.one_ways[1].tolist() == [1, 0, 2]  # levels stay as they are
    assert coarse.tables[0, 2].shape == (bins, 2)
    assert coarse.tables[0, 2].sum() == 3


def many(columns):
    return mixed_columns(Schema.of({"version": 1, "columns": columns}))


def test_sixty_numbers_are_counted_at_bins_that_fit():
    kernel = pair_counts(many({f"x{i}": {"low": 0, "high": 1} for i in range(90)}))
    assert kernel.bins == 16
    assert len(kernel.pairs) == 90 * 89 // 2


@pytest.mark.heavy
def test_of_very_large_tables_the_smallest_are_counted():
    columns = {f"c{i}": {"values": list(range(300))} for i in range(30)}
    kernel = pair_counts(many(columns | {"sex": {"values": ["F", "M"]}}))
    sizes = kernel.columns.sizes(kernel.bins)
    assert sum(sizes[i] * sizes[j] for i, j in kernel.pairs) <= MOST_CELLS
    assert sum(30 in pair for pair in kernel.pairs) == 30  # all pairs with the small column
    assert 30 < len(kernel.pairs) < 435


def test_no_rows_are_counted_as_none():
    kernel = pair_counts(mixed_columns(SCHEMA))
    empty = {name: np.array([]) for name in ROWS}
    assert rows_of(empty, SCHEMA).sum(kernel)[0].sum() == 0
