"""Released wheels of others, each in an environment of its own, audited without a hint.

    python bench/audit_wheels.py [--environments FOLDER] [--minutes N] [PACKAGE ...]

Every wheel is installed by name into a new environment under a temporary folder (kept and used
again where ``--environments`` names one), its outputs are drawn there by ``wheels/draw.py``, and
``shoal.audit`` holds them against the claim here. No event, score or other hint is given: only the
pair of inputs. Results go to ``results/audit_wheels.json`` and ``docs/wheels.md``, which also names
what did not install. Only packages that are named are run again; the others keep their results.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from measure import RESULTS, show

from shoal.audit import lower_bound_of

HERE = Path(__file__).parent
KEPT = RESULTS / "audit_wheels.json"
PAGE = HERE.parent / "docs" / "wheels.md"
ALPHA = 0.001  # of each verdict
DRAWS = 20_000  # outputs on either input
Row = dict[str, Any]


@dataclass(frozen=True)
class Wheel:
    """A released wheel, and what is audited of it.

    Parameters
    ----------
    package
        Its name, with the version where that matters.
    module
        The file in ``wheels`` that draws from it.
    mechanisms
        Names in that file, each with the pair in words.
    more
        What it imports without requiring it, or requires in another version.
    draws
        Outputs on either input, where not ``DRAWS``.
    """

    package: str
    module: str
    mechanisms: dict[str, str]
    more: tuple[str, ...] = ()
    draws: dict[str, int] | None = None

    @property
    def folder(self) -> str:
        return self.package.replace("==", "-")


BITS = {
    "bit vector, f = 1": "eight zeros; ones at both ends",
    "bit vector, f = 0.95": "eight zeros; ones at both ends",
    "bit vector, f = 1, two lengths": "eight zeros; sixteen zeros",
}
VALUES = "the first value; the second of 16"
PURE = ("DEClient", "UEClient", "UEClient, use_oue", "HEClient", "FastLHClient, k = 8",
        "HadamardResponseClient", "HadamardMechClient", "RAPPORClient", "CMSClient",
        "CMSClient, is_hadamard")  # fmt: skip
MULTI = ("GRR_Client", "UE_Client, symmetric", "UE_Client, optimal", "SS_Client", "HE_Client")
DIFF = {
    "KMeans": "200 rows at one place; one more far away",
    "Geometric": "0; 1",
    "Laplace": "0; 1",
}
WHEELS = (
    Wheel("opendp==0.14.2", "opendp_wheel", BITS),
    Wheel("opendp==0.16.0", "opendp_wheel", BITS),
    Wheel(
        "diffprivlib==0.6.6",
        "diffprivlib_wheel",
        DIFF,
        more=("scikit-learn<1.9",),
        draws={"KMeans": 2_000},
    ),
    Wheel(
        "pure-ldp",
        "pure_ldp_wheel",
        dict.fromkeys(PURE, VALUES),
        more=("scikit-learn", "statsmodels"),
    ),
    Wheel(
        "multi-freq-ldpy", "multi_freq_ldpy_wheel", dict.fromkeys(MULTI, VALUES), more=("scipy",)
    ),
    Wheel("privkit", "", {}),
    Wheel("smartnoise-synth", "", {}),
)


def run_quietly(command: list[Any], **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=False, capture_output=True, text=True, **more)


def install(wheel: Wheel, folder: Path, minutes: float) -> tuple[Path, str]:
    """The interpreter of the wheel's environment, and why it is of no use, if so."""
    home = folder / wheel.folder
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
    command = [str(python), "-m", "pip", "install", "-q", wheel.package, *wheel.more]
    try:
        done = run_quietly(command, timeout=60 * minutes)
    except subprocess.TimeoutExpired:
        return python, f"not installed within {minutes:g} minutes"
    if done.returncode == 0:
        return python, ""
    errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return python, (errors or ["pip failed without a reason"])[-1].removeprefix("ERROR: ")


def installed_version(wheel: Wheel, python: Path) -> str:
    name = wheel.package.partition("==")[0]
    code = f"from importlib.metadata import version; print(version({name!r}))"
    return run_quietly([python, "-c", code]).stdout.strip()


def audited(wheel: Wheel, name: str, python: Path, folder: Path) -> Row:
    """Draw in the wheel's environment, audit here."""
    start, out = time.monotonic(), folder / "outputs.json"
    draws = (wheel.draws or {}).get(name, DRAWS)
    command = [python.absolute(), "draw.py", wheel.module, name, str(draws), str(out)]
    done = run_quietly(command, cwd=HERE / "wheels")
    row: Row = {"mechanism": name, "pair": wheel.mechanisms[name], "draws": draws}
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        return row | {"verdict": "not run", "event": why, "claimed": None, "certified": None}
    drawn = json.loads(out.read_text())
    out.unlink()
    found = lower_bound_of(*drawn["outputs"], claim=drawn["claim"], alpha=ALPHA)
    return row | {
        "claimed": drawn["claim"],
        "certified": float(found),
        "ceiling": found.ceiling,
        "verdict": found.verdict,
        "event": found.event,
        "seconds": round(time.monotonic() - start, 1),
    }


HEAD = """\
# What the audit finds in wheels of others

Generated by `bench/audit_wheels.py`, which installs each released wheel into an environment of its
own, draws outputs there and holds them against the claim with `shoal.audit.lower_bound_of`. No
event, score or other hint is given, only the two inputs.

Run on {date} with shoal {shoal}: {tests} tests, each wrong about a correct mechanism with a chance
of at most alpha = {alpha:g}; so at most {alarms:.1%} that any of them is a false alarm.
*Certified*: the loss is at least this. *Could show*: the most that so many draws can certify.
*Consistent* proves nothing beyond this pair and these draws.

| wheel | mechanism | pair | claimed | certified | could show | draws a side | verdict |
|---|---|---|---|---|---|---|---|
"""
FAULTS = """
## What is behind the violations

- **opendp 0.14.2**, bit vectors: the last bit of a vector leaves as it is. Version 0.16.0 mends it
  and is consistent on the same pairs. Vectors of two lengths, which its domain allows and its
  metric calls neighbours, are told apart by both versions: fix the length before the mechanism.
- **diffprivlib 0.6.6**, `KMeans`: a cluster without rows keeps its place
  ([why not](why-not.md#a-cluster-without-rows-shows-who-is-alone)). Its `Laplace`, and `HEClient`
  and `HE_Client` below: noise is added in floating point, so low bits tell whether a 1 was added to
  it; `Geometric`, on whole numbers, is consistent.
- **pure-ldp 1.2.0**, `RAPPORClient`: a bit that is set is never cleared, so every report has all
  bits of its value. `convert_f_to_eps` is taken as the claim.
- **multi-freq-ldpy 0.2.5**, `SS_Client`: when the true value is among those reported it always
  stands first, so a report that has another one first and it behind is impossible; sorted, the
  report would do.
"""


def page_text(record: Row) -> str:
    """``docs/wheels.md``, of nothing but the results and what is known of their reasons."""
    rows = [row for row in record["rows"] if row["verdict"] != "not run"]
    head = HEAD.format(**record, tests=len(rows), alarms=len(rows) * record["alpha"])
    left_out = [f"- {each['package']}: {each['why']}." for each in record["left_out"]]
    left_out += [
        f"- {row['wheel']}, {row['mechanism']}: {row['event']}."
        for row in record["rows"]
        if row["verdict"] == "not run"
    ]
    text = head + "\n".join(map(page_line, rows)) + "\n" + FAULTS
    if left_out:
        text += "\n## What was not audited\n\n" + "\n".join(left_out) + "\n"
    return text


def page_line(row: Row) -> str:
    verdict = f"**{row['verdict']}**" if row["verdict"] == "violated" else row["verdict"]
    numbers = f"{row['claimed']:.3g} | {row['certified']:.2f} | {row['ceiling']:.2f}"
    return (
        f"| {row['wheel']} | {row['mechanism']} | {row['pair']} | {numbers} | {row['draws']:,} | "
        f"{verdict} |"
    )


def run(wheels: list[Wheel], folder: Path, minutes: float) -> Row:
    rows, left_out = [], []
    for wheel in wheels:
        python, why = install(wheel, folder, minutes)
        if why or not wheel.mechanisms:
            left_out.append({"package": wheel.package, "why": why or "no case is written for it"})
            print(left_out[-1], flush=True)
            continue
        name = f"{wheel.package.partition('==')[0]} {installed_version(wheel, python)}"
        for mechanism in wheel.mechanisms:
            rows.append(
                {
                    "package": wheel.package,
                    "wheel": name,
                    **audited(wheel, mechanism, python, folder),
                }
            )
            print(rows[-1], flush=True)
    return {
        "shoal": version("shoal"),
        "python": sys.version.split()[0],
        "date": datetime.now(UTC).date().isoformat(),
        "alpha": ALPHA,
        "rows": rows,
        "left_out": left_out,
    }


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("packages", nargs="*", metavar="PACKAGE")
    asked.add_argument("--environments", type=Path, help="a folder to keep environments in")
    asked.add_argument("--minutes", type=float, default=15, help="the most an installation takes")
    given = asked.parse_args()
    wheels = [w for w in WHEELS if not given.packages or w.package in given.packages]
    with tempfile.TemporaryDirectory(prefix="shoal-wheels-") as temporary:
        record = run(wheels, given.environments or Path(temporary), given.minutes)
    show([{k: row.get(k) for k in ("wheel", "mechanism", "claimed", "certified", "verdict")}
          for row in record["rows"]])  # fmt: skip
    record = with_others(record)
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    KEPT.write_text(text, encoding="utf-8")
    PAGE.write_text(page_text(record), encoding="utf-8")


def with_others(record: Row) -> Row:
    """The results, and those of packages that were not run again."""
    if not KEPT.exists():
        return record
    older = json.loads(KEPT.read_text(encoding="utf-8"))
    for part in ("rows", "left_out"):
        done = {each["package"] for kind in ("rows", "left_out") for each in record[kind]}
        old = [each for each in older[part] if each["package"] not in done]
        order = [wheel.package for wheel in WHEELS]
        record = record | {
            part: sorted(old + record[part], key=lambda each: order.index(each["package"]))
        }
    return record


if __name__ == "__main__":
    main()
