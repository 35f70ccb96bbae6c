"""Release a table under a policy; or say beforehand what a release would be."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InvalidPolicy
from shoal.jobs._engine import Engines
from shoal.jobs._progress import Progress
from shoal.jobs._table_inputs import is_uri

if TYPE_CHECKING:
    from shoal.anonymize import Policy, RunResult
    from shoal.anonymize.advice import Advice
    from shoal.anonymize.search_problem import Problem, SearchOutcome
    from shoal.pages.page import Page


@dataclass(frozen=True)
class ReleasedTable:
    """A released table: what its page says, where it lies, and what only its holder is told.

    Parameters
    ----------
    result
        The run.
    page
        What the page says, as data.
    files
        The path of each file, by what it is.
    identifying
        Published columns that identify people, with the share of rows: for the holder alone.
    advice
        What the holder could change.
    """

    result: "RunResult"
    page: "Page"
    files: Mapping[str, str]
    identifying: Mapping[str, float]
    advice: "tuple[Advice, ...]"


@dataclass(frozen=True)
class Preview:
    """What a release under a policy would be, for the holder of the rows alone.

    Parameters
    ----------
    problem
        The lines of the table and the rules.
    outcome
        The labels and suppressed lines that a release would have; None if nothing was searched.
    identifying
        Published columns that identify people, with the share of rows.
    advice
        What could be changed, and what that would give.
    """

    problem: "Problem"
    outcome: "SearchOutcome | None"
    identifying: Mapping[str, float]
    advice: "tuple[Advice, ...]" = ()


def release_table(
    policy: "Policy",
    progress: Progress | None = None,
    *,
    table: str | None = None,
    engines: Engines | None = None,
    title: str | None = None,
    publisher: str | None = None,
    population: Path | None = None,
    manifest: Path | None = None,
    new_people: bool = False,
    overwrite: bool = False,
) -> ReleasedTable:
    """Release a policy's table: generalised, counted again, with manifest and pages.

    Parameters
    ----------
    policy
        What is promised, and where things are.
    progress
        Where three steps are shown; None for nowhere.
    table
        Another table than the policy's, e.g. of new people; released beside it under a name of its
        own.
    engines
        Who reads the rows; None for this machine.
    title
        The title of the page.
    publisher
        Who publishes it.
    population
        A table of the population, for the journalist's risk.
    manifest
        The manifest of an earlier release whose cut is kept.
    new_people
        Whether it is stated that nobody of this table was in an earlier release.
    overwrite
        Whether older files may be replaced.

    Examples
    --------
    >>> from shoal.anonymize import Policy
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "rows.csv").write_text("sex\\n" + "F\\nM\\n" * 20)
    >>> policy = Policy.of({"version": 1, "input": {"path": "rows.csv"}, "privacy": {"k": 3},
    ...     "attributes": {"sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}}},
    ...     "output": {"path": "released.csv"}}, folder)
    >>> sorted(release_table(policy).files)
    ['manifest', 'mapping', 'page', 'table', 'yours']
    """
    from shoal.anonymize import run_policy
    from shoal.anonymize.advice import advise
    from shoal.anonymize.table import table_of
    from shoal.anonymize.table_check import find_identifying_columns
    from shoal.pages import table as table_pages

    progress = Progress() if progress is None else progress
    policy = policy if table is None else _policy_of(policy, table)
    identifying: dict[str, float] = {}
    advice: list[Advice] = []
    shown: list[Page] = []
    with _rows(policy, engines, progress) as rows:
        progress.step("Reading rows")

        def pages(done: "RunResult") -> dict[Path, str]:
            identifying.update(find_identifying_columns(policy, table_of(rows)))
            advice.extend(advise(policy, done.frequency.problem, done.outcome))
            context = table_pages.TableContext(title, publisher, population, identifying, advice)
            shown.append(table_pages.page(done, context))
            return table_pages.page_files(done, shown[-1])

        finished = run_policy(
            policy,
            rows,
            manifest=manifest,
            new_people=new_people,
            pages=pages,
            overwrite=overwrite,
            progress=search_progress(progress),
        )
    return ReleasedTable(finished, shown[-1], _files(finished), identifying, tuple(advice))


def _policy_of(policy: "Policy", table: str) -> "Policy":
    """Return a policy for another table, with files that are called after it."""
    from shoal.jobs.drafts import released_path

    path = table if is_uri(table) else str(Path(table).absolute())
    out = released_path(path)
    if policy.output.path is not None and not is_uri(table):
        out = str(Path(policy.output.path).parent / out)
    files = {"path": out, "mapping": None, "manifest": None, "report": None}
    return policy.model_copy(
        update={
            "input": policy.input.model_copy(update={"path": path}),
            "output": policy.output.model_copy(update=files),
        }
    )


def check_table(
    policy: "Policy", progress: Progress | None = None, *, engines: Engines | None = None
) -> Preview:
    """Hold a table against its policy without a search; nothing is written.

    Parameters
    ----------
    policy
        What is promised, and where the table is.
    progress
        Where one step is shown; None for nowhere.
    engines
        Who reads the rows; None for this machine.
    """
    return _look(policy, Progress() if progress is None else progress, engines, is_searched=False)


def preview(
    policy: "Policy", progress: Progress | None = None, *, engines: Engines | None = None
) -> Preview:
    """Find what a release would be, and what could be better; nothing is written.

    Parameters
    ----------
    policy
        What is promised, and where the table is.
    progress
        Where two steps are shown; None for nowhere.
    engines
        Who reads the rows; None for this machine.

    Examples
    --------
    >>> from shoal.anonymize import Policy
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "rows.csv").write_text("sex\\n" + "F\\nM\\n" * 20)
    >>> policy = Policy.of({"version": 1, "input": {"path": "rows.csv"}, "privacy": {"k": 3},
    ...     "attributes": {"sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}}},
    ...     "output": {"path": "released.csv"}}, folder)
    >>> seen = preview(policy)
    >>> seen.problem.N, seen.outcome.suppressed.any(), len(list(folder.iterdir()))
    (40, np.False_, 1)
    """
    return _look(policy, Progress() if progress is None else progress, engines, is_searched=True)


def source_of_policy(policy: "Policy") -> str:
    """Return where a policy's table is; a path without a scheme starts at the policy's folder.

    Parameters
    ----------
    policy
        The policy, which must name a table.
    """
    source = policy.input.path
    if source is None:
        raise InvalidPolicy("input.path is missing.", "Set it to the table's path.")
    return source if is_uri(source) else str(policy.path(source))


def search_progress(progress: Progress) -> Callable[[str, float], None]:
    """Return a callback that says what a search does, in words.

    Parameters
    ----------
    progress
        Who is told.
    """

    def show(what: str, share: float) -> None:
        progress.describe(f"Searching: {what}, {100 * share:.0f} %")

    return show


def _look(
    policy: "Policy", progress: Progress, engines: Engines | None, *, is_searched: bool
) -> Preview:
    from shoal.anonymize import count_combinations
    from shoal.anonymize.advice import advise
    from shoal.anonymize.search._run_search import find_outcome
    from shoal.anonymize.table import table_of
    from shoal.anonymize.table_check import find_identifying_columns

    with _rows(policy, engines, progress) as rows:
        progress.step("Counting rows")
        table = table_of(rows)
        frequency = count_combinations(policy, table)
        identifying = find_identifying_columns(policy, table)
        if not is_searched:
            return Preview(frequency.problem, None, identifying)
        progress.step("Searching")
        outcome = find_outcome(policy, frequency, progress=search_progress(progress))
    advice = advise(policy, frequency.problem, outcome)
    return Preview(frequency.problem, outcome, identifying, tuple(advice))


@contextmanager
def _rows(policy: "Policy", engines: Engines | None, progress: Progress) -> Iterator[Any]:
    with (engines or Engines()).table(source_of_policy(policy), progress) as rows:
        yield rows


def _files(finished: "RunResult") -> dict[str, str]:
    paths = finished.paths
    mapping = {"mapping": paths.mapping} if finished.outcome.cut is not None else {}
    pages = {"page": paths.report, "yours": paths.curator}
    files = {"table": paths.table, **mapping, "manifest": paths.manifest, **pages}
    shown = {
        name: _path_text(path, finished.policy.output.path or "") for name, path in files.items()
    }
    return shown | ({} if paths.people is None else {"people": str(paths.people)})


def _path_text(path: Path, table: str) -> str:
    """Return a path as it would be written: in it, a scheme such as ``hdfs://`` lost a slash."""
    folder = table.rsplit("/", 1)[0]
    beside = is_uri(table) and path.parent == Path(folder)
    return f"{folder}/{path.name}" if beside else str(path)
