"""Tables of a page, in the form that all documents share."""

from collections.abc import Sequence
from typing import Any


def table_of(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], note: str = ""
) -> dict[str, Any]:
    """Return a table as a page shows it."""
    shown = {"title": title, "columns": list(columns), "rows": [list(row) for row in rows]}
    return {**shown, "note": note, "marked": False}
