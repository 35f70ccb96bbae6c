"""Scores in words: what a terminal shows, what scripts read, and a page for the holder."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli.inputs.evaluation_rows import Held
from shoal.cli.output import entry, write_page
from shoal.evaluate.table import NO_BETTER
from shoal.figures.text import number

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import RenderableType

    from shoal.report import Verdicts

__all__ = ["Told", "document", "summary", "write"]

WORDS = {
    "ami": "AMI",
    "ari": "ARI",
    "nmi": "NMI",
    "rand_index": "Rand index",
    "fowlkes_mallows": "Fowlkes-Mallows",
    "silhouette": "Silhouette",
    "calinski_harabasz": "Calinski-Harabasz",
    "davies_bouldin": "Davies-Bouldin",
    "normalised_inertia": "Inertia ratio",
    "centroid_index": "Centroid index",
    "aee": "Centres off by",
    "relative_aee": "Over way to next",
    "missing_centers": "Centres missing",
    "spurious_centers": "Centres too many",
}
HEADS = ("Score", "Found", "Plain", "Without data", "Shuffled", "Closed", "Better")
FOR_YOU = (
    "Read off the rows: for you who hold them. The promise does not cover these numbers; do not "
    "pass them on."
)
OWN_PAGE = "What was released is on the model's own page. This one says how good it is."
IN_VAIN = "These groups are no better than some that the same method finds without data."


@dataclass(frozen=True, eq=False)
class Told:
    """What was scored, on which rows, beside how many controls."""

    folder: Path
    held: Held
    labels: str | None
    controls: int
    table: "pa.Table"

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The scores, one a line."""
        return list(self.table.to_pylist())

    @property
    def main(self) -> dict[str, Any]:
        """What a model is judged by: inertia if it has centres, else agreement of labels."""
        by_name = {line["score"]: line for line in self.lines}
        return by_name.get("normalised_inertia", by_name["ami"])

    @property
    def is_no_better(self) -> bool:
        """Whether some run of the method finds as much without data."""
        return bool(self.main["note"] == NO_BETTER)

    @property
    def compared(self) -> str:
        """What the groups were held against."""
        if self.labels is not None:
            return f"the groups in column '{self.labels}'"
        return "plain k-means on the rows"

    @property
    def scored_on(self) -> str:
        """How many rows."""
        n, total = len(self.held.rows), self.held.n_rows
        return f"{n:,} rows" if n == total else f"{n:,} of {total:,} rows"


def document(told: Told, output: Path | None = None) -> dict[str, Any]:
    """What ``--json`` prints and a .json file holds."""
    return {
        "model": str(told.folder),
        "class": type(told.held.model).__name__,
        "guarantee": told.held.model.guarantee_.to_dict(),
        "for_the_holder_alone": True,
        "compared_with": told.compared,
        "rows": told.held.n_rows,
        "rows_scored": len(told.held.rows),
        "controls": told.controls,
        "no_better_than_without_data": told.is_no_better,
        "scores": told.lines,
        "file": None if output is None else str(output),
    }


def summary(told: Told, output: Path | None = None) -> list["RenderableType"]:
    """What a terminal shows: the scores, what they say, and whose they are."""
    against = f"{told.scored_on} against {told.compared}."
    return [
        entry("Scored", f"{type(told.held.model).__name__} in {told.folder} on {against}"),
        _printed(told),
        *(entry("Finding", words) for words in _findings(told)),
        entry("For you", FOR_YOU),
        *([] if output is None else [entry("File", str(output), wrap=False)]),
    ]


def write(told: Told, output: Path, overwrite: bool) -> None:
    """A page or a document, whole or not at all, that only its owner can read."""
    write_page(
        output,
        overwrite,
        document=document(told, output),
        page=lambda: page(told),
        for_the_holder=True,
    )


def page(told: Told) -> "Verdicts":
    """The scores for the holder; no promise stands on this page, since none covers it."""
    from shoal.evaluate import score_picture
    from shoal.report import Detail, Verdicts

    rows = [[_words(line), *_cells(line), line["better"]] for line in told.lines]
    table = {"title": "Scores", "columns": list(HEADS), "rows": rows, "marked": False}
    said = _findings(told)
    return Verdicts(
        title=f"How good the groups of {told.folder.name} are",
        lead=" ".join(said),
        heading="Scores",
        sub=f"{type(told.held.model).__name__}, scored on {told.scored_on} against "
        f"{told.compared}.",
        tables=[table | {"note": _how_to_read(told)}],
        details=[Detail("Scores, and what is reached without data", "the closer to plain the "
                        "better", (score_picture(told.table),), said, open=True)],
        reading="Each score beside the plain answer, runs without data and shuffled labels.",
        says=("How near the released groups come to those of the rows.",
              "How much of that the same method reaches without any data."),
        says_not=(FOR_YOU, OWN_PAGE),
        constructed=False,
    )  # fmt: skip


def _findings(told: Told) -> list[str]:
    """What the scores say in a sentence or two."""
    main, agreement = told.main, told.lines[0]
    if main["closed"] is None:
        return [f"No control was run, or it says nothing: {main['note']}."]
    if told.is_no_better:
        return [IN_VAIN]
    closed = f"{100 * main['closed']:.0f} % of the gap between no data and plain is closed"
    said = [f"{closed}, by {_named(main)}."]
    if agreement["note"]:
        said.append(f"{_words(agreement)} {agreement['note']}.")
    return said


def _how_to_read(told: Told) -> str:
    return (
        "Without data: the same method when everybody lies in the middle of the box, mean of "
        f"{told.controls}. Shuffled: the same labels dealt out at random. Closed: how much of the "
        "gap between without data and plain is closed. Centres are off in the model's units, and "
        "over the way to the next centre."
    )


def _named(line: dict[str, Any]) -> str:
    return "inertia" if line["score"] == "normalised_inertia" else _words(line)


def _words(line: dict[str, Any]) -> str:
    return WORDS[line["score"]]


def _cells(line: dict[str, Any]) -> list[str]:
    scores = [line[name] for name in ("value", "plain", "control", "shuffled")]
    share = "" if line["closed"] is None else f"{100 * line['closed']:.0f} %"
    return [*("" if score is None else _short(score) for score in scores), share]


def _short(score: float) -> str:
    return number(score, 0 if abs(score) >= 100 else 3)


def _printed(told: Told) -> "RenderableType":
    """The scores as a table for terminals."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in HEADS:
        table.add_column(name, justify="left" if name in ("Score", "Better") else "right")
    for line in told.lines:
        table.add_row(_words(line), *_cells(line), line["better"])
    return table
