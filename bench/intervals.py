"""Do ``intervals_`` hold? Cells named before they were run; coverage, width, cost.

    SHOAL_DATA=folder python bench/intervals.py run FOLDER [seconds] [cell ...]
    python bench/intervals.py table FOLDER
    python bench/intervals.py cost

``run`` goes on where it stopped: a file for each cell in FOLDER. ``table`` sums them up in
``results/intervals.json``. The target of an interval is plain k-means of the true rows (20 starts,
labels matched), so that bias counts. Rules and results: ``docs/decisions/intervals.md``.
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
from sklearn.cluster import KMeans

import shoal
from shoal.cluster.intervals._half_widths import match_centers
from shoal.data import load
from shoal.planning._made_up import place_centers, spacing_of

RESULTS = Path(__file__).parent / "results" / "intervals.json"
FITS, STARTS, SEED = 40, 20, 9_000
CTG = ("LB", "ASTV", "MLTV", "Width")
CANCER = ("mean radius", "mean texture", "mean perimeter", "mean area", "mean smoothness",
          "mean compactness")  # fmt: skip
# Kind, rows, columns, groups, epsilon; of a public set its columns. Each list was named after the
# one before had been run, and rules changed after it: see the decision page. Tuning
# used other sizes, spreads and seeds of the made-up kinds, and iris, diabetes, wine, compound,
# t4.8k, german_credit, seeds, student_por and student_dropout.
FIRST: dict[str, tuple[Any, ...]] = {
    "equal, 1 column, 500": ("equal", 500, 1, 3, 4.0),
    "equal, 1 column, 10k": ("equal", 10_000, 1, 4, 0.5),
    "equal, 2 columns, 2k": ("equal", 2_000, 2, 5, 1.0),
    "equal, 2 columns, 10k": ("equal", 10_000, 2, 8, 0.1),
    "equal, 2 columns, 100k": ("equal", 100_000, 2, 5, 0.5),
    "equal, 3 columns, 5k": ("equal", 5_000, 3, 4, 1.0),
    "equal, 4 columns, 10k": ("equal", 10_000, 4, 5, 1.0),
    "equal, 5 columns, 20k": ("equal", 20_000, 5, 6, 0.5),
    "equal, 8 columns, 10k": ("equal", 10_000, 8, 5, 2.0),
    "equal, 8 columns, 50k": ("equal", 50_000, 8, 5, 0.5),
    "unequal, 2 columns, 5k": ("unequal", 5_000, 2, 5, 1.0),
    "unequal, 4 columns, 20k": ("unequal", 20_000, 4, 5, 0.5),
    "unequal, 8 columns, 20k": ("unequal", 20_000, 8, 4, 1.0),
    "tails, 1 column, 10k": ("tails", 10_000, 1, 4, 1.0),
    "tails, 2 columns, 5k": ("tails", 5_000, 2, 4, 1.0),
    "tails, 2 columns, 100k": ("tails", 100_000, 2, 5, 1.0),
    "tails, 4 columns, 20k": ("tails", 20_000, 4, 4, 1.0),
    "tails, 8 columns, 20k": ("tails", 20_000, 8, 4, 1.0),
    "s1": ("s1", ("x", "y"), None, 15, 4.0),
    "gowalla": ("gowalla_nyc", ("latitude", "longitude"), None, 5, 1.0),
    "adult": ("adult", ("age", "education-num", "hours-per-week"), None, 5, 1.0),
    "road3d": ("road3d_excerpt", ("longitude", "latitude", "altitude"), None, 6, 2.0),
    "cardiotocography": ("cardiotocography", CTG, None, 4, 4.0),
    "breast cancer": ("breast_cancer", CANCER, None, 2, 4.0),
}
SECOND: dict[str, tuple[Any, ...]] = {
    "equal, 1 column, 1k": ("equal", 1_000, 1, 5, 1.0),
    "equal, 1 column, 30k": ("equal", 30_000, 1, 3, 0.1),
    "equal, 2 columns, 500": ("equal", 500, 2, 3, 4.0),
    "equal, 2 columns, 5k": ("equal", 5_000, 2, 6, 0.5),
    "equal, 2 columns, 20k": ("equal", 20_000, 2, 10, 1.0),
    "equal, 3 columns, 60k": ("equal", 60_000, 3, 5, 0.2),
    "equal, 4 columns, 20k": ("equal", 20_000, 4, 6, 2.0),
    "equal, 5 columns, 10k": ("equal", 10_000, 5, 4, 1.0),
    "equal, 6 columns, 5k": ("equal", 5_000, 6, 3, 2.0),
    "equal, 8 columns, 100k": ("equal", 100_000, 8, 6, 1.0),
    "unequal, 1 column, 10k": ("unequal", 10_000, 1, 4, 1.0),
    "unequal, 2 columns, 20k": ("unequal", 20_000, 2, 6, 0.5),
    "unequal, 3 columns, 10k": ("unequal", 10_000, 3, 4, 2.0),
    "unequal, 8 columns, 50k": ("unequal", 50_000, 8, 5, 1.0),
    "tails, 1 column, 50k": ("tails", 50_000, 1, 5, 0.5),
    "tails, 2 columns, 2k": ("tails", 2_000, 2, 3, 2.0),
    "tails, 3 columns, 20k": ("tails", 20_000, 3, 5, 1.0),
    "tails, 5 columns, 10k": ("tails", 10_000, 5, 4, 2.0),
    "tails, 8 columns, 50k": ("tails", 50_000, 8, 5, 0.5),
    "d31": ("d31", ("x", "y"), None, 31, 4.0),
    "birch1": ("birch1", ("x", "y"), None, 12, 0.5),
    "adult, 2 columns": ("adult", ("age", "hours-per-week"), None, 4, 0.5),
    "cardiotocography, 3 columns": ("cardiotocography", ("ASTV", "Mode", "Max"), None, 3, 2.0),
    "student_mat": ("student_mat", ("absences", "G1", "G3"), None, 3, 4.0),
}
THIRD: dict[str, tuple[Any, ...]] = {
    "equal, 1 column, 700": ("equal", 700, 1, 4, 2.0),
    "equal, 1 column, 5k": ("equal", 5_000, 1, 6, 1.0),
    "equal, 2 columns, 1k": ("equal", 1_000, 2, 4, 2.0),
    "equal, 2 columns, 3k": ("equal", 3_000, 2, 5, 0.5),
    "equal, 2 columns, 50k": ("equal", 50_000, 2, 7, 0.1),
    "equal, 3 columns, 15k": ("equal", 15_000, 3, 6, 1.0),
    "equal, 4 columns, 4k": ("equal", 4_000, 4, 4, 2.0),
    "equal, 4 columns, 60k": ("equal", 60_000, 4, 5, 0.2),
    "equal, 6 columns, 20k": ("equal", 20_000, 6, 4, 1.0),
    "equal, 7 columns, 8k": ("equal", 8_000, 7, 3, 4.0),
    "equal, 8 columns, 30k": ("equal", 30_000, 8, 5, 1.0),
    "unequal, 2 columns, 8k": ("unequal", 8_000, 2, 5, 1.0),
    "unequal, 3 columns, 40k": ("unequal", 40_000, 3, 5, 0.5),
    "unequal, 5 columns, 20k": ("unequal", 20_000, 5, 4, 1.0),
    "tails, 1 column, 3k": ("tails", 3_000, 1, 3, 1.0),
    "tails, 2 columns, 15k": ("tails", 15_000, 2, 5, 0.5),
    "tails, 4 columns, 100k": ("tails", 100_000, 4, 4, 0.5),
    "tails, 6 columns, 20k": ("tails", 20_000, 6, 4, 2.0),
    "r15": ("r15", ("x", "y"), None, 15, 4.0),
    "aggregation": ("aggregation", ("x", "y"), None, 7, 4.0),
    "lsun": ("lsun", ("x", "y"), None, 3, 2.0),
    "gowalla, 8 groups": ("gowalla_nyc", ("latitude", "longitude"), None, 8, 0.5),
    "road3d, 2 columns": ("road3d_excerpt", ("longitude", "latitude"), None, 5, 1.0),
    "adult, age and weight": ("adult", ("age", "fnlwgt"), None, 3, 1.0),
}
CELLS = FIRST | SECOND | THIRD
MADE_UP = {"equal", "unequal", "tails"}
SPREADS = {"first": 0.15, "second": 0.2, "third": 0.18}
TABLES, TAIL_DEGREES = 4, 3


def list_of(name: str) -> str:
    """Which list a cell belongs to."""
    return "first" if name in FIRST else "second" if name in SECOND else "third"


def made_up(kind: str, n: int, d: int, k: int, seed: int, times: float) -> np.ndarray:
    """Round groups, all alike, 1 : 16 in size, or with the tails of Student's t."""
    rng = np.random.default_rng(seed)
    centers = place_centers(k, d, rng)
    shares = np.geomspace(1, 16, k) if kind == "unequal" else np.ones(k)
    group = rng.choice(k, n, p=shares / shares.sum())
    spread = times * spacing_of(centers) / np.sqrt(max(d / 2, 1))
    drawn = rng.standard_t(TAIL_DEGREES, (n, d)) if kind == "tails" else rng.normal(size=(n, d))
    return np.clip(centers[group] + spread * drawn, 0, 1)


def table_of(name: str, number: int) -> np.ndarray:
    """Rows of a cell in the unit box; made-up ones in several tables."""
    kind, what, d, k, _ = CELLS[name]
    if kind in MADE_UP:
        seed = SEED + 100 * list(CELLS).index(name) + number
        return made_up(kind, what, d, k, seed, SPREADS[list_of(name)])
    table = load(kind)
    rows = np.column_stack([table[column].to_numpy().astype(float) for column in what])
    rows = rows[np.isfinite(rows).all(axis=1)]
    return (rows - rows.min(axis=0)) / np.ptp(rows, axis=0)


def tables_of(name: str) -> int:
    """How many tables a cell has: large ones take long to cluster plainly."""
    kind, what, *_ = CELLS[name]
    return 1 if kind not in MADE_UP else TABLES if what <= 20_000 else 2


def one_fit(name: str, rows: np.ndarray, plain: KMeans, seed: int) -> dict[str, Any]:
    """A fit, its intervals, and how far it was from plain k-means."""
    *_, k, epsilon = CELLS[name]
    box = shoal.Box.unit(rows.shape[1])
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = shoal.PrivateKMeans(k, epsilon=epsilon, domain=box, random_state=seed).fit(rows)
    fitted = time.process_time()
    found = model.intervals_
    done = time.process_time()
    match = match_centers(model.cluster_centers_, plain.cluster_centers_)
    sizes = np.bincount(plain.labels_, minlength=k)[match]
    error = model.cluster_centers_ - plain.cluster_centers_[match]
    ratio = -float(model.score(rows)) / 4 / plain.inertia_
    return {
        "error": error.tolist(),
        "half": found.half_widths.tolist(),
        "held": ((found.centers_low <= plain.cluster_centers_[match])
                 & (plain.cluster_centers_[match] <= found.centers_high)).tolist(),
        "size held": ((found.sizes_low <= sizes) & (sizes <= found.sizes_high)).tolist(),
        "total held": bool(found.total_low <= len(rows) <= found.total_high),
        "unstable": found.unstable.tolist(),
        "last step": (model.expected_error_ / np.sqrt(rows.shape[1]) / 2).tolist(),
        "inertia ratio": ratio,
        "fit cpu": fitted - start, "interval cpu": done - fitted,
    }  # fmt: skip


def run(folder: Path, seconds: float, names: list[str]) -> None:
    """Fit on, cell by cell, until the time is over."""
    end = time.monotonic() + seconds
    for name in names or THIRD:
        file = folder / f"{list(CELLS).index(name):02}.json"
        fits = json.loads(file.read_text()) if file.exists() else []
        tables = tables_of(name)
        for number in range(tables):
            done = {fit["number"] for fit in fits}
            wanted = [i for i in range(number, FITS, tables) if i not in done]
            if not wanted:
                continue
            rows = table_of(name, number)
            plain = KMeans(CELLS[name][3], n_init=STARTS, random_state=0).fit(rows)
            for i in wanted:
                if time.monotonic() > end:
                    return
                fits.append({"number": i} | one_fit(name, rows, plain, SEED + i))
                file.write_text(json.dumps(fits))
        print(name, json.dumps(summary(name, fits)), flush=True)


def summary(name: str, fits: list[dict[str, Any]]) -> dict[str, Any]:
    """Coverage of a cell, its width, the share of unstable groups and the cost."""
    stable = ~np.array([fit["unstable"] for fit in fits])
    errors = np.abs([fit["error"] for fit in fits])
    half = np.array([fit["half"] for fit in fits], dtype=float)
    d = errors.shape[2]
    today = 1.645 * np.array([fit["last step"] for fit in fits])[:, :, None]
    held = np.array([fit["held"] for fit in fits])
    sizes = np.array([fit["size held"] for fit in fits])
    some = bool(stable.any())
    return {
        "cell": name, "fits": len(fits), "columns": d, "epsilon": CELLS[name][4],
        "coverage": round(float(held[stable].mean()), 3) if some else None,
        "sizes": round(float(sizes[stable].mean()), 3) if some else None,
        "totals": round(float(np.mean([fit["total held"] for fit in fits])), 3),
        "width": round(float(np.median(half[stable]) / np.quantile(errors[stable], 0.9)), 2)
        if some else None,
        "unstable": round(float(1 - stable.mean()), 3),
        "inertia ratio": round(float(np.median([fit["inertia ratio"] for fit in fits])), 3),
        "last step alone": round(float((errors <= today).mean()), 3),
        "cost in fits": round(float(np.median(
            [fit["interval cpu"] / fit["fit cpu"] for fit in fits])), 1),
        "interval cpu": round(float(np.median([fit["interval cpu"] for fit in fits])), 2),
    }  # fmt: skip


def table(folder: Path) -> None:
    """Write the summaries of all cells that have their fits."""
    lines: dict[str, list[Any]] = {}
    for number, name in enumerate(CELLS):
        file = folder / f"{number:02}.json"
        if file.exists():
            line = summary(name, json.loads(file.read_text()))
            lines.setdefault(list_of(name), []).append(line)
            print(line)
    record = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps(record | lines, indent=1) + "\n")


def cost() -> None:
    """CPU seconds of fits and of their intervals, at 10,000 and a million rows."""
    lines = []
    for n in (10_000, 1_000_000):
        for d in (1, 2, 4, 8):
            rows = made_up("equal", n, d, 5, SEED, SPREADS["first"])
            start = time.process_time()
            model = shoal.PrivateKMeans(
                5, epsilon=1.0, domain=shoal.Box.unit(d), random_state=0
            ).fit(rows)
            fitted = time.process_time()
            _ = model.intervals_
            done = time.process_time()
            line = {"rows": n, "columns": d, "fit cpu": round(fitted - start, 3),
                    "interval cpu": round(done - fitted, 3)}  # fmt: skip
            lines.append(line | {"in fits": round((done - fitted) / (fitted - start), 2)})
            print(lines[-1], flush=True)
    record = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps(record | {"cost": lines}, indent=1) + "\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["run", folder, *rest]:
            seconds = float(rest[0]) if rest else 1e9
            run(Path(folder), seconds, rest[1:])
        case ["table", folder]:
            table(Path(folder))
        case ["cost"]:
            cost()
        case _:
            print(__doc__)
