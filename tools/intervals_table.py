"""Write the tables of the page on intervals from the last runs.

    python bench/intervals.py table FOLDER && python tools/intervals_table.py

What stands between the markers is made here from ``bench/results/intervals.json``, which
``bench/interval_rates.py`` writes into, too.
"""

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "decisions" / "intervals.md"
RESULTS = ROOT / "bench" / "results" / "intervals.json"
Row = dict[str, Any]
LOW, HIGH = 0.85, 0.97  # a coverage within these is as stated


def results() -> dict[str, list[Row]]:
    """What the runs left."""
    record: dict[str, list[Row]] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return record


def cells(rows: list[Row]) -> str:
    """A line a cell, and what they come to."""
    heads = ("cell", "epsilon", "centres held", "sizes held", "totals held", "width", "unstable",
             "inertia ratio", "the last step's noise alone", "CPU seconds")  # fmt: skip
    names = ("cell", "epsilon", "coverage", "sizes", "totals", "width", "unstable",
             "inertia ratio", "last step alone", "interval cpu")  # fmt: skip
    lines = [[_text(row[name]) for name in names] for row in rows]
    return f"{count(rows)}\n\n{_table(heads, lines)}"


def count(rows: list[Row]) -> str:
    """How many cells held what was stated."""
    shares = [row["coverage"] for row in rows if row["coverage"] is not None]
    held = sum(LOW <= share <= HIGH for share in shares)
    above, below = sum(share > HIGH for share in shares), sum(share < LOW for share in shares)
    widths = sorted(row["width"] for row in rows if row["width"] is not None)
    return (
        f"{len(rows)} cells: coverage of centres between {LOW} and {HIGH} in {held}, above in "
        f"{above}, below in {below}; median width {widths[len(widths) // 2]:g}."
    )


def cost(rows: list[Row]) -> str:
    """CPU seconds of fits and their intervals."""
    heads = ("rows", "columns", "a fit", "its intervals", "in fits")
    names = ("rows", "columns", "fit cpu", "interval cpu", "in fits")
    return _table(heads, [[f"{row[name]:,}" for name in names] for row in rows])


def ranges(rows: list[Row]) -> str:
    """A line a table: the share of ranges that held, by synopsis and epsilon."""
    kinds = sorted({(row["synopsis"], row["epsilon"]) for row in rows})
    held = {(row["table"], row["synopsis"], row["epsilon"]): row["held"] for row in rows}
    heads = ("table", *(f"{name}, epsilon {epsilon:g}" for name, epsilon in kinds))
    tables = dict.fromkeys(row["table"] for row in rows)
    return _table(heads, [[table, *(_text(held[table, *kind]) for kind in kinds)]
                          for table in tables])  # fmt: skip


def reports(rows: list[Row]) -> str:
    """A line a setting of reports."""
    heads = ("setting", "epsilon", "fits", "centres held", "sizes held", "width", "unstable",
             "cost in fits")  # fmt: skip
    names = ("setting", "epsilon", "fits", "coverage", "sizes", "width", "unstable",
             "cost in fits")  # fmt: skip
    return _table(heads, [[_text(row[name]) for name in names] for row in rows])


def with_tables(page: str) -> str:
    """The page with the tables of the last runs."""
    record = results()
    parts = {name: cells(record[name]) for name in ("first", "second", "third") if name in record}
    makers = {"cost": cost, "ranges": ranges, "reports": reports}
    parts |= {name: make(record[name]) for name, make in makers.items() if name in record}
    for name, text in parts.items():
        between = re.compile(f"(<!-- {name} -->\n).*?(\n<!-- end -->)", re.DOTALL)
        page = between.sub(lambda match, text=text: match[1] + text + match[2], page)
    return page


def _text(value: Any) -> str:
    return "-" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _table(heads: tuple[str, ...], lines: list[list[str]]) -> str:
    rows = [list(heads), ["---"] * len(heads), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
