"""Guess a column of people from released centres and cells: bench/results/value_inference.csv.

    python bench/value_inference.py

Seven columns of seeds and three of cardiotocography, each cut in two at random twenty times: one
half is released, the other is the people outside. Errors are shares of the column's public range.
"""

import csv
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

from shoal import Box
from shoal.audit import value_inference
from shoal.cluster import PrivateKMeans
from shoal.experiments.nd_laplace._data import data_named
from shoal.synopsis import AdaptiveGrid

CUTS = 20
OUT = Path(__file__).parent / "results" / "value_inference.csv"


def releases(rows, box, seed):
    """What is released of some rows, by name: points and their weights."""
    plain = {"a centre for each row": len(rows), "a centre for ten rows": len(rows) // 10, "8": 8}
    for name, k in plain.items():
        centers = KMeans(k, n_init=1, random_state=seed).fit(rows).cluster_centers_
        yield (f"{name} centres" if name == "8" else name), centers, None
    for epsilon in (1, 10):
        settings = {"epsilon": epsilon, "domain": box, "random_state": seed}
        model = PrivateKMeans(8, **settings).fit(rows)
        yield f"8 private centres, epsilon {epsilon}", model.cluster_centers_, None
        cells, weights = AdaptiveGrid(**settings).fit(rows).points()
        yield f"private synopsis, epsilon {epsilon}", cells, np.maximum(weights, 0)


def main():
    """Run all cuts and write their means."""
    lines = []
    for data in ("seeds-nd", "heart-3d"):
        rows = data_named(data).rows
        low, high = rows.min(axis=0), rows.max(axis=0)
        unit = (rows - low) / (high - low)
        found = {}
        for seed in range(CUTS):
            order = np.random.default_rng(seed).permutation(len(unit))
            half = len(unit) // 2
            inside, outside = unit[order[:half]], unit[order[half : 2 * half]]
            for name, points, weights in releases(inside, Box.unit(unit.shape[1]), seed):
                guess = value_inference(points, inside, outside, 0, weights=weights)
                found.setdefault(name, []).append(guess)
        for name, guesses in found.items():
            added = np.array([guess.added for guess in guesses])
            line = {"data": data, "release": name, "cuts": CUTS, "added": added.mean(),
                    "added_se": added.std(ddof=1) / CUTS**0.5}  # fmt: skip
            for field in ("members_error", "others_error", "without", "member_distance",
                          "other_distance"):  # fmt: skip
                line[field] = np.mean([getattr(guess, field) for guess in guesses])
            lines.append({k: f"{v:.4f}" if isinstance(v, float) else v for k, v in line.items()})
    with OUT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
