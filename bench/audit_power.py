"""The smallest overspend an audit sees: at which factor over its claim a mechanism is caught.

``python bench/audit_power.py`` prints the table and writes ``bench/results/audit_power.json``. Each
mechanism is made to spend a factor over epsilon = 1 and held against 1. A factor counts as seen if
every seed says ``violated``; the smallest such is found by halving a list of factors. The fewer
columns speak at once, the smaller it is: the loss of a single report falls with the dimension.
"""

import numpy as np
from measure import write

from shoal.audit import exact_score, lower_bound
from shoal.mechanisms import (
    Duchi,
    Geometric,
    Harmony,
    Hybrid,
    KNorm,
    NDLaplace,
    Piecewise,
    PrivUnit,
    RandomizedResponse,
    SquareWave,
    Staircase,
    UnaryEncoding,
)
from shoal.privacy import PureDP

DRAWS = 50_000
SEEDS = (1, 2)
ALPHA = 0.01
FACTORS = (1.02, 1.04, 1.06, 1.08, 1.1, 1.15, 1.2, 1.25, 1.3, 1.4, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0)


def corners(d):
    return -np.ones(d), np.ones(d)


def first_axis(d):
    return np.zeros(d), np.eye(d)[0]


def moved(d):
    return np.zeros(d, dtype=np.int64), 1000 * np.eye(d, dtype=np.int64)[0]


CASES = [
    *(("NDLaplace", NDLaplace, d, first_axis(d)) for d in (1, 2, 3, 7, 10, 50)),
    *(("KNorm", lambda e: KNorm(PureDP(e), 1000), d, moved(d)) for d in (2, 9)),
    *(
        (made.__name__, made, d, corners(d))
        for made in (Piecewise, Duchi, Harmony, PrivUnit)
        for d in (1, 2, 4, 10)
    ),
    ("Hybrid", Hybrid, 1, corners(1)),
    ("SquareWave", SquareWave, 1, ([0.0], [1.0])),
    ("Staircase", Staircase, 1, corners(1)),
    ("RandomizedResponse", lambda e: RandomizedResponse(e, 8), 1, (0, 1)),
    ("UnaryEncoding", lambda e: UnaryEncoding(e, 8), 8, (0, 1)),
    ("Geometric", lambda e: Geometric(PureDP(e)), 1, (5, 6)),
]


def caught(make, pair, factor, exact):
    mechanism = make(factor)
    score = exact_score(mechanism, pair) if exact else None
    settings = {"draws": DRAWS, "alpha": ALPHA, "score": score}
    return all(
        lower_bound(mechanism, pair, 1.0, random_state=seed, **settings).verdict == "violated"
        for seed in SEEDS
    )


def smallest(make, pair, exact=True):
    """The first factor of the list that is caught; ``None`` if even the last is not."""
    low, high = 0, len(FACTORS)
    while low < high:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if caught(make, pair, FACTORS[middle], exact) else (middle + 1, high)
        )
    return FACTORS[low] if low < len(FACTORS) else None


def measured():
    settings = {"draws": DRAWS, "alpha": ALPHA, "seeds": len(SEEDS)}
    rows = [
        {"mechanism": name, "columns": d, "instrument": "exact score",
         "smallest_factor_caught": smallest(make, pair), **settings}
        for name, make, d, pair in CASES
    ]  # fmt: skip
    trees = [case for case in CASES if case[0] == "NDLaplace" and case[2] in (2, 10)]
    return rows + [
        {"mechanism": name, "columns": d, "instrument": "boosted trees",
         "smallest_factor_caught": smallest(make, pair, exact=False), **settings}
        for name, make, d, pair in trees
    ]  # fmt: skip


if __name__ == "__main__":
    write("audit_power", measured())
