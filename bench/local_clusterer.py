"""Clusters from reports: every method beside the no-data control, and the thesis' two tables.

    results/local_clusterer.csv   one line a (set, epsilon, method): client labels against plain
                                  k-means on the rows, and inertia over plain
    results/local_labels.csv      labels of the reports themselves, in raw units

Noise is NDLaplace with the box scaled to [-1, 1]^d, the range of each set standing in for a public
box. The control is run by the learner in the same draw. Sets marked ``tuned`` were looked at while
the methods and the rule of ``method="auto"`` were made.
"""

import csv
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_mutual_info_score

import shoal
from shoal import Box, LocalClusterer, NDLaplace, Randomness

RESULTS = Path(__file__).parent / "results"
SINGLE = ("plain", "moments", "posterior-means", "em", "mixture")
DRAWS = 8
HEART = ("LB", "ASTV", "MLTV", "Width")
MOST = 800  # rows of a set that are used


@dataclass(frozen=True)
class Setting:
    name: str
    k: int
    epsilons: tuple[float, ...]
    tuned: bool
    rows: Callable[[], np.ndarray]


def columns(name: str, *wanted: str | int) -> Callable[[], np.ndarray]:
    def read() -> np.ndarray:
        table = shoal.data.load(name)
        return np.column_stack([np.asarray(table[each], dtype=float) for each in wanted])

    return read


SETTINGS = (
    Setting("wine-3D", 3, (4, 8), False, columns("wine", 0, 6, 9)),
    Setting("compound", 6, (4, 8), False, columns("compound", "x", "y")),
    Setting("pathbased", 3, (4, 8), False, columns("pathbased", "x", "y")),
    Setting("breast-cancer-4D", 3, (4, 8), False, columns("breast_cancer", 0, 1, 4, 8)),
    Setting("gowalla", 6, (4, 8), False, columns("gowalla_nyc", "longitude", "latitude")),
    Setting("lsun", 3, (4, 8), False, columns("lsun", "x", "y")),
    Setting("t4.8k", 6, (4, 8), False, columns("t4.8k", "x", "y")),
    Setting("students-3D", 4, (4, 8), False, columns("student_mat", "G1", "G2", "G3")),
    Setting("diabetes-3D", 4, (4, 8), False, columns("diabetes", "bmi", "bp", "s5")),
    Setting("heart-4D", 4, (4, 8), False, columns("cardiotocography", *HEART)),
    Setting("seeds-2D", 3, (4,), True, columns("seeds", "area", "perimeter")),
    Setting("iris-4D", 3, (4,), True, columns("iris", 0, 1, 2, 3)),
    Setting("seeds-7D", 3, (8,), True, columns("seeds", *range(7))),
    Setting("aggregation", 7, (8,), True, columns("aggregation", "x", "y")),
    Setting("s1", 15, (8,), True, columns("s1", "x", "y")),
)


def plain(rows: np.ndarray, k: int) -> KMeans:
    return KMeans(k, n_init=10, random_state=0).fit(rows)


def boxed(rows: np.ndarray) -> np.ndarray:
    """At most 800 rows, their range scaled to [-1, 1]^d."""
    if len(rows) > MOST:
        rows = rows[np.random.default_rng(0).permutation(len(rows))[:MOST]]
    low, high = rows.min(axis=0), rows.max(axis=0)
    return 2 * (rows - low) / (high - low) - 1


def cube(d: int) -> Box:
    return Box.of([f"x{i}" for i in range(d)], -np.ones(d), np.ones(d))


def scores(model: LocalClusterer, rows: np.ndarray, best: KMeans) -> tuple[float, float]:
    """AMI of the client labels, and inertia over plain."""
    agreement = adjusted_mutual_info_score(best.labels_, model.predict(rows))
    return agreement, float((model.transform(rows).min(axis=1) ** 2).sum()) / best.inertia_


def drawn(setting: Setting, epsilon: float) -> dict[str, list[tuple[float, float]]]:
    rows = boxed(setting.rows())
    best = plain(rows, setting.k)
    noise = NDLaplace(epsilon, domain=cube(rows.shape[1]))
    found: dict[str, list[tuple[float, float]]] = {}
    for draw in range(DRAWS):
        reports = noise.release(rows, Randomness(draw).noise)
        for method in ("auto",) if setting.tuned else ("auto", *SINGLE):
            model = LocalClusterer(setting.k, mechanism=noise, method=method, random_state=draw)
            found.setdefault(method, []).append(scores(model.fit(reports), rows, best))
            if method == "auto":
                control = model.control(random_state=10_000 + draw)
                found.setdefault("control", []).append(scores(control, rows, best))
    return found


def lines(setting: Setting, epsilon: float) -> Iterator[dict[str, Any]]:
    found = drawn(setting, epsilon)
    told = {"set": setting.name, "k": setting.k, "epsilon": epsilon, "tuned": setting.tuned}
    for method, values in found.items():
        gaps = np.subtract(values, found["auto"])  # of the same reports
        yield told | {
            "method": method,
            "draws": len(values),
            **{f"{name}{part}": number for part, name, number in _told(values, "")},
            **{f"{name}{part}": number for part, name, number in _told(gaps, "_less_auto")},
        }


def _told(values: Any, of: str) -> Iterator[tuple[str, str, float]]:
    """Mean and standard error of both scores."""
    means = np.mean(values, axis=0)
    errors = np.std(values, axis=0, ddof=1) / np.sqrt(len(values))
    for name, mean, error in zip(("ami", "inertia"), means, errors, strict=True):
        yield of, name, round(float(mean), 3)
        yield f"{of}_se", name, round(float(error), 3)


def report_labels(
    name: str, wanted: tuple[str, ...], k: int, epsilon: float, method: str, draws: int
) -> dict[str, Any]:
    """AMI of the labels of reports to plain k-means on standardised rows, noise in raw units."""
    rows = columns(name, *wanted)()
    truth = plain((rows - rows.mean(axis=0)) / rows.std(axis=0), k).labels_
    box = Box.of(list(wanted), rows.min(axis=0), rows.max(axis=0))
    noise = NDLaplace(epsilon, domain=box)
    values = []
    for draw in range(draws):
        reports = noise.release(rows, Randomness(draw).noise)
        scale = reports.values.std(axis=0) if method == "plain" else "spread"
        model = LocalClusterer(k, mechanism=noise, method=method, scale=scale, random_state=draw)
        values.append(adjusted_mutual_info_score(truth, model.fit(reports).report_labels_))
    told = {"set": name, "d": len(wanted), "k": k, "epsilon": epsilon, "method": method}
    error = np.std(values, ddof=1) / np.sqrt(draws)
    return told | {"ami": round(float(np.mean(values)), 3), "ami_se": round(float(error), 3)}


def thesis() -> Iterator[dict[str, Any]]:
    for epsilon in (0.5, 1, 9):
        yield report_labels("cardiotocography", ("LB", "Min"), 2, epsilon, "plain", 40)
    seeds = ("area", "perimeter", "kernel_length")
    for epsilon in (0.5, 1, 2, 3, 5):
        for method in ("plain", "auto"):
            yield report_labels("seeds", seeds, 5, epsilon, method, 8)


def keep(name: str, table: Iterator[dict[str, Any]]) -> None:
    """Write lines as they come, so that a run that is stopped leaves what it had."""
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"{name}.csv").open("w", newline="") as file:
        writer: csv.DictWriter[str] | None = None
        for line in table:
            if writer is None:
                writer = csv.DictWriter(file, list(line))
                writer.writeheader()
            writer.writerow(line)
            file.flush()
            print(*line.values(), flush=True)


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    wanted = sys.argv[1:]
    if not wanted or "labels" in wanted:
        keep("local_labels", thesis())
    if not wanted or "cells" in wanted:
        cells = ((setting, epsilon) for setting in SETTINGS for epsilon in setting.epsilons)
        keep("local_clusterer", (line for cell in cells for line in lines(*cell)))


if __name__ == "__main__":
    main()
