"""The figures and tables of the thesis, by their numbers, each beside ours."""

from collections.abc import Sequence

import numpy as np

from shoal import evaluate
from shoal.experiments._results import Results
from shoal.experiments._tables import table_of
from shoal.experiments._verdicts import not_run
from shoal.experiments.nd_laplace._chapter_six import chapter_six, shown
from shoal.experiments.nd_laplace._data import HEART_COLUMNS
from shoal.experiments.nd_laplace._hypothesis_exhibits import later_exhibits
from shoal.experiments.nd_laplace._mechanisms import GUARANTEES
from shoal.figures import Figure, count_curve, flow_chart, noise_map, stage_map
from shoal.mechanisms import PlanarLaplace, SphericalLaplace
from shoal.pages import Exhibit
from shoal.randomness import Randomness

LENGTHS, STAGES, SETTINGS = "Figure 3.8", "Figure 3.14", "Tables 5.1, 5.2, 5.3"
ALGORITHMS = "Algorithms 1 to 6"


def exhibits(results: Results) -> list[Exhibit]:
    """Return all figures and tables of the thesis in its order."""
    return [
        Exhibit("Figures 2.1, 2.2", "Central and local privacy", lines=[TRUST]),
        _drawing("Figures 2.3, 2.4", "Interactive privacy, and a radius of it", OTHERS),
        _elbows(results),
        _radii(results),
        Exhibit("Tables 2.1, 2.2, 2.3", "The literature", lines=[LITERATURE]),
        _noise_around_a_point(),
        _stages(results, "Figures 3.3, 3.6, 3.11, 3.12", ("noise", "grid remap", "optimal remap")),
        _lengths(results),
        _drawing("Figures 3.9, 3.10", "A kd-tree, after Washington", OTHERS),
        _flow(),
        _stages(results, STAGES, ("data", "noise", "grid remap", "optimal remap")),
        _drawing("Figure 4.1", "Shadow models, after Shokri et al.", OTHERS),
        _attack_setting(),
        _settings_table(results),
        *chapter_six(results),
        *later_exhibits(results),
        _audits(results),
        _drawing("Appendix, big O notation", "How fast functions grow", TEXTBOOK),
    ]


TRUST = (
    "Central: a trusted holder of the rows releases something with noise, as PrivateKMeans and "
    "WaveCluster do. Local: each person sends a report, as NDLaplace and LocalGrid make them, and "
    "LocalClusterer learns from reports alone."
)
LITERATURE = "Method by method, with audits, on the page of shoal reproduce literature."
FLOW = (
    "The figure itself is not in the text that we have; section 3.3.5 lists its algorithms. They "
    "are run one by one in figure 3.14. Whatever reads the true rows after the noise is no remap."
)
TEXTBOOK = "a textbook graph of growing functions, with nothing measured in it"
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
    return shown("settings", "Figures 2.5, 31", "The elbow, on each table", figures)


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
    return shown("settings", "Figures 2.6, 32", "The k-distance plot, on each table", figures)


def _noise_around_a_point() -> Exhibit:
    draws, radii, areas = {}, {}, []
    for epsilon in (0.5, 1, 3):
        name = f"epsilon {epsilon:g}"
        draws[name] = (
            PlanarLaplace(epsilon).release(np.zeros((2_000, 2)), Randomness(7).noise).values
        )
        radii[name] = evaluate.perturbation_area((0, 0), draws[name]).radius
        areas.append([f"{epsilon:g}", "(0, 0)", f"{radii[name]:.3f}", f"{2 / epsilon:.3f}"])
    figure = noise_map(
        draws,
        truth=(0, 0),
        reach=8,
        title="Noise around one point, two columns",
        finding="Reports scatter evenly in all directions.",
        areas=radii,
    )
    number = "Figures 3.1, 3.2, 3.4, 3.5, 3.7"
    columns = ["epsilon", "center", "radius of 2,000 reports", "expected, d/epsilon"]
    note = (
        "evaluate.perturbation_area of the reports of one point; the ring in the figure. It is a "
        "cost, not a promise: 59 in 100 reports lie inside."
    )
    area = table_of("Perturbation area (3.4), two columns", columns, areas, note)
    figures = [figure, _noise_in_three_columns()]
    return Exhibit(number, "Noise drawn around a point", figures, [area])


def _noise_in_three_columns() -> Figure:
    noise = SphericalLaplace(3).release(np.zeros((2_000, 3)), Randomness(7).noise).values
    pairs = {"first and second": (0, 1), "first and third": (0, 2), "second and third": (1, 2)}
    return noise_map(
        {name: noise[:, pair] for name, pair in pairs.items()},
        truth=(0, 0),
        reach=4,
        title="Noise around one point, three columns by pairs, epsilon 3",
        finding="Each pair of columns looks alike: no direction is preferred.",
    )


def _flow() -> Exhibit:
    """Return the steps of the mechanism, with what each one reads, there and here."""
    rows = [
        ["1. noise", "1, 2, 6", "the person's record", "the same: NDLaplace",
         "epsilon for each unit of distance; the printed angles lose it"],
        ["2. points outside", "3", "the report, and the ends of all true rows",
         "the report and a public box: clamp", "nothing more here; the printed form loses it"],
        ["3. grid remap", "4", "the report, and a grid from the ends of all true rows",
         "the report and a public grid: snap", "nothing more here; the printed form loses it"],
        ["4. optimal remap", "5", "the report, and the true rows around it",
         "the report and a density of reports: bayes_remap",
         "nothing more here; the printed form loses it"],
        ["5. clustering", "-", "what was sent", "the same, with the noise taken out: "
         "LocalClusterer", "nothing more"],
    ]  # fmt: skip
    columns = ["Step", "Algorithm", "Reads, as printed", "Reads, here", "Costs"]
    table = table_of("From a record to clusters", columns, rows)
    figure = flow_chart(
        [
            ("a person's record", "", ""),
            ("1. noise", "", ""),
            ("2. points outside", "ends of the true rows", "a public box"),
            ("3. grid remap", "a grid of the true rows", "a public grid"),
            ("4. optimal remap", "true rows around it", "a density of reports"),
            ("5. clustering", "", "the law of the noise"),
        ],
        left="reads, as printed",
        right="reads, here",
        title="From a record to clusters",
        finding="As printed, three steps after the noise read the true rows again",
    )
    return Exhibit("Figure 3.13", "The mechanism, step by step", [figure], [table], [FLOW])


def _stages(results: Results, number: str, wanted: Sequence[str]) -> Exhibit:
    rows = {row["stage"]: np.array(row["points"]) for row in results.rows("stages")}
    if not rows:
        return Exhibit(number, "Rows, noise and remaps", missing=not_run("nd-laplace", "stages"))
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
    lengths = {d: mean for d, mean, _ in results.line("noise", "length", along="d")}
    figures = []
    if lengths:
        most = max(lengths)
        figures.append(
            count_curve(
                lengths,
                chosen=most,
                value="Mean length of the noise",
                across="Columns d",
                title="Noise at epsilon 1 grows with the number of columns",
                label=f"{lengths[most]:.3g} at d = {most:g}",
            )
        )
    if not figures:
        missing = not_run("nd-laplace", "noise")
        return Exhibit(LENGTHS, "How noise grows with dimension", missing=missing)
    return Exhibit(LENGTHS, "How noise grows with dimension", figures, [table], [line])


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
        "DBSCAN radius", "clusters: AP / OPTICS / DBSCAN", "CPU seconds of AP",
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
            f"{row['ap_seconds']:.1f}",
        ]
        for row in results.rows("settings")
    ]
    note = (
        "Table 5.1: k = 4 for seeds, by figure 31, and TODO for heart; preference median, damping "
        "0.5. Figures 31 and 32 are of dataset 1, which in an earlier draft is 50 made-up rows "
        "(blobs-50-2d)."
    )
    table = table_of("Settings by rule, on plain rows", columns, rows, note)
    return Exhibit(SETTINGS, "Settings of the clusterers", tables=[table] if rows else [],
                   missing="" if rows else not_run("nd-laplace", "settings"))  # fmt: skip


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
    return Exhibit(ALGORITHMS, "What the printed algorithms really promise", tables=tables)
