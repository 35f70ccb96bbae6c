"""``shoal reproduce``: run the experiments of a document again, claim by claim."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli._options import Engine, Json, Master, Quiet
from shoal.cli._output import Output
from shoal.jobs import Engines
from shoal.pages.page import Line, Table

if TYPE_CHECKING:
    from shoal.experiments import Outcome


def reproduce(
    document: Annotated[
        str,
        typer.Argument(
            metavar="DOCUMENT", help="One of nd-laplace, wavecluster, leteo and literature."
        ),
    ],
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", envvar="SHOAL_QUICK", help="Few draws and few settings: a first look."
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            envvar="SHOAL_OUTPUT",
            help="Folder to write, or to go on in; default: shoal-reproduce/DOCUMENT.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        str,
        typer.Option(
            envvar="SHOAL_ONLY",
            help="Parts to run now, e.g. utility,privacy; default: all.",
            show_default=False,
        ),
    ] = "",
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            envvar="SHOAL_JOBS",
            help="Processes at work at once; default: one for each core.",
            show_default=False,
        ),
    ] = None,
    engine: Engine = "local",
    master: Master = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run the experiments of a document again, and say claim by claim what holds.

    Stopped at any moment, even killed, it goes on where it was; a second run does nothing. Data
    sets that are not part of shoal are read from the folder in SHOAL_DATA; what cannot be tested
    without them is said. With --engine spark run times and k-means on Spark are taken too, where
    the document has some.

    **Examples**

        shoal reproduce nd-laplace --quick
        shoal reproduce wavecluster --jobs 4
        shoal reproduce nd-laplace --only privacy
        shoal reproduce leteo --engine spark
    """
    from shoal.experiments import document_named
    from shoal.experiments import reproduce as run_again

    chosen = document_named(document)
    folder = output or Path("shoal-reproduce", document + ("-quick" if quick else ""))
    parts = [part.strip() for part in only.split(",") if part.strip()]
    engines = Engines(engine, master)
    say = Output(json, quiet)
    with say.progress(1) as progress, engines.session():
        progress.step("Reading what is finished")

        def show(state: str, share: float) -> None:
            progress.describe(state)
            progress.part(state, share)

        outcome = run_again(
            chosen,
            folder,
            quick=quick,
            only=parts,
            jobs=jobs,
            on_spark=engines.is_distributed,
            progress=show,
        )
    say.result(_values(outcome), *_lines(outcome))


def _values(outcome: "Outcome") -> dict[str, object]:
    from shoal.experiments.document import PAGE

    done = outcome.reproduction
    return {
        "schema": "shoal.reproduction/1",
        "report": str(outcome.folder / PAGE),
        "cells": outcome.cells,
        "finished": outcome.finished,
        "ran": outcome.ran,
        "claims": None if done is None else done.counts(),
    }


def _lines(outcome: "Outcome") -> list[Line | Table]:
    from shoal.experiments.document import PAGE

    state = (
        f"{outcome.finished:,} of {outcome.cells:,} cells are finished; {outcome.ran:,} ran now."
    )
    lines: list[Line | Table] = [Line("Cells", state)]
    if outcome.reproduction is None:
        lines.append(Line("Nothing", "to do: every cell and the page are there."))
    else:
        counts = outcome.reproduction.counts()
        tally = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        lines += [Line("Claims", f"{tally}."), Line("Found", outcome.reproduction.lead)]
    return [*lines, Line("Page", str(outcome.folder / PAGE), is_literal=True)]
