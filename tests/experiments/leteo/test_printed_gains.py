import numpy as np
import pytest

from shoal.experiments.leteo._printed_gains import GAINS, specialize

PATHS = {"a": ["*", "low", "a"], "b": ["*", "low", "b"], "c": ["*", "high", "c"],
         "d": ["*", "high", "d"]}  # fmt: skip
SEX = {"F": ["*", "F"], "M": ["*", "M"]}
VALUES = [(x, y) for x in "abcd" for y in "FM"]
COLUMNS = {"x": (PATHS, [x for x, _ in VALUES]), "sex": (SEX, [y for _, y in VALUES])}


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("k", [2, 5, 30])
def test_every_class_keeps_k_rows(gain, k):
    counts = np.array([3, 9, 40, 12, 7, 5, 30, 8])
    assert specialize(COLUMNS, counts, k, gain).smallest >= k


def test_a_table_of_large_classes_is_specialised_to_its_values():
    found = specialize(COLUMNS, np.full(8, 50), 10, "entropy, corrected")
    assert (found.ncp, found.splits) == (0, 4)


def test_nothing_is_split_where_k_is_all_rows():
    found = specialize(COLUMNS, np.full(8, 5), 40, "distance, corrected")
    assert (found.ncp, found.splits, found.smallest) == (1.0, 0, 40)
