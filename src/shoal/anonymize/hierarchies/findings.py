"""Everything wrong with a hierarchy, found in one go.

Labels of a hierarchy are public and are quoted where they stand in a tree that somebody wrote down.
A CSV file may be people's rows, named by mistake: there the leaves are counted instead. What has
several roots is no hierarchy at all, and nothing of it is said.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from shoal.data.column_names import listed
from shoal.errors import (
    AmbiguousLabel,
    BadInput,
    DuplicateLeaf,
    HierarchyInvalid,
    LabelDoesNotCover,
)

__all__ = ["MEND", "findings_in", "refuse", "told"]

MEND = "Mend the hierarchy; every leaf needs one way up to one root."

_NUMBER = r"([+-]?\d+(?:\.\d+)?)"
_RANGES = (
    (re.compile(rf"{_NUMBER}\s*(?:-|–|\.\.|to)\s*{_NUMBER}"), "[]"),
    (re.compile(rf"\[\s*{_NUMBER}\s*[,;]\s*{_NUMBER}\s*\]"), "[]"),
    (re.compile(rf"\[\s*{_NUMBER}\s*[,;]\s*{_NUMBER}\s*[)\[]"), "[)"),
    (re.compile(rf"[(\]]\s*{_NUMBER}\s*[,;]\s*{_NUMBER}\s*\]"), "(]"),
    (re.compile(rf"<\s*{_NUMBER}"), "<"),
    (re.compile(rf"(?:<=|≤)\s*{_NUMBER}"), "<="),
    (re.compile(rf">\s*{_NUMBER}"), ">"),
    (re.compile(rf"(?:>=|≥)\s*{_NUMBER}"), ">="),
)


def refuse(what: str, findings: Sequence[BadInput]) -> None:
    """Raise all findings together, as the error of the first; nothing if there are none."""
    if findings:
        said = "; ".join(finding.came for finding in findings)
        raise type(findings[0])(f"{what}: {said}.", findings[0].next_step)


def findings_in(
    rows: Sequence[Sequence[str]], opaque: bool = False, quoted: bool = True
) -> list[BadInput]:
    """What is wrong with rows of labels, the leaf first and the root last.

    ``opaque``: labels are names, whatever numbers they show. ``quoted``: labels may be said.

    Examples
    --------
    >>> rows = [["5", "0-4", "*"], ["6", "5-9", "*"], ["6", "5-9", "all"]]
    >>> [type(finding).__name__ for finding in findings_in(rows)]
    ['HierarchyInvalid']
    >>> [finding.came for finding in findings_in(rows[:2], quoted=False)]
    ['numbers outside their label: leaf 1']
    """
    lengths = Counter(len(row) for row in rows)
    if len(lengths) != 1 or 0 in lengths:
        said = "no rows" if not rows else f"rows of {len(lengths)} different lengths"
        return [HierarchyInvalid(f"it has {said}; each leaf needs as many levels", MEND)]
    roots = len({row[-1] for row in rows})
    if roots > 1:
        return [HierarchyInvalid(f"it has {roots} roots instead of one", MEND)]
    found = [*_leaves(rows, quoted), *_ambiguous(rows, quoted)]
    return found if opaque else [*found, *_uncovered(rows, quoted)]


def told(labels: Sequence[str], leaves: Sequence[int], quoted: bool) -> str:
    """Labels, or the leaves, counted from 1, where they stand.

    Examples
    --------
    >>> told(["Bern"], [7], True), told(["Bern", "Basel"], [7, 9], False)
    ("'Bern'", 'leaf 7, leaf 9')
    """
    if quoted:
        return listed(list(dict.fromkeys(labels)))
    leaves = list(dict.fromkeys(leaves))
    shown = ", ".join(f"leaf {leaf}" for leaf in leaves[:5])
    return shown if len(leaves) <= 5 else f"{shown} and {len(leaves) - 5} more"


def _leaves(rows: Sequence[Sequence[str]], quoted: bool) -> Iterator[BadInput]:
    times = Counter(row[0] for row in rows)
    twice = [i for i, row in enumerate(rows, start=1) if times[row[0]] > 1]
    if twice:
        said = told([rows[i - 1][0] for i in twice], twice, quoted)
        yield DuplicateLeaf(f"leaves listed more than once: {said}", MEND)
    if any(not label for row in rows for label in row):
        yield HierarchyInvalid("some labels are empty", MEND)


def _ambiguous(rows: Sequence[Sequence[str]], quoted: bool) -> Iterator[BadInput]:
    """Labels that stand for two sets of leaves, be it at one level or at two."""
    below: dict[tuple[str, int, tuple[str, ...]], set[str]] = {}
    for row in rows:
        for level, label in enumerate(row):
            below.setdefault((label, level, tuple(row[level + 1 :])), set()).add(row[0])
    sets: dict[str, set[frozenset[str]]] = {}
    for (label, _, _), leaves in below.items():
        sets.setdefault(label, set()).add(frozenset(leaves))
    twice = [label for label, found in sets.items() if len(found) > 1]
    if twice:
        where = [i for i, row in enumerate(rows, start=1) if not {*twice}.isdisjoint(row)]
        said = told(twice, where, quoted)
        yield AmbiguousLabel(f"labels that stand for more than one set of leaves: {said}", MEND)


def _uncovered(rows: Sequence[Sequence[str]], quoted: bool) -> Iterator[BadInput]:
    wrong: dict[str, int] = {}
    for i, row in enumerate(rows, start=1):
        number = _number(row[0])
        if number is not None:
            outside = (label for label in row[1:] if not _covers(label, number))
            wrong |= {f"{row[0]} -> {label}": i for label in outside}
    if wrong:
        said = told([*wrong], [*wrong.values()], quoted)
        yield LabelDoesNotCover(
            f"numbers outside their label: {said}",
            "Mend the hierarchy, or say `labels: opaque` if its labels are mere names.",
        )


def _number(label: str) -> float | None:
    return float(label) if re.fullmatch(_NUMBER, label) else None


def _covers(label: str, number: float) -> bool:
    for pattern, kind in _RANGES:
        found = pattern.fullmatch(label)
        if found:
            return _inside(kind, [float(bound) for bound in found.groups()], number)
    return True


def _inside(kind: str, bounds: list[float], number: float) -> bool:
    low, high = bounds[0], bounds[-1]
    return {
        "[]": low <= number <= high,
        "[)": low <= number < high,
        "(]": low < number <= high,
        "<": number < high,
        "<=": number <= high,
        ">": number > low,
        ">=": number >= low,
    }[kind]
