"""The audit at full strength: every mechanism, estimator and broken twin, at its own draws.

    python bench/audit.py [KIND ...] [--resume] [--fits N]

Kinds are mechanisms, estimators, twins and alarms; left out, all of them. Each verdict is kept as a
line of ``data/audit.jsonl``; ``--resume`` goes on from there, also beside another such process.
Results go to ``results/audit.json``, from which ``tools/audit_table.py`` writes ``docs/audit.md``.
``alarms`` are 200 audits of correct mechanisms at smaller size, to see how many are called violated
wrongly. Seeds are those of the tests: `make slow` finds the same numbers.
"""

import argparse
import json
import os
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: CPU time, not waiting threads

from measure import RESULTS, show

from shoal.audit import Case, estimators, mechanisms
from shoal.audit.twins import twins

KEPT = Path(__file__).parent / "data" / "audit.jsonl"
KINDS: dict[str, Mapping[str, Case]] = {
    "mechanisms": mechanisms,
    "twins": twins,
    "estimators": estimators,
}
ALPHA = 0.01  # of each verdict
ALARMS, ALARM_DRAWS = 200, 10_000
Line = dict[str, Any]


def lines(kind: str, done: set[tuple[str, str]], fits: int | None) -> Iterator[Line]:
    """A line a case, but for those that are done."""
    for name, case in KINDS[kind].items():
        if (kind, name) not in done:
            few = fits is not None and kind == "estimators"
            yield audited(kind, name, case, min(case.draws, fits) if few else case.draws)


def alarms(done: set[tuple[str, str]]) -> Iterator[Line]:
    """Audits of mechanisms that are correct by their proofs, each with a seed of its own."""
    names = [name for name, case in mechanisms.items() if case.draws >= 100_000]
    for seed in range(1, ALARMS + 1):
        name = names[seed % len(names)]
        if ("alarms", f"{name}, seed {seed}") not in done:
            line = audited("alarms", name, mechanisms[name], ALARM_DRAWS, seed)
            yield line | {"name": f"{name}, seed {seed}"}


def audited(kind: str, name: str, case: Case, draws: int, seed: int = 0) -> Line:
    start = time.process_time()
    found = case.run(draws=draws, alpha=ALPHA, random_state=seed)
    return {
        "kind": kind,
        "name": name,
        "about": case.about,
        "claimed": found.claim,
        "certified": float(found),
        "must_show": case.at_least,
        "instrument": found.instrument,
        "draws": found.draws,
        "own_draws": case.draws,
        "verdict": found.verdict,
        "notes": list(found.notes),
        "cpu_seconds": round(time.process_time() - start, 2),
    }


def begin(resume: bool) -> None:
    """Make the file of verdicts: empty, or from the last results where there is none to go on."""
    KEPT.parent.mkdir(exist_ok=True)
    if not resume:
        KEPT.write_text("")
    elif not KEPT.exists():
        rows = json.loads((RESULTS / "audit.json").read_text(encoding="utf-8"))["rows"]
        KEPT.write_text("".join(json.dumps(row) + "\n" for row in rows))


def kept() -> list[Line]:
    return [json.loads(line) for line in KEPT.read_text().splitlines()]


def write(lines: list[Line]) -> list[Line]:
    """The last line of each case there still is, in their order, whichever process came first."""
    last = {(line["kind"], line["name"]): line for line in lines}
    cases = [(kind, name) for kind, named in KINDS.items() for name in named]
    alarmed = [key for key in last if key[0] == "alarms"]
    rows = [last[key] for key in (*cases, *alarmed) if key in last]
    record = {
        "shoal": version("shoal"),
        "date": datetime.now(UTC).date().isoformat(),
        "alpha": ALPHA,
        "seed": 0,
        "rows": rows,
    }
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (RESULTS / "audit.json").write_text(text, encoding="utf-8")
    return rows


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("kinds", nargs="*", metavar="KIND")
    asked.add_argument("--resume", action="store_true", help="keep what is there")
    asked.add_argument("--fits", type=int, help="at most so many fits a side of an estimator")
    given = asked.parse_args()
    begin(given.resume)
    done = {(row["kind"], row["name"]) for row in kept()}
    for kind in given.kinds or [*KINDS, "alarms"]:
        for line in alarms(done) if kind == "alarms" else lines(kind, done, given.fits):
            with KEPT.open("a") as file:
                file.write(json.dumps(line) + "\n")
            print(f"{line['cpu_seconds']:8.1f} s  {line['verdict']:12} {line['name']}", flush=True)
    shown = ("kind", "name", "claimed", "certified", "verdict")
    show([{column: row[column] for column in shown} for row in write(kept())])


if __name__ == "__main__":
    main()
