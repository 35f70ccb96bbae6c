"""CPU time of a call, and results written where they can be compared."""

import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def cpu_seconds(call: Callable[[], object], repeats: int = 5) -> float:
    """The least CPU time of some calls: what the work costs when nothing else gets in the way."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def write(name: str, rows: list[dict[str, Any]]) -> None:
    """Print a table and keep it as JSON."""
    RESULTS.mkdir(exist_ok=True)
    record = {"python": platform.python_version(), "machine": platform.machine(), "rows": rows}
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
    show(rows)


def show(rows: list[dict[str, Any]]) -> None:
    """Print a table."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    widths = [max(len(c), *(len(str(row.get(c, ""))) for row in rows)) for c in columns]
    for cells in (columns, *([str(row.get(c, "")) for c in columns] for row in rows)):
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)))
