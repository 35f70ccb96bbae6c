"""The three hypotheses of the thesis, answered."""

from collections import Counter
from collections.abc import Iterator

from shoal.experiments._results import Mean, Results, mean_of
from shoal.experiments._verdicts import (
    AGAINST,
    FOR,
    Effect,
    Judge,
    audited,
    exact,
    interval,
    measured,
    side_of,
)
from shoal.experiments.nd_laplace import _statements as thesis
from shoal.experiments.nd_laplace._advantage import best_advantage
from shoal.experiments.nd_laplace._chapter_six import mean_of_games
from shoal.pages import Claim

REMAP = "remap around the true row, inner person"


def hypotheses(results: Results, judge: Judge) -> Iterator[Claim]:
    """Yield the claims that the thesis means to test and leaves open."""
    yield _exact_leakage(judge)
    yield _leakage_in_games(results, judge)
    yield _utility_of_remap(results, judge)
    yield _privacy_of_remap(results, judge)
    yield _shape_changes_utility(results, judge)
    yield _shape_changes_leakage(results, judge)


def _exact_leakage(judge: Judge) -> Claim:
    columns = (1, 2, 3, 7, 10, 30)
    fixed = [best_advantage(1.0, 1.0, d) for d in columns]
    growing = [best_advantage(1.0, d**0.5, d) for d in columns]
    effects = [exact("distance 1", fixed[-1] - fixed[0]),
               exact("distance of the root of d", growing[-1] - growing[0])]  # fmt: skip
    ours = "; ".join(
        f"{name}: {' '.join(f'{value:.3f}' for value in values)}"
        for name, values in (("distance 1", fixed), ("root of d", growing))
    )
    reason = (
        f"At d = {', '.join(map(str, columns))}. The best test is on which side of the middle a "
        "report lies, so its advantage is the chance that one coordinate of the noise is shorter "
        "than half the distance."
    )
    return judge.claim(thesis.H1_EXACT, effects, ours, reason)


def _leakage_in_games(results: Results, judge: Judge) -> Claim:
    by_table = _advantages(results, "dimensions")
    means = list(by_table.values())
    gaps = {"five columns less two": means[-1] - means[0]} if len(means) > 1 else {}
    ours = "; ".join(f"{name}: {mean}" for name, mean in by_table.items())
    return judge.claim(thesis.H1_GAME, measured(gaps), ours)


def _gaps(results: Results, first: str, second: str) -> dict[str, Mean]:
    return {
        f"{data} at {epsilon:g}": gap
        for data, epsilon, gap in results.gaps("utility", "ami", "mechanism", first, second)
    }


def _utility_of_remap(results: Results, judge: Judge) -> Claim:
    gaps = _gaps(results, "laplace-optimal-truncated", "laplace")
    effects = measured(gaps)
    sides = Counter(side_of(effect, thesis.H2_UTILITY.matters) for effect in effects)
    ours = f"better in {sides[FOR]} and worse in {sides[AGAINST]} of {len(gaps)} settings"
    free = mean_of(gap.mean for gap in _gaps(results, "bayes", "laplace").values())
    reason = (
        "It helps where it looks at the true rows, and that is what it leaks. The third column of "
        "heart-3d spans 0.02 units: from epsilon 3 on nearly every report leaves the box by it, "
        "most of these find no row near both row and report, and stay at the ends of the grid of "
        "algorithm 4. The author's code, in the version 0829be1, has no grid before this step."
    )
    if free is not None:
        reason += f" The free form 'bayes': AMI {free.mean:+.2f} on average of {free.n} settings."
    return judge.claim(thesis.H2_UTILITY, effects, ours if gaps else "", reason if gaps else "")


def _privacy_of_remap(results: Results, judge: Judge) -> Claim:
    rows = results.rows("audits", twin=REMAP)
    effects = [audited("algorithm 5", row["claim"], row["bound"]) for row in rows]
    ours = "".join(f"loses at least {row['bound']:.2f} of {row['claim']:g}" for row in rows)
    reason = "The ball and the weights lie around the true row." if rows else ""
    return judge.claim(thesis.H2_PRIVACY, effects, ours, reason)


def _shape_changes_utility(results: Results, judge: Judge) -> Claim:
    epsilon = max(results.distinct("shapes", "epsilon"), default=0.0)
    means = {
        data: results.mean("shapes", "ami", data=data, mechanism="laplace", epsilon=epsilon)
        for data in results.distinct("shapes", "data")
    }
    known = {data: mean for data, mean in means.items() if mean is not None}
    ours = "; ".join(f"{data} {mean}" for data, mean in known.items())
    reason = f"AMI at epsilon {epsilon:g}, k = 4." if known else ""
    return judge.claim(thesis.H3_UTILITY, _ends_differ(known), ours, reason)


def _shape_changes_leakage(results: Results, judge: Judge) -> Claim:
    means = _advantages(results, "shape games")
    ours = "; ".join(f"{data}: {mean}" for data, mean in means.items())
    reason = "TPR - FPR through Laplace noise, over all budgets." if means else ""
    return judge.claim(thesis.H3_LEAKAGE, _ends_differ(means), ours, reason)


def _ends_differ(means: dict[str, Mean]) -> list[Effect]:
    """Return by how much the largest of several means exceeds the least, all pairs allowed for."""
    if len(means) < 2:
        return []
    (low_name, low), *_, (high_name, high) = sorted(means.items(), key=lambda item: item[1].mean)
    gap, pairs = high - low, len(means) * (len(means) - 1) // 2
    return [interval(f"{high_name} less {low_name}", gap, pairs)]


def _advantages(results: Results, part: str) -> dict[str, Mean]:
    """Return the advantage on each table through Laplace noise, over all budgets.

    Games of one table share their splits at all budgets, so errors are averaged as if they were
    one, not as of independent means.
    """
    means = {}
    for data in results.distinct(part, "data"):
        rows = results.rows(part, data=data, mechanism="laplace", query="true")
        each = [mean_of_games(row, "advantage") for row in rows]
        if each:
            values, errors = ([one.mean for one in each], [one.error for one in each])
            games = min(one.n for one in each)
            means[data] = Mean(sum(values) / len(each), sum(errors) / len(each), games)
    return means
