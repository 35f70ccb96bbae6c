"""Print the walk of one piece of work through our own files: each function once, as first entered.

python tools/walks.py kmeans      (or: wave, table, command)

``docs/architecture.md`` tells the same walks at the level a reader needs; a test compares the two.
"""

import argparse
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import csv

import shoal
from shoal.cli.start import main as shoal_command

SOURCE = Path(shoal.__file__).parent
N_ROWS = 2_000


class Step(NamedTuple):
    """A function of ours, by its file (below ``src/shoal``) and its qualified name."""

    file: str
    function: str


def walk(work: Callable[[], Any]) -> list[Step]:
    """The functions of ours that ``work`` enters, in the order in which each is entered first.

    Parameters
    ----------
    work
        Called twice; only the second call is traced, so that imports and caches are not part of it.
    """
    work()
    steps: dict[Step, None] = {}

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and (step := _step_of(frame)) is not None:
            steps.setdefault(step)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(before)
    return list(steps)


def works(folder: Path) -> dict[str, Callable[[], Any]]:
    """The four pieces of work, by name; seeded, so that each walks the same way every time.

    Parameters
    ----------
    folder
        Where the command's table is written, and its model.
    """
    box, rows = shoal.Box.unit(2), _four_groups()
    table = shoal.students(N_ROWS, seed=1).select(["system", "level", "income_quintile"])
    words = _command(folder, rows)
    return {
        "kmeans": lambda: shoal.PrivateKMeans(4, epsilon=1, domain=box, random_state=1).fit(rows),
        "wave": lambda: shoal.WaveCluster(epsilon=1, domain=box, random_state=1).fit(rows),
        "table": lambda: _anonymizer().fit_transform(table),
        "command": lambda: _run(words),
    }


def _step_of(frame: FrameType) -> Step | None:
    """The step that entering a frame is; None for others' code, imports and nameless functions."""
    code = frame.f_code
    path = Path(code.co_filename)
    if path.suffix != ".py" or not path.is_relative_to(SOURCE) or code.co_name.startswith("<"):
        return None
    if code.co_name in ("__getattr__", "__dir__") or _is_importing(frame):
        return None
    return Step(path.relative_to(SOURCE).as_posix(), code.co_qualname)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(str(SOURCE)):
            return True
        frame = frame.f_back
    return False


def _four_groups() -> np.ndarray:
    rng = np.random.default_rng(0)
    centers = ((0.2, 0.2), (0.8, 0.8), (0.2, 0.8), (0.8, 0.2))
    return np.clip(
        np.concatenate([rng.normal(center, 0.05, (N_ROWS // 4, 2)) for center in centers]), 0, 1
    )


def _anonymizer() -> shoal.TopDownSpecialization:
    systems = {"school": ["primary", "secondary", "special"]}
    systems["training"] = ["technical", "teacher training"]
    levels = {"type": "int", "domain": (1, 6), "hierarchy": {"kind": "interval", "width": 1}}
    return shoal.TopDownSpecialization(
        k=5,
        hierarchies={"system": {"tree": {"*": systems}}, "level": levels},
        sensitive={"income_quintile": {"type": "int", "l": {"value": 3}}},
    )


def _command(folder: Path, rows: np.ndarray) -> list[str]:
    table, domain = folder / "in.csv", folder / "in.yaml"
    csv.write_csv(pa.table({"x0": rows[:, 0], "x1": rows[:, 1]}), table)
    domain.write_text("version: 1\ncolumns: {x0: {low: 0, high: 1}, x1: {low: 0, high: 1}}\n")
    words = ["shoal", "cluster", str(table), "-k", "4", "--epsilon", "1", "--domain", str(domain)]
    return [*words, "--output", str(folder / "model"), "--overwrite", "--quiet", "--seed", "1"]


def _run(words: list[str]) -> None:
    before, sys.argv = sys.argv, words
    on_sigterm = signal.getsignal(signal.SIGTERM)
    try:
        shoal_command()
    except SystemExit as left:
        if left.code:
            raise
    finally:
        sys.argv = before
        # The command's own way to end would stay, and processes forked later might not end.
        signal.signal(signal.SIGTERM, on_sigterm)


def main() -> None:
    """Print the walk that was named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=["kmeans", "wave", "table", "command"])
    name = parser.parse_args().name
    with tempfile.TemporaryDirectory() as folder:
        for step in walk(works(Path(folder))[name]):
            print(f"{step.file:45} {step.function}")


if __name__ == "__main__":
    main()
