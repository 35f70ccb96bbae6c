import numpy as np
import pytest

from shoal.cluster import KPrototypes
from shoal.domain import Schema

SCHEMA = Schema.of(
    {"version": 1, "columns": {"x": {"low": 0, "high": 1}, "c": {"values": ["a", "b", "c"]}}}
)


def rows():
    rng = np.random.default_rng(0)
    side = np.arange(200) % 2
    return {
        "x": np.clip(0.2 + 0.6 * side + rng.normal(0, 0.02, 200), 0, 1),
        "c": np.where(side, "b", "a"),
    }


def test_two_groups_are_told_apart():
    model = KPrototypes(2, domain=SCHEMA, random_state=1).fit(rows())
    assert len(set(zip(model.labels_, np.arange(200) % 2, strict=True))) == 2
    assert np.array_equal(model.predict(rows()), model.labels_)
    assert model.cost_ == pytest.approx(-model.score(rows()))
    assert model.cost_ < 1


def test_it_promises_nothing():
    model = KPrototypes(2, domain=SCHEMA, random_state=1).fit(rows())
    assert "no noise" in str(model.guarantee_.reason)


def test_one_group_costs_most():
    one, two = (KPrototypes(k, domain=SCHEMA, random_state=1).fit(rows()).cost_ for k in (1, 2))
    assert one > 10 * two
