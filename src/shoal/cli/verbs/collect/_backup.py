"""``shoal collect backup | restore``: a copy of a campaign's database, and its way back."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli._options import Json, Quiet
from shoal.cli._output import Output
from shoal.cli.verbs.collect._options import (
    DEFAULT_DB,
    FLAGS,
    CampaignFile,
    Database,
    collect_app,
)
from shoal.errors import quantity
from shoal.pages.page import Line


@collect_app.command()
def backup(
    campaign: CampaignFile,
    db: Database = DEFAULT_DB,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", envvar="SHOAL_OUTPUT", help="New file, for its owner alone."
        ),
    ] = Path("campaign.backup"),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Copy the database of a campaign while it is used; the server goes on.

    A copy holds ids like the database itself. Delete it when they are due: what
    `shoal collect close` deletes there stays here.

    **Examples**

        shoal collect backup campaign.json --db sqlite:///walk.sqlite -o walk-monday.backup
    """
    from shoal.collector import Campaign
    from shoal.collector._backup import back_up

    with FLAGS.shown():
        back_up(Campaign.load(campaign), db, output)
    Output(json, quiet).result(
        {"file": str(output), "bytes": output.stat().st_size},
        Line("Copy", str(output), is_literal=True),
        Line("Note", _HOLDS_IDS),
    )


_HOLDS_IDS = (
    "It holds the ids that the database holds now: keep it as safe, and delete it when they are "
    "due."
)


@collect_app.command()
def restore(
    campaign: CampaignFile,
    copy: Annotated[Path, typer.Argument(help="The file that `shoal collect backup` wrote.")],
    db: Database = DEFAULT_DB,
    nothing_released: Annotated[
        bool,
        typer.Option(
            "--nothing-released",
            envvar="SHOAL_NOTHING_RELEASED",
            help="You know that nothing was opened or released since the copy was made.",
        ),
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make a database of a copy, where none is; stop the server first.

    Reports that came after the copy are lost, and counted nowhere. A copy that could release sums
    a second time is refused. The ids of a campaign that is over are not restored.

    **Examples**

        shoal collect restore campaign.json walk-monday.backup --db sqlite:///walk.sqlite
    """
    from shoal.collector import Campaign
    from shoal.collector._backup import restore

    with FLAGS.shown():
        restored = restore(Campaign.load(campaign), copy, db, nothing_released=nothing_released)
    Output(json, quiet).result(
        {"people": restored.people, "ids": restored.has_ids},
        Line("Restored", f"{quantity(restored.people, 'report')}."),
        Line("Note", _SINCE if restored.has_ids else _OVER),
    )


_SINCE = (
    "What happened after the copy is unknown here: enrol and revoke again whom you did since, and "
    "close again what you had closed."
)
_OVER = "The campaign is over: its ids were not restored."
