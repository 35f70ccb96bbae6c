"""Build the page of a model's scores, for the holder of the rows."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import quantity
from shoal.evaluate.score_table import NO_BETTER
from shoal.figures.text import format_number
from shoal.pages.page import Line, Table, VerdictPage

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.pages._verdicts import Verdicts


SCORE_NAMES = {
    "ami": "AMI",
    "ari": "ARI",
    "nmi": "NMI",
    "rand_index": "Rand index",
    "fowlkes_mallows": "Fowlkes-Mallows",
    "mi": "MI (nats)",
    "normalised_mirkin": "Mirkin over n²",
    "silhouette": "Silhouette",
    "gower_silhouette": "Gower silhouette",
    "calinski_harabasz": "Calinski-Harabasz",
    "davies_bouldin": "Davies-Bouldin",
    "normalised_inertia": "Inertia ratio",
    "normalised_cost": "Cost ratio",
    "centroid_index": "Centroid index",
    "aee": "Centre offset",
    "relative_aee": "Offset / spacing",
    "missing_centers": "Missing centres",
    "spurious_centers": "Extra centres",
}
_JUDGED_BY = ("normalised_inertia", "normalised_cost", "ami")
COLUMNS = ("Score", "Found", "Plain", "Without data", "Shuffled", "Closed", "Better")
FOR_YOU = (
    "Computed from the rows, for you who hold them. The promise does not cover these numbers; do "
    "not pass them on."
)
OWN_PAGE = "What was released is on the model's own page. This one says how good it is."
IN_VAIN = "These groups are no better than some that the same method finds without data."


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The scores of a model, the rows they are on, and the number of controls.

    Parameters
    ----------
    labels
        The column that holds the right groups; None if plain k-means gave them.
    """

    folder: Path
    model: Any
    table: "pa.Table"
    rows: int
    rows_scored: int
    labels: str | None
    controls: int

    @property
    def scores(self) -> list[dict[str, Any]]:
        """The scores as a list of rows."""
        return list(self.table.to_pylist())

    @property
    def main(self) -> dict[str, Any]:
        """The score a model is judged by: inertia or cost if it has any, else agreement."""
        by_name = {line["score"]: line for line in self.scores}
        judged = [name for name in _JUDGED_BY if name in by_name]
        return by_name[judged[0]]

    @property
    def is_mixed(self) -> bool:
        """Whether the model is one of a table with categories."""
        return hasattr(self.model, "score_table")

    @property
    def is_no_better(self) -> bool:
        """Whether some run of the method without data scores as well."""
        return bool(self.main["note"] == NO_BETTER)

    @property
    def compared_with(self) -> str:
        """What the groups were compared with, in words."""
        if self.labels is not None:
            return f"the groups in column '{self.labels}'"
        return f"plain {'k-prototypes' if self.is_mixed else 'k-means'} on the rows"

    @property
    def on_rows(self) -> str:
        """How many rows of how many were scored, in words."""
        if self.rows_scored == self.rows:
            return quantity(self.rows, "row")
        return f"{self.rows_scored:,} of {quantity(self.rows, 'row')}"


def page(scored: Evaluation) -> VerdictPage:
    """Build the page of scores; no promise covers any of them."""
    name = type(scored.model).__name__
    findings, table = _findings(scored), _table(scored)
    against = f"{scored.on_rows} against {scored.compared_with}."
    lines: list[Line | Table] = [
        Line("Scored", f"{name} in {scored.folder} on {against}"),
        table,
        *(Line("Finding", text) for text in findings),
        Line("For you", FOR_YOU),
    ]
    values = {
        "model": str(scored.folder),
        "class": name,
        "guarantee": scored.model.guarantee_.to_dict(),
        "for_the_holder_alone": True,
        "compared_with": scored.compared_with,
        "rows": scored.rows,
        "rows_scored": scored.rows_scored,
        "controls": scored.controls,
        "no_better_than_without_data": scored.is_no_better,
        "scores": scored.scores,
    }
    return VerdictPage(lines=lines, values=values, verdicts=_verdicts(scored, table, findings))


def _verdicts(scored: Evaluation, table: Table, findings: list[str]) -> "Verdicts":
    from shoal.evaluate import score_picture
    from shoal.pages._verdicts import Detail, Verdicts

    title, figures = "Scores, and what is reached without data", (score_picture(scored.table),)
    return Verdicts(
        title=f"How good the groups of {scored.folder.name} are",
        lead=" ".join(findings),
        heading="Scores",
        sub=f"{type(scored.model).__name__}, scored on {scored.on_rows} against "
        f"{scored.compared_with}.",
        tables=[table.to_dict()],
        details=[Detail(title, "the closer to plain the better", figures, findings, open=True)],
        reading="Each score beside the plain answer, runs without data and shuffled labels.",
        says=(
            "How near the released groups come to those of the rows.",
            "How much of that the same method reaches without any data.",
        ),
        says_not=(FOR_YOU, OWN_PAGE),
        constructed=False,
    )


def _table(scored: Evaluation) -> Table:
    rows = [[_score_name(line), *_cells(line), line["better"]] for line in scored.scores]
    return Table("Scores", COLUMNS, rows, note=_how_to_read(scored), left=("Better",))


def _findings(scored: Evaluation) -> list[str]:
    """Return what the scores say, in a sentence or two."""
    main, agreement = scored.main, scored.scores[0]
    if main["closed"] is None:
        return [f"No control was run, or it is not informative: {main['note']}."]
    if scored.is_no_better:
        better = [] if main is agreement else _better_by(agreement)
        return [f"{IN_VAIN} Judged by {_main_name(main)}.", *better]
    if main["closed"] >= 1:
        closed = "As near as plain, or nearer: the whole gap between no data and plain is closed"
    else:
        closed = f"{100 * main['closed']:.0f} % of the gap between no data and plain is closed"
    findings = [f"{closed}, by {_main_name(main)}."]
    if agreement["note"]:
        findings.append(f"{_score_name(agreement)}: {agreement['note']}.")
    return findings


def _better_by(agreement: dict[str, Any]) -> list[str]:
    """Return that labels agree better than without data, where that is so and scores differ."""
    if agreement["control"] is None or agreement["value"] <= agreement["control"]:
        return []
    name, found, nothing = _score_name(agreement), agreement["value"], agreement["control"]
    return [
        f"By {name} they are nearer to the right groups ({_short(found)} against "
        f"{_short(nothing)} without data on average): who belongs together is partly found, how "
        "tight the groups are is not."
    ]


def _how_to_read(scored: Evaluation) -> str:
    nothing = "rows are spread evenly" if scored.is_mixed else "everybody lies in the middle"
    where = "over the domain" if scored.is_mixed else "of the box"
    read = (
        f"Without data: the same method when {nothing} {where}, mean of {scored.controls}. "
        "Shuffled: the same labels dealt out at random. Closed: how much of the gap between "
        "without data and plain is closed. "
    )
    if scored.is_mixed:
        return read + (
            "Cost ratio: squared differences of scaled numbers and a half for each other category, "
            "over those of plain prototypes. Gower silhouette: on at most 2,000 rows."
        )
    return read + (
        "Centre offset: mean distance to the plain centre, in the model's units; offset / spacing: "
        "over the distance to the next one."
    )


def _main_name(line: dict[str, Any]) -> str:
    return {"normalised_inertia": "inertia", "normalised_cost": "cost"}.get(
        line["score"], _score_name(line)
    )


def _score_name(line: dict[str, Any]) -> str:
    return SCORE_NAMES[line["score"]]


def _cells(line: dict[str, Any]) -> list[str]:
    scores = [line[name] for name in ("value", "plain", "control", "shuffled")]
    share = "" if line["closed"] is None else _closed_text(line["closed"])
    return [*("" if score is None else _short(score) for score in scores), share]


def _closed_text(share: float) -> str:
    """Return how much of a gap is closed; past both ends of it, only that."""
    return "all" if share >= 1 else "none" if share <= 0 else f"{100 * share:.0f} %"


def _short(score: float) -> str:
    return format_number(score, 0 if abs(score) >= 100 else 3)
