"""Choose who reads the rows: this process, or a Spark cluster (``--engine spark``)."""

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from shoal.errors import ConflictingSettings, sentence
from shoal.files import sweep_scratch
from shoal.jobs._progress import Progress
from shoal.jobs._table_inputs import table_file

VERBOSE = "SHOAL_VERBOSE"
"""The setting that ``shoal --verbose`` turns to 1."""

# Spark's messages may quote the rows it chokes on, and its own bar would run into ours.
_SETTINGS = {"spark__log__level": "OFF", "spark__ui__showConsoleProgress": "false"}


@dataclass(frozen=True)
class Engines:
    """The engine that was asked for.

    Parameters
    ----------
    engine
        ``local`` or ``spark``.
    master
        The URL of the Spark cluster.
    numbers
        How numbers are written in the table, if not like 1234.5.
    """

    engine: Literal["local", "spark"] = "local"
    master: str | None = None
    numbers: Literal["1.234,5", "1,234.5"] | None = None

    def __post_init__(self) -> None:
        if self.master is not None and not self.is_distributed:
            raise ConflictingSettings(
                sentence("{master} names a Spark cluster, but the rows are read on this machine."),
                sentence("Add {engine:spark}, or leave it out."),
                setting="master",
            )

        if self.numbers is not None and self.is_distributed:
            raise ConflictingSettings(
                sentence("{numbers} is for tables that are read on this machine."),
                sentence("Cast the columns in Spark, or leave {engine} out."),
                setting="numbers",
            )

    @property
    def is_distributed(self) -> bool:
        """Whether Spark reads the rows."""
        return self.engine == "spark"

    @property
    def _settings(self) -> dict[str, str]:
        """Return what is set at the start; a server of Spark Connect has started already."""
        master = self.master or os.environ.get("SPARK_REMOTE", "")
        return {} if master.startswith("sc://") else _SETTINGS

    @contextmanager
    def session(self) -> Iterator[None]:
        """Have a Spark session run here meanwhile, if Spark was asked for."""
        if not self.is_distributed:
            yield
            return
        from shoal.engine.spark import open_session

        with ExitStack() as stack:
            with _silent_children():
                stack.enter_context(open_session(self.master, self._settings))
            yield

    @contextmanager
    def table(self, path: str, progress: Progress) -> Iterator[Any]:
        """Yield the table: the path of a file, or a frame that Spark has not read yet."""
        sweep_scratch()  # also by a run that is refused before it needs any itself
        with ExitStack() as stack:
            if not self.is_distributed:
                yield stack.enter_context(table_file(path, self.numbers))
                return
            _refuse_stream(path)
            with _silent_children():
                frame = stack.enter_context(self._frame(path, progress))
            yield frame

    def _frame(self, path: str, progress: Progress) -> AbstractContextManager[Any]:
        from shoal.engine.spark import open_table

        return open_table(path, self.master, self._settings, progress.count_tasks)


@contextmanager
def _silent_children() -> Iterator[None]:
    """Start processes whose standard error goes nowhere, unless `shoal --verbose` was said.

    Spark's Java machine prints warnings of its own for as long as it lives, between our lines.
    What this process prints meanwhile still appears.
    """
    if os.environ.get(VERBOSE) == "1":
        yield
        return
    ours, python_stream = os.dup(2), sys.stderr
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with os.fdopen(os.dup(2), "w", buffering=1, encoding="utf-8") as stream:
        try:
            os.dup2(nowhere, 2)
            if python_stream is sys.__stderr__:  # else it is not printed there anyway
                sys.stderr = stream
            yield
        finally:
            os.dup2(ours, 2)
            sys.stderr = python_stream
            os.close(ours)
            os.close(nowhere)


def _refuse_stream(path: str) -> None:
    if path == "-":
        raise ConflictingSettings(
            sentence("{engine:spark} cannot read standard input."),
            sentence("Name a path that its workers reach, or leave {engine} out."),
        )
