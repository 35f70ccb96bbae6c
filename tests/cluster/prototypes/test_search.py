import numpy as np
import pytest

from shoal.cluster.prototypes._mixed_rows import MixedRows
from shoal.cluster.prototypes._search import find_prototypes
from shoal.domain import Schema
from shoal.synopsis.mixed._columns import mixed_columns

COLUMNS = mixed_columns(
    Schema.of(
        {
            "version": 1,
            "columns": {
                "age": {"low": 0, "high": 1},
                "income": {"low": 0, "high": 1},
                "sex": {"values": ["F", "M"]},
                "town": {"values": ["a", "b", "c"]},
            },
        }
    )
)


def two_groups(n=200):
    rng = np.random.default_rng(1)
    side = rng.integers(0, 2, n)
    numbers = np.column_stack([side - 0.5, 0.5 - side]) + rng.normal(0, 0.05, (n, 2))
    return MixedRows(COLUMNS, np.clip(numbers, -1, 1), np.column_stack([side, 2 * side])), side


def test_groups_that_are_far_apart_are_told_apart():
    rows, side = two_groups()
    labels = rows.labels(find_prototypes(rows, 2, np.random.default_rng(0), 4))
    assert len({(a, b) for a, b in zip(labels, side, strict=True)}) == 2


def test_more_starts_are_never_worse():
    rows = MixedRows(
        COLUMNS,
        np.random.default_rng(2).uniform(-1, 1, (300, 2)),
        np.random.default_rng(3).integers(0, [2, 3], (300, 2)),
    )

    def cost(n_init):
        found = find_prototypes(rows, 5, np.random.default_rng(0), n_init)
        return rows.costs(found).min(axis=1).sum()

    assert cost(6) <= cost(1)


@pytest.mark.parametrize("n", [1, 3])
def test_fewer_rows_than_prototypes_are_fine(n):
    rows = two_groups()[0].taken(np.arange(n))
    assert len(find_prototypes(rows, 5, np.random.default_rng(0), 2)) == 5


def test_equal_rows_are_fine():
    rows = two_groups()[0].taken(np.zeros(50, int))
    found = find_prototypes(rows, 3, np.random.default_rng(0), 2)
    assert rows.costs(found).min(axis=1).sum() == pytest.approx(0, abs=1e-9)
