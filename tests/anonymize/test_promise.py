import pytest

from shoal.anonymize import Policy
from shoal.anonymize.promise import guarantee_of
from shoal.privacy import KAnonymity


@pytest.mark.parametrize(
    ("rules", "promised"),
    [
        ([{}], KAnonymity(5)),
        ([{"l": {"value": 4}}, {"l": {"value": 3}}], KAnonymity(5, l=3)),
        ([{"t": {"value": 0.2}}, {"t": {"value": 0.4}}], KAnonymity(5, t=0.4)),
    ],
)
def test_of_several_rules_the_weakest_is_promised(rules, promised):
    columns = {f"s{i}": {"role": "sensitive", **rule} for i, rule in enumerate(rules)}
    quasi = {"q": {"role": "quasi", "hierarchy": {"tree": {"*": ["a", "b"]}}}}
    content = {"version": 1, "attributes": {**quasi, **columns}, "privacy": {"k": 5}}
    assert guarantee_of(Policy.of(content)) == promised
