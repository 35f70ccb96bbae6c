"""Draw the sums that any number of people would send, without a row for each.

For trying a campaign before it is run: the law of the sums is exactly that of so many clients, and
a billion people take seconds. Nothing here is about real people.
"""

from typing import Any

import numpy as np

from shoal.arrays import Integers
from shoal.mechanisms import RandomizedResponse


def simulate_sums(oracle: Any, counts: Integers, rng: np.random.Generator) -> Integers:
    """Return how often each code would be reported by people with these codes.

    Parameters
    ----------
    oracle
        ``RandomizedResponse`` or ``LocalHash``.
    Examples
    --------
    >>> oracle = RandomizedResponse(1.0, 3)
    >>> int(simulate_sums(oracle, np.array([10**9, 0, 0]), np.random.default_rng(0)).sum())
    1000000000
    """
    if isinstance(oracle, RandomizedResponse):
        places = np.arange(oracle.size)
        answers = _respond(counts, places, oracle.size, oracle.exact_epsilon, rng)
        return np.asarray(answers.sum(axis=0), dtype=np.int64)
    g, t = oracle.buckets, oracle.digits
    functions = np.arange(g**t)
    sums = np.zeros((g**t, g), dtype=np.int64)
    for code in np.flatnonzero(counts):
        people = rng.multinomial(counts[code], np.full(g**t, 1 / g**t))
        places = oracle._hashed(functions, np.full(g**t, code))
        sums += _respond(people, places, g, oracle.exact_epsilon, rng)
    return sums.ravel()


def _respond(
    people: Integers, places: Integers, k: int, epsilon: Any, rng: np.random.Generator
) -> Integers:
    """Return a line of answers over k values for each group of people with one true value."""
    ratio = float(np.exp(float(epsilon)))
    true_answers = rng.binomial(people, ratio / (ratio + k - 1))
    others = rng.multinomial(people - true_answers, np.full(k - 1, 1 / (k - 1)))
    answers = np.zeros((len(people), k), dtype=np.int64)
    wrong = np.arange(k - 1) + (np.arange(k - 1) >= places[:, None])
    np.put_along_axis(answers, wrong, others, axis=1)
    np.put_along_axis(answers, places[:, None], true_answers[:, None], axis=1)
    return answers
