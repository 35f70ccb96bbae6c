"""The claims of the WaveCluster report, each with its number beside ours."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from shoal.experiments._results import Mean, Results
from shoal.experiments._verdicts import (
    Effect,
    Judge,
    Statement,
    audited,
    exact,
    lead_of,
    measured,
    near,
)
from shoal.experiments.wavecluster._cells import (
    ALPHA,
    ALPHAS,
    AUTO,
    COORDINATES,
    CORRECTED,
    ENDS_OF_AGGREGATION,
    EPSILON,
    FILES,
    NO_NOISE,
    POINTS,
    SIDE,
    TWINS,
    P,
    box_of,
)
from shoal.experiments.wavecluster._exhibits import (
    AUDITS,
    CURVES,
    KNOWN_GROUPS,
    POINT_PICTURE,
    SWEEP,
    exhibits,
)
from shoal.mechanisms import PlanarLaplace
from shoal.pages import Claim, Reproduction

ROUND = ("s1", "birch1")  # sets whose groups are round, which any clusterer finds
SUFFICIENT = (EPSILON, 4.0)  # the report's own budget, and a larger one
INDICES = ("di", "di2")  # the report's own, by which it is judged, and one that charges both sides
_DISSIMILARITY = "0.05 of dissimilarity"


def _statement(where: str, quote: str, tested: str, **more: object) -> Statement:
    return Statement(source="wavecluster", where=where, quote=quote, tested=tested, **more)  # type: ignore[arg-type]


ANY_SHAPE = _statement(
    "Abstract", "because of its capability of finding clusters of arbitrary shapes",
    "It can: without noise, the groups of some set that is not round are found, at the best of "
    "five percentiles on one grid a set.",
    margin="an adjusted Rand index of 0.8 on a set counts as found", is_possibility=True,
    parts=("truth",), exhibit=KNOWN_GROUPS,
)  # fmt: skip
FOUND = 0.8
POINT_NOISE = _statement(
    "Procedure", "Now we can apply the normal WaveCluster algorithm to it and obtain an "
    "ϵ -differentially private result.",
    "Laplace noise of 1/epsilon on each point, in sides of a cell, promises epsilon for a row.",
    number=f"epsilon {EPSILON:g}", parts=("pictures",), exhibit=POINT_PICTURE,
)  # fmt: skip
BEST = _statement(
    "Calculations and Results",
    "given a sufficient privacy budget, PrivTHRem gives the best results out of the three "
    "algorithms",
    f"At epsilon {SUFFICIENT[0]:g} and {SUFFICIENT[1]:g} PrivTHREM, as printed, has a lower "
    "dissimilarity than the better of PrivTHR and PrivQT.",
    matters=0.05, margin=_DISSIMILARITY, parts=("order",), exhibit=CURVES,
)  # fmt: skip
SECOND = _statement(
    "Conclusion", "PrivTHRem gives the best results, followed by PrivTHR and then PrivQT.",
    f"PrivTHR has a lower dissimilarity than PrivQT at epsilon {EPSILON:g}.",
    matters=0.05, margin=_DISSIMILARITY, parts=("order",), exhibit=CURVES,
)  # fmt: skip
BASELINES = {
    method: _statement(
        "Conclusion",
        "ensure privacy by applying differential privacy at key steps of the WaveCluster algorithm "
        "and thus provide better utility than Baseline",
        f"{name} has a lower dissimilarity at epsilon {EPSILON:g} than noise on every point, in "
        "sides of a cell; both readings of 2d noise: planar, and on each coordinate by itself.",
        matters=0.05, margin=_DISSIMILARITY, parts=("order",), exhibit=CURVES,
    )
    for method, name in (
        ("privqt", "PrivQT"), ("privthr", "PrivTHR"), ("privthrem", "PrivTHREM"),
    )
}  # fmt: skip
SHARES = {
    method: _statement(
        "Calculations and Results",
        f"it was found out that taking ... works best for {name} algorithm"
        if method == "privthr" else f"works best for {name} algorithm",
        f"No other share of the budget has a dissimilarity that is lower by more than 0.05 at "
        f"epsilon {EPSILON:g}.",
        margin=_DISSIMILARITY, number=f"alpha = {ALPHA[method]:g}", parts=("alpha",), exhibit=SWEEP,
    )
    for method, name in (("privthr", "PrivTHR"), ("privthrem", "PrivTHRem"))
}  # fmt: skip
PARALLEL = _statement(
    "PrivQT", "the final output wave clusters are also ϵ -differentially private",
    "Noise of 1/epsilon on every count is epsilon-private when a row is added or removed.",
    proof="cluster/wave/release_methods.proof.md",
)  # fmt: skip
SEQUENTIAL = _statement(
    "PrivTHR", "We can see from the sequential composition property of differential privacy that "
    "the overall result is ϵ -differentially private.",
    "Noise on every count, and on how many values of W are not positive, with a share of epsilon "
    "each.",
    proof="cluster/wave/release_methods.proof.md",
)  # fmt: skip
HALF_POSITIVE = _statement(
    "PrivTHR", "Then about half of the values of Z would have become false positives",
    "A sum of symmetric noise on empty cells is positive with probability one half.",
    margin="0.05 of that share",
)  # fmt: skip
UNWEIGHTED = _statement(
    "PrivTHRem", "we apply the exponential mechanism to determine the partition and then find a "
    "uniform random value from that partition which will act as the threshold",
    "Partitions that are weighed by their rank alone, and not by their length, keep epsilon.",
    number="epsilon-private", parts=("audits",), exhibit=AUDITS,
)  # fmt: skip
TRUE_MAXIMUM = _statement(
    "PrivTHRem", "We now use the values of L to define different intervals",
    "Intervals that end at the largest true value keep epsilon.",
    number="epsilon-private", parts=("audits",), exhibit=AUDITS,
)  # fmt: skip
STATEMENTS = (
    ANY_SHAPE, POINT_NOISE, BEST, SECOND, *BASELINES.values(), *SHARES.values(), PARALLEL,
    SEQUENTIAL, HALF_POSITIVE, UNWEIGHTED, TRUE_MAXIMUM,
)  # fmt: skip


def conclude(results: Results, quick: bool) -> Reproduction:
    """Return claims, figures and tables of the report from what was measured."""
    claims = judge(results, quick)
    return Reproduction(
        title="WaveCluster with differential privacy, run again",
        lead=lead_of(claims),
        claims=claims,
        exhibits=list(exhibits(results)),
        setting=setting(quick),
        again=f"shoal reproduce wavecluster{' --quick' if quick else ''}",
        quick=quick,
    )


def setting(quick: bool) -> list[str]:
    """Return how the report is run, and where that is not in its text."""
    return [
        f"The report's setting: cells of side {SIDE:g}, percentile {P:g}, one level of Haar, "
        f"epsilon {EPSILON:g}, alpha 0.9 for PrivTHR and 0.7 for PrivTHREM; a cell is "
        "significant if it is greater than the threshold. It does not name its set; "
        "aggregation stands in, whose box is 36 units wide.",
        "Sets and their grids: " + ", ".join(f"{k} {v[0]} cells, p {v[1]}" for k, v in
        FILES.items()) + "; moons and rings of 10,000 rows, 48 cells, p 0.3. The box of each "
        "is its range, 2 % wider.",
        "Dissimilarity as the report has it (DI), by which its claims are judged: clusters "
        "matched at least cost, true ones without a partner pay their size, over the true "
        "significant cells; lower is better. That makes spurious clusters free; in DI2, which "
        "the curves show, they pay their size too.",
        "The report's baseline, noise on every point, promises epsilon for each side of a cell "
        "(1 unit there) and not for a whole row: another promise, shown because the report "
        "does. Points that noise carries out of the box are counted at its edge. The baseline "
        "of the paper it follows draws points from an adaptive grid: shown beside it.",
        "PrivTHREM is run as printed: k is how many true values exceed the threshold, and a "
        "partition is drawn by its rank alone, up to the largest true value. That keeps no "
        "promise. Beside it, and in the figures of known groups, is the method here: the rank "
        "of the percentile, partitions by their length, up to the largest noisy value.",
        f"{3 if quick else 36} draws of noise for each dissimilarity, {3 if quick else 12} for "
        "the rest; all seeded: a simulation.",
    ]  # fmt: skip


def judge(results: Results, quick: bool) -> list[Claim]:
    """Return the claims of the report with their verdicts."""
    return list(_claims(results, Judge("wavecluster", quick)))


def _claims(results: Results, judge: Judge) -> Iterator[Claim]:
    yield _any_shape(results, judge)
    yield _point_noise(results, judge)
    yield _best(results, judge)
    yield _beats(results, judge, SECOND, "privthr", "privqt")
    for method, statement in BASELINES.items():
        yield _beats_noise_on_rows(results, judge, statement, method)
    for method, statement in SHARES.items():
        yield _best_share(results, judge, statement, method)
    yield judge.claim(PARALLEL, [exact("every count", 0.0)],
                      reason="A row changes one count by one.")  # fmt: skip
    yield judge.claim(SEQUENTIAL, [exact("counts and a number of values", 0.0)],
                      reason="A row changes one count, and with Haar's filter one value of W. Of "
                      "PrivTHRem the report says the same: see the last two claims.")  # fmt: skip
    yield judge.claim(HALF_POSITIVE, [exact("Laplace noise", 0.05)], "0.5 exactly",
                      "The values of Z are sums of empty cells, 0. Noise on whole numbers is 0 "
                      "itself at times, and positive less often than half.")  # fmt: skip
    yield _broken(results, judge, UNWEIGHTED, "PrivTHREM without interval lengths",
                  "Two values that nearly tie leave a short partition with as much weight as a "
                  "long one.")  # fmt: skip
    yield _broken(results, judge, TRUE_MAXIMUM, "PrivTHREM up to the true maximum, epsilon 1",
                  "A threshold beyond the old maximum shows that a row was added.")  # fmt: skip


def _any_shape(results: Results, judge: Judge) -> Claim:
    by_set = {row["data"]: row for row in results.rows("truth", method=NO_NOISE)
              if row["data"] not in ROUND}  # fmt: skip
    ours = "; ".join(f"{data} {row['best_ari']:.2f}" for data, row in by_set.items())
    effects = [exact(data, row["best_ari"] - FOUND) for data, row in by_set.items()]
    reason = f"The automatic selector, with noise: {_automatic(results)}."
    return judge.claim(ANY_SHAPE, effects, ours, reason)


def _automatic(results: Results) -> str:
    most = max(results.distinct("truth", "epsilon"), default=0.0)
    scores = {data: results.mean("truth", "ari", data=data, method=AUTO, epsilon=most)
              for data in results.distinct("truth", "data")}  # fmt: skip
    known = "; ".join(f"{data} {mean.mean:.2f}" for data, mean in scores.items() if mean)
    return f"{known} at epsilon {most:g}" if known else "not run"


def _point_noise(results: Results, judge: Judge) -> Claim:
    if not results.rows("pictures"):
        return judge.claim(POINT_NOISE, [])
    box = box_of(ENDS_OF_AGGREGATION)
    epsilon = float(PlanarLaplace(EPSILON / SIDE, domain=box).as_local().epsilon)
    reason = (
        "It is epsilon for each side of a cell; the promise for a whole row grows with the box, "
        f"here {box.diameter / SIDE:.1f} sides across."
    )
    effect = exact("aggregation", EPSILON - epsilon)
    return judge.claim(POINT_NOISE, [effect], f"epsilon {epsilon:.1f} for a row", reason)


def _off(results: Results, index: str, data: str, epsilon: float, method: str) -> Mean | None:
    return results.mean("order", index, data=data, epsilon=epsilon, method=method)


def _best(results: Results, judge: Judge) -> Claim:
    gaps = {index: _gaps_to_better(results, index, "privthrem") for index in INDICES}
    corrected = _gaps_to_better(results, INDICES[0], CORRECTED)
    return _compared(judge, BEST, gaps, corrected)


def _gaps_to_better(results: Results, index: str, method: str) -> dict[str, Mean]:
    gaps = {}
    for data in results.distinct("order", "data"):
        for epsilon in SUFFICIENT:
            ours = _off(results, index, data, epsilon, method)
            others = [_off(results, index, data, epsilon, name) for name in ("privthr", "privqt")]
            known = [mean for mean in others if mean]
            if ours and len(known) == len(others):
                better = min(known, key=lambda mean: mean.mean)
                gaps[f"{data} at {epsilon:g}"] = better - ours
    return gaps


def _beats(results: Results, judge: Judge, statement: Statement, first: str, second: str) -> Claim:
    gaps = {index: _gaps(results, index, first, second) for index in INDICES}
    return _compared(judge, statement, gaps)


def _beats_noise_on_rows(
    results: Results, judge: Judge, statement: Statement, method: str
) -> Claim:
    readings = {POINTS: "planar", COORDINATES: "by coordinate"}

    def gaps(index: str, of: str) -> dict[str, Mean]:
        return {
            f"{data} ({words})": gap
            for noise, words in readings.items()
            for data, gap in _gaps(results, index, of, noise).items()
        }

    corrected = gaps(INDICES[0], CORRECTED) if method == "privthrem" else {}
    return _compared(judge, statement, {i: gaps(i, method) for i in INDICES}, corrected)


def _gaps(results: Results, index: str, first: str, second: str) -> dict[str, Mean]:
    """Return by how much the first is less dissimilar than the second, on each set."""
    gaps = {}
    for data in results.distinct("order", "data"):
        one, other = (_off(results, index, data, EPSILON, name) for name in (first, second))
        if one and other:
            gaps[data] = other - one
    return gaps


def _compared(
    judge: Judge,
    statement: Statement,
    by_index: Mapping[str, dict[str, Mean]],
    corrected: Mapping[str, Mean] = MappingProxyType({}),
) -> Claim:
    """Judge by the report's own index; say what a stricter one and a corrected form give."""
    gaps, charged = (by_index[index] for index in INDICES)
    ours = "; ".join(f"{setting} {gap}" for setting, gap in gaps.items())
    reason = (
        f"Dissimilarity of the other less its own; above 0 in {_wins(gaps)} of {len(gaps)}, and in "
        f"{_wins(charged)} where spurious clusters pay too (DI2)."
    )
    if corrected:
        reason += f" With a threshold that keeps its promise: in {_wins(corrected)}."
    return judge.claim(statement, measured(gaps), ours, reason if gaps else "")


def _wins(gaps: Mapping[str, Mean]) -> int:
    return sum(gap.mean > 0 for gap in gaps.values())


def _best_share(results: Results, judge: Judge, statement: Statement, method: str) -> Claim:
    alpha, behind, ours = ALPHA[method], {}, []
    for data in results.distinct("alpha", "data"):
        equal = {"data": data, "method": method}
        means = results.means_along("alpha", INDICES[0], along="alpha", **equal)
        own = means.get(alpha)
        if own is not None:
            place, best = min(means.items(), key=lambda item: item[1].mean)
            # The best share is compared with itself where it is the printed one.
            behind[data] = own - best if place != alpha else Mean(0.0, 0.0, own.n)
            ours.append(f"{data}: best {place:g} ({best.mean:.2f}), at {alpha:g} {own}")
    effects = near(behind, dict.fromkeys(behind, 0.0), 0.05)
    reason = f"Mean dissimilarity among alpha {', '.join(f'{a:g}' for a in ALPHAS)}."
    return judge.claim(statement, effects, "; ".join(ours), reason if effects else "")


def _broken(results: Results, judge: Judge, statement: Statement, twin: str, reason: str) -> Claim:
    assert twin in TWINS
    effects: list[Effect] = []
    ours = ""
    for row in results.rows("audits", twin=twin):
        effects.append(audited("the printed form", row["claim"], row["bound"]))
        ours = f"loses at least {row['bound']:.2f} where {row['claim']:g} is claimed"
    return judge.claim(statement, effects, ours, reason if effects else "")
