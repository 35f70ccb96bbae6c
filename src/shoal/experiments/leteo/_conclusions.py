"""The claims and figures of the LETEO report, each beside ours."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from shoal.experiments._results import Mean, Results
from shoal.experiments._tables import table_of
from shoal.experiments._verdicts import (
    Judge,
    Statement,
    exact,
    lead_of,
    measured,
    near,
    not_run,
)
from shoal.experiments.leteo._cells import ALPHAS, COARSE_ROWS, METHODS, PART_ROWS, QUASI
from shoal.experiments.leteo._printed_gains import (
    DISTANCE,
    DISTANCE_SAVED,
    ENTROPY,
    ENTROPY_CORRECTED,
    ENTROPY_DISTINCT,
)
from shoal.figures import budget_curve, count_curve, figure_of
from shoal.pages import Claim, Exhibit, Reproduction

TABLES, GAINS, TIMES, ALPHA, CELLS, COMPARED, SPARK = (
    "Section 3.3", "Equations 3.1 to 3.5", "Run time", "Section 4.2, alpha",
    "Section 4.2, granularity", "Section 4, methods", "Section 4.1, k-means||",
)  # fmt: skip
SAME_DETAIL = 0.02  # of detail lost (NCP), above the corrected form's
NEEDS_SPARK = "It needs --engine spark."
LITTLE = 1.1  # largest over least inertia that is called little impact
NOT_PUBLIC = "The report's table is not public, and what can be kept depends on its number of rows."


def _statement(where: str, quote: str, tested: str, **more: Any) -> Statement:
    return Statement(source="leteo", where=where, quote=quote, tested=tested, **more)


LESS_THAN = _statement(
    "Section 2.1", "the probability for the attacker to re-identify the person associated to the "
    "record is less than",
    "Among k or more equal records the probability is less than 1/k.", number="less than 1/k",
    is_strict=True,
)  # fmt: skip
LEVEL = _statement(
    "Definition 3.1", "that can be obtained for any assignment of values",
    "The least count over every assignment of values is the level of anonymity that definition 3.2 "
    "needs.",
    number="the minimum over all assignments",
)  # fmt: skip
RARE = _statement(
    TABLES, "the original dataset contained several unique tuples and combinations that occur less "
    "than 10 times",
    "Made-up students with the same columns, to show the size of it.",
    untestable=NOT_PUBLIC, exhibit=TABLES,
)  # fmt: skip
SPECIALISED = _statement(
    TABLES, "all the attributes can be specialized to the original values, except from the course "
    "level",
    "Made-up students in several numbers, at most 2 % of the rows left out.",
    untestable=NOT_PUBLIC, exhibit=TABLES,
)  # fmt: skip
LINEAR = _statement(
    TABLES, "It was found that the algorithm behaved linearly on the size of the dataset.",
    "The algorithm, not the authors' cluster: ten times the rows take at most eleven times as "
    "long, in CPU time of one process.",
    number="linear, from x2 to x10",
    margin="a tenth more than linear", parts=("times",), exhibit=TIMES,
)  # fmt: skip
BY_ENTROPY = _statement(
    "Equations (3.3), (3.4)", "At each step, the candidate that offers the best compromise between "
    "information and anonymity is selected.",
    "Gain (3.3) with entropy (3.4), as printed, keeps as much detail as with its sign turned.",
    margin="0.02 of detail (NCP)", parts=("gains",), exhibit=GAINS,
)  # fmt: skip
BY_DISTANCE = _statement(
    "Equation (3.5)", "Accuracy is measured as the (square of) the distance from the value of the "
    "attribute in the original dataset to the representative of the corresponding partition",
    "Gain (3.5), as printed, keeps as much detail as the distance that a split saves.",
    margin="0.02 of detail (NCP)", parts=("gains",), exhibit=GAINS,
)  # fmt: skip
FARTHER = _statement(
    "Section 4.1", "with probability proportional to the distance of the data point to the closest "
    "existing",
    "That is the seeding of the paper it cites, whose bound of O(log k) it quotes.",
    number="proportional to the distance",
)  # fmt: skip
PARALLEL_SEEDING = _statement(
    "Section 4.1", "its applicability to massive data—a key requirement of our solution—is "
    "severely limited",
    "k-means|| on Spark beside k-means++ here, on ten times the rows.",
    untestable="On one machine there is no network, whose rounds k-means|| saves.", exhibit=SPARK,
)  # fmt: skip
OTHER_TASKS = _statement(
    "Section 4.2", "we can use the differentially private synopsis not only for clustering "
    "purposes but also other data analysis tasks",
    "A contingency table of nine parts, from one released synopsis, is right to 5 % of all rows.",
    margin="5 % of all rows", parts=("pictures",), exhibit="Figure 3",
)  # fmt: skip
WHOLE_BUDGET = _statement(
    "Section 4.2", "we can calibrate each application with the entire privacy budget",
    "Noisy counts of disjoint cells may each have all of epsilon, empty cells included.",
    proof="synopsis/uniform_grid.proof.md",
)  # fmt: skip
TWO_LEVELS = _statement(
    "Section 4.2", "To address this phenomenon and produce more precise and efficient synopses",
    "k-means on the synopsis of two levels has a lower inertia than on that of one level, both as "
    "printed.",
    matters=0.02, margin="2 % of the inertia of plain k-means", parts=("methods",),
    exhibit=COMPARED,
)  # fmt: skip
LITTLE_IMPACT = _statement(
    "Section 4.2", "has little impact on the final synopsis",
    "Among alpha 0.25, 0.5 and 0.75 the largest inertia is at most 1.1 times the least.",
    number="little", margin="a tenth of the inertia", parts=("alpha",), exhibit=ALPHA,
)  # fmt: skip
ZEROED = _statement(
    "Section 4.2", "happens to be negative due to applied perturbation, it is zeroed ... it is "
    "further partitioned into approximately",
    "Every coarse cell is then divided into at least one part. It says nothing of published "
    "counts.",
)  # fmt: skip
STATEMENTS = (
    LESS_THAN, LEVEL, RARE, SPECIALISED, LINEAR, BY_ENTROPY, BY_DISTANCE, FARTHER,
    PARALLEL_SEEDING, OTHER_TASKS, WHOLE_BUDGET, TWO_LEVELS, LITTLE_IMPACT, ZEROED,
)  # fmt: skip


def conclude(results: Results, quick: bool) -> Reproduction:
    """Return claims, figures and tables of the report from what was measured."""
    claims = judge(results, quick)
    return Reproduction(
        title="LETEO: tables by top-down specialization and private k-means, run again",
        lead=lead_of(claims),
        claims=claims,
        exhibits=list(_exhibits(results)),
        setting=setting(quick),
        again=f"shoal reproduce leteo{' --quick' if quick else ''}",
        quick=quick,
    )


def setting(quick: bool) -> list[str]:
    """Return how the report is run, and where that is not in its text."""
    return [
        "The report's table is not public. Made-up students with the same columns stand in: "
        "sex, system, level, state, region; income quintile sensitive; k = 10; a taxonomy "
        "for each column.",
        "Run times are CPU seconds of one process on this machine, of the whole run: read, "
        "search, write, count again. The report's are of a Cloudera cluster. On Spark (only "
        "with --engine spark, in a session of this machine) they are seconds by the clock, "
        "since its processes are many; the first run of a session is not counted.",
        "The synopsis as printed is AdaptiveGrid(consistency=False, negative='zero'), with "
        "coarse_share for alpha, coarse_rows for c1 and part_rows for c2. The report gives "
        "no values for c1 and c2; 10 and 5 are those of the paper it builds on. It does not "
        "say what becomes of negative counts that are published; here they are set to zero.",
        f"{3 if quick else 10} draws of noise for each setting; all seeded: a simulation.",
    ]


def judge(results: Results, quick: bool) -> list[Claim]:
    """Return the claims of the report with their verdicts."""
    return list(_claims(results, Judge("leteo", quick)))


def _claims(results: Results, judge: Judge) -> Iterator[Claim]:
    # Of k = 10, eleven equal records stand for more.
    yield judge.claim(LESS_THAN, [exact("exactly k equal records", 0.0),
                                  exact("more than k", 1 / 10 - 1 / 11)],
                      "at most 1/k",
                      "Exactly 1/k with exactly k equal records, and less with more.")  # fmt: skip
    yield judge.claim(LEVEL, [exact("an assignment that does not occur", -1.0)], "0",
                      "Of an assignment that does not occur the count is 0, so that no table would "
                      "be anonymous; only those that occur can be meant.")  # fmt: skip
    yield _rare(results, judge)
    yield _specialised(results, judge)
    yield _linear(results, judge)
    yield _by_entropy(results, judge)
    yield _by_distance(results, judge)
    yield judge.claim(FARTHER, [exact("points 1 and 2 away", 2 / 3 - 4 / 5)],
                      "proportional to the squared distance",
                      "Of points 1 and 2 away the cited seeding takes the farther with probability "
                      "4/5, the printed one with 2/3; the bound is proved for the first."
                      )  # fmt: skip
    yield _parallel_seeding(results, judge)
    yield _other_tasks(results, judge)
    yield judge.claim(WHOLE_BUDGET, [exact("every cell", 0.0)],
                      reason="A row is in one cell.")  # fmt: skip
    yield _two_levels(results, judge)
    yield _little_impact(results, judge)
    yield judge.claim(ZEROED, [exact("a positive count", 0.0), exact("a zeroed count", -1.0)],
                      "0 parts for a count of 0",
                      "The printed number of parts is the root of M2 rounded up: none for a count "
                      "of 0. At least one is taken here.")  # fmt: skip


def _rare(results: Results, judge: Judge) -> Claim:
    shown = "; ".join(
        f"{row['rows']:,.0f} rows: {row['unique']:.0f} unique, {row['below_k']:.0f} of "
        f"{row['combinations']:.0f} combinations below 10"
        for row in results.rows("tables", score="leteo", suppression=0.0)
    )
    return judge.claim(RARE, [], shown)


def _specialised(results: Results, judge: Judge) -> Claim:
    shown = "; ".join(
        f"{row['rows']:,.0f} rows, score {row['score']}: "
        f"{', '.join(name for name in QUASI if not row[f'full_{name}']) or 'none'} generalised"
        for row in results.rows("tables", suppression=0.02)
    )
    return judge.claim(SPECIALISED, [], shown)


def _linear(results: Results, judge: Judge) -> Claim:
    inside, ours = {}, []
    for part, name in (("times", "here"), ("spark times", "on Spark")):
        means = results.means_along(part, "seconds", along="times")
        if len(means) > 2:
            (first, least), *_, (last, most) = means.items()
            growth = _ratio(most, least)
            allowed = LITTLE * last / first
            if part == "times":  # on Spark of one machine, fixed costs outweigh these rows
                inside[name] = Mean(allowed - growth.mean, growth.error, growth.n)
            slope, start = np.polyfit(list(means), [mean.mean for mean in means.values()], 1)
            sign = "-" if slope < 0 else "+"
            ours.append(
                f"{name} {start:.2f} s {sign} {abs(slope):.3f} s for each copy, x{last:g} takes "
                f"{growth.mean:.1f} times x{first:g}"
            )
    reason = (
        "Each copy adds the same time, beside a start that does not grow. On Spark of one machine "
        "what does not depend on the rows takes nearly all of the time, so that it tells nothing "
        "of growth and is not judged."
    )
    return judge.claim(LINEAR, measured(inside), "; ".join(ours), reason if ours else "")


def _ratio(most: Mean, least: Mean) -> Mean:
    """Return the ratio of two independent means, its error to first order."""
    value = most.mean / least.mean
    error = value * math.hypot(most.error / most.mean, least.error / least.mean)
    return Mean(value, error, min(most.n, least.n))


def _losses(results: Results) -> dict[str, float]:
    return {row["gain"]: row["ncp"] for row in results.rows("gains")}


def _by_entropy(results: Results, judge: Judge) -> Claim:
    losses = _losses(results)
    forms = {"(3.4) over rows": ENTROPY, "(3.4) over distinct rows": ENTROPY_DISTINCT}
    reason = (
        "Over distinct rows entropy cannot fall where a class is divided, so that the printed gain "
        "is never positive and the least informative split is taken. (3.4) as printed sums over "
        "all rows, and then has no such order at all."
    )
    return _gain(judge, BY_ENTROPY, losses, forms, ENTROPY_CORRECTED, reason)


def _by_distance(results: Results, judge: Judge) -> Claim:
    reason = (
        "The printed sum is the distance that is left after the split, not what it saves. Numbers: "
        "to the middle of their label; categories: steps up the taxonomy."
    )
    forms = {"(3.5) as printed": DISTANCE}
    return _gain(judge, BY_DISTANCE, _losses(results), forms, DISTANCE_SAVED, reason)


def _gain(
    judge: Judge,
    statement: Statement,
    losses: Mapping[str, float],
    forms: Mapping[str, str],
    corrected: str,
    reason: str,
) -> Claim:
    if not {corrected, *forms.values()} <= set(losses):
        return judge.claim(statement, [])
    effects = [
        exact(name, SAME_DETAIL - (losses[gain] - losses[corrected]))
        for name, gain in forms.items()
    ]
    lost = [f"{losses[gain]:.3f} with {name}" for name, gain in forms.items()]
    ours = f"detail lost (NCP) {', '.join(lost)}; {losses[corrected]:.3f} corrected"
    return judge.claim(statement, effects, ours, reason)


def _two_levels(results: Results, judge: Judge) -> Claim:
    names = ("EUGkM", "adaptive grid as printed")
    gaps = {
        f"{data} at {epsilon:g}": gap
        for data, epsilon, gap in results.gaps("methods", "ratio", "method", *names)
    }
    ours = "; ".join(f"{setting}: {gap}" for setting, gap in gaps.items())
    reason = "Inertia over that of plain k-means, one level (EUGkM) less two." if gaps else ""
    return judge.claim(TWO_LEVELS, measured(gaps), ours, reason)


def _other_tasks(results: Results, judge: Judge) -> Claim:
    cells = results.rows("pictures", picture="contingency")
    if not cells:
        return judge.claim(OTHER_TASKS, [])
    off = max(abs(row["released"] - row["true"]) for row in cells)
    rows = sum(row["true"] for row in cells)
    ours = f"{len(cells)} parts are off by at most {off:,.0f} of {rows:,.0f} rows"
    reason = "Histogram, map and table come from one released synopsis, at no further cost."
    return judge.claim(OTHER_TASKS, [exact("students", 0.05 - off / rows)], ours, reason)


def _parallel_seeding(results: Results, judge: Judge) -> Claim:
    growth = []
    for data in results.distinct("spark scaling", "data"):
        first, *_, last = results.rows("spark scaling", data=data)
        both = [last[name] / first[name] for name in ("seconds", "plain_seconds")]
        growth.append(f"{data}, x{last['times']:g} rows: {both[0]:.1f} and {both[1]:.1f} times")
    reason = "" if growth else "Growth is measured with --engine spark."
    return judge.claim(PARALLEL_SEEDING, [], "; ".join(growth), reason)


def _little_impact(results: Results, judge: Judge) -> Claim:
    ratios = {}
    for data in results.distinct("alpha", "data"):
        for epsilon in results.distinct("alpha", "epsilon", data=data):
            means = results.means_along("alpha", "ratio", "alpha", data=data, epsilon=epsilon)
            inner = sorted((mean for alpha, mean in means.items() if 0.25 <= alpha <= 0.75),
                           key=lambda mean: mean.mean)  # fmt: skip
            if len(inner) == 3:
                ratios[f"{data} at {epsilon:g}"] = _ratio(inner[-1], inner[0])
    ours = "; ".join(f"{setting}: {ratio}" for setting, ratio in ratios.items())
    effects = near(ratios, dict.fromkeys(ratios, 1.0), LITTLE - 1)
    return judge.claim(LITTLE_IMPACT, effects, ours)


def _exhibits(results: Results) -> Iterator[Exhibit]:
    rows = results.rows("pictures")
    drawn = {row["picture"]: row["figure"][0] for row in rows if "figure" in row}
    for number, title, names in (
        ("Figure 1", "k-means of two columns", ("k-means",)),
        ("Figure 2", "Synopsis by a uniform grid, with noise", ("uniform",)),
        ("Figure 3", "Two levels, as printed; and a histogram from it", ("adaptive", "histogram")),
    ):
        figures = [figure_of(dict(drawn[name])) for name in names if name in drawn]
        yield Exhibit(number, title, figures, missing="" if figures else _missing("pictures"))
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
    missing = "" if rows else _missing("pictures")
    return Exhibit(number, title, tables=[table] if rows else [], missing=missing)


def _tables(results: Results) -> Exhibit:
    columns = ["Rows", "Score", "Left out at most", "NCP", "Classes", "Left out", "Keep all values"]
    rows = [
        [f"{row['rows']:,}", row["score"], f"{100 * row['suppression']:g} %", f"{row['ncp']:.3f}",
         str(row["classes"]), str(row["suppressed"]),
         ", ".join(n for n in QUASI if row[f"full_{n}"]) or "none"]
        for row in results.rows("tables")
    ]  # fmt: skip
    return _shown("tables", TABLES, "Students, 10-anonymous", table_of("Releases", columns, rows))


def _gains(results: Results) -> Exhibit:
    rows = [
        [row["gain"], f"{row['ncp']:.3f}", str(row["splits"]), str(row["smallest"])]
        for row in results.rows("gains")
    ]
    table = table_of("Gains", ["Gain", "NCP", "Splits", "Smallest class"], rows,
                     "k = 10, nothing left out; lower NCP keeps more detail.")  # fmt: skip
    return _shown("gains", GAINS, "Gains as printed and corrected", table)


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
    missing = "" if figures else _missing("times")
    return Exhibit(TIMES, "Run time by number of rows", figures, missing=missing)


def _on_spark(results: Results) -> Exhibit:
    columns = ["Set", "Rows", "Inertia over k-means++", "Seconds", "Seconds of k-means++"]
    rows = [
        [row["data"], f"{row['rows']:,}", f"{row['ratio']:.3f}", f"{row['seconds']:.1f}",
         f"{row['plain_seconds']:.1f}"]
        for row in results.rows("spark scaling")
    ]  # fmt: skip
    table = table_of("MLlib's k-means|| on the rows", columns, rows,
                     "The best of eight runs there, of ten runs here; no privacy.")  # fmt: skip
    missing = "" if rows else f"{_missing('spark scaling')} {NEEDS_SPARK}"
    tables = [table] if rows else []
    return Exhibit(SPARK, "The line without noise, on Spark", tables=tables, missing=missing)


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
    return _shown("alpha", ALPHA, "The printed synopsis by the share of its coarse level", table)


def _missing(part: str) -> str:
    return not_run("leteo", part)


def _shown(part: str, number: str, title: str, table: dict[str, Any]) -> Exhibit:
    """Return an exhibit of one table; an empty one says which part was not run."""
    if not table["rows"]:
        return Exhibit(number, title, missing=_missing(part))
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
    return _shown("granularity", CELLS, "The printed synopsis by the sizes of its cells", table)


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
                   missing="" if figures else _missing("methods"))  # fmt: skip
