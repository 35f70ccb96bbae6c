"""``shoal collect tokens | enrol | revoke``: who may report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli._options import Json, Quiet
from shoal.cli._output import Output
from shoal.cli.verbs.collect._options import (
    DEFAULT_DB,
    CampaignFile,
    Database,
    collect_app,
    has_closed,
    open_campaign,
)
from shoal.errors import InvalidSetting, quantity
from shoal.pages.page import Line

if TYPE_CHECKING:
    from shoal.collector import Store


@collect_app.command()
def tokens(
    campaign: CampaignFile,
    number: Annotated[int, typer.Argument(min=1, max=1_000_000, help="How many.")],
    db: Database = DEFAULT_DB,
    address: Annotated[
        str | None,
        typer.Option(envvar="SHOAL_ADDRESS", help="Of the server: prints invitations as links."),
    ] = None,
    hashes: Annotated[
        Path | None,
        typer.Option(
            envvar="SHOAL_HASHES", help="Write the hashes too, for `shoal collect enrol`."
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Invite people: print tokens, each good for one report; the database gets hashes only.

    Whoever hands out tokens can tell whose a key is: send each to one person and keep no list.

    **Examples**

        shoal collect tokens campaign.json 100 --address https://walk.example.org > invitations.txt
    """
    import os

    from shoal.collector import who_of
    from shoal.collector.client import key_of
    from shoal.files import atomic_file

    loaded, store = open_campaign(campaign, db, makes=True)
    if has_closed(loaded, store):
        store.close()
        raise InvalidSetting(
            "The campaign is closed: nobody invited now could report.", "Begin another campaign."
        )
    made = [os.urandom(32) for _ in range(number)]
    purposes = ("key", "label") if "labels" in loaded.document else ("key",)
    invitations = [[who_of(key_of(one, loaded.id, each)) for each in purposes] for one in made]
    _enrol(store, invitations)
    if hashes is not None:
        with atomic_file(hashes, True) as part:
            part.touch(mode=0o600)  # with the database it tells who took part
            words = ([who.hex() for who in whos] for whos in invitations)
            part.write_text("".join(f"{' '.join(each)}\n" for each in words))
    link = f"{address.rstrip('/')}/#key={loaded.key.hex()}&token=" if address else ""
    lines = [f"{link}{token.hex()}" for token in made]
    Output(json, quiet).result({"tokens": lines}, *lines)


@collect_app.command()
def enrol(
    campaign: CampaignFile,
    hashes: Annotated[Path, typer.Argument(help="The file that `tokens --hashes` wrote.")],
    db: Database = DEFAULT_DB,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Let invited people report to another database too: that of a second aggregator.

    **Examples**

        shoal collect enrol campaign.json hashes.txt --db sqlite:///second.sqlite
    """
    try:
        lines = hashes.read_text(encoding="ascii").splitlines()
        invitations = [[bytes.fromhex(word) for word in line.split()] for line in lines]
    except (OSError, ValueError):
        invitations = []
    is_good = all(
        1 <= len(whos) <= 2 and all(len(who) == 16 for who in whos) for whos in invitations
    )
    if not invitations or not is_good:
        raise InvalidSetting(
            "This file holds no hashes of invitations.",
            "Write one with `shoal collect tokens ... --hashes FILE`.",
        )
    _, store = open_campaign(campaign, db, makes=True)
    _enrol(store, invitations)
    n = len(invitations)
    Output(json, quiet).result(
        {"enrolled": n}, Line("Enrolled", f"{quantity(n, 'person', 'people')}.")
    )


def _enrol(store: "Store", invitations: list[list[bytes]]) -> None:
    """Enrol people, each given by the hash of their key, and that of a label's if there is one."""
    labels = [(whos[1], whos[0]) for whos in invitations if len(whos) > 1]
    store.enrol([whos[0] for whos in invitations], labels)
    store.close()


@collect_app.command()
def revoke(
    campaign: CampaignFile,
    token: Annotated[
        str,
        typer.Argument(
            help="The token or link, as `tokens` printed it, or its line of `--hashes`."
        ),
    ],
    db: Database = DEFAULT_DB,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Take an invitation back; a report that was counted stays in the sums.

    To revoke without keeping tokens, which can report, keep the hashes: line by line they are in
    the order of the tokens, and tell only whether somebody took part.

    **Examples**

        shoal collect revoke campaign.json 5f0c...
    """
    from shoal.collector import who_of
    from shoal.collector.client import key_of

    try:
        secret = bytes.fromhex(token.rpartition("=")[2].split()[0])
    except (ValueError, IndexError):
        secret = b""
    if len(secret) not in (16, 32):
        raise InvalidSetting("This is no token and no hash.", "Give it as it was printed.")
    loaded, store = open_campaign(campaign, db)
    if len(secret) == 16:
        was = store.revoke(secret)
    else:
        was = store.revoke(who_of(key_of(secret, loaded.id)))
        store.revoke(who_of(key_of(secret, loaded.id, "label")))
    store.close()
    text = "Revoked." if was else "Not enrolled here, or it has reported: nothing was changed."
    Output(json, quiet).result({"revoked": was}, Line("Token", text))
