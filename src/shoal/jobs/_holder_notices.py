"""What only the holder of the rows is told: how many rows were left out, or moved to the edge.

These numbers depend on the rows, and no budget was spent on them. They are printed on an
interactive terminal and written to a page that only its owner can read, never to standard output,
``--json``, logs or the folder that may be published.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import InvalidSetting, quantity, setting

if TYPE_CHECKING:
    from shoal.engine import Rows
    from shoal.privacy import Result


def changed_row_texts(rows: "Rows") -> list[str]:
    """Return sentences about rows that were left out or moved; none if there are none."""
    tally = rows.tally
    if tally is None:
        return []
    beyond = tally.admitted - rows.size()
    counts = {
        f"{tally.nonfinite:,} without a number, or with text instead of one, left out": (
            tally.nonfinite
        ),
        f"{tally.outside:,} outside the bounds, moved to the edge": tally.outside,
        f"{beyond:,} beyond the limit per person, left out": beyond,
    }
    return [f"Of {quantity(tally.read, 'row')}, {text}." for text, count in counts.items() if count]


def check_curator_page(
    page: Path | None, folder: Path, others: Sequence[str | Path | None] = ()
) -> None:
    """Refuse a path that cannot be written, before any budget is spent.

    Parameters
    ----------
    others
        Files that must stay as they are: table, domain, ledger.
    """
    if page is None:
        return
    if page.exists() and any(
        o is not None and Path(o).exists() and page.samefile(o) for o in others
    ):
        raise InvalidSetting(
            "The curator's page would overwrite a file that this command reads.",
            "Name another file, e.g. " + setting("curator", "mine.html") + ".",
        )
    if page.resolve().is_relative_to(folder.resolve()):
        raise InvalidSetting(
            "The curator's page would be in the folder that may be published.",
            "Keep it elsewhere, e.g. " + setting("curator", "mine.html") + ".",
        )


def write_curator_page(part: Path, result: "Result", lines: list[str], ledger: Path | None) -> None:
    """Write the page of a result with what only the holder may know.

    Parameters
    ----------
    lines
        What became of rows that were not taken as they came.
    """
    from shoal.files import private_file
    from shoal.pages import findings, render
    from shoal.privacy import Ledger, Protected

    texts = lines or ["Every row was used unchanged: none was left out or moved to the edge."]
    full = replace(result, protected={"lines": Protected(texts)})
    known = None if ledger is None else Ledger(ledger)
    page = render(findings(full, "curator", ledger=known))
    private_file(part).write_text(page, encoding="utf-8", newline="\n")
