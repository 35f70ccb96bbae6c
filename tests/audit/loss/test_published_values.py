import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from shoal.audit.loss._published_values import canonical, different_names, published
from shoal.domain import Box
from shoal.privacy import PureDP
from shoal.synopsis import UniformGrid


class Fitted(BaseEstimator):
    def __init__(self, k=2):
        self.k = k

    def fit(self, value):
        self.value_, self._hidden_, self.hidden = value, object(), object()
        return self

    @property
    def twice_(self):
        return 2 * self.value_


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (0.0, -0.0),
        (1, 1.0),
        (1, True),
        (np.zeros(2), np.zeros(2, dtype=np.float32)),
        (np.zeros((2, 1)), np.zeros((1, 2))),
        ([1, 2], [2, 1]),
        ({"a": 1}, {"a": 2}),
        (PureDP(1), PureDP(Fraction(1000001, 1000000))),
        (Box(x=(0, 1)), Box(x=(0, 2))),
        (1.0, np.nextafter(1.0, 2)),
        (np.array([1, "a"], dtype=object), np.array([2, "a"], dtype=object)),
    ],
)
def test_things_of_other_bits_differ(one, two):
    assert canonical(one) != canonical(two)
    assert canonical(one) == canonical(one)


def test_equal_bits_are_equal_also_of_nan_and_of_sets():
    assert canonical(math.nan) == canonical(math.nan)
    assert canonical({"b", "a"}) == canonical({"a", "b"})
    assert canonical(np.array([np.nan, 1])) == canonical(np.array([np.nan, 1]))


def test_a_model_publishes_what_ends_in_an_underscore_and_no_setting():
    assert list(published(Fitted().fit(3))) == ["twice_", "value_"]


def test_the_result_of_a_model_is_published_too():
    grid = UniformGrid(epsilon=1, domain=Box(x=(0, 1)), random_state=1).fit(np.zeros((3, 1)))
    names = published(grid)
    assert "guarantee_" in names
    assert any(name.startswith("to_result, ") for name in names) == hasattr(grid, "to_result")


def test_what_is_no_model_is_published_whole():
    assert published([1, 2]) == {"result": canonical([1, 2])}


def test_names_of_what_differs_or_is_missing():
    assert different_names({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}) == ("b", "c")
