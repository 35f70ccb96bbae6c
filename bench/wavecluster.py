"""How good and how fast ``WaveCluster`` is: ``python bench/wavecluster.py [--quick] [--only ...]``.

*published*: mean cluster dissimilarity to plain WaveCluster on the same grid, the published methods
beside noise on the blocks. *truth*: adjusted Rand index against known groups, points in no group a
group of their own. *selectors*: the same on sets that no setting was chosen on, the automatic
rule beside every fixed selector. *aside*: the same on sets named before the present rule was run on
any of them, in two columns and in three to five, beside HDBSCAN without a promise and beside the
rule on as many rows that are spread evenly (no data). *fresh*: the same on newer sets of two
columns. Both also tell what each set gains from one budget to the next, draw by draw. *speed*: CPU
time, beside a pass of binning and scikit-learn's DBSCAN and HDBSCAN in the same run. Means over the
draws with standard errors; ``results/wave-*``.
"""

import argparse
import os
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: CPU time, not waiting threads

import numpy as np
from clustering.later_shapes import LATER
from clustering.shapes import (
    FRESH,
    HELD_OUT,
    KNOWN,
    MORE_COLUMNS,
    SET_ASIDE,
    Compared,
    Shape,
    compared,
    shape,
)
from measure import cpu_seconds, show, write
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import DBSCAN, HDBSCAN
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from shoal.cluster import WaveCluster
from shoal.cluster.wave import Percentile
from shoal.cluster.wave._segmentation import PeakTree, smooth_grid
from shoal.domain import Box
from shoal.evaluate import cluster_dissimilarity
from shoal.privacy import Unprotected

PLAIN = Unprotected("Exact counts, to compare with.")

DRAWS = 20
PUBLISHED: dict[str, dict[str, Any]] = {
    "baseline": {"variant": "baseline"},
    "PrivQT": {"variant": "privqt"},
    "PrivTHR": {"variant": "privthr"},
    "PrivTHREM": {"variant": "privthrem"},
    "block": {},
    "block, posterior": {"selector__rule": "posterior"},
    "block, context": {"selector__rule": "posterior", "selector__context": True},
}
SELECTORS: dict[str, dict[str, Any]] = {
    "auto": {},
    "persistence": {"selector": "persistence"},
    "percentile": {"selector": "percentile"},
    "context": {"selector": Percentile(rule="posterior", context=True)},
    "density": {"selector": "density"},
    "mass": {"selector": "mass"},
}
CHUNK = 65_536  # rows that stay in a core's cache: the fastest that a plain pass was


def published(draws: int) -> list[dict[str, Any]]:
    """A line for each budget and method: the mean over the sets, and each set's."""
    sets = compared()
    return [
        {"epsilon": epsilon, "method": name}
        | _means({each.shape.name: _apart(each, epsilon, settings, draws) for each in sets})
        for epsilon in (0.25, 0.5, 1, 2)
        for name, settings in PUBLISHED.items()
    ]


def _apart(each: Compared, epsilon: float, settings: dict[str, Any], draws: int) -> list[float]:
    rows, box = each.shape.rows, each.shape.box
    plain = WaveCluster(
        privacy=PLAIN,
        domain=box,
        cells=each.cells,
        level=1,
        selector=Percentile(each.p),
        min_cells=1,
    )
    true = plain.fit(rows).cell_labels_
    private = clone(plain).set_params(epsilon=epsilon, privacy=None, n_public=len(rows), **settings)
    models = (private.set_params(random_state=i).fit(rows) for i in range(draws))
    return [cluster_dissimilarity(true, model.cell_labels_) for model in models]


def truth(draws: int) -> list[dict[str, Any]]:
    """A line for each set, and each way of selecting."""
    return [
        {"set": name, "selector": selector, "rows": len(shape(name).rows)}
        | {
            f"epsilon {epsilon:g}": _pair(_indices(shape(name), epsilon, selector, draws))
            for epsilon in (0.25, 0.5, 1, 2)
        }
        for name in KNOWN
        for selector in ("auto", "persistence")
    ]


def selectors(draws: int) -> list[dict[str, Any]]:
    """A line for each budget and selector: the mean over the sets, and each set's."""
    sets = [shape(name) for name in HELD_OUT]
    return [
        {"epsilon": epsilon, "selector": name}
        | _means({each.name: _indices(each, epsilon, name, draws) for each in sets})
        for epsilon in (0.5, 1, 2)
        for name in SELECTORS
    ]


def aside(draws: int) -> list[dict[str, Any]]:
    """A line for each kind of set, way and budget: the mean over the sets, and each set's."""
    # Grids of more columns take long, and vary little.
    return [
        *_budgets("two columns", SET_ASIDE, ("auto", "persistence"), draws),
        *_budgets("more columns", MORE_COLUMNS, ("auto",), 2),
    ]


def fresh(draws: int) -> list[dict[str, Any]]:
    """The same on the newest sets."""
    return list(_budgets("two columns", FRESH, ("auto", "persistence"), draws))


def later(draws: int) -> list[dict[str, Any]]:
    """The same on sets that were named when the rule was fixed."""
    return list(_budgets("two columns", LATER, ("auto",), draws))


def _budgets(
    kind: str, names: Sequence[str], ways: Sequence[str], draws: int
) -> Iterator[dict[str, Any]]:
    """Lines of HDBSCAN, of each way at each budget and its gains, and of rows without groups."""
    sets = [shape(name) for name in names]
    peer = {each.name: [_hdbscan(each)] * 2 for each in sets}
    yield {"sets": kind, "way": "HDBSCAN, no promise"} | _means(peer)
    for way in ways:
        before: dict[str, list[float]] = {}
        for epsilon in (0.5, 1, 2, 4):
            scores = {each.name: _indices(each, epsilon, way, draws) for each in sets}
            yield {"sets": kind, "way": way, "epsilon": epsilon} | _means(scores)
            if before:
                gains = {name: np.subtract(scores[name], before[name]) for name in scores}
                line = {"sets": kind, "way": f"{way}, gained", "epsilon": epsilon}
                yield line | {name: _pair(each) for name, each in gains.items()}
            before = scores
    nothing = {each.name: _no_data(each) for each in sets}
    yield {"sets": kind, "way": "no data", "epsilon": 1} | _means(nothing)


def _hdbscan(each: Shape) -> float:
    found = HDBSCAN(min_cluster_size=max(10, len(each.rows) // 100), copy=True)
    return float(adjusted_rand_score(each.labels, found.fit_predict(each.rows)))


def _no_data(each: Shape) -> list[float]:
    """The agreement of groups that were found in rows spread evenly over the box."""
    even = np.random.default_rng(0).uniform(each.box.low, each.box.high, each.rows.shape)
    models = (WaveCluster(domain=each.box, epsilon=1, random_state=i).fit(even) for i in range(2))
    return [float(adjusted_rand_score(each.labels, one.predict(each.rows))) for one in models]


def _indices(each: Shape, epsilon: float, selector: str, draws: int) -> list[float]:
    common = {"domain": each.box, "epsilon": epsilon, **SELECTORS[selector]}
    models = (WaveCluster(**common, random_state=i).fit(each.rows) for i in range(draws))
    return [adjusted_rand_score(each.labels, model.predict(each.rows)) for model in models]


def _means(scores: dict[str, list[float]]) -> dict[str, Any]:
    """Over all sets, with the standard error that the draws leave; then set by set."""
    values = np.array(list(scores.values()))
    error = np.sqrt((values.var(axis=1, ddof=1) / values.shape[1]).sum()) / len(values)
    mean = {"mean": round(float(values.mean()), 3), "standard error": round(float(error), 3)}
    return mean | {name: round(float(np.mean(each)), 2) for name, each in scores.items()}


def _pair(scores: Sequence[float] | NDArray[np.float64]) -> str:
    error = np.std(scores, ddof=1) / np.sqrt(len(scores))
    return f"{np.mean(scores):.2f} +- {error:.2f}"


def speed(quick: bool) -> list[dict[str, Any]]:
    """A line for each task: CPU seconds, and how often they fit into something to compare with."""
    return [*_binned(1_000_000 if quick else 10_000_000), _huge(), _peaks(), *_peers(quick)]


def _binned(n: int) -> Iterator[dict[str, Any]]:
    """Rows in two columns, in 128 x 128 cells, fitted and looked up, beside a pass of binning."""
    rng = np.random.default_rng(0)
    rows = rng.normal(0.5, 0.12, (n, 2))
    rows[::2] += 0.1
    model = WaveCluster(domain=Box.unit(2), epsilon=1, cells=128, random_state=1)
    task = f"{n // 1_000_000}M x 2 rows, 128 x 128 cells"
    once = cpu_seconds(lambda: _pass(rows, model.domain, 128), 3)
    yield {"task": f"{task}: one pass of binning in NumPy", "CPU s": round(once, 2)}
    spent = cpu_seconds(lambda: model.fit(rows).predict(rows), 3)
    yield {"task": f"{task}: fit and predict", "CPU s": round(spent, 2)} | {
        "ratio": f"{spent / once:.2f} of a pass", "MiB beyond the rows": _peak(
            lambda: model.fit(rows).predict(rows))}  # fmt: skip


def _pass(rows: Any, box: Box, cells: int) -> Any:
    counts = np.zeros(cells * cells, dtype=np.int64)
    for start in range(0, len(rows), CHUNK):
        shares = (rows[start : start + CHUNK] - box.low) / (box.high - box.low)
        places = np.clip(np.floor(shares * cells).astype(np.int64), 0, cells - 1)
        counts += np.bincount(places[:, 0] * cells + places[:, 1], minlength=counts.size)
    return counts


def _peak(call: Callable[[], object]) -> int:
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return round(peak / 2**20)


def _huge() -> dict[str, Any]:
    """Six round groups in eight columns."""
    rng = np.random.default_rng(0)
    middles = rng.uniform(0.2, 0.8, (6, 8))
    rows = middles[rng.integers(6, size=200_000)] + rng.normal(0, 0.05, (200_000, 8))
    model = WaveCluster(domain=Box.unit(8), epsilon=1, cells=8, random_state=1)
    spent = cpu_seconds(lambda: model.fit(rows))
    return {"task": "200k x 8 rows, 16.8M cells, sparse: fit", "CPU s": round(spent, 2)}


def _peaks() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    grid = rng.poisson(3, (256, 256)) + rng.geometric(0.6, (256, 256))

    def persistence() -> None:
        PeakTree.of(smooth_grid(grid, 2.0, 1.0), 0.5).labels(3.0, 3)

    return {
        "task": "peaks and passes of 256 x 256 cells",
        "CPU s": round(cpu_seconds(persistence), 3),
    }


def _peers(quick: bool) -> Iterator[dict[str, Any]]:
    """A hundred round groups and two moons of 100,000 points, beside scikit-learn."""
    n = 10_000 if quick else 100_000
    moons = make_moons(n, noise=0.05, random_state=0)
    each = shape("birch1")
    part = slice(None, None, len(each.rows) // n)
    yield from _beside("birch1", each.rows[part], each.labels[part], each.box, {
        "DBSCAN, radius 12,000, 60 points": DBSCAN(eps=12_000, min_samples=60),
        "DBSCAN, radius 20,000, 200 points": DBSCAN(eps=20_000, min_samples=200),
        "HDBSCAN, 100 points": HDBSCAN(min_cluster_size=100, copy=True),
    })  # fmt: skip
    yield from _beside("moons", *moons, Box(x=(-1.5, 2.5), y=(-1, 1.5)), {
        "DBSCAN, radius 0.02, 20 points": DBSCAN(eps=0.02, min_samples=20),
        "DBSCAN, radius 0.05, 50 points": DBSCAN(eps=0.05, min_samples=50),
    })  # fmt: skip


def _beside(
    name: str, rows: Any, labels: Any, box: Box, peers: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Ours at epsilon 1, and others at settings that come near the known groups, or faster ones."""
    model = WaveCluster(domain=box, epsilon=1, random_state=1)
    task = f"{name}, {len(rows) // 1000}k rows"
    spent = cpu_seconds(lambda: model.fit(rows).predict(rows))
    index = adjusted_rand_score(labels, model.predict(rows))
    yield {"task": f"{task}: fit and predict, epsilon 1", "CPU s": round(spent, 3)} | {
        "ARI": round(index, 2)}  # fmt: skip
    for other, peer in peers.items():
        start = time.process_time()
        found = peer.fit_predict(rows)
        taken = time.process_time() - start
        yield {"task": f"{task}: {other}", "CPU s": round(taken, 2)} | {
            "ratio": f"{taken / spent:.0f} times",
            "ARI": round(adjusted_rand_score(labels, found), 2),
        }


def main() -> None:
    """All tables, or some."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three draws, fewer rows; not kept")
    parser.add_argument(
        "--only", nargs="*", help="published, truth, selectors, aside, fresh, later, speed"
    )
    asked = parser.parse_args()
    draws = 3 if asked.quick else DRAWS
    tables: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "published": lambda: published(draws),
        "truth": lambda: truth(draws),
        "selectors": lambda: selectors(draws),
        "aside": lambda: aside(min(draws, 16)),
        "fresh": lambda: fresh(min(draws, 16)),
        "later": lambda: later(min(draws, 16)),
        "speed": lambda: speed(asked.quick),
    }
    for name in asked.only or tables:
        print(f"-- {name}", flush=True)
        if asked.quick:
            show(tables[name]())
        else:
            write(f"wave-{name}", tables[name]())


if __name__ == "__main__":
    main()
