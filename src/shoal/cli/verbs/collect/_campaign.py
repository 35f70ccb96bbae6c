"""``shoal collect key | sign | serve | status | close``: a campaign from its key to its end."""

import hashlib
import re
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
    has_closed,
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
    from shoal.collector._campaign import people_for_groups
    from shoal.collector.learning import sums_promise
    from shoal.files import atomic_file

    with FLAGS.shown():
        document = draft_campaign(path)
        envelope = sign_document("campaign", document, read_key(key))
        people, sums = people_for_groups(document), sums_promise(document)
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
    question = document["rounds"][0]["question"]
    if question["mechanism"] == "nd_laplace":
        from fractions import Fraction

        unit, epsilon = question["unit"] or "unit", document["epsilon"]
        rate = float(Fraction(epsilon) / Fraction(question["radius"]))
        return (
            f"values within {question['radius']} {unit} are hidden from each other up to odds of "
            f"e^{epsilon}; ε = {rate:.4g} per {unit} beyond. Each person reports once."
        )
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
    campaigns: Annotated[
        list[Path],
        typer.Argument(metavar="CAMPAIGN...", help="Campaigns that `shoal collect sign` wrote."),
    ],
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
    """Take reports for campaigns until stopped; each is acknowledged once it is on disk.

    Reports are kept as sums. Nothing that is logged names anybody. Several campaigns are served
    under paths named like their files, each with a database in whose name {name} stands for it.

    **Examples**

        shoal collect serve campaign.json
        shoal collect serve campaign.json --db postgresql://localhost/walk --host 0.0.0.0 \\
            --certificate site.pem --certificate-key site.key
        shoal collect serve walk.json sleep.json --db "sqlite:///{name}.sqlite"
    """
    if not all(map(find_spec, ("fastapi", "uvicorn"))):
        raise NotInstalled(
            "The server needs the packages fastapi and uvicorn.", "pip install 'shoal[collector]'"
        )
    from shoal.collector import Campaign, create_app, serve
    from shoal.collector._server import create_site

    names = [path.stem for path in campaigns]
    _check_names(names, db)
    for path in campaigns:
        if (aggregator is None) == bool(Campaign.load(path).aggregators):
            raise InvalidSetting(
                "--aggregator is for campaigns with two aggregators, and needed there.",
                "Give --aggregator 1 or 2 if the campaign names two aggregators, else leave it "
                "out.",
                setting="--aggregator",
            )
    settings: dict[str, Any] = {
        "reports_per_address": reports_per_address,
        "admin": hashlib.sha256(admin_token.encode()).digest() if admin_token else None,
        "aggregator": None if aggregator is None else aggregator - 1,
        "keep_ids_days": keep_ids_days,
    }
    loaded = {}
    for name, path in zip(names, campaigns, strict=True):
        loaded[name] = open_campaign(path, db.replace("{name}", name), waits=True, makes=True)
    apps = {name: create_app(*parts, **settings) for name, parts in loaded.items()}
    address = f"{'https' if certificate else 'http'}://{host}:{port}"
    paths = {name: f"{address}/{name}/" if len(names) > 1 else address for name in names}
    Output(json, quiet).result(
        {"address": address,
         "campaigns": {paths[name]: one.id.hex() for name, (one, _) in loaded.items()}},
        *(Line("Serving", path, is_literal=True) for path in paths.values()),
        *(Line("Key", key, is_literal=True) for key in {c.key.hex() for c, _ in loaded.values()}),
        *([] if certificate else [Line("Warning", _NO_TLS)]),
    )  # fmt: skip
    app = create_site(apps) if len(apps) > 1 else apps[names[0]]
    files = {"certificate": certificate, "key": certificate_key}
    tls = {name: str(file) if file else None for name, file in files.items()}
    serve(app, host, port, trusted_proxies=trusted_proxy or (), **tls)


def _check_names(names: list[str], db: str) -> None:
    """Refuse campaigns that would share a path or a database."""
    if len(names) == 1:
        return
    if len(set(names)) < len(names) or not all(_PATH.fullmatch(name) for name in names):
        raise InvalidSetting(
            "Campaigns on one server need files of different names: small letters, digits and -.",
            "Rename them: walk.json is served under /walk/.",
        )
    if "{name}" not in db:
        raise InvalidSetting(
            "Each campaign needs a database of its own.",
            'E.g. --db "sqlite:///{name}.sqlite" or --db "postgresql://localhost/{name}".',
            setting="--db",
        )


_PATH = re.compile(r"(?!v[0-9])[a-z0-9][a-z0-9-]*", re.ASCII)
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
    is_closed = has_closed(loaded, store)
    people, documents, checks = store.count(), store.documents(), alarms(loaded, store)
    unmarked = store.unmarked_keys()
    store.close()
    uneven = [name for name, chance in checks.items() if chance < _ALARM]
    names = [f"{kind} {number}" for kind, number in sorted(documents) if kind != "close"]
    Output(json, quiet).result(
        {"people": people, "expected": loaded.document["n_expected"], "documents": names,
         "closed": is_closed, "alarms": uneven},
        Line("Reports", f"{people} of {loaded.document['n_expected']} expected."),
        Line("Published", ", ".join(names) or "nothing yet."),
        *([Line("Closed", "No more reports are taken.")] if is_closed else []),
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
