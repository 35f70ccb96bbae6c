"""The claims and figures of the LETEO report, each beside ours."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from shoal.experiments._results import Results
from shoal.experiments._tables import NOT_RUN, lead_of, table_of, verdict_on
from shoal.experiments.leteo._parts import ALPHAS, COARSE_ROWS, METHODS, PART_ROWS, QUASI
from shoal.figures import budget_curve, count_curve, figure_of
from shoal.pages import CANNOT_TEST, DOES_NOT_HOLD, HOLDS, Claim, Exhibit, Reproduction

TABLES, GAINS, TIMES, ALPHA, CELLS, COMPARED, SPARK = (
    "Section 3.3", "Equations 3.1 to 3.5", "Run time", "Section 4.2, alpha",
    "Section 4.2, granularity", "Section 4, methods", "Section 4.1, k-means||",
)  # fmt: skip


def conclude(results: Results, quick: bool) -> Reproduction:
    """Return claims, figures and tables of the report from what was measured."""
    claims = list(_claims(results))
    return Reproduction(
        title="LETEO: tables by top-down specialization and private k-means, run again",
        lead=lead_of(claims),
        claims=claims,
        exhibits=list(_exhibits(results)),
        setting=[
            "The report's table is not public. Made-up students with the same columns stand in: "
            "sex, system, level, state, region; income quintile sensitive; k = 10; a taxonomy "
            "for each column.",
            "Run times are CPU seconds of one process on this machine, of the whole run: read, "
            "search, write, count again. The report's are of a Cloudera cluster. On Spark (only "
            "with --engine spark, in a session of this machine) they are seconds by the clock, "
            "since its processes are many; the first run of a session is not counted.",
            "The synopsis as printed is AdaptiveGrid(consistency=False, negative='zero'), with "
            "coarse_share for alpha, coarse_rows for c1 and part_rows for c2. The report gives "
            "no values for c1 and c2; 10 and 5 are those of the paper it builds on.",
            f"{3 if quick else 10} draws of noise for each setting; all seeded: a simulation.",
        ],
        again=f"shoal reproduce leteo{' --quick' if quick else ''}",
        quick=quick,
    )


def _claims(results: Results) -> Iterator[Claim]:
    yield _rare(results)
    yield _specialised(results)
    yield _linear(results)
    yield _printed_gain(results, "entropy", "(3.3)", "Information gain by entropy as printed "
                        "chooses the most informative split.")  # fmt: skip
    yield _printed_gain(results, "distance", "(3.5)", "Information gain by squared distance as "
                        "printed chooses the most accurate split.")  # fmt: skip
    yield Claim(
        "Section 2.1", "The chance to re-identify a person is less than 1/k.", DOES_NOT_HOLD,
        "less than 1/k", "at most 1/k",
        "With exactly k equal records the chance is 1/k; and definition 3.1 takes a minimum over "
        "all combinations, which is 0 as soon as one does not occur.",
    )  # fmt: skip
    yield _two_levels(results)
    yield _alpha_matters(results)
    yield Claim(
        "Section 4.2", "Noisy counts of disjoint cells may each have the whole budget.", HOLDS,
        reason="A row is in one cell; the proof lies beside the code, empty cells included.",
    )  # fmt: skip
    yield _printed_synopsis(results)
    yield _other_tasks(results)
    yield _parallel_seeding(results)


def _rare(results: Results) -> Claim:
    where, text = TABLES, "The table holds unique tuples and combinations of fewer than 10 rows."
    rows = results.rows("tables")
    if not rows:
        return Claim(where, text, CANNOT_TEST, reason=NOT_RUN)
    row = rows[0]
    ours = (
        f"{row['unique']} unique, {row['below_k']} of {row['combinations']} combinations below 10"
    )
    verdict = HOLDS if row["unique"] and row["below_k"] else DOES_NOT_HOLD
    return Claim(where, text, verdict, "several", ours, "On made-up students.", TABLES)


def _specialised(results: Results) -> Claim:
    where = TABLES
    text = "After removing outliers all columns keep their values, except the course level."
    rows = [row for row in results.rows("tables") if row["suppression"] > 0]
    if not rows:
        return Claim(where, text, CANNOT_TEST, reason=NOT_RUN)
    by_score = {row["score"]: [name for name in QUASI if not row[f"full_{name}"]] for row in rows}
    agrees = all(coarse == ["level"] for coarse in by_score.values())
    ours = "; ".join(
        f"score {score}: {', '.join(coarse) or 'none'} generalised"
        for score, coarse in by_score.items()
    )
    reason = "At most 2 % of the rows left out. On made-up students: the real table may differ."
    return Claim(where, text, HOLDS if agrees else DOES_NOT_HOLD, "level alone", ours, reason,
                 TABLES)  # fmt: skip


def _linear(results: Results) -> Claim:
    where, text = TABLES, "Run time is linear in the number of rows, from x2 to x10."
    line = results.line("times", "seconds", along="times")
    if len(line) < 3:
        return Claim(where, text, CANNOT_TEST, reason=NOT_RUN)
    x, y = (np.array([point[i] for point in line]) for i in (0, 1))
    slope, start = np.polyfit(x, y, 1)
    fit = 1 - ((y - slope * x - start) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    ours = f"{start:.2f} s + {slope:.3f} s for each copy, R2 {fit:.2f}"
    ours += f"; x{x[-1]:g} takes {y[-1] / y[0]:.1f} times x{x[0]:g}"
    verdict = HOLDS if y[-1] / y[0] <= x[-1] / x[0] * 1.1 else DOES_NOT_HOLD
    reason = "Holds if ten times the rows take no more than eleven times the time."
    return Claim(where, text, verdict, "linear", ours, reason, TIMES)


def _parallel_seeding(results: Results) -> Claim:
    where, text = "Section 4.1", "k-means|| scales where k-means++ does not."
    rows = results.rows("spark scaling")
    if not rows:
        reason = "It needs a cluster; nothing was run on Spark (--engine spark)."
        return Claim(where, text, CANNOT_TEST, reason=reason)
    growth = []
    for data in results.distinct("spark scaling", "data"):
        first, *_, last = results.rows("spark scaling", data=data)
        both = [last[name] / first[name] for name in ("seconds", "plain_seconds")]
        growth.append(f"{data}, x{last['times']} rows: {both[0]:.1f} and {both[1]:.1f} times")
    reason = (
        "The time of k-means|| on Spark and of k-means++ here, beside that on the rows once. On "
        "one machine there is no network, whose rounds k-means|| saves: growth alone cannot tell."
    )
    return Claim(where, text, CANNOT_TEST, "", "; ".join(growth), reason, SPARK)


def _printed_gain(results: Results, kind: str, equation: str, text: str) -> Claim:
    where = f"Equation {equation}"
    losses = {
        row["gain"]: row["ncp"] for row in results.rows("gains") if row["gain"].startswith(kind)
    }
    if len(losses) < 2:
        return Claim(where, text, CANNOT_TEST, reason=NOT_RUN)
    printed, corrected = (losses[name] for name in sorted(losses))
    ours = f"detail lost (NCP) {printed:.3f} as printed, {corrected:.3f} corrected"
    reason = {
        "entropy": "Refining cannot lower entropy, so the printed gain is never positive: the "
        "least informative split is chosen, and lost anonymity is rewarded.",
        "distance": "The printed sum is the distance that is left after the split, not the gain.",
    }[kind]
    verdict = DOES_NOT_HOLD if corrected < printed else HOLDS
    if abs(corrected - printed) < 1e-9:
        verdict, reason = CANNOT_TEST, f"On this table both lead to the same loss. {reason}"
    return Claim(where, text, verdict, "", ours, reason, GAINS)


def _two_levels(results: Results) -> Claim:
    where, text = "Section 4.2", "Two levels of cells make a more precise synopsis than one."
    names = ("EUGkM", "adaptive grid as printed")
    gaps = results.gaps("methods", "ratio", "method", *names)
    if not gaps:
        return Claim(where, text, CANNOT_TEST, reason=NOT_RUN)
    ours = "; ".join(f"{data} at {epsilon:g}: {gap}" for data, epsilon, gap in gaps)
    reason = "Inertia over plain k-means: one level (EUGkM) less two levels, both as printed."
    return Claim(where, text, verdict_on([gap for *_, gap in gaps]), "", ours, reason, COMPARED)


def _other_tasks(results: Results) -> Claim:
    where, text = "Section 4.2", "The synopsis also serves other tasks, such as histograms."
    cells = results.rows("pictures", picture="contingency")
    if not cells:
        return Claim(where, text, CANNOT_TEST, reason=NOT_RUN)
    off = max(abs(row["released"] - row["true"]) for row in cells)
    rows = sum(row["true"] for row in cells)
    ours = f"a table of {len(cells)} parts is off by at most {off:,.0f} of {rows:,.0f} rows"
    reason = "Histogram, map and table come from one released synopsis, at no further cost."
    return Claim(where, text, HOLDS, "", ours, reason, "Figure 3")


def _alpha_matters(results: Results) -> Claim:
    where, text = "Section 4.2", "The share alpha has little impact on the synopsis."
    worst = []
    for data in results.distinct("alpha", "data"):
        for epsilon in results.distinct("alpha", "epsilon", data=data):
            line = results.line("alpha", "ratio", along="alpha", data=data, epsilon=epsilon)
            inner = [point for point in line if 0.25 <= point[0] <= 0.75]
            if len(inner) == 3:
                means = [mean for _, mean, _ in inner]
                worst.append((data, epsilon, max(means) / min(means)))
    if not worst:
        return Claim(where, text, CANNOT_TEST, reason=NOT_RUN)
    ours = "; ".join(f"{data} at {epsilon:g}: {ratio:.2f}" for data, epsilon, ratio in worst)
    verdict = HOLDS if max(ratio for *_, ratio in worst) <= 1.1 else DOES_NOT_HOLD
    reason = (
        "Largest over least inertia among alpha 0.25, 0.5, 0.75 of the printed method; at most 1.1 "
        "everywhere is called little."
    )
    return Claim(where, text, verdict, "little", ours, reason, ALPHA)


def _printed_synopsis(results: Results) -> Claim:
    where, text = "Section 4.2", "Negative counts may simply be set to zero."
    names = ("adaptive grid as printed", "adaptive grid repaired")
    gaps = results.gaps("methods", "ratio", "method", *names)
    if not gaps:
        return Claim(where, text, CANNOT_TEST, reason=NOT_RUN)
    worse = sum(gap.low > 0 for *_, gap in gaps)
    ours = "; ".join(f"{data} at {epsilon:g}: {gap}" for data, epsilon, gap in gaps)
    reason = (
        "Inertia over plain k-means, printed less repaired (counts settled between levels, cells "
        f"that noise made are dropped); clearly above 0 in {worse} of {len(gaps)} settings."
    )
    return Claim(where, text, DOES_NOT_HOLD if worse else HOLDS, "", ours, reason, COMPARED)


def _exhibits(results: Results) -> Iterator[Exhibit]:
    rows = results.rows("pictures")
    drawn = {row["picture"]: row["figure"][0] for row in rows if "figure" in row}
    for number, title, names in (
        ("Figure 1", "k-means of two columns", ("k-means",)),
        ("Figure 2", "Synopsis by a uniform grid, with noise", ("uniform",)),
        ("Figure 3", "Two levels, as printed; and a histogram from it", ("adaptive", "histogram")),
    ):
        figures = [figure_of(dict(drawn[name])) for name in names if name in drawn]
        yield Exhibit(number, title, figures, missing="" if figures else NOT_RUN)
    yield _contingency(results)
    yield _tables(results)
    yield _gains(results)
    yield _times(results)
    yield _alphas(results)
    yield _granularity(results)
    yield _methods(results)
    yield _on_spark(results)


def _contingency(results: Results) -> Exhibit:
    number, title = "Section 4, contingency table", "Three by three parts of the box"
    rows = [
        [row["cell"], f"{row['released']:,.0f}", f"{row['true']:,.0f}"]
        for row in results.rows("pictures", picture="contingency")
    ]
    table = table_of("Students in each part", ["Part", "From the synopsis", "True"], rows,
                     "The true counts are of made-up students; of people they stay.")  # fmt: skip
    return Exhibit(number, title, tables=[table] if rows else [], missing="" if rows else NOT_RUN)


def _tables(results: Results) -> Exhibit:
    columns = ["Score", "Left out at most", "NCP", "Classes", "Left out", "Keep all values"]
    rows = [
        [row["score"], f"{100 * row['suppression']:g} %", f"{row['ncp']:.3f}", str(row["classes"]),
         str(row["suppressed"]), ", ".join(n for n in QUASI if row[f"full_{n}"]) or "none"]
        for row in results.rows("tables")
    ]  # fmt: skip
    return _shown(TABLES, "Students, 10-anonymous", table_of("Releases", columns, rows))


def _gains(results: Results) -> Exhibit:
    rows = [
        [row["gain"], f"{row['ncp']:.3f}", str(row["splits"]), str(row["smallest"])]
        for row in results.rows("gains")
    ]
    table = table_of("Gains", ["Gain", "NCP", "Splits", "Smallest class"], rows,
                     "k = 10, nothing left out; lower NCP keeps more detail.")  # fmt: skip
    return _shown(GAINS, "Gains as printed and corrected", table)


def _times(results: Results) -> Exhibit:
    figures = [
        count_curve(
            {place: mean for place, mean, _ in line},
            chosen=line[-1][0],
            value=value,
            across="Copies of the table",
            title=title,
            label=f"x{line[-1][0]:g}",
        )
        for part, value, title in (
            ("times", "CPU seconds", "Run time of top-down specialization"),
            ("spark times", "Seconds by the clock", "Run time of the same on Spark"),
        )
        if (line := results.line(part, "seconds", along="times"))
    ]
    return Exhibit(TIMES, "Run time by number of rows", figures, missing="" if figures else NOT_RUN)


def _on_spark(results: Results) -> Exhibit:
    columns = ["Set", "Rows", "Inertia over k-means++", "Seconds", "Seconds of k-means++"]
    rows = [
        [row["data"], f"{row['rows']:,}", f"{row['ratio']:.3f}", f"{row['seconds']:.1f}",
         f"{row['plain_seconds']:.1f}"]
        for row in results.rows("spark scaling")
    ]  # fmt: skip
    table = table_of("MLlib's k-means|| on the rows", columns, rows,
                     "The best of eight runs there, of ten runs here; no privacy.")  # fmt: skip
    return Exhibit(SPARK, "The line without noise, on Spark", tables=[table] if rows else [],
                   missing="" if rows else "It is run with --engine spark only.")  # fmt: skip


def _alphas(results: Results) -> Exhibit:
    rows = []
    for data in results.distinct("alpha", "data"):
        for epsilon in results.distinct("alpha", "epsilon", data=data):
            equal = {"data": data, "epsilon": epsilon}
            means = [results.mean("alpha", "ratio", alpha=alpha, **equal) for alpha in ALPHAS]
            rows.append(
                [data, f"{epsilon:g}", *("" if mean is None else str(mean) for mean in means)]
            )
    columns = ["Set", "epsilon", *(f"alpha {a:g}" for a in ALPHAS)]
    table = table_of("Inertia over plain k-means", columns, rows)
    return _shown(ALPHA, "The printed synopsis by the share of its coarse level", table)


def _shown(number: str, title: str, table: dict[str, Any]) -> Exhibit:
    """Return an exhibit of one table; an empty one says that its part was not run."""
    if not table["rows"]:
        return Exhibit(number, title, missing=NOT_RUN)
    return Exhibit(number, title, tables=[table])


def _granularity(results: Results) -> Exhibit:
    pairs = [(c1, c2) for c1 in COARSE_ROWS for c2 in PART_ROWS]
    rows = []
    for data in results.distinct("granularity", "data"):
        for epsilon in results.distinct("granularity", "epsilon", data=data):
            equal = {"data": data, "epsilon": epsilon}
            means = [
                results.mean("granularity", "ratio", coarse_rows=c1, part_rows=c2, **equal)
                for c1, c2 in pairs
            ]
            rows.append(
                [data, f"{epsilon:g}", *("" if mean is None else str(mean) for mean in means)]
            )
    columns = ["Set", "epsilon", *(f"c1 {c1:g}, c2 {c2:g}" for c1, c2 in pairs)]
    table = table_of("Inertia over plain k-means", columns, rows)
    return _shown(CELLS, "The printed synopsis by the sizes of its cells", table)


def _methods(results: Results) -> Exhibit:
    figures = []
    for data in results.distinct("methods", "data"):
        lines = {
            name: [(e, max(m, 1.0), s) for e, m, s in
                   results.line("methods", "ratio", data=data, method=name)]
            for name in METHODS
        }  # fmt: skip
        figures.append(
            budget_curve(
                {name: line for name, line in lines.items() if line},
                title=f"{data}: inertia over k-means on the rows",
                value="Inertia ratio",
                best=1,
                best_name="k-means without noise",
                finding="Lower is better",
                band="Bands are 2 standard errors over draws of noise.",
            )
        )
    return Exhibit(COMPARED, "Private k-means by method", figures,
                   missing="" if figures else NOT_RUN)  # fmt: skip
