"""``shoal perturb``: report the rows of a file through a local mechanism, in one stream."""

import json as json_format
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli._flags import Flags
from shoal.cli._options import Columns, Domain, Engine, Json, LedgerFile, Master, Quiet, Seed, Table
from shoal.cli._output import Output, Progress, ledger_line
from shoal.cli.inputs._clustering import parse_groups
from shoal.cli.inputs._engine import Engines
from shoal.cli.inputs._mechanism import Name, Settings, build, columns_of, mechanism_name, remap_of
from shoal.cli.inputs._report_file import check_apart, check_format, output_place, sidecar_of
from shoal.cli.inputs._resume import (
    has_resumed,
    is_resumable,
    note_spending,
    resumed_lines,
    work_description,
)
from shoal.cli.inputs._round_reports import RoundsTask, choose_mechanism, rounds_task
from shoal.cli.inputs._table import budget_of, show_row_count
from shoal.documents import parse_json
from shoal.errors import (
    DimensionMismatch,
    InvalidDomain,
    InvalidSetting,
    NotFinite,
    OutsideDomain,
    RunChanged,
    TooLarge,
    quantity,
)
from shoal.pages.page import Line
from shoal.pages.reports import coarse_note, report_lines, sidecar

if TYPE_CHECKING:
    from shoal.domain import Box, Schema
    from shoal.engine import Rows
    from shoal.engine.table import OutputPlace
    from shoal.files import FileSet
    from shoal.perturb.draft import Draft
    from shoal.perturb.stream import Drawn
    from shoal.privacy import Guarantee, Ledger, Page


_CLIP = "Widen the bounds by public knowledge, or move such rows with --clip."
_CLAMP = (
    "Use --remap clamp with --mechanism nd-laplace, which is free; or raise --epsilon, widen the "
    "bounds, or take fewer --columns (ten and more never do)."
)
_GEO = (
    "Write `geo: {latitude: ..., longitude: ...}` in the domain's file and give --epsilon per "
    "kilometre; or give --scale if degrees are really meant."
)
_NO_GUESS = (
    "Leave --remap out, or use --remap clamp: the noise is small against the bounds, so that "
    "reports are good guesses as they are."
)
FLAGS = Flags(
    names={"entity": "--user"},
    hints={
        OutsideDomain: _CLIP,
        NotFinite: "Fill those values, or remove the rows.",
        (InvalidDomain, "restriction too tight"): _CLAMP,
        (InvalidDomain, "degrees"): _GEO,
        (TooLarge, "lattice"): _NO_GUESS,
        (DimensionMismatch, "too many columns"): "Choose fewer with --columns, or use "
        "--mechanism nd-laplace.",
        (DimensionMismatch, "columns"): "Choose as many with --columns, or use "
        "--mechanism nd-laplace.",
    },
)


def perturb(
    table: Table,
    mechanism: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            envvar="SHOAL_MECHANISM",
            help=f"Mechanism: {', '.join(Name)}. `auto` is for learning groups under one limit for "
            "all pairs of rows: local-grid up to three columns of numbers, rounds else.",
        ),
    ] = Name.nd_laplace.value,
    epsilon: Annotated[
        str | None,
        typer.Option(
            envvar="SHOAL_EPSILON",
            help="The budget of one report: smaller hides more. Per unit of distance for the "
            "Laplace family, per kilometre with `geo`.",
            show_default=False,
        ),
    ] = None,
    columns: Columns = None,
    domain: Domain = None,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", envvar="SHOAL_OUTPUT", help="File to write: .parquet, .csv, .csv.gz."
        ),
    ] = "reports.parquet",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", envvar="SHOAL_OVERWRITE", help="Replace older reports.")
    ] = False,
    user: Annotated[
        str | None,
        typer.Option(
            envvar="SHOAL_USER",
            help="Column that tells people apart: each person is reported once, by one of their "
            "rows. Default: the domain's `entity`, or every row counts as one person.",
            show_default=False,
        ),
    ] = None,
    keep_order: Annotated[
        bool,
        typer.Option(
            "--keep-order",
            envvar="SHOAL_KEEP_ORDER",
            help="Keep the order: report i is row i. By default reports are shuffled, because a "
            "row's place can reveal it.",
        ),
    ] = False,
    clip: Annotated[
        bool,
        typer.Option(
            "--clip", envvar="SHOAL_CLIP", help="Move rows outside the bounds to the nearest bound."
        ),
    ] = False,
    remap: Annotated[
        str | None,
        typer.Option(
            envvar="SHOAL_REMAP",
            help="Applied to the reports at no cost: `clamp` moves them into the bounds, "
            "`snap:N` to the nearest of N nodes along each axis, `bayes` to the best guess of "
            "their rows, given what all reports say (Laplace noise only). Groups are learnt from "
            "reports without one.",
            show_default=False,
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            envvar="SHOAL_SCALE",
            help="What counts as one unit of distance in each column: numbers, e.g. 10,0.5, or "
            "`box` for half the bounds' sides.",
            show_default=False,
        ),
    ] = None,
    lattice: Annotated[
        str, typer.Option(envvar="SHOAL_LATTICE", help="Step to which reports are rounded.")
    ] = "auto",
    cells: Annotated[
        str,
        typer.Option(
            envvar="SHOAL_CELLS",
            help="Cells of local-grid along each axis: 12, or 12,8. Default: from the number of "
            "rows.",
        ),
    ] = "auto",
    groups: Annotated[
        str | None,
        typer.Option(
            "-k",
            "--groups",
            metavar="N",
            help="How many groups will be looked for: rounds ask about so many, and local-grid "
            "chooses its cells by it.",
            show_default=False,
        ),
    ] = None,
    engine: Engine = "local",
    master: Master = None,
    ledger: LedgerFile = None,
    seed: Seed = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Randomise the rows of a table one by one, and write reports that may be shared.

    Only the perturbed columns are written. Beside the reports lies a JSON file that says what
    made them and what each person was promised. Files larger than memory are read in pieces.

    `--mechanism rounds` divides people among rounds, each of which asks about the groups that the
    rounds before found: numbers, or numbers and categories. Each person is still reported once.
    From four columns of numbers on they are better than one report of a cell, and `--mechanism
    auto` takes them; in eight columns a single grid hardly finds groups at all.

    Report a table once and keep the reports: a second run draws new reports, and their budgets
    add up.

    **Examples**

        shoal perturb trips.csv --epsilon 2 --domain city.yaml -o noisy.parquet
        shoal perturb trips.csv --epsilon 2 --domain city.yaml --user rider --ledger trips.ledger
        shoal perturb trips.csv --epsilon 0.5 --domain city.yaml --remap bayes -o guesses.csv
        shoal perturb people.parquet --mechanism mixed --epsilon 4 --domain people.yaml --clip
        shoal perturb trips.csv --mechanism local-grid --epsilon 2 --domain city.yaml --clip
        shoal perturb people.csv --mechanism rounds -k 4 --epsilon 4 --domain people.yaml
        shoal perturb people.csv --mechanism auto -k 4 --epsilon 4 --domain people.yaml
        zcat ages.csv.gz | shoal perturb - --mechanism piecewise --epsilon 1 --domain ages.yaml

    where `city.yaml` holds what is public, and `geo` makes epsilon count per kilometre:

        version: 1
        columns: {lat: {low: 52.3, high: 52.7}, lon: {low: 13.1, high: 13.8}}
        geo: {latitude: lat, longitude: lon}
    """
    asked, engines = mechanism_name(mechanism), Engines(engine, master)
    promised = budget_of(epsilon, "report")
    options = Settings(asked, promised, columns, domain, scale, lattice, clip, cells)
    say = Output(json, quiet)
    task: _Task | RoundsTask
    with FLAGS.shown():
        options = replace(options, name=choose_mechanism(options))
        if options.name is Name.rounds:
            _check_rounds(remap, keep_order, engines)
            task = rounds_task(options, groups, user, ledger, seed)
        else:
            options = replace(options, n_clusters=_groups_of_grid(groups, options.name))
            task = _Task(options, remap, user, keep_order, ledger, seed)
    check_format(output)
    for note in _notes(asked, options.name, task.domain):
        say.note(note)
    with say.progress(2) as progress, engines.table(table, progress) as source, FLAGS.shown():
        document = task.run(table, source, output, overwrite, progress)
    files = [output, sidecar_of(output)]
    shown: dict[str, Any] = {"output": files[0], "sidecar": files[1], "resumed": task.resumed}
    shown["ledger"] = ledger and str(ledger)
    say.result(
        shown | document,
        *resumed_lines(task.resumed),
        *report_lines(document, task.guarantee),
        Line("Reports", files[0], is_literal=True),
        Line("About", files[1], is_literal=True),
        ledger_line(ledger),
    )


def _check_rounds(remap: str | None, keep_order: bool, engines: Engines) -> None:
    """Refuse options that rounds do not have."""
    given = {
        "--remap": remap is not None,
        "--keep-order": keep_order,
        "--engine spark": engines.is_distributed,
    }
    for flag, is_given in given.items():
        if is_given:
            raise InvalidSetting(
                f"{Name.rounds} does not take {flag}.",
                "Leave it out: rounds are run on this machine, and reports shuffled. Or use "
                "--mechanism local-grid, for categories mixed.",
                setting=flag.split()[0],
            )


def _groups_of_grid(groups: str | None, name: Name) -> int | None:
    """Return how many groups, at most, the cells of a grid are for; None if that was not said."""
    wanted = parse_groups(groups)
    if wanted is not None and name is not Name.local_grid:
        raise InvalidSetting(
            "-k is for --mechanism rounds and local-grid; other reports do not depend on it.",
            "Leave it out, and give it to `shoal learn`.",
            setting="-k",
        )
    return None if wanted is None else wanted[-1]


def _notes(asked: Name, name: Name, domain: "Box | Schema") -> list[str]:
    """What to know before anything is drawn: what was chosen, and where groups are found poorly."""
    from shoal.domain import Box

    d = len(columns_of(domain))
    notes = [f"{name} was chosen for {quantity(d, 'column')}."] if asked is Name.auto else []
    if isinstance(domain, Box) and name in (Name.local_grid, Name.rounds):
        coarse = coarse_note(d, in_rounds=name is Name.rounds)
        notes += [coarse] if coarse else []
    return notes


class _Task:
    """One run: what is asked for, checked before a row is read or a file made."""

    def __init__(
        self,
        options: Settings,
        remap: str | None,
        user: str | None,
        keep_order: bool,
        ledger: Path | None,
        seed: int | None,
    ) -> None:
        from shoal.perturb.tables import check_token
        from shoal.randomness import Randomness

        plan = build(options)
        self.mechanism, self.domain, entity = plan
        self.remap = remap_of(remap, options.name, plan)
        self.user = user or entity
        check_token(self.user, columns_of(self.domain))
        self.keep_order = keep_order
        self.clip = options.clip
        self.noise = Randomness(seed).noise
        self.guarantee: Guarantee = self.mechanism.guarantee.simulated(self.noise.simulation)
        self._seed = seed
        self._ledger = ledger
        self._page: Page | None = None
        self._account: Ledger | None = None  # with a file, so that it outlives this run
        self._entries_before = 0
        self._draft: Draft | None = None
        self._outputs: FileSet | None = None
        self._has_begun = False  # whether a draft was made, or gone on with
        self.resumed = False

    def _work(self, table: str, source: Any, output: str) -> dict[str, Any]:
        """All that decides which reports are drawn, and where they are kept meanwhile."""
        from shoal.perturb import settings_of

        is_distributed = not isinstance(source, str)
        stdin = {source: self._outputs.key} if self._outputs and table == "-" else None
        settings = {
            "mechanism": settings_of(self.mechanism),
            "remap": None if self.remap is None else settings_of(self.remap),
            "domain": self.domain.to_dict(),
            "user": self.user,
            "keep_order": self.keep_order,
            "clip": self.clip,
            "output": output if is_distributed else str(Path(output).expanduser().absolute()),
            "ledger": self._ledger and str(self._ledger.absolute()),
        }
        return work_description("perturb", table, is_distributed, self._seed, settings, stdin)

    def run(
        self, table: str, source: Any, output: str, overwrite: bool, progress: Progress
    ) -> dict[str, Any]:
        """Write reports and sidecar, both whole or neither."""
        from shoal.files import file_set
        from shoal.perturb.draft import draft_of
        from shoal.privacy import Ledger
        from shoal.privacy.journal import work_digest

        with ExitStack() as stack:
            if isinstance(source, str):
                check_apart(output, source)
                self._outputs = stack.enter_context(file_set(output, overwrite))
            work = self._work(table, source, output)
            stack.enter_context(note_spending(self._spent, resumable=is_resumable(work)))
            stack.enter_context(FLAGS.shown())
            if self._outputs is not None:
                digest = work_digest(work)
                self._draft = stack.enter_context(draft_of(Path(output), digest))
                run = digest if is_resumable(work) else None
                self._outputs.work_for(run, lambda: self.resumed or self._paid())
            ledger = Ledger(self._ledger)
            if self._ledger is not None:
                self._account, self._entries_before = ledger, ledger.entries().num_rows
            if self._draft is not None and is_resumable(work):
                name = self._draft.run
                ledger = stack.enter_context(ledger.resumable(work, by="shoal perturb", name=name))
            is_finished = self._outputs is not None and self._outputs.is_finished
            self.resumed = has_resumed(ledger) or is_finished
            stack.enter_context(self._leaving_no_draft(unless=is_resumable(work)))
            document: dict[str, Any]
            if is_finished:  # all but the tidying was done
                document = parse_json(Path(sidecar_of(output)).read_text(encoding="utf-8"))
            else:
                document = self._place_and_write(source, output, overwrite, ledger, progress)
            if self._draft is not None:
                self._draft.remove()  # before the ledger forgets the run: else it would pay again
        return document

    @contextmanager
    def _leaving_no_draft(self, unless: bool) -> Iterator[None]:
        """A failed run removes its draft, unless the same command can go on with it."""
        try:
            yield
        except BaseException as error:
            paid = self.resumed or self._paid()
            goes_on = unless and paid and not isinstance(error, RunChanged)
            if self._draft is not None and self._has_begun and not goes_on:
                self._draft.remove()
            raise

    def _place_and_write(
        self, source: Any, output: str, overwrite: bool, ledger: "Ledger", progress: Progress
    ) -> dict[str, Any]:
        files = None
        if self._outputs is not None and self._draft is not None:
            files = self._outputs, self._draft
        with output_place(output, source, overwrite, files) as place:
            return self._write(source, output, place, ledger, progress)

    def _write(
        self, source: Any, output: str, place: "OutputPlace", ledger: "Ledger", progress: Progress
    ) -> dict[str, Any]:
        from shoal.perturb.stream import reports_name

        self._page = ledger.open(
            self.mechanism.guarantee,
            by="shoal perturb",
            of=reports_name(len(columns_of(self.domain))),
        )
        rows = self._rows(source, progress)
        drawn = self._release(rows, self._page)
        progress.step("Drawing reports")
        drawn.write(place.made)
        document = self._sidecar(rows.size(), output, place.digest())
        place.finish(json_format.dumps(document, indent=1, ensure_ascii=False))
        return document

    def _sidecar(self, rows: int, output: str, digest: str) -> dict[str, Any]:
        made = (self.mechanism, self.remap, self.domain, self.guarantee, self.user)
        file = {"name": output.rstrip("/").rsplit("/", 1)[-1], "sha256": digest}
        return sidecar(*made, self.keep_order, rows, file)

    def _spent(self) -> bool:
        """Whether a ledger that outlives this run has the promise."""
        return self._ledger is not None and (self.resumed or self._paid())

    def _paid(self) -> bool:
        """Whether anything was released.

        A file is asked itself: stopped right after an entry was written, the page does not know.
        """
        if self._account is not None:
            return int(self._account.entries().num_rows) > self._entries_before
        try:
            return self._page is not None and bool(self._page.total())
        except InvalidSetting:  # nothing was
            return False

    def _rows(self, source: Any, progress: Progress) -> "Rows":
        """The rows, all of them admitted."""
        from shoal.engine import rows_of

        rows = rows_of(
            source,
            self.domain,
            outside="clip" if self.clip else "refuse",
            entity=self.user,
            max_rows_per_person=None if self.user is None else 1,
            selection_key=None if self._draft is None else self._draft.selection_key,
        )
        progress.step("Checking rows")
        rows.on_progress(show_row_count(progress))
        self._settle(rows.size())
        return rows

    def _settle(self, people: int) -> None:
        """Cells for so many people: reports are counted by whoever gets them, so this is public."""
        from shoal.mechanisms import LocalGrid

        if isinstance(self.mechanism, LocalGrid):
            self.mechanism = self.mechanism.with_cells_for(max(1, people))

    def _release(self, rows: "Rows", page: "Page") -> "Drawn":
        """Where rows and noise meet: one promise, one entry in the ledger."""
        from shoal.perturb import Streamed

        reports = Streamed(self.mechanism, self.remap, self.keep_order, self._draft)
        if self._draft is not None:
            self._draft.begin()
            self._has_begun = True
        if not rows.size():  # nobody is reported, so nothing is promised
            return reports.release(rows, self.noise)
        return page.release(reports, rows, self.noise, of="reports")
