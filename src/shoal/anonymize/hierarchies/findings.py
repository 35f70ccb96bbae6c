"""Everything wrong with a hierarchy, found in one go; its labels are quoted, they are public."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from shoal.data.source import listed
from shoal.errors import (
    AmbiguousLabel,
    BadInput,
    DuplicateLeaf,
    HierarchyInvalid,
    LabelDoesNotCover,
)

__all__ = ["MEND", "findings_in", "refuse"]

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


def findings_in(rows: Sequence[Sequence[str]], opaque: bool = False) -> list[BadInput]:
    """What is wrong with rows of labels, the leaf first and the root last.

    ``opaque``: labels are names, whatever numbers they show.

    Examples
    --------
    >>> rows = [["5", "0-4", "*"], ["6", "5-9", "*"], ["6", "5-9", "all"]]
    >>> [type(finding).__name__ for finding in findings_in(rows)]
    ['DuplicateLeaf', 'HierarchyInvalid', 'LabelDoesNotCover']
    """
    lengths = Counter(len(row) for row in rows)
    if len(lengths) != 1 or 0 in lengths:
        said = "no rows" if not rows else f"rows of {len(lengths)} different lengths"
        return [HierarchyInvalid(f"it has {said}; each leaf needs as many levels", MEND)]
    found = [*_leaves(rows), *_roots(rows), *_ambiguous(rows)]
    return found if opaque else [*found, *_uncovered(rows)]


def _leaves(rows: Sequence[Sequence[str]]) -> Iterator[BadInput]:
    twice = [leaf for leaf, times in Counter(row[0] for row in rows).items() if times > 1]
    if twice:
        yield DuplicateLeaf(f"leaves listed more than once: {listed(twice)}", MEND)
    if any(not label for row in rows for label in row):
        yield HierarchyInvalid("some labels are empty", MEND)


def _roots(rows: Sequence[Sequence[str]]) -> Iterator[BadInput]:
    roots = list(dict.fromkeys(row[-1] for row in rows))
    if len(roots) > 1:
        yield HierarchyInvalid(f"{len(roots)} roots, {listed(roots)}, instead of one", MEND)


def _ambiguous(rows: Sequence[Sequence[str]]) -> Iterator[BadInput]:
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
        yield AmbiguousLabel(
            f"labels that stand for more than one set of leaves: {listed(twice)}", MEND
        )


def _uncovered(rows: Sequence[Sequence[str]]) -> Iterator[BadInput]:
    wrong = []
    for row in rows:
        number = _number(row[0])
        if number is not None:
            wrong += [f"{row[0]} -> {label}" for label in row[1:] if not _covers(label, number)]
    if wrong:
        yield LabelDoesNotCover(
            f"numbers outside their label: {listed(wrong)}",
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
