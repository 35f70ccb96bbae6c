"""Whole fits on mixed tables lose no more than they claim, on the pairs that show most.

Losses are computed, not estimated: see ``audit.replay``. More twins are in
``tests/audit/loss/test_twins.py`` and, of the noise, ``tests/adversarial/test_product_norm.py``.
"""

import pytest

from shoal.audit import replay
from shoal.audit.loss._mixed_twins import SCHEMA, mixed_twins
from shoal.cluster import PrivateKPrototypes
from shoal.synopsis import MixedSynopsis

USUAL = {"age": 40.0, "grade": "middle", "sex": "F", "town": "a", "work": "some"}
UNIQUE = {"age": 100.0, "grade": "high", "sex": "M", "town": "elsewhere", "work": "all"}
LEVELS = {"weak": None, 0: 300, 1: 1000, 2: 3000}


def table(*rows):
    return {name: [row[name] for row in rows] for name in USUAL}


PAIRS = {
    "a lone row with categories of its own": (table(*[USUAL] * 30, UNIQUE), table(*[USUAL] * 30)),
    "a row, and nobody": (table(UNIQUE), table()),
    "all rows equal, one more": (table(*[USUAL] * 40), table(*[USUAL] * 39)),
    "a row that fills an empty group": (table(*[USUAL] * 5, UNIQUE), table(*[USUAL] * 5)),
}


@pytest.mark.parametrize(
    "level",
    [pytest.param(each, marks=pytest.mark.slow if each in (0, 1) else ()) for each in LEVELS],
)
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_extreme_pairs_lose_no_more_than_is_claimed(pair, level):
    model = PrivateKPrototypes(
        2, epsilon=1, domain=SCHEMA, n_public=LEVELS[level], n_init=1, n_synthetic=100
    )
    replayed = replay(model, *pair)
    assert replayed.verdict == "consistent", replayed.faults
    assert replayed.worst <= 1 + 1e-9


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_a_synopsis_around_a_target_loses_no_more_than_is_claimed(pair):
    model = MixedSynopsis(epsilon=1, domain=SCHEMA, target="town", n_public=3000)
    replayed = replay(model, *pair)
    assert replayed.verdict == "consistent", replayed.faults
    assert replayed.worst <= 1 + 1e-9


@pytest.mark.parametrize("level", LEVELS)
def test_the_levels_are_those_meant(level):
    rows = table(*[USUAL] * 20)
    model = PrivateKPrototypes(
        2, epsilon=1, domain=SCHEMA, n_public=LEVELS[level], n_init=1, n_synthetic=100,
        random_state=1,
    ).fit(rows)  # fmt: skip
    assert model.level_ == level


@pytest.mark.parametrize("name", mixed_twins)
def test_twins_are_caught_on_one_of_the_pairs(name):
    verdicts = {replay(mixed_twins[name], *pair).verdict for pair in PAIRS.values()}
    assert verdicts & {"violated", "broken"}
