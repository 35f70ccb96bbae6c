"""``shoal anonymize``: a table to hand over, in which k people share every combination."""

import shlex
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shoal.cli._options import (
    ANONYMIZE,
    ANONYMIZE_APPLY,
    ANONYMIZE_CHECK,
    ANONYMIZE_EXPLORE,
    ANONYMIZE_INIT,
    ANONYMIZE_UTILITY,
    Engine,
    Json,
    Quiet,
    takes,
)
from shoal.cli._output import Output, write_text
from shoal.errors import InvalidPolicy, InvalidSetting, quantity, sentence, setting
from shoal.jobs import Engines, is_uri
from shoal.pages.page import Line, labelled_lines

if TYPE_CHECKING:
    from shoal.anonymize import Policy
    from shoal.jobs import Preview, ReleasedTable


anonymize_app = typer.Typer(
    invoke_without_command=True,
    rich_markup_mode="markdown",
    help="Release a table in which every combination is shared by k people.",
)


@anonymize_app.callback()
@takes(options=ANONYMIZE)
def anonymize(
    context: typer.Context,
    policy: Path | None = None,
    dry_run: bool = False,
    explain: bool = False,
    population: Path | None = None,
    title: str | None = None,
    publisher: str | None = None,
    overwrite: bool = False,
    engine: Engine = "local",
    master: str | None = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Release a table under a policy: generalised, counted again, with manifest and report.

    Writes what the policy's `output` names: the table, `mapping.csv`, `manifest.json`, a public
    `report.html` with its numbers as JSON, and `report.curator.html` for you only; with `person`,
    also `people.curator`, by which `apply` knows whom it must not release again. Nothing is
    published before the written table has been counted again.

    **Examples**

        shoal anonymize init visits.csv -o visits.yaml
        shoal anonymize --policy visits.yaml --dry-run
        shoal anonymize --policy visits.yaml --explain
        shoal anonymize check visits.released.csv --policy visits.yaml
    """
    if context.invoked_subcommand is not None:
        return
    from shoal.anonymize.release import paths_of
    from shoal.jobs import check_table, release_table

    say, engines, rules = Output(json, quiet), Engines(engine, master), _read(policy)
    if dry_run:
        paths_of(rules)  # refuses an output that cannot be written
        with say.progress(1) as progress:
            checked = check_table(rules, progress, engines=engines)
        _print_check(checked, rules, say, explain, _marked(policy))
        return
    with say.progress(3) as progress:
        released = release_table(
            rules,
            progress,
            engines=engines,
            title=title,
            publisher=publisher,
            population=population,
            overwrite=overwrite,
        )
    _print_release(released, say, explain)


@anonymize_app.command()
@takes(options=ANONYMIZE_APPLY)
def apply(
    table: str | None = None,
    policy: Path | None = None,
    cut: Path | None = None,
    new_people: bool = False,
    explain: bool = False,
    population: Path | None = None,
    title: str | None = None,
    publisher: str | None = None,
    overwrite: bool = False,
    engine: Engine = "local",
    master: str | None = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Release rows of new people under the cut of an earlier release.

    Nobody in the table may have been in an earlier release: two tables that share people can be
    subtracted, and two cuts intersected. With `person`, people are compared with those of all
    releases under the cut, by the fingerprints beside the first (`*.people.curator`, for
    you only), and any who are in one are refused. Without, state `--new-people`.

    Classes that do not meet k, l or t are suppressed; more than the policy allows is refused.
    Without TABLE the rows are those that the policy names; those of a TABLE are released under its
    name.

    **Examples**

        shoal anonymize apply newcomers.csv --policy visits.yaml --cut visits.released.manifest.json
        shoal anonymize apply --policy newcomers.yaml --cut out.manifest.json --new-people
    """
    if cut is None:
        raise InvalidPolicy(
            "The manifest is missing.",
            sentence("Name the first release's manifest with {cut}."),
            setting="cut",
        )
    from shoal.jobs import release_table

    rules, engines, say = _read(policy), Engines(engine, master), Output(json, quiet)
    with say.progress(3) as progress:
        released = release_table(
            rules,
            progress,
            table=table,
            engines=engines,
            title=title,
            publisher=publisher,
            population=population,
            manifest=cut,
            new_people=new_people,
            overwrite=overwrite,
        )
    _print_release(released, say, explain)


@anonymize_app.command()
@takes(options=ANONYMIZE_CHECK)
def check(
    table: str,
    policy: Path | None = None,
    engine: Engine = "local",
    master: str | None = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure k, l, t and the risk of any table, by counting it. Exit code 1: a promise is broken.

    The table may be a release or the rows themselves; the policy says which columns are what.

    **Examples**

        shoal anonymize check visits.released.csv --policy visits.yaml
    """
    from shoal.anonymize import recount
    from shoal.pages.table import check_summary

    rules, say = _read(policy), Output(json, quiet)
    with say.progress(1) as progress, Engines(engine, master).table(table, progress) as source:
        progress.step("Counting rows")
        achieved = recount(source, rules)
    broken = achieved.broken(rules)
    summary = check_summary(rules, achieved, broken)
    say.result(summary.values, *summary.lines)
    if broken:
        raise typer.Exit(1)


@anonymize_app.command()
@takes(options=ANONYMIZE_INIT)
def init(
    table: str,
    output: Path = Path("policy.yaml"),
    k: int | None = None,
    overwrite: bool = False,
    engine: Engine = "local",
    master: str | None = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draft a policy by looking at a table's columns; every guess is marked for review.

    The draft quotes no rare value, no sentence and no extreme, guesses no column harmless, and
    leaves k open. Columns that may name people are dropped and listed. It is still made from the
    rows: keep it with them until you have reviewed it.

    **Examples**

        shoal anonymize init visits.csv -o visits.yaml
        shoal anonymize init hdfs:///visits.parquet -o visits.yaml --engine spark --master yarn
    """
    from shoal.anonymize.table import table_of
    from shoal.anonymize.table_check import check_names
    from shoal.files import atomic_file, private_file
    from shoal.jobs import draft_policy

    say, engines = Output(json, quiet), Engines(engine, master)
    _refuse_no_path(table)
    with (
        nullcontext() if str(output) == "-" else atomic_file(output, overwrite) as part,
        say.progress(1) as progress,
        engines.table(table, progress) as rows,
    ):
        progress.step("Looking at columns")
        read = table_of(rows)
        check_names(read, f"'{table.rstrip('/').rsplit('/', 1)[-1]}'")
        drafted = draft_policy(read, _path_from_policy(table, output), k)
        if part is None:
            write_text(drafted.text)
            return
        private_file(part).write_text(drafted.text, encoding="utf-8")
    roles = [f"{name}: {role}" for name, role in drafted.roles.items()]
    doubts = [f"{name}: {doubt}." for name, doubt in drafted.doubts.items()]
    say.result(
        {
            "policy": str(output),
            "roles": drafted.roles,
            "person": drafted.person,
            "look_twice": drafted.doubts,
        },
        *labelled_lines("Guessed", roles),
        *labelled_lines("Check", doubts),
        Line("Names", "Column names were taken from the table's first line: check them."),
        Line("Policy", str(output), is_literal=True),
        Line("People", _people_text(drafted.person)),
        Line("Next", f"Review every line marked REVIEW{'' if k else ' and set k'}, then run"),
        Line("", f"shoal anonymize --policy {shlex.quote(str(output))} --dry-run", is_literal=True),
    )


def _people_text(person: str | None) -> str:
    if person is None:
        return "Each row is taken as one person; if somebody has several, name `person` there."
    return f"{person} is taken to tell people apart, who have several rows."


@anonymize_app.command()
@takes(options=ANONYMIZE_EXPLORE)
def explore(
    policy: Path | None = None,
    output: Path = Path("explore.curator.html"),
    k: str = "5,10,50",
    suppression: str = "0,0.02,0.05",
    recoding: str = "global,local",
    overwrite: bool = False,
    engine: Engine = "local",
    master: str | None = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Try several k, suppressions and recodings, and show the loss and the risk of each.

    The table is read once, and nothing is released. Trials are kept beside the page, in a file
    with the ending `.json`: started again after it was stopped, the command goes on where it was.
    Page and file depend on all rows and can be read by you only; do not pass them on.

    **Examples**

        shoal anonymize explore --policy visits.yaml
        shoal anonymize explore --policy visits.yaml -k 5,10,20 --suppression 0,0.05
    """
    from shoal.anonymize import TrialFile, settings_to_explore
    from shoal.anonymize import explore as try_settings
    from shoal.cli._output import write_page
    from shoal.jobs import search_progress, source_of_policy
    from shoal.pages.exploration import page as exploration_page

    rules, say, engines = _read(policy), Output(json, quiet), Engines(engine, master)
    recodings: Any = [kind.strip() for kind in recoding.split(",")]
    settings = settings_to_explore(
        _numbers("k", k, int), _numbers("suppression", suppression, float), recodings
    )
    source = source_of_policy(rules)
    trials = TrialFile(_trials_path(output), rules, source, overwrite)
    with say.progress(1) as progress, engines.table(source, progress) as rows:
        progress.step("Trying settings")
        search = search_progress(progress)
        made = try_settings(
            rules,
            rows,
            settings,
            trials,
            lambda done, of: search(f"setting {done} of {of}", done / of),
        )
    page = exploration_page(made)
    replace_page = overwrite or trials.is_resumed
    write_page(page, output, page.values, overwrite=replace_page, private=True)
    files = {"page": str(output), "trials": str(trials.path)}
    places = [Line(name.capitalize(), path, is_literal=True) for name, path in files.items()]
    say.result({**page.values, "files": files}, *page.lines, *places)


@anonymize_app.command()
@takes(options=ANONYMIZE_UTILITY)
def utility(
    policy: Path | None = None,
    target: str | None = None,
    engine: Engine = "local",
    master: str | None = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare how well a column is predicted from the table and from its release.

    Reads the policy's table and the release it wrote. The answer depends on the original rows: it
    is for you only.

    **Examples**

        shoal anonymize utility --policy visits.yaml --target outcome
    """
    from shoal.anonymize.release import paths_of
    from shoal.anonymize.utility import classification_report
    from shoal.jobs import source_of_policy
    from shoal.pages.table_utility import classification_summary

    rules, say = _read(policy), Output(json, quiet)
    if target is None:
        raise InvalidSetting(
            "The column to predict is missing.",
            sentence("Name it with {target}."),
            setting="target",
        )
    released = paths_of(rules).table
    if engine != "local" or is_uri(source_of_policy(rules)):
        raise InvalidSetting(
            "A release is compared with its table on one machine only.",
            sentence("Copy both here, and leave {engine} out."),
            setting="engine",
        )
    with say.progress(1) as progress:
        progress.step("Training models")
        report = classification_report(rules, source_of_policy(rules), released, target)
    summary = classification_summary(report)
    say.result(summary.values, *summary.lines)


def _numbers(name: str, text: str, kind: Callable[[str], Any]) -> list[Any]:
    """The numbers of a list such as 5,10,50."""
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        example = "5,10,50" if kind is int else "0,0.02,0.05"
        raise InvalidSetting(
            setting(name) + " must be numbers with commas between them.",
            "E.g. " + setting(name, example) + ".",
        ) from None


def _trials_path(page: Path) -> Path:
    if page.suffix == ".json":
        raise InvalidSetting(
            sentence("{output} is the page; trials are kept beside it, with the ending .json."),
            sentence("E.g. {output:explore.curator.html}."),
        )
    return page.with_suffix(".json")


def _print_release(released: "ReleasedTable", say: Output, explain: bool) -> None:
    """Print what the page says, where the files are, and what is for the holder alone."""
    from shoal.pages import table as table_pages
    from shoal.pages.table_explanation import column_texts, explanation_lines

    finished = released.result
    policy = finished.policy
    values: dict[str, Any] = {**released.page.values, "files": dict(released.files)}
    if explain:
        values["for_the_holder_alone"] = column_texts(finished)
        values["advice_for_the_holder_alone"] = table_pages.advice_texts(released.advice)
    places = [
        Line(name.capitalize(), path, is_literal=True) for name, path in released.files.items()
    ]
    warnings = _warnings(values, released.identifying, policy, explain)
    more = explanation_lines(policy, finished) if explain else []
    advised = table_pages.advice_lines(released.advice)
    say.result(values, *released.page.lines, *places, *warnings, *advised, *more)


def _warnings(
    values: dict[str, Any], rare: Mapping[str, float], policy: "Policy", explain: bool
) -> list[Line]:
    """Warnings for the holder of the rows; in the document only beside what --explain adds."""
    from shoal.pages.table import rare_lines

    lines = rare_lines(rare, policy.privacy.k)
    if lines and explain:
        values["warnings_for_the_holder_alone"] = lines
    return labelled_lines("Warning", lines)


def _print_check(
    checked: "Preview", policy: "Policy", say: Output, explain: bool, marked: int
) -> None:
    """Print all that can be said without a search."""
    from shoal.anonymize.release import paths_of
    from shoal.pages.table_explanation import explanation_lines, role_texts

    problem = checked.problem
    counts = {"rows": problem.N, "combinations": len(problem.n), "may_be_left_out": problem.budget}
    counted = (
        f"{quantity(problem.N, 'row')} in {quantity(len(problem.n), 'different combination')}; "
        f"{problem.budget:,} may be left out."
    )
    paths, roles = paths_of(policy), role_texts(policy)
    document = {"valid": True, **counts, "roles": roles, "table": str(paths.table)}
    warnings = _warnings(document, checked.identifying, policy, explain)
    say.result(
        document,
        Line("Valid", "The policy fits the table. Nothing was written."),
        Line("Read", counted),
        *([Line("Review", _review_text(marked))] if marked else []),
        *warnings,
        *(explanation_lines(policy, None) if explain else []),
    )


def _marked(path: Path | None) -> int:
    """Return how many lines of a policy its draft left for review."""
    from shoal.jobs.drafts import REVIEW

    return 0 if path is None else path.read_text(encoding="utf-8").count(REVIEW)


def _review_text(marked: int) -> str:
    return (
        f"{quantity(marked, 'line')} of the policy still carry the mark REVIEW: what was guessed "
        "from the table there is published as if it were public."
    )


def _read(path: Path | None) -> "Policy":
    from shoal.anonymize import read_policy

    if path is None:
        raise InvalidPolicy(
            "The policy is missing.",
            sentence("Name it with {policy}; `shoal anonymize init TABLE` drafts one."),
            setting="policy",
        )
    return read_policy(path)


def _refuse_no_path(table: str) -> None:
    if table == "-":
        raise InvalidPolicy(
            "A policy needs the path of its table; standard input has none.", "Name a file."
        )


def _path_from_policy(table: str, policy: Path) -> str:
    """The table's path as the policy's folder sees it."""
    import os

    if is_uri(table):
        return table
    return os.path.relpath(os.path.abspath(table), policy.absolute().parent)
