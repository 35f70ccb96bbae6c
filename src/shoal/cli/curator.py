"""What the holder of the rows is told besides: how many were left out, or moved to the edge.

These numbers are read off the rows and nothing was paid for them. They go to a terminal somebody
sits at and to a page only its owner can read: never to standard output, ``--json``, logs or the
folder that may be published.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.cli.output import render_text, write_text
from shoal.errors import InvalidSetting
from shoal.pages.page import Line

if TYPE_CHECKING:
    from shoal.engine import Rows
    from shoal.privacy import Result

__all__ = ["changed_row_texts", "check_curator_page", "print_for_curator", "write_curator_page"]


def changed_row_texts(rows: "Rows") -> list[str]:
    """What became of rows that were not taken as they came, in sentences; none if all were."""
    tally = rows.tally
    if tally is None:
        return []
    beyond = tally.admitted - rows.size()
    counts = {
        f"{tally.nonfinite:,} lack a number, or have text for one, and were left out": (
            tally.nonfinite
        ),
        f"{tally.outside:,} lie outside the bounds and were moved to the edge": tally.outside,
        f"{beyond:,} are more than a person keeps and were left out": beyond,
    }
    return [f"Of {tally.read:,} rows {text}." for text, count in counts.items() if count]


def print_for_curator(lines: list[str], *, quiet: bool) -> None:
    """Say it on standard error, if that is a terminal: what is kept in files may be passed on."""
    if lines and not quiet and sys.stderr.isatty():
        alone = "This is for you alone: it is in no file that may be published."
        write_text(render_text(Line("Yours", " ".join([*lines, alone])), stderr=True), sys.stderr)


def check_curator_page(
    page: Path | None, folder: Path, others: Sequence[str | Path | None] = ()
) -> None:
    """Refuse a place that cannot be, before anything is paid for.

    Parameters
    ----------
    page
        Where it is to go, if at all.
    folder
        What may be published.
    others
        Files that must stay as they are: table, domain, ledger.
    """
    if page is None:
        return
    if page.exists() and any(
        o is not None and Path(o).exists() and page.samefile(o) for o in others
    ):
        raise InvalidSetting(
            "The page for you alone would replace a file that this command reads.",
            "Name another, e.g. --curator mine.html.",
            setting="--curator",
        )
    if page.resolve().is_relative_to(folder.resolve()):
        raise InvalidSetting(
            "The page for you alone lies in the folder that may be published.",
            "Keep it elsewhere, e.g. --curator mine.html.",
            setting="--curator",
        )


def write_curator_page(part: Path, result: "Result", lines: list[str], ledger: Path | None) -> None:
    """Write the page of a result with what the holder alone may know.

    Parameters
    ----------
    part
        The file, which nobody else can read then.
    result
        What was released.
    lines
        What became of rows that were not taken as they came.
    ledger
        Where promises about the table are added up.
    """
    from shoal.privacy import Ledger, Protected
    from shoal.report import findings, render
    from shoal.scratch import private_file

    texts = lines or ["Every row was taken as it came: none was left out or moved to the edge."]
    full = replace(result, protected={"lines": Protected(texts)})
    known = None if ledger is None else Ledger(ledger)
    page = render(findings(full, "curator", ledger=known))
    private_file(part).write_text(page, encoding="utf-8", newline="\n")
