import numpy as np
import pytest

from shoal.experiments.leteo._printed_gains import (
    DISTANCE_SAVED,
    ENTROPY_CORRECTED,
    GAINS,
    specialize,
)

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
    found = specialize(COLUMNS, np.full(8, 50), 10, ENTROPY_CORRECTED)
    assert (found.ncp, found.splits) == (0, 4)


def test_nothing_is_split_where_k_is_all_rows():
    found = specialize(COLUMNS, np.full(8, 5), 40, DISTANCE_SAVED)
    assert (found.ncp, found.splits, found.smallest) == (1.0, 0, 40)


def test_the_distance_of_a_number_is_to_the_middle_of_its_label_and_of_a_category_by_steps():
    from shoal.experiments.leteo._printed_gains import _column

    levels = {str(n): ["*", "1 to 3" if n < 4 else "4 to 6", str(n)] for n in range(1, 7)}
    numbers = _column(levels, ["1", "2", "6"])
    assert numbers.distance().tolist() == pytest.approx([0.5, 0.3, 0.5])
    assert numbers.deeper("*").distance().tolist() == pytest.approx([0.2, 0.0, 0.2])
    places = _column(PATHS, ["a", "d"])
    assert places.distance().tolist() == [1, 1]
    assert places.deeper("*").distance().tolist() == [0.5, 0.5]


def test_the_printed_entropy_counts_a_class_once_for_each_of_its_rows():
    from shoal.experiments.leteo._printed_gains import _column, _entropy, _entropy_over_rows

    state = {"sex": _column(SEX, ["F", "M"]).deeper("*")}
    counts = np.array([4, 4])
    assert _entropy(state, counts) == 1
    assert _entropy_over_rows(state, counts) == 4
