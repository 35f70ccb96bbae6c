"""Translate errors of Spark into shoal's, without text that may quote a row."""

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shoal.errors import (
    AlreadyExists,
    ClusterFailed,
    DuplicateColumn,
    InvalidSetting,
    NotInstalled,
    SessionStopped,
    ShoalError,
    UnreadableTable,
)

_LIBRARIES = ("pyspark", "py4j", "grpc", "pyarrow")
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_STOPPED = (
    "The frame's Spark session was stopped.",
    "Start a session, and create the frame again.",
)
_UNREADABLE = (
    "Spark finds no readable table there.",
    "Check the path, and that its files are in the format its name says.",
)
_EXISTS = "Something already exists at this path.", "Choose another, or pass overwrite=True."
_AMBIGUOUS = (
    "Two columns differ only in capitals, which Spark takes for one.",
    "Rename one of them, or set spark.sql.caseSensitive to true.",
)
_ENDLESS = (
    "Streaming frames are not supported: their rows have no end.",
    "Have Spark write them, and pass the table that was written.",
)
_INCOMPLETE = (
    "A worker of the cluster, or this machine, cannot run the Python that is needed: there "
    "is none at the configured path, a package of Spark is missing, or versions differ.",
    "Install 'shoal[spark]' here, and the same version of Python with shoal and pyarrow wherever "
    "workers run; point PYSPARK_PYTHON, or spark.pyspark.python, at it.",
)
_ERROR_MARKS: dict[str, tuple[type[ShoalError], tuple[str, str]]] = {
    "stopped SparkContext": (SessionStopped, _STOPPED),
    "NO_ACTIVE_SESSION": (SessionStopped, _STOPPED),
    "SparkContext was shut down": (SessionStopped, _STOPPED),
    "PATH_ALREADY_EXISTS": (AlreadyExists, _EXISTS),
    "FileAlreadyExistsException": (AlreadyExists, _EXISTS),
    "PATH_NOT_FOUND": (UnreadableTable, _UNREADABLE),
    "UNABLE_TO_INFER_SCHEMA": (UnreadableTable, _UNREADABLE),
    "CANNOT_READ_FILE": (UnreadableTable, _UNREADABLE),
    "FAILED_READ_FILE": (UnreadableTable, _UNREADABLE),
    "Cannot run program": (NotInstalled, _INCOMPLETE),
    "PYTHON_VERSION_MISMATCH": (NotInstalled, _INCOMPLETE),
    "PACKAGE_NOT_INSTALLED": (NotInstalled, _INCOMPLETE),
    "UNSUPPORTED_PACKAGE_VERSION": (NotInstalled, _INCOMPLETE),
    "AMBIGUOUS_REFERENCE": (DuplicateColumn, _AMBIGUOUS),
    "writeStream": (InvalidSetting, _ENDLESS),  # what Spark would rather be asked for
}


@contextmanager
def translate_errors(what: str) -> Iterator[None]:
    """Raise what Spark raises as an error of shoal's, without Spark's message.

    Parameters
    ----------
    what
        What was being done, for the message.
    """
    try:
        with _quiet_loggers():
            yield
    except Exception as error:
        if not _is_from_spark(error):
            raise
        raise _shoal_error(error, what) from None


@contextmanager
def _quiet_loggers() -> Iterator[None]:
    """Silence pyspark's loggers in a block: they would print the cell that failed."""
    _filter_loggers()
    _block_depth.depth += 1
    try:
        yield
    finally:
        _block_depth.depth -= 1


def _filter_loggers() -> None:
    """Add a filter to pyspark's loggers, once in a process."""
    pyspark = sys.modules.get("pyspark.logger")  # only Spark's own frames bring it in
    with _lock:
        if pyspark is not None and not _filtered:
            for name in _LOGGERS:
                logger = pyspark.PySparkLogger.getLogger(name)
                logger.addFilter(lambda record: not _block_depth.depth)
                _filtered.append(name)


class _BlockDepth(threading.local):
    """How many nested `translate_errors` blocks this thread is in."""

    depth = 0


_block_depth = _BlockDepth()
_lock = threading.Lock()
_filtered: list[str] = []


def check_session_runs(frame: Any) -> None:
    """Refuse a frame whose session was stopped."""
    session = frame.sparkSession
    stopped = getattr(session, "is_stopped", None)  # with Spark Connect; else ask the JVM
    if stopped is None:
        context = session.sparkContext
        stopped = context._jsc is None or context._jsc.sc().isStopped()
    if stopped:
        raise SessionStopped(*_STOPPED)


def _is_from_spark(error: Exception) -> bool:
    return any(kind.__module__.split(".")[0] in _LIBRARIES for kind in type(error).__mro__)


def _shoal_error(error: Exception, what: str) -> Exception:
    """Return shoal's error for an error of Spark's."""
    # Looked through for known marks only; its text is never passed on.
    message = str(error)
    lacking = _NO_MODULE.search(message)
    if lacking:
        return NotInstalled(
            f"A worker of the cluster has no Python package {lacking[1]!r}.",
            "Install shoal with pyarrow wherever the cluster's Python runs, and point "
            "PYSPARK_PYTHON, or spark.pyspark.python, at it.",
            reason="worker",
        )
    for sign, (kind, texts) in _ERROR_MARKS.items():
        if sign in message:
            return kind(*texts, reason="worker") if kind is NotInstalled else kind(*texts)
    return ClusterFailed(
        f"Spark gave up {what} ({type(error).__name__}). Its message is left out because it "
        "could quote a row.",
        "The cluster's own logs, which only the data's holder should read, give the reason.",
    )
