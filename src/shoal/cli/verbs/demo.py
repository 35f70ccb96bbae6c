"""``shoal demo``: made-up students, from rows to a page that may leave."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.options import Json, Quiet, Seed
from shoal.cli.output import Output, Progress
from shoal.pages.demo import Release, page
from shoal.pages.page import Line

if TYPE_CHECKING:
    from shoal.pages.page import Page
    from shoal.privacy import Ledger

__all__ = ["demo"]

NAME = "shoal demo"
STUDENTS = 10_000
COLUMNS = ("sessions_per_week", "minutes_per_session")
CELLS = (30, 30)  # a session by four minutes, chosen without looking
LEDGER = "ledger.sqlite"
FILES = {f"report{mark}.{kind}" for mark in ("", "-simulation") for kind in ("html", "json")}
FILES |= {"cells.parquet", *(LEDGER + end for end in ("", "-wal", "-shm"))}


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", envvar="SHOAL_OUTPUT", help="Folder to write.")
    ] = Path("shoal-demo"),
    overwrite: Annotated[
        bool, typer.Option("--overwrite", envvar="SHOAL_OVERWRITE", help="Replace an older demo.")
    ] = False,
    epsilon: Annotated[
        str, typer.Option(envvar="SHOAL_EPSILON", help="The budget: smaller hides more.")
    ] = "1.0",
    ledger: Annotated[
        Path | None,
        typer.Option(  # no environment variable: that one names the ledger of a real table
            help="Ledger of demos to write the promise to; default: a new one in the folder.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make up 10,000 students, count them privately on a grid, and write a page about it.

    The page says in plain words what each student was promised, and shows where most of them are.
    Nobody's rows are needed: try budgets freely.

    **Examples**

        shoal demo
        shoal demo --epsilon 0.1 -o rough     # more noise, a tighter promise
        shoal demo --seed 7 -o rehearsal      # repeatable: a simulation
    """
    from shoal.data import atomic_folder

    _check_ours(output, ledger)
    say = Output(json, quiet)
    with say.progress(4) as progress, atomic_folder(output, overwrite) as part:
        release = _release(epsilon, ledger, seed, part, progress)
        progress.step("Writing the page")
        shown = page(release)
        files = [output / name for name in _write(release, shown, part)]
    say.result(
        {"report": str(files[0]), "files": [str(file) for file in files], **shown.values},
        *shown.lines,
        Line("Page", str(files[0]), is_literal=True),
        Line("Next", "Open the page in a browser; it needs no connection. Or try"),
        Line("", f"shoal ledger show {ledger or output / LEDGER}", is_literal=True),
        Line("", "shoal demo --epsilon 0.1 -o rough", is_literal=True),
    )


def _check_ours(folder: Path, ledger: Path | None) -> None:
    """Overwriting replaces the whole folder: make sure that loses nothing but a demo."""
    from shoal.errors import AlreadyExists, InvalidSetting, quantity

    others = [f for f in folder.iterdir() if f.name not in FILES] if folder.is_dir() else []
    if others:
        raise AlreadyExists(
            f"{folder} holds {quantity(len(others), 'file')} that no demo wrote.",
            "Choose another folder.",
        )
    if ledger is not None and ledger.resolve().is_relative_to(folder.resolve()):
        raise InvalidSetting(
            "The ledger is in the folder that will be replaced.",
            "Keep it elsewhere, e.g. --ledger college.ledger, or leave it out.",
            setting="--ledger",
        )


def _release(
    epsilon: str, ledger_path: Path | None, seed: int | None, folder: Path, progress: Progress
) -> Release:
    """From rows to noisy counts: the part of the demo that a private method is made of."""
    import numpy as np

    from shoal.data import students, students_schema
    from shoal.domain import Grid
    from shoal.engine import rows_of
    from shoal.mechanisms import Geometric
    from shoal.privacy import Ledger, PureDP
    from shoal.randomness import Randomness
    from shoal.synopsis.uniform_grid import grid_name

    promise = PureDP(epsilon)  # type: ignore[arg-type]
    rng = Randomness(seed)
    if ledger_path is None:  # new students, so a new ledger, with room for two more releases
        ledger = Ledger(folder / LEDGER, limit=promise * 3)
    else:
        ledger = _of_demos(Ledger(ledger_path))
    box = students_schema().box.select(COLUMNS)
    page = ledger.open(promise, by=NAME, of=f"counts on {grid_name(CELLS, box)}")

    progress.step(f"Making up {STUDENTS:,} students")
    table = students(STUDENTS, seed=rng.seed()).select(COLUMNS)
    grid = Grid(box, CELLS)

    progress.step("Counting them on a grid")
    counts: Any = rows_of(table, grid.box).count(grid)

    progress.step("Adding noise, through the ledger")
    noise = Geometric(page.budget)  # a student is one row, in one cell
    released = page.release(noise, counts, rng.noise, of="cell counts")
    noisy_counts = np.reshape(released, grid.shape)
    return Release(grid, noise, noisy_counts, page.total(), ledger, seed)


def _of_demos(ledger: "Ledger") -> "Ledger":
    """The ledger, unless made-up students would spend what is left for real people."""
    from shoal.errors import InvalidSetting

    if set(ledger.entries()["by"].to_pylist()) <= {NAME}:
        return ledger
    raise InvalidSetting(
        "The ledger holds promises about other rows than a demo's.",
        "Leave --ledger out: every demo has new students, and so a ledger of its own.",
        setting="--ledger",
    )


def _write(release: Release, page: "Page", folder: Path) -> list[str]:
    from shoal.data import write_table
    from shoal.report import findings, write

    cells = write_table(_cells(release), folder / "cells.parquet")
    digest = hashlib.sha256(cells.read_bytes()).hexdigest()
    files = [{"name": cells.name, "sha256": digest}]
    content = findings(page.to_result(), ledger=release.ledger, files=files)
    return [path.name for path in write(content, folder)] + [cells.name]


def _cells(release: Release) -> Any:
    """One line a cell: its key, its corners, its noisy count."""
    import numpy as np
    import pyarrow as pa

    grid = release.grid
    keys = np.arange(grid.size)
    low, high = grid.bounds(keys)
    columns: dict[str, Any] = {"key": keys}
    columns |= {f"low_{name}": low[:, i] for i, name in enumerate(grid.box.names)}
    columns |= {f"high_{name}": high[:, i] for i, name in enumerate(grid.box.names)}
    return pa.table({**columns, "noisy_count": release.noisy_counts.ravel()})
