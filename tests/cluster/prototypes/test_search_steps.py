import numpy as np
import pytest

from shoal.cluster.prototypes._group_measurements import NoisyMeasurements, group_blocks
from shoal.cluster.prototypes._mixed_rows import MixedRows, Prototypes
from shoal.cluster.prototypes._search import bend_rows, move_prototypes, reach_of
from shoal.domain import Schema
from shoal.synopsis.mixed._columns import LATTICE, mixed_columns

COLUMNS = mixed_columns(
    Schema.of(
        {
            "version": 1,
            "columns": {
                "age": {"low": 0, "high": 100},
                "sex": {"values": ["F", "M"]},
                "town": {"values": ["a", "b", "c"]},
            },
        }
    )
)
PROTOTYPES = Prototypes(np.array([[-0.5], [0.5]]), np.array([[0, 0], [1, 2]]))


def measured(sizes, offsets, men_less_women, towns, epsilon=1.0):
    vectors = np.column_stack([sizes, np.array(offsets) * LATTICE, men_less_women, towns])
    return NoisyMeasurements(COLUMNS, vectors.astype(np.int64), epsilon, np.ones(1))


def rows(n=400):
    rng = np.random.default_rng(0)
    side = np.arange(n) % 2
    numbers = (side - 0.5)[:, None] + rng.normal(0, 0.05, (n, 1))
    return MixedRows(COLUMNS, numbers, np.column_stack([side, 2 * side]))


def test_prototypes_move_to_what_was_measured():
    seen = measured([5000, 5000], [500, -500], [4000, -4000], [[0, 5000, 0], [5000, 0, 0]])
    moved = move_prototypes(PROTOTYPES, seen)
    assert moved.numbers[:, 0] == pytest.approx([-0.4, 0.4], abs=0.01)
    assert moved.codes.tolist() == [[1, 1], [0, 0]]


def test_noise_alone_moves_nothing():
    blocks = group_blocks(COLUMNS)
    small = np.rint(0.5 * blocks.deviations(1.0)).astype(int)
    seen = measured([40, 40], [0.1, 0.1], [small[2], -small[2]], [[20, 20, 0], [0, 20, 20]])
    moved = move_prototypes(PROTOTYPES, seen)
    assert moved.codes.tolist() == PROTOTYPES.codes.tolist()
    assert np.abs(moved.numbers - PROTOTYPES.numbers).max() < 0.01


def test_bent_rows_have_the_sizes_and_shares_that_were_measured():
    seen = measured([9000, 1000], [900, 0], [-8000, 800], [[6000, 3000, 0], [0, 0, 1000]])
    made = rows()
    made = MixedRows(COLUMNS, made.numbers, made.codes.copy())
    made.codes[::4, 1] = 1  # some rows of the first group are in another town
    bent = bend_rows(made, PROTOTYPES, seen, np.random.default_rng(1))
    first = bent.labels(PROTOTYPES) == 0
    assert first.mean() == pytest.approx(0.9, abs=0.06)
    assert np.mean(bent.codes[first, 1] == 1) == pytest.approx(1 / 3, abs=0.08)
    assert bent.numbers[first].mean() == pytest.approx(-0.4, abs=0.03)


def test_groups_measured_below_zero_leave_the_model_as_it_is():
    seen = measured([-500, -500], [0, 0], [0, 0], [[0, 0, 0], [0, 0, 0]])
    made = rows()
    assert bend_rows(made, PROTOTYPES, seen, np.random.default_rng(1)) is made


def test_the_reach_holds_most_synthetic_rows():
    reach = reach_of(rows(), PROTOTYPES)
    apart = np.abs(rows().numbers - PROTOTYPES.numbers[rows().labels(PROTOTYPES)])
    assert np.mean(apart <= reach) == pytest.approx(0.95, abs=0.01)
    assert reach_of(rows().taken(slice(0, 1)), PROTOTYPES)[0] >= 0.03
