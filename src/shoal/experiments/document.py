"""A document that can be run again: its cells, what a cell does, and what follows from all."""

import csv
import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.documents import json_text, with_digest
from shoal.errors import InvalidSetting
from shoal.experiments._cells import Cell, CellFile, Row
from shoal.experiments._results import Results
from shoal.experiments._runner import Progress, run_cells
from shoal.files import atomic_file

if TYPE_CHECKING:
    from shoal.pages import Claim, Reproduction


PAGE, MANIFEST = "report.html", "manifest.json"


def _no_cells(quick: bool) -> Sequence[Cell]:
    return ()


def _no_setting(quick: bool) -> Sequence[str]:
    return ()


@dataclass(frozen=True)
class Document:
    """How one document is run again.

    Parameters
    ----------
    name
        As the command line has it.
    edition
        Raised when cells change their meaning, so that old results are not mixed with new ones.
    cells
        All cells; with True, those of the quick form.
    run
        What a cell does.
    conclude
        From all results to claims and figures; the second argument says whether it is quick.
    judge
        From all results to the claims alone, likewise.
    spark_cells
        Cells that need a Spark session; with True, those of the quick form.
    setting
        How it is run, and where that is not in the document, in sentences; with True, quickly.
    """

    name: str
    edition: int
    cells: Callable[[bool], Sequence[Cell]]
    run: Callable[[Cell], list[Row]]
    conclude: Callable[[Results, bool], "Reproduction"]
    judge: Callable[[Results, bool], Sequence["Claim"]]
    spark_cells: Callable[[bool], Sequence[Cell]] = _no_cells
    setting: Callable[[bool], Sequence[str]] = _no_setting

    def parts(self, quick: bool, on_spark: bool = False) -> list[str]:
        """Return the names of its parts, in order.

        Parameters
        ----------
        quick
            Whether of the quick form.
        on_spark
            Whether with those that need a Spark session.
        """
        cells = [*self.cells(quick), *(self.spark_cells(quick) if on_spark else ())]
        return list(dict.fromkeys(cell.part for cell in cells))


@dataclass(frozen=True)
class Outcome:
    """What a run did and wrote.

    Parameters
    ----------
    folder
        Where.
    ran
        How many cells were run.
    cells
        How many cells the document has.
    finished
        How many of them are finished now.
    reproduction
        Claims and figures; None if there was nothing to do.
    """

    folder: Path
    ran: int
    cells: int
    finished: int
    reproduction: "Reproduction | None"


def reproduce(
    document: Document,
    folder: Path,
    *,
    quick: bool = False,
    only: Sequence[str] = (),
    jobs: int | None = None,
    on_spark: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Run a document again, or go on where an earlier run was stopped, and write its page.

    Parameters
    ----------
    document
        The document.
    folder
        Where results, tables, figures and the page are kept.
    quick
        Few draws and few settings, for a first look.
    only
        Parts to run now; none runs all.
    jobs
        Processes at work at once; None takes one for each core.
    on_spark
        Run also what needs a Spark session, one cell after another in the session that runs here.
    progress
        Called with the state in words and its share from 0 to 1.
    """
    here, there = list(document.cells(quick)), list(document.spark_cells(quick))
    _check_parts(only, document.parts(quick, on_spark))
    cells = here + there if on_spark else here
    run = {"document": document.name, "edition": document.edition, "quick": quick}
    with CellFile(folder, run).opened() as file:
        workers = jobs or os.cpu_count() or 1
        ran = 0
        for group, at_once in ((here, workers), (there if on_spark else [], 1)):
            chosen = [cell for cell in group if not only or cell.part in only]
            ran += run_cells(chosen, document.run, file, jobs=at_once, progress=progress)
        finished = sum(file.has(cell) for cell in cells)
        if not ran and (folder / PAGE).exists():
            return Outcome(folder, 0, len(cells), finished, None)
        everything = here + there  # what an earlier run did on Spark stays on the page
        names = {name for cell in everything for name in cell.settings}
        results = Results(file.rows(everything), names)
        reproduction = document.conclude(results, quick)
        _write(folder, results, reproduction)
    return Outcome(folder, ran, len(cells), finished, reproduction)


def _check_parts(only: Sequence[str], known: Sequence[str]) -> None:
    unknown = [part for part in only if part not in known]
    if unknown:
        raise InvalidSetting(
            f"There is no part {unknown[0]!r}.",
            f"Its parts are {', '.join(known)}.",
            setting="only",
        )


def _write(folder: Path, results: Results, reproduction: "Reproduction") -> None:
    """Write tables, figures and the page; the page last, so that it is there only if all is."""
    from shoal.pages import reproduction_page

    for name in ("tables", "figures"):
        (folder / name).mkdir(exist_ok=True)
    for part in results.parts:
        stem = part.replace(" ", "-")
        _write_table(folder / "tables" / stem, results.rows(part))
        _write_csv(folder / "tables" / f"{stem}-means.csv", results.means(part))
    _write_csv(folder / "tables" / "claims.csv", claim_rows(reproduction.claims))
    _write_csv(folder / "tables" / "exhibits.csv", _exhibits(reproduction))
    for exhibit in reproduction.exhibits:
        for place, figure in enumerate(exhibit.figures, start=1):
            _write_text(folder / "figures" / f"{exhibit.anchor}-{place}.svg", figure.svg())
    _write_text(folder / PAGE, reproduction_page(reproduction))
    _write_text(folder / MANIFEST, json_text(_manifest(folder, reproduction)))


def _manifest(folder: Path, reproduction: "Reproduction") -> dict[str, object]:
    """Return what the run was, and the name and checksum of each file that it wrote."""
    written = sorted([*folder.glob("tables/*.*"), *folder.glob("figures/*.svg"), folder / PAGE])
    return with_digest(
        {
            "schema": "shoal.reproduction/1",
            "title": reproduction.title,
            "quick": reproduction.quick,
            "simulation": True,  # everything is seeded
            "claims": reproduction.counts(),
            "versions": {"shoal": version("shoal")},
            "files": [
                {
                    "name": path.relative_to(folder).as_posix(),
                    "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                }
                for path in written
            ],
        }
    )


def claim_rows(claims: Sequence["Claim"]) -> list[Row]:
    """Return claims as the rows of their table."""
    fields = (
        "source", "where", "quote", "text", "verdict", "detail", "document", "ours", "margin",
        "reason", "exhibit",
    )  # fmt: skip
    return [{name: getattr(claim, name) for name in fields} for claim in claims]


def _exhibits(reproduction: "Reproduction") -> list[Row]:
    return [
        {
            "number": each.number,
            "title": each.title,
            "figures": len(each.figures),
            "tables": len(each.tables),
            "missing": each.missing,
        }
        for each in reproduction.exhibits
    ]


def _write_table(stem: Path, rows: Sequence[Row]) -> None:
    """Write rows as Parquet and as CSV."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {name: [row.get(name) for row in rows] for name in _names(rows)}
    with atomic_file(stem.with_suffix(".parquet"), overwrite=True) as part:
        pq.write_table(pa.table(columns), part)
    _write_csv(stem.with_suffix(".csv"), rows)


def _write_csv(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as CSV, without the columns that hold curves."""
    curves = {name for row in rows for name, value in row.items() if isinstance(value, list)}
    names = [name for name in _names(rows) if name not in curves]
    with (
        atomic_file(path, overwrite=True) as part,
        part.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _names(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _write_text(path: Path, text: str) -> None:
    with atomic_file(path, overwrite=True) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
