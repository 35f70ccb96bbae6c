"""Other libraries, each in an environment of its own: diffprivlib does not import beside ours."""

import atexit
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
ENVIRONMENT = HERE.parent / "data" / "diffprivlib"
REQUIRED = ("diffprivlib==0.6.6", "scikit-learn<1.9")


class Fit(NamedTuple):
    """What a library made of a table."""

    seed: int
    centers: NDArray[np.float64]
    seconds: float


@cache
def diffprivlib_python() -> Path | None:
    """The interpreter that has diffprivlib, installed on first use; None if that fails."""
    python = ENVIRONMENT / "bin" / "python"
    ready = ENVIRONMENT / ".ready"
    if not ready.exists():
        print(f"installing {', '.join(REQUIRED)} into {ENVIRONMENT.name}/", flush=True)
        made = _runs(sys.executable, "-m", "venv", ENVIRONMENT)
        if not made or not _runs(python, "-m", "pip", "install", "--quiet", *REQUIRED):
            print("diffprivlib cannot be installed here: its column stays empty.", flush=True)
            return None
        ready.touch()
    return python


def diffprivlib_fits(
    rows: NDArray[np.float64], k: int, epsilon: float, seeds: Sequence[int]
) -> Iterator[Fit]:
    """Its k-means on rows in [-1, 1]^d, once a seed; nothing where it is not installed."""
    worker = _worker()
    if worker is None or worker.stdin is None or worker.stdout is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.npy")
        np.save(file, rows)
        for seed in seeds:
            asked = {"rows": str(file), "k": k, "epsilon": epsilon, "seed": seed}
            worker.stdin.write(json.dumps(asked) + "\n")
            worker.stdin.flush()
            said = json.loads(worker.stdout.readline())
            yield Fit(seed, np.array(said["centers"]), said["seconds"])


@cache
def _worker() -> "subprocess.Popen[str] | None":
    """One process for all fits: starting it takes longer than most of them."""
    python = diffprivlib_python()
    if python is None:
        return None
    worker = subprocess.Popen(
        [str(python), str(HERE / "diffprivlib_fit.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=_one_thread(),
    )
    atexit.register(worker.kill)
    return worker


def _one_thread() -> dict[str, str]:
    return os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _runs(*command: object) -> bool:
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0
