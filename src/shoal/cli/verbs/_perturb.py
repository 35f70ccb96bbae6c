"""``shoal perturb``: report the rows of a file through a local mechanism, in one stream."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli._options import Columns, Domain, Engine, Json, LedgerFile, Master, Quiet, Seed, Table
from shoal.cli._output import Output, ledger_line
from shoal.errors import InvalidSetting, quantity
from shoal.jobs.clustering import parse_groups
from shoal.jobs.engine import Engines
from shoal.jobs.progress import Progress
from shoal.jobs.reports.mechanism import Name, Settings, build, columns_of, mechanism_name, remap_of
from shoal.jobs.reports.report_file import check_format, sidecar_of
from shoal.jobs.reports.round_reports import choose_mechanism, rounds_task
from shoal.jobs.reports.task import FLAGS, ReportsTask
from shoal.jobs.resume import resumed_lines
from shoal.jobs.table_inputs import budget_of
from shoal.pages.page import Line
from shoal.pages.reports import coarse_note, report_lines, sidecar

if TYPE_CHECKING:
    from shoal.domain import Box, Schema
    from shoal.engine import Rows
    from shoal.engine.table import OutputPlace
    from shoal.perturb.stream import Drawn
    from shoal.privacy import Guarantee, Page


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
    task: ReportsTask
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


class _Task(ReportsTask):
    """One run of a mechanism that asks everybody the same, checked before a row is read."""

    def __init__(
        self,
        options: Settings,
        remap: str | None,
        user: str | None,
        keep_order: bool,
        ledger: Path | None,
        seed: int | None,
    ) -> None:
        plan = build(options)
        super().__init__(plan.domain, user or plan.entity, options.clip, ledger, seed)
        self.mechanism = plan.mechanism
        self.remap = remap_of(remap, options.name, plan)
        self.keep_order = keep_order

    @property
    def promise(self) -> "Guarantee":
        """The promise of one report."""
        promise: Guarantee = self.mechanism.guarantee
        return promise

    def settings(self) -> dict[str, Any]:
        """Return the mechanism, the remap and the order."""
        from shoal.perturb import settings_of

        return {
            "mechanism": settings_of(self.mechanism),
            "remap": None if self.remap is None else settings_of(self.remap),
            "keep_order": self.keep_order,
        }

    def write(
        self, rows: "Rows", page: "Page", place: "OutputPlace", output: str, progress: Progress
    ) -> dict[str, Any]:
        """Draw the reports block by block as they are written."""
        if self.draft is not None:
            self.begin(self.draft.digests_of(rows))
        self._choose_cells(rows.size())
        drawn = self._release(rows, page)
        progress.step("Drawing reports")
        drawn.write(place.made)
        return self._sidecar(rows.size(), output, place.digest())

    def _sidecar(self, rows: int, output: str, digest: str) -> dict[str, Any]:
        made = (self.mechanism, self.remap, self.domain, self.guarantee, self.user)
        file = {"name": output.rstrip("/").rsplit("/", 1)[-1], "sha256": digest}
        return sidecar(*made, self.keep_order, rows, file)

    def _choose_cells(self, people: int) -> None:
        """Cells for so many people: reports are counted by whoever gets them, so this is public."""
        from shoal.mechanisms import LocalGrid

        if isinstance(self.mechanism, LocalGrid):
            self.mechanism = self.mechanism.with_cells_for(max(1, people))

    def _release(self, rows: "Rows", page: "Page") -> "Drawn":
        """Where rows and noise meet: one promise, one entry in the ledger."""
        from shoal.perturb import Streamed
        from shoal.randomness import Randomness

        noise = Randomness(self.seed).noise
        reports = Streamed(self.mechanism, self.remap, self.keep_order, self.draft)
        if not rows.size():  # nobody is reported, so nothing is promised
            return reports.release(rows, noise)
        return page.release(reports, rows, noise, of="reports")
