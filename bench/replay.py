"""The exact loss of whole fits: every estimator over 200 pairs of tables, every twin over 24.

    python bench/replay.py [KIND ...] [--resume] [--pairs N] [--only TEXT]

Kinds are families and twins; left out, both. Each line is kept in ``data/replay.jsonl``;
``--resume`` goes on from there, also beside another such process. Results go to
``results/replay.json``, from which ``tools/replay_table.py`` writes its part of ``docs/audit.md``.
No chance is involved beyond the choice of pairs and paths, which follows from the seed.
"""

import argparse
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: CPU time, not waiting threads

from measure import RESULTS

from shoal.audit.loss._replay_families import families, replay_family
from shoal.estimator import person_and_limit

LINES_FILE = Path(__file__).parent / "data" / "replay.jsonl"
PAIRS, TWIN_PAIRS, SEARCH = 200, 24, 40
Line = dict[str, Any]


def models(kind: str) -> dict[str, Any]:
    """The estimators of a kind."""
    if kind == "families":
        return dict(families)
    from shoal.audit.loss._twins import twins  # broken on purpose: loaded where they are wanted

    return dict(twins)


def lines(kind: str, done: set[tuple[str, str]], pairs: int, only: str) -> Iterator[Line]:
    """A line an estimator, but for those that are done."""
    for name, model in models(kind).items():
        if (kind, name) not in done and only in name:
            of_people = person_and_limit(model.domain)[0] is not None
            search = 0 if of_people or kind == "twins" else SEARCH
            loss = replay_family(model, pairs if kind == "families" else TWIN_PAIRS, search=search)
            yield {"kind": kind, "name": name, **asdict(loss)}


def begin(resume: bool) -> None:
    """Make the file of lines: empty, or from the last results where there is none to go on."""
    LINES_FILE.parent.mkdir(exist_ok=True)
    if not resume:
        LINES_FILE.write_text("")
    elif not LINES_FILE.exists():
        rows = json.loads((RESULTS / "replay.json").read_text(encoding="utf-8"))["rows"]
        LINES_FILE.write_text("".join(json.dumps(row) + "\n" for row in rows))


def earlier_lines() -> list[Line]:
    """The lines of this run so far."""
    return [json.loads(line) for line in LINES_FILE.read_text(encoding="utf-8").splitlines()]


def write(rows: list[Line]) -> None:
    """Write the last line of each estimator there is, in their order."""
    last = {(row["kind"], row["name"]): row for row in rows}
    names = [(kind, name) for kind in ("families", "twins") for name in models(kind)]
    record = {
        "shoal": version("shoal"),
        "date": datetime.now(UTC).date().isoformat(),
        "seed": 0,
        "rows": [last[key] for key in names if key in last],
    }
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (RESULTS / "replay.json").write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    parser.add_argument("--resume", action="store_true", help="keep what is there")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="pairs of tables a family")
    parser.add_argument("--only", default="", help="names that contain this text")
    options = parser.parse_args()
    begin(options.resume)
    done = {(row["kind"], row["name"]) for row in earlier_lines()}
    for kind in options.kinds or ["families", "twins"]:
        for line in lines(kind, done, options.pairs, options.only):
            with LINES_FILE.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            print(f"{line['cpu_seconds']:8.1f} s  {line['verdict']:12} {line['name']}", flush=True)
    write(earlier_lines())


if __name__ == "__main__":
    main()
