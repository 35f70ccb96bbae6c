import copy
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymize import Policy, read_policy
from shoal.anonymize._policy import guarantee_of
from shoal.errors import InvalidPolicy, InvalidSetting, ShoalError
from shoal.privacy import KAnonymity

CONTENT = {
    "version": 1,
    "input": {"path": "students.parquet", "null_values": ["", "NA"]},
    "attributes": {
        "id": {"role": "identifier", "action": "hmac", "key_env": "RELEASE_KEY"},
        "age": {
            "role": "quasi", "type": "int", "domain": [0, 110],
            "hierarchy": {"kind": "binary", "split": "midpoint", "min_width": 1},
        },
        "postcode": {"role": "quasi", "hierarchy": {"kind": "prefix", "keep": [5, 3, 2, 1]}},
        "birth": {
            "role": "quasi", "type": "date",
            "hierarchy": {"kind": "date", "levels": ["month", "year", "decade"]},
        },
        "education": {
            "role": "quasi", "weight": 2, "max_level": 2,
            "hierarchy": {"file": "education.csv", "format": "arx"},
        },
        "income": {
            "role": "sensitive", "type": "int",
            "l": {"kind": "distinct", "value": 3}, "t": {"kind": "ordered", "value": 0.3},
        },
        "visits": {"role": "other"},
    },
    "privacy": {"k": 10, "suppression": 0.02, "person": "id", "nulls": "own_value"},
    "search": {"score": "auto", "objective": "ncp", "recoding": "global", "seed": 1},
    "output": {"path": "out.parquet", "suppressed": "drop", "intervals": "label"},
}  # fmt: skip


def changed(**at):
    """The policy with some values replaced or, where None, taken out; keys are dotted paths."""
    content = copy.deepcopy(CONTENT)
    for path, value in at.items():
        *above, last = path.split("__")
        part = content
        for step in above:
            part = part.setdefault(step, {})
        if value is None:
            del part[last]
        else:
            part[last] = value
    return content


def test_the_whole_format_is_read(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(yaml.safe_dump(CONTENT, sort_keys=False))
    policy = read_policy(path)
    assert policy.names("quasi") == ("age", "postcode", "birth", "education")
    assert policy.path("out.parquet") == tmp_path / "out.parquet"
    assert policy.path("/elsewhere/x.csv") == Path("/elsewhere/x.csv")
    assert policy.attributes["education"].weight == 2


def test_defaults_are_the_documented_ones():
    policy = Policy.of(changed(privacy__suppression=None, search=None, output=None))
    assert policy.privacy.suppression == 0.02
    assert policy.search.restarts is None
    assert policy.output.suppressed == "drop"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"privacy__k": None}, "privacy.k is missing"),
        ({"privacy__supression": 0.1}, "did you mean 'suppression'"),
        ({"attributes__age__wieght": 2}, "age.wieght is not a known key; did you mean 'weight'"),
        ({"attributes__age__hierarchy__min_widht": 2}, "age.hierarchy.min_widht .* 'min_width'"),
        ({"serach": {}}, "did you mean 'search'"),
        ({"attributes__age__role": "quazi"}, "attributes.age.role should be 'identifier', 'quasi'"),
        ({"attributes__age__hierarchy": {"kind": "binery"}}, "has an unknown kind"),
        ({"attributes__age__hierarchy": None}, "attributes.age has no hierarchy"),
        ({"attributes__age__domain": None}, "attributes.age has no domain"),
        ({"attributes__age__domain": [110, 0]}, "attributes.age.domain"),
        ({"attributes__age__domain": [0.5, 110]}, "whole"),
        ({"attributes__age__type": "text"}, "type: int"),
        ({"attributes__age__l": {"value": 2}}, "age.l belongs to .* sensitive, not quasi"),
        ({"attributes__postcode__hierarchy__keep": [3, 5]}, "attributes.postcode.hierarchy.keep"),
        ({"attributes__birth__hierarchy__levels": ["year", "month"]}, "attributes.birth"),
        ({"attributes__birth__domain": ["once", "later"]}, "two days"),
        ({"attributes__id__key_env": None}, "attributes.id needs either key_env or key_file"),
        ({"attributes__id__action": "drop"}, "no `action: hmac`"),
        ({"attributes__income__type": "text"}, "attributes.income.t is ordered"),
        ({"attributes__income__t": {"kind": "hierarchical", "value": 0.2}}, "needs a hierarchy"),
        ({"attributes__income__order": [True, "x"]}, "attributes.income.order .* in quotes"),
        ({"attributes__income__order": [None, "x"]}, "attributes.income.order"),
        ({"attributes__income__order": [1, 2, "1.0"]}, "attributes.income.order .* twice"),
        ({"privacy__person": "idd"}, "privacy.person .* did you mean 'id'"),
        ({"privacy__person": "age"}, "only tells people apart"),
        ({"version": 2}, "version"),
        ({"search__score": "label-gain"}, "search.target"),
        ({"search__target": "visits"}, "label-gain"),
        ({"attributes": {"visits": {"role": "other"}}, "privacy__person": None}, "role quasi"),
        ({"attributes__age__hierarchy": {"kind": "interval"}}, "width or breaks"),
        ({"attributes__age__hierarchy": {"kind": "interval", "breaks": [9, 3]}}, "must rise"),
        ({"attributes__age__hierarchy": {"kind": "interval", "width": 0.5}}, "whole widths"),
        ({"attributes__age_low": {"role": "other"}, "output__intervals": "bounds"}, "age_low"),
    ],
)  # fmt: skip
def test_a_bad_policy_names_the_key_and_the_way_out(change, words):
    with pytest.raises(InvalidPolicy, match=words):
        Policy.of(changed(**change))


@pytest.mark.parametrize(
    "change",
    [
        {"privacy__k": 1},
        {"privacy__suppression": 1.0},
        {"privacy__suppression": -0.1},
        {"attributes__age__weight": 0},
        {"attributes__income__l__value": 1},
        {"attributes__income__l__value": 2.5},
        {"attributes__income__t__value": 0},
        {"attributes__income__t__value": 1.5},
        {"attributes__income__l": {"kind": "recursive", "value": 2, "c": 0}},
    ],
)
def test_numbers_out_of_range_are_settings(change):
    with pytest.raises(InvalidSetting):
        Policy.of(changed(**change))


def test_all_findings_come_at_once():
    with pytest.raises(InvalidPolicy) as caught:
        Policy.of(changed(attributes__age__domain=None, attributes__postcode__hierarchy=None))
    assert "age" in str(caught.value)
    assert "postcode" in str(caught.value)


def test_no_mapping_and_no_yaml_are_refused(tmp_path):
    with pytest.raises(InvalidPolicy):
        Policy.of([1, 2])
    (tmp_path / "p.yaml").write_text("a: [")
    with pytest.raises(InvalidPolicy, match="YAML"):
        read_policy(tmp_path / "p.yaml")
    with pytest.raises(InvalidPolicy, match="cannot be read"):
        read_policy(tmp_path / "none.yaml")


paths = st.sampled_from(
    ["version", "privacy", "privacy__k", "privacy__person", "attributes", "attributes__age",
     "attributes__age__hierarchy", "attributes__age__domain", "attributes__age__type", "search",
     "attributes__birth__hierarchy__levels", "attributes__income__t", "attributes__id__action",
     "attributes__postcode__hierarchy__keep", "output__intervals", "input__null_values"]
)  # fmt: skip
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 20) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@pytest.mark.heavy
@given(st.dictionaries(paths, values, min_size=1, max_size=2))
def test_whatever_is_written_is_a_policy_or_a_named_error(changes):
    content = copy.deepcopy(CONTENT)
    for path, value in changes.items():
        *above, last = path.split("__")
        part = content
        for step in above:
            part = part.get(step) if isinstance(part, dict) else None
        if isinstance(part, dict):
            part[last] = value
    with suppress(ShoalError):
        assert Policy.of(content).names("quasi")


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
