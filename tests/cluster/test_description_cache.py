import pytest

from shoal.cluster._description_cache import ComputedOnce
from shoal.cluster.intervals._result import Intervals


class Fitted(ComputedOnce):
    _made_by_fit = "released_"

    def __init__(self):
        self.released_ = [1]


def test_a_part_is_computed_once_and_anew_for_the_next_fit():
    model, calls = Fitted(), []
    for _ in range(2):
        model._compute_once("part", lambda: calls.append(1))
    assert len(calls) == 1
    model.released_ = [1]
    model._compute_once("part", lambda: calls.append(1))
    assert len(calls) == 2


def test_a_model_that_was_not_described_has_nothing_to_save():
    model = Fitted()
    model._compute_once("intervals", lambda: None)
    assert model._saved_description() is None


def test_what_was_saved_takes_the_place_of_computing():
    intervals = Intervals([[0.1]], [[0.2]], [1.0], [2.0], 1.0, 2.0).to_dict()
    model = Fitted()
    model._restore_description({"intervals": intervals})
    assert model._compute_once("intervals", pytest.fail).sizes_low.tolist() == [1.0]
    assert model._saved_description() == {"intervals": intervals}
