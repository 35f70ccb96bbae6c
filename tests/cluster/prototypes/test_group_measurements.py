import numpy as np
import pytest

from shoal.cluster.prototypes._group_measurements import (
    Assignment,
    GroupSums,
    NoisyMeasurements,
    group_blocks,
    measure,
)
from shoal.cluster.prototypes._mixed_rows import MixedRows, Prototypes
from shoal.domain import Schema
from shoal.engine import Block, rows_of
from shoal.estimator import Spending
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness
from shoal.synopsis.mixed._columns import LATTICE, mixed_columns

SCHEMA = Schema.of(
    {
        "version": 1,
        "columns": {
            "age": {"low": 0, "high": 100},
            "grade": {"levels": ["low", "middle", "high"]},
            "sex": {"values": ["F", "M"]},
            "town": {"values": ["a", "b", "c"]},
        },
    }
)
COLUMNS = mixed_columns(SCHEMA)
PROTOTYPES = Prototypes(
    np.array([[-0.5, -1.0], [0.5, 1.0], [0.0, 0.0]]), np.array([[0, 0], [1, 2], [1, 1]])
)


def block(n=500, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, [3, 2, 3], (n, 3)).astype(np.int32)
    return Block(rng.uniform(0, 100, (n, 1)), codes)


def sums(part, reach=None):
    return GroupSums(Assignment(SCHEMA, PROTOTYPES), reach)(part)[0]


@pytest.mark.parametrize("reach", [None, np.array([0.1, 0.03])])
def test_every_row_moves_each_block_of_one_group_by_at_most_its_sensitivity(reach):
    blocks = group_blocks(COLUMNS)
    starts = np.cumsum([0, *blocks.sizes[:-1]])
    rows = block()
    for i in range(len(rows)):
        one = sums(Block(rows.numbers[i : i + 1], rows.codes[i : i + 1]), reach)
        assert np.count_nonzero(one.any(axis=1)) == 1
        lengths = np.add.reduceat(np.abs(one).sum(axis=0), starts)
        assert np.all(lengths <= blocks.sensitivities)
        assert lengths[0] == 1


def test_sums_of_a_block_are_those_of_its_rows():
    rows = block(60)
    alone = sum(sums(Block(rows.numbers[i : i + 1], rows.codes[i : i + 1])) for i in range(60))
    assert np.array_equal(sums(rows), alone)


def test_labels_do_not_depend_on_the_rows_beside():
    assignment, rows = Assignment(SCHEMA, PROTOTYPES), block(10_000)
    whole = assignment.labels(COLUMNS.wholes(rows), COLUMNS.codes(rows))
    tail = Block(rows.numbers[7777:], rows.codes[7777:])
    assert np.array_equal(
        whole[7777:], assignment.labels(COLUMNS.wholes(tail), COLUMNS.codes(tail))
    )


def test_labels_are_those_of_the_cost():
    rows = block(300)
    wholes, codes = COLUMNS.wholes(rows), COLUMNS.codes(rows)
    held = MixedRows(COLUMNS, np.column_stack(wholes) / LATTICE, np.column_stack(codes))
    costs = Assignment(SCHEMA, PROTOTYPES).costs(wholes, codes)
    assert pytest.approx(held.costs(PROTOTYPES), abs=1e-9) == costs.T


def test_of_equally_near_prototypes_the_first_is_taken():
    twice = Prototypes(PROTOTYPES.numbers[[0, 0]], PROTOTYPES.codes[[0, 0]])
    rows = block(50)
    labels = Assignment(SCHEMA, twice).labels(COLUMNS.wholes(rows), COLUMNS.codes(rows))
    assert set(labels.tolist()) == {0}


def test_without_noise_the_measurements_are_the_truth():
    vectors = sums(block())
    measured = NoisyMeasurements(COLUMNS, vectors, 1.0, np.ones(2))
    labels = Assignment(SCHEMA, PROTOTYPES).labels(COLUMNS.wholes(block()), COLUMNS.codes(block()))
    assert measured.sizes[0] == pytest.approx(np.bincount(labels, minlength=3))
    for i, codes in enumerate(COLUMNS.codes(block())):
        counts = measured.histogram(i)[0]
        assert counts[1] == pytest.approx(
            np.bincount(codes[labels == 1], minlength=counts.shape[1])
        )
        assert measured.share_simplex(i, 1).sum() == pytest.approx(1)
    age = COLUMNS.wholes(block())[0] / LATTICE
    assert measured.sums()[0][0, 0] == pytest.approx(age[labels == 0].sum())


def test_all_groups_are_released_for_the_whole_budget():
    page = Ledger().open(PureDP(1), by="test")
    rows = rows_of({"age": [1.0], "grade": ["low"], "sex": ["F"], "town": ["a"]}, SCHEMA)
    spending = Spending(rows, page, page.budget, Randomness(1))
    measured = measure(spending, SCHEMA, PROTOTYPES, reach=None, of="groups")
    assert measured.vectors.shape == (3, group_blocks(COLUMNS).length)
    assert page.total().epsilon == 1
    assert np.all(measured.vectors.any(axis=1))
