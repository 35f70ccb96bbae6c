"""Do the intervals of range counts, and of centres learnt from reports, hold?

    SHOAL_DATA=folder python bench/interval_rates.py ranges
    python bench/interval_rates.py reports FOLDER [setting ...]

``reports`` goes on where it stopped: a file for each setting in FOLDER. Results go to
``results/intervals.json``; rules and results: ``docs/decisions/intervals.md``.
"""

import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: CPU time, not waiting threads

import numpy as np
from intervals import RESULTS, STARTS, made_up
from sklearn.cluster import KMeans

from shoal.cluster import LocalClusterer
from shoal.cluster.intervals._half_widths import match_centers
from shoal.data import load
from shoal.domain import Box
from shoal.mechanisms import LocalGrid, NDLaplace
from shoal.randomness import Randomness
from shoal.synopsis import AdaptiveGrid, UniformGrid

SEED = 70_000
RELEASES, RECTANGLES, FITS = 5, 200, 20
SYNOPSES = {"uniform": UniformGrid, "adaptive": AdaptiveGrid}
# A public set with its columns, or a kind of made-up rows with how many, columns and groups.
# The first were used to choose the rule; the second were named before any of them was run.
CHOSEN_BY: dict[str, tuple[Any, ...]] = {
    "s1": ("s1", ("x", "y")),
    "gowalla": ("gowalla_nyc", ("latitude", "longitude")),
    "road3d": ("road3d_excerpt", ("longitude", "latitude", "altitude")),
    "adult, whole numbers": ("adult", ("age", "hours-per-week")),
    "student_por, whole numbers": ("student_por", ("G1", "G3")),
    "unequal, 2 columns, 20k": ("unequal", 20_000, 2, 6),
    "tails, 3 columns, 50k": ("tails", 50_000, 3, 5),
}
FRESH: dict[str, tuple[Any, ...]] = {
    "t4.8k": ("t4.8k", ("x", "y")),
    "birch1": ("birch1", ("x", "y")),
    "d31": ("d31", ("x", "y")),
    "diabetes, 3 columns": ("diabetes", ("bmi", "bp", "s5")),
    "adult, age and weight": ("adult", ("age", "fnlwgt")),
    "student_mat, whole numbers": ("student_mat", ("G1", "absences")),
    "equal, 1 column, 5k": ("equal", 5_000, 1, 4),
    "tails, 2 columns, 30k": ("tails", 30_000, 2, 5),
    "unequal, 3 columns, 20k": ("unequal", 20_000, 3, 5),
}
RANGES = CHOSEN_BY | FRESH
# Mechanism, kind, rows, columns, groups, epsilon: named before any was run.
REPORTS: dict[str, tuple[Any, ...]] = {
    "grid, 1 column, 10k": ("grid", "equal", 10_000, 1, 3, 2.0),
    "grid, 2 columns, 20k": ("grid", "equal", 20_000, 2, 4, 4.0),
    "grid, unequal, 20k": ("grid", "unequal", 20_000, 2, 4, 4.0),
    "laplace, 2 columns, 5k": ("laplace", "equal", 5_000, 2, 3, 40.0),
}


def table_of(name: str) -> np.ndarray:
    """The rows of a set, in the unit box."""
    kind, *what = RANGES[name]
    if len(what) > 1:
        n, d, k = what
        return made_up(kind, n, d, k, SEED, 0.2)
    table = load(kind)
    rows = np.column_stack([table[column].to_numpy().astype(float) for column in what[0]])
    rows = rows[np.isfinite(rows).all(axis=1)]
    return (rows - rows.min(axis=0)) / np.ptp(rows, axis=0)


def ranges() -> None:
    """How many of 200 random boxes, in each of several releases, hold what is in them."""
    lines = []
    for name in FRESH:
        rows = table_of(name)
        box = Box.unit(rows.shape[1])
        for kind, make in SYNOPSES.items():
            for epsilon in (0.5, 2.0):
                shares = [
                    range_coverage(make(epsilon=epsilon, domain=box, random_state=SEED + i), rows)
                    for i in range(RELEASES)
                ]
                line = {"table": name, "synopsis": kind, "epsilon": epsilon,
                        "held": round(float(np.mean(shares)), 3)}  # fmt: skip
                lines.append(line)
                print(line, flush=True)
    record(ranges=lines)


def range_coverage(synopsis: Any, rows: np.ndarray) -> float:
    """The share of boxes whose interval holds; ends as bounds have them, the upper one outside."""
    synopsis.fit(rows)
    rng, names, held = np.random.default_rng(SEED), synopsis.box.names, 0
    for _ in range(RECTANGLES):
        low, high = np.sort(rng.uniform(size=(2, rows.shape[1])), axis=0)
        found = synopsis.range_count(dict(zip(names, zip(low, high, strict=True), strict=True)))
        true = ((rows >= low) & (rows < high)).all(axis=1).sum()
        held += bool(found.low <= true <= found.high)
    return held / RECTANGLES


def reports(folder: Path, names: list[str]) -> None:
    """Coverage of centres and sizes learnt from reports, against plain k-means of the people."""
    lines = []
    for number, name in enumerate(REPORTS):
        file = folder / f"reports-{number}.json"
        fits = json.loads(file.read_text()) if file.exists() else []
        for i in range(len(fits), FITS if not names or name in names else 0):
            fits.append(one_report_fit(name, i))
            file.write_text(json.dumps(fits))
        if fits:
            lines.append(report_summary(name, fits))
            print(lines[-1], flush=True)
    record(reports=lines)


def one_report_fit(name: str, number: int) -> dict[str, Any]:
    """People of whom each sends a report, a fit of these, and what its intervals hold."""
    mechanism_name, kind, n, d, k, epsilon = REPORTS[name]
    rows = made_up(kind, n, d, k, SEED + number % 4, 0.15)
    plain = KMeans(k, n_init=STARTS, random_state=0).fit(rows)
    box = Box.unit(d)
    if mechanism_name == "grid":
        mechanism: Any = LocalGrid(box, epsilon=epsilon, n_expected=n, n_clusters=k)
    else:
        mechanism = NDLaplace(epsilon, domain=box)
    sent = mechanism.release(rows, Randomness(SEED + number).noise)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LocalClusterer(k, mechanism=mechanism, random_state=number).fit(sent)
        fitted = time.process_time()
        found = model.intervals_
    done = time.process_time()
    target = plain.cluster_centers_[match_centers(model.cluster_centers_, plain.cluster_centers_)]
    match = match_centers(model.cluster_centers_, plain.cluster_centers_)
    sizes = np.bincount(plain.labels_, minlength=k)[match]
    return {
        "held": ((found.centers_low <= target) & (target <= found.centers_high)).tolist(),
        "size held": ((found.sizes_low <= sizes) & (sizes <= found.sizes_high)).tolist(),
        "half": found.half_widths.tolist(),
        "error": np.abs(model.cluster_centers_ - target).tolist(),
        "unstable": found.unstable.tolist(),
        "cost in fits": (done - fitted) / (fitted - start),
    }


def report_summary(name: str, fits: list[dict[str, Any]]) -> dict[str, Any]:
    """What held over all fits of a setting."""
    stable = ~np.array([fit["unstable"] for fit in fits])
    held, sizes = (np.array([fit[what] for fit in fits]) for what in ("held", "size held"))
    half, errors = (np.array([fit[what] for fit in fits], float) for what in ("half", "error"))
    return {
        "setting": name, "epsilon": REPORTS[name][-1], "fits": len(fits),
        "coverage": round(float(held[stable].mean()), 3) if stable.any() else None,
        "sizes": round(float(sizes[stable].mean()), 3) if stable.any() else None,
        "width": round(float(np.median(half[stable]) / np.quantile(errors[stable], 0.9)), 2)
        if stable.any() else None,
        "unstable": round(float(1 - stable.mean()), 3),
        "cost in fits": round(float(np.median([fit["cost in fits"] for fit in fits])), 1),
    }  # fmt: skip


def record(**lines: Any) -> None:
    """Keep lines beside those of ``bench/intervals.py``."""
    before = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps(before | lines, indent=1) + "\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["ranges"]:
            ranges()
        case ["reports", folder, *names]:
            Path(folder).mkdir(exist_ok=True)
            reports(Path(folder), names)
        case _:
            print(__doc__)
