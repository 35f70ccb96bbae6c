"""Classes exchange units as long as that pays, and no rule is broken by it."""

import numpy as np
import pytest

from shoal.anonymize.local_recoding._class_splitting import split_classes
from shoal.anonymize.local_recoding._grouping import Grouping
from shoal.anonymize.local_recoding._improvement import improve_grouping
from shoal.anonymize.local_recoding._units import Units
from shoal.anonymize.search_problem import Diversity, SensitiveColumn, problem_of
from shoal.domain import Taxonomy

TREE = Taxonomy.nested("*", {"low": ["1", "2"], "mid": ["3", "4"], "high": ["5", "6", "7"]})


def grouping(codes, classes, k=2, **asked):
    units = Units(problem_of({"q": TREE}, [[code] for code in codes], k=k, **asked))
    return Grouping(units, np.array(classes))


def test_a_unit_in_the_wrong_class_moves_if_the_class_can_spare_it():
    found = improve_grouping(grouping([0, 0, 1, 4, 4, 5], [0, 0, 1, 0]))  # 5 among 1 and 2
    assert found.classes.tolist() == [0, 0, 1, 1]
    assert found.loss < 6


def test_a_unit_stays_where_k_people_would_not_be_left():
    start = grouping([0, 4, 4, 4, 5], [0, 1, 0], k=2)
    assert start.loss == pytest.approx(2.0)
    found = improve_grouping(start)
    assert found.people().min() >= 2


def test_a_class_dissolves_into_classes_near_its_units():
    found = improve_grouping(grouping([0, 0, 0, 1, 1, 4, 4, 4, 5, 5], [0, 2, 1, 2], k=3))
    assert found.classes.tolist() == [0, 0, 1, 1]
    assert found.size == 2


def test_no_exchange_breaks_diversity():
    values = np.array([0, 1, 0, 1, 0, 1, 1, 0], dtype=np.int32)
    rules = (SensitiveColumn("s", values, 2, Diversity("distinct", 2)),)
    codes = [0, 0, 1, 4, 4, 4, 5, 2]
    found = improve_grouping(grouping(codes, [0, 1, 1, 0, 1], sensitive=rules))
    assert found.obeying().all()
    assert found.people().min() >= 2


@pytest.mark.heavy
def test_the_loss_only_falls_and_k_people_remain():
    losses = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        who = {"people": rng.integers(0, 90, 120)}
        codes = rng.integers(0, 7, (120, 3))
        units = Units(problem_of({"q": TREE, "r": TREE, "s": TREE}, codes, k=3, **who))
        start = Grouping(units, split_classes(units))
        found = improve_grouping(start)
        assert found.people().min() >= 3
        assert not len(found.left)
        losses.append((found.loss, start.loss))
    assert all(after <= before for after, before in losses)
    assert sum(after < before for after, before in losses) > 10
