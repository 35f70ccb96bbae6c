import pickle

import numpy as np

from shoal.cluster.prototypes._group_measurements import (
    Assignment,
    Costs,
    CostSum,
    GroupCounter,
    NearestPrototypes,
)
from shoal.cluster.prototypes._mixed_rows import Prototypes
from shoal.domain import Schema
from shoal.engine import Block

SCHEMA = Schema.of(
    {"version": 1, "columns": {"x": {"low": 0, "high": 2}, "c": {"values": ["a", "b"]}}}
)
ASSIGNMENT = Assignment(SCHEMA, Prototypes(np.array([[-1.0], [1.0]]), np.array([[0], [1]])))
BLOCK = Block(np.array([[0.0], [2.0], [2.0]]), np.array([[0], [1], [0]], dtype=np.int32))


def test_labels_costs_and_counts_agree():
    (labels,) = NearestPrototypes(ASSIGNMENT)(BLOCK)
    costs = np.array(Costs(ASSIGNMENT)(BLOCK))
    assert labels.tolist() == [0, 1, 1]
    assert costs.argmin(axis=0).tolist() == labels.tolist()
    assert costs[1].tolist() == [4.5, 0.0, 0.5]
    assert GroupCounter(ASSIGNMENT)(BLOCK)[0].tolist() == [1, 2]
    assert CostSum(ASSIGNMENT, 1000)(BLOCK)[0].tolist() == [500]


def test_kernels_can_be_sent_to_workers():
    for kernel in (NearestPrototypes, Costs, GroupCounter):
        again = pickle.loads(pickle.dumps(kernel(ASSIGNMENT)))
        assert np.array_equal(np.array(again(BLOCK)), np.array(kernel(ASSIGNMENT)(BLOCK)))


def test_a_block_of_no_rows_has_the_same_shapes():
    empty = Block(np.empty((0, 1)), np.empty((0, 1), dtype=np.int32))
    assert GroupCounter(ASSIGNMENT)(empty)[0].tolist() == [0, 0]
    assert CostSum(ASSIGNMENT, 10)(empty)[0].tolist() == [0]
