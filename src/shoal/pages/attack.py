"""Attacks in words: what a terminal shows, what scripts read, and a page for the holder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.cli.output import Output, entry, write_page

if TYPE_CHECKING:
    from rich.text import Text

    from shoal.audit import AttributeInference, Linkage, MembershipInference
    from shoal.domain import Box
    from shoal.report import Verdicts

__all__ = ["Linked", "Membership", "finish", "rows_of_table"]

FOR_YOU = "Read off the rows: for you who hold them. Do not pass these numbers on."
SAYS_NOT = "An attack that finds little shows little: a better one may find more."


class Told(Protocol):
    """What an attack has to say."""

    def document(self) -> dict[str, Any]:
        """For scripts."""

    def lines(self) -> list[tuple[str, str]]:
        """For a terminal: labelled sentences."""

    def page(self) -> "Verdicts":
        """For a page."""


@dataclass(frozen=True, eq=False)
class Membership:
    """A membership attack on a method of clustering."""

    method: str
    found: "MembershipInference"
    rows: int

    def document(self) -> dict[str, Any]:
        """For scripts."""
        return {"attacked": self.method, "rows": self.rows, **self.found.to_dict()}

    def lines(self) -> list[tuple[str, str]]:
        """For a terminal: the verdict, then how it was come by."""
        head, *rest = str(self.found).splitlines()
        return [("Verdict", head), *(("", line) for line in rest)]

    def page(self) -> "Verdicts":
        """The rates, the curve, the ceiling."""
        from shoal.report import Detail, Verdicts

        found = self.found
        means = {
            "Advantage": found.advantage,
            "TPR": found.tpr,
            "FPR": found.fpr,
            "AUC": found.auc,
            **{f"TPR at FPR {rate:g}": tpr for rate, tpr in found.tpr_at.items()},
        }
        rows = [[name, "unresolved" if e is None else str(e)] for name, e in means.items()]
        note = f"Advantage allowed: {found.ceiling}. {found.repeats} models were attacked."
        table = {"title": "Rates", "columns": ["Rate", "Mean over models"], "marked": False}
        return Verdicts(
            title=f"Membership attack on {self.method}",
            lead=f"Advantage {found.advantage}.",
            heading=f"Verdict: {found.verdict}",
            sub="How well the members of a model are told from others, by someone who has their "
            "true records.",
            tables=[table | {"rows": rows, "note": note}],
            details=[
                Detail(
                    "How it was found",
                    found.verdict,
                    (found.plot(),),
                    str(found).splitlines(),
                    open=True,
                )
            ],
            reading="The curve with its band over models, chance, and what the promise allows.",
            says=(
                "The advantage is right answers minus false alarms: 0 is guessing, 1 certainty.",
                "Threshold and models were rehearsed on other models than those attacked.",
            ),
            says_not=(
                SAYS_NOT,
                "Other columns and other releases about the same people are not looked at.",
            ),
            constructed=False,
        )


@dataclass(frozen=True, eq=False)
class Linked:
    """People of a second file looked up in a released table."""

    table: Path
    found: "Linkage"
    guessed: "AttributeInference | None"

    @property
    def too_few(self) -> int:
        """How many people have fewer fitting records than was promised."""
        return sum(people for size, people in self.found.released.sizes if size < self.found.k)

    def document(self) -> dict[str, Any]:
        """For scripts."""
        guessed = None if self.guessed is None else self.guessed.to_dict()
        return {
            "table": str(self.table),
            "too_few": self.too_few,
            **self.found.to_dict(),
            "guessed": guessed,
        }

    def lines(self) -> list[tuple[str, str]]:
        """For a terminal: both tables, then what is guessed."""
        lines = [("Released", str(self.found.released)), ("Before", str(self.found.raw))]
        guessed = [] if self.guessed is None else str(self.guessed).splitlines()
        lines += [("Guessed" if i == 0 else "", line) for i, line in enumerate(guessed)]
        return [*lines, ("Finding", self._finding())]

    def page(self) -> "Verdicts":
        """The links into both tables, and what is guessed."""
        from shoal.report import Detail, Verdicts

        columns = ["Table", "People", "With a fitting record", "With just one", "Rightly linked"]
        rows = [
            [
                name,
                f"{links.people:,}",
                f"{links.matched:,}",
                f"{links.unique:,}",
                f"{links.expected:,.1f}",
            ]
            for name, links in (("Released", self.found.released), ("Before", self.found.raw))
        ]
        table = {"title": "Links", "columns": columns, "rows": rows, "marked": False}
        note = "Rightly linked: on average, by picking one of the fitting records at random."
        guessed = [] if self.guessed is None else str(self.guessed).splitlines()
        figures = [self.found.plot()] if self.found.released.sizes else []
        return Verdicts(
            title=f"Linkage attack on {self.table.name}",
            lead=self._finding(),
            heading="Which lines are whose",
            sub="Everybody of a second file, looked up by what others may know of them.",
            tables=[table | {"note": note}],
            details=[
                Detail(
                    "Fitting records, and what they tell",
                    self._finding(),
                    figures,
                    [*str(self.found).splitlines(), *guessed],
                    open=True,
                )
            ],
            reading="How many records fit a person.",
            says=(
                "Someone with k fitting records is picked rightly once in k times.",
                "What is guessed is compared with guesses that need no table.",
            ),
            says_not=(SAYS_NOT, "k-anonymity does not hide what all members of a class share."),
            constructed=False,
        )

    def _finding(self) -> str:
        k = self.found.k
        if not self.found.released.matched:
            return "Nobody of the file has a fitting record: is it about the same people?"
        if self.too_few:
            return f"{self.too_few:,} people have fewer than {k} fitting records."
        return f"Whoever has a fitting record has {k} or more."


def rows_of_table(source: Any, box: "Box", most: int, seed: int) -> NDArray[np.float64]:
    """At most so many rows of a file or a Spark frame, drawn, moved to the box as methods see them.

    Parameters
    ----------
    source, box
        The table, and the bounds of the columns to attack.
    most, seed
        So many rows; of the draw.
    """
    from shoal.engine import rows_of

    return rows_of(source, box).take(most, np.random.default_rng(seed))


def finish(told: Told, say: Output, output: Path | None, overwrite: bool) -> None:
    """Write the page or document if one is asked for, and say what was found."""
    document = {
        **told.document(),
        "for_the_holder_alone": True,
        "file": None if output is None else str(output),
    }
    if output is not None:
        write_page(output, overwrite, document=document, page=told.page, for_the_holder=True)
    say.result(document, *_printed(told.lines(), output))


def _printed(lines: Sequence[tuple[str, str]], output: Path | None) -> list["Text"]:
    said = [entry(label, words) for label, words in (*lines, ("For you", FOR_YOU))]
    return said if output is None else [*said, entry("File", str(output), wrap=False)]
