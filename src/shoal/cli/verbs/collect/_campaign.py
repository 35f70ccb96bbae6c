"""``shoal collect key | sign | serve | status | close``: a campaign from its key to its end."""

import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli._options import Json, Quiet
from shoal.cli._output import Output
from shoal.cli.verbs.collect._options import (
    DEFAULT_DB,
    DEFAULT_KEY,
    FLAGS,
    CampaignFile,
    Database,
    KeyFile,
    collect_app,
    open_campaign,
)
from shoal.errors import InvalidSetting, NotInstalled, quantity
from shoal.pages.page import Line


@collect_app.command()
def key(
    path: Annotated[Path, typer.Argument(help="Where to write it.")] = DEFAULT_KEY,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make the key that signs campaigns; keep the file secret, and tell people the public key.

    **Examples**

        shoal collect key operator.key
    """
    from shoal.collector import make_key

    public = make_key(path).hex()
    Output(json, quiet).result(
        {"key": str(path), "public": public},
        Line("Secret", str(path), is_literal=True),
        Line("Public", public, is_literal=True),
        Line("Next", "shoal collect sign campaign.yaml"),
    )


@collect_app.command()
def sign(
    path: Annotated[Path, typer.Argument(metavar="YAML", help="The campaign's file.")],
    key: KeyFile = DEFAULT_KEY,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", envvar="SHOAL_OUTPUT", help="Default: YAML with .json."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Choose grid and oracle for a campaign, sign it, and say how accurate it can be.

    **Examples**

        shoal collect sign campaign.yaml --key operator.key
    """
    from json import dumps

    from shoal.collector import Campaign, draft_campaign, read_key, sign_document
    from shoal.collector._campaign import Campaign, people_needed, read_key, sign_document
    from shoal.collector._campaign_draft import draft_campaign
    from shoal.collector.learning import sums_promise
    from shoal.files import atomic_file

    with FLAGS.shown():
        document = draft_campaign(path)
        envelope = sign_document("campaign", document, read_key(key))
        people, sums = people_needed(document), sums_promise(document)
    place = output or path.with_suffix(".json")
    with atomic_file(place, True) as part:
        part.write_text(dumps(envelope, indent=1) + "\n")
    campaign = Campaign.load(place)
    Output(json, quiet).result(
        {"campaign": str(place), "id": campaign.id.hex(), "people_needed": people,
         "sums_epsilon": sums and float(sums.epsilon), "rounds": len(document["rounds"])},
        Line("Campaign", str(place), is_literal=True),
        Line("Promise", _promise(document)),
        *([Line("Sums", _SUMS.format(float(sums.epsilon), document["delta"]))] if sums else []),
        *([Line("People", f"About {people} are needed; {document['n_expected']} are expected.")]
          if people else []),
        *_round_lines(document, place),
        Line("Next", f"shoal collect serve {place}"),
    )  # fmt: skip


_COARSE = (
    "In four columns the cells of one grid are coarse; rounds: 3, taken unless rounds is written, "
    "finds groups better in the setting local. Fewer columns do too."
)
_SUMS = "({:.3g}, {})-DP, released once, if the server is honest and a tenth of people lie."


def _promise(document: dict[str, Any]) -> str:
    if document["setting"] == "two_aggregators":
        return f"{document['epsilon']}-DP, if either of the two aggregators is honest."
    return f"{document['epsilon']}-LDP for each person, who reports once."


def _round_lines(document: dict[str, Any], place: Path) -> list[Line]:
    """What to know of rounds before the campaign begins."""
    from shoal.cluster.local import ROUNDS_FROM

    rounds = len(document["rounds"])
    if rounds > 1:
        text = f"{rounds}, each closed with `shoal collect advance {place} NUMBER`, from 0."
        return [Line("Rounds", text)]
    is_wide = len(document.get("columns", ())) >= ROUNDS_FROM
    return [Line("Note", _COARSE)] if is_wide else []


@collect_app.command()
def serve(
    campaign: CampaignFile,
    db: Database = DEFAULT_DB,
    host: Annotated[str, typer.Option(envvar="SHOAL_HOST", help="Address.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(envvar="SHOAL_PORT", help="Port.")] = 8080,
    certificate: Annotated[
        Path | None, typer.Option(envvar="SHOAL_CERTIFICATE", help="TLS certificate, PEM.")
    ] = None,
    certificate_key: Annotated[
        Path | None, typer.Option(envvar="SHOAL_CERTIFICATE_KEY", help="Its private key, PEM.")
    ] = None,
    admin_token: Annotated[
        str | None,
        typer.Option(envvar="SHOAL_ADMIN_TOKEN", help="Token of the admin; none: no admin."),
    ] = None,
    reports_per_address: Annotated[
        int,
        typer.Option(
            min=1,
            envvar="SHOAL_REPORTS_PER_ADDRESS",
            help="Reports an hour that one address may send to an open campaign.",
        ),
    ] = 300,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            envvar="SHOAL_TRUSTED_PROXY",
            help="Address or network of a proxy whose X-Forwarded-For is believed; repeatable.",
        ),
    ] = None,
    keep_ids_days: Annotated[
        float | None,
        typer.Option(
            min=0,
            envvar="SHOAL_KEEP_IDS_DAYS",
            help="Delete all ids so many days after the close; default: never by itself.",
            show_default=False,
        ),
    ] = None,
    aggregator: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=2,
            envvar="SHOAL_AGGREGATOR",
            help="Which of a campaign's two aggregators this server is.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Take reports for a campaign until stopped; each is acknowledged once it is on disk.

    Reports are kept as sums. Nothing that is logged names anybody.

    **Examples**

        shoal collect serve campaign.json
        shoal collect serve campaign.json --db postgresql://localhost/walk --host 0.0.0.0 \\
            --certificate site.pem --certificate-key site.key
    """
    if not all(map(find_spec, ("fastapi", "uvicorn"))):
        raise NotInstalled(
            "The server needs the packages fastapi and uvicorn.", "pip install 'shoal[collector]'"
        )
    from shoal.collector import create_app, serve

    loaded, store = open_campaign(campaign, db, waits=True)
    if (aggregator is None) == bool(loaded.aggregators):
        raise InvalidSetting(
            "--aggregator is for campaigns with two aggregators, and needed there.",
            "Give --aggregator 1 or 2 if the campaign names two aggregators, else leave it out.",
            setting="--aggregator",
        )
    scheme = "https" if certificate else "http"
    Output(json, quiet).result(
        {"address": f"{scheme}://{host}:{port}", "campaign": loaded.id.hex()},
        Line("Serving", f"{scheme}://{host}:{port}", is_literal=True),
        Line("Key", loaded.key.hex(), is_literal=True),
        *([] if certificate else [Line("Warning", _NO_TLS)]),
    )
    admin = hashlib.sha256(admin_token.encode()).digest() if admin_token else None
    place = None if aggregator is None else aggregator - 1
    app = create_app(
        loaded,
        store,
        reports_per_address=reports_per_address,
        admin=admin,
        aggregator=place,
        keep_ids_days=keep_ids_days,
    )
    files = {"certificate": certificate, "key": certificate_key}
    tls = {name: str(file) if file else None for name, file in files.items()}
    serve(app, host, port, trusted_proxies=trusted_proxy or (), **tls)


_NO_TLS = (
    "Plain HTTP: whoever is on the network sees who reports and can change answers. Clients refuse "
    "it but on this machine. Give --certificate, or put a TLS proxy in front."
)


@collect_app.command()
def status(
    campaign: CampaignFile, db: Database = DEFAULT_DB, json: Json = False, quiet: Quiet = False
) -> None:
    """Say how many have reported, and what was published.

    **Examples**

        shoal collect status campaign.json --db sqlite:///walk.sqlite
    """
    from shoal.collector.learning import alarms

    loaded, store = open_campaign(campaign, db)
    people, documents, checks = store.count(), store.documents(), alarms(loaded, store)
    unmarked = store.unmarked_keys()
    store.close()
    uneven = [name for name, chance in checks.items() if chance < _ALARM]
    names = [f"{kind} {number}" for kind, number in sorted(documents) if kind != "close"]
    Output(json, quiet).result(
        {"people": people, "expected": loaded.document["n_expected"], "documents": names,
         "alarms": uneven},
        Line("Reports", f"{people} of {loaded.document['n_expected']} expected."),
        Line("Published", ", ".join(names) or "nothing yet."),
        *([Line("Alarm", f"Honest people would not look so uneven: {', '.join(uneven)}.")]
          if uneven else []),
        *([Line("Warning", _UNMARKED)] if unmarked else []),
    )  # fmt: skip


_UNMARKED = (
    "These invitations were made by an earlier version: each is good for two reports. Revoke those "
    "that were not used, and make new ones."
)
_ALARM = 1e-6  # looked at again and again, so a false one must be rare


@collect_app.command()
def close(
    campaign: CampaignFile, db: Database = DEFAULT_DB, json: Json = False, quiet: Quiet = False
) -> None:
    """End a campaign: take no more reports, and delete all ids; the sums stay.

    **Examples**

        shoal collect close campaign.json --db sqlite:///walk.sqlite
    """
    loaded, store = open_campaign(campaign, db)
    store.forget_people(len(loaded.shares))
    people = store.count()
    store.close()
    Output(json, quiet).result(
        {"people": people},
        Line("Closed", f"{quantity(people, 'report')}, as sums; no ids are left."),
    )
