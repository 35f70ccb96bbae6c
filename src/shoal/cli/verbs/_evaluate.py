"""``shoal evaluate``: how good published groups are, for the holder of the rows alone."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shoal.cli._options import EVALUATE, Engine, Json, Quiet, takes
from shoal.cli._output import Output, check_page, show_verdicts
from shoal.errors import ConflictingSettings, InvalidSetting
from shoal.jobs import Engines, Progress, split_commas

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.cli.inputs._evaluation_rows import EvaluationRows


@takes(options=EVALUATE)
def evaluate(
    model: Path,
    table: str | None = None,
    against: str | None = None,
    labels: str | None = None,
    columns: str | None = None,
    sample_rows: int = 100_000,
    controls: int = 5,
    output: Path | None = None,
    overwrite: bool = False,
    seed: int = 0,
    engine: Engine = "local",
    master: str | None = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score a model on the rows it is about, beside what the method finds without data.

    The scores are computed from the rows: they are for you who hold them, and publishing one would
    need a budget. `without data` is what the same method reaches when everybody lies in the middle
    of the box (in a mixed table: when rows are spread evenly); `shuffled` what the labels reach
    when dealt out at random; `closed` how much of the gap between the first and the plain method
    is closed. Exit code 1: some run without data did as well.

    **Examples**

        shoal cluster visits.csv -k 8 --epsilon 1 --domain visits.yaml -o model
        shoal evaluate model visits.csv
        shoal evaluate model visits.csv --labels group -o scores.html
        shoal evaluate model visits.csv --json | jq .scores[0].closed
        shoal evaluate model hdfs:///visits.parquet --engine spark --master yarn
    """
    from shoal.cli.inputs._evaluation_rows import column_names, draw_evaluation_rows
    from shoal.cluster import load_model
    from shoal.pages.evaluation import Evaluation, page

    rows = _named_once(table, against)
    check_page(output, overwrite, "scores.html")
    say, engines = Output(json, quiet), Engines(engine, master)
    fitted: Any = load_model(model)
    names = column_names(fitted, split_commas(columns) if columns else None)
    with say.progress(3) as progress:
        with engines.table(rows, progress) as source:
            progress.step("Reading rows")
            held = draw_evaluation_rows(fitted, source, names, labels, sample_rows, seed)
        scores = _scored(held, controls, seed, progress)
    scored = Evaluation(model, fitted, scores, held.n_rows, len(held.rows), labels, controls)
    show_verdicts(page(scored), say, output, overwrite=overwrite, private=True)
    if scored.is_no_better:
        raise typer.Exit(1)


def _named_once(table: str | None, against: str | None) -> str:
    """Return the table, given by its place or by the flag."""
    if table is not None and against is not None:
        raise ConflictingSettings(
            "The table is given twice: by its place and by --against.", "Leave one of them out."
        )
    named = table if table is not None else against
    if named is None:
        raise InvalidSetting(
            "The table is missing.",
            "Name the rows after the model, e.g. shoal evaluate model visits.csv.",
            setting="--against",
        )
    return named


def _scored(held: "EvaluationRows", controls: int, seed: int, progress: Progress) -> "pa.Table":
    from shoal.cluster import without_data
    from shoal.evaluate import score

    progress.step("Running the method without data")
    nothing = [without_data(held.model, random_state=seed + i) for i in range(controls)]
    progress.step("Scoring")
    return score(
        held.model, held.rows, against=held.labels, control=nothing or None, random_state=seed
    )
