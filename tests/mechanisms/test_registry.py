import pytest

from shoal import mechanisms
from shoal.audit._draws import repeat_record
from shoal.mechanisms.registry import REGISTRY

every = pytest.mark.parametrize("entry", REGISTRY, ids=lambda entry: entry.name)


def test_a_mechanism_stands_once():
    names = [entry.name for entry in REGISTRY]
    assert len({*names}) == len(names)
    assert {*names} <= {*mechanisms.__all__}
    commands = [entry.command for entry in REGISTRY if entry.command is not None]
    assert len({*commands}) == len(commands)


@every
def test_whoever_reports_for_themselves_can_use_the_command_line(entry):
    assert (entry.command is None) == entry.is_central


@every
def test_an_example_is_made_from_an_epsilon_and_takes_its_value(entry):
    for example in entry.examples.values():
        made = example.make(1)
        assert isinstance(made, entry.kind)
        made.check(example.value)


@every
def test_a_pair_is_of_the_mechanism_and_is_two_values_that_it_takes(entry):
    for name, pair in entry.pairs().items():
        assert isinstance(pair.mechanism, entry.kind), name
        assert pair.about, name
        for value in pair.values:
            pair.mechanism.check(value if entry.is_central else repeat_record(value, 2))
