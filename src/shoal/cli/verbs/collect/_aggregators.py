"""``shoal collect people | open | combine``: the sums of two aggregators, from lists to groups."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli._options import Json, LedgerFile, PublishAnyway, Quiet
from shoal.cli._output import Output
from shoal.cli.verbs.collect._options import (
    DEFAULT_DB,
    DEFAULT_KEY,
    HELD_MODEL,
    CampaignFile,
    Database,
    KeyFile,
    LearnerSeed,
    collect_app,
    open_campaign,
    with_caution,
)
from shoal.errors import CannotWrite, InvalidSetting, quantity
from shoal.pages.page import Line, Table

if TYPE_CHECKING:
    from shoal.collector import Campaign


AggregatorKey = Annotated[
    Path, typer.Option("--key", envvar="SHOAL_KEY", help="This aggregator's private key.")
]
OutputFile = Annotated[
    Path, typer.Option("--output", "-o", envvar="SHOAL_OUTPUT", help="File to write.")
]


@collect_app.command()
def people(
    campaign: CampaignFile,
    db: Database = DEFAULT_DB,
    key: AggregatorKey = DEFAULT_KEY,
    output: OutputFile = Path("people.json"),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Take no more shares, and list whose are here, for the other of two aggregators.

    **Examples**

        shoal collect people campaign.json --key first.key --db sqlite:///first.sqlite \\
            -o people-1.json
    """
    from shoal.collector import list_people, read_key

    private = read_key(key)
    loaded, store = open_campaign(campaign, db)
    _write(output, list_people(loaded, store, private))
    n = store.count()
    store.close()
    Output(json, quiet).result(
        {"people": n, "file": str(output)},
        Line("People", f"{quantity(n, 'share')}; no more are taken."),
        Line("File", str(output), is_literal=True),
        Line("Next", "Give the file to the other aggregator, and open with theirs."),
    )


@collect_app.command("open")
def open_verb(
    campaign: CampaignFile,
    people: Annotated[
        Path, typer.Argument(help="The other aggregator's list, from `shoal collect people`.")
    ],
    db: Database = DEFAULT_DB,
    key: AggregatorKey = DEFAULT_KEY,
    output: OutputFile = Path("opening.json"),
    ledger: LedgerFile = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Add up the shares of those whom both aggregators have, add noise, and publish the sum, once.

    Opened again, the same sum is written: its noise is drawn once. The shares are deleted.

    **Examples**

        shoal collect open campaign.json people-2.json --key first.key \\
            --db sqlite:///first.sqlite -o opening-1.json
    """
    from shoal.collector import open_sums, read_key
    from shoal.privacy import Ledger

    private = read_key(key)
    loaded, store = open_campaign(campaign, db)
    book = None if ledger is None else Ledger(ledger)
    _write(output, open_sums(loaded, store, private, _read(people), ledger=book))
    store.close()
    Output(json, quiet).result(
        {"file": str(output), "epsilon": loaded.document["epsilon"]},
        Line("Opened", f"{loaded.document['epsilon']}-DP, once; served under /v1/opening."),
        Line("File", str(output), is_literal=True),
        Line("Next", "shoal collect combine, with both openings"),
    )


@collect_app.command()
def combine(
    campaign: CampaignFile,
    openings: Annotated[
        list[Path] | None,
        typer.Argument(help="First and second opening; default: asks both aggregators."),
    ] = None,
    db: Annotated[
        str | None,
        typer.Option("--db", envvar="SHOAL_DB", help="Database to publish the model in."),
    ] = None,
    key: KeyFile = DEFAULT_KEY,
    output: OutputFile = Path("model.json"),
    publish_anyway: PublishAnyway = False,
    seed: LearnerSeed = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Add what both aggregators opened, learn groups from the counts, and sign the model.

    If no group has more people than noise alone would count, it is printed, but nothing is signed
    or served, and the exit code is 1.

    **Examples**

        shoal collect combine campaign.json opening-1.json opening-2.json -o model.json
    """
    from shoal.collector import (
        Campaign,
        add_openings,
        are_distinct,
        box_of,
        centers_of_openings,
        read_key,
        sign_document,
    )
    from shoal.collector.learning import model_document
    from shoal.randomness import Randomness

    loaded, private = Campaign.load(campaign), read_key(key)
    if not loaded.aggregators or (openings and len(openings) != 2):
        raise InvalidSetting(
            "combine needs a campaign with two aggregators, and two openings or none.",
            "Give the files in the order in which the campaign names the aggregators.",
        )
    envelopes = [_read(path) for path in openings] if openings else _ask_both(loaded)
    opened = add_openings(loaded, envelopes)
    centers, errors = centers_of_openings(loaded, opened, Randomness(seed))
    box = box_of(loaded.document)
    text = f"Counts of cells carry noise of deviation {opened.deviation:.3g}."
    is_clear = are_distinct(loaded, opened, centers)
    is_published = is_clear or publish_anyway
    if is_published:
        note = with_caution(text, is_clear)
        units = (box.high - box.low) / 2
        document = model_document(loaded, centers, units, opened.people, note, errors)
        model = sign_document("model", document, private)
        _write(output, model)
        if db is not None:
            _, store = open_campaign(campaign, db)
            store.publish("model", 0, model)
            store.close()
    rows = [
        [str(i + 1), *(f"{c:.4g} ± {2 * e:.2g}" for c, e in zip(*lines, strict=True))]
        for i, lines in enumerate(zip(centers, errors, strict=True))
    ]
    Output(json, quiet).result(
        {"centers": centers.tolist(), "errors": errors.tolist(), "people": opened.people,
         "deviation": opened.deviation, "file": str(output) if is_published else None,
         "published": is_published},
        Table("Groups", ["Group", *loaded.names], rows),
        Line("People", f"{quantity(opened.people, 'person', 'people')} at both aggregators."),
        Line("Model", str(output), is_literal=True)
        if is_published
        else Line("Withheld", HELD_MODEL),
    )  # fmt: skip
    if not is_published:
        raise typer.Exit(1)


def _ask_both(campaign: "Campaign") -> list[Any]:
    """The openings, as both aggregators serve them."""
    from shoal.collector import client
    from shoal.documents import parse_json

    envelopes = []
    for number, one in enumerate(campaign.aggregators, start=1):
        status, body, _ = client.http(one["address"].rstrip("/") + "/v1/opening")
        if status != 200:
            raise InvalidSetting(
                f"Aggregator {number} serves no opening.",
                "Ask for it later, or give both openings as files.",
            )
        envelopes.append(parse_json(body.decode("ascii", "replace")))
    return envelopes


def _read(path: Path) -> Any:
    from shoal.documents import parse_json

    try:
        return parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InvalidSetting(
            f"{path} is no signed document.", "Give the file as the other aggregator wrote it."
        ) from None


def _write(path: Path, envelope: dict[str, Any]) -> None:
    from json import dumps

    from shoal.files import atomic_file

    try:
        with atomic_file(path, True) as part:
            part.write_text(dumps(envelope) + "\n")
    except OSError:
        raise CannotWrite(f"{path} cannot be written.", "Name another file.") from None
