"""How many people an accuracy takes: ``python bench/people_needed.py fit|check``.

Blobs of ``clustering.data`` for the learner of ``LocalGrid`` reports. People are counted in units
of v k^2, with v the noise of a report and k the number of groups. ``fit`` measures, on seeds 800 to
807 at epsilon 2, the inertia over plain k-means for 1 to 4 columns, 3 and 5 groups and rising
numbers of people; the rule of ``people_needed`` was chosen on it. ``check`` measures, on seeds 950
to 957 (and, after the rule was raised in one and three columns, on 970 to
977), the settings of ``CHECKED``, named before they were run, with as many people as the rule
asks for, and the same for doubling groups (sizes 1 : 2 : 4 ...), which the rule is not about.
Results: ``results/people_needed.csv``; lines that are there are not run again.
"""

import csv
import math
import sys

import numpy as np
from clustering.data import blobs, cube, doubling
from local_grid import from_grid, inertia
from measure import RESULTS, show
from sklearn.cluster import KMeans

from shoal.mechanisms.local._people_needed import people_needed

FILE = RESULTS / "people_needed.csv"
UNITS = {
    1: (50, 100, 200, 400, 800, 1_600),
    2: (100, 200, 400, 800, 1_600, 3_200),
    3: (400, 800, 1_600, 3_200, 6_400),
    4: (2_000, 4_000, 8_000, 16_000),
}
# family, columns, clusters, epsilon, ratio
CHECKED = [
    ("blobs", 2, 5, 1.0, 1.1),
    ("blobs", 1, 4, 1.0, 1.1),
    ("blobs", 3, 4, 2.0, 1.1),
    ("doubling", 2, 5, 1.0, 1.1),
    ("blobs", 2, 4, 1.0, 1.3),
]


def ratios(family, n, d, k, epsilon, seeds):
    found = []
    for seed in seeds:
        rows = {"blobs": blobs, "doubling": doubling}[family](n, d, k)(seed)
        plain = KMeans(k, n_init=4, random_state=1).fit(rows[:20_000]).cluster_centers_
        centers = from_grid(rows, cube(d), k, epsilon, seed)
        found.append(inertia(rows, centers) / inertia(rows, plain))
    return np.array(found)


def line(kind, family, n, d, k, epsilon, seeds, wanted=None):
    found = ratios(family, n, d, k, epsilon, seeds)
    unit = k**2 / math.sinh(epsilon / 2) ** 2
    return {
        "kind": kind,
        "family": family,
        "columns": d,
        "clusters": k,
        "epsilon": epsilon,
        "wanted": wanted,
        "people": n,
        "units": round(n / unit),
        "first_seed": seeds.start,
        "seeds": len(found),
        "median": round(float(np.median(found)), 3),
        "ninth_decile": round(float(np.quantile(found, 0.9)), 3),
        "mean": round(float(found.mean()), 3),
        "worst": round(float(found.max()), 3),
    }


def fitted():
    for d, units in UNITS.items():
        for k in (3, 5):
            for unit in units:
                n = round(unit * k**2 / math.sinh(1.0) ** 2)
                yield "fit", "blobs", n, d, k, 2.0, range(800, 808), None


def checked(first_seed=970):
    for family, d, k, epsilon, ratio in CHECKED:
        for cautious in (False, True):
            n = people_needed(ratio, n_clusters=k, d=d, epsilon=epsilon, cautious=cautious)
            kind = "check, cautious" if cautious else "check"
            yield kind, family, n, d, k, epsilon, range(first_seed, first_seed + 8), ratio


def key(kind, family, n, d, k, epsilon, seeds):
    return f"{kind} {family} {n} {d} {k} {float(epsilon)} {seeds}"


def main() -> None:
    kept = []
    if FILE.exists():
        with FILE.open(newline="") as file:
            kept = list(csv.DictReader(file))
    names = ("kind", "family", "people", "columns", "clusters", "epsilon", "first_seed")
    done = {key(*(each[name] for name in names)) for each in kept}
    for kind, family, n, d, k, epsilon, seeds, wanted in {
        "fit": fitted,
        "check": checked,
    }[sys.argv[1]]():
        if key(kind, family, n, d, k, epsilon, seeds.start) in done:
            continue
        found = line(kind, family, n, d, k, epsilon, seeds, wanted)
        kept.append(found)
        show([found])
        with FILE.open("w", newline="") as file:
            writer = csv.DictWriter(file, found, lineterminator="\n")
            writer.writeheader()
            writer.writerows(kept)


if __name__ == "__main__":
    main()
