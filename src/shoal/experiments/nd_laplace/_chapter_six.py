"""The figures and tables of chapter 6 of the thesis: clusterers, mechanisms, membership games."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.experiments._results import Mean, Results
from shoal.experiments._tables import table_of
from shoal.experiments._verdicts import not_run
from shoal.experiments.nd_laplace._mechanisms import AS_WRITTEN, OURS
from shoal.figures import Figure, grouped_bars, roc_panels, score_curve
from shoal.pages import Exhibit

BAND = "Bands and whiskers are 2 standard errors; the noise was drawn anew each time."
# Which table each figure is about, in the order of chapter 6.
CLUSTERERS = {
    "seeds-2d": "Figures 6.1, 6.2, 6.3", "heart-2d": "Figures 6.4, 6.5, 6.6",
    "seeds-3d": "Figures 6.7, 6.8, 6.9", "heart-3d": "Figures 6.10, 6.11, 6.12",
    "seeds-nd": "Figures 6.13, 6.14, 6.15", "heart-nd": "Figures 6.16, 6.17, 6.18",
}  # fmt: skip
MECHANISMS = {
    "seeds-2d": "Figure 6.19", "heart-2d": "Figure 6.20", "seeds-3d": "Figure 6.21",
    "heart-3d": "Figure 6.22", "seeds-nd": "Figure 6.23", "heart-nd": "Figure 6.24",
}  # fmt: skip
PRIVACY = {
    "seeds-2d": "Figure 6.25, Table 6.2", "heart-2d": "Figure 6.26, Table 6.1",
    "seeds-3d": "Figure 6.27, Table 6.3", "heart-3d": "Figure 6.28",
    "seeds-nd": "Figure 6.29", "heart-nd": "Figure 6.30",
}  # fmt: skip
PLACES = {"Table 6.1": PRIVACY["heart-2d"], "Table 6.2": PRIVACY["seeds-2d"],
          "Table 6.3": PRIVACY["seeds-3d"]}  # fmt: skip
PRINTED_RATES = {  # the first line of each table
    "Table 6.1": "piecewise 9.0 0.731 0.188",
    "Table 6.2": "laplace 0.1 0.684 0.170",
    "Table 6.3": "laplace-optimal-truncated 1.5 0.675 0.470",
}
# The rates of members found that the thesis prints: mechanism, epsilon, TPR, FPR.
RATES: dict[str, tuple[str, list[tuple[str, float, float, float]]]] = {
    "Table 6.1": ("heart-2d", [("piecewise", 9.0, 0.731, 0.188)]),
    "Table 6.2": ("seeds-2d", [
        ("laplace", 0.1, 0.684, 0.170), ("laplace", 0.5, 0.698, 0.387),
        ("laplace-optimal-truncated", 1.0, 0.695, 0.483), ("laplace-truncated", 5.0, 0.705, 0.594),
        ("piecewise", 0.5, 0.694, 0.117), ("piecewise", 0.7, 0.688, 0.140),
        ("piecewise", 1.5, 0.688, 0.245), ("piecewise", 2.0, 0.697, 0.315),
        ("piecewise", 2.5, 0.704, 0.231), ("piecewise", 3.0, 0.711, 0.234),
        ("piecewise", 3.5, 0.700, 0.249), ("piecewise", 7.0, 0.702, 0.242),
        ("piecewise", 9.0, 0.717, 0.249),
    ]),
    "Table 6.3": ("seeds-3d", [
        ("laplace-optimal-truncated", 1.5, 0.675, 0.470),
        ("laplace-optimal-truncated", 2.0, 0.647, 0.478),
        ("laplace-optimal-truncated", 3.5, 0.644, 0.515),
        ("laplace-optimal-truncated", 5.0, 0.669, 0.499),
        ("laplace-optimal-truncated", 7.0, 0.678, 0.266), ("piecewise", 9.0, 0.678, 0.255),
    ]),
}  # fmt: skip


def chapter_six(results: Results) -> list[Exhibit]:
    """Return the figures and tables of sections 6.1 to 6.3, in their order."""
    return [
        *(_clusterers(results, data, number) for data, number in CLUSTERERS.items()),
        *(_mechanisms(results, data, number) for data, number in MECHANISMS.items()),
        *(_privacy(results, data, number) for data, number in PRIVACY.items()),
    ]


BY_THESIS = ("KMeans", "KMeans, k = 4", "AP", "OPTICS", "DBSCAN")
BY_CHOICE = ("KMeans, k chosen", "DBSCAN, chosen", "AP", "OPTICS")
ONE_CLUSTER = (
    "DBSCAN with radius 0.9 and 4 points sees one cluster in most tables, with noise and without; "
    "two labellings of one cluster agree fully, which says nothing."
)


def _clusterers(results: Results, data: str, number: str) -> Exhibit:
    figures = [
        clusterer_curve(results, data, mechanism, score, names, title)
        for mechanism in results.distinct("clusterers", "mechanism", data=data)
        for score, names, title in (
            ("ami", BY_THESIS, "AMI, the thesis' settings"),
            ("ari", BY_THESIS, "ARI, the thesis' settings"),
            ("ami", BY_CHOICE, "AMI, settings chosen on the reports"),
        )
    ]
    exhibit = shown("clusterers", number, f"Clusterers on {data}", figures)
    return replace(exhibit, lines=[ONE_CLUSTER]) if figures else exhibit


def clusterer_curve(
    results: Results, data: str, mechanism: str, score: str, names: Sequence[str], title: str
) -> Figure:
    """Draw a score of several clusterers over the budgets."""
    equal = {"data": data, "mechanism": mechanism}
    known = results.distinct("clusterers", "clusterer", **equal)
    lines = {
        name: line
        for name in names
        if name in known and (line := results.line("clusterers", score, clusterer=name, **equal))
    }
    return score_curve(
        lines,
        title=f"{data}, {mechanism}: {title}",
        value=score.upper(),
        finding=ranked(lines),
        band=BAND,
    )


def ranked(lines: dict[str, Any]) -> str:
    """Return the names of lines by their mean over budgets, in a sentence."""
    means = {name: np.mean([point[1] for point in line]) for name, line in lines.items() if line}
    order = sorted(means, key=lambda name: -means[name])
    return f"On average over budgets: {', then '.join(order)}"


def _mechanisms(results: Results, data: str, number: str) -> Exhibit:
    figures: list[Figure] = []
    for title, names in (("as written", AS_WRITTEN), ("in forms that keep a promise", OURS)):
        present = results.distinct("utility", "mechanism", data=data)
        bars = {name: _bars(results, data, name) for name in names if name in present}
        bars = {name: each for name, each in bars.items() if each}
        if bars:
            figures.append(
                grouped_bars(
                    bars,
                    title=f"{data}: AMI of k-means, mechanisms {title}",
                    value="AMI",
                    across="Budget in raw units (on records: of one)",
                    finding="Budgets of different kinds of promise cannot be compared",
                    band=BAND,
                )
            )
    title = f"Mechanisms on {data}"
    if not figures:
        return Exhibit(number, title, missing=not_run("nd-laplace", "utility"))
    return Exhibit(number, title, figures, [_all_scores(results, data)])


def _bars(results: Results, data: str, mechanism: str) -> dict[str, tuple[float, float]]:
    line = results.line("utility", "ami", data=data, mechanism=mechanism)
    return {f"{epsilon:g}": (mean, error) for epsilon, mean, error in line}


_SCORES = ("ami", "ari", "nmi", "mi", "mirkin", "rand", "fm", "client_ami", "silhouette", "chi",
           "davies_bouldin", "displacement", "aee", "re")  # fmt: skip


def _all_scores(results: Results, data: str) -> dict[str, Any]:
    budgets = sorted(results.distinct("utility", "epsilon", data=data))
    middle = 1.0 if 1.0 in budgets else budgets[len(budgets) // 2]
    rows = []
    for name in results.distinct("utility", "mechanism", data=data):
        equal = {"data": data, "mechanism": name, "epsilon": middle}
        rows.append([name, *(_with_control(results, score, equal) for score in _SCORES)])
    columns = ["Mechanism", *_SCORES]
    note = (
        "In brackets: the same score without data, where everyone reports the middle of the box; "
        "forms that read the rows have none. client_ami: true rows labelled by the learnt centres."
    )
    return table_of(f"All scores at epsilon {middle:g}", columns, rows, note)


def _with_control(results: Results, score: str, equal: dict[str, Any]) -> str:
    mean = results.mean("utility", score, **equal)
    control = results.mean("utility", f"control_{score}", **equal)
    beside = "" if control is None else f" ({control.mean:.2g})"
    return "" if mean is None else f"{mean.mean:.3g}{beside}"


def _privacy(results: Results, data: str, number: str) -> Exhibit:
    games = results.rows("privacy", data=data, query="true")
    if not games:
        missing = not_run("nd-laplace", "privacy")
        return Exhibit(number, f"Membership on {data}", missing=missing)
    rows = [
        [row["mechanism"], f"{row['epsilon']:g}", row["query"], f"{row['tpr']:.3f}",
         f"{row['fpr']:.3f}", str(mean_of_games(row, "advantage"))]
        for row in results.rows("privacy", data=data)
    ]  # fmt: skip
    columns = ["Mechanism", "epsilon", "asked by", "TPR", "FPR", "TPR - FPR"]
    note = "No ceiling applies: labels are computed from the true rows and are unprotected."
    tables = [table_of("Rates", columns, rows, note), *_printed_rates(results, data)]
    return Exhibit(number, f"Membership on {data}", _roc_figures(data, games), tables)


def _roc_figures(data: str, games: Sequence[dict[str, Any]]) -> list[Figure]:
    """Return a figure for each mechanism: no noise, then its least, middle and largest budget."""
    plain = [row for row in games if row["mechanism"] == "none"]
    figures: list[Figure] = []
    for mechanism in dict.fromkeys(row["mechanism"] for row in games if row not in plain):
        own = [row for row in games if row["mechanism"] == mechanism]
        places = sorted({0, len(own) // 2, len(own) - 1})
        panels = [*plain, *(own[place] for place in places)]
        figures.append(
            roc_panels(
                {_game(row): row["roc"] for row in panels},
                notes={_game(row): f"AUC {row['auc']:.2f}" for row in panels},
                title=f"{data}, {mechanism}: asked by the true record",
                finding="All curves run along the diagonal" if _flat(panels) else "Some leave it",
            )
        )
    return figures


def _printed_rates(results: Results, data: str) -> list[dict[str, Any]]:
    """Return the table that the thesis prints of these games, ours beside it."""
    tables = []
    for number, (of, printed) in RATES.items():
        if of == data:
            rows = [
                [mechanism, f"{epsilon:g}", f"{tpr:.3f}, {fpr:.3f}", f"{tpr - fpr:+.3f}",
                 *(str(advantage_of(results, data, mechanism, epsilon, query) or "not run")
                   for query in ("true", "perturbed"))]
                for mechanism, epsilon, tpr, fpr in printed
            ]  # fmt: skip
            columns = ["Mechanism", "epsilon", "TPR, FPR there", "TPR - FPR there",
                       "ours, asked by the true record", "by the noisy one"]  # fmt: skip
            tables.append(table_of(f"{number} as printed, and ours", columns, rows))
    return tables


def advantage_of(
    results: Results, data: str, mechanism: str, epsilon: float, query: str
) -> Mean | None:
    """Return the adversary's advantage over all games of a setting; None if it was not run.

    Parameters
    ----------
    query
        "true" or "perturbed".
    """
    equal = {"data": data, "mechanism": mechanism, "epsilon": epsilon, "query": query}
    rows = results.rows("privacy", **equal)
    if not rows:
        return None
    return mean_of_games(rows[0], "advantage")


def mean_of_games(row: dict[str, Any], value: str) -> Mean:
    """Return a value over the games of a cell, with its standard error; one game has none.

    Parameters
    ----------
    value
        Its name, e.g. "advantage".
    """
    error = row[f"{value}_error"]
    return Mean(row[value], math.nan if error is None else error, row["games"])


def _game(row: dict[str, Any]) -> str:
    """Return a name that fits above a panel."""
    short = {"laplace-truncated": "grid remap", "laplace-optimal-truncated": "optimal"}
    name = short.get(row["mechanism"], row["mechanism"])
    return name if name == "none" else f"{name} {row['epsilon']:g}"


def _flat(games: Sequence[dict[str, Any]]) -> bool:
    return all(abs(row["auc"] - 0.5) < 0.1 for row in games)


def shown(part: str, number: str, title: str, figures: Sequence[Figure]) -> Exhibit:
    """Return an exhibit of figures; without any it says which part was not run."""
    missing = "" if figures else not_run("nd-laplace", part)
    return Exhibit(number, title, figures, missing=missing)
