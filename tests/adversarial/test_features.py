"""Events in, groups out: a whole fit replayed between two programmes that differ in one person."""

import numpy as np
import pytest

import shoal.engine.feature_table._queries as queries
from shoal.audit import replay
from shoal.cluster import PrivateKMeans
from shoal.domain.features import FeaturesFile
from shoal.engine import features

FILE = FeaturesFile.of(
    {
        "version": 1,
        "person": "pupil",
        "period": {"from": "2025-03-03", "until": "2025-12-15"},
        "people": {"table": "pupils.csv"},
        "events": {"log": {"table": "log.csv", "time": "at"}},
        "features": {"events": {"count": "log", "high": 20}, "weeks": {"weeks": "log"}},
    }
)
# Everybody's number of rows in place of one's own.
MUTANT = (
    "SELECT owner, max(n) AS a0, max(w) AS a1 FROM (SELECT owner, count(*) OVER () % 20 AS n, "
    "bit_or(c0) OVER (PARTITION BY owner) AS w FROM {rows}) AS all_rows GROUP BY owner"
)


def programme(events_of_one):
    """Sixty pupils, of whom one has so many events; none leaves the pupil out altogether."""
    rng = np.random.default_rng(4)
    pupils = [f"p{i}" for i in range(60)] + ["one"] * (events_of_one > 0)
    who = [*rng.choice(pupils[:60], 500), *["one"] * events_of_one]
    days = rng.integers(0, 287, 500).tolist() + [d % 280 for d in range(events_of_one)]
    at = [str(np.datetime64("2025-03-03") + day) for day in days]
    tables = {"people": {"pupil": pupils}, "log": {"pupil": who, "at": at}}
    return features(FILE, tables=tables).to_arrow()


def verdict(with_one, without):
    model = PrivateKMeans(2, epsilon=1, domain=FILE.schema, random_state=0)
    return replay(model, with_one, without).verdict


@pytest.mark.parametrize("events", [1, 10_000])
def test_a_person_costs_no_more_with_ten_thousand_events_than_with_one(events):
    assert verdict(programme(events), programme(0)) == "consistent"


def test_a_query_that_counts_everybodys_rows_is_caught(monkeypatch):
    monkeypatch.setattr(queries, "GROUPED", MUTANT)
    assert verdict(programme(7), programme(0)) == "violated"
