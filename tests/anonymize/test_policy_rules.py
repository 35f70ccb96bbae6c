import pytest
from pydantic import ValidationError

from shoal.anonymize._policy_rules import (
    KMapRule,
    PopulationSpec,
    PresenceRule,
    TransformSpec,
    UniquenessRule,
)


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        (KMapRule, {"k": 1}),
        (KMapRule, {"k": 5, "significance": 0}),
        (PresenceRule, {"most": 0}),
        (PresenceRule, {"most": 0.5, "least": -0.1}),
        (UniquenessRule, {"most": 1}),
        (PopulationSpec, {"size": 0}),
        (TransformSpec, {"rare": 1}),
        (TransformSpec, {"round": 0}),
        (KMapRule, {"k": 5, "unknown": 1}),
    ],
)
def test_rules_out_of_range_or_with_unknown_keys_are_refused(rule, values):
    with pytest.raises(ValidationError):
        rule(**values)


def test_a_change_of_numbers_is_told_from_one_of_rare_values():
    assert TransformSpec(top=5).changes_numbers
    assert not TransformSpec(rare=5).changes_numbers


def test_whole_bounds_and_steps_keep_numbers_whole():
    assert TransformSpec(bottom=0, top=100, round=5).makes_whole
    assert not TransformSpec(top=99.5).makes_whole
