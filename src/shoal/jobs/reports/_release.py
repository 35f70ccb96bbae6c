"""Release reports of a table's rows: each drawn by a local mechanism, one a person."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shoal.errors import InvalidSetting, quantity, sentence, setting
from shoal.jobs._cluster_methods import parse_groups
from shoal.jobs._engine import Engines
from shoal.jobs._progress import Progress
from shoal.jobs._table_inputs import budget_of
from shoal.jobs.reports._mechanism import (
    MechanismOptions,
    Name,
    build,
    columns_of,
    mechanism_name,
    remap_of,
)
from shoal.jobs.reports._perturb_run import ReportsTask
from shoal.jobs.reports._report_file import check_format, sidecar_of
from shoal.jobs.reports._round_reports import choose_mechanism, rounds_task
from shoal.pages.reports import coarse_note, sidecar

if TYPE_CHECKING:
    from shoal.domain import Box, Schema
    from shoal.engine import Rows
    from shoal.engine.table import OutputPlace
    from shoal.perturb.report_stream import Drawn
    from shoal.privacy import Guarantee, Page


@dataclass(frozen=True, kw_only=True)
class ReportsRequest:
    """Reports of a table that are asked for.

    Parameters
    ----------
    table
        A CSV or Parquet file, a folder of Parquet files, or ``-`` for standard input.
    mechanism
        The name of the mechanism, or ``auto``.
    epsilon
        The budget of one report, exactly as it is written.
    columns
        The columns to report, with commas between them; None for all that the domain describes.
    domain_file
        The YAML file of what is public.
    output
        The file to write.
    overwrite
        Whether older reports may be replaced.
    person
        The column that tells people apart; None takes the domain's.
    keep_order
        Whether report i is of row i.
    clip
        Whether rows outside the bounds are moved to them.
    remap
        What is done to the reports at no cost: ``clamp``, ``snap:16`` or ``bayes``.
    scale
        What counts as one unit of distance in each column.
    lattice
        The step to which reports are rounded.
    cells
        Cells of a local grid along each axis.
    groups
        How many groups will be looked for.
    engine
        "local", or "spark" to read the rows on a cluster.
    master
        The address of the cluster.
    ledger
        The ledger that the promise is written to.
    seed
        The seed of a simulation, which protects nobody.
    """

    table: str
    mechanism: str = Name.nd_laplace.value
    epsilon: str | None = None
    columns: str | None = None
    domain_file: Path | None = None
    output: str = "reports.parquet"
    overwrite: bool = False
    person: str | None = None
    keep_order: bool = False
    clip: bool = False
    remap: str | None = None
    scale: str | None = None
    lattice: str = "auto"
    cells: str = "auto"
    groups: str | None = None
    engine: Literal["local", "spark"] = "local"
    master: str | None = None
    ledger: Path | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Reported:
    """What a release of reports left.

    Parameters
    ----------
    guarantee
        The promise of one report, marked if it is a simulation.
    """

    document: dict[str, Any]
    guarantee: "Guarantee"
    files: tuple[str, str]
    ledger: Path | None
    is_resumed: bool

    @property
    def values(self) -> dict[str, Any]:
        """What may be published of it, as JSON has it."""
        output, about = self.files
        own = {"output": output, "sidecar": about, "resumed": self.is_resumed}
        return own | {"ledger": self.ledger and str(self.ledger)} | self.document


@dataclass(frozen=True)
class PreparedReports:
    """A request that was checked: no row is read yet, and no file made."""

    request: ReportsRequest
    task: ReportsTask
    engines: Engines
    notes: tuple[str, ...]

    def release(self, progress: Progress | None = None) -> Reported:
        """Draw and write the reports, both files whole or neither.

        Parameters
        ----------
        progress
            Where two steps are shown; None for nowhere.
        """
        progress = Progress() if progress is None else progress
        request = self.request
        with self.engines.table(request.table, progress) as source:
            document = self.task.run(
                request.table, source, request.output, request.overwrite, progress
            )
        files = request.output, sidecar_of(request.output)
        return Reported(document, self.task.guarantee, files, request.ledger, self.task.resumed)


def prepare_reports(request: ReportsRequest) -> PreparedReports:
    """Check a request for reports, before a row is read or a file made.

    Parameters
    ----------
    request
        What is asked for.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "ages.csv").write_text("age\\n20\\n60\\n")
    >>> _ = (folder / "ages.yaml").write_text("version: 1\\ncolumns: {age: {low: 0, high: 99}}\\n")
    >>> request = ReportsRequest(
    ...     table=str(folder / "ages.csv"),
    ...     mechanism="piecewise",
    ...     epsilon="1",
    ...     domain_file=folder / "ages.yaml",
    ...     output=str(folder / "noisy.csv"),
    ...     seed=1,
    ... )
    >>> prepare_reports(request).release().document["rows"]
    2
    """
    requested, engines = mechanism_name(request.mechanism), Engines(request.engine, request.master)
    settings = MechanismOptions(
        requested,
        budget_of(request.epsilon, "report"),
        request.columns,
        request.domain_file,
        request.scale,
        request.lattice,
        request.clip,
        request.cells,
    )
    settings = replace(settings, name=choose_mechanism(settings))
    task: ReportsTask
    if settings.name is Name.rounds:
        _check_rounds(request, engines)
        run = (request.groups, request.person, request.ledger, request.seed)
        task = rounds_task(settings, *run)
    else:
        n_clusters = _groups_of_grid(request.groups, settings.name)
        task = _MechanismTask(replace(settings, n_clusters=n_clusters), request)
    check_format(request.output)
    return PreparedReports(request, task, engines, _notes(requested, settings.name, task.domain))


def _check_rounds(request: ReportsRequest, engines: Engines) -> None:
    """Refuse settings that rounds do not have."""
    given = {
        setting("remap"): request.remap is not None,
        setting("keep_order"): request.keep_order,
        setting("engine", "spark"): engines.is_distributed,
    }
    for name, is_given in given.items():
        if is_given:
            raise InvalidSetting(
                f"{Name.rounds} does not take " + name + ".",
                sentence(
                    "Leave it out: rounds are run on this machine, and reports shuffled. Or use "
                    "{mechanism:local-grid}, for categories mixed."
                ),
            )


def _groups_of_grid(groups: str | None, name: Name) -> int | None:
    """Return how many groups, at most, the cells of a grid are for; None if that was not said."""
    wanted = parse_groups(groups)
    if wanted is not None and name is not Name.local_grid:
        raise InvalidSetting(
            sentence(
                "{n_clusters} is for {mechanism:rounds} and local-grid; other reports do not "
                "depend on it."
            ),
            "Leave it out, and give it to `shoal learn`.",
        )
    return None if wanted is None else wanted[-1]


def _notes(requested: Name, name: Name, domain: "Box | Schema") -> tuple[str, ...]:
    """What to know before anything is drawn: what was chosen, and where groups are found poorly."""
    from shoal.domain import Box

    d = len(columns_of(domain))
    notes = [f"{name} was chosen for {quantity(d, 'column')}."] if requested is Name.auto else []
    if isinstance(domain, Box) and name in (Name.local_grid, Name.rounds):
        coarse = coarse_note(d, in_rounds=name is Name.rounds)
        notes += [coarse] if coarse else []
    return tuple(notes)


class _MechanismTask(ReportsTask):
    """One run of a mechanism that asks everybody the same, checked before a row is read."""

    def __init__(
        self,
        settings: MechanismOptions,
        request: ReportsRequest,
    ) -> None:
        plan = build(settings)
        person = request.person or plan.person
        super().__init__(plan.domain, person, request.clip, request.ledger, request.seed)
        self.mechanism = plan.mechanism
        self.remap = remap_of(request.remap, settings.name, plan)
        self.keep_order = request.keep_order

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
        made = (self.mechanism, self.remap, self.domain, self.guarantee, self.person)
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
