"""The pictures of the WaveCluster report, each beside ours, and figures that it lacks."""

from collections.abc import Iterator

import numpy as np

from shoal.experiments._cells import Row
from shoal.experiments._results import Results
from shoal.experiments._tables import table_of
from shoal.experiments._verdicts import not_run
from shoal.experiments.wavecluster._cells import (
    ALPHAS,
    BASELINE,
    EPSILON,
    METHODS,
    NO_NOISE,
    POINTS,
    TRUTH_METHODS,
)
from shoal.figures import budget_curve, figure_of, score_curve, stage_map
from shoal.pages import Exhibit

CURVES, SWEEP, AUDITS = "Dissimilarity over epsilon", "Alpha", "Privacy of the threshold"
KNOWN_GROUPS, POINT_PICTURE = "Agreement with known groups", "Picture 3, baseline result"
_POINTS = "Pictures 1, 2, 4"
_PICTURES = {  # the report's pictures of results, in its order
    POINT_PICTURE: POINTS,
    "Picture 5, true WaveCluster": "true",
    "Picture 6, PrivQT": "privqt",
    "Picture 7, PrivTHR": "privthr",
    "Picture 8, PrivTHREM": "privthrem",
    "Not in the report: adaptive-grid baseline": BASELINE,
    "Not in the report: block noise": "block",
}


def exhibits(results: Results) -> Iterator[Exhibit]:
    """Yield the report's pictures in its order, then what it has no picture of."""
    drawn = {row["picture"]: row for row in results.rows("pictures")}
    if not drawn:
        for number in (_POINTS, *_PICTURES):
            yield Exhibit(number, "aggregation", missing=not_run("wavecluster", "pictures"))
    else:
        yield _points_exhibit(drawn)
        for number, name in _PICTURES.items():
            yield _picture(number, drawn[name])
    yield _curves(results)
    yield _known_groups(results)
    yield _sweep(results)
    rows = [
        [row["twin"], f"{row['claim']:.3g}", f"{row['bound']:.2f}", row["verdict"]]
        for row in results.rows("audits")
    ]
    table = table_of("Broken forms, audited", ["Form", "claimed", "at least", "verdict"], rows)
    yield Exhibit(AUDITS, "What the printed thresholds lose", tables=[table] if rows else [],
                  missing="" if rows else not_run("wavecluster", "audits"))  # fmt: skip


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
        finding=f"Noise at epsilon {EPSILON:g} for each side of a cell",
    )
    return Exhibit(_POINTS, "Input and synthetic data set", [figure])


def _picture(number: str, row: Row) -> Exhibit:
    off = "" if row.get("di") is None else f"Dissimilarity {row['di']:.2f}, one draw."
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
    missing = "" if figures else not_run("wavecluster", "order")
    return Exhibit(CURVES, "All methods on all sets", figures, missing=missing)


def _known_groups(results: Results) -> Exhibit:
    figures = []
    for data in results.distinct("truth", "data"):
        lines = {
            method: line
            for method in TRUTH_METHODS
            if (line := results.line("truth", "ari", data=data, method=method))
        }
        plain = results.mean("truth", "ari", data=data, method=NO_NOISE)
        if lines:
            without = "" if plain is None else f"; without noise {plain.mean:.2f}"
            figures.append(
                score_curve(
                    lines,
                    title=f"{data}: agreement with the known groups{without}",
                    value="ARI",
                    finding=f"Best on average over budgets: {_best(lines)}",
                    band="Bands are 2 standard errors. auto chooses grid and threshold itself.",
                )
            )
    return Exhibit(KNOWN_GROUPS, "What dissimilarity to a noiseless run does not tell", figures,
                   missing="" if figures else not_run("wavecluster", "truth"))  # fmt: skip


def _best(lines: dict[str, list[tuple[float, float, float]]]) -> str:
    return max(lines, key=lambda name: float(np.mean([mean for _, mean, _ in lines[name]])))


def _sweep(results: Results) -> Exhibit:
    rows = []
    for data in results.distinct("alpha", "data"):
        for method in results.distinct("alpha", "method", data=data):
            means = [results.mean("alpha", "di", alpha=alpha, data=data, method=method)
                     for alpha in ALPHAS]  # fmt: skip
            rows.append([data, method, *("" if mean is None else str(mean) for mean in means)])
    columns = ["Set", "Method", *(f"alpha {alpha:g}" for alpha in ALPHAS)]
    table = table_of("DI at epsilon 2 by the share of the counts", columns, rows)
    return Exhibit(SWEEP, "How the budget is split", tables=[table] if rows else [],
                   missing="" if rows else not_run("wavecluster", "alpha"))  # fmt: skip
