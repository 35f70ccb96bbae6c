"""Release the groups of a table, or name the groups that were released before."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shoal.errors import ConflictingSettings, InvalidSetting, sentence, setting
from shoal.files import sweep_scratch
from shoal.jobs._cluster_methods import (
    METHODS,
    ClusterOptions,
    method_named,
    parse_groups,
    public_rows,
)
from shoal.jobs._engine import Engines
from shoal.jobs._features import features_file_of, holder_texts, row_setting
from shoal.jobs._group_names import check_names, name_groups, parse_names
from shoal.jobs._holder_notices import changed_row_texts, check_curator_page, write_curator_page
from shoal.jobs._progress import Progress, tell_spending
from shoal.jobs._resume import has_resumed, is_resumable, note_spending, work_description
from shoal.jobs._table_inputs import box_of, budget_of, labelled_domain, mixed_schema_of, schema_of

if TYPE_CHECKING:
    from shoal.domain import Schema
    from shoal.engine import Rows
    from shoal.pages.groups import CodeFiles
    from shoal.pages.page import Page

# What a page says of the promise, the ledger and the table, and naming groups does not change.
_SAID_BEFORE = ("sentences", "lead", "limits", "limits_in_all", "label", "ledger")


@dataclass(frozen=True, kw_only=True)
class GroupsRequest(ClusterOptions):
    """A release of groups that is asked for: a table, what is public of it, and where it goes.

    Parameters
    ----------
    table
        A CSV or Parquet file, a folder of Parquet files, or ``-`` for standard input; left out with
        ``features``.
    method
        The name of the method, one of ``METHODS``.
    groups
        How many groups: ``8``, a range such as ``2-12``, or ``auto``.
    epsilon
        The budget, exactly as it is written: ``"0.1"``.
    delta
        The chance that the promise fails; None for none.
    columns
        The columns to use, with commas between them; None for all that the domain describes.
    domain_file
        The YAML file of what is public.
    output
        The folder to write.
    overwrite
        Whether an older model may be replaced.
    curator
        A page for the holder alone, to be written outside the folder; None for none.
    person
        The column that tells people apart; None takes the domain's.
    max_rows_per_person
        Most rows kept for each person.
    neighbours
        What is hidden: "add-remove" or "replace-one".
    n_public
        The number of rows, if it is public.
    drop
        Whether rows that lack a number are left out.
    accept_clipping
        Whether to go on where many rows lie outside the bounds; the page then says so.
    choose
        How to choose within a range of groups.
    start
        A file of public rows to start from.
    features
        A features file, which makes the table from others and says what is public of it.
    period
        Another period than the features file's, as ``2026-03-02:2026-12-14``.
    replaced
        Other paths of the features file's tables, as ``log=events-2026/*.parquet``.
    title
        The title of the page.
    publisher
        Who publishes it.
    names
        The publisher's own titles of the groups: a path, or a list with commas.
    waves
        Settings of the method "wave".
    engine
        "local", or "spark" to read the rows on a cluster.
    master
        The address of the cluster.
    numbers
        How numbers are written in the table, if not like 1234.5.
    ledger
        The ledger that the promise is written to.
    seed
        The seed of a simulation, which protects nobody.
    code_files
        The names of files in the code of the page. None takes names that tell nothing: what a table
        is called may be about people, and is published only if somebody says so.
    publish_anyway
        Whether the page shows groups that noise alone would look like.
    box, schema, n_clusters, init
        Found from the others by ``read``.
    """

    table: str = ""
    features: Path | None = None
    period: str | None = None
    replaced: tuple[str, ...] = ()
    groups: str | None = None
    columns: str | None = None
    domain_file: Path | None = None
    output: Path = Path("model")
    overwrite: bool = False
    curator: Path | None = None
    start: Path | None = None
    title: str | None = None
    publisher: str | None = None
    names: str | None = None
    publish_anyway: bool = False
    engine: Literal["local", "spark"] = "local"
    master: str | None = None
    numbers: Literal["1.234,5", "1,234.5"] | None = None
    code_files: "CodeFiles | None" = None

    def read(self) -> "tuple[GroupsRequest, Schema]":
        """Check the request and read what is public; no row is read.

        Returns
        -------
        The request with its bounds and groups, and all that is public about the table.
        """
        budget_of(self.epsilon, "release")
        self._check_paths()
        schema = schema_of(self.domain_file) if self.features is None else self._of_features()
        person = self.person or schema.person
        limit = self.max_rows_per_person
        limit = limit or (schema.max_rows_per_person if person else None)
        mixed = mixed_schema_of(schema, self.columns, self.domain_file, self.method)
        box = None if mixed is not None else box_of(schema, self.columns, self.domain_file)
        if mixed is not None:
            mixed = replace(mixed, person=person, max_rows_per_person=limit)
        ready = replace(
            self,
            method=self.method if mixed is None else "prototypes",
            box=box,
            schema=mixed,
            n_clusters=parse_groups(self.groups),
            person=person,
            max_rows_per_person=limit,
            init=None if self.start is None else public_rows(self.start, box),
        )
        return ready, schema

    def _of_features(self) -> "Schema":
        """Return what is public of the table that a features file makes."""
        given = {
            "domain": self.domain_file,
            "person": self.person,
            "max_rows_per_person": self.max_rows_per_person,
            "numbers": self.numbers,
        }
        for name, value in given.items():
            if value is not None:
                raise ConflictingSettings(
                    setting(name) + " is for a table; a features file says it itself.",
                    "Leave it out.",
                    setting=name,
                )
        file = features_file_of(self.features or Path(), self.period, self.replaced)
        book = None if file.ledger is None else Path(file.path_of(file.ledger))
        if book is not None and (self.ledger is None or self.ledger.resolve() != book.resolve()):
            raise ConflictingSettings(
                "The features file names the ledger of its people, and the run names another or "
                "none.",
                sentence(f"Add {{ledger:{book}}}, where all releases about them are added up."),
                setting="ledger",
            )
        return file.schema

    def _check_paths(self) -> None:
        """Refuse files that would be written over, or read as what they are not."""
        ledger, folder = self.ledger, self.output.resolve()
        if ledger is not None and ledger.resolve().is_relative_to(folder):
            raise InvalidSetting(
                "The ledger is in the folder that will be replaced.",
                sentence("Keep it elsewhere, e.g. {ledger:visits.ledger}."),
                setting="ledger",
            )
        if bool(self.table) == (self.features is not None):
            raise InvalidSetting(
                sentence("A release needs a table or {features}, and not both."),
                sentence("Name the table, or {features:programme/features.yaml}."),
                setting="table",
            )
        if self.features is None and (self.period or self.replaced):
            name = "period" if self.period else "replaced"
            raise ConflictingSettings(
                setting(name) + " is for a features file.",
                sentence("Leave it out, or name the file with {features}."),
                setting=name,
            )
        if self.start is not None and self.start.resolve() == Path(self.table).resolve():
            raise InvalidSetting(
                sentence("{init} names the table itself, whose rows are not public."),
                "Leave it out, or give a file that is public anyway.",
            )
        check_curator_page(self.curator, self.output, (self.table, self.domain_file, ledger))


@dataclass(frozen=True)
class ReleasedGroups:
    """What a job left: what its page says, and where it lies.

    Parameters
    ----------
    page
        What the page says, as data.
    folder
        Where all files lie; it may be published whole if ``is_published``, else its page alone.
    files
        The files in it, the page first.
    ledger
        The ledger that has the promise, or None.
    is_resumed
        Whether an earlier run had paid, and was continued.
    for_holder
        Sentences about rows that were left out or moved: for the holder of the rows alone.
    is_published
        Whether the page shows the groups: not where noise alone would look like them.
    """

    page: "Page"
    folder: Path
    files: tuple[Path, ...]
    ledger: Path | None = None
    is_resumed: bool = False
    for_holder: tuple[str, ...] = ()
    is_published: bool = True

    @property
    def values(self) -> dict[str, Any]:
        """What the command prints as JSON: for the holder alone unless ``is_published``."""
        return {
            "report": str(self.files[0]),
            "files": [str(file) for file in self.files],
            "ledger": self.ledger and str(self.ledger),
            **self.page.values,
            "resumed": self.is_resumed,
            "published": self.is_published,
        }


def release_groups(request: GroupsRequest, progress: Progress | None = None) -> ReleasedGroups:
    """Find the groups of a table with differential privacy, and write what may be published.

    Everything is written, or nothing; a run that was killed after it had paid is continued by the
    same request without paying again.

    Parameters
    ----------
    request
        What is asked for.
    progress
        Where three steps are shown; None for nowhere.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "ages.csv").write_text("age\\n" + "20\\n60\\n" * 300)
    >>> _ = (folder / "ages.yaml").write_text("version: 1\\ncolumns: {age: {low: 0, high: 99}}\\n")
    >>> released = release_groups(
    ...     GroupsRequest(
    ...         table=str(folder / "ages.csv"),
    ...         groups="2",
    ...         epsilon="1",
    ...         domain_file=folder / "ages.yaml",
    ...         output=folder / "model",
    ...         seed=1,
    ...     )
    ... )
    >>> released.files[0].name
    'report-simulation.html'
    """
    from shoal.cluster.group_sizes import ignore_no_groups_warning
    from shoal.cluster.model_folder import check_replaceable
    from shoal.files import file_set, named_failure

    progress = Progress() if progress is None else progress
    method_named(request.method)
    engines = Engines(request.engine, request.master, request.numbers)
    request, schema = request.read()
    method = METHODS[request.method]
    titles = _titles(request)
    output = request.output
    with ExitStack() as stack:
        model = method.build(request)
        model.set_params(domain=labelled_domain(model.domain, schema))
        source = stack.enter_context(_table(request, engines, progress))
        check_replaceable(output)
        outputs = stack.enter_context(file_set(output, request.overwrite))
        stdin = {source: outputs.key} if request.table == "-" else None
        tell_spending(model.ledger, progress)
        work = _work(request, engines, stdin)
        if request.features is not None and is_resumable(work):
            work |= {"files": source.files(), "features": source.file.digest}
        payment = stack.enter_context(_paying(model, work, request))
        outputs.work_for(payment.run, payment.is_spent)
        stack.enter_context(named_failure(output))
        progress.step("Checking rows")
        folder = outputs.folder(output)
        curator_part = None if request.curator is None else outputs.file(request.curator)
        if request.features is not None:
            source.on_progress(progress.count_rows)
        rows = _rows(source, request, progress)
        progress.step("Finding groups")
        with ignore_no_groups_warning():  # lines, page and document say so
            name_groups(model.fit(rows), titles)
        for_holder = changed_row_texts(rows)
        if request.features is not None:
            for_holder = [*holder_texts(source), *for_holder]
        progress.step("Writing the page")
        written = _write_described(model, folder)
        page = _page_of(model, request)
        if request.features is not None:
            page = replace(
                page,
                settings={**page.settings, "rows": row_setting(source, _columns_used(request))},
            )
        made = _write_page(page, folder, request, written)
        if curator_part is not None:
            shown = page.to_result(publish_anyway=True)
            write_curator_page(curator_part, shown, for_holder, request.ledger)
        outputs.publish()  # before the ledger forgets the run: else it would pay again
    files = tuple(output / name for name in made)
    return ReleasedGroups(
        page=page,
        folder=output,
        files=files,
        ledger=request.ledger,
        is_resumed=payment.resumed,
        for_holder=tuple(for_holder),
        is_published=_is_published(page, request),
    )


def name_released(request: GroupsRequest) -> ReleasedGroups:
    """Write released groups again under the publisher's titles; nothing is read or paid.

    Title and publisher of the page, and what it said of the ledger, stay as they were.

    Parameters
    ----------
    request
        Its table is the folder of an earlier release; only titles and output are asked for.
    """
    from shoal.cluster import load_model
    from shoal.cluster.model_folder import check_replaceable
    from shoal.files import file_set

    released, output = Path(request.table), request.output
    _check_unused(request)
    model = load_model(released)
    if request.names is None or not hasattr(model, "name_groups"):
        raise InvalidSetting(
            f"{released} holds groups that were released, and no rows.",
            sentence(
                "Name a table; or, for groups of a table with categories, add {names:titles.txt}."
            ),
        )
    name_groups(model, check_names(parse_names(request.names), model.n_clusters_))
    check_replaceable(output)
    earlier = _earlier_findings(released, model)
    settings = earlier.get("settings", {})
    title = request.title or settings.get("title")
    publisher = request.publisher or settings.get("publisher")
    with file_set(output, request.overwrite) as outputs:
        folder = outputs.folder(output)
        written = _write_described(model, folder)
        request = replace(request, title=title, publisher=publisher)
        page = _page_of(model, request)
        made = _write_page(page, folder, request, written, earlier)
        outputs.publish()
    files = tuple(output / name for name in made)
    return ReleasedGroups(page, output, files, is_published=_is_published(page, request))


def _write_described(model: Any, folder: Path) -> list[dict[str, str]]:
    """Compute what the page says beyond the release, once, and write it with the model."""
    from shoal.cluster import write_model
    from shoal.planning import describe

    describe(model)
    return write_model(model, folder)


def _is_published(page: "Page", request: GroupsRequest) -> bool:
    return page.is_distinct or request.publish_anyway


def _page_of(model: Any, request: GroupsRequest) -> "Page":
    from shoal.pages import groups

    about: dict[str, Any] = {"title": request.title, "publisher": request.publisher}
    if request.code_files is not None:
        about["files"] = request.code_files
    return groups.page(model, **about)


def _titles(request: GroupsRequest) -> list[str] | None:
    """Parse the titles that were given; refuse them before a row is read."""
    if request.names is None:
        return None
    if request.method != "prototypes":
        raise InvalidSetting(
            sentence("{names} is for groups in a table with categories."),
            "Leave it out, or describe categories in the domain file.",
        )
    if request.n_clusters is None or len(request.n_clusters) != 1:
        raise InvalidSetting(
            sentence("{names} needs one number of groups."),
            "Name the groups afterwards: shoal cluster FOLDER --names titles.txt -o named.",
        )
    return check_names(parse_names(request.names), request.n_clusters[0])


def _check_unused(request: GroupsRequest) -> None:
    """Refuse settings that are for rows, where there are none."""
    given = {
        "n_clusters": request.groups,
        "epsilon": request.epsilon,
        "domain": request.domain_file,
        "ledger": request.ledger,
        "curator": request.curator,
    }
    for name, value in given.items():
        if value is not None:
            raise InvalidSetting(
                setting(name)
                + " is for a table of rows; this folder holds groups that were released.",
                "Leave it out to give the groups other titles, or name a table.",
            )


@dataclass
class _Payment:
    """Whether this run has paid, or an earlier one for it, in a ledger that outlives it."""

    model: Any
    ledger: Path | None
    run: str | None = None  # the name of one that can be resumed
    resumed: bool = False
    entries_before: int = 0

    def entries(self) -> int:
        """How many promises the ledger holds."""
        return 0 if self.ledger is None else int(self.model.ledger.entries().num_rows)

    def is_spent(self) -> bool:
        """Whether a failure from here on has cost budget."""
        return self.resumed or self.entries() > self.entries_before


@contextmanager
def _paying(model: Any, work: dict[str, Any], request: GroupsRequest) -> Iterator[_Payment]:
    """The model with a ledger that goes on with an earlier run; failures say what was spent."""
    payment, is_same = _Payment(model, request.ledger), is_resumable(work)
    payment.entries_before = payment.entries()
    with ExitStack() as stack:
        resumable = request.ledger is not None and is_same
        stack.enter_context(note_spending(payment.is_spent, resumable=resumable))
        if is_same:
            same = stack.enter_context(model.ledger.resumable(work, by="shoal cluster"))
            model.set_params(ledger=same)
            payment.run = None if same.run is None else same.run.name
            payment.resumed = has_resumed(same)
        yield payment


def _work(
    request: GroupsRequest, engines: Engines, stdin: Mapping[str, bytes] | None
) -> dict[str, Any]:
    numbers = {} if request.numbers is None else {"numbers": request.numbers}
    settings, is_distributed = request.work | numbers, engines.is_distributed
    table = request.table if request.features is None else str(request.features)
    return work_description("cluster", table, is_distributed, request.seed, settings, stdin)


@contextmanager
def _table(request: GroupsRequest, engines: Engines, progress: Progress) -> Iterator[Any]:
    """Yield the table that is named, or the one that a features file makes."""
    if request.features is None:
        with engines.table(request.table, progress) as source:
            yield source
        return
    from shoal.engine import features

    if engines.is_distributed:
        raise ConflictingSettings(
            sentence("{features} reads its tables on this machine."),
            sentence(
                "Leave {engine} out; or make the table with shoal.features from Spark frames."
            ),
            setting="features",
        )
    sweep_scratch()
    yield features(features_file_of(request.features, request.period, request.replaced))


def _columns_used(request: GroupsRequest) -> tuple[str, ...]:
    domain = request.schema if request.box is None else request.box
    assert domain is not None
    return tuple(domain.names if request.box is not None else domain.columns)  # type: ignore[union-attr]


def _rows(source: Any, request: GroupsRequest, progress: Progress) -> "Rows":
    from shoal.engine import rows_of

    rows = rows_of(
        source,
        request.schema if request.box is None else request.box,  # type: ignore[arg-type]
        nonfinite="drop" if request.drop else "refuse",
        person=request.person,
        max_rows_per_person=request.max_rows_per_person,
    )
    rows.on_progress(progress.count_rows)
    return rows


def _write_page(
    page: "Page",
    folder: Path,
    request: GroupsRequest,
    files: list[dict[str, str]],
    earlier: Mapping[str, Any] | None = None,
) -> list[str]:
    """Write the page beside the model's files; the names of all of them, the page first."""
    from shoal.pages import findings, write
    from shoal.privacy import Ledger

    known = None if request.ledger is None else Ledger(request.ledger)
    result = page.to_result(publish_anyway=request.publish_anyway)
    listed = files if _is_published(page, request) else []
    content = findings(result, ledger=known, files=listed)
    if earlier:
        content |= {name: earlier[name] for name in _SAID_BEFORE if name in earlier}
        kept = ("code", "rows")
        content["settings"] |= {n: v for n, v in earlier["settings"].items() if n in kept}
    pages = write(content, folder)
    return [path.name for path in pages] + [file["name"] for file in files]


def _earlier_findings(folder: Path, model: Any) -> Mapping[str, Any]:
    """Return what the page in a folder says, if it is of the same promise; else nothing."""
    from shoal.documents import parse_json

    mark = "-simulation" if model.guarantee_.simulation else ""
    try:
        content = parse_json((folder / f"report{mark}.json").read_text(encoding="utf-8"))
        known = content["schema"], content["audience"], content["guarantee"]
        content["settings"]["code"]
    except (OSError, ValueError, KeyError, TypeError):  # a model may be saved without a page
        return {}
    own = ("shoal.report/1", "public", model.guarantee_.to_dict())
    return content if known == own else {}
