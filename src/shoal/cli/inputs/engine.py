"""Who reads the rows: this process, or a Spark cluster (``--engine spark --master URL``)."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from shoal.cli.inputs.table import file_of
from shoal.cli.output import Progress
from shoal.errors import ConflictingSettings, SessionStopped

__all__ = ["Engine", "Engines", "Master"]

PANEL = "Where rows are read"
Engine = Annotated[
    Literal["local", "spark"],
    typer.Option(
        envvar="SHOAL_ENGINE",
        help="`spark` leaves rows where they are; tables may be on any path Spark reaches, such "
        "as hdfs:// or s3a://.",
        rich_help_panel=PANEL,
    ),
]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        envvar="SHOAL_MASTER",
        help="Of the Spark cluster: spark://host:7077, yarn, k8s://..., local[4], or sc://host for "
        "Spark Connect. Left out, what spark-submit or Spark's settings say, or this machine.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
# Spark's messages may quote the rows it chokes on, and its own bar would run into ours.
_SETTINGS = {"spark__log__level": "OFF", "spark__ui__showConsoleProgress": "false"}


@dataclass(frozen=True)
class Engines:
    """What was asked for."""

    engine: Literal["local", "spark"] = "local"
    master: str | None = None

    def __post_init__(self) -> None:
        if self.master is not None and not self.on_spark:
            raise ConflictingSettings(
                "--master names a Spark cluster, and the rows are to be read here.",
                "Add --engine spark, or leave it out.",
                setting="--master",
            )

    @property
    def on_spark(self) -> bool:
        """Whether rows are read by Spark."""
        return self.engine == "spark"

    @property
    def _settings(self) -> dict[str, str]:
        """What is set at the start; a server of Spark Connect has started already."""
        master = self.master or os.environ.get("SPARK_REMOTE", "")
        return {} if master.startswith("sc://") else _SETTINGS

    @contextmanager
    def table(self, path: str, progress: Progress) -> Iterator[Any]:
        """The table: the path of a file here, or a frame whose rows Spark has not read yet."""
        with ExitStack() as stack:
            if not self.on_spark:
                yield stack.enter_context(file_of(path))
                return
            _refuse_stream(path)
            session = stack.enter_context(self._session(progress))
            yield _part().read_table(session, _uri(path))

    @contextmanager
    def _session(self, progress: Progress) -> Iterator[Any]:
        """The session that runs here, or one that ends with the block."""
        from shoal.engine.spark.progress import watched

        part = _part()
        try:
            session, own = part.active_session(), False
        except SessionStopped:
            session, own = part.spark_session(self.master, **self._settings), True
        try:
            with watched(session, _shown(progress)):
                yield session
        finally:
            if own:
                session.stop()


def _part() -> Any:
    from shoal.engine.spark.availability import spark_part

    return spark_part()


def _uri(path: str) -> str:
    from shoal.engine.spark.files import uri_of

    return uri_of(path)


def _refuse_stream(path: str) -> None:
    if path == "-":
        raise ConflictingSettings(
            "Standard input came with --engine spark, whose workers cannot read it.",
            "Name a path they reach, or leave --engine out.",
        )


def _shown(progress: Progress) -> Any:
    """Tasks done of those under way, beside the step."""

    def show(done: int, tasks: int) -> None:
        if progress.bar is not None:
            words = progress.bar.tasks[0].description.split(":")[0]
            said = f"{words}: {done:,} of {tasks:,} tasks"
            progress.bar.update(progress.task, description=said)

    return show
