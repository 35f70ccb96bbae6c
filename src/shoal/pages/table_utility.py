"""What is said of a release's use to analysts, for the holder of the table."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from shoal.anonymize.utility import associations, column_changes
from shoal.figures import before_after
from shoal.pages.page import Line, Summary, Table, labelled_lines

if TYPE_CHECKING:
    from shoal.anonymize import RunResult
    from shoal.anonymize.utility import ClassificationReport, ColumnChange
    from shoal.figures import Figure


_MOST_FIGURES = 6  # columns whose distribution is drawn, the most changed first
_MOST_BARS = 12  # values of a column that are drawn; longer lists are merged
_MOST_PAIRS = 10


def classification_summary(report: "ClassificationReport") -> Summary:
    """Return what ``shoal anonymize utility`` says."""
    rows = [
        [name, f"{score.accuracy:.3f}", f"{score.auc:.3f}", f"{score.rows:,}"]
        for name, score in (("original rows", report.original), ("release", report.released))
    ]
    rows.append(["majority", f"{report.majority:.3f}", "0.500", ""])
    table = Table(
        f"Predicting {report.target}", ["Trained on", "Accuracy", "AUC", "Rows"], rows,
        left=["Trained on"],
    )  # fmt: skip
    note = "Logistic regression on the quasi-identifiers, three folds. For you only."
    lines: list[Line | Table] = [table, Line("Note", note)]
    lines += labelled_lines("Warning", list(report.warnings))
    return Summary(lines=lines, values=asdict(report))


def change_figures(finished: "RunResult") -> list["Figure"]:
    """Draw the distribution of the most changed columns before and after."""
    release = finished.produced.release
    gone = release.suppressed | release.starred
    changes = column_changes(finished.frequency.problem, release.labels, gone)
    changes.sort(key=lambda change: -change.distance)
    return [_figure(change) for change in changes[:_MOST_FIGURES] if len(change.values) > 1]


def _figure(change: "ColumnChange") -> "Figure":
    names, before, after = _merged(change)
    title = f"{change.name}: shares of rows before, and as a reader would guess them after"
    return before_after(names, before, after, title=title)


def _merged(change: "ColumnChange") -> tuple[list[str], list[float], list[float]]:
    """Merge neighbouring numbers, or the rarest of other values, until few enough are left."""
    size = len(change.values)
    if size > _MOST_BARS and not all(map(_is_number, change.values)):
        return _with_rest(change)
    step = -(-size // _MOST_BARS)
    names, before, after = list[str](), list[float](), list[float]()
    for start in range(0, size, step):
        part = change.values[start : start + step]
        names.append(part[0] if len(part) == 1 else f"{part[0]} to {part[-1]}")
        before.append(float(change.before[start : start + step].sum()))
        after.append(float(change.after[start : start + step].sum()))
    return names, before, after


def _is_number(text: str) -> bool:
    return text.lstrip("-").replace(".", "", 1).isdigit()


def _with_rest(change: "ColumnChange") -> tuple[list[str], list[float], list[float]]:
    """Return the commonest values, and all others together."""
    most = np.maximum(change.before, change.after)
    order = np.argsort(-most, kind="stable")
    shown, rest = np.sort(order[: _MOST_BARS - 1]), order[_MOST_BARS - 1 :]
    names = [*(change.values[at] for at in shown), f"{len(rest)} others"]
    before, after = (
        [*shares[shown].tolist(), float(shares[rest].sum())]
        for shares in (change.before, change.after)
    )
    return names, before, after


def association_table(finished: "RunResult") -> Table:
    """Return how strongly the most associated columns go together before and after."""
    release = finished.produced.release
    gone = release.suppressed | release.starred
    pairs = associations(finished.frequency.problem, release.labels, gone)
    rows = [
        [" and ".join(pair.columns), f"{pair.before:.2f}", f"{pair.after:.2f}"]
        for pair in pairs[:_MOST_PAIRS]
    ]
    note = (
        "Cramér's V: 0 if two columns have nothing to do with each other, 1 if one tells the other."
    )
    return Table("What goes together", ["Columns", "Before", "After"], rows, note=note)
