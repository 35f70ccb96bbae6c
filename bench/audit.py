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

from shoal.audit import Case, estimators, shipped, twins

KEPT = Path(__file__).parent / "data" / "audit.jsonl"
KINDS: dict[str, Mapping[str, Case]] = {
    "mechanisms": shipped,
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
    names = [name for name, case in shipped.items() if case.draws >= 100_000]
    for seed in range(1, ALARMS + 1):
        name = names[seed % len(names)]
        if ("alarms", f"{name}, seed {seed}") not in done:
            line = audited("alarms", name, shipped[name], ALARM_DRAWS, seed)
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


def kept() -> list[Line]:
    if not KEPT.exists():
        return []
    return [json.loads(line) for line in KEPT.read_text().splitlines()]


def write(rows: list[Line]) -> None:
    """In the order of the cases, whichever process came first."""
    order = {(kind, name): i for i, (kind, name) in enumerate(
        (kind, name) for kind, cases in KINDS.items() for name in cases)}  # fmt: skip
    ordered = sorted(rows, key=lambda row: order.get((row["kind"], row["name"]), len(order)))
    record = {
        "shoal": version("shoal"),
        "date": datetime.now(UTC).date().isoformat(),
        "alpha": ALPHA,
        "seed": 0,
        "rows": ordered,
    }
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (RESULTS / "audit.json").write_text(text, encoding="utf-8")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("kinds", nargs="*", choices=[*KINDS, "alarms", []], metavar="KIND")
    asked.add_argument("--resume", action="store_true", help="keep what is there")
    asked.add_argument("--fits", type=int, help="at most so many fits a side of an estimator")
    given = asked.parse_args()
    if not given.resume:
        KEPT.unlink(missing_ok=True)
    done = {(row["kind"], row["name"]) for row in kept()}
    for kind in given.kinds or [*KINDS, "alarms"]:
        for line in alarms(done) if kind == "alarms" else lines(kind, done, given.fits):
            with KEPT.open("a") as file:
                file.write(json.dumps(line) + "\n")
            print(f"{line['cpu_seconds']:8.1f} s  {line['verdict']:12} {line['name']}", flush=True)
    write(kept())
    show([{k: row[k] for k in ("kind", "name", "claimed", "certified", "verdict")}
          for row in kept()])  # fmt: skip


if __name__ == "__main__":
    main()
