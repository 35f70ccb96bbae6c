"""A released table in words: what its pages say and what a run prints."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.cli.output import entry

if TYPE_CHECKING:
    from rich.text import Text

    from shoal.anonymize.release.result import Finished
    from shoal.anonymize.risk.reidentification import Population, Risk
    from shoal.figures import Figure
    from shoal.privacy import Result

__all__ = ["Told", "chance", "document", "pages", "rare_lines", "result", "risk_lines", "summary"]

EVIDENCE = "counted again in the file as written; run.proof.md and those it names"
_RELEASES = {
    "first": "the first under its cut; keep the cut, and apply it to new people only",
    "compared": "people compared with those of all earlier releases under its cut: nobody twice",
    "stated": "the publisher states that nobody in it was in an earlier one; nothing compared them",
    "compared and stated": "people compared with those of some earlier releases under its cut; of "
    "the others the publisher states that nobody was in them",
}
_SHOWN = 3  # labels of a column on the page
_HIT = 12  # values on the curator's page


class Told(NamedTuple):
    """What a page is told besides the run itself."""

    title: str | None = None
    publisher: str | None = None
    population: "str | Path | None" = None
    rare: Mapping[str, float] = {}


def pages(finished: "Finished", told: Told) -> dict[Path, str]:
    """The public page, its numbers, and the page for the holder of the rows, by path."""
    from shoal.report import findings, texts

    found, paths = result(finished, told), finished.paths
    files = [{"name": paths.table.name, "sha256": finished.manifest["table_sha256"]}]
    public = texts(findings(found, files=files), paths.report)
    return {**public, **texts(findings(found, "curator", files=files), paths.curator)}


def result(finished: "Finished", told: Told) -> "Result":
    """The release as a page wants it, each value marked by who may see it."""
    from shoal.anonymize.policy import guarantee_of
    from shoal.privacy import Protected, Public, Released, Result

    population = _population(finished, told)
    return Result(
        "k-anonymous table",
        guarantee_of(finished.policy),
        {name: Public(value) for name, value in _settings(finished, told).items()},
        {name: Released(value) for name, value in _released(finished, population).items()},
        {name: Protected(value) for name, value in _protected(finished, told, population).items()},
    )


def document(finished: "Finished", files: Mapping[str, str]) -> dict[str, Any]:
    """What ``--json`` prints: the manifest, the risk after the release, and where things are."""
    from dataclasses import asdict

    return {
        "manifest": finished.manifest,
        "risk": asdict(_risk(finished)),
        "files": dict(files),
    }


def summary(finished: "Finished", files: Mapping[str, str]) -> list["Text"]:
    """What a terminal shows: promised, reached, what it costs, where it is."""
    from shoal.anonymize.policy import guarantee_of
    from shoal.report.promise import promise

    words = promise(guarantee_of(finished.policy), **_context(finished))
    return [
        entry("Promised", words.lead),
        *(entry("", line) for line in words.more),
        entry("Not", words.fails[0]),
        entry("Found", _found(finished)),
        *(entry("Cost" if i == 0 else "", line) for i, line in enumerate(_costs(finished))),
        *(entry(name.capitalize(), path, wrap=False) for name, path in files.items()),
    ]


def risk_lines(risk: "Risk", k: int, of: str, population: "Population | None") -> list[str]:
    """The three who look for someone, a sentence each."""
    known = "Without a population table this is the prosecutor's chance."
    if population is not None:
        known = "Counted in a table of the population."
    return [
        f"Prosecutor, who knows that you are in it: {chance(risk.prosecutor)} at most; over all "
        f"{of}, {chance(risk.prosecutor_mean)} on average.",
        f"Journalist, who does not know that: {chance(risk.journalist)} at most. {known}",
        f"Marketer, who matches everyone: about {chance(risk.marketer)} of the matches right.",
        f"{_percent(risk.exposed)} of all {of} are in groups smaller than k = {k}.",
    ]


def chance(value: float) -> str:
    """A chance as "1 in 12", rounded to the careful side.

    Examples
    --------
    >>> chance(1.0), chance(0.26), chance(1 / 12)
    ('1 in 1', '1 in 3', '1 in 12')
    """
    return f"1 in {int(1 / value + 1e-9):,}" if value > 0 else "none"


def rare_lines(rare: Mapping[str, float], k: int) -> list[str]:
    """A warning for each column that is published as it is and finds people; for the holder.

    Examples
    --------
    >>> print(*rare_lines({"case": 0.75}, 5))
    'case' is published as it is, and in 75 % of rows its value is shared by fewer than k = 5: who
    knows it finds the person. Make it quasi or identifier, or say `force: true`.
    """
    return [
        f"{name!r} is published as it is, and in {_percent(share)} of rows its value is shared by "
        f"fewer than k = {k}: who knows it finds the person. Make it quasi or identifier, or say "
        "`force: true`."
        for name, share in rare.items()
    ]


def _settings(finished: "Finished", told: Told) -> dict[str, Any]:
    policy, manifest = finished.policy, finished.manifest
    learnt = manifest["learnt"]
    bounds = f"learnt from the rows: {', '.join(learnt)}" if learnt else "none learnt from rows"
    settings = {
        "title": told.title or f"A table in which {policy.privacy.k} people share each combination",
        "method": "Local recoding" if manifest["cut"] is None else "Top-down specialization",
        "holder": "the holder of the table, and nobody else",
        "bounds": f"hierarchies and domains stated in the policy; {bounds}",
        "noise": "none: values are grouped, not changed at random",
        "releases": _RELEASES[manifest["people"]["basis"]],
        "evidence": EVIDENCE,
        "context": _context(finished),
        "code": "shoal anonymize --policy policy.yaml",
        **{name: manifest[name] for name in ("entity", "nulls", "score", "recoding", "restarts")},
        "suppression allowed": policy.privacy.suppression,
        "policy": manifest["policy_sha256"],
    }
    return settings | ({"publisher": told.publisher} if told.publisher else {})


def _context(finished: "Finished") -> dict[str, Any]:
    policy, share = finished.policy, finished.produced.achieved.share
    rules = []
    for name in policy.names("sensitive"):
        of = policy.attributes[name]
        kinds = {"l": of.l and of.l.model_dump(), "t": of.t and of.t.model_dump()}
        rules.append({"column": name, **kinds, "share": share[name]})
    basis = finished.manifest["people"]["basis"]
    return {"columns": policy.names("quasi"), "rules": rules, "earlier": basis}


def _released(finished: "Finished", population: "Population | None") -> dict[str, Any]:
    k, of = finished.policy.privacy.k, _unit(finished)
    return {
        "summary": _found(finished),
        "facts": list(_facts(finished)),
        "figures": list(_figures(finished)),
        "tables": [_columns(finished)],
        "errors": [*_costs(finished), *finished.manifest["notes"]],
        "outsider": risk_lines(_risk(finished, population), k, of, population),
        "metrics": finished.manifest["metrics"],
    }


def _found(finished: "Finished") -> str:
    achieved, gone = finished.produced.achieved, finished.manifest["suppression"]["rows"]
    left = f" {gone:,} rows were left out." if gone else " No row was left out."
    starred = finished.manifest["suppression"]["starred"]
    if starred:
        left = f" {starred:,} rows show nothing but *."
    return (
        f"{achieved.rows:,} rows in {achieved.classes:,} groups; the smallest has {achieved.k:,} "
        f"{_unit(finished)}.{left}"
    )


def _facts(finished: "Finished") -> Iterator[dict[str, str]]:
    achieved, metrics = finished.produced.achieved, finished.outcome.metrics
    asked = f"{_unit(finished)}; at least {finished.policy.privacy.k} were promised"
    yield {"name": "Smallest group", "value": f"{achieved.k:,}", "detail": asked}
    detail = "of what the grouped columns say, over all rows"
    yield {"name": "Detail kept", "value": _percent(1 - metrics.ncp), "detail": detail}
    allowed = f"{_percent(finished.policy.privacy.suppression)} were allowed"
    share = metrics.suppressed / max(finished.frequency.problem.N, 1)
    yield {"name": "Rows left out", "value": _percent(share), "detail": allowed}


def _figures(finished: "Finished") -> Iterator["Figure"]:
    from shoal.figures import class_sizes, detail_bars

    k, sizes, of = finished.policy.privacy.k, finished.produced.achieved.sizes, _unit(finished)
    yield class_sizes(sizes, k=k, of=of, title=f"Sizes of groups, and how many in 100 {of} there")
    losses = zip(finished.policy.names("quasi"), finished.outcome.metrics.ncp_by_qid, strict=True)
    kept = {name: max(1 - loss, 0.0) for name, loss in losses}
    yield detail_bars(kept, title="Detail kept in each column", axis="Detail kept")


def _columns(finished: "Finished") -> dict[str, Any]:
    release, problem = finished.produced.release, finished.frequency.problem
    live, rows = ~release.suppressed & ~release.starred, []
    for q, (name, tree) in enumerate(finished.frequency.codec.hierarchies.items()):
        counts = np.bincount(release.labels[live, q], problem.n[live])
        labels = [tree.taxonomy.nodes[at].label for at in np.argsort(-counts, kind="stable")]
        found = int((counts > 0).sum())
        shown = ", ".join(labels[: min(found, _SHOWN)]) + (", …" if found > _SHOWN else "")
        loss = finished.outcome.metrics.ncp_by_qid[q]
        rows.append([name, _percent(max(1 - loss, 0.0)), f"{found:,}", shown])
    heads = ["Column", "Detail kept", "Labels", "Most common"]
    note = "Labels as they stand in the table; the manifest lists all."
    told = {"title": "What became of each column", "columns": heads, "rows": rows}
    return told | {"marked": False, "note": note}


def _costs(finished: "Finished") -> list[str]:
    metrics = finished.outcome.metrics
    return [
        f"Certainty penalty {metrics.ncp:.3f} on a scale from 0 (nothing lost) to 1.",
        f"A group is {metrics.aecs:.3g} times as large as k on average.",
        f"A row tells {metrics.entropy:.3g} bits about its group. Discernibility: {metrics.dm:,}.",
    ]


def _protected(finished: "Finished", told: Told, population: "Population | None") -> dict[str, Any]:
    from shoal.anonymize.risk.reidentification import Risk, entropy_before, leaf_sizes
    from shoal.figures import class_sizes

    problem, of = finished.frequency.problem, _unit(finished)
    sizes = leaf_sizes(problem)
    risk, bits = Risk.of(sizes, problem.k), entropy_before(problem)
    kept = finished.outcome.metrics.entropy / bits if bits else 1.0
    title = f"Before: sizes of groups at the leaves, and how many in 100 {of} there"
    short = population.short if population else 0
    lines = [
        f"Before, at the leaves of the hierarchies: {chance(risk.prosecutor)} at most, "
        f"{chance(risk.prosecutor_mean)} on average.",
        f"{_percent(kept)} of the {bits:.3g} bits that rows told before are kept.",
        f"{finished.outcome.compared} releases were compared; the one with the best "
        f"{finished.policy.search.objective} was kept ({finished.outcome.method}).",
        *finished.outcome.curator_notes,
        *([f"The population has fewer people than the table in {short} groups."] if short else []),
        *rare_lines(told.rare, problem.k),
    ]
    facts = [
        {"name": "In groups below k, before", "value": _percent(risk.exposed)}
        | {"detail": f"of all {of}; none are now"},
        {"name": "Rows in all", "value": f"{problem.N:,}", "detail": "of the table as it was read"},
        {"name": "Groups, before", "value": f"{risk.classes:,}"}
        | {"detail": f"now {finished.produced.achieved.classes:,}"},
    ]
    return {
        "facts": facts,
        "lines": lines,
        "figures": [class_sizes(sizes, k=problem.k, of=of, title=title)],
        "tables": [_hit(finished)],
    }


def _hit(finished: "Finished") -> dict[str, Any]:
    from shoal.anonymize.risk.reidentification import suppressed_values

    found = suppressed_values(finished.frequency, finished.produced.release)
    every = [(name, *value) for name, values in found.items() for value in values if value.gone]
    every.sort(key=lambda line: (-line[3] / line[2], -line[3]))
    rows = [
        [name, value, f"{n:,}", f"{gone:,}", _percent(gone / n)]
        for name, value, n, gone in every[:_HIT]
    ]
    note = f"The {len(rows)} hit hardest of {len(every)} values with rows left out."
    title = "Whom suppression hit" if rows else "Suppression hit nobody"
    heads = ["Column", "Value", "Rows", "Left out", "Share"]
    told = {"title": title, "columns": heads, "rows": rows, "marked": False}
    return told | {"note": note if rows else ""}


def _population(finished: "Finished", told: Told) -> "Population | None":
    from shoal.anonymize.risk.reidentification import population_of

    if told.population is None:
        return None
    return population_of(finished.frequency, finished.produced.release, str(told.population))


def _risk(finished: "Finished", population: "Population | None" = None) -> "Risk":
    from shoal.anonymize.risk.reidentification import Risk

    return Risk.of(finished.produced.achieved.sizes, finished.policy.privacy.k, population)


def _unit(finished: "Finished") -> str:
    return "people" if finished.produced.achieved.by_person else "rows"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
