"""How good and how fast private k-means is: ``python bench/kmeans.py [--quick] [--only NAME ...]``.

``--speed`` measures CPU time alone, on tables of 10,000 to a million rows: the median of three fits
over the median of three of scikit-learn's in the same run, in ``results/kmeans-speed.json``.

For each table, budget, method and seed: the inertia of the private centres on the true rows over
the best of thirty starts of scikit-learn's ``KMeans`` (ten from 100,000 rows up, four from
500,000); the same once exact Lloyd has gone on from the private centres, which tells a lost basin
from noise; the adjusted Rand index of the two labellings; the CPU time of the fit over that of one
default ``KMeans`` on the same rows in the same run. Beside them the inertia of centres made
without any rows. Means over the seeds with standard errors, in ``results/kmeans.csv``, ``.json``
and ``.svg``. diffprivlib runs in an environment of its own (``clustering/peers.py``),
and is left out where it cannot be installed. With ``--former COMMIT`` the sources of that commit
fit the same tables in the same run, as the method *former*: a change of the method is held against
that. The *oracle* knows the clusters of the plain fit, their sizes and their radii, and pays for
its means alone. *One mean* buys one noisy mean of all rows with the whole budget. ``--frozen`` runs
groups of some families have a centre nearby. With ``--keep`` nothing is
run that has not been: lines of the present results that were not measured anew stay, and say so
in the column *rules*.

Every fit is kept as a line of ``data/kmeans.jsonl``; ``--resume`` goes on from there.
"""

import argparse
import csv
import io
import json
import os
import subprocess
import tarfile
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: CPU time, not waiting threads

import numpy as np
import pyarrow as pa
from clustering.data import Family, Rows, blobs, cube, stored
from clustering.peers import Fit, diffprivlib_fits, former_fits
from clustering.plan import (
    FORMER,
    ONE_MEAN,
    ORACLE,
    OURS,
    SEEDS,
    SOME_DELTA,
    TEN_ROWS,
    Case,
    cases,
    frozen,
)
from measure import RESULTS, show, write
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, pairwise_distances_argmin_min

from shoal.cluster import PrivateKMeans
from shoal.cluster.kmeans import _estimator
from shoal.cluster.kmeans._weighted_kmeans import public_points
from shoal.domain import Schema
from shoal.privacy import ApproxDP

SPEED = [(10_000, d) for d in (2, 4, 8, 16)] + [(100_000, 8)] + [(10**6, d) for d in (4, 8, 16)]
KEPT = Path(__file__).parent / "data" / "kmeans.jsonl"
KEPT_FROZEN = KEPT.with_name("kmeans-frozen.jsonl")
LARGE = 500_000
SOURCES = Path(__file__).parent / "data" / "former"
BESIDE: list[Path] = []  # sources of another commit, whose fits stand beside ours
SPEED_SEED = 760


class Plain(NamedTuple):
    """The plain clustering that private ones are held against, on rows scaled to [-1, 1]."""

    rows: Rows
    inertia: float
    labels: Any
    seconds: float  # of one default fit
    no_data: float  # the ratio of centres made without the rows


def plain(rows: Rows, k: int) -> Plain:
    start = time.process_time()
    KMeans(k, random_state=0).fit(rows)
    seconds = time.process_time() - start
    starts = 4 if len(rows) >= LARGE else 10 if len(rows) >= LARGE // 5 else 30
    best = KMeans(k, n_init=starts, random_state=1).fit(rows)
    guess = no_data_centers(k, rows.shape[1])
    _, away = pairwise_distances_argmin_min(rows, guess)
    return Plain(rows, best.inertia_, best.labels_, seconds, np.sum(away**2) / best.inertia_)


@cache
def no_data_centers(k: int, d: int) -> Rows:
    """Centres of points that fill [-1, 1]^d evenly: the best guess at rows nobody has seen."""
    return np.asarray(
        KMeans(k, n_init=1, random_state=0).fit(public_points(d, 4_000)).cluster_centers_
    )


def fits(case: Case, done: set[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """One line a fit, table by table, so that each table is made and clustered plainly once."""
    family = case.family
    for seed in case.seeds if family.new_rows else case.seeds[:1]:
        seeds = [seed] if family.new_rows else case.seeds
        wanted = [
            (method, epsilon, each)
            for method in case.methods
            for epsilon in case.epsilons
            for each in (seeds if method != "diffprivlib" else
                         [s for s in seeds if s in case.peer_seeds])
            if (family.name, method, epsilon, each) not in done
        ]  # fmt: skip
        if wanted:
            raw = family.rows(seed)
            base = plain(family.box.scale(raw, -1, 1), family.k)
            yield from _lines(family, raw, base, wanted)


def _lines(
    family: Family, raw: Rows, base: Plain, wanted: Sequence[tuple[str, float, int]]
) -> Iterator[dict[str, Any]]:
    for method, epsilon in dict.fromkeys((method, epsilon) for method, epsilon, _ in wanted):
        seeds = [seed for *which, seed in wanted if which == [method, epsilon]]
        made = _made(family, raw, base, method, epsilon, seeds)
        for seed, centers, seconds in made:
            ratio, ari = scores(base, centers)
            settled = KMeans(family.k, init=centers, n_init=1).fit(base.rows).inertia_
            yield {"data": family.name, "rows": len(raw), "k": family.k, "epsilon": epsilon} | {
                "method": method, "seed": seed, "ratio": ratio, "ari": ari,
                "after_lloyd": settled / base.inertia, "no_data": base.no_data,
                "seconds": seconds, "plain_seconds": base.seconds}  # fmt: skip


def _made(
    family: Family, raw: Rows, base: Plain, method: str, epsilon: float, seeds: Sequence[int]
) -> Iterator[Fit]:
    """The fits of one method."""
    if method == "diffprivlib":
        yield from diffprivlib_fits(base.rows, family.k, epsilon, seeds)
    elif method == FORMER:
        yield from former_fits(BESIDE[0], base.rows, family.k, epsilon, seeds) if BESIDE else ()
    elif method == ORACLE:
        yield from (Fit(seed, oracle_centers(base, epsilon, seed), 0.0) for seed in seeds)
    elif method == ONE_MEAN:
        with patch.object(_estimator, "takes_one_mean", lambda *_: True):
            yield from (Fit(*_fit(family, raw, method, epsilon, seed)) for seed in seeds)
    else:
        yield from (Fit(*_fit(family, raw, method, epsilon, seed)) for seed in seeds)


def oracle_centers(base: Plain, epsilon: float, seed: int) -> Rows:
    """The means of the plain clusters with noise for their radii and sizes, which cost nothing."""
    rng, k, d = np.random.default_rng(seed), int(base.labels.max()) + 1, base.rows.shape[1]
    centers = np.empty((k, d))
    for label in range(k):
        own = base.rows[base.labels == label]
        centers[label] = own.mean(axis=0)
        radius = np.linalg.norm(own - centers[label], axis=1).max()
        way = rng.standard_normal(d)
        length = rng.gamma(d, radius / epsilon / len(own))
        centers[label] += length * way / np.linalg.norm(way)
    return np.clip(centers, -1, 1)


def _fit(family: Family, raw: Rows, method: str, epsilon: float, seed: int) -> Any:
    settings, table, domain = OURS.get(method, {}), raw, family.box
    promise: dict[str, Any] = {"epsilon": epsilon}
    if method == SOME_DELTA:
        promise = {"privacy": ApproxDP(epsilon, 1e-6)}
    if method == TEN_ROWS:
        named = dict(zip(family.box.names, raw.T, strict=True))
        table = pa.table(named | {"user": stored(family.name, "user")[:, 0].astype(int)})
        domain = Schema.of_box(family.box, person="user", max_rows_per_person=10)
    model = PrivateKMeans(family.k, domain=domain, random_state=seed, **promise, **settings)
    start = time.process_time()
    model.fit(table)
    seconds = time.process_time() - start
    return seed, family.box.scale(model.cluster_centers_, -1, 1), seconds


def scores(base: Plain, centers: Rows) -> tuple[float, float]:
    labels, away = pairwise_distances_argmin_min(base.rows, centers)
    return float(np.sum(away**2) / base.inertia), float(adjusted_rand_score(base.labels, labels))


def summaries(lines: Sequence[dict[str, Any]], limits: dict[Any, float]) -> list[dict[str, Any]]:
    """Means over the seeds."""
    groups: dict[Any, list[dict[str, Any]]] = {}
    for line in lines:
        groups.setdefault((line["data"], line["epsilon"], line["method"]), []).append(line)
    return [_summary(group, limits) for group in groups.values()]


def _summary(group: Sequence[dict[str, Any]], limits: dict[Any, float]) -> dict[str, Any]:
    first = group[0]
    ratios = np.array([line["ratio"] for line in group])
    error = ratios.std(ddof=1) / np.sqrt(len(ratios)) if len(ratios) > 1 else None
    spent, plainly = (sum(line[each] for line in group) for each in ("seconds", "plain_seconds"))
    limit = limits.get((first["data"], first["epsilon"])) if first["method"] == "auto" else None
    return {name: first[name] for name in ("data", "rows", "k", "epsilon", "method")} | {
        "seeds": len(group),
        "NICV ratio": round(float(ratios.mean()), 4),
        "standard error": "" if error is None else round(float(error), 4),
        "after Lloyd": round(float(np.mean([line["after_lloyd"] for line in group])), 4),
        "no data": round(float(np.mean([line["no_data"] for line in group])), 2),
        "at most": "" if limit is None else limit,
        "ARI": round(float(np.mean([line["ari"] for line in group])), 3),
        "CPU ratio": round(spent / plainly, 2),
    }


def picture(rows: Sequence[dict[str, Any]]) -> None:
    """Inertia ratios by budget on blobs in four columns, one line a method."""
    from shoal.figures import budget_curve

    shown = [row for row in rows if row["data"] == "blobs, d = 4"]
    methods = [m for m in ("auto", "uniform-grid", "privtree", "lloyd", "LETEO, as printed",
                           "diffprivlib") if any(row["method"] == m for row in shown)]  # fmt: skip
    if not shown:
        return
    lines = {
        method: [
            (row["epsilon"], row["NICV ratio"], row["standard error"] or 0)
            for row in shown
            if row["method"] == method
        ]
        for method in methods
    }
    best = min(row["NICV ratio"] for row in shown if row["epsilon"] == 1)
    worst = max(row["NICV ratio"] for row in shown if row["epsilon"] == 1)
    figure = budget_curve(
        lines,
        title="Inertia over plain k-means, 10,000 rows, 4 columns, 10 clusters",
        value="Inertia over plain (log)",
        best=1.0,
        best_name="plain k-means",
        finding=f"At epsilon 1 from {best:.2f} to {worst:.2f} times the plain inertia",
        band=f"Bands are 2 standard errors of {shown[0]['seeds']} seeds; the noise was redrawn.",
    )
    (RESULTS / "kmeans.svg").write_text(figure.svg() + "\n")


def speed(n: int, d: int) -> dict[str, Any]:
    """The CPU time of a fit of ten blobs over that of a default ``KMeans``, by turns."""
    family = Family(f"blobs, d = {d}", blobs(n, d), cube(d), 10)
    rows = family.rows(SPEED_SEED)
    _fit(family, rows[:1_000], "auto", 1.0, 0)  # imports and caches are no part of it
    ours, plainly = [], []
    for seed in range(3):
        start = time.process_time()
        KMeans(family.k, random_state=seed).fit(rows)
        plainly.append(time.process_time() - start)
        ours.append(_fit(family, rows, "auto", 1.0, seed)[2])
    return {"rows": n, "columns": d, "seconds": round(float(np.median(ours)), 4),
            "plain seconds": round(float(np.median(plainly)), 4),
            "CPU ratio": round(float(np.median(ours) / np.median(plainly)), 2)}  # fmt: skip


def sources_of(commit: str) -> Path:
    """The folder with the sources of a commit, taken out of the repository once."""
    git = ("git", "-C", str(Path(__file__).parent))
    asked = (*git, "rev-parse", "--short=8", commit)
    name = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    folder = SOURCES / name
    if not folder.exists():
        archive = subprocess.run(
            (*git[:2], str(RESULTS.parents[1]), "archive", name, "src"),
            check=True,
            capture_output=True,
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
    return folder


def with_earlier(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """These lines, and those of the present results that they do not replace."""
    present = [row | {"rules": "present"} for row in rows]
    replaced = {_key(row) for row in rows}
    earlier = json.loads((RESULTS / "kmeans.json").read_text())["rows"]
    stay = [_named_rules(row) for row in earlier if _key(row) not in replaced]
    return [*present, *stay]


def _named_rules(row: dict[str, Any]) -> dict[str, Any]:
    """The line with the rules it was measured under, if it is one of ours."""
    return row if "rules" in row or row["method"] == "diffprivlib" else row | {"rules": "former"}


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["data"], row["epsilon"], row["method"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three seeds, nothing from 100k up")
    parser.add_argument("--only", nargs="*", help="tables whose names begin so")
    parser.add_argument("--resume", action="store_true", help="go on where a run was stopped")
    parser.add_argument("--keep", action="store_true", help="run nothing; keep earlier lines")
    parser.add_argument("--speed", action="store_true", help="CPU time alone")
    parser.add_argument("--former", metavar="COMMIT", help="whose sources fit the same tables")
    parser.add_argument("--seeds", type=int, help="take so many of the seeds of each table")
    parser.add_argument("--without", nargs="*", default=[], help="methods to leave out")
    parser.add_argument("--frozen", action="store_true", help="the twelve tables kept for the end")
    asked = parser.parse_args()
    BESIDE.extend([sources_of(asked.former)] if asked.former else [])
    if asked.speed:
        write("kmeans-speed", [speed(n, d) for n, d in SPEED])
        return
    wanted = [
        case._replace(
            seeds=case.seeds[: asked.seeds],
            methods=[method for method in case.methods if method not in asked.without],
        )
        for case in _chosen(frozen() if asked.frozen else cases(), asked.only, asked.quick)
    ]
    limits = {(c.family.name, e): limit for c in wanted for e, limit in c.at_most.items()}
    kept = KEPT_FROZEN if asked.frozen else KEPT
    lines = _kept_lines(kept) if asked.keep else _run(wanted, asked.resume, kept)
    rows = summaries(lines, limits)
    if asked.keep and not asked.frozen:
        rows = with_earlier(rows)
    if asked.quick or asked.only:  # a part is to be looked at; the whole is kept
        show(rows)
        return
    if asked.frozen:
        write("kmeans-frozen", rows)
        return
    write("kmeans", rows)
    with (RESULTS / "kmeans.csv").open("w", newline="") as file:
        columns = list(dict.fromkeys(column for row in rows for column in row))
        table = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    picture(rows)


def _chosen(all_cases: Sequence[Case], only: Sequence[str] | None, quick: bool) -> list[Case]:
    wanted = [c for c in all_cases if not only or c.family.name.startswith(tuple(only))]
    if not quick:
        return wanted
    large = ("blobs 1", "birch", "gowalla", "far groups", "corner", "unequal 100k")
    small = [
        c for c in wanted if not c.family.name.startswith(large) and "100k" not in c.family.name
    ]
    return [case._replace(seeds=SEEDS[:3]) for case in small]


def _kept_lines(kept: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in kept.read_text().splitlines()]


def _run(wanted: Sequence[Case], resume: bool, kept: Path) -> list[dict[str, Any]]:
    """Every fit that is not done yet; each is kept as soon as it is."""
    kept.parent.mkdir(exist_ok=True)
    kept.touch()
    lines = _kept_lines(kept) if resume else []
    done = {(line["data"], line["method"], line["epsilon"], line["seed"]) for line in lines}
    with kept.open("a" if resume else "w") as file:
        for case in wanted:
            print(case.family.name, flush=True)
            for line in fits(case, done):
                lines.append(line)
                file.write(json.dumps(line) + "\n")
                file.flush()
    return lines


if __name__ == "__main__":
    main()
