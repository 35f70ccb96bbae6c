"""Run one of the task scripts several times, and print how far off its answers are.

    python measure.py with_shoal.py school.csv 10

Runs in the environment of the library in question; needs NumPy besides it. The table is
``shoal data make school``, with ``school.yaml`` beside it.
"""

import csv
import json
import os
import runpy
import sys
import tempfile
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np


def truth(path: Path) -> dict[str, np.ndarray]:
    """The exact minutes of each stage."""
    rows = defaultdict(list)
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            rows[row["stage"]].append(float(row["minutes_per_session"]))
    return {stage: np.array(minutes) for stage, minutes in rows.items()}


def errors(answers: dict, exact: dict[str, np.ndarray]) -> dict[str, float]:
    """Mean absolute errors; those of sums in hundredths of the sum."""
    bins = len(next(iter(answers["histograms"].values())))
    found = {name: [] for name in ("count", "sum, %", "mean", "histogram cell")}
    for stage, minutes in exact.items():
        cells = np.histogram(minutes, bins, (0, 120))[0]
        found["count"].append(abs(answers["counts"][stage] - len(minutes)))
        found["sum, %"].append(100 * abs(answers["sums"][stage] / minutes.sum() - 1))
        found["mean"].append(abs(answers["means"][stage] - minutes.mean()))
        found["histogram cell"].append(np.abs(answers["histograms"][stage] - cells).mean())
    total = sum(map(len, exact.values()))
    return {"total": abs(answers["total"] - total)} | {n: np.mean(v) for n, v in found.items()}


def code_lines(script: Path) -> int:
    """Lines of code of the tasks themselves."""
    text = script.read_text().split("# The tasks begin.")[1].split("# The tasks end.")[0]
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") for line in text.splitlines()
    )


if __name__ == "__main__":
    script, table, times = (
        Path(sys.argv[1]).resolve(),
        Path(sys.argv[2]).resolve(),
        int(sys.argv[3]),
    )
    warnings.simplefilter("ignore")
    measured = defaultdict(list)
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            for name in (table, table.with_suffix(".yaml")):
                os.symlink(name, Path(folder) / name.name)
            os.chdir(folder)
            answers = runpy.run_path(str(script))["answers"]
            os.chdir("/")
        for name, value in errors(answers, truth(table)).items():
            measured[name].append(value)
    means = {name: round(float(np.mean(values)), 3) for name, values in measured.items()}
    print(json.dumps({"script": script.stem, "lines": code_lines(script), "runs": times, **means}))
