"""Tables on which private k-means is known to have failed, one family for each way to fail.

All lie in [-1, 1]^d. Public sets are scaled from bounds of their own, 2 % wider on each side: test
sets, nobody's rows.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from clustering.data import Family, Made, Rows, blobs, cube, stored, unequal

__all__ = ["far_families", "hard_families", "public_family", "public_sets", "small_sets"]


def far_groups(n: int, d: int) -> Made:
    """Nineteen of twenty rows in two tight groups; three small groups far from both."""

    def rows(seed: int) -> Rows:
        rng = np.random.default_rng([seed, n, d, 21])
        near = rng.uniform(-0.1, 0.1, (2, d))
        far = rng.choice([-0.8, 0.8], (3, d)) + rng.uniform(-0.1, 0.1, (3, d))
        labels = rng.choice(5, n, p=[0.5, 0.45, 0.02, 0.02, 0.01])
        return _inside(np.vstack([near, far])[labels] + 0.02 * rng.standard_normal((n, d)))

    return rows


def corner(n: int, d: int, k: int = 5) -> Made:
    """Blobs that fill a twentieth of every side, at one corner of the box."""
    return _moved(blobs(n, d, k), 0.05, 0.9)


def wide_box(n: int, d: int, k: int = 10) -> Made:
    """Blobs in a box ten times as wide as they need, off its middle."""
    return _moved(blobs(n, d, k), 0.1, 0.3)


def one_column(n: int, d: int, k: int = 5) -> Made:
    """Groups along the first column; next to nothing in the others."""

    def rows(seed: int) -> Rows:
        rng = np.random.default_rng([seed, n, d, k, 22])
        X = 0.01 * rng.standard_normal((n, d))
        middles = np.linspace(-0.8, 0.8, k) + rng.uniform(-0.05, 0.05, k)
        X[:, 0] = middles[rng.integers(k, size=n)] + 0.04 * rng.standard_normal(n)
        return _inside(X)

    return rows


def low_rank(n: int, d: int, rank: int = 2, k: int = 5) -> Made:
    """Blobs in a few columns, turned at random into many."""

    def rows(seed: int) -> Rows:
        rng = np.random.default_rng([seed, n, d, k, 23])
        axes = np.linalg.qr(rng.standard_normal((d, rank)))[0]
        X = blobs(n, rank, k)(seed) @ axes.T + 0.01 * rng.standard_normal((n, d))
        return _inside(X)

    return rows


def imbalanced(n: int, d: int, k: int = 10) -> Made:
    """Blobs of which the largest has half of the rows, and each next one half of the one before."""

    def rows(seed: int) -> Rows:
        rng = np.random.default_rng([seed, n, d, k, 24])
        shares = np.maximum(0.5 ** np.arange(1, k + 1), 0.005)
        labels = rng.choice(k, n, p=shares / shares.sum())
        middles = rng.uniform(-0.85, 0.85, (k, d))
        return _inside(middles[labels] + 0.06 * rng.standard_normal((n, d)))

    return rows


def tailed(n: int, d: int, k: int = 5) -> Made:
    """Groups of Student's t with two degrees of freedom."""

    def rows(seed: int) -> Rows:
        rng = np.random.default_rng([seed, n, d, k, 25])
        middles = rng.uniform(-0.7, 0.7, (k, d))
        length = np.sqrt(rng.chisquare(2, (n, 1)) / 2)
        noise = 0.05 * rng.standard_normal((n, d)) / length
        return _inside(middles[rng.integers(k, size=n)] + noise)

    return rows


def likert(n: int, d: int, k: int = 4, answers: int = 5) -> Made:
    """Answers from 1 to 5 of people of a few kinds; two answers make it binary."""

    def rows(seed: int) -> Rows:
        rng = np.random.default_rng([seed, n, d, k, answers, 26])
        leaning = rng.uniform(0.15, 0.85, (k, d))
        chosen = rng.binomial(answers - 1, leaning[rng.integers(k, size=n)])
        return np.asarray(2 * chosen / (answers - 1) - 1)

    return rows


def far_minorities(n: int, d: int, share: float = 0.02, k: int = 8) -> Made:
    """Three far groups, each with this share of the rows, and the others close together."""

    def rows(seed: int) -> Rows:
        rng = np.random.default_rng([seed, n, d, k, 31])
        near = rng.uniform(-0.15, 0.15, (k - 3, d)) + rng.uniform(-0.5, 0.5, d)
        far = rng.uniform(-0.95, 0.95, (3, d))
        shares = [*[(1 - 3 * share) / (k - 3)] * (k - 3), *[share] * 3]
        middles = np.vstack([near, far])
        return _inside(middles[rng.choice(k, n, p=shares)] + 0.015 * rng.standard_normal((n, d)))

    return rows


def tiny_groups(n: int, d: int, groups: int = 9) -> Made:
    """Nineteen of twenty rows in one group, the others in tiny ones anywhere."""

    def rows(seed: int) -> Rows:
        rng = np.random.default_rng([seed, n, d, groups, 32])
        middles = np.vstack([rng.uniform(-0.5, 0.5, d), rng.uniform(-0.93, 0.93, (groups, d))])
        labels = rng.choice(groups + 1, n, p=[0.95, *[0.05 / groups] * groups])
        spread = np.where(labels == 0, 0.05, 0.015)[:, None]
        return _inside(middles[labels] + spread * rng.standard_normal((n, d)))

    return rows


def lognormal(n: int, d: int) -> Made:
    """Money: a tail that goes on, in a box of e^4 times the median."""

    def rows(seed: int) -> Rows:
        rng = np.random.default_rng([seed, n, d, 33])
        return _inside(2 * np.exp(rng.standard_normal((n, d)) - 4) - 1)

    return rows


def wide_and_far(n: int, d: int) -> Made:
    """Far minorities in a box ten times as wide as they need."""
    return _moved(far_minorities(n, d), 0.1, 0.3)


def far_families() -> list[Family]:
    """Groups of few rows that are far from the others, and tables of few rows."""
    made: list[tuple[str, Callable[..., Made], int, tuple[int, ...], int]] = [
        ("far minorities", far_minorities, 20_000, (1, 2, 3, 4, 5, 6, 8, 12), 8),
        ("far minorities 100k", far_minorities, 100_000, (16,), 8),
        ("tiny groups", tiny_groups, 20_000, (2, 4, 8), 10),
        ("tiny groups 100k", tiny_groups, 100_000, (16,), 10),
        ("lognormal", lognormal, 10_000, (1, 2, 3, 8), 5),
        ("wide and far", wide_and_far, 20_000, (2, 3, 4, 7), 8),
    ]
    few = [(n, d) for n in (50, 100, 200, 500) for d in (5, 6, 7)]
    return [
        *(
            Family(f"{name}, d = {d}", rows(n, d), cube(d), k)
            for name, rows, n, columns, k in made
            for d in columns
        ),
        *(Family(f"few rows {n}, d = {d}", blobs(n, d, 3), cube(d), 3) for n, d in few),
    ]


def hard_families() -> list[Family]:
    """By the way in which they are hard."""
    made: list[tuple[str, Callable[..., Made], int, tuple[int, ...], int]] = [
        ("far groups 100k", far_groups, 100_000, (8, 16), 5),
        ("corner 100k", corner, 100_000, (8, 16), 5),
        ("unequal 100k", unequal, 100_000, (8, 16), 10),
        ("wide box 5k", wide_box, 5_000, (1, 2, 3, 5, 8), 10),
        ("one column", one_column, 10_000, (6, 10, 20), 5),
        ("low rank", low_rank, 10_000, (20,), 5),
        ("imbalanced", imbalanced, 10_000, (2, 4, 8), 10),
        ("tails", tailed, 10_000, (2, 8), 5),
        ("Likert", likert, 2_000, (10,), 4),
        ("small", blobs, 300, (2, 4, 8), 5),
    ]
    families = [
        Family(f"{name}, d = {d}", _with_k(rows, n, d, _fitting(k, d)), cube(d), _fitting(k, d))
        for name, rows, n, columns, k in made
        for d in columns
    ]
    binary = Family("binary, d = 12", likert(2_000, 12, answers=2), cube(12), 4)
    return [*families, binary]


SMALL_SETS = ("iris", "wine", "breast cancer", "seeds", "r15", "aggregation", "flame", "jain")


def small_sets() -> list[Family]:
    """The public sets of a few hundred rows."""
    return [family for family in public_sets() if family.name in SMALL_SETS]


@cache
def public_sets() -> list[Family]:
    """Public sets, each with the number of groups its authors give or that are usually sought."""
    from sklearn import datasets

    seeds = ("area", "perimeter", "compactness", "kernel_length", "kernel_width", "asymmetry",
             "groove_length")  # fmt: skip
    shapes = {"r15": 15, "aggregation": 7, "flame": 2, "jain": 2, "compound": 6, "d31": 31}
    sets = {
        "iris": (datasets.load_iris().data, 3),
        "wine": (datasets.load_wine().data, 3),
        "breast cancer": (datasets.load_breast_cancer().data, 2),
        "seeds": (stored("seeds", *seeds), 3),
    } | {name: (stored(name, "x", "y"), k) for name, k in shapes.items()}
    return [public_family(name, np.asarray(X), k) for name, (X, k) in sets.items()]


def public_family(name: str, X: Rows, k: int) -> Family:
    """A public set, scaled from bounds 2 % wider than its rows on each side."""
    margin = 0.02 * np.ptp(X, axis=0)
    low, high = X.min(axis=0) - margin, X.max(axis=0) + margin
    scaled = 2 * (X - low) / (high - low) - 1
    return Family(name, lambda _: scaled, cube(X.shape[1]), k, new_rows=False)


def _fitting(k: int, d: int) -> int:
    """Ten blobs have no room in one column."""
    return k if d > 1 else min(k, 5)


def _with_k(rows: Callable[..., Made], n: int, d: int, k: int) -> Made:
    return rows(n, d, k) if rows is not far_groups else rows(n, d)


def _moved(rows: Made, size: float, place: float) -> Made:
    return lambda seed: place + size * rows(seed)


def _inside(X: Rows) -> Rows:
    return np.clip(X, -1, 1)
