"""The three hypotheses of the thesis, answered with standard errors."""

from collections.abc import Iterator

from shoal.experiments._results import Mean, Results, mean_of
from shoal.experiments._tables import NOT_RUN, clear_errors, verdict_on
from shoal.experiments.nd_laplace._chapter_six import mean_of_games
from shoal.experiments.nd_laplace._later_exhibits import DIMENSIONS, SHAPES
from shoal.pages import CANNOT_TEST, DOES_NOT_HOLD, HOLDS, Claim


def hypotheses(results: Results) -> Iterator[Claim]:
    """Yield the claims that the thesis means to test and leaves open."""
    yield _leakage_grows(results)
    yield _optimal_remap(results)
    yield _shape_changes_utility(results)
    yield _shape_changes_leakage(results)


def _leakage_grows(results: Results) -> Claim:
    where, text = "Hypothesis 1", "The adversary's advantage grows with the number of dimensions."
    by_table = _advantages(results, "dimensions")
    if len(by_table) < 2:
        return Claim(where, text, CANNOT_TEST, reason=NOT_RUN)
    means = list(by_table.values())
    gap = means[-1] - means[0]
    ours = "; ".join(f"{name}: {mean}" for name, mean in by_table.items())
    reason = f"From the fewest to the most columns the advantage changes by {gap}."
    return Claim(where, text, verdict_on([gap]), "", ours, reason, DIMENSIONS)


def _optimal_remap(results: Results) -> Claim:
    where = "Hypothesis 2"
    text = "Optimal remapping improves utility without sacrificing privacy."
    gaps = []
    for data in results.distinct("utility", "data"):
        for epsilon in results.distinct("utility", "epsilon", data=data):
            both = [
                results.mean("utility", "ami", data=data, mechanism=name, epsilon=epsilon)
                for name in ("laplace-optimal-truncated", "laplace")
            ]
            gaps += [both[0] - both[1]] if both[0] and both[1] else []
    audited = results.rows("audits", twin="remap around the true row, inner person")
    if not gaps or not audited:
        return Claim(where, text, CANNOT_TEST, reason=NOT_RUN)
    better = sum(gap.low > 0 for gap in gaps)
    ours = f"better in {better} of {len(gaps)} settings; loses at least {audited[0]['bound']:.2f}"
    reason = (
        "It helps where it looks at the true rows, and that is what it leaks. The free form is "
    )
    reason += f"'bayes': {_bayes_gain(results)}."
    verdict = verdict_on(gaps)
    if audited[0]["verdict"] == "violated":
        verdict = DOES_NOT_HOLD
    return Claim(where, text, verdict, "epsilon 1", ours, reason, "Algorithms 1 to 6")


def _bayes_gain(results: Results) -> str:
    gaps = []
    for data in results.distinct("utility", "data"):
        for epsilon in results.distinct("utility", "epsilon", data=data, mechanism="bayes"):
            both = [
                results.mean("utility", "ami", data=data, mechanism=name, epsilon=epsilon)
                for name in ("bayes", "laplace")
            ]
            gaps += [both[0].mean - both[1].mean] if both[0] and both[1] else []
    gain = mean_of(gaps)
    return "not run" if gain is None else f"AMI {gain.mean:+.2f} on average over {gain.n} settings"


def _shape_changes_utility(results: Results) -> Claim:
    where, text = "Hypothesis 3", "The shape of the data has an impact on utility."
    epsilon = max(results.distinct("shapes", "epsilon"), default=0.0)
    means = {
        data: results.mean("shapes", "ami", data=data, mechanism="laplace", epsilon=epsilon)
        for data in results.distinct("shapes", "data")
    }
    known = {data: mean for data, mean in means.items() if mean is not None}
    if len(known) < 2:
        return Claim(where, text, CANNOT_TEST, reason=NOT_RUN)
    low, high = (pick(known.values(), key=lambda mean: mean.mean) for pick in (min, max))
    ours = "; ".join(f"{data} {mean}" for data, mean in known.items())
    reason = f"AMI at epsilon {epsilon:g}, k = 4; best and worst shape differ by {high - low}."
    return Claim(where, text, _difference(high - low), "", ours, reason, SHAPES)


def _shape_changes_leakage(results: Results) -> Claim:
    where, text = "Hypothesis 3", "The shape of the data has an impact on privacy leakage."
    means = _advantages(results, "shape games")
    if len(means) < 2:
        return Claim(where, text, CANNOT_TEST, reason=NOT_RUN)
    low, high = (pick(means.values(), key=lambda mean: mean.mean) for pick in (min, max))
    gap = high - low
    ours = "; ".join(f"{data}: {mean}" for data, mean in means.items())
    reason = f"TPR - FPR through Laplace noise, over all budgets; most less least: {gap}."
    return Claim(where, text, _difference(gap), "", ours, reason, SHAPES)


def _difference(gap: Mean) -> str:
    """Return whether the ends of three means differ; a small difference refutes nothing."""
    return HOLDS if gap.mean > clear_errors(3) * gap.error else CANNOT_TEST


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
            means[data] = Mean(sum(values) / len(each), sum(errors) / len(each), len(each))
    return means
