"""Write the tables of exact losses in "What the audit found" from the last run of replays.

    python bench/replay.py && python tools/replay_table.py

What stands between their markers is made here from ``bench/results/replay.json``; the rest of the
page is written by hand and by ``tools/audit_table.py``.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "audit.md"
RESULTS = ROOT / "bench" / "results" / "replay.json"
Row = dict[str, Any]


def results() -> Row:
    """What the run left."""
    record: Row = json.loads(RESULTS.read_text(encoding="utf-8"))
    return record


def rows_of(kind: str) -> list[Row]:
    """The lines of a kind."""
    return [row for row in results()["rows"] if row["kind"] == kind]


def run() -> str:
    """When, with which version, how many pairs, at which cost."""
    record, families = results(), rows_of("families")
    pairs = sum(row["pairs"] for row in families)
    minutes = sum(row["cpu_seconds"] for row in record["rows"]) / 60
    return (
        f"Run on {record['date']} with shoal {record['shoal']}: {len(families)} families, "
        f"{pairs:,} pairs of tables, each both ways, seed {record['seed']}, {minutes:.0f} CPU "
        "minutes."
    )


def families() -> str:
    """Every family with its largest losses."""
    heads = ("replayed", "claimed", "as drawn", "at worst", "delta", "pairs", "steps by", "verdict")
    lines = [
        [
            row["name"],
            f"{row['epsilon']:g}",
            f"{row['loss']:.3f}",
            f"{row['worst']:.4f}",
            f"{row['delta']:.1e} of {row['delta_claim']:g}" if row["delta_claim"] else "",
            str(row["pairs"]),
            ", ".join(row["steps"]),
            row["verdict"],
        ]
        for row in rows_of("families")
    ]
    return _table(heads, lines)


def twins() -> str:
    """Every broken form, with what gave it away."""
    heads = ("twin", "as drawn", "at worst", "what gave it away", "verdict")
    lines = [
        [
            row["name"],
            f"{row['loss']:.3g}",
            f"{row['worst']:.3g}",
            row["faults"][0],
            row["verdict"],
        ]
        for row in rows_of("twins")
    ]
    return _table(heads, lines)


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 3), "---", "---"]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


PARTS = {"replay run": run, "replays": families, "replayed twins": twins}


def with_tables(page: str) -> str:
    """The page with what stands between its markers made anew."""
    for name, made in PARTS.items():
        begin, end = f"<!-- {name}: by tools/replay_table.py -->", f"<!-- {name}: end -->"
        new = f"{begin}\n\n{made()}\n\n{end}"
        page, count = re.subn(f"{begin}.*?{end}", lambda _, new=new: new, page, flags=re.DOTALL)
        assert count == 1, f"the page has no place for {name}"
    return page


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
