"""``shoal learn``: groups learnt from reports, of records this never sees."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli._flags import Flags
from shoal.cli._options import (
    Choose,
    Engine,
    Folder,
    Groups,
    Json,
    Master,
    Overwrite,
    PublishAnyway,
    Publisher,
    Quiet,
    Title,
)
from shoal.cli._output import Output
from shoal.errors import (
    InvalidSetting,
    NotAReport,
    TooFewRows,
    sentence,
    setting,
    value_text,
)
from shoal.jobs import Engines, Progress, parse_groups
from shoal.jobs.reports import is_in_rounds, load_rounds
from shoal.pages.page import NOT_PUBLISHED, Line

if TYPE_CHECKING:
    from shoal.jobs.reports import LoadedReports
    from shoal.pages.groups import LocalGroups
    from shoal.pages.page import Page
    from shoal.randomness import Randomness


FLAGS = Flags(hints={TooFewRows: "Collect more reports, or ask for fewer groups with -k."})

METHODS = ("auto", "em", "mixture", "posterior-means", "moments", "blend", "plain", "grid")


def learn(
    reports: Annotated[
        str,
        typer.Argument(
            metavar="REPORTS",
            help="A file of reports that `shoal perturb` wrote; the file beside it says what made "
            "them.",
            show_default=False,
        ),
    ],
    groups: Groups = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            envvar="SHOAL_METHOD",
            help=f"Method: {', '.join(METHODS)}.",
        ),
    ] = "auto",
    choose: Choose = None,
    output: Folder = Path("model"),
    overwrite: Overwrite = False,
    title: Title = None,
    publisher: Publisher = None,
    publish_anyway: PublishAnyway = False,
    engine: Engine = "local",
    master: Master = None,
    seed: Annotated[
        int | None,
        typer.Option(
            envvar="SHOAL_SEED",
            help="Seed of the learner, to repeat a run; the reports do not change.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn groups from noisy reports, without ever seeing a row.

    Reads reports that `shoal perturb` wrote, and the file beside them. Nothing is spent: the
    promise is the reports' own, and so are bounds and columns. Writes a folder: `centers.csv`, the
    density that was learnt, `model.json` for `shoal.load_model`, and `report.html`, a page that
    shows beside the groups what the same learner finds without data. Reports of `--mechanism
    rounds` say themselves how many groups they ask about; of them come `prototypes.csv`, model
    and page. If noise alone would look like the groups, the page does not show them, and the exit
    code is 1.

    **Examples**

        shoal perturb trips.csv --mechanism local-grid --epsilon 2 --domain city.yaml --clip
        shoal learn reports.parquet -k 5 -o model
        shoal learn reports.parquet -k 2-8
        shoal learn rounds.parquet -o model
        shoal learn s3a://trips/noisy.parquet -k 5 --engine spark
    """
    from shoal.cluster.model_folder import check_replaceable
    from shoal.data import atomic_folder
    from shoal.pages.groups import page

    engines, say = Engines(engine, master), Output(json, quiet)
    if not engines.is_distributed and is_in_rounds(reports):
        _check_round_options(method, choose)
        with say.progress(3) as progress, FLAGS.shown():
            shown, files = _learn_rounds(
                reports, groups, output, overwrite, title, publisher, seed, progress, publish_anyway
            )
        return _print(say, shown, files, output, publish_anyway)
    n_clusters = _n_clusters(groups)
    rule = choose or "elbow"
    _check_method(method)
    check_replaceable(output)
    with say.progress(5) as progress, FLAGS.shown(), atomic_folder(output, overwrite) as part:
        with engines.table(reports, progress) if engines.is_distributed else nullcontext() as frame:
            learnt = learn_groups(reports, frame, method, n_clusters, rule, seed, progress)
        progress.step("Writing the page")
        shown = page(
            learnt,
            table=reports,
            n_clusters=n_clusters,
            choose=rule,
            seed=seed,
            is_distributed=engines.is_distributed,
            title=title,
            publisher=publisher,
        )
        made = write_groups(learnt.model, shown, part, publish_anyway)
        files = [output / name for name in made]
    _print(say, shown, files, output, publish_anyway)


def _print(
    say: Output, shown: "Page", files: list[Path], output: Path, publish_anyway: bool
) -> None:
    """Print what the page says, and where it is; exit with 1 if it may not show the groups."""
    is_published = shown.is_distinct or publish_anyway
    values = {"report": str(files[0]), "files": [str(file) for file in files], **shown.values}
    say.result(
        values | {"published": is_published},
        *shown.lines,
        *([] if is_published else [Line("Withheld", NOT_PUBLISHED)]),
        Line("Page", str(files[0]), is_literal=True),
        Line("Next", f'shoal.load_model("{output}").predict(record) labels one, on its client.'),
    )
    if not is_published:
        raise typer.Exit(1)


def _learn_rounds(
    table: str,
    groups: str | None,
    output: Path,
    overwrite: bool,
    title: str | None,
    publisher: str | None,
    seed: int | None,
    progress: Progress,
    publish_anyway: bool,
) -> "tuple[Page, list[Path]]":
    """Write the folder of what rounds of reports say; return its page and its files."""
    from shoal.cluster import RoundsModel
    from shoal.cluster.model_folder import check_replaceable
    from shoal.data import atomic_folder
    from shoal.pages.groups import page

    check_replaceable(output)
    progress.step("Reading reports")
    loaded = load_rounds(table, progress.count_rows)
    _check_same_number(groups, loaded.transcript.first.n_clusters)
    with atomic_folder(output, overwrite) as part:
        progress.step("Finding groups")
        model = RoundsModel.of(loaded.transcript, loaded.guarantee)
        progress.step("Finding groups without data")
        shown = page(
            model,
            table=table,
            protects=loaded.protects,
            seed=seed,
            title=title,
            publisher=publisher,
        )
        made = write_groups(model, shown, part, publish_anyway)
        return shown, [output / name for name in made]


def _check_same_number(groups: str | None, n_groups: int) -> None:
    wanted = parse_groups(groups)
    if wanted is not None and (len(wanted) != 1 or wanted[0] != n_groups):
        raise InvalidSetting(
            f"These rounds asked about {n_groups} groups, and say nothing of another number.",
            sentence(
                f"Leave out {{n_clusters}}, or give {{n_clusters:{n_groups}}}. Another number "
                "takes other reports."
            ),
            setting="n_clusters",
        )


def _check_round_options(method: str, choose: str | None) -> None:
    for name, is_given in (("method", method != "auto"), ("choose", choose is not None)):
        if is_given:
            raise InvalidSetting(
                "Reports made in rounds are learnt in one way, without " + setting(name) + ".",
                "Leave it out.",
            )


def learn_groups(
    table: str,
    frame: Any,
    method: str,
    n_clusters: range,
    choose: str,
    seed: int | None,
    progress: Progress,
) -> "LocalGroups":
    """Return the groups, the same without data, and whether noise alone would look like them."""
    from shoal.cluster import LocalClusterer
    from shoal.pages.groups import LocalGroups
    from shoal.randomness import Randomness

    rng = Randomness(seed)
    progress.step("Reading reports")
    loaded = _load(table, frame, rng, progress)
    _check_law(loaded, method)
    progress.step("Finding groups")
    model: Any = LocalClusterer(
        _choose_number(loaded, n_clusters, choose, rng),
        mechanism=loaded.reports.mechanism,
        method=method,
        random_state=rng.seed(),
        progress=lambda share: progress.part("", share),
    ).fit(loaded.reports)
    model.guarantee_ = loaded.guarantee  # marked, if the reports are a simulation
    progress.step("Finding groups without data")
    control = model.control(control_size(model, loaded), random_state=rng.seed())
    progress.step("Comparing groups with noise")
    model.evidence(loaded.reports, random_state=rng.seed())
    return LocalGroups(model, control, loaded.total, protects=loaded.protects)


def _load(table: str, frame: Any, rng: "Randomness", progress: Progress) -> "LoadedReports":
    """The reports of a file, or those of a frame on Spark."""
    if frame is None:
        from shoal.jobs.reports import load_reports

        return load_reports(table, rng.compute, progress.count_rows)
    from shoal.jobs.reports import load_frame_reports

    return load_frame_reports(table, frame, rng.seed())


def _choose_number(loaded: "LoadedReports", n_clusters: range, choose: Any, rng: Any) -> int:
    """How many groups: as given, or chosen on the density."""
    from shoal.cluster.local import choose_number

    if len(n_clusters) == 1:
        return n_clusters[0]
    return choose_number(loaded.reports, n_clusters, choose, random_state=rng.seed()).value


def control_size(model: Any, loaded: "LoadedReports") -> int:
    """Reports of the control: as many as were used; of those on Spark, as many as fit here."""
    from shoal.cluster.local import GatheredReports
    from shoal.jobs.reports import MOST_NUMBERS

    used = int(model.n_used_)
    is_distributed = isinstance(loaded.reports, GatheredReports)
    return min(used, MOST_NUMBERS // loaded.box.d) if is_distributed else used


def write_groups(model: Any, page: "Page", folder: Path, publish_anyway: bool) -> list[str]:
    """Write a model and its page into a folder; return the names of the files.

    Parameters
    ----------
    publish_anyway
        Whether the page shows groups that are not distinguishable from noise.
    """
    from shoal.cluster import write_model
    from shoal.pages import write
    from shoal.pages._write_page import page_findings

    files = write_model(model, folder)
    result = page.to_result(publish_anyway=publish_anyway)
    listed = files if page.is_distinct or publish_anyway else []
    pages = write(page_findings(result, files=listed), folder)
    return [page.name for page in pages] + [file["name"] for file in files]


def _n_clusters(groups: str | None) -> range:
    n_clusters = parse_groups(groups)
    if n_clusters is None:
        raise InvalidSetting(
            "The number of groups is missing.",
            sentence("E.g. {n_clusters:5}, or {n_clusters:2-8} to choose among them."),
            setting="n_clusters",
        )
    return n_clusters


def _check_method(name: str) -> None:
    if name not in METHODS:
        raise InvalidSetting(
            f"There is no method {value_text(name)} for reports.",
            f"Choose one of {', '.join(METHODS)}.",
            setting="method",
        )


def _check_law(loaded: "LoadedReports", method: str) -> None:
    if loaded.reports.remap is not None and method != "plain":
        raise NotAReport(
            f"These reports were {_moved(loaded.reports.remap)}, which changed the distribution of "
            "their noise.",
            sentence(
                "Use reports that `shoal perturb` wrote without {remap}; or cluster these as they "
                "are, with their noise: {method:plain}."
            ),
        )


def _moved(remap: Any) -> str:
    """What a remap did to the reports."""
    done = {"Clamp": "clamped", "Snap": "snapped", "BayesRemap": "moved to guesses of their rows"}
    return done.get(type(remap).__name__, "remapped")
