"""Grouped settings answer scikit-learn as estimators do."""

import pytest
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from shoal.cluster import WaveCluster
from shoal.cluster.wave import Percentile, Persistence, PrivQT, PrivTHR


def test_options_are_equal_by_class_and_values():
    assert Persistence(z=2) == Persistence(2, smooth=1.0)
    assert Persistence(z=2) != Persistence()
    assert PrivTHR(0.7) != PrivQT()
    assert len({Persistence(z=2), Persistence(z=2), PrivQT()}) == 2


def test_they_are_shown_by_what_differs_from_the_defaults():
    assert repr(Persistence()) == "Persistence()"
    assert repr(Percentile(0.3, context=True)) == "Percentile(context=True, p=0.3)"


def test_a_clone_has_its_own_copy():
    model = WaveCluster(selector=Persistence(z=2))
    copy = clone(model)
    assert copy.selector == model.selector
    assert copy.selector is not model.selector
    copy.set_params(selector__z=4)
    assert (copy.selector.z, model.selector.z) == (4, 2)


def test_a_search_sets_one_of_them_by_name():
    model = WaveCluster(variant=PrivTHR(), selector=Percentile())
    for setting in ParameterGrid({"selector__p": [0.3, 0.6], "variant__alpha": [0.5, 0.8]}):
        chosen = clone(model).set_params(**setting)
        assert chosen.selector.p == setting["selector__p"]
        assert chosen.variant.alpha == setting["variant__alpha"]
    assert {"selector__p", "selector__rule", "variant__alpha", "variant__noise"} <= set(
        model.get_params()
    )


def test_a_setting_that_is_none_of_them_is_refused():
    with pytest.raises(TypeError):
        Percentile(z=3)
    with pytest.raises(ValueError, match="Invalid parameter"):
        WaveCluster(selector=Percentile()).set_params(selector__z=3)
