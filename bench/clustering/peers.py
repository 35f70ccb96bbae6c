"""Other libraries and versions, each in a process of its own: they do not import beside ours."""

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
    python = diffprivlib_python()
    if python is not None:
        yield from _fits(_worker(python, "diffprivlib_fit.py"), rows, k, epsilon, seeds)


def former_fits(
    checkout: Path, rows: NDArray[np.float64], k: int, epsilon: float, seeds: Sequence[int]
) -> Iterator[Fit]:
    """Private k-means of another checkout of shoal on rows in [-1, 1]^d, once a seed."""
    worker = _worker(Path(sys.executable), "former_fit.py", checkout / "src")
    yield from _fits(worker, rows, k, epsilon, seeds)


def _fits(
    worker: "subprocess.Popen[str]",
    rows: NDArray[np.float64],
    k: int,
    epsilon: float,
    seeds: Sequence[int],
) -> Iterator[Fit]:
    assert worker.stdin is not None
    assert worker.stdout is not None
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
def _worker(python: Path, script: str, source: Path | None = None) -> "subprocess.Popen[str]":
    """One process for all fits: starting it takes longer than most of them.

    Parameters
    ----------
    source
        The folder whose packages come first; None for those that are installed.
    """
    worker = subprocess.Popen(
        [str(python), str(HERE / script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=_one_thread() | ({} if source is None else {"PYTHONPATH": str(source)}),
    )
    atexit.register(worker.kill)
    return worker


def _one_thread() -> dict[str, str]:
    return os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _runs(*command: object) -> bool:
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0
