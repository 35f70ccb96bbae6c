import math

import numpy as np
import pytest

from shoal import evaluate
from shoal.errors import DimensionMismatch
from shoal.evaluate.contingency import agreement_of_counts

rng = np.random.default_rng(4)
PAIRS = {
    "alike": (np.repeat([0, 1, 2], 40), np.repeat([2, 0, 1], 40)),
    "chance": (rng.integers(0, 4, 300), rng.integers(0, 3, 300)),
    "near": (np.repeat([0, 1], 50), np.repeat([0, 1, 2], [50, 30, 20])),
    "one group": (np.zeros(9, dtype=int), np.zeros(9, dtype=int)),
    "one group on one side": (np.zeros(9, dtype=int), np.arange(9) % 3),
    "all apart": (np.arange(6), np.arange(6)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_counts_of_pairs_of_labels_give_the_scores_of_the_labels(name):
    first, second = PAIRS[name]
    table = np.zeros((first.max() + 1, second.max() + 1), dtype=np.int64)
    np.add.at(table, (first, second), 1)
    for score, value in agreement_of_counts(table).items():
        assert value == pytest.approx(getattr(evaluate, score)(first, second), abs=1e-9), score


def test_ten_billion_rows_are_no_trouble():
    found = agreement_of_counts([[5 * 10**9, 0], [0, 5 * 10**9]])
    assert found == {"ari": 1.0, "rand_index": 1.0, "fowlkes_mallows": 1.0, "nmi": 1.0}


def test_one_row_says_nothing():
    assert all(map(math.isnan, agreement_of_counts([[1]]).values()))


@pytest.mark.parametrize("counts", [[1, 2], [[0.5, 1.0]]])
def test_what_is_no_table_of_counts_is_refused(counts):
    with pytest.raises(DimensionMismatch, match="Counts of shape"):
        agreement_of_counts(counts)
