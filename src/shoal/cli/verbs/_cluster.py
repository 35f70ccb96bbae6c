"""``shoal cluster``: find the groups in a file, and leave a folder that may be published."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shoal.cli._options import (
    Cells,
    Choose,
    Columns,
    Curator,
    Delta,
    Domain,
    Drop,
    Engine,
    Entity,
    Epsilon,
    Folder,
    Groups,
    Json,
    LedgerFile,
    Level,
    Master,
    MaxRows,
    MethodName,
    Names,
    Neighbours,
    Numbers,
    Overwrite,
    PublicNumber,
    PublicRows,
    PublishAnyway,
    Publisher,
    Quiet,
    Seed,
    Selector,
    Table,
    Title,
    Variant,
    Wavelet,
)
from shoal.cli._output import Output, ledger_line
from shoal.errors import InvalidSetting
from shoal.jobs.clustering import (
    METHODS,
    Options,
    WaveOptions,
    flags_of,
    method_named,
    parse_groups,
    public_rows,
)
from shoal.jobs.engine import Engines
from shoal.jobs.for_holder import (
    changed_row_texts,
    check_curator_page,
    print_for_curator,
    write_curator_page,
)
from shoal.jobs.group_names import (
    check_names,
    is_model_folder,
    name_groups,
    parse_names,
)
from shoal.jobs.progress import Progress
from shoal.jobs.resume import (
    has_resumed,
    is_resumable,
    note_spending,
    resumed_lines,
    work_description,
)
from shoal.jobs.table_inputs import (
    box_of,
    budget_of,
    labelled_domain,
    mixed_schema_of,
    schema_of,
)
from shoal.pages.page import NOT_PUBLISHED, Line

if TYPE_CHECKING:
    from shoal.domain import Schema
    from shoal.engine import Rows
    from shoal.pages.page import Page


def cluster(
    table: Table,
    method: MethodName = "kmeans",
    groups: Groups = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    columns: Columns = None,
    domain: Domain = None,
    output: Folder = Path("model"),
    overwrite: Overwrite = False,
    curator: Curator = None,
    entity: Entity = None,
    max_rows_per_person: MaxRows = None,
    neighbours: Neighbours = "add-remove",
    n_public: PublicNumber = None,
    drop: Drop = False,
    choose: Choose = None,
    init: PublicRows = None,
    title: Title = None,
    publisher: Publisher = None,
    publish_anyway: PublishAnyway = False,
    names: Names = None,
    variant: Variant = None,
    cells: Cells = None,
    selector: Selector = None,
    level: Level = None,
    wavelet: Wavelet = None,
    engine: Engine = "local",
    master: Master = None,
    numbers: Numbers = None,
    ledger: LedgerFile = None,
    seed: Seed = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the groups in a table with differential privacy, and write what may be published.

    Writes a folder: the noisy cells, with `centers.csv` or the group of each cell; for a table with
    categories `profiles.csv`, what is typical of each group; `model.json` for `shoal.load_model`;
    and `report.html`, a page that says what was found and what each person was promised. Everything
    in it may be published. Files larger than memory are read in pieces. How many rows were left out
    or moved to the edge of the bounds is for you only: it appears in your terminal and on the page
    that --curator writes. If no group can be distinguished from noise, the page does not show any,
    and the exit code is 1.

    **Examples**

        shoal cluster visits.csv -k 8 --epsilon 1 --domain visits.yaml -o model
        shoal cluster visits.csv -k 2-12 --epsilon 1 --domain visits.yaml --ledger visits.ledger
        shoal cluster trips.parquet -k 20 --epsilon 1 --domain city.yaml --entity rider
            --max-rows-per-person 10
        shoal cluster students.csv -k 6 --epsilon 1 --domain students.yaml -o groups
        shoal cluster class.csv -k 3 --epsilon 1 --domain class.yaml --init last_year.csv
        shoal cluster groups --names titles.txt -o named
        shoal cluster visits.csv --method wave --epsilon 1 --domain visits.yaml
        zcat visits.csv.gz | shoal cluster - -k 8 --epsilon 0.5 --domain visits.yaml --json
        shoal cluster hdfs:///visits.parquet -k 8 --epsilon 1 --domain visits.yaml --engine spark
            --master yarn

    where `visits.yaml` holds what is public about the columns, stated without looking:

        version: 1
        columns: {age: {low: 0, high: 110}, visits: {low: 0, high: 20}}

    and `students.yaml` categories too: `sex: {values: [F, M]}`, `level: {levels: [basic, higher]}`.

    The folder of an earlier run with --names is the same groups under your titles: it reads no rows
    and costs nothing.
    """
    from shoal.cluster.model_folder import check_replaceable
    from shoal.cluster.totals import ignore_no_groups_warning
    from shoal.files import file_set, named_failure

    chosen, say = method_named(method), Output(json, quiet)
    if is_model_folder(table):
        _check_unused(k=groups, epsilon=epsilon, domain=domain, ledger=ledger, curator=curator)
        return _write_named(
            Path(table), names, output, overwrite, title, publisher, publish_anyway, say
        )
    engines = Engines(engine, master, numbers)
    budget = budget_of(epsilon, "release")
    _check_paths(table, domain, output, ledger, init, curator)
    schema = schema_of(domain)
    entity, limit = entity or schema.entity, _row_limit(schema, entity, max_rows_per_person)
    mixed = mixed_schema_of(schema, columns, domain, method)
    if mixed is not None:
        method, chosen = "prototypes", method_named("prototypes")
        mixed = replace(mixed, entity=entity, max_rows_per_person=limit)
    box = None if mixed is not None else box_of(schema, columns, domain)
    options = Options(
        method=method,
        epsilon=budget,
        box=box,
        schema=mixed,
        n_clusters=parse_groups(groups),
        choose=choose,
        delta=delta,
        neighbours=neighbours,
        entity=entity,
        max_rows_per_person=limit,
        n_public=n_public,
        drop=drop,
        ledger=ledger,
        seed=seed,
        init=None if init is None else public_rows(init, box),
        waves=WaveOptions(variant, cells, selector, level, wavelet),
    )
    titles = _titles(names, options)
    with ExitStack() as stack:
        progress = stack.enter_context(say.progress(3))
        stack.enter_context(flags_of(method).shown())
        model = chosen.build(options)
        model.set_params(domain=labelled_domain(model.domain, schema))
        source = stack.enter_context(engines.table(table, progress))
        check_replaceable(output)
        outputs = stack.enter_context(file_set(output, overwrite))
        stdin = {source: outputs.key} if table == "-" else None
        settings = options.work | ({} if numbers is None else {"numbers": numbers})
        work = work_description("cluster", table, engines.is_distributed, seed, settings, stdin)
        payment = stack.enter_context(_paying(model, work, ledger))
        outputs.work_for(payment.run, payment.is_spent)
        stack.enter_context(named_failure(output))
        progress.step("Checking rows")
        folder = outputs.folder(output)
        curator_part = None if curator is None else outputs.file(curator)
        rows = _rows(source, options, progress)
        progress.step("Finding groups")
        with ignore_no_groups_warning():  # lines, page and document say so
            name_groups(model.fit(rows), titles)
        holder_lines = changed_row_texts(rows)
        progress.step("Writing the page")
        written = _write_described(model, folder)
        page = import_module(chosen.page).page(model, title=title, publisher=publisher)
        made = _write_page(page, folder, ledger, written, publish_anyway)
        if curator_part is not None:
            write_curator_page(
                curator_part, page.to_result(publish_anyway=True), holder_lines, ledger
            )
        outputs.publish()  # before the ledger forgets the run: else it would pay again
    files = [output / name for name in made]
    _tell(say, page, files, ledger, payment.resumed, publish_anyway, holder_lines)


def _write_described(model: Any, folder: Path) -> list[dict[str, str]]:
    """Compute what the page says beyond the release, once, and write it with the model."""
    from shoal.cluster.model_folder import write_model
    from shoal.planning import describe

    describe(model)
    return write_model(model, folder)


def _titles(names: str | None, options: Options) -> list[str] | None:
    """Parse the titles of --names; refuse them before a row is read."""
    if names is None:
        return None
    if options.method != "prototypes":
        raise InvalidSetting(
            "--names is for groups in a table with categories.",
            "Leave it out, or describe categories in the domain file.",
            setting="--names",
        )
    if options.n_clusters is None or len(options.n_clusters) != 1:
        raise InvalidSetting(
            "--names needs one number of groups.",
            "Name the groups afterwards: shoal cluster FOLDER --names titles.txt -o named.",
            setting="--names",
        )
    return check_names(parse_names(names), options.n_clusters[0])


def _write_named(
    released: Path,
    names: str | None,
    output: Path,
    overwrite: bool,
    title: str | None,
    publisher: str | None,
    publish_anyway: bool,
    say: Output,
) -> None:
    """Write released groups again under the publisher's titles; no row is read, nothing is paid."""
    from shoal.cluster.model_folder import check_replaceable, load_model
    from shoal.files import file_set

    model = load_model(released)
    if names is None or not hasattr(model, "name_groups"):
        raise InvalidSetting(
            f"{released} holds groups that were released, and no rows.",
            "Name a table; or, for groups of a table with categories, add --names titles.txt.",
        )
    name_groups(model, check_names(parse_names(names), model.n_clusters_))
    check_replaceable(output)
    with file_set(output, overwrite) as outputs:
        folder = outputs.folder(output)
        written = _write_described(model, folder)
        page = import_module(METHODS["prototypes"].page).page(
            model, title=title, publisher=publisher
        )
        made = _write_page(page, folder, None, written, publish_anyway)
        outputs.publish()
    _tell(say, page, [output / name for name in made], None, False, publish_anyway, [])


def _tell(
    say: Output,
    page: Any,
    files: list[Path],
    ledger: Path | None,
    resumed: bool,
    publish_anyway: bool,
    holder_lines: list[str],
) -> None:
    """Print what was found and where it lies; exit with 1 if the page may not show it."""
    is_published = page.is_distinct or publish_anyway
    values = {
        "report": str(files[0]),
        "files": [str(file) for file in files],
        "ledger": ledger and str(ledger),
        **page.values,
        "resumed": resumed,
        "published": is_published,
    }
    held = [] if is_published else [Line("Withheld", NOT_PUBLISHED)]
    say.result(values, *resumed_lines(resumed), *page.lines, *held, *_place_lines(files, ledger))
    print_for_curator(holder_lines, quiet=say.json or say.quiet)
    if not is_published:
        raise typer.Exit(1)


def _check_unused(**options: Any) -> None:
    """Refuse options that are for rows, where there are none."""
    for name, value in options.items():
        if value is not None:
            flag = "-k" if name == "k" else f"--{name}"
            raise InvalidSetting(
                f"{flag} is for a table of rows; this folder holds groups that were released.",
                "Leave it out to give the groups other titles, or name a table.",
                setting=flag,
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
def _paying(model: Any, work: dict[str, Any], ledger: Path | None) -> Iterator[_Payment]:
    """The model with a ledger that goes on with an earlier run; failures say what was spent."""
    payment, is_same = _Payment(model, ledger), is_resumable(work)
    payment.entries_before = payment.entries()
    with ExitStack() as stack:
        resumable = ledger is not None and is_same
        stack.enter_context(note_spending(payment.is_spent, resumable=resumable))
        if is_same:
            same = stack.enter_context(model.ledger.resumable(work, by="shoal cluster"))
            model.set_params(ledger=same)
            payment.run = None if same.run is None else same.run.name
            payment.resumed = has_resumed(same)
        yield payment


def _rows(source: Any, options: Options, progress: Progress) -> "Rows":
    from shoal.engine import rows_of

    rows = rows_of(
        source,
        options.schema if options.box is None else options.box,  # type: ignore[arg-type]
        nonfinite="drop" if options.drop else "refuse",
        entity=options.entity,
        max_rows_per_person=options.max_rows_per_person,
    )
    rows.on_progress(progress.count_rows)
    return rows


def _write_page(
    page: "Page",
    folder: Path,
    ledger: Path | None,
    files: list[dict[str, str]],
    publish_anyway: bool,
) -> list[str]:
    """Write the page beside the model's files; the names of all of them, the page first."""
    from shoal.privacy import Ledger
    from shoal.report import findings, write

    known = None if ledger is None else Ledger(ledger)
    listed = files if page.is_distinct or publish_anyway else []
    result = page.to_result(publish_anyway=publish_anyway)
    pages = write(findings(result, ledger=known, files=listed), folder)
    return [path.name for path in pages] + [file["name"] for file in files]


def _place_lines(files: list[Path], ledger: Path | None) -> list[Line]:
    """Where it is, what counts it, and what next."""
    folder = files[0].parent
    return [
        Line("Page", str(files[0]), is_literal=True),
        ledger_line(ledger),
        Line("Next", f'shoal.load_model("{folder}").predict(rows) labels rows, for their holder.'),
    ]


def _row_limit(schema: "Schema", entity: str | None, limit: int | None) -> int | None:
    """How many rows of each are kept: as asked, or as the domain says, if people are told apart."""
    return limit or (schema.max_rows_per_person if entity or schema.entity else None)


def _check_paths(
    table: str,
    domain: Path | None,
    output: Path,
    ledger: Path | None,
    init: Path | None,
    curator: Path | None,
) -> None:
    """Refuse files that would be written over, or read as what they are not."""
    _check_apart(ledger, output)
    _check_public(init, table)
    check_curator_page(curator, output, (table, domain, ledger))


def _check_public(init: Path | None, table: str) -> None:
    if init is not None and init.resolve() == Path(table).resolve():
        raise InvalidSetting(
            "--init names the table itself, whose rows are not public.",
            "Leave it out, or give a file that is public anyway.",
            setting="--init",
        )


def _check_apart(ledger: Path | None, folder: Path) -> None:
    if ledger is not None and ledger.resolve().is_relative_to(folder.resolve()):
        raise InvalidSetting(
            "The ledger is in the folder that will be replaced.",
            "Keep it elsewhere, e.g. --ledger visits.ledger.",
            setting="--ledger",
        )
