"""``shoal cluster --local``: groups learnt from reports, of records this never sees."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shoal.cli.inputs.cluster_methods import flags_of, groups_of
from shoal.cli.inputs.engine import Engines
from shoal.cli.inputs.table import counted
from shoal.cli.output import Output, Progress
from shoal.errors import InvalidSetting, NotAReport
from shoal.pages.local import Asked, document, result, summary

if TYPE_CHECKING:
    from shoal.cli.inputs.reports import Heard
    from shoal.pages.local import Groups
    from shoal.randomness import Randomness

__all__ = ["NAMES", "asked_of", "learn"]

NAMES = ("auto", "em", "mixture", "posterior-means", "moments", "blend", "plain", "grid")
_USED = {"table", "local", "method", "groups", "choose", "output", "overwrite", "title",
         "publisher", "engine", "master", "seed", "json", "quiet"}  # fmt: skip


def asked_of(context: typer.Context) -> Asked:
    """What was asked for, if it makes sense for reports.

    What stands in the environment for other verbs, such as SHOAL_LEDGER, is left alone.
    """
    words = context.params
    _refuse_others(context)
    if (wanted := groups_of(words["groups"])) is None:
        raise InvalidSetting(
            "-k did not come: how many groups?",
            "E.g. -k 5, or -k 2-8 to choose among them.",
            setting="-k",
        )
    told = {name: words[name] for name in ("seed", "title", "publisher")}
    how = words["choose"] or "elbow"
    return Asked(words["table"], _method(words["method"]), wanted, choose=how, **told)


def learn(asked: Asked, engines: Engines, output: Path, overwrite: bool, say: Output) -> None:
    """Learn, write the folder whole or not at all, and say what was found."""
    from shoal.cluster.model_folder import check_replaceable
    from shoal.data import whole_folder

    check_replaceable(output)
    with (
        say.progress(5) as progress,
        flags_of(asked.method).shown(),
        whole_folder(output, overwrite) as part,
    ):
        with engines.table(asked.table, progress) if engines.on_spark else nullcontext() as frame:
            groups = _found(asked, frame, progress)
        progress.step("Writing the page")
        files = [output / name for name in _written(groups, asked, part)]
    say.result(document(groups, files), *summary(groups, asked, files))


def _found(asked: Asked, frame: Any, progress: Progress) -> "Groups":
    from shoal.cluster import LocalClusterer
    from shoal.pages.local import Groups
    from shoal.randomness import Randomness

    rng = Randomness(asked.seed)
    progress.step("Reading reports")
    reports = _heard(asked, frame, rng, progress)
    _check_law(reports, asked)
    progress.step("Finding groups")
    model: Any = LocalClusterer(
        _clusters(asked, reports, rng),
        mechanism=reports.reports.mechanism,
        method=asked.method,
        random_state=rng.seed(),
        progress=_hearing(progress),
    ).fit(reports.reports)
    model.guarantee_ = reports.guarantee  # marked, if the reports are a simulation
    progress.step("Finding groups without data")
    control = model.control(_users(model, reports), random_state=rng.seed())
    progress.step("Holding groups against noise")
    evidence = model.evidence(reports.reports, random_state=rng.seed())
    return Groups(model, control, reports, evidence)


def _users(model: Any, heard: "Heard") -> int:
    """Of the control: as many as reported; of those that Spark counted, as many as fit here."""
    from shoal.cli.inputs.reports import MOST_NUMBERS
    from shoal.cluster.local.spark import Gathered

    users = int(model.n_used_)
    on_spark = isinstance(heard.reports, Gathered)
    return min(users, MOST_NUMBERS // heard.box.d) if on_spark else users


def _heard(asked: Asked, frame: Any, rng: "Randomness", progress: Progress) -> "Heard":
    """The reports of a file, or those of a frame on Spark."""
    if frame is None:
        from shoal.cli.inputs.reports import heard

        return heard(asked.table, rng.compute, counted(progress))
    from shoal.cli.inputs.spark_reports import heard_on_spark

    return heard_on_spark(asked.table, frame, rng.seed())


def _clusters(asked: Asked, heard: "Heard", rng: Any) -> int:
    """How many: as asked, or chosen on the density."""
    from shoal.cluster.local.number_of_clusters import clusters_among

    if len(asked.n_clusters) == 1:
        return asked.n_clusters[0]
    by: Any = asked.choose
    seed = rng.seed()
    return clusters_among(heard.reports, asked.n_clusters, by, random_state=seed).value


def _written(groups: "Groups", asked: Asked, folder: Path) -> list[str]:
    from shoal import report
    from shoal.cluster.model_folder import write_model

    files = write_model(groups.model, folder)
    told = report.findings(result(groups, asked), files=files)
    told["ledger"] |= {"here": None, "bar": []}  # what the reports promise was spent on them
    pages = report.write(told, folder)
    return [page.name for page in pages] + [file["name"] for file in files]


def _hearing(progress: Progress) -> Callable[[float], None]:
    def hear(share: float) -> None:
        progress.part("", share)

    return hear


def _method(word: str) -> str:
    """The learner of this name; kmeans, the usual word, is whichever is best."""
    if word == "kmeans":
        return "auto"
    if word in NAMES:
        return word
    raise InvalidSetting(
        "--method names no method for reports.",
        f"With --local there are {', '.join(NAMES)}.",
        setting="--method",
    )


def _check_law(heard: "Heard", asked: Asked) -> None:
    if heard.reports.remap is not None and asked.method != "plain":
        raise NotAReport(
            "These reports were clamped or snapped, which changed the law of their noise.",
            "Take those that `shoal perturb` writes without --remap; or cluster these as they are, "
            "noise and all: --method plain.",
        )


def _refuse_others(context: typer.Context) -> None:
    """Options that a private fit needs and reports have no use for, where they were given."""
    given = [
        max(option.opts, key=len)
        for option in context.command.params
        if option.name not in _USED and _on_the_line(context, str(option.name))
    ]
    if given:
        raise InvalidSetting(
            f"{', '.join(given)} came with --local, which spends nothing: bounds, columns and "
            "promise are the reports' own, in the file beside them.",
            "Leave it out, or leave --local out to cluster rows.",
        )


def _on_the_line(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
