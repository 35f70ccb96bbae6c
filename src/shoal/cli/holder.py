"""What the holder of the rows is told besides: how many were left out, or moved to the edge.

These numbers are read off the rows and nothing was paid for them. They go to a terminal somebody
sits at and to a page only its owner can read: never to standard output, ``--json``, logs or the
folder that may be published.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.output import entry, in_print, put
from shoal.errors import AlreadyExists, InvalidSetting

if TYPE_CHECKING:
    from shoal.engine import Rows
    from shoal.privacy import Result

__all__ = ["Curator", "check_curator_page", "curator_page", "left_out_or_moved", "tell_holder"]

Curator = Annotated[
    Path | None,
    typer.Option(
        "--curator",
        metavar="FILE",
        envvar="SHOAL_CURATOR",
        help="Also write the page for you alone, outside the folder: it adds how many rows were "
        "left out or moved to the edge.",
        show_default=False,
    ),
]


def left_out_or_moved(rows: "Rows") -> list[str]:
    """What became of rows that were not taken as they came, in sentences; none if all were."""
    seen = rows.seen
    if seen is None:
        return []
    beyond = seen.kept - rows.size()
    counts = {
        f"{seen.nonfinite:,} lack a number, or have text for one, and were left out": (
            seen.nonfinite
        ),
        f"{seen.outside:,} lie outside the bounds and were moved to the edge": seen.outside,
        f"{beyond:,} are more than a person keeps and were left out": beyond,
    }
    told = [words for words, count in counts.items() if count]
    return [f"Of {seen.read:,} rows {words}." for words in told]


def tell_holder(lines: list[str], *, quiet: bool) -> None:
    """Say it on standard error, if that is a terminal: what is kept in files may be passed on."""
    if lines and not quiet and sys.stderr.isatty():
        words = " ".join([*lines, "This is for you alone: it is in no file that may be published."])
        put(in_print(entry("Yours", words), stderr=True), sys.stderr)


def check_curator_page(
    page: Path | None, folder: Path, overwrite: bool, others: Sequence[str | Path | None] = ()
) -> None:
    """Refuse a place that cannot be, before anything is paid for.

    Parameters
    ----------
    page
        Where it is to go, if at all.
    folder
        What may be published.
    overwrite
        Whether an older page may be replaced.
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
    if page.exists() and not overwrite:
        raise AlreadyExists(f"{page} exists already.", "Choose another name, or add --overwrite.")


def curator_page(result: "Result", lines: list[str], **told: Any) -> str:
    """The page of a result with what the holder alone may know."""
    from shoal.privacy import Protected
    from shoal.report import findings, render

    said = lines or ["Every row was taken as it came: none was left out or moved to the edge."]
    return render(
        findings(replace(result, protected={"lines": Protected(said)}), "curator", **told)
    )
