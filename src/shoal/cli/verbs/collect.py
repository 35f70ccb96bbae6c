"""``shoal collect``: reports from people's devices, and groups learnt from them."""

import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.flags import Flags
from shoal.cli.options import Engine, Json, Master, Overwrite, Publisher, Quiet, Title
from shoal.cli.output import Output
from shoal.errors import InvalidSetting, NotInstalled, quantity
from shoal.pages.page import Line, Table

if TYPE_CHECKING:
    from shoal.collector.campaign import Campaign
    from shoal.collector.storage import Store

__all__ = ["collect_app"]

FLAGS = Flags()

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
DEFAULT_DB = "sqlite:///campaign.sqlite"
DEFAULT_KEY = Path("operator.key")


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
    from shoal.collector.campaign import make_key

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

    from shoal.collector.campaign import Campaign, draft_campaign, read_key, sign_document
    from shoal.collector.learning import sums_promise
    from shoal.files import atomic_file

    with FLAGS.shown():
        document = draft_campaign(path)
        envelope = sign_document("campaign", document, read_key(key))
    place = output or path.with_suffix(".json")
    with atomic_file(place, True) as part:
        part.write_text(dumps(envelope, indent=1) + "\n")
    campaign = Campaign.load(place)
    people = _people_needed(document)
    sums = sums_promise(document)
    Output(json, quiet).result(
        {"campaign": str(place), "id": campaign.id.hex(), "users_needed": people,
         "sums_epsilon": sums and float(sums.epsilon)},
        Line("Campaign", str(place), is_literal=True),
        Line("Promise", f"{document['epsilon']}-LDP for each person, who reports once."),
        *([Line("Sums", _SUMS.format(float(sums.epsilon), document["delta"]))] if sums else []),
        *([Line("People", f"About {people} are needed; {document['n_expected']} are expected.")]
          if people else []),
        Line("Next", f"shoal collect serve {place}"),
    )  # fmt: skip


_SUMS = "({:.3g}, {})-DP, released once, if the server is honest and a tenth of people lie."


def _people_needed(document: dict[str, Any]) -> int | None:
    """How many people groups within a tenth of the best take, for columns of numbers."""
    if "columns" not in document:
        return None
    from shoal.mechanisms.local.users_needed import users_needed

    return users_needed(
        1.1,
        n_clusters=document["n_clusters"],
        d=len(document["columns"]),
        epsilon=float(document["epsilon"]),
    )


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
    rate: Annotated[
        float, typer.Option(envvar="SHOAL_RATE", help="Requests a second from one address.")
    ] = 10.0,
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
    from shoal.collector.server import create_app, serve

    loaded, store = _open(campaign, db)
    scheme = "https" if certificate else "http"
    Output(json, quiet).result(
        {"address": f"{scheme}://{host}:{port}", "campaign": loaded.id.hex()},
        Line("Serving", f"{scheme}://{host}:{port}", is_literal=True),
        Line("Key", loaded.key.hex(), is_literal=True),
        *([] if certificate else [Line("Warning", _NO_TLS)]),
    )
    admin = hashlib.sha256(admin_token.encode()).digest() if admin_token else None
    app = create_app(loaded, store, rate=rate, admin=admin)
    files = {"certificate": certificate, "key": certificate_key}
    serve(app, host, port, **{name: str(file) if file else None for name, file in files.items()})


_NO_TLS = (
    "Plain HTTP: whoever is on the network sees who reports and can change answers. Clients refuse "
    "it but on this machine. Give --certificate, or put a TLS proxy in front."
)


@collect_app.command()
def tokens(
    campaign: CampaignFile,
    number: Annotated[int, typer.Argument(min=1, max=1_000_000, help="How many.")],
    db: Database = DEFAULT_DB,
    address: Annotated[
        str | None,
        typer.Option(envvar="SHOAL_ADDRESS", help="Of the server: prints invitations as links."),
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

    from shoal.collector.client import key_of
    from shoal.collector.wire import who_of

    loaded, store = _open(campaign, db)
    made = [os.urandom(32) for _ in range(number)]
    keys = [key_of(token, loaded.id, kind) for token in made for kind in ("key", "label")]
    store.enrol([who_of(key) for key in keys])
    store.close()
    link = f"{address.rstrip('/')}/#key={loaded.key.hex()}&token=" if address else ""
    lines = [f"{link}{token.hex()}" for token in made]
    Output(json, quiet).result({"tokens": lines}, *lines)


@collect_app.command()
def revoke(
    campaign: CampaignFile,
    token: Annotated[str, typer.Argument(help="The token, as `shoal collect tokens` printed it.")],
    db: Database = DEFAULT_DB,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Take an invitation back; a report that was counted stays in the sums.

    **Examples**

        shoal collect revoke campaign.json 5f0c...
    """
    from shoal.collector.client import key_of
    from shoal.collector.wire import who_of

    try:
        secret = bytes.fromhex(token.rpartition("=")[2])
    except ValueError:
        raise InvalidSetting("This is no token.", "Give it as it was printed.") from None
    loaded, store = _open(campaign, db)
    was = store.revoke(who_of(key_of(secret, loaded.id)))
    store.revoke(who_of(key_of(secret, loaded.id, "label")))
    store.close()
    text = "Revoked." if was else "Not enrolled here, or it has reported: nothing was changed."
    Output(json, quiet).result({"revoked": was}, Line("Token", text))


@collect_app.command()
def status(
    campaign: CampaignFile, db: Database = DEFAULT_DB, json: Json = False, quiet: Quiet = False
) -> None:
    """Say how many have reported, and what was published.

    **Examples**

        shoal collect status campaign.json --db sqlite:///walk.sqlite
    """
    from shoal.collector.learning import alarms

    loaded, store = _open(campaign, db)
    people, documents, checks = store.count(), store.documents(), alarms(loaded, store)
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
    )  # fmt: skip


_ALARM = 1e-6  # looked at again and again, so a false one must be rare


@collect_app.command()
def close(
    campaign: CampaignFile, db: Database = DEFAULT_DB, json: Json = False, quiet: Quiet = False
) -> None:
    """End a campaign: take no more reports, and delete all ids; the sums stay.

    **Examples**

        shoal collect close campaign.json --db sqlite:///walk.sqlite
    """
    loaded, store = _open(campaign, db)
    store.forget_people(len(loaded.shares))
    people = store.count()
    store.close()
    Output(json, quiet).result(
        {"people": people},
        Line("Closed", f"{quantity(people, 'report')}, as sums; no ids are left."),
    )


@collect_app.command()
def advance(
    campaign: CampaignFile,
    number: Annotated[int, typer.Argument(metavar="ROUND", min=0, help="The round to close.")],
    db: Database = DEFAULT_DB,
    key: KeyFile = DEFAULT_KEY,
    seed: Annotated[
        int | None, typer.Option(envvar="SHOAL_SEED", help="Seed of the learner.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Close a round of a campaign in three, and publish the next question, or the model.

    **Examples**

        shoal collect advance campaign.json 0
    """
    from shoal.collector import learning
    from shoal.collector.campaign import box_of, read_key, sign_document

    loaded, store = _open(campaign, db)
    rounds = len(loaded.shares)
    if not number < rounds or rounds == 1:
        raise InvalidSetting(
            f"The campaign has {rounds} round{'s' if rounds > 1 else ''}.",
            "Learn from a campaign of one round with `shoal collect cluster`.",
        )
    private = read_key(key)
    centers = learning.advance(loaded, store, number, private, seed)
    if number == rounds - 1:
        box = box_of(loaded.document)
        n = sum(sum(store.sums(i).values()) for i in range(rounds))
        text = "What the learner finds without data was not tried."
        model = learning.model_document(loaded, centers, (box.high - box.low) / 2, n, text)
        store.publish("model", 0, sign_document("model", model, private))
    store.close()
    heads = ["Group", *loaded.names]
    rows = [[str(i + 1), *(f"{c:.4g}" for c in center)] for i, center in enumerate(centers)]
    Output(json, quiet).result(
        {"round": number, "centers": centers.tolist()}, Table("Centres so far", heads, rows)
    )


@collect_app.command()
def cluster(
    campaign: CampaignFile,
    db: Database = DEFAULT_DB,
    key: KeyFile = DEFAULT_KEY,
    output: Annotated[
        Path, typer.Option("--output", "-o", envvar="SHOAL_OUTPUT", help="Folder to write.")
    ] = Path("model"),
    overwrite: Overwrite = False,
    robust: Annotated[
        bool,
        typer.Option(
            "--robust",
            envvar="SHOAL_ROBUST",
            help="Cut cells that stand out from their neighbours, against liars; no page.",
        ),
    ] = False,
    title: Title = None,
    publisher: Publisher = None,
    engine: Engine = "local",
    master: Master = None,
    seed: Annotated[
        int | None, typer.Option(envvar="SHOAL_SEED", help="Seed of the learner.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn groups from what has been collected, and publish the model, signed.

    Writes the reports as `shoal learn` reads them, and beside them what it writes: centres,
    density, a model, a page. People's devices then label themselves. For a campaign that asks for
    a category: the shares.

    **Examples**

        shoal collect cluster campaign.json -o model
    """
    from shoal.collector import learning
    from shoal.collector.campaign import read_key, sign_document
    from shoal.randomness import Randomness

    loaded, store = _open(campaign, db)
    say = Output(json, quiet)
    if len(loaded.shares) > 1:
        raise InvalidSetting(
            "The campaign has several rounds.", "Close them one by one: shoal collect advance."
        )
    learning.prepare_release(loaded, store)
    if "categories" in loaded.document:
        _show_shares(say, learning.shares_of(loaded, store))
        store.close()
        return
    private = read_key(key)
    if robust:
        _publish_robust(loaded, store, private, say, seed)
        store.close()
        return
    names = {"title": title or loaded.document["name"], "publisher": publisher}
    options = {"overwrite": overwrite, "engine": engine, "master": master, "seed": seed, **names}
    groups, files = _learn(loaded, store, output, say, options)
    control = f"Centres found without data fit {groups.ratio:.2f} times as badly."
    errors = learning.center_errors(loaded, store, groups.centers, Randomness(seed))
    model = learning.model_document(
        loaded, groups.centers, groups.model.units_, groups.total, control, errors
    )
    store.publish("model", 0, sign_document("model", model, private))
    store.close()
    heads = ["Group", *loaded.names, "About"]
    rows = [
        [str(i + 1), *(f"{c:.4g} ± {2 * e:.2g}" for c, e in zip(*lines, strict=True)), str(size)]
        for i, (*lines, size) in enumerate(zip(groups.centers, errors, groups.sizes, strict=True))
    ]
    say.result(
        {"report": files[0], "files": files, "centers": groups.centers.tolist(),
         "errors": errors.tolist(), "n_reports": groups.total, "control": groups.ratio},
        Table("Groups", heads, rows),
        Line("Control", control),
        Line("Page", files[0], is_literal=True),
        Line("Published", "The model is served to clients from now on."),
    )  # fmt: skip


def _learn(
    campaign: "Campaign", store: "Store", output: Path, say: Output, options: dict[str, Any]
) -> tuple[Any, list[str]]:
    """Write reports and run what `shoal learn` runs on them; the groups and the files."""
    import tempfile
    from contextlib import nullcontext

    from shoal.cli.inputs.engine import Engines
    from shoal.cli.verbs import learn
    from shoal.cluster.model_folder import check_replaceable
    from shoal.collector.learning import export_reports
    from shoal.data import atomic_folder
    from shoal.pages.local import page

    k, seed = campaign.document["n_clusters"], options["seed"]
    engines = Engines(options["engine"], options["master"])
    check_replaceable(output)
    with say.progress(5) as progress, FLAGS.shown(), tempfile.TemporaryDirectory() as place:
        table = export_reports(campaign, store, Path(place))
        with atomic_folder(output, options["overwrite"]) as part:
            is_spark = engines.is_distributed
            with engines.table(str(table), progress) if is_spark else nullcontext() as frame:
                groups = learn.learn_groups(
                    str(table), frame, "auto", range(k, k + 1), "elbow", seed, progress
                )
            shown = page(
                groups,
                table=table.name,
                n_clusters=range(k, k + 1),
                choose="elbow",
                seed=seed,
                is_distributed=is_spark,
                title=options["title"],
                publisher=options["publisher"],
            )
            names = learn.write_groups(groups.model, shown, part)
            for file in (table, table.with_name(f"{table.name}.json")):
                (part / file.name).write_bytes(file.read_bytes())
                names.append(file.name)
    return groups, [str(output / name) for name in names]


def _publish_robust(
    campaign: "Campaign", store: "Store", private: Any, say: Output, seed: int | None
) -> None:
    """Learn from counts without what stands out, publish, and say what was cut."""
    from shoal.collector import learning
    from shoal.collector.campaign import box_of, sign_document
    from shoal.randomness import Randomness

    centers, cells, people = learning.capped_centers(campaign, store, Randomness(seed))
    box, n = box_of(campaign.document), sum(store.sums(0).values())
    cut = f"{cells} cells were cut, by about {people:.0f} people in all."
    model = learning.model_document(campaign, centers, (box.high - box.low) / 2, n, cut)
    store.publish("model", 0, sign_document("model", model, private))
    rows = [[str(i + 1), *(f"{c:.4g}" for c in center)] for i, center in enumerate(centers)]
    values = {"centers": centers.tolist(), "n_reports": n, "cells_cut": cells, "people_cut": people}
    say.result(values, Table("Groups", ["Group", *campaign.names], rows), Line("Cut", cut))


def _show_shares(say: Output, shares: list[tuple[str, float, float]]) -> None:
    rows = [[name, f"{share:.3f}", f"{2 * error:.3f}"] for name, share, error in shares]
    values = [{"category": name, "share": share, "error": error} for name, share, error in shares]
    table = Table("Shares", ["Category", "Share", "give or take"], rows)
    say.result({"shares": values}, table)


def _open(path: Path, db: str) -> tuple["Campaign", "Store"]:
    """The signed campaign and its database."""
    from shoal.collector.campaign import Campaign
    from shoal.collector.storage import open_store

    campaign = Campaign.load(path)
    store = open_store(db, campaign.id, campaign.envelope, has_tokens=campaign.has_tokens)
    return campaign, store
