"""Columns that describe groups and do not form them: ``use: describe`` in a schema."""

import numpy as np
import pytest

from shoal.cluster import PrivateKPrototypes
from shoal.domain import Schema
from shoal.errors import InvalidDomain


def schema_of(**more):
    columns = {
        "visits": {"low": 0, "high": 10},
        "sex": {"values": ["F", "M"]} | more,
        "town": {"values": ["north", "south"]} | more,
    }
    return Schema.of({"version": 1, "columns": columns})


@pytest.fixture(scope="module")
def table():
    """Two groups by visits; sex and town go together and say nothing about them."""
    rng = np.random.default_rng(3)
    n = 4_000
    sex, often = rng.integers(0, 2, n), rng.integers(0, 2, n)
    return {
        "visits": rng.normal(np.where(often, 7.0, 3.0), 0.7).clip(0, 10),
        "sex": np.array(["F", "M"])[sex],
        "town": np.array(["north", "south"])[sex],
    }


def fitted(table, domain):
    return PrivateKPrototypes(2, epsilon=4, domain=domain, random_state=5).fit(table)


def purity(labels, column):
    ways = [np.mean((labels == 0) == (column == value)) for value in np.unique(column)]
    return max(ways)


def test_a_describing_column_does_not_split_groups(table):
    often = np.where(table["visits"] > 5, "often", "seldom")
    forming = fitted(table, schema_of()).predict(table)
    describing = fitted(table, schema_of(use="describe")).predict(table)
    assert purity(forming, table["sex"]) > 0.95  # what it is there to prevent
    assert purity(describing, often) > 0.95
    assert purity(describing, table["sex"]) < 0.6


def test_profiles_show_a_describing_column(table):
    text = str(fitted(table, schema_of(use="describe")).to_result().released)
    assert "sex" in text
    assert "town" in text


def test_a_schema_keeps_what_a_column_is_for():
    schema = schema_of(use="describe")
    assert schema.weights == {"visits": 1.0, "sex": 0.0, "town": 0.0}
    assert Schema.of(schema.to_dict()) == schema


def test_some_column_must_form_groups_and_a_describing_one_has_no_weight():
    only = {"sex": {"values": ["F", "M"], "use": "describe"}}
    with pytest.raises(InvalidDomain, match="at least one must form"):
        Schema.of({"version": 1, "columns": only})
    with pytest.raises(InvalidDomain, match="has a weight"):
        schema_of(use="describe", weight=2)
