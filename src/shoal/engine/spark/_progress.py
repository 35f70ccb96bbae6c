"""Report the progress of Spark: how many tasks of the running stages are done."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any

Report = Callable[[int, int], None]
_POLL_SECONDS = 0.25


@contextmanager
def report_progress(session: Any, report: Report) -> Iterator[None]:
    """Report, while the block runs, how many tasks are done, of how many.

    Parameters
    ----------
    report
        Called with both numbers, from another thread, while stages are under way.
    """
    watch = _poll_tracker if hasattr(session, "_jsc") else _handle_connect
    with watch(session, report):
        yield


@contextmanager
def _poll_tracker(session: Any, report: Report) -> Iterator[None]:
    tracker, ended = session.sparkContext.statusTracker(), Event()

    def poll() -> None:
        with suppress(Exception):  # the session may end first; a bar that stands still is no harm
            while not ended.wait(_POLL_SECONDS):
                _report_stages(tracker, report)

    thread = Thread(target=poll, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def _handle_connect(session: Any, report: Report) -> Iterator[None]:
    def handle(stages: Any, **_: Any) -> None:
        running = list(stages or ())
        if running:
            report(
                sum(one.num_completed_tasks for one in running),
                sum(one.num_tasks for one in running),
            )

    session.registerProgressHandler(handle)
    try:
        yield
    finally:
        session.removeProgressHandler(handle)


def _report_stages(tracker: Any, report: Report) -> None:
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    known = [stage for stage in stages if stage is not None]
    if known:
        report(sum(one.numCompletedTasks for one in known), sum(one.numTasks for one in known))
