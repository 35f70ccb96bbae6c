"""Which method "auto" means."""

import numpy as np
import pytest

from shoal.cluster.local.methods._method_choice import METHODS, choose_method, method_by_name
from shoal.domain import Box
from shoal.errors import InvalidSetting
from shoal.mechanisms import Duchi, NDLaplace, Reports, SquareWave
from shoal.mechanisms.local.categories._local_grid import LocalGrid


def wide(n, d):
    return np.random.default_rng(0).normal(size=(n, d)) * 3


@pytest.mark.parametrize(
    ("values", "mechanism", "method"),
    [
        (wide(300, 2), NDLaplace(1.0), "blend"),
        (wide(300, 2), NDLaplace(20.0), "moments"),
        (wide(900, 2), NDLaplace(1.0), "em"),
        (wide(900, 5), NDLaplace(1.0), "blend"),
        (wide(100_001, 5), NDLaplace(1.0), "em"),
        (wide(300, 1), SquareWave(1.0), "em"),
        (wide(300, 2), Duchi(1.0), "plain"),
        (np.zeros(9, dtype=np.int64), LocalGrid(Box.unit(2), epsilon=1.0, cells=4), "grid"),
    ],
)
def test_the_rule(values, mechanism, method):
    assert choose_method(Reports(values, mechanism), 2) == method


def test_methods_are_found_by_name():
    assert all(method_by_name(name) is learn for name, learn in METHODS.items())


def test_an_unknown_method_is_told_with_those_there_are():
    with pytest.raises(InvalidSetting, match="posterior-means"):
        method_by_name("kmeans")
