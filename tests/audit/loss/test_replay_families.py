import inspect

import pytest

import shoal.cluster
import shoal.synopsis
from shoal.audit.loss._replay_families import families, replay_family
from shoal.audit.loss._twins import twins
from shoal.estimator import PrivateEstimator


def test_every_private_estimator_that_is_shipped_has_a_family():
    shipped = {
        thing
        for module in (shoal.cluster, shoal.synopsis)
        for thing in (getattr(module, name) for name in module.__all__)
        if inspect.isclass(thing) and issubclass(thing, PrivateEstimator)
    }
    shipped = {kind for kind in shipped if not inspect.isabstract(kind)}
    assert shipped == {type(model) for model in families.values()}


def test_the_largest_losses_are_reported_with_the_mechanisms_met():
    seen = replay_family(families["AdaptiveGrid"], 9, search=3)
    assert seen.pairs == 12
    assert seen.verdict == "consistent"
    assert seen.loss <= seen.worst == pytest.approx(1)
    assert seen.steps == ("Geometric",)
    assert seen.faults == ()


def test_a_search_that_rows_of_categories_do_not_allow_is_not_counted():
    assert replay_family(families["MixedSynopsis"], 2, search=3).pairs == 2


def test_a_finding_names_no_table_and_is_on_made_up_ones():
    found = replay_family(twins["swapped split"], 3).finding(random_state=7)
    assert found.verdict == "violated"
    assert found.constructed
    assert (found.instrument, found.seed, found.draws) == ("replay", 7, 3)
    assert float(found) > found.claim == 1


def test_progress_is_told():
    told = []
    replay_family(families["UniformGrid"], 3, progress=lambda about, share: told.append(share))
    assert told == [0, 1 / 3, 2 / 3]
