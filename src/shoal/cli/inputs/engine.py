"""Choose who reads the rows: this process, or a Spark cluster (``--engine spark``)."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from shoal.cli.inputs.table import table_file
from shoal.cli.output import Progress
from shoal.errors import ConflictingSettings
from shoal.files.scratch import sweep_scratch

__all__ = ["Engines"]

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
    """

    engine: Literal["local", "spark"] = "local"
    master: str | None = None

    def __post_init__(self) -> None:
        if self.master is not None and not self.is_distributed:
            raise ConflictingSettings(
                "--master names a Spark cluster, but the rows are read on this machine.",
                "Add --engine spark, or leave it out.",
                setting="--master",
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
    def table(self, path: str, progress: Progress) -> Iterator[Any]:
        """Yield the table: the path of a file, or a frame that Spark has not read yet.

        Parameters
        ----------
        path
            The table as it was named.
        progress
            Where progress is shown.
        """
        sweep_scratch()  # also by a run that is refused before it needs any itself
        with ExitStack() as stack:
            if not self.is_distributed:
                yield stack.enter_context(table_file(path))
                return
            _refuse_stream(path)
            yield stack.enter_context(self._frame(path, progress))

    def _frame(self, path: str, progress: Progress) -> AbstractContextManager[Any]:
        from shoal.engine.spark.availability import open_table

        return open_table(path, self.master, self._settings, _shown(progress))


def _refuse_stream(path: str) -> None:
    if path == "-":
        raise ConflictingSettings(
            "--engine spark cannot read standard input.",
            "Name a path that its workers reach, or leave --engine out.",
        )


def _shown(progress: Progress) -> Any:
    """Return a callback that shows the tasks done beside the step."""

    def show(done: int, tasks: int) -> None:
        if progress.bar is not None:
            step = progress.bar.tasks[0].description.split(":")[0]
            text = f"{step}: {done:,} of {tasks:,} tasks"
            progress.bar.update(progress.task, description=text)

    return show
