"""The app of ``shoal collect``, and the options and the opening that its verbs share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli._flags import Flags
from shoal.errors import InvalidSetting

if TYPE_CHECKING:
    from shoal.collector import Campaign, Store


FLAGS = Flags()

HELD_MODEL = (
    "Noise alone would look like these groups: nothing was signed or served. Collect more reports, "
    "or publish them all the same: --publish-anyway."
)

collect_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Collect randomised reports from people's devices, and learn groups from them.",
)

CampaignFile = Annotated[
    Path,
    typer.Argument(
        metavar="CAMPAIGN", help="A campaign that `shoal collect sign` wrote.", show_default=False
    ),
]
Database = Annotated[
    str,
    typer.Option(
        "--db",
        envvar="SHOAL_DB",
        help="Database of the campaign: sqlite:///walk.sqlite or postgresql://host/name.",
    ),
]
KeyFile = Annotated[
    Path,
    typer.Option(envvar="SHOAL_KEY", help="The operator's private key, from `shoal collect key`."),
]
LearnerSeed = Annotated[int | None, typer.Option(envvar="SHOAL_SEED", help="Seed of the learner.")]
DEFAULT_DB = "sqlite:///campaign.sqlite"
DEFAULT_KEY = Path("operator.key")


def open_campaign(
    path: Path, db: str, *, waits: bool = False, makes: bool = False
) -> tuple["Campaign", "Store"]:
    """Return a signed campaign and its database, which a server waits for.

    Only what begins a campaign makes a database: to all else, a missing one is a wrong name.
    """
    from shoal.collector import Campaign, open_store
    from shoal.collector._databases import is_postgres, sqlite_path, wait_for_store

    campaign, opened = Campaign.load(path), wait_for_store if waits else open_store
    if not (makes or is_postgres(db) or sqlite_path(db).exists()):
        raise InvalidSetting(
            f"There is no database {sqlite_path(db)}.",
            "Give --db as `shoal collect serve` was given it.",
            setting="--db",
        )
    store = opened(db, campaign.id, campaign.envelope, has_tokens=campaign.has_tokens)
    return campaign, store


def has_closed(campaign: "Campaign", store: "Store") -> bool:
    """Return whether every round of a campaign was closed, by its operator or as it was learnt."""
    documents = store.documents()
    return all(("close", number) in documents for number in range(len(campaign.shares)))


def with_caution(control: str, is_clear: bool) -> str:
    """Return what a model tells devices of its control; groups like noise say so first.

    Parameters
    ----------
    control
        What the learner finds without data, or how much noise there is.
    """
    from shoal.pages.groups import MAY_BE_NOISE

    return control if is_clear else f"{MAY_BE_NOISE} {control}"
