"""The reference of policies names every key, and its examples are policies."""

import importlib.util
import json
from pathlib import Path

import pytest
import yaml

from shoal.anonymize import Policy
from shoal.anonymize._policy import Attribute
from shoal.anonymize._policy_schema import policy_json_schema

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location(
    "policy_reference", ROOT / "tools" / "policy_reference.py"
)
policy_reference = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(policy_reference)


def test_page_and_schema_are_as_the_tool_writes_them():
    """If not: ``python tools/policy_reference.py``."""
    assert policy_reference.PAGE.read_text(encoding="utf-8") == policy_reference.page()
    assert policy_reference.SCHEMA.read_text(encoding="utf-8") == policy_reference.schema_text()


@pytest.mark.heavy
def test_every_key_is_explained():
    schema = policy_json_schema()
    for part in (schema, *schema["$defs"].values()):
        for name, of in part.get("properties", {}).items():
            assert of.get("description"), (part["title"], name)
            assert f"| `{name}` |" in policy_reference.page()


def test_the_whole_policy_is_one():
    assert Policy.of(yaml.safe_load(policy_reference.WHOLE)).privacy.k == 10


@pytest.mark.parametrize("name", policy_reference.HIERARCHIES)
def test_the_example_of_a_hierarchy_is_one_with_all_its_keys(name):
    column = yaml.safe_load(policy_reference.HIERARCHIES[name])
    hierarchy = Attribute.model_validate(column).hierarchy
    assert type(hierarchy).__name__ == name
    unused = {*type(hierarchy).model_fields} - hierarchy.model_fields_set
    assert unused <= {"breaks"}, "given instead of a width"
    Policy.of({"version": 1, "attributes": {"x": column}, "privacy": {"k": 2}})


def test_the_schema_is_json_and_refuses_unknown_keys():
    schema = json.loads(policy_reference.schema_text())
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Attribute"]["properties"]["role"]["enum"][0] == "identifier"
