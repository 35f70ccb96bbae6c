"""Build the page of a released table, and the summary of a check."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.anonymize import guarantee_of
from shoal.anonymize.release import published_files
from shoal.anonymize.risk import (
    Risk,
    leaf_class_sizes,
    leaf_entropy,
    population_of,
    suppressed_values,
)
from shoal.errors import quantity
from shoal.figures import class_sizes, detail_bars
from shoal.pages._page_of_result import findings
from shoal.pages._render import texts
from shoal.pages._table_figures import hierarchy_figures, risk_histogram
from shoal.pages._table_risk import (
    chance_text,
    model_texts,
    risk_lines,
    special_table,
    unique_lines,
    wp216_lines,
)
from shoal.pages.page import Fact, Line, Page, Summary, Table, labelled_lines
from shoal.pages.table_utility import association_table, change_figures
from shoal.privacy import Protected, Released, Result
from shoal.privacy.wording import promise

if TYPE_CHECKING:
    from shoal.anonymize import AchievedPrivacy, Policy, RunResult
    from shoal.anonymize.advice import Advice
    from shoal.anonymize.risk import Population
    from shoal.figures import Figure


EVIDENCE = "counted again in the file as written; run.proof.md and those it names"
_RELEASES = {
    "first": "the first under its cut; keep the cut, and apply it to new people only",
    "compared": "people compared with those of all earlier releases under its cut: nobody twice",
    "stated": "the publisher states that nobody in it was in an earlier one; nothing compared them",
    "compared and stated": "people compared with those of some earlier releases under its cut; of "
    "the others the publisher states that nobody was in them",
}
_OBJECTIVES = {
    "ncp": "the smallest certainty penalty",
    "dm": "the smallest discernibility",
    "aecs": "the smallest groups on average",
    "entropy": "the most bits of detail",
}
_SHOWN = 3  # labels of a column on the page
_MOST_SUPPRESSED = 12  # suppressed values on the curator's page


class TableContext(NamedTuple):
    """What a page is given besides the run itself.

    Parameters
    ----------
    title
        Of the page; None names the table.
    """

    title: str | None = None
    publisher: str | None = None
    population: "str | Path | None" = None
    rare: Mapping[str, float] = {}
    advice: Sequence["Advice"] = ()


def page(finished: "RunResult", context: TableContext | None = None) -> Page:
    """Build the page of a finished release of a table."""
    context = context or TableContext()
    population = _population(finished, context)
    risk, k = _risk(finished, population), finished.policy.privacy.k
    outsider = risk_lines(risk, k, _unit(finished), population)
    wp216 = wp216_lines(finished.policy, finished.produced.achieved)
    result = Result(
        "k-anonymous table",
        guarantee_of(finished.policy),
        released={
            "outsider": Released([*outsider, *wp216]),
            "metrics": Released(finished.manifest["metrics"]),
        },
        protected={
            name: Protected(value)
            for name, value in _protected(finished, context, population).items()
        },
    )
    return Page(
        result=result,
        settings=_settings(finished, context),
        summary=_outcome(finished),
        facts=_facts(finished),
        figures=_figures(finished),
        tables=[_column_table(finished)],
        limits=[*_costs(finished), *finished.manifest["notes"]],
        lines=_lines(finished),
        values={"manifest": finished.manifest, "risk": asdict(_risk(finished))},
    )


def page_files(finished: "RunResult", page: Page) -> dict[Path, str]:
    """Return the public page, its numbers, and the page for the holder, by path."""
    result, paths = page.to_result(), finished.paths
    files = published_files(finished.manifest, paths)
    public = texts(findings(result, files=files), paths.report)
    return {**public, **texts(findings(result, "curator", files=files), paths.curator)}


def check_summary(policy: "Policy", achieved: "AchievedPrivacy", broken: list[str]) -> Summary:
    """Return what ``shoal anonymize check`` says: the promises that a table keeps."""
    k, of = policy.privacy.k, "people" if achieved.by_person else "rows"
    risk = Risk.of(achieved.sizes, k)
    values = {
        "kept": not broken,
        "broken": broken,
        "k": {"asked": k, "reached": achieved.k},
        "l": achieved.l,
        "t": achieved.t,
        "greatest_share": achieved.share,
        **({"models": achieved.models} if achieved.models else {}),
        "rows": achieved.rows,
        "classes": achieved.classes,
        "counted": of,
        "risk": asdict(risk),
    }
    lines = _check_lines(achieved, broken, of) + labelled_lines(
        "Risk", risk_lines(risk, k, of, None)
    )
    if policy.privacy.person is not None and not achieved.by_person:
        note = "The table does not say whose a row is: rows were counted, not people."
        lines.append(Line("Note", note))
    return Summary(lines=lines, values=values)


def _check_lines(achieved: "AchievedPrivacy", broken: list[str], of: str) -> list[Line]:
    holds = "Every promise of the policy holds in this table."
    return [
        Line("Broken", f"{'; '.join(broken)}.") if broken else Line("Kept", holds),
        Line(
            "k",
            f"{_amount(achieved.k, of)} in the smallest of {quantity(achieved.classes, 'group')}.",
        ),
        *(Line("l", f"{name}: {reached:.4g}") for name, reached in achieved.l.items()),
        *(Line("t", f"{name}: {distance:.4g}") for name, distance in achieved.t.items()),
        *(Line("Model", f"{name}: {reached:.4g}") for name, reached in achieved.models.items()),
        *(
            Line("Worst", f"In some group {100 * share:.3g} in 100 {of} share one {name}.")
            for name, share in achieved.share.items()
        ),
    ]


def _lines(finished: "RunResult") -> list[Line]:
    """Return what a terminal shows: promised, reached, and what it costs."""
    promised = promise(guarantee_of(finished.policy), **_promise_context(finished))
    return [
        *labelled_lines("Promised", [promised.lead, *promised.more]),
        Line("Not", promised.fails[0]),
        Line("Found", _outcome(finished)),
        *labelled_lines("Cost", _costs(finished)),
    ]


def rare_lines(rare: Mapping[str, float], k: int) -> list[str]:
    """Return a warning for each published column that identifies people, for the holder.

    Examples
    --------
    >>> print(*rare_lines({"case": 0.75}, 5))
    'case' is published as it is, and in 75 % of rows its value is shared by fewer than k = 5: who
    knows it finds the person. Make it quasi or identifier, or set `force: true`.
    """
    return [
        f"{name!r} is published as it is, and in {_percent(share)} of rows its value is shared "
        f"by fewer than k = {k}: who knows it finds the person. Make it quasi or identifier, or "
        "set `force: true`."
        for name, share in rare.items()
    ]


def advice_texts(advice: Sequence["Advice"]) -> list[str]:
    """Return each piece of advice as a sentence, with the line to copy."""
    return [
        f"{each.text} In the policy, under `{each.part}`: `{each.line}`."
        if each.line
        else each.text
        for each in advice
    ]


def advice_lines(advice: Sequence["Advice"]) -> list[Line]:
    """Return what a terminal shows of advice; lines to copy stand by themselves."""
    lines: list[Line] = []
    for each in advice:
        lines.append(Line("" if lines else "Advice", each.text))
        if each.line:
            lines.append(Line("", f"Under `{each.part}` in the policy:"))
            lines.append(Line("", f"  {each.line}", is_literal=True))
    return lines


def _settings(finished: "RunResult", context: TableContext) -> dict[str, Any]:
    policy, manifest = finished.policy, finished.manifest
    learnt = manifest["learnt"]
    bounds = f"; learnt from the rows: {', '.join(learnt)}" if learnt else ""
    settings = {
        "title": context.title or _title(policy),
        "method": "Local recoding" if manifest["cut"] is None else "Top-down specialization",
        "holder": "the holder of the table, and nobody else",
        "bounds": f"hierarchies and domains as the policy states them{bounds}",
        "noise": "none: values are grouped, not changed at random",
        "releases": _RELEASES[manifest["people"]["basis"]],
        "evidence": EVIDENCE,
        "context": _promise_context(finished),
        "code": "shoal anonymize --policy policy.yaml",
        **{name: manifest[name] for name in ("person", "nulls", "score", "recoding", "restarts")},
        "suppression allowed": policy.privacy.suppression,
        "policy": manifest["policy_sha256"],
    }
    return settings | ({"publisher": context.publisher} if context.publisher else {})


def _title(policy: "Policy") -> str:
    if policy.privacy.k == 1 and policy.privacy.k_map is not None:
        k = policy.privacy.k_map.k
        return f"A table in which {k} people of the population share each combination"
    return f"A table in which {policy.privacy.k} people share each combination"


def _promise_context(finished: "RunResult") -> dict[str, Any]:
    policy, share = finished.policy, finished.produced.achieved.share
    rules = []
    for name in policy.names("sensitive"):
        of = policy.attributes[name]
        kinds = {"l": of.l and of.l.model_dump(), "t": of.t and of.t.model_dump()}
        rules.append({"column": name, **kinds, "share": share[name]})
    basis = finished.manifest["people"]["basis"]
    models = model_texts(policy, finished.produced.achieved.models)
    names = policy.names("quasi")
    return {"columns": names, "rules": rules, "earlier": basis, "models": models}


def _outcome(finished: "RunResult") -> str:
    achieved, gone = finished.produced.achieved, finished.manifest["suppression"]["rows"]
    left = (
        f" {quantity(gone, 'row was', 'rows were')} left out." if gone else " No row was left out."
    )
    starred = finished.manifest["suppression"]["starred"]
    if starred:
        left = f" {quantity(starred, 'row shows', 'rows show')} nothing but *."
    return (
        f"{quantity(achieved.rows, 'row')} in {quantity(achieved.classes, 'group')}; the "
        f"smallest has {_amount(achieved.k, _unit(finished))}.{left}"
    )


def _facts(finished: "RunResult") -> list[Fact]:
    achieved, metrics = finished.produced.achieved, finished.outcome.metrics
    k = finished.policy.privacy.k
    promised = _unit(finished) + (f"; at least {k} were promised" if k > 1 else "")
    allowed = f"{_percent(finished.policy.privacy.suppression)} were allowed"
    share = metrics.suppressed / max(finished.frequency.problem.N, 1)
    detail = "of what the grouped columns say, over all rows"
    return [
        Fact("Smallest group", f"{achieved.k:,}", promised),
        Fact("Detail kept", _percent(1 - metrics.ncp), detail),
        Fact("Rows left out", _percent(share), allowed),
    ]


def _figures(finished: "RunResult") -> list["Figure"]:
    k, sizes, of = finished.policy.privacy.k, finished.produced.achieved.sizes, _unit(finished)
    losses = zip(finished.policy.names("quasi"), finished.outcome.metrics.ncp_by_qid, strict=True)
    detail = {name: max(1 - loss, 0.0) for name, loss in losses}
    return [
        class_sizes(sizes, k=k, of=of, title=f"Group sizes, and the share of {of} in each"),
        detail_bars(detail, title="Detail kept in each column", axis="Detail kept"),
        *hierarchy_figures(finished),
    ]


def _column_table(finished: "RunResult") -> Table:
    release, problem = finished.produced.release, finished.frequency.problem
    live, rows = ~release.suppressed & ~release.starred, []
    for q, (name, tree) in enumerate(finished.frequency.codec.hierarchies.items()):
        counts = np.bincount(release.labels[live, q], problem.n[live])
        labels = [tree.taxonomy.nodes[at].label for at in np.argsort(-counts, kind="stable")]
        used = int((counts > 0).sum())
        shown = ", ".join(labels[: min(used, _SHOWN)]) + (", …" if used > _SHOWN else "")
        loss = finished.outcome.metrics.ncp_by_qid[q]
        rows.append([name, _percent(max(1 - loss, 0.0)), f"{used:,}", shown])
    columns = ["Column", "Detail kept", "Labels", "Most common"]
    note = "Labels as they stand in the table; the manifest lists all."
    return Table("What became of each column", columns, rows, note=note)


def _costs(finished: "RunResult") -> list[str]:
    metrics = finished.outcome.metrics
    alike = metrics.dm / max(finished.frequency.problem.N, 1)
    return [
        f"Certainty penalty {metrics.ncp:.3f} on a scale from 0 (nothing lost) to 1.",
        f"A group is {metrics.aecs:.3g} times as large as k on average.",
        f"A row looks like {alike:,.4g} rows on average, one left out like all (discernibility).",
        f"A row tells {metrics.entropy:.3g} bits about its group.",
    ]


def _short_text(groups: int) -> str:
    return f"The population has fewer people than the table in {quantity(groups, 'group')}."


def _protected(
    finished: "RunResult", context: TableContext, population: "Population | None"
) -> dict[str, Any]:
    problem, of = finished.frequency.problem, _unit(finished)
    sizes = leaf_class_sizes(problem)
    special, special_rows = special_table(finished)
    risk, bits = Risk.of(sizes, problem.k), leaf_entropy(problem)
    share = finished.outcome.metrics.entropy / bits if bits else 1.0
    title = f"Before, at the leaves: group sizes, and the share of {of} in each"
    short = population.short if population else 0
    lines = [
        f"Before, at the leaves of the hierarchies: {chance_text(risk.prosecutor)} at most, "
        f"{chance_text(risk.prosecutor_mean)} on average.",
        f"{_percent(share)} of the {bits:.3g} bits of detail in the original rows are kept.",
        f"{quantity(finished.outcome.compared, 'candidate release')} compared; the one with "
        f"{_OBJECTIVES[finished.policy.search.objective]} was kept ({finished.outcome.method}).",
        *finished.outcome.curator_notes,
        *unique_lines(sizes, _population_size(finished, population)),
        special,
        *([_short_text(short)] if short else []),
        *rare_lines(context.rare, problem.k),
        *advice_texts(context.advice),
    ]
    now = f"now {finished.produced.achieved.classes:,}"
    facts = [
        Fact("In groups below k, before", _percent(risk.exposed), f"of all {of}; none are now"),
        Fact("Rows in all", f"{problem.N:,}", "of the table as it was read"),
        Fact("Groups, before", f"{risk.classes:,}", now),
    ]
    return {
        "facts": [fact._asdict() for fact in facts],
        "lines": lines,
        "figures": [
            class_sizes(sizes, k=problem.k, of=of, title=title),
            risk_histogram(finished, sizes),
            *change_figures(finished),
        ],
        "tables": [
            special_rows.to_dict(),
            association_table(finished).to_dict(),
            _suppression_table(finished).to_dict(),
        ],
    }


def _suppression_table(finished: "RunResult") -> Table:
    suppressed = suppressed_values(finished.frequency, finished.produced.release)
    every = [
        (name, *value) for name, values in suppressed.items() for value in values if value.gone
    ]
    every.sort(key=lambda line: (-line[3] / line[2], -line[3]))
    rows = [
        [name, value, f"{n:,}", f"{gone:,}", _percent(gone / n)]
        for name, value, n, gone in every[:_MOST_SUPPRESSED]
    ]
    note = f"The {len(rows)} hit hardest of {len(every)} values with rows left out."
    title = "Whom suppression hit" if rows else "Suppression hit nobody"
    columns = ["Column", "Value", "Rows", "Left out", "Share"]
    return Table(title, columns, rows, note=note if rows else "")


def _population(finished: "RunResult", context: TableContext) -> "Population | None":
    of, source = finished.policy.privacy.population, context.population
    if source is None and of is not None and of.path is not None:
        source = finished.policy.path(of.path)
    if source is None:
        return None
    return population_of(finished.frequency, finished.produced.release, str(source))


def _population_size(finished: "RunResult", population: "Population | None") -> int | None:
    """Return how many people the population has, stated or counted below the release's labels."""
    of = finished.policy.privacy.population
    if of is not None and of.size is not None:
        return of.size
    return None if population is None else max(population.size, int(population.members.sum()))


def _risk(finished: "RunResult", population: "Population | None" = None) -> Risk:
    return Risk.of(finished.produced.achieved.sizes, finished.policy.privacy.k, population)


def _amount(number: int, of: str) -> str:
    return quantity(number, "person" if of == "people" else "row", of)


def _unit(finished: "RunResult") -> str:
    return "people" if finished.produced.achieved.by_person else "rows"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
