"""What goes wrong on a cluster, in words that quote no row."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shoal.errors import (
    AlreadyExists,
    ClusterFailed,
    SessionStopped,
    UnreadableTable,
    WorkerIncomplete,
)

__all__ = ["check_alive", "guarded"]

_LIBRARIES = ("pyspark", "py4j", "grpc")
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")
_EXISTS = ("PATH_ALREADY_EXISTS", "FileAlreadyExistsException")
_UNREADABLE = ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA", "CANNOT_READ_FILE", "FAILED_READ_FILE")
_STOPPED = ("stopped SparkContext", "NO_ACTIVE_SESSION", "SparkContext was shut down")


@contextmanager
def guarded(what: str) -> Iterator[None]:
    """Name what Spark raises, without Spark's own words: those may quote the rows it choked on.

    Parameters
    ----------
    what
        What was being done, for the message.
    """
    try:
        yield
    except Exception as error:
        if not _is_sparks(error):
            raise
        raise _named(error, what) from None


def check_alive(frame: Any) -> None:
    """Refuse the frame of a session that was stopped, before anything is asked of it."""
    session = frame.sparkSession
    stopped = getattr(session, "is_stopped", None)  # with Spark Connect; else ask the JVM
    if stopped is None:
        context = session.sparkContext
        stopped = context._jsc is None or context._jsc.sc().isStopped()
    if stopped:
        raise _session_stopped()


def _is_sparks(error: Exception) -> bool:
    return any(kind.__module__.split(".")[0] in _LIBRARIES for kind in type(error).__mro__)


def _named(error: Exception, what: str) -> Exception:
    words = str(error)
    lacking = _NO_MODULE.search(words)
    if lacking:
        return WorkerIncomplete(
            f"A worker of the cluster has no Python package {lacking[1]!r}.",
            "Install shoal with pyarrow wherever the cluster's Python runs, and point "
            "PYSPARK_PYTHON, or spark.pyspark.python, at it.",
        )
    if any(sign in words for sign in _STOPPED):
        return _session_stopped()
    if any(sign in words for sign in _EXISTS):
        return AlreadyExists(
            "There is something at this path already.", "Choose another, or pass overwrite=True."
        )
    if any(sign in words for sign in _UNREADABLE):
        return UnreadableTable(
            "Spark finds no table it can read there.",
            "Check the path, and that its files are in the format its name says.",
        )
    return ClusterFailed(
        f"Spark gave up {what} ({type(error).__name__}). Its message is withheld: it could quote "
        "a row.",
        "The cluster's own logs, which only its holder should read, say why.",
    )


def _session_stopped() -> SessionStopped:
    return SessionStopped(
        "The frame's Spark session was stopped.", "Start a session, and make the frame anew."
    )
