"""Run the cells of a document that are not finished yet, several at a time."""

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing.connection import wait as wait_for_any

from shoal.experiments._cells import Cell, CellFile, Row

Run = Callable[[Cell], list[Row]]
Progress = Callable[[str, float], None]
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run_cells(
    cells: Sequence[Cell],
    run: Run,
    file: CellFile,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> int:
    """Run what is not finished and keep each cell as soon as it is.

    Parameters
    ----------
    run
        What a cell does; a function of a module, so that other processes find it.
    jobs
        How many processes work at once; 1 works in this one.
    progress
        Called with the state in words and its share from 0 to 1.

    Returns
    -------
    How many cells were run.
    """
    open_cells = [cell for cell in cells if not file.has(cell)]
    clock = _Clock(sum(cell.cost for cell in open_cells), len(open_cells), progress)
    finished = _one_by_one if jobs <= 1 or len(open_cells) < 2 else _side_by_side(jobs)
    for cell, rows, seconds in finished(open_cells, run):
        file.add(cell, rows, seconds)
        clock.tick(cell.cost)
    return len(open_cells)


Finished = Iterator[tuple[Cell, list[Row], float]]


def _one_by_one(cells: Sequence[Cell], run: Run) -> Finished:
    for cell in cells:
        yield cell, *_timed(run, cell)


def _side_by_side(jobs: int) -> Callable[[Sequence[Cell], Run], Finished]:
    def finished(cells: Sequence[Cell], run: Run) -> Finished:
        # Fresh processes: a forked one may hold a lock of a thread that it has not.
        context = multiprocessing.get_context("spawn")
        workers = min(jobs, len(cells))
        with (
            _single_threads(),
            ProcessPoolExecutor(workers, context, initializer=_end_with_parent) as pool,
        ):
            yield from _as_completed(pool, cells, run, most=2 * workers)

    return finished


def _as_completed(
    pool: ProcessPoolExecutor, cells: Sequence[Cell], run: Run, most: int
) -> Finished:
    """Hand out a few cells at a time, so that a stopped run ends soon."""
    rest = iter(cells)
    waiting: dict[Future[tuple[list[Row], float]], Cell] = {}
    while True:
        while len(waiting) < most and (cell := next(rest, None)) is not None:
            waiting[pool.submit(_timed, run, cell)] = cell
        if not waiting:
            return
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            yield waiting.pop(future), *future.result()


def _timed(run: Run, cell: Cell) -> tuple[list[Row], float]:
    begin = time.perf_counter()
    rows = run(cell)
    return rows, time.perf_counter() - begin


@contextmanager
def _single_threads() -> Iterator[None]:
    """Let each new process use one thread: several with many wait for each other."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, which a killed one cannot ask for."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel

    def watch() -> None:
        wait_for_any([sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class _Clock:
    """Tells how far a run is and how long it will take.

    Parameters
    ----------
    cost
        Of all cells, in any unit.
    """

    def __init__(self, cost: float, count: int, progress: Progress | None) -> None:
        self._cost, self._count, self._progress = cost, count, progress
        self._done, self._ended, self._begin = 0.0, 0, time.monotonic()

    def tick(self, cost: float) -> None:
        self._done += cost
        self._ended += 1
        if self._progress is not None:
            spent = time.monotonic() - self._begin
            left = spent / self._done * (self._cost - self._done)
            state = f"{self._ended:,} of {self._count:,} cells, {time_left_text(left)} left"
            self._progress(state, self._done / self._cost)


def time_left_text(seconds: float) -> str:
    """Return a time in words, rounded so that it does not flicker.

    Examples
    --------
    >>> time_left_text(44), time_left_text(300), time_left_text(9000)
    ('about 45 seconds', 'about 5 minutes', 'about 2.5 hours')
    """
    if seconds < 90:
        return f"about {max(5 * round(seconds / 5), 5)} seconds"
    if seconds < 5400:
        return f"about {round(seconds / 60)} minutes"
    return f"about {seconds / 3600:.2g} hours"
