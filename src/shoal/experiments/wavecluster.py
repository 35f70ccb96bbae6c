"""The report on WaveCluster with differential privacy: its eight pictures, its order of methods."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit.twins import twins
from shoal.cluster import WaveCluster
from shoal.cluster.wave import Percentile, PrivTHR, PrivTHREM
from shoal.data import dataset_names, load, shapes
from shoal.domain import Box
from shoal.evaluate import cell_dissimilarity, cluster_dissimilarity
from shoal.experiments.cells import Cell, Row
from shoal.experiments.document import Document
from shoal.experiments.results import Mean, Results
from shoal.experiments.tables import NOT_RUN, lead_of, table_of
from shoal.figures import budget_curve, figure_of, stage_map
from shoal.mechanisms import PlanarLaplace
from shoal.privacy import Unprotected
from shoal.randomness import Randomness
from shoal.report import Claim, Exhibit, Reproduction
from shoal.report.reproduction import CANNOT_TEST, DOES_NOT_HOLD, HOLDS

__all__ = ["DOCUMENT"]

Matrix = NDArray[np.float64]
PLAIN = Unprotected("Exact counts, to compare with.")
EPSILON, SIDE, P = 2.0, 1.0, 0.5  # of the report: budget, side of a cell, density percentile
ALPHA = {"privthr": 0.9, "privthrem": 0.7}
# Sets of the literature: cells an axis, percentile. Made ones: rows and noise before them.
FILES = {"aggregation": (36, 0.5), "pathbased": (32, 0.3), "s1": (48, 0.5), "t4.8k": (64, 0.5),
         "birch1": (128, 0.3)}  # fmt: skip
MADE = {"moons": (10_000, 0.05, 48, 0.3), "rings": (10_000, 0.04, 48, 0.3)}
POINTS, BASELINE = "noise on every point", "adaptive-grid baseline"
METHODS = (POINTS, BASELINE, "privqt", "privthr", "privthrem", "block")
ORDER = ("privthrem", "privthr", "privqt", BASELINE)
TWINS = {
    "PrivTHREM without interval lengths": 1_000,
    "PrivTHREM up to the true maximum, epsilon 1": 40_000,
    "Haar with mirrored edges": 1_000,
    "box from the rows": 40_000,
}


# Cells.


def cells(quick: bool) -> list[Cell]:
    """Return all cells; those of sets that are not here are left out.

    Parameters
    ----------
    quick
        Whether few draws and few settings will do.
    """
    return [cell for cell in _planned(quick) if _is_here(str(cell.settings.get("data", "")))]


def _planned(quick: bool) -> Iterator[Cell]:
    budgets = (0.5, 2.0) if quick else (0.25, 0.5, 1.0, 2.0, 4.0)
    sets = ("aggregation", "moons", "rings") if quick else (*FILES, *MADE)
    draws = 3 if quick else 12
    yield Cell("pictures", {"data": "aggregation"}, cost=2)
    for data in sets:
        for epsilon in budgets:
            for method in METHODS:
                settings = {"data": data, "epsilon": epsilon, "method": method, "draws": draws}
                yield Cell("order", settings, draws * (3 if method == BASELINE else 1))
    for data in sets:
        for method in ("privthr", "privthrem"):
            for alpha in (0.3, 0.5, 0.7, 0.9, 0.99):
                settings = {"data": data, "epsilon": EPSILON, "method": method}
                yield Cell("alpha", {**settings, "alpha": alpha, "draws": draws}, draws)
    for twin, many in TWINS.items():
        yield Cell("audits", {"twin": twin, "draws": many})


def _is_here(data: str) -> bool:
    return data not in FILES or data in dataset_names()


def run(cell: Cell) -> list[Row]:
    """Run one cell.

    Parameters
    ----------
    cell
        The cell.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a published method that finds no group is a result here
        return _PARTS[cell.part](**cell.settings)


def _rows_of(data: str) -> Matrix:
    if data in FILES:
        table = load(data)
    else:
        n, noise, *_ = MADE[data]
        table = shapes(data, n, noise)  # type: ignore[arg-type]
    return np.column_stack([np.asarray(table["x"], float), np.asarray(table["y"], float)])


def _grid_of(data: str) -> tuple[int, float]:
    if data in FILES:
        return FILES[data]
    _, _, n_cells, p = MADE[data]
    return n_cells, p


def _box_of(X: Matrix) -> Box:
    """The range, 2 % wider: it stands in for public bounds, which these public sets lack."""
    margin = 0.02 * np.ptp(X, axis=0)
    return Box.of(["x", "y"], X.min(axis=0) - margin, X.max(axis=0) + margin)


def _common(X: Matrix, data: str) -> dict[str, Any]:
    n_cells, p = _grid_of(data)
    common: dict[str, Any] = {"domain": _box_of(X), "cells": n_cells, "level": 1, "min_cells": 1}
    return {**common, "selector": Percentile(p)}


def _fit(
    X: Matrix, common: dict[str, Any], method: str, epsilon: float, draw: int, alpha: float | None
) -> WaveCluster:
    if method == POINTS:
        noisy = PlanarLaplace(epsilon).release(X, Randomness(draw).noise).values
        return WaveCluster(**common, privacy=PLAIN).fit(common["domain"].clip(noisy))
    given: Any = {BASELINE: "baseline"}.get(method, method)
    if method in ALPHA:
        kind: Any = PrivTHR if method == "privthr" else PrivTHREM
        given = kind(alpha=alpha or ALPHA[method])
    return WaveCluster(**common, method=given, epsilon=epsilon, random_state=draw).fit(X)


def order(
    data: str, epsilon: float, method: str, draws: int, alpha: float | None = None
) -> list[Row]:
    """Return how far the clusters of a method are from those without noise.

    Parameters
    ----------
    data
        The set.
    epsilon
        The budget; of noise on every point, for each unit of distance.
    method
        One of ``METHODS``.
    draws
        How many times the noise is drawn.
    alpha
        The share of the counts in a budget that is split.
    """
    X = _rows_of(data)
    common = _common(X, data)
    true = WaveCluster(**common, privacy=PLAIN).fit(X).cell_labels_
    rows = []
    for draw in range(draws):
        labels = _fit(X, common, method, epsilon, draw, alpha).cell_labels_
        row: Row = {"draw": draw, "di2": _finite(cluster_dissimilarity(true, labels))}
        rows.append(row | {"di1": _finite(cell_dissimilarity(true, labels))})
    return rows


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def pictures(data: str) -> list[Row]:
    """Draw the report's pictures in its own setting: cells of side 1, one level, epsilon 2.

    Parameters
    ----------
    data
        The set.
    """
    X = _rows_of(data)
    box = _box_of(X)
    n_cells = tuple(int(np.ceil(side / SIDE)) for side in box.high - box.low)
    common: dict[str, Any] = {"domain": box, "cells": n_cells, "level": 1, "min_cells": 1}
    common["selector"] = Percentile(P)
    true = WaveCluster(**common, privacy=PLAIN).fit(X)
    noisy = PlanarLaplace(EPSILON).release(X, Randomness(1).noise).values
    rows: list[Row] = [
        {"picture": "input", "points": np.round(X, 3).tolist()},
        {"picture": "synthetic", "points": np.round(noisy, 3).tolist()},
        {"picture": "true", "figure": _stored(true)},
    ]
    for method in METHODS:
        model = _fit(X, common, method, EPSILON, 1, None)
        off = _finite(cluster_dissimilarity(true.cell_labels_, model.cell_labels_))
        rows.append({"picture": method, "figure": _stored(model), "di2": off})
    return rows


def _stored(model: WaveCluster) -> list[Any]:
    """Return the picture as plain values, in a list, so that tables leave it out."""
    return [model.plot().to_dict()]


def audits(twin: str, draws: int) -> list[Row]:
    """Audit a broken form: what it loses at least, where so much is claimed.

    Parameters
    ----------
    twin
        Its name in ``shoal.audit.twins``.
    draws
        Outputs of each side.
    """
    audit = twins[twin].run(draws=draws)
    claim = float(audit.claim or 0)
    return [{"bound": float(audit.value), "claim": claim, "verdict": audit.verdict}]


_PARTS: dict[str, Callable[..., list[Row]]] = {
    "pictures": pictures,
    "order": order,
    "alpha": order,
    "audits": audits,
}


# What follows.


def conclude(results: Results, quick: bool) -> Reproduction:
    """Return claims, figures and tables of the report from what was measured.

    Parameters
    ----------
    results
        What was measured.
    quick
        Whether this was the quick form.
    """
    claims = list(_claims(results))
    return Reproduction(
        title="WaveCluster with differential privacy, run again",
        lead=lead_of(claims),
        claims=claims,
        exhibits=list(_exhibits(results)),
        setting=[
            f"The report's setting: cells of side {SIDE:g}, percentile {P:g}, one level of Haar, "
            f"epsilon {EPSILON:g}, alpha 0.9 for PrivTHR and 0.7 for PrivTHREM. It does not name "
            "its set; aggregation stands in, whose box is 36 units wide.",
            "Sets and their grids: " + ", ".join(f"{k} {v[0]} cells, p {v[1]}" for k, v in
            FILES.items()) + "; moons and rings of 10,000 rows, 48 cells, p 0.3. The box of each "
            "is its range, 2 % wider.",
            "Dissimilarity (DI2): clusters matched at least cost, those without a partner on "
            "either side pay their size, over the true significant cells; lower is better. The "
            "report charges true clusters only, which makes spurious ones free.",
            "Noise on every point, the report's first baseline, promises epsilon for each unit of "
            "distance and not for a whole row: another promise, shown because the report does.",
            f"{3 if quick else 12} draws of noise for each setting; all seeded: a simulation.",
        ],
        again=f"shoal reproduce wavecluster{' --quick' if quick else ''}",
        quick=quick,
    )  # fmt: skip


def _claims(results: Results) -> Iterator[Claim]:
    yield _counted_order(results)
    yield _beats(results, "privthrem", "privthr", "Results", "PrivTHREM beats PrivTHR.", EPSILON)
    yield _beats(results, "privthr", "privqt", "Results", "PrivTHR beats PrivQT.", EPSILON)
    yield _beats(results, "privqt", BASELINE, "Results", "PrivQT is better than a baseline of "
                 "synthetic points.", EPSILON)  # fmt: skip
    yield _beats(results, "privqt", POINTS, "Procedure", "PrivQT is better than noise on every "
                 "point.", EPSILON)  # fmt: skip
    for method, alpha in ALPHA.items():
        yield _best_alpha(results, method, alpha)
    yield Claim(
        "PrivQT", "Noise on every count is epsilon-private by parallel composition.", HOLDS,
        reason="A row changes one count by one; the proof lies beside the code.",
    )  # fmt: skip
    yield _broken(results, "PrivTHREM without interval lengths", "PrivTHRem",
                  "A partition drawn by its rank, then a uniform value in it, is epsilon-private.",
                  "Partitions must be weighed by their length; else two that nearly tie leave a "
                  "short one with as much weight as a long one.")  # fmt: skip
    yield _broken(results, "PrivTHREM up to the true maximum, epsilon 1", "PrivTHRem",
                  "Partitions may end at the largest true value W1.",
                  "A threshold beyond the old maximum shows that a row was added.")  # fmt: skip


def _settings(results: Results) -> list[tuple[str, float]]:
    return [
        (data, epsilon)
        for data in results.distinct("order", "data")
        for epsilon in results.distinct("order", "epsilon", data=data)
    ]


def _di2(results: Results, data: str, epsilon: float, method: str) -> Any:
    return results.mean("order", "di2", data=data, epsilon=epsilon, method=method)


def _counted_order(results: Results) -> Claim:
    where, text = "Conclusion", "PrivTHREM is best, then PrivTHR, then PrivQT, then the baseline."
    cases = agreeing = 0
    for data, epsilon in _settings(results):
        means = [_di2(results, data, epsilon, method) for method in ORDER]
        if all(means):
            cases += 1
            values = [mean.mean for mean in means]
            agreeing += values == sorted(values)
    if not cases:
        return Claim(where, text, CANNOT_TEST, reason=NOT_RUN)
    sets = ", ".join(results.distinct("order", "data"))
    ours = f"the whole order in {agreeing} of {cases} settings"
    verdict = HOLDS if agreeing == cases else DOES_NOT_HOLD
    return Claim(where, text, verdict, "all", ours, f"Mean DI2 over draws; sets: {sets}.", CURVES)


def _beats(
    results: Results, first: str, second: str, where: str, text: str, epsilon: float
) -> Claim:
    text = f"{text[:-1]} at epsilon {epsilon:g}."
    gaps = {}
    for data in results.distinct("order", "data"):
        both = [_di2(results, data, epsilon, method) for method in (first, second)]
        if all(both):
            gaps[data] = both[0] - both[1]
    if not gaps:
        return Claim(where, text, CANNOT_TEST, reason=NOT_RUN)
    wins = sum(gap.mean < 0 for gap in gaps.values())
    ours = "; ".join(f"{data} {gap}" for data, gap in gaps.items())
    reason = f"DI2 of the first less that of the second; below 0 in {wins} of {len(gaps)} sets."
    if wins == len(gaps):
        return Claim(where, text, HOLDS, "", ours, reason, CURVES)
    if any(gap.low > 0 for gap in gaps.values()):
        return Claim(where, text, DOES_NOT_HOLD, "", ours, reason, CURVES)
    return Claim(where, text, CANNOT_TEST, "", ours, f"{reason} These draws cannot tell.", CURVES)


def _best_alpha(results: Results, method: str, alpha: float) -> Claim:
    where, text = "Calculations", f"alpha = {alpha:g} works best for {method}."
    gaps, ours = [], []
    for data in results.distinct("alpha", "data"):
        equal = {"data": data, "method": method}
        line = results.line("alpha", "di2", along="alpha", **equal)
        own = results.mean("alpha", "di2", alpha=alpha, **equal)
        if line and own is not None:
            place, mean, error = min(line, key=lambda point: point[1])
            gaps.append(own - Mean(mean, error, own.n))
            ours.append(f"{data}: best {place:g} (DI2 {mean:.2f}), at {alpha:g} {own}")
    if not gaps:
        return Claim(where, text, CANNOT_TEST, f"{alpha:g}", reason=NOT_RUN)
    worse = sum(gap.low > 0 for gap in gaps)
    verdict = DOES_NOT_HOLD if worse else HOLDS
    reason = (
        "Mean DI2 at epsilon 2 among alpha 0.3, 0.5, 0.7, 0.9 and 0.99; the printed share is "
        f"clearly worse than the best in {worse} of {len(gaps)} sets."
    )
    return Claim(where, text, verdict, f"{alpha:g}", "; ".join(ours), reason, SWEEP)


def _broken(results: Results, twin: str, where: str, text: str, reason: str) -> Claim:
    rows = results.rows("audits", twin=twin)
    if not rows:
        return Claim(where, text, CANNOT_TEST, reason=NOT_RUN)
    row = rows[0]
    verdict = DOES_NOT_HOLD if row["verdict"] == "violated" else HOLDS
    return Claim(where, text, verdict, f"epsilon {row['claim']:g}",
                 f"at least {row['bound']:.2f}", reason, AUDITS)  # fmt: skip


CURVES, SWEEP, AUDITS = "Dissimilarity over epsilon", "Alpha", "Privacy of the threshold"
_PICTURES = {  # the report's pictures, in its order
    "Picture 2, synthetic data set": None,
    "Picture 3, baseline result": BASELINE,
    "Picture 3 b, noise on every point": POINTS,
    "Picture 5, true WaveCluster": "true",
    "Picture 6, PrivQT": "privqt",
    "Picture 7, PrivTHR": "privthr",
    "Picture 8, PrivTHREM": "privthrem",
    "Not in the report: block noise": "block",
}


def _exhibits(results: Results) -> Iterator[Exhibit]:
    drawn = {row["picture"]: row for row in results.rows("pictures")}
    if not drawn:
        for number in ("Pictures 1, 4, input", *_PICTURES):
            yield Exhibit(number, "aggregation", missing=NOT_RUN)
    else:
        yield _points_exhibit(drawn)
        for number, name in _PICTURES.items():
            if name is not None:
                yield _picture(number, drawn[name])
    yield _curves(results)
    yield _sweep(results)
    rows = [
        [row["twin"], f"{row['claim']:.3g}", f"{row['bound']:.2f}", row["verdict"]]
        for row in results.rows("audits")
    ]
    table = table_of("Broken forms, audited", ["Form", "claimed", "at least", "verdict"], rows)
    yield Exhibit(AUDITS, "What the printed thresholds lose", tables=[table])


def _points_exhibit(drawn: dict[str, Row]) -> Exhibit:
    points = {
        "input": drawn["input"]["points"],
        "noise": drawn["synthetic"]["points"],
    }
    X = np.array(points["input"])
    figure = stage_map(
        points,
        names=["x", "y"],
        within=[X.min(axis=0), X.max(axis=0)],
        title="Aggregation, and the same with noise on every point",
        finding="Noise at epsilon 2 blurs the gaps between clusters",
    )
    return Exhibit("Pictures 1, 2, 4", "Input and synthetic data set", [figure])


def _picture(number: str, row: Row) -> Exhibit:
    off = "" if row.get("di2") is None else f"Dissimilarity {row['di2']:.2f}, one draw."
    return Exhibit(number, "aggregation, cells of side 1", [figure_of(dict(row["figure"][0]))],
                   lines=[off] if off else [])  # fmt: skip


def _curves(results: Results) -> Exhibit:
    figures = []
    for data in results.distinct("order", "data"):
        lines = {
            method: results.line("order", "di2", data=data, method=method) for method in METHODS
        }
        lines = {name: [(e, max(m, 0.01), s) for e, m, s in line] for name, line in lines.items()}
        lines = {name: line for name, line in lines.items() if line}
        means = {name: np.mean([m for _, m, _ in line]) for name, line in lines.items()}
        order = sorted(means, key=lambda name: float(means[name]))
        figures.append(
            budget_curve(
                lines,
                title=f"{data}: dissimilarity to WaveCluster without noise",
                value="DI2 (log)",
                best=0.01,
                best_name="0.01 or less",
                finding=f"On average over budgets, best first: {', '.join(order)}",
                band="Bands are 2 standard errors over draws of noise.",
            )
        )
    return Exhibit(CURVES, "All methods on all sets", figures, missing="" if figures else NOT_RUN)


def _sweep(results: Results) -> Exhibit:
    rows = []
    for data in results.distinct("alpha", "data"):
        for method in results.distinct("alpha", "method", data=data):
            line = results.line("alpha", "di2", along="alpha", data=data, method=method)
            rows.append([data, method, *(f"{m:.2f} ± {2 * s:.2f}" for _, m, s in line)])
    columns = ["Set", "Method", *(f"alpha {a:g}" for a in (0.3, 0.5, 0.7, 0.9, 0.99))]
    table = table_of("DI2 at epsilon 2 by the share of the counts", columns, rows)
    return Exhibit(SWEEP, "How the budget is split", tables=[table] if rows else [],
                   missing="" if rows else NOT_RUN)  # fmt: skip


DOCUMENT = Document("wavecluster", edition=1, cells=cells, run=run, conclude=conclude)
