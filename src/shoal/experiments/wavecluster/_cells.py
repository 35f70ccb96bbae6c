"""What each cell of the WaveCluster experiments does: pictures, dissimilarity, known groups."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.cluster import WaveCluster
from shoal.cluster.wave import Percentile, PrivTHR, PrivTHREM
from shoal.data import dataset_names, load, shapes
from shoal.domain import Box
from shoal.evaluate import ari, cell_dissimilarity, cluster_dissimilarity
from shoal.experiments._audits import audits
from shoal.experiments._cells import Cell, Row
from shoal.experiments.wavecluster._printed_forms import (
    PLAIN,
    noise_on_coordinates,
    noise_on_points,
    printed_privthrem,
)

EPSILON, SIDE, P = 2.0, 1.0, 0.5  # of the report: budget, side of a cell, density percentile
ALPHA = {"privthr": 0.9, "privthrem": 0.7}
ALPHAS = (0.3, 0.5, 0.7, 0.9, 0.99)
# Sets of the literature: cells an axis, percentile. Made ones: rows and noise before them.
FILES = {"aggregation": (36, 0.5), "pathbased": (32, 0.3), "s1": (48, 0.5), "t4.8k": (64, 0.5),
         "birch1": (128, 0.3)}  # fmt: skip
MADE = {"moons": (10_000, 0.05, 48, 0.3), "rings": (10_000, 0.04, 48, 0.3)}
PERCENTILES = (0.1, 0.3, 0.5, 0.7, 0.9)
# The report's baseline is 2d Laplace noise on every point: planar, or on each coordinate by itself.
# The paper it follows has one of an adaptive grid.
POINTS, COORDINATES = "noise on every point", "noise on every coordinate"
BASELINE, NO_NOISE, AUTO = "adaptive-grid baseline", "no noise", "auto"
METHODS = (POINTS, BASELINE, "privqt", "privthr", "privthrem", "block")
CORRECTED = "privthrem, corrected"  # with our threshold, which keeps its promise
ORDER_METHODS = (*METHODS, COORDINATES, CORRECTED)
NOISE_ON_ROWS = {POINTS: noise_on_points, COORDINATES: noise_on_coordinates}
TRUTH_METHODS = (BASELINE, "privqt", "privthr", "privthrem", "block", AUTO)
TWINS = {
    "PrivTHREM without interval lengths": 1_000,
    "PrivTHREM up to the true maximum, epsilon 1": 40_000,
    "Haar with mirrored edges": 1_000,
    "box from the rows": 40_000,
}


# Cells.


def cells(quick: bool) -> list[Cell]:
    """Return all cells; those of sets that are not here are left out."""
    return [cell for cell in _planned(quick) if _is_here(str(cell.settings.get("data", "")))]


def _planned(quick: bool) -> Iterator[Cell]:
    budgets = (0.5, 2.0) if quick else (0.25, 0.5, 1.0, 2.0, 4.0)
    sets = ("aggregation", "moons", "rings") if quick else (*FILES, *MADE)
    draws, order_draws = (3, 3) if quick else (12, 36)
    yield Cell("pictures", {"data": "aggregation"}, cost=2)
    for data in sets:
        for epsilon in budgets:
            for method in ORDER_METHODS:
                settings = {"data": data, "epsilon": epsilon, "method": method}
                cost = order_draws * (3 if method == BASELINE else 1)
                yield Cell("order", {**settings, "draws": order_draws}, cost)
    for data in sets:
        yield Cell("truth", {"data": data, "epsilon": 0.0, "method": NO_NOISE, "draws": 1})
        for epsilon in budgets:
            for method in TRUTH_METHODS:
                settings = {"data": data, "epsilon": epsilon, "method": method, "draws": draws}
                yield Cell("truth", settings, draws * (3 if method == BASELINE else 1))
    for data in sets:
        for method in ("privthr", "privthrem"):
            for alpha in ALPHAS:
                settings = {"data": data, "epsilon": EPSILON, "method": method}
                yield Cell("alpha", {**settings, "alpha": alpha, "draws": draws}, draws)
    for twin, many in TWINS.items():
        yield Cell("audits", {"twin": twin, "draws": many})


def _is_here(data: str) -> bool:
    return data not in FILES or data in dataset_names()


def run(cell: Cell) -> list[Row]:
    """Run one cell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a published method that finds no group is a result here
        return _PARTS[cell.part](**cell.settings)


def _table_of(data: str) -> Any:
    if data in FILES:
        return load(data)
    n, noise, *_ = MADE[data]
    return shapes(data, n, noise)  # type: ignore[arg-type]


def _rows_of(data: str) -> Floats:
    table = _table_of(data)
    return np.column_stack([np.asarray(table["x"], float), np.asarray(table["y"], float)])


def _grid_of(data: str) -> tuple[int, float]:
    if data in FILES:
        return FILES[data]
    _, _, n_cells, p = MADE[data]
    return n_cells, p


# The lowest and highest values of the published set, so that conclusions need no rows.
ENDS_OF_AGGREGATION = np.array([[3.35, 1.95], [36.55, 29.15]])


def box_of(X: Floats) -> Box:
    """Return the range, 2 % wider: it stands in for public bounds, which these public sets lack."""
    margin = 0.02 * np.ptp(X, axis=0)
    return Box.of(["x", "y"], X.min(axis=0) - margin, X.max(axis=0) + margin)


def _common(X: Floats, data: str, strict: bool = True) -> dict[str, Any]:
    n_cells, p = _grid_of(data)
    common: dict[str, Any] = {"domain": box_of(X), "cells": n_cells, "level": 1, "min_cells": 1}
    # The report: a cell is significant if it is greater than the threshold.
    return {**common, "selector": Percentile(p, strict=strict)}


def _fit(
    X: Floats,
    common: dict[str, Any],
    method: str,
    epsilon: float,
    draw: int,
    alpha: float | None = None,
    as_printed: bool = True,
) -> WaveCluster:
    if method in NOISE_ON_ROWS:
        noisy = NOISE_ON_ROWS[method](X, common, epsilon, draw)
        return WaveCluster(**common, privacy=PLAIN).fit(common["domain"].clip(noisy))
    given: Any = {BASELINE: "baseline", CORRECTED: "privthrem"}.get(method, method)
    if given in ALPHA:
        share = alpha or ALPHA[given]
        if method == "privthrem" and as_printed:
            return printed_privthrem(X, common, epsilon, draw, share)
        given = PrivTHR(alpha=share) if method == "privthr" else PrivTHREM(alpha=share)
    return WaveCluster(**common, variant=given, epsilon=epsilon, random_state=draw).fit(X)


def order(
    data: str, epsilon: float, method: str, draws: int, alpha: float | None = None
) -> list[Row]:
    """Return how far the clusters of a method are from those without noise.

    Parameters
    ----------
    epsilon
        The budget; of noise on every point, for each side of a cell.
    method
        One of ``ORDER_METHODS``.
    """
    X = _rows_of(data)
    common = _common(X, data)
    true = WaveCluster(**common, privacy=PLAIN).fit(X).cell_labels_
    rows = []
    for draw in range(draws):
        labels = _fit(X, common, method, epsilon, draw, alpha).cell_labels_
        printed = cluster_dissimilarity(true, labels, charge="true")
        row: Row = {"draw": draw, "di": _finite(printed)}
        row["di2"] = _finite(cluster_dissimilarity(true, labels))
        rows.append(row | {"di1": _finite(cell_dissimilarity(true, labels))})
    return rows


def truth(data: str, epsilon: float, method: str, draws: int) -> list[Row]:
    """Return how well the clusters of a method agree with the known groups of a set.

    Parameters
    ----------
    epsilon
        The budget; no matter without noise.
    method
        One of ``TRUTH_METHODS``, or without noise.
    """
    X, groups = _rows_of(data), np.asarray(_table_of(data)["label"], dtype=np.int64)
    common = _common(X, data, strict=False)  # our form of each method
    if method == NO_NOISE:
        scores = {p: ari(groups, _as_reported(X, common, p).predict(X)) for p in PERCENTILES}
        best = max(scores, key=lambda p: scores[p])
        own = ari(groups, WaveCluster(**common, privacy=PLAIN).fit(X).predict(X))
        return [{"draw": 0, "ari": own, "best_ari": scores[best], "best_p": best}]
    rows = []
    for draw in range(draws):
        if method == AUTO:
            model = WaveCluster(domain=common["domain"], epsilon=epsilon, random_state=draw).fit(X)
        else:
            model = _fit(X, common, method, epsilon, draw, as_printed=False)
        labels = model.predict(X)
        row: Row = {"draw": draw, "ari": ari(groups, labels)}
        rows.append(row | {"clusters": int(model.n_clusters_)})
    return rows


def _as_reported(X: Floats, common: dict[str, Any], p: float) -> WaveCluster:
    """Return plain WaveCluster as the report describes it, at a percentile."""
    return WaveCluster(**{**common, "selector": Percentile(p, strict=True)}, privacy=PLAIN).fit(X)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def pictures(data: str) -> list[Row]:
    """Draw the report's pictures in its own setting: cells of side 1, one level, epsilon 2."""
    X = _rows_of(data)
    box = box_of(X)
    n_cells = tuple(int(np.ceil(side / SIDE)) for side in box.high - box.low)
    common: dict[str, Any] = {"domain": box, "cells": n_cells, "level": 1, "min_cells": 1}
    common["selector"] = Percentile(P, strict=True)
    true = WaveCluster(**common, privacy=PLAIN).fit(X)
    noisy = noise_on_points(X, common, EPSILON, 1)
    rows: list[Row] = [
        {"picture": "input", "points": np.round(X, 3).tolist()},
        {"picture": "synthetic", "points": np.round(noisy, 3).tolist()},
        {"picture": "true", "figure": _stored(true)},
    ]
    for method in METHODS:
        model = _fit(X, common, method, EPSILON, 1)
        off = cluster_dissimilarity(true.cell_labels_, model.cell_labels_, charge="true")
        rows.append({"picture": method, "figure": _stored(model), "di": _finite(off)})
    return rows


def _stored(model: WaveCluster) -> list[Any]:
    """Return the picture as plain values, in a list, so that tables leave it out."""
    return [model.plot().to_dict()]


_PARTS: dict[str, Callable[..., list[Row]]] = {
    "pictures": pictures,
    "order": order,
    "truth": truth,
    "alpha": order,
    "audits": audits,
}
