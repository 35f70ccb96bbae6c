from dataclasses import replace

import numpy as np
import pytest

from shoal.anonymize.ends import refuse_start, refuse_too_few, settled, start_fails
from shoal.anonymize.lines import problem_of
from shoal.anonymize.problem import Closeness, Cut, SensitiveColumn
from shoal.anonymize.shared import Shared
from shoal.domain import Taxonomy
from shoal.errors import StartFails, TooFewEntities

TREE = Taxonomy.nested("*", {"a": ["0", "1"], "b": ["2", "3"]})
LEAVES = Cut(((2, 3, 5, 6),))


def table(**asked):
    values = np.array([0, 1] * 4 + [1] * 2 + [0, 1], dtype=np.int32)
    column = SensitiveColumn("ill", values, 2, t=Closeness("equal", 0.2))
    codes = np.repeat([0, 1, 2, 3], [4, 4, 2, 2])[:, None]
    return problem_of({"x": TREE}, codes, k=2, suppression=0.2, sensitive=(column,), **asked)


def test_classes_far_from_the_published_rows_are_suppressed_until_none_is():
    mask = settled(Shared(table()), LEAVES, np.zeros(12, dtype=bool))
    assert np.flatnonzero(mask).tolist() == [8, 9]


def test_more_than_the_budget_is_not_suppressed():
    small = replace(table(), suppression=0.1)
    assert settled(Shared(small), LEAVES, np.zeros(12, dtype=bool)) is None


def test_a_release_of_nothing_is_none():
    everything = replace(table(), suppression=0.99, k=5)
    assert settled(Shared(everything), LEAVES, np.zeros(12, dtype=bool)) is None


def test_the_refusals_name_counts_and_a_way_out():
    with pytest.raises(TooFewEntities, match="12 of the k = 13"):
        refuse_too_few(Shared(replace(table(), k=13)))
    refuse_start(table(), suppressed=2, some_stay=True)
    with pytest.raises(StartFails, match=r"3 rows .* 2 rows may"):
        refuse_start(table(), suppressed=3, some_stay=True)
    with pytest.raises(StartFails):
        refuse_start(table(), suppressed=0, some_stay=False)
    assert "max_level" in start_fails("nothing fits", table()).next_step
