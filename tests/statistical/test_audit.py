"""How often audits of correct mechanisms raise the alarm: no more than alpha allows.

Counts of alarms are held against the binomial at 1e-6, seeds fixed.
"""

import numpy as np
import pytest
from scipy.stats import binom

from shoal.audit import Batched, lower_bound, lower_bound_of, mechanisms

DRAWS = 4_000


def most(audits, alpha):
    """Alarms that so many audits exceed with probability 1e-6."""
    return int(binom.isf(1e-6, audits, alpha))


def sides(rng, kind):
    return {
        "values": lambda: rng.geometric(0.3, DRAWS),
        "numbers": lambda: np.rint(rng.normal(size=DRAWS) * 2**20),
        "score": lambda: rng.normal(size=(DRAWS, 3)),
    }[kind]


def one_law(kind, audits, alpha):
    """How many audits of one law on both sides find anything."""
    draw = sides(np.random.default_rng(11), kind)
    score = (lambda z: z.sum(axis=1)) if kind == "score" else None
    return sum(
        float(lower_bound_of(draw(), draw(), score=score, alpha=alpha)) > 0 for _ in range(audits)
    )


@pytest.mark.parametrize(("kind", "audits"), [("values", 200), ("score", 60)])
def test_one_law_seldom_shows_anything(kind, audits):
    """At alpha = 0.2, far above what is used, so that a slip in the level would show."""
    assert one_law(kind, audits, 0.2) <= most(audits, 0.2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["values", "score"])
def test_one_law_seldom_shows_anything_in_a_thousand_audits(kind):
    assert one_law(kind, 1_000, 0.01) <= 1_000 * (0.01 + 3 * np.sqrt(0.01 * 0.99 / 1_000))


@pytest.mark.slow
def test_trees_seldom_find_what_is_not_there():
    assert one_law("numbers", 200, 0.01) <= most(200, 0.01)


def two_coins(x, n, rng):
    """Exactly epsilon = 1 on the event that is always chosen: the bound is as tight as can be."""
    return (rng.random(n) < (0.5 if x else 0.5 / np.e)).astype(int)


def alarms(mechanism, pair, claim, audits, alpha, **more):
    return sum(
        lower_bound(
            mechanism, pair, claim, draws=DRAWS, alpha=alpha, random_state=seed, **more
        ).verdict
        == "violated"
        for seed in range(audits)
    )


def test_a_mechanism_at_its_limit_is_seldom_called_violated():
    """alpha = 0.4: the tightest case there is stays below the quarter of it each limit has."""
    seen = alarms(Batched(two_coins), (1, 0), 1.0, 300, 0.4)
    assert 0 < seen <= most(300, 0.4)


@pytest.mark.slow
def test_two_hundred_audits_of_correct_mechanisms_raise_no_more_than_the_binomial_allows():
    names = [name for name, case in mechanisms.items() if case.draws >= 100_000]
    seen = sum(
        mechanisms[name].run(draws=DRAWS, alpha=0.01, random_state=seed).verdict == "violated"
        for seed in range(-(-200 // len(names)))
        for name in names
    )
    assert seen <= most(200, 0.01)
