"""``shoal collect advance | cluster``: groups learnt from what has been collected."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli._options import (
    Engine,
    Json,
    Master,
    Overwrite,
    PublishAnyway,
    Publisher,
    Quiet,
    Title,
)
from shoal.cli._output import Output
from shoal.cli.verbs.collect._options import (
    DEFAULT_DB,
    DEFAULT_KEY,
    FLAGS,
    HELD_MODEL,
    CampaignFile,
    Database,
    KeyFile,
    LearnerSeed,
    collect_app,
    open_campaign,
    with_caution,
)
from shoal.errors import InvalidSetting, quantity
from shoal.pages.page import Line, Table

if TYPE_CHECKING:
    from shoal.collector import Campaign, Store


Robust = Annotated[
    bool | None,
    typer.Option(
        "--robust/--no-robust",
        envvar="SHOAL_ROBUST",
        help="Cut cells that stand out from their neighbours, against liars; no page. "
        "Default: in open campaigns.",
        show_default=False,
    ),
]
HELD_ROUND = (
    "Noise alone would look like the groups of the first round: the round stays open, and no "
    "question was published. Collect more reports, or go on all the same: --publish-anyway."
)


@collect_app.command()
def advance(
    campaign: CampaignFile,
    number: Annotated[int, typer.Argument(metavar="ROUND", min=0, help="The round to close.")],
    db: Database = DEFAULT_DB,
    key: KeyFile = DEFAULT_KEY,
    robust: Robust = None,
    publish_anyway: PublishAnyway = False,
    seed: LearnerSeed = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Close a round of a campaign in three, and publish the next question, or the model.

    If the reports of the first round show no groups, nothing is closed or published, and the exit
    code is 1: both would show devices what noise alone would look like. Of an open campaign, where
    anybody may report as many, cells of the first round that stand out are cut before its groups
    are learnt; later rounds ask about no cells.

    **Examples**

        shoal collect advance campaign.json 0
    """
    from shoal.collector import box_of, learning, read_key, sign_document

    loaded, store = open_campaign(campaign, db)
    rounds = len(loaded.shares)
    if not number < rounds or rounds == 1:
        raise InvalidSetting(
            f"The campaign has {rounds} round{'s' if rounds > 1 else ''}.",
            "Learn from a campaign of one round with `shoal collect cluster`.",
        )
    if robust and number:
        raise InvalidSetting(
            "Reports of later rounds have no cells that could be cut.", "Leave --robust out."
        )
    private, say = read_key(key), Output(json, quiet)
    is_clear = learning.shows_groups(loaded, store, seed)
    if not (is_clear or publish_anyway):
        store.close()
        say.result({"round": number, "published": False}, Line("Withheld", HELD_ROUND))
        raise typer.Exit(1)
    is_robust = number == 0 and (robust if robust is not None else not loaded.has_tokens)
    centers, capped = learning.advance(loaded, store, number, private, seed, robust=is_robust)
    if number == rounds - 1:
        box = box_of(loaded.document)
        n = sum(sum(store.sums(i).values()) for i in range(rounds))
        text = with_caution("What the learner finds without data was not tried.", is_clear)
        model = learning.model_document(loaded, centers, (box.high - box.low) / 2, n, text)
        store.publish("model", 0, sign_document("model", model, private))
    store.close()
    heads = ["Group", *loaded.names]
    rows = [[str(i + 1), *(f"{c:.4g}" for c in center)] for i, center in enumerate(centers)]
    values, lines = _cut_texts(capped)
    say.result(
        {"round": number, "centers": centers.tolist(), "published": True} | values,
        Table("Centres so far", heads, rows),
        *lines,
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
    robust: Robust = None,
    title: Title = None,
    publisher: Publisher = None,
    publish_anyway: PublishAnyway = False,
    engine: Engine = "local",
    master: Master = None,
    seed: LearnerSeed = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn groups from what has been collected, and publish the model, signed.

    Writes the reports as `shoal learn` reads them, and beside them what it writes: centres,
    density, a model, a page. People's devices then label themselves. For a campaign that asks for
    a category: the shares. Of an open campaign, where anybody may report as many, cells that stand
    out are cut first, and the folder holds the reports alone. If noise alone would look like the
    groups, the folder is written, but nothing is signed or served, and the exit code is 1.

    **Examples**

        shoal collect cluster campaign.json -o model
    """
    from shoal.collector import learning, read_key, sign_document
    from shoal.collector._web_page import center_texts
    from shoal.data import atomic_folder
    from shoal.randomness import Randomness

    loaded, store = open_campaign(campaign, db)
    say = Output(json, quiet)
    if loaded.aggregators:
        raise InvalidSetting(
            "The campaign has two aggregators.",
            "Each opens its sums (shoal collect people, then open); then: shoal collect combine.",
        )
    if len(loaded.shares) > 1:
        raise InvalidSetting(
            "The campaign has several rounds.", "Close them one by one: shoal collect advance."
        )
    # What closes a shuffled campaign comes after everything that may be refused.
    if "categories" in loaded.document:
        learning.prepare_release(loaded, store)
        _show_shares(say, learning.shares_of(loaded, store))
        store.close()
        return
    private = read_key(key)
    if loaded.lattice_columns:
        if robust:
            raise InvalidSetting(
                "Reports of places have no cells that could be cut.", "Leave --robust out."
            )
        robust = False
    if robust if robust is not None else not loaded.has_tokens:
        _check_robust_options(title, publisher, engine, master)
        with atomic_folder(output, overwrite) as part:
            learning.prepare_release(loaded, store)
            learning.export_reports(loaded, store, part)
        _publish_robust(loaded, store, private, say, seed, publish_anyway)
        return
    names = {"title": title or loaded.document["name"], "publisher": publisher}
    options = {"overwrite": overwrite, "engine": engine, "master": master, "seed": seed, **names}
    groups, files = _learn(loaded, store, output, say, options | {"anyway": publish_anyway})
    control = f"Centres found without data fit {groups.ratio:.2f} times as badly."
    is_clear = groups.is_distinct
    if loaded.lattice_columns:
        errors = learning.errors_of_intervals(groups.model)
    else:
        errors = learning.center_errors(loaded, store, groups.centers, Randomness(seed))
    model = learning.model_document(
        loaded,
        groups.centers,
        groups.model.units_,
        groups.total,
        with_caution(control, is_clear),
        errors,
    )
    is_published = is_clear or publish_anyway
    if is_published:
        store.publish("model", 0, sign_document("model", model, private))
    store.close()
    heads = ["Group", *loaded.names, "About"]
    cells = center_texts(loaded.document["columns"], groups.centers, errors)
    rows = [
        [str(i + 1), *line, str(size)]
        for i, (line, size) in enumerate(zip(cells, groups.sizes, strict=True))
    ]
    say.result(
        {"report": files[0], "files": files, "centers": groups.centers.tolist(),
         "errors": None if errors is None else errors.tolist(), "n_reports": groups.total,
         "control": groups.ratio, "published": is_published},
        Table("Groups", heads, rows),
        Line("Control", control),
        Line("Page", files[0], is_literal=True),
        _publication_line(is_published),
    )  # fmt: skip
    if not is_published:
        raise typer.Exit(1)


def _check_robust_options(
    title: str | None, publisher: str | None, engine: str, master: str | None
) -> None:
    """Refuse what a robust run, which writes no page and runs here, would ignore."""
    given = {
        "--title": title,
        "--publisher": publisher,
        "--engine": engine != "local",
        "--master": master,
    }
    for name, value in given.items():
        if value:
            raise InvalidSetting(
                f"A robust run writes no page and runs on this machine: {name} says nothing to it.",
                f"Leave {name} out, or give --no-robust.",
            )


def _publication_line(is_published: bool) -> Line:
    if is_published:
        return Line("Published", "The model is served to clients from now on.")
    return Line("Withheld", HELD_MODEL)


def _learn(
    campaign: "Campaign", store: "Store", output: Path, say: Output, options: dict[str, Any]
) -> tuple[Any, list[str]]:
    """Write reports and run what `shoal learn` runs on them; the groups and the files."""
    import tempfile
    from contextlib import nullcontext

    from shoal.cli.verbs import _learn as learn
    from shoal.cluster.model_folder import check_replaceable
    from shoal.collector.learning import REPORTS, export_reports, prepare_release
    from shoal.data import atomic_folder
    from shoal.jobs import Engines
    from shoal.pages.groups import page

    k, seed = campaign.document["n_clusters"], options["seed"]
    engines = Engines(options["engine"], options["master"])
    check_replaceable(output, also=(REPORTS, f"{REPORTS}.json"))
    with (
        say.progress(5) as progress,
        FLAGS.shown(),
        tempfile.TemporaryDirectory() as place,
        atomic_folder(output, options["overwrite"]) as part,
    ):
        prepare_release(campaign, store)
        table = export_reports(campaign, store, Path(place))
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
        names = learn.write_groups(groups.model, shown, part, options["anyway"])
        for file in (table, table.with_name(f"{table.name}.json")):
            (part / file.name).write_bytes(file.read_bytes())
            names.append(file.name)
    return groups, [str(output / name) for name in names]


def _publish_robust(
    campaign: "Campaign",
    store: "Store",
    private: Any,
    say: Output,
    seed: int | None,
    publish_anyway: bool,
) -> None:
    """Learn from counts without what stands out, publish, and say what was cut."""
    from shoal.collector import box_of, learning, sign_document
    from shoal.randomness import Randomness

    centers, capped = learning.capped_centers(campaign, store, Randomness(seed))
    box, n = box_of(campaign.document), sum(store.sums(0).values())
    cut, lines = _cut_texts(capped)
    is_clear = learning.shows_groups(campaign, store, seed)
    note = with_caution(lines[0].text, is_clear)
    model = learning.model_document(campaign, centers, (box.high - box.low) / 2, n, note)
    is_published = is_clear or publish_anyway
    if is_published:
        store.publish("model", 0, sign_document("model", model, private))
    store.close()
    rows = [[str(i + 1), *(f"{c:.4g}" for c in center)] for i, center in enumerate(centers)]
    values = {"centers": centers.tolist(), "n_reports": n, "published": is_published}
    say.result(
        values | cut,
        Table("Groups", ["Group", *campaign.names], rows),
        *lines,
        _publication_line(is_published),
    )
    if not is_published:
        raise typer.Exit(1)


def _cut_texts(capped: Any) -> tuple[dict[str, Any], list[Line]]:
    """Return which cells were cut and by how much, as values and in words; nothing for None."""
    if capped is None:
        return {}, []
    cells, amount = capped.n_cells, capped.amount
    verb = "was" if cells == 1 else "were"
    cut = f"{quantity(cells, 'cell')} {verb} cut, by estimated counts of {amount:.0f} in all."
    return {"cells_cut": cells, "count_cut": amount}, [Line("Cut", cut)]


def _show_shares(say: Output, shares: list[tuple[str, float, float]]) -> None:
    rows = [[name, f"{share:.3f}", f"{2 * error:.3f}"] for name, share, error in shares]
    values = [{"category": name, "share": share, "error": error} for name, share, error in shares]
    table = Table("Shares", ["Category", "Share", "give or take"], rows)
    say.result({"shares": values}, table)
