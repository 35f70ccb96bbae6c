import numpy as np
import pytest

from shoal.anonymize.taxonomy_arrays import leaf_count_costs, width_costs
from shoal.domain import Taxonomy

TREE = Taxonomy.nested("*", {"a": ["0", "1", "2"], "b": ["3", "4"]})


def test_leaves_that_do_not_occur_do_not_count():
    costs = leaf_count_costs(TREE, [1, 0, 1, 1, 1])
    assert costs.tolist() == pytest.approx([1, 1 / 3, 0, 0, 0, 1 / 3, 0, 0])


def test_integers_count_the_values_of_the_declared_domain():
    costs = leaf_count_costs(TREE, [10, 10, 10, 10, 1])
    assert costs[:2].tolist() == pytest.approx([1, 29 / 40])
    assert costs[2] == pytest.approx(9 / 40)


@pytest.mark.parametrize("seen", [[0, 0, 1, 0, 0], [0, 0, 0, 0, 0]])
def test_a_column_with_one_value_at_most_costs_nothing(seen):
    assert np.all(leaf_count_costs(TREE, seen) == 0)


def test_widths_are_shares_of_the_range_and_no_range_costs_nothing():
    assert width_costs(TREE, [1, 1, 2, 4, 0]).tolist() == [1, 0.5, 0.125, 0.125, 0.25, 0.5, 0.5, 0]
    assert np.all(width_costs(TREE, [0] * 5) == 0)
