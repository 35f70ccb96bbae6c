"""``shoal cluster``: find the groups in a file, and leave a folder that may be published."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shoal.cli.holder import (
    Curator,
    check_curator_page,
    curator_page,
    left_out_or_moved,
    tell_holder,
)
from shoal.cli.inputs.cluster_methods import Asked, Method, Waves, flags_of, groups_of, named
from shoal.cli.inputs.cluster_options import (
    Cells,
    Choose,
    Delta,
    Drop,
    Entity,
    Epsilon,
    Folder,
    Groups,
    Level,
    Local,
    MaxRows,
    MethodName,
    Neighbours,
    Overwrite,
    PublicNumber,
    Selector,
    Variant,
    Wavelet,
)
from shoal.cli.inputs.engine import Engine, Engines, Master
from shoal.cli.inputs.resume import (
    has_resumed,
    is_same_again,
    note_spending,
    resumed_entry,
    work_of,
)
from shoal.cli.inputs.table import (
    Columns,
    Domain,
    LedgerFile,
    Table,
    box_of,
    budget_of,
    counted,
    schema_of,
)
from shoal.cli.output import Json, Output, Progress, Publisher, Quiet, Seed, Title
from shoal.cli.verbs.cluster_local import asked_of, learn
from shoal.errors import InvalidSetting

if TYPE_CHECKING:
    from shoal.domain import Schema
    from shoal.engine import Rows
    from shoal.privacy import Ledger

__all__ = ["cluster"]


def cluster(
    context: typer.Context,
    table: Table,
    method: MethodName = "kmeans",
    local: Local = False,
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
    title: Title = None,
    publisher: Publisher = None,
    variant: Variant = None,
    cells: Cells = None,
    selector: Selector = None,
    level: Level = None,
    wavelet: Wavelet = None,
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
    promised. Everything in it may be published. Files larger than memory stream through. How many
    rows were left out or moved to the edge of the bounds is for you alone: it is said on your
    terminal and on the page that --curator writes.

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
    check_curator_page(curator, output, overwrite, (table, domain, ledger))
    schema = schema_of(domain)
    asked = Asked(
        method=method,
        epsilon=budget,
        box=box_of(schema, columns, domain),
        n_clusters=groups_of(groups),
        choose=choose,
        delta=delta,
        neighbours=neighbours,
        entity=entity or schema.entity,
        max_rows_per_person=_limit(schema, entity, max_rows_per_person),
        n_public=n_public,
        drop=drop,
        ledger=ledger,
        seed=seed,
        title=title,
        publisher=publisher,
        waves=Waves(variant, cells, selector, level, wavelet),
    )
    say = Output(json, quiet)
    with say.progress(3) as progress, flags_of(method).shown():
        task = _Task(asked, how)
        with engines.table(table, progress) as source:
            work = work_of("cluster", table, engines.on_spark, seed, asked.work)
            files = task.run(source, output, overwrite, curator, work, progress)
    story = import_module(how.story)
    document = story.document(task.model, asked, files) | {"resumed": task.resumed}
    say.result(document, *resumed_entry(task.resumed), *story.summary(task.model, asked, files))
    tell_holder(task.yours, quiet=json or quiet)


class _Task:
    """One run: what is asked for, checked before a row is read or a file made."""

    def __init__(self, asked: Asked, how: Method) -> None:
        self.asked = asked
        self.model: Any = how.build(asked)
        self._story: Any = import_module(how.story)
        self._entries = self._listed()
        self.resumed = False
        self.yours: list[str] = []  # of the rows themselves, for their holder

    def run(
        self,
        source: Any,
        output: Path,
        overwrite: bool,
        curator: Path | None,
        work: dict[str, Any],
        progress: Progress,
    ) -> list[Path]:
        """Fit, and write the folder, and the holder's page, whole or not at all."""
        from shoal.cluster.model_folder import check_replaceable
        from shoal.cluster.totals import told_elsewhere
        from shoal.data import whole_folder
        from shoal.files import whole_file

        check_replaceable(output)
        with ExitStack() as stack:
            again = self.asked.ledger is not None and is_same_again(work)
            stack.enter_context(note_spending(self._spent, resumable=again))
            stack.enter_context(self._ledger(work))
            part = stack.enter_context(whole_folder(output, overwrite))
            progress.step("Checking rows")
            rows = self._rows(source, progress)
            progress.step("Finding groups")
            with told_elsewhere():  # summary, page and document say so
                self.model.fit(rows)
            self.yours = left_out_or_moved(rows)
            progress.step("Writing the page")
            written = self._write(part)
            if curator is not None:
                self._write_curator(stack.enter_context(whole_file(curator, overwrite)))
        return [output / name for name in written]

    @contextmanager
    def _ledger(self, work: dict[str, Any]) -> Iterator[None]:
        """The model's ledger, for a run that can be resumed."""
        given: Ledger = self.model.ledger
        if not is_same_again(work):
            yield
            return
        with given.resumable(work, by="shoal cluster") as ledger:
            self.model.set_params(ledger=ledger)
            self.resumed = has_resumed(ledger)
            yield

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
        from shoal.cluster.model_folder import write_model
        from shoal.privacy import Ledger

        files = write_model(self.model, folder)
        told = self._story.result(self.model, self.asked)
        ledger = None if self.asked.ledger is None else Ledger(self.asked.ledger)
        pages = report.write(report.findings(told, ledger=ledger, files=files), folder)
        return [page.name for page in pages] + [file["name"] for file in files]

    def _write_curator(self, page: Path) -> None:
        from shoal.engine.scratch import private_file
        from shoal.privacy import Ledger

        ledger = None if self.asked.ledger is None else Ledger(self.asked.ledger)
        told = self._story.result(self.model, self.asked)
        text = curator_page(told, self.yours, ledger=ledger)
        private_file(page).write_text(text, encoding="utf-8", newline="\n")

    def _listed(self) -> int:
        """How many promises a ledger that outlives this run holds."""
        if self.asked.ledger is None:
            return 0
        return int(self.model.ledger.entries().num_rows)

    def _spent(self) -> bool:
        return self.resumed or self._listed() > self._entries


def _limit(schema: "Schema", entity: str | None, limit: int | None) -> int | None:
    """How many rows of each are kept: as asked, or as the domain says, if people are told apart."""
    return limit or (schema.max_rows_per_person if entity or schema.entity else None)


def _check_apart(ledger: Path | None, folder: Path) -> None:
    if ledger is not None and ledger.resolve().is_relative_to(folder.resolve()):
        raise InvalidSetting(
            "The ledger lies in the folder that is to be written.",
            "Keep it elsewhere, e.g. --ledger visits.ledger.",
            setting="--ledger",
        )
