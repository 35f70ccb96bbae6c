"""How good clusters of local grids are: ``python bench/local_grid.py [--seeds 8] [--only 0 2]``.

For each table, budget and form: the inertia of the learnt centres on the true rows over the best
of four starts of scikit-learn's ``KMeans`` (on 20,000 rows), in [-1, 1]^d. Forms: *grid*, the
learner of ``LocalGrid`` reports; *norm-cut*, plain weighted k-means on the same counts; *rounds*,
``LocalRounds``; *no data*, the grid learner when everybody reports the centre of the box. Means
over seeds 900, 901, ... with standard errors, medians and the worst, in ``results/local_grid.csv``.
The learner, the rule for the cells and the rounds were settled on seeds 100 to 123, never on these.
Cases 0 and 2 have 16 seeds. Rounds, lines with other first seeds, and cases without a line in the
results were not run since. *Doubling* groups have sizes 1 : 2 : 4 : 8 : 16; *far* ones are two
large groups and three of 1 or 2 people in 100 far from both; *tailed* ones follow Student's t with
two degrees of freedom.
"""

import argparse
import csv
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: CPU time, not waiting threads

import numpy as np
from clustering.data import Rows, blobs, cube, doubling, stored, stretched, unequal, wide
from clustering.hard import far_groups, tailed
from measure import RESULTS, show
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin_min

from shoal.cluster.kmeans._weighted_kmeans import weighted_centers
from shoal.cluster.local._rounds import LocalRounds
from shoal.cluster.local._synopsis import synopsis_of
from shoal.cluster.local.methods import _grid as grid
from shoal.domain import Box
from shoal.mechanisms import LocalGrid
from shoal.randomness import Randomness

Centers = Callable[[Rows, Box, int, float, int], Rows]
FIRST_SEED = 900
FILE = RESULTS / "local_grid.csv"
ABOUT = ("table", "people", "columns", "clusters", "epsilon", "form")
PLACES = Box.geo(latitude=(40.45, 41.0), longitude=(-74.3, -73.65))


def from_grid(rows: Rows, box: Box, k: int, epsilon: float, seed: int) -> Rows:
    mechanism = LocalGrid(box, epsilon=epsilon, n_expected=len(rows), n_clusters=k)
    reports = mechanism.release(rows, Randomness(seed).noise)
    return grid.learn(reports, k, Randomness(seed), (box.high - box.low) / 2).centers


def norm_cut(rows: Rows, box: Box, k: int, epsilon: float, seed: int) -> Rows:
    mechanism = LocalGrid(box, epsilon=epsilon, n_expected=len(rows), n_clusters=k)
    synopsis = synopsis_of(mechanism.release(rows, Randomness(seed).noise))
    points, weights = synopsis.points()
    return box.unscale(weighted_centers(box.scale(points, -1, 1), weights, k, Randomness(seed)), -1)


def in_rounds(rows: Rows, box: Box, k: int, epsilon: float, seed: int) -> Rows:
    plan = LocalRounds(box, n_clusters=k, epsilon=epsilon, n_expected=len(rows))
    found = plan.simulate(rows, seed).cluster_centers
    assert found is not None
    return found


def no_data(rows: Rows, box: Box, k: int, epsilon: float, seed: int) -> Rows:
    same = np.tile((box.low + box.high) / 2, (len(rows), 1))
    return from_grid(same, box, k, epsilon, seed)


def gowalla(seed: int) -> Rows:
    """The first check-in of everybody, the same for every seed."""
    users = stored("gowalla_nyc", "user")[:, 0]
    places = stored("gowalla_nyc", "latitude", "longitude")
    return places[np.unique(users, return_index=True)[1]]


FORMS: dict[str, Centers] = {
    "grid": from_grid,
    "norm-cut": norm_cut,
    "rounds": in_rounds,
    "no data": no_data,
}
MADE = {
    "blobs": blobs,
    "doubling": doubling,
    "far": lambda n, d, _: far_groups(n, d),
    "stretched": stretched,
    "tailed": tailed,
    "unequal": unequal,
    "wide": wide,
}
_ALL = ("grid", "norm-cut", "no data")
# table, people, columns, clusters, epsilon, forms
CASES: list[tuple[str, int, int, int, float, tuple[str, ...]]] = [
    ("blobs", 20_000, 2, 5, 1.0, _ALL),
    ("blobs", 200_000, 2, 5, 1.0, _ALL),
    ("doubling", 20_000, 2, 5, 1.0, _ALL),
    ("doubling", 200_000, 2, 5, 1.0, _ALL),
    ("unequal", 200_000, 2, 5, 1.0, _ALL),
    ("stretched", 200_000, 2, 5, 1.0, _ALL),
    ("tailed", 200_000, 2, 5, 1.0, _ALL),
    ("far", 200_000, 2, 5, 1.0, _ALL),
    ("wide", 20_000, 2, 5, 1.0, _ALL),
    ("gowalla", 7_115, 2, 5, 1.0, _ALL),
    ("gowalla", 7_115, 2, 5, 2.0, ("grid", "norm-cut")),
    ("gowalla", 7_115, 2, 5, 4.0, ("grid", "norm-cut")),
    ("blobs", 20_000, 2, 5, 2.0, ("grid", "norm-cut")),
    ("blobs", 50_000, 2, 5, 1.0, ("grid",)),
    ("blobs", 50_000, 2, 8, 1.0, ("grid",)),
    ("blobs", 50_000, 2, 3, 1.0, ("grid",)),
    ("blobs", 20_000, 1, 5, 1.0, ("grid", "no data")),
    ("doubling", 20_000, 1, 5, 1.0, ("grid", "no data")),
    ("doubling", 200_000, 3, 5, 1.0, ("grid", "no data")),
    ("blobs", 200_000, 3, 5, 2.0, ("rounds", "grid")),
    ("blobs", 200_000, 4, 5, 2.0, ("rounds", "grid", "norm-cut")),
]


def inertia(rows: Rows, centers: Rows) -> float:
    return float((pairwise_distances_argmin_min(rows, centers)[1] ** 2).sum())


def measured(case: tuple[Any, ...], seeds: range) -> list[dict[str, Any]]:
    table, n, d, k, epsilon, forms = case
    found: dict[str, list[tuple[float, float]]] = {form: [] for form in forms}
    for seed in seeds:
        rows = gowalla(seed) if table == "gowalla" else MADE[table](n, d, k)(seed)
        box = PLACES if table == "gowalla" else cube(d)
        scaled = box.scale(box.clip(rows), -1, 1)
        plain = KMeans(k, n_init=4, random_state=1).fit(scaled[:20_000]).cluster_centers_
        for form in forms:
            start = time.process_time()
            centers = FORMS[form](rows, box, k, epsilon, seed)
            seconds = time.process_time() - start
            ratio = inertia(scaled, box.scale(centers, -1, 1)) / inertia(scaled, plain)
            found[form].append((ratio, seconds))
    return [
        dict(zip(ABOUT, (*case[:5], form), strict=True))
        | {"first_seed": seeds.start}
        | _summary(found[form])
        for form in forms
    ]


def _summary(found: list[tuple[float, float]]) -> dict[str, Any]:
    ratios = np.array([ratio for ratio, _ in found])
    return {
        "seeds": len(ratios),
        "ratio": round(float(ratios.mean()), 3),
        "error": round(float(ratios.std(ddof=1) / np.sqrt(len(ratios))), 3),
        "median": round(float(np.median(ratios)), 3),
        "worst": round(float(ratios.max()), 3),
        "cpu_seconds": round(float(np.mean([seconds for _, seconds in found])), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--only", type=int, nargs="*", default=range(len(CASES)), metavar="CASE")
    asked = parser.parse_args()
    for number in asked.only:
        lines = measured(CASES[number], range(FIRST_SEED, FIRST_SEED + asked.seeds))
        _write(_beside_others(lines))
        show(lines)


def _beside_others(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """New lines in their places among those of other cases, which stay as they were."""
    kept = []
    if FILE.exists():
        with FILE.open(newline="") as file:
            kept = list(csv.DictReader(file))
    order = [(*map(str, case[:5]), form) for case in CASES for form in case[5]]
    found = {tuple(str(line[name]) for name in ABOUT): line for line in [*kept, *lines]}
    return [found[case] for case in order if case in found]


def _write(lines: list[dict[str, Any]]) -> None:
    """After every case, so that a run that is stopped leaves what it has."""
    RESULTS.mkdir(exist_ok=True)
    with FILE.open("w", newline="") as file:
        writer = csv.DictWriter(file, lines[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
