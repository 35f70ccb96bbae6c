"""Figures for the hypotheses of the thesis, for its open questions, and for its earlier drafts."""

from typing import Any

from shoal.experiments._results import Results
from shoal.experiments._tables import table_of
from shoal.experiments._verdicts import not_run
from shoal.experiments.nd_laplace._advantage import best_advantage
from shoal.experiments.nd_laplace._cell_list import DRAFT
from shoal.experiments.nd_laplace._chapter_six import (
    BAND,
    BY_THESIS,
    clusterer_curve,
    mean_of_games,
    ranked,
    shown,
)
from shoal.figures import Figure, budget_curve, count_curve, score_curve
from shoal.pages import Exhibit

DIMENSIONS, SHAPES, NODES = "Section 6.4", "Hypothesis 3", "Section 3.3.3, cells of the grid"
ADVANTAGE = "Hypothesis 1, exactly"
COLUMNS = (1, 2, 3, 5, 7, 10, 20, 30)
FAMILIES = {
    "seeds": ("seeds-2d", "seeds-3d", "seeds-nd"),
    "heart": ("heart-2d", "heart-3d", "heart-nd"),
    "blobs of 200 rows": ("blobs-200-2d", "blobs-200-3d", "blobs-200-5d"),
}
GUESSING = 0.5  # the area under the curve of an adversary who guesses


def later_exhibits(results: Results) -> list[Exhibit]:
    """Return what chapter 6 announces and leaves open, and the figures of earlier drafts."""
    return [
        _dimensions(results),
        _best_advantage(),
        _equal_guarantee(results),
        _shapes(results),
        _nodes(results),
        _draft_clusterers(results),
        _draft_advantage(results),
        _draft_distance(results),
    ]


def _dimensions(results: Results) -> Exhibit:
    figures: list[Figure] = []
    for family, tables in FAMILIES.items():
        lines = {data: results.line("utility", "ami", data=data, mechanism="laplace")
                 for data in tables}  # fmt: skip
        lines = {data: line for data, line in lines.items() if line}
        if len(lines) > 1:
            title = f"{family}, Laplace noise: AMI of k-means by the number of columns"
            figures.append(
                score_curve(lines, title=title, value="AMI", finding=ranked(lines), band=BAND)
            )
    games = _advantages(results, "dimensions", "Advantage on blobs of 2,000 rows")
    title = "What the number of columns does to utility and to leakage (hypothesis 1)"
    return _exhibit("dimensions", DIMENSIONS, title, figures, games)


def _best_advantage() -> Exhibit:
    """Draw the most that one report tells, between records of a fixed and of a growing distance."""
    figures: list[Figure] = []
    for name, distances in (
        ("distance 1", dict.fromkeys(COLUMNS, 1.0)),
        ("a distance of the root of d", {d: d**0.5 for d in COLUMNS}),
    ):
        curve = {d: best_advantage(1.0, distance, d) for d, distance in distances.items()}
        last = COLUMNS[-1]
        figures.append(
            count_curve(
                curve,
                chosen=last,
                value="Best TPR - FPR",
                across="Columns d",
                title=f"One report at epsilon 1, two records at {name}",
                label=f"{curve[last]:.3f} at d = {last}",
            )
        )
    line = (
        "The best test asks which of the two records is nearer to the report. At equal distance "
        "more columns tell less; where every column adds its own difference, as much."
    )
    return Exhibit(ADVANTAGE, "What the best adversary gains", figures, lines=[line])


def _advantages(results: Results, part: str, title: str) -> dict[str, Any]:
    rows = [
        [row["data"], row["mechanism"], f"{row['epsilon']:g}", row["query"],
         str(mean_of_games(row, "advantage"))]
        for row in results.rows(part)
    ]  # fmt: skip
    columns = ["Table", "Mechanism", "epsilon", "asked by", "TPR - FPR"]
    return table_of(title, columns, rows)


def _exhibit(
    part: str, number: str, title: str, figures: list[Figure], table: dict[str, Any]
) -> Exhibit:
    """Return figures and a table of games; without either it says what was not run."""
    tables = [table] if table["rows"] else []
    missing = "" if figures or tables else not_run("nd-laplace", part)
    return Exhibit(number, title, figures, tables, missing=missing)


def _equal_guarantee(results: Results) -> Exhibit:
    figures = []
    for data in results.distinct("equal", "data"):
        lines = {
            name: results.line("equal", "ami", data=data, mechanism=name)
            for name in results.distinct("equal", "mechanism", data=data)
        }
        figures.append(
            score_curve(
                lines,
                title=f"{data}: AMI at one promise, epsilon for the whole record",
                value="AMI of reports' labels",
                finding=ranked(lines),
                band=BAND,
            )
        )
    number = "Section 6.2, at equal guarantee"
    return shown("equal", number, "The same mechanisms at one promise", figures)


def _shapes(results: Results) -> Exhibit:
    figures: list[Figure] = []
    for mechanism in results.distinct("shapes", "mechanism"):
        lines = {
            data: results.line("shapes", "ami", data=data, mechanism=mechanism)
            for data in results.distinct("shapes", "data")
        }
        figures.append(
            score_curve(
                lines,
                title=f"Shapes of data, {mechanism}: AMI of k-means with k = 4",
                value="AMI",
                finding=ranked(lines),
                band=BAND,
            )
        )
    games = _advantages(results, "shape games", "Advantage by the shape of the data")
    return _exhibit("shapes", SHAPES, "Circle, line and skewed data", figures, games)


def _nodes(results: Results) -> Exhibit:
    numbers = sorted(results.distinct("nodes", "nodes"))
    rows = [
        [data, f"{epsilon:g}",
         *(str(results.mean("nodes", "ami", data=data, epsilon=epsilon, nodes=n) or "")
           for n in numbers)]
        for data in results.distinct("nodes", "data")
        for epsilon in results.distinct("nodes", "epsilon", data=data)
    ]  # fmt: skip
    title = "Reports moved to a public grid, by its nodes along an axis"
    if not rows:
        return Exhibit(NODES, title, missing=not_run("nd-laplace", "nodes"))
    columns = ["Table", "epsilon", *(f"{n} nodes" for n in numbers)]
    return Exhibit(NODES, title, tables=[table_of("AMI of k-means", columns, rows)])


# Of an earlier draft: a made-up table of 50 rows and two columns.


def _draft_clusterers(results: Results) -> Exhibit:
    number, title = "Drafts, figures 5.3, 5.4", "Clusterers on 50 rows with Laplace noise"
    if not results.rows("clusterers", data=DRAFT):
        return Exhibit(number, title, missing=not_run("nd-laplace", "clusterers"))
    figures = [
        clusterer_curve(results, DRAFT, "laplace", score, BY_THESIS, score.upper())
        for score in ("ami", "ari", "silhouette")
    ]
    equal = {"data": DRAFT, "mechanism": "laplace"}
    budgets = sorted(results.distinct("clusterers", "epsilon", **equal))
    rows = []
    for name in BY_THESIS:
        line = {e: m for e, m, _ in results.line("clusterers", "chi", clusterer=name, **equal)}
        rows.append([name, *(f"{line[e]:.3g}" if e in line else "" for e in budgets)])
    columns = ["Clusterer", *(f"epsilon {e:g}" for e in budgets)]
    note = "Of the reports; empty where no draw had two clusters."
    return Exhibit(number, title, figures, [table_of("Calinski-Harabasz", columns, rows, note)])


def _draft_advantage(results: Results) -> Exhibit:
    figures: list[Figure] = []
    for data in results.distinct("privacy", "data"):
        lines = {
            name: _areas(results, data, name)
            for name in results.distinct("privacy", "mechanism", data=data)
            if name != "none"
        }
        title = f"{data}: area under the ROC, asked by the true record"
        band = "Bands are 2 standard errors over games. 0.5 is guessing, the line without data."
        if lines:
            figures.append(
                score_curve(lines, title=title, value="AUC", finding=ranked(lines), band=band,
                            control=GUESSING)
            )  # fmt: skip
    number = "Drafts, figure 5.5"
    return shown("privacy", number, "What the adversary gains at each budget", figures)


def _areas(results: Results, data: str, mechanism: str) -> list[tuple[float, float, float]]:
    rows = results.rows("privacy", data=data, mechanism=mechanism, query="true")
    return [(row["epsilon"], row["auc"], row["auc_error"] or 0.0) for row in rows]


def _draft_distance(results: Results) -> Exhibit:
    lines = {
        name: [(e, max(m, 0.01), s) for e, m, s in line]
        for name in ("laplace", "clamp", "snap", "bayes", "laplace-optimal-truncated", "piecewise")
        if (line := results.line("utility", "displacement", data=DRAFT, mechanism=name))
    }
    number, title = "Drafts, figure 5.6", "How far reports lie from their rows"
    if not lines:
        return Exhibit(number, title, missing=not_run("nd-laplace", "utility"))
    figure = budget_curve(
        lines,
        title=f"{DRAFT}: mean distance of a report from its row",
        value="Distance (log)",
        best=0.01,
        best_name="0.01 or less",
        finding="It falls as the budget grows; a distance is a cost, and no promise",
        band=BAND,
    )
    return Exhibit(number, title, [figure])
