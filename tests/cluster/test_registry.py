import inspect

import pytest

from shoal import cluster, synopsis
from shoal.audit.cases._estimator_cases import PAIRS
from shoal.cluster.registry import REGISTRY
from shoal.estimator import PrivateEstimator
from shoal.jobs._cluster_methods import METHODS

EXPORTED = {
    name: thing
    for package in (cluster, synopsis)
    for name in package.__all__
    if inspect.isclass(thing := getattr(package, name)) and not inspect.isabstract(thing)
}
every = pytest.mark.parametrize("entry", REGISTRY, ids=lambda entry: entry.name)


def test_every_private_estimator_stands_here_once():
    names = [entry.name for entry in REGISTRY]
    assert len({*names}) == len(names)
    private = {name for name, kind in EXPORTED.items() if issubclass(kind, PrivateEstimator)}
    assert private <= {*names}


@every
def test_what_finds_groups_can_be_saved_and_has_a_page(entry):
    assert entry.kind is EXPORTED[entry.name]
    has_page = entry.page is not None
    assert has_page == entry.is_model, "what shoal.cluster exports names the kind of its page"
    is_saved = hasattr(entry.kind, "_tables")
    assert is_saved == entry.is_model, "see the top of shoal/cluster/model_folder.py"


@every
def test_a_command_is_a_method_of_shoal_cluster(entry):
    assert entry.command is None or entry.command in METHODS


@every
def test_settings_to_be_audited_make_an_estimator(entry):
    for settings in entry.replays().values():
        assert isinstance(entry.make(**settings), entry.kind)
    gates = [(gate.settings, gate.pair) for gate in entry.gates().values()]
    for settings, pair in (*gates, *entry.fits().values()):
        assert isinstance(entry.make(**settings), entry.kind)
        assert pair in PAIRS
