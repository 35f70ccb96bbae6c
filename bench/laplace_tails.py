"""Unequal heavy-tailed groups in three columns from NDLaplace: ``python bench/laplace_tails.py``.

Five groups of Student's t with two degrees of freedom, sizes 1 : 2 : 4 : 8 : 16, in [-1, 1]^3;
inertia over plain k-means on the rows, for methods of ``LocalClusterer`` and its no-data control.
Seeds 920 to 927, named before they were run. Results: ``results/laplace_tails.csv``.
"""

import csv
from typing import Any

import numpy as np
from clustering.data import Rows, cube
from measure import RESULTS, show
from sklearn.cluster import KMeans

from shoal import LocalClusterer, NDLaplace, Randomness

SEEDS = range(920, 928)
METHODS = ("auto", "blend", "mixture", "moments")
CASES = [(2_000, 4.0), (20_000, 4.0), (20_000, 8.0), (100_000, 4.0)]


def unequal_tails(n: int, seed: int, d: int = 3, k: int = 5) -> Rows:
    """Groups whose tails reach far, each with twice the rows of the one before."""
    rng = np.random.default_rng([seed, n, d, k, 27])
    shares = 2.0 ** np.arange(k)
    labels = rng.choice(k, n, p=shares / shares.sum())
    length = np.sqrt(rng.chisquare(2, (n, 1)) / 2)
    rows = rng.uniform(-0.7, 0.7, (k, d))[labels] + 0.05 * rng.standard_normal((n, d)) / length
    return np.clip(rows, -1, 1)


def inertia(model: LocalClusterer, rows: Rows) -> float:
    return float((model.transform(rows).min(axis=1) ** 2).sum())


def measured(n: int, epsilon: float) -> list[dict[str, Any]]:
    found: dict[str, list[float]] = {}
    noise = NDLaplace(epsilon, domain=cube(3))
    for seed in SEEDS:
        rows = unequal_tails(n, seed)
        plain = KMeans(5, n_init=4, random_state=1).fit(rows).inertia_
        reports = noise.release(rows, Randomness(seed).noise)
        for method in METHODS:
            model = LocalClusterer(5, mechanism=noise, method=method, random_state=seed)
            found.setdefault(method, []).append(inertia(model.fit(reports), rows) / plain)
            if method == "auto":
                control = model.control(random_state=10_000 + seed)
                found.setdefault("no data", []).append(inertia(control, rows) / plain)
    return [
        {
            "people": n,
            "epsilon": epsilon,
            "method": method,
            "seeds": len(ratios),
            "mean": round(float(np.mean(ratios)), 2),
            "median": round(float(np.median(ratios)), 2),
            "worst": round(max(ratios), 2),
        }
        for method, ratios in found.items()
    ]


def main() -> None:
    lines: list[dict[str, Any]] = []
    for n, epsilon in CASES:
        lines += measured(n, epsilon)
        show(lines)
        with (RESULTS / "laplace_tails.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, lines[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)


if __name__ == "__main__":
    main()
