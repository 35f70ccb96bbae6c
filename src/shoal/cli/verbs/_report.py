"""``shoal report``: the page of a model or a release, drawn from its folder."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli._flags import Flags
from shoal.cli._options import Json, PublishAnyway, Publisher, Quiet, Title
from shoal.cli._output import Output
from shoal.errors import UnreadableModel
from shoal.pages.page import Line, is_withheld, withheld_line

_FLAGS = Flags({"path": "--output", "names": "--name"})


def report(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="What `shoal cluster -o`, `shoal learn -o` or `save` wrote, or the folder of a "
            "released table.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            envvar="SHOAL_OUTPUT",
            help="The page to write. Default: report.html in the folder.",
            show_default=False,
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", envvar="SHOAL_OVERWRITE", help="Replace an older page.")
    ] = False,
    title: Title = None,
    publisher: Publisher = None,
    publish_anyway: PublishAnyway = False,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            help="A name of your own for a group; once for each, in the order of their numbers. "
            "Default: titles of what stands out.",
            show_default=False,
        ),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(
            envvar="SHOAL_LEDGER",
            help="Ledger of the table, to say what was promised in all.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the page of a model or a release: what was found, and what each person was promised.

    No row is read and nothing is spent. The page is one HTML file that loads nothing; its numbers
    are written beside it as JSON. Groups that cannot be distinguished from noise are not shown,
    unless with --publish-anyway, and the exit code is 1.

    **Examples**

        shoal report model
        shoal report model -o page.html --title "Six groups of students" --publisher "The school"
        shoal report model --overwrite --ledger students.ledger
        shoal report model -o page.html --name Early --name Late
    """
    from shoal.pages._write_page import build_page, load_subject
    from shoal.pages._write_page import report as write_report
    from shoal.privacy.ledger_summary import existing_ledger

    say = Output(json, quiet)
    with say.progress(1) as progress, _FLAGS.shown():
        progress.step("Writing the page")
        if not folder.is_dir():
            raise UnreadableModel(
                f"{folder} is no folder.", "Name the folder that `shoal cluster -o` wrote."
            )
        subject, files = load_subject(folder)
        place = output or folder / _page_name(subject)
        if not isinstance(subject, dict):
            subject = build_page(
                subject,
                title=title,
                publisher=publisher,
                names=name or None,
                publish_anyway=publish_anyway,
            )
        page = write_report(
            subject,
            place,
            ledger=None if ledger is None else existing_ledger(ledger),
            overwrite=overwrite,
            files=files,
        )
    is_published = isinstance(subject, dict) or not is_withheld(subject)
    say.result(
        {"report": str(page), "published": is_published},
        *([] if is_published else [withheld_line(subject)]),
        Line("Page", str(page), is_literal=True),
    )
    if not is_published:
        raise typer.Exit(1)


def _page_name(subject: Any) -> str:
    """Return the name of the page; one of a simulation says so."""
    seeded = subject["simulation"] if isinstance(subject, dict) else subject.guarantee_.simulation
    return "report-simulation.html" if seeded else "report.html"
