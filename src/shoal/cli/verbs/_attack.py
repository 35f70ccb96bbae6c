"""``shoal attack``: play the adversary against a release of your own, before others do."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from shoal.cli._flags import Flags
from shoal.cli._options import LINKAGE, MEMBERSHIP, Engine, Json, Quiet, takes
from shoal.cli._output import Output, check_page, show_verdicts
from shoal.errors import ConflictingSettings
from shoal.jobs import Engines, box_of, budget_of, schema_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.audit import MembershipInference
    from shoal.domain import Box


attack_app = typer.Typer(
    no_args_is_help=True,
    help="Attack your own release: who is in it, and which row belongs to whom. The result is "
    "computed from your rows: it is for you, not for the public.",
)

FLAGS = Flags(
    names={"n_shadow": "--shadows"},
    pairs={
        ("method", "auto"): "--method kmeans",
        ("attack", "art"): "--by art",
        ("attack", "forest"): "--by shadow",
    },
)


@attack_app.command()
@takes(options=MEMBERSHIP)
def membership(
    table: str,
    method: str = "kmeans",
    groups: str | None = None,
    epsilon: str | None = None,
    columns: str | None = None,
    domain: Path | None = None,
    by: Literal["lira", "shadow", "art"] = "lira",
    sample_rows: int = 1_000,
    shadows: int | None = None,
    repeats: int = 10,
    alpha: float = 0.01,
    seed: int = 0,
    output: Path | None = None,
    overwrite: bool = False,
    engine: Engine = "local",
    master: str | None = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Was this person's record among those that a model was fitted on?

    Fits many models with and without each record, fresh noise each time, and measures how well
    members are told from others: the advantage (right answers minus false alarms), beside the most
    that the promise allows. Nothing is released and no budget is spent. Exit code 1: the ceiling is
    passed.

    **Examples**

        shoal attack membership visits.csv -k 8 --epsilon 1 --domain visits.yaml
        shoal attack membership visits.csv --method plain -k 100 --domain visits.yaml -o attack.html
        shoal attack membership visits.csv --method wave --epsilon 1 --domain visits.yaml --by lira
        shoal attack membership hdfs:///visits.parquet -k 8 --epsilon 1 --domain visits.yaml
            --engine spark --master yarn
    """
    from shoal.pages.attack import membership_page

    check_page(output, overwrite, "attack.html")
    box = box_of(schema_of(domain), columns, domain)
    model = _model(method, groups, epsilon, box)
    say, engines = Output(json, quiet), Engines(engine, master)
    with say.progress(2) as progress:
        with engines.table(table, progress) as source:
            progress.step("Reading rows")
            held = _draw_rows(source, box, sample_rows, seed)
        progress.step("Fitting models")
        with FLAGS.shown():
            attack = _attack(model, held, by, shadows, repeats, alpha, seed, progress.part)
    page = membership_page(attack, method, len(held))
    show_verdicts(page, say, output, overwrite=overwrite, private=True)
    if attack.verdict == "violated":
        raise typer.Exit(1)


@attack_app.command()
@takes(options=LINKAGE)
def linkage(
    released: Path,
    raw: Path,
    policy: Path,
    second: Path | None = None,
    column: str | None = None,
    seed: int = 0,
    output: Path | None = None,
    overwrite: bool = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Which rows of a k-anonymous table belong to whom, and what do they tell?

    Looks up everybody in a second file, in the released table and in the original. With --column
    it also guesses that column: a class whose members share a value tells it about each of them,
    however many they are. Exit code 1: somebody has fewer matching records than k.

    **Examples**

        shoal attack linkage released.csv --raw students.csv --policy policy.yaml
        shoal attack linkage released.csv --raw students.csv --policy policy.yaml
            --second voters.csv --column grade -o attack.html
    """
    from shoal.anonymize import read_policy
    from shoal.audit import attribute_inference
    from shoal.audit import linkage as linked
    from shoal.pages.attack import linkage_page, too_few_records

    check_page(output, overwrite, "attack.html")
    say, rules = Output(json, quiet), read_policy(policy)
    with say.progress(2) as progress:
        progress.step("Looking people up")
        links = linked(str(released), str(second or raw), raw=str(raw), policy=rules)
        progress.step("Guessing")
        guessed = None
        if column is not None:
            guessed = attribute_inference(
                str(released), str(raw), column, policy=rules, random_state=seed
            )
    page = linkage_page(links, guessed, released)
    show_verdicts(page, say, output, overwrite=overwrite, private=True)
    if too_few_records(links):
        raise typer.Exit(1)


def _draw_rows(source: Any, box: "Box", most: int, seed: int) -> "NDArray[np.float64]":
    """At most so many rows of a table, drawn, and moved to the box as methods see them."""
    import numpy as np

    from shoal.engine import rows_of

    return rows_of(source, box).take(most, np.random.default_rng(seed))


def _model(method: str, groups: str | None, epsilon: str | None, box: "Box") -> Any:
    """The estimator under attack, not fitted; it has no ledger, since nothing is released."""
    from shoal.jobs import ClusterOptions, method_named, parse_groups

    wanted = parse_groups(groups)
    if method != "plain":
        return method_named(method).build(
            ClusterOptions(method, budget_of(epsilon, "model"), box, wanted)
        )
    if epsilon is not None or wanted is None or len(wanted) > 1:
        raise ConflictingSettings(
            "--method plain takes one number of groups and no epsilon.", "E.g. -k 8."
        )
    from sklearn.cluster import KMeans

    return KMeans(wanted[0], n_init=1)


def _attack(
    model: Any,
    rows: Any,
    by: str,
    shadows: int | None,
    repeats: int,
    alpha: float,
    seed: int,
    progress: Any,
) -> "MembershipInference":
    from shoal.audit import lira, membership_inference

    common: dict[str, Any] = {
        "repeats": repeats,
        "alpha": alpha,
        "random_state": seed,
        "progress": progress,
    }
    if by == "lira":
        return lira(model, rows, n_shadow=shadows or 64, **common)
    attack: Any = "forest" if by == "shadow" else "art"
    return membership_inference(model, rows, attack=attack, shadows=shadows or 3, **common)
