"""``shoal cluster``: find the groups in a file, and leave a folder that may be published."""

from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.apps.cluster_local import NAMES as LOCAL
from shoal.apps.cluster_local import asked_of, learn
from shoal.apps.cluster_methods import METHODS, Asked, Method, Waves, groups_of, named
from shoal.apps.cluster_words import in_words
from shoal.apps.engine import Engine, Engines, Master
from shoal.apps.input import (
    Columns,
    Domain,
    LedgerFile,
    Table,
    box_of,
    budget_of,
    counted,
    schema_of,
)
from shoal.apps.output import Json, Output, Progress, Quiet, Seed
from shoal.apps.perturb_words import saying_what_is_spent
from shoal.errors import InvalidSetting

if TYPE_CHECKING:
    from shoal.domain import Schema
    from shoal.engine import Rows

__all__ = ["cluster"]

WAVE = "For --method wave"


def cluster(
    context: typer.Context,
    table: Table,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            envvar="SHOAL_METHOD",
            help=f"How: {'; '.join(f'{name}, {how.words}' for name, how in METHODS.items())}.",
        ),
    ] = "kmeans",
    local: Annotated[
        bool,
        typer.Option(
            "--local",
            envvar="SHOAL_LOCAL",
            help="Learn from reports that `shoal perturb` wrote, and from the file beside them; no "
            f"budget is spent. --method is then one of {', '.join(LOCAL)}.",
        ),
    ] = False,
    groups: Annotated[
        str | None,
        typer.Option(
            "-k",
            "--groups",
            metavar="N",
            envvar="SHOAL_GROUPS",
            help="How many groups to find: a number, or a range such as 2-12 to choose from at no "
            "further cost.",
            show_default=False,
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(
            envvar="SHOAL_EPSILON",
            help="The budget of this release: smaller hides more.",
            show_default=False,
        ),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(
            envvar="SHOAL_DELTA",
            help="A chance with which the promise may fail, e.g. 1e-9; left out, none. It helps "
            "in many columns: from about 14 up for 1e-6, from 30 for 1e-10.",
            show_default=False,
        ),
    ] = None,
    columns: Columns = None,
    domain: Domain = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", envvar="SHOAL_OUTPUT", help="Folder to write.")
    ] = Path("model"),
    overwrite: Annotated[
        bool, typer.Option("--overwrite", envvar="SHOAL_OVERWRITE", help="Replace an older model.")
    ] = False,
    entity: Annotated[
        str | None,
        typer.Option(
            envvar="SHOAL_ENTITY",
            help="Column that tells people apart. Left out, the domain's, or every row is a "
            "person of its own.",
            show_default=False,
        ),
    ] = None,
    max_rows_per_person: Annotated[
        int | None,
        typer.Option(
            min=1,
            envvar="SHOAL_MAX_ROWS_PER_PERSON",
            help="How many rows of a person are kept; the promise covers all of them.",
            show_default=False,
        ),
    ] = None,
    neighbours: Annotated[
        Literal["add-remove", "replace-one"],
        typer.Option(
            envvar="SHOAL_NEIGHBOURS",
            help="What is hidden: that someone is in the table, or only what their row says.",
        ),
    ] = "add-remove",
    n_public: Annotated[
        int | None,
        typer.Option(
            min=1,
            envvar="SHOAL_N_PUBLIC",
            help="How many rows there are, if that is known without them: a quota, a census.",
            show_default=False,
        ),
    ] = None,
    drop: Annotated[
        bool,
        typer.Option(
            "--drop", envvar="SHOAL_DROP", help="Leave out rows that lack a number; else refuse."
        ),
    ] = False,
    choose: Annotated[
        Literal["elbow", "silhouette", "gap"],
        typer.Option(envvar="SHOAL_CHOOSE", help="How to choose within a range of -k."),
    ] = "elbow",
    title: Annotated[
        str | None,
        typer.Option(envvar="SHOAL_TITLE", help="Heading of the page.", show_default=False),
    ] = None,
    publisher: Annotated[
        str | None,
        typer.Option(envvar="SHOAL_PUBLISHER", help="Who publishes it.", show_default=False),
    ] = None,
    variant: Annotated[
        Literal["block", "privqt", "privthr", "privthrem", "baseline"] | None,
        typer.Option(
            envvar="SHOAL_VARIANT",
            help="Where the noise goes: block, the default and best, or a published method.",
            rich_help_panel=WAVE,
            show_default=False,
        ),
    ] = None,
    cells: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            envvar="SHOAL_CELLS",
            help="Cells along each axis, e.g. 64, or 64,32; chosen without the rows. Left out, as "
            "many as budget and rows are worth.",
            rich_help_panel=WAVE,
            show_default=False,
        ),
    ] = None,
    selector: Annotated[
        Literal["auto", "persistence", "percentile", "density", "mass"] | None,
        typer.Option(
            envvar="SHOAL_SELECTOR",
            help="What makes a cell part of a group.",
            rich_help_panel=WAVE,
            show_default=False,
        ),
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(
            min=0,
            envvar="SHOAL_LEVEL",
            help="How often the grid is halved.",
            rich_help_panel=WAVE,
            show_default=False,
        ),
    ] = None,
    wavelet: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            envvar="SHOAL_WAVELET",
            help="By which wavelet of PyWavelets; left out, haar.",
            rich_help_panel=WAVE,
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
    """Find the groups in a table, with noise, so that they may leave the building.

    Writes a folder: the noisy cells, with `centers.csv` or the group of each cell; `model.json` for
    `shoal.load_model`; and `report.html`, a page that says what was found and what each person was
    promised. Everything in it may be published. Files larger than memory stream through.

    **Examples**

        shoal cluster visits.csv -k 8 --epsilon 1 --domain visits.yaml -o model
        shoal cluster visits.csv -k 2-12 --epsilon 1 --domain visits.yaml --ledger visits.ledger
        shoal cluster trips.parquet -k 20 --epsilon 1 --domain city.yaml --entity rider
            --max-rows-per-person 10
        shoal cluster visits.csv --method wave --epsilon 1 --domain visits.yaml
        shoal cluster reports.parquet --local -k 5 -o model
        shoal cluster s3a://trips/noisy.parquet --local -k 5 --engine spark
        zcat visits.csv.gz | shoal cluster - -k 8 --epsilon 0.5 --domain visits.yaml --json
        shoal cluster hdfs:///visits.parquet -k 8 --epsilon 1 --domain visits.yaml --engine spark
            --master yarn

    where `visits.yaml` holds what is public about the columns, stated without looking:

        version: 1
        columns: {age: {low: 0, high: 110}, visits: {low: 0, high: 20}}
    """
    if local:
        engines = Engines(engine, master)
        learn(asked_of(context), engines, output, overwrite, Output(json, quiet))
        return
    how, budget = named(method), budget_of(epsilon, "release")
    engines = Engines(engine, master)
    _check_apart(ledger, output)
    schema = schema_of(domain)
    who = _people(schema, entity, max_rows_per_person)
    asked = Asked(
        method,
        budget,
        box_of(schema, columns, domain),
        groups_of(groups),
        choose,
        delta,
        neighbours,
        *who,
        n_public,
        drop,
        ledger,
        seed,
        title,
        publisher,
        Waves(variant, cells, selector, level, wavelet),
    )
    say = Output(json, quiet)
    with say.progress(3) as progress, in_words():
        task = _Task(asked, how)
        with engines.table(table, progress) as source:
            files = task.run(source, output, overwrite, progress)
    story = import_module(how.story)
    say.result(story.document(task.model, asked, files), *story.summary(task.model, asked, files))


class _Task:
    """One run: what is asked for, checked before a row is read or a file made."""

    def __init__(self, asked: Asked, how: Method) -> None:
        self.asked = asked
        self.model: Any = how.build(asked)
        self._story: Any = import_module(how.story)
        self._entries = self._listed()

    def run(self, source: Any, output: Path, overwrite: bool, progress: Progress) -> list[Path]:
        """Fit, and write the folder whole or not at all."""
        from shoal.cluster.folder import check_replaceable
        from shoal.data import whole_folder

        check_replaceable(output)
        with ExitStack() as stack:
            stack.enter_context(saying_what_is_spent(self._spent))
            part = stack.enter_context(whole_folder(output, overwrite))
            progress.step("Checking rows")
            rows = self._rows(source, progress)
            progress.step("Finding groups")
            self.model.fit(rows)
            progress.step("Writing the page")
            written = self._write(part)
        return [output / name for name in written]

    def _rows(self, source: Any, progress: Progress) -> "Rows":
        from shoal.engine import rows_of

        asked = self.asked
        rows = rows_of(
            source,
            asked.box,
            nonfinite="drop" if asked.drop else "refuse",
            entity=asked.entity,
            max_rows_per_person=asked.max_rows_per_person,
        )
        rows.on_progress(counted(progress))
        return rows

    def _write(self, folder: Path) -> list[str]:
        from shoal import report
        from shoal.cluster.folder import write_model
        from shoal.privacy import Ledger

        files = write_model(self.model, folder)
        told = self._story.result(self.model, self.asked)
        ledger = None if self.asked.ledger is None else Ledger(self.asked.ledger)
        pages = report.write(report.findings(told, ledger=ledger, files=files), folder)
        return [page.name for page in pages] + [file["name"] for file in files]

    def _listed(self) -> int:
        """How many promises a ledger that outlives this run holds."""
        if self.asked.ledger is None:
            return 0
        return int(self.model.ledger.entries().num_rows)

    def _spent(self) -> bool:
        return self._listed() > self._entries


def _people(
    schema: "Schema", entity: str | None, limit: int | None
) -> tuple[str | None, int | None]:
    """Whose rows they are and how many each keeps: as asked, else as the domain says."""
    entity = entity or schema.entity
    return entity, limit or (schema.max_rows_per_person if entity else None)


def _check_apart(ledger: Path | None, folder: Path) -> None:
    if ledger is not None and ledger.resolve().is_relative_to(folder.resolve()):
        raise InvalidSetting(
            "The ledger lies in the folder that is to be written.",
            "Keep it elsewhere, e.g. --ledger visits.ledger.",
        )
