"""The figures and tables of the thesis, by their numbers, each beside ours."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.experiments.nd_laplace.data import HEART_COLUMNS
from shoal.experiments.nd_laplace.mechanisms import AS_WRITTEN, GUARANTEES, OURS
from shoal.experiments.results import Results
from shoal.experiments.tables import NOT_RUN, table_of
from shoal.figures import (
    Figure,
    count_curve,
    grouped_bars,
    noise_map,
    roc_panels,
    score_curve,
    stage_map,
)
from shoal.mechanisms import PlanarLaplace
from shoal.randomness import Randomness
from shoal.report import Exhibit

__all__ = ["DIMENSIONS", "LENGTHS", "SHAPES", "exhibits"]

LENGTHS, DIMENSIONS, SHAPES = "Figure 3.8", "Hypothesis 1", "Hypothesis 3"
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


def exhibits(results: Results) -> list[Exhibit]:
    """Return all figures and tables of the thesis in its order.

    Parameters
    ----------
    results
        What was measured.
    """
    return [
        _drawing("Figures 2.1, 2.2, 2.3, 2.4", "Central, local and interactive privacy", OTHERS),
        _elbows(results),
        _radii(results),
        Exhibit("Tables 2.1, 2.2, 2.3", "The literature", lines=[LITERATURE]),
        _noise_around_a_point(),
        _stages(results, "Figures 3.3, 3.6, 3.11, 3.12", ("noise", "grid remap")),
        _lengths(results),
        _drawing("Figures 3.9, 3.10", "A kd-tree, after Washington", OTHERS),
        Exhibit("Figure 3.13", "The mechanism as a flow chart", lines=[FLOW]),
        _stages(results, "Figure 3.14", ("data", "noise", "grid remap", "optimal remap")),
        _drawing("Figure 4.1", "Shadow models, after Shokri et al.", OTHERS),
        _attack_setting(),
        _settings_table(results),
        *(_clusterers(results, data, number) for data, number in CLUSTERERS.items()),
        *(_mechanisms(results, data, number) for data, number in MECHANISMS.items()),
        *(_privacy(results, data, number) for data, number in PRIVACY.items()),
        _dimensions(results),
        _equal_guarantee(results),
        _shapes(results),
        _audits(results),
    ]


LITERATURE = "Method by method, with audits, on the page of shoal reproduce literature."
FLOW = "Its steps, noise, grid remap and optimal remap, are run one by one in figure 3.14."
OTHERS = "a drawing of an idea by other authors, with nothing measured in it"


def _drawing(number: str, title: str, why: str) -> Exhibit:
    return Exhibit(number, title, missing=why)


def _elbows(results: Results) -> Exhibit:
    figures = [
        count_curve(
            dict(row["elbow_curve"]),
            chosen=row["elbow_k"],
            value="Inertia",
            title=f"Elbow of {row['data']}",
        )
        for row in results.rows("settings")
    ]
    return _shown("Figure 2.5", "The elbow, on each table", figures)


def _radii(results: Results) -> Exhibit:
    figures = [
        count_curve(
            dict(row["radius_curve"]),
            chosen=row["radius_at"],
            value="k-distance",
            across="Share of points that reach no further",
            title=f"Sorted distances of {row['data']}",
            label=f"radius {row['radius']:.3g}",
        )
        for row in results.rows("settings")
    ]
    return _shown("Figure 2.6", "The k-distance plot, on each table", figures)


def _noise_around_a_point() -> Exhibit:
    draws = {}
    for epsilon in (0.5, 1, 3):
        noise = PlanarLaplace(epsilon).release(np.zeros((2_000, 2)), Randomness(7).noise)
        draws[f"epsilon {epsilon:g}"] = noise.values
    figure = noise_map(
        draws,
        truth=(0, 0),
        reach=8,
        title="Noise around one point, two columns",
        finding="Reports scatter evenly in all directions.",
    )
    number = "Figures 3.1, 3.2, 3.4, 3.5, 3.7"
    return _shown(number, "Noise drawn around a point", [figure])


def _stages(results: Results, number: str, wanted: Sequence[str]) -> Exhibit:
    rows = {row["stage"]: np.array(row["points"]) for row in results.rows("stages")}
    if not rows:
        return Exhibit(number, "Rows, noise and remaps", missing=NOT_RUN)
    low, high = rows["data"].min(axis=0), rows["data"].max(axis=0)
    names = HEART_COLUMNS[:3]
    figures = [
        stage_map(
            {stage: rows[stage][:, [i, j]] for stage in wanted},
            names=[names[i], names[j]],
            within=[[low[i], low[j]], [high[i], high[j]]],
            title=f"Heart at epsilon 0.1: {names[i]} and {names[j]}",
            finding="The optimal remap restores the shape because it looks at the true rows",
        )
        for i, j in ((0, 1), (0, 2))
    ]
    line = "Both remaps are as the thesis writes them, and protect nobody: see the audits."
    return Exhibit(number, "Rows, noise and remaps, by pairs of columns", figures, lines=[line])


def _lengths(results: Results) -> Exhibit:
    rows = [
        [f"{d:g}", f"{d:g}", f"{mean:.3f} ± {2 * error:.3f}", f"{(d + 1) ** 0.5:.3f}",
         f"{results.rows('noise', d=d)[0]['axis_sd']:.3f}"]
        for d, mean, error in results.line("noise", "length", along="d")
    ]  # fmt: skip
    columns = ["Columns d", "E|u| = d/epsilon", "measured", "sd of one axis", "measured"]
    table = table_of("Length of the noise at epsilon 1", columns, rows)
    line = "Noise grows with dimension: its length as d, each coordinate as the root of d + 1."
    return Exhibit(LENGTHS, "How noise grows with dimension", tables=[table], lines=[line])


def _attack_setting() -> Exhibit:
    lines = [
        "Labels by k-means on the rows; a random forest learns them from noisy members; three "
        "shadow models on plain rows; a forest on their answers says member or not.",
        "Each game is played twice: asked by the true record, as an adversary would, and by the "
        "noisy record, which nobody outside holds.",
    ]
    return Exhibit("Figures 4.2, 5.1", "The membership game as it is played here", lines=lines)


def _settings_table(results: Results) -> Exhibit:
    columns = [
        "Table", "k by elbow", "k by silhouette", "AP preference", "AP damping", "OPTICS points",
        "DBSCAN radius", "clusters: AP / OPTICS / DBSCAN",
    ]  # fmt: skip
    rows = [
        [
            row["data"],
            str(row["elbow_k"]),
            str(row["silhouette_k"]),
            f"{row['preference']:.3g}",
            f"{row['damping']:.2g}",
            str(row["min_points"]),
            f"{row['radius']:.3g}",
            f"{row['ap_clusters']} / {row['optics_clusters']} / {row['dbscan_chosen_clusters']}",
        ]
        for row in results.rows("settings")
    ]
    note = "The thesis: k = 4 for seeds and TODO for heart; preference median, damping 0.5."
    table = table_of("Settings by rule, on plain rows", columns, rows, note)
    return Exhibit("Tables 5.1, 5.2, 5.3", "Settings of the clusterers", tables=[table])


BY_THESIS = ("KMeans", "KMeans, k = 4", "AP", "OPTICS", "DBSCAN")
BY_CHOICE = ("KMeans, k chosen", "DBSCAN, chosen", "AP", "OPTICS")
ONE_CLUSTER = (
    "DBSCAN with radius 0.9 and 4 points sees one cluster in most tables, with noise and without; "
    "two labellings of one cluster agree fully, which says nothing."
)


def _clusterers(results: Results, data: str, number: str) -> Exhibit:
    figures = [
        _clusterer_curve(results, data, mechanism, score, names, title)
        for mechanism in results.distinct("clusterers", "mechanism", data=data)
        for score, names, title in (
            ("ami", BY_THESIS, "AMI, the thesis' settings"),
            ("ari", BY_THESIS, "ARI, the thesis' settings"),
            ("ami", BY_CHOICE, "AMI, settings chosen on the reports"),
        )
        if score == "ari" or _has_any(results, data, names[:2])
    ]
    shown = _shown(number, f"Clusterers on {data}", figures)
    return replace(shown, lines=[ONE_CLUSTER]) if figures else shown


def _has_any(results: Results, data: str, names: Sequence[str]) -> bool:
    return bool(set(names) & set(results.distinct("clusterers", "clusterer", data=data)))


def _clusterer_curve(
    results: Results, data: str, mechanism: str, score: str, names: Sequence[str], title: str
) -> Figure:
    equal = {"data": data, "mechanism": mechanism}
    known = results.distinct("clusterers", "clusterer", **equal)
    lines = {
        name: results.line("clusterers", score, clusterer=name, **equal)
        for name in names
        if name in known
    }
    return score_curve(
        lines,
        title=f"{data}, {mechanism} as written: {title}",
        value=score.upper(),
        finding=_ranked(lines),
        band=BAND,
    )


def _ranked(lines: dict[str, Any]) -> str:
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
                    across="Budget in raw units (of a record: piecewise on records)",
                    finding="Budgets of different kinds of promise cannot be compared",
                    band=BAND,
                )
            )
    title = f"Mechanisms on {data}"
    if not figures:
        return Exhibit(number, title, missing=NOT_RUN)
    return Exhibit(number, title, figures, [_all_scores(results, data)])


def _bars(results: Results, data: str, mechanism: str) -> dict[str, tuple[float, float]]:
    line = results.line("utility", "ami", data=data, mechanism=mechanism)
    return {f"{epsilon:g}": (mean, error) for epsilon, mean, error in line}


_SCORES = ("ami", "ari", "nmi", "mi", "mirkin", "rand", "fm", "silhouette", "chi",
           "davies_bouldin", "displacement", "aee", "re", "client_ami", "control_ami")  # fmt: skip


def _all_scores(results: Results, data: str) -> dict[str, Any]:
    budgets = sorted(results.distinct("utility", "epsilon", data=data))
    middle = 1.0 if 1.0 in budgets else budgets[len(budgets) // 2]
    rows = []
    for name in results.distinct("utility", "mechanism", data=data):
        equal = {"data": data, "mechanism": name, "epsilon": middle}
        means = [results.mean("utility", score, **equal) for score in _SCORES]
        rows.append([name, *("" if mean is None else f"{mean.mean:.3g}" for mean in means)])
    columns = ["Mechanism", *_SCORES]
    note = "client_ami: true rows labelled by the learnt centres; control_ami: the same without any"
    return table_of(f"All scores at epsilon {middle:g}", columns, rows, f"{note} data.")


def _privacy(results: Results, data: str, number: str) -> Exhibit:
    games = results.rows("privacy", data=data, query="true")
    if not games:
        return Exhibit(number, f"Membership on {data}", missing=NOT_RUN)
    figures = [
        roc_panels(
            {_game(row): row["roc"] for row in games[start : start + 4]},
            notes={_game(row): f"AUC {row['auc']:.2f}" for row in games[start : start + 4]},
            title=f"{data}: asked by the true record",
            finding="All curves run along the diagonal" if _flat(games) else "Some leave it",
        )
        for start in range(0, len(games), 4)
    ]
    rows = [
        [row["mechanism"], f"{row['epsilon']:g}", row["query"], f"{row['tpr']:.3f}",
         f"{row['fpr']:.3f}", f"{row['advantage']:+.3f} ± {2 * (row['advantage_error'] or 0):.3f}"]
        for row in results.rows("privacy", data=data)
    ]  # fmt: skip
    columns = ["Mechanism", "epsilon", "asked by", "TPR", "FPR", "TPR - FPR"]
    note = "No ceiling applies: labels are computed from the true rows and are unprotected."
    return Exhibit(number, f"Membership on {data}", figures,
                   [table_of("Rates", columns, rows, note)])  # fmt: skip


def _game(row: dict[str, Any]) -> str:
    """Return a name that fits above a panel."""
    short = {"laplace-truncated": "grid remap", "laplace-optimal-truncated": "optimal"}
    name = short.get(row["mechanism"], row["mechanism"])
    return name if name == "none" else f"{name} {row['epsilon']:g}"


def _flat(games: Sequence[dict[str, Any]]) -> bool:
    return all(abs(row["auc"] - 0.5) < 0.1 for row in games)


def _dimensions(results: Results) -> Exhibit:
    rows = [
        [row["data"], row["mechanism"], f"{row['epsilon']:g}", row["query"],
         f"{row['advantage']:+.3f} ± {2 * (row['advantage_error'] or 0):.3f}"]
        for row in results.rows("dimensions")
    ]  # fmt: skip
    columns = ["Table", "Mechanism", "epsilon", "asked by", "TPR - FPR"]
    table = table_of("Advantage on blobs of 2, 3 and 5 columns", columns, rows)
    return Exhibit(DIMENSIONS, "Leakage and the number of dimensions (section 6.4)", tables=[table])


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
                finding="At equal promise no form labels single records well at small epsilon",
                band=BAND,
            )
        )
    return _shown("Section 6.2, at equal guarantee", "The same mechanisms at one promise", figures)


def _shapes(results: Results) -> Exhibit:
    figures = []
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
                finding=_ranked(lines),
                band=BAND,
            )
        )
    return _shown(SHAPES, "Circle, line and skewed data", figures)


def _audits(results: Results) -> Exhibit:
    rows = [
        [row["twin"], f"{row['claim']:g}", f"{row['bound']:.2f}", row["verdict"]]
        for row in results.rows("audits")
    ]
    promises = [[name, text] for name, text in GUARANTEES.items()]
    tables = [
        table_of("Broken forms, audited", ["Form", "claimed", "at least", "verdict"], rows),
        table_of("What each mechanism promises", ["Mechanism", "Promise"], promises),
    ]
    return Exhibit("Algorithms 1 to 6", "What the printed algorithms really promise", tables=tables)


def _shown(number: str, title: str, figures: Sequence[Figure]) -> Exhibit:
    return Exhibit(number, title, figures, missing="" if figures else NOT_RUN)
