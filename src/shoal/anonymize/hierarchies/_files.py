"""Read and check hierarchies: ARX's CSV, nested YAML or JSON, and pairs of child and parent.

All problems of a hierarchy are reported at once. Labels in a tree of the policy are public and may
be quoted. A CSV file may by mistake hold people's rows, so errors give the numbers of its leaves
instead. A file with several roots is no hierarchy, and nothing of it is quoted.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from shoal.anonymize.hierarchies._hierarchy import Hierarchy, TextLeaves, grow_taxonomy
from shoal.data.column_names import join_names
from shoal.documents import read_yaml
from shoal.domain.value_text import value_to_text
from shoal.errors import BadInput, HierarchyInvalid, InvalidDomain, quantity
from shoal.files import atomic_file

Format = Literal["arx", "nested", "child-parent"]

MEND = "Correct the hierarchy: every leaf needs exactly one path up to a single root."

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


def read_hierarchy(path: str | Path, format: Format = "arx", opaque: bool = False) -> Hierarchy:
    """Read a hierarchy from a file, and check it.

    Parameters
    ----------
    path
        A file in UTF-8.
    format
        ``arx``: ``;`` between labels, no header, a line a leaf, leaf first and root last.
        ``nested``: YAML or JSON, ``{root: {parent: [leaf, ...]}}``, also ``{parent: name,
        leaves: [...]}``. ``child-parent``: CSV lines ``child,parent`` under that header.
    opaque
        Whether labels are mere names, so that ``5`` may lie under ``0-4``.

    Raises
    ------
    BadInput
        With all problems found in the file.
    HierarchyInvalid
        With all problems found in the file.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "sex.csv"
    >>> _ = file.write_text("F;*\\nM;*\\n")
    >>> read_hierarchy(file).taxonomy.leaves
    ('F', 'M')
    """
    if format == "nested":
        return hierarchy_from_tree(_yaml(path), str(path), opaque)
    if format == "arx":
        return _from_paths(_lines(path, ";"), str(path), opaque, quoted=False)
    return _from_paths(_paths_up(_pairs(path), str(path)), str(path), opaque, quoted=False)


def hierarchy_from_tree(
    content: Any, what: str = "The hierarchy", opaque: bool = False
) -> Hierarchy:
    """Build a hierarchy from ``{root: {parent: [leaf, ...]}}``; branches may differ in depth.

    Parameters
    ----------
    content
        The nested description.
    what
        What to call it in errors.
    opaque
        Whether labels are mere names, so that ``5`` may lie under ``0-4``.

    Examples
    --------
    >>> system = hierarchy_from_tree({"any": {"school": ["primary", "secondary"], "evening": []}})
    >>> system.taxonomy.leaves, system.paths()[2]
    (('primary', 'secondary', 'evening'), ['evening', 'evening', 'any'])
    """
    try:
        downward = list(_paths_down(content, ()))
    except RecursionError:
        raise HierarchyInvalid(f"{what} lies below itself.", "Break the cycle.") from None
    odd = {step for path in downward for step in path if isinstance(step, bool | None)}
    if odd:
        raise HierarchyInvalid(
            f"{what} has labels that are truth values or empty.",
            "YAML reads yes, no, on and off as truth values: put such labels in quotes.",
        )
    return hierarchy_from_paths(
        _pad_paths([[value_to_text(s) for s in reversed(p)] for p in downward]), what, opaque
    )


def hierarchy_from_paths(
    rows: Sequence[Sequence[str]], what: str = "The hierarchy", opaque: bool = False
) -> Hierarchy:
    """Build a hierarchy from rows of labels, the leaf first and the root last.

    Parameters
    ----------
    rows
        One row for each leaf.
    what
        What to call it in errors.
    opaque
        Whether labels are mere names, so that ``5`` may lie under ``0-4``.
    """
    return _from_paths(rows, what, opaque, quoted=True)


def _from_paths(rows: Sequence[Sequence[str]], what: str, opaque: bool, quoted: bool) -> Hierarchy:
    raise_findings(what, find_label_problems(rows, opaque, quoted))
    columns = [np.array(column, dtype=object) for column in zip(*rows, strict=True)]
    taxonomy, levels, _ = grow_taxonomy(columns)
    written = sum(len(set(column)) for column in columns)
    chains = written - len(taxonomy.nodes)
    notes = (f"{quantity(chains, 'label')} merged with the only label below",) if chains else ()
    return Hierarchy(taxonomy, levels, TextLeaves(taxonomy.leaves), notes=notes)


def _lines(path: str | Path, delimiter: str) -> list[list[str]]:
    try:
        with Path(path).expanduser().open(encoding="utf-8-sig", newline="") as file:
            return [
                [value_to_text(c) for c in row]
                for row in csv.reader(file, delimiter=delimiter)
                if row
            ]
    except OSError as error:
        raise HierarchyInvalid(f"{path} cannot be read: {error.strerror}.", "Check it.") from None
    except (UnicodeError, csv.Error):
        raise HierarchyInvalid(
            f"{path} is not a CSV file in UTF-8.", "Save it as UTF-8 with one leaf on each line."
        ) from None


def _yaml(path: str | Path) -> Any:
    try:
        return read_yaml(path)
    except InvalidDomain as error:
        raise HierarchyInvalid(error.message, error.hint) from None


def _paths_down(content: Any, above: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the path from the root to each leaf of a nested description."""
    if isinstance(content, Mapping):
        if set(content) == {"parent", "leaves"}:
            content = {content["parent"]: content["leaves"]}
        for label, below in content.items():
            yield from _paths_down(below, (*above, label)) if below else [(*above, label)]
    elif isinstance(content, list | tuple):
        for item in content:
            yield from _paths_down(item, above)
    else:
        yield (*above, content)


def _pad_paths(rows: list[list[str]]) -> list[list[str]]:
    """Pad paths to one length, by repeating the leaf."""
    length = max((len(row) for row in rows), default=0)
    return [[row[0]] * (length - len(row)) + row for row in rows]


def _pairs(path: str | Path) -> list[list[str]]:
    lines = _lines(path, ",")
    if lines and [cell.lower() for cell in lines[0]] == ["child", "parent"]:
        del lines[0]
    return lines


def _paths_up(pairs: list[list[str]], what: str) -> list[list[str]]:
    """Return the path from each leaf to the root."""
    wrong = sum(len(pair) != 2 for pair in pairs)
    if wrong or not pairs:
        raise HierarchyInvalid(
            f"{what}: {wrong} of {len(pairs)} lines are not a child and its parent.",
            "Write lines such as `Bern,Switzerland`.",
        )
    ways = list(dict.fromkeys((child, parent) for child, parent in pairs if parent))
    parent_of = dict(ways)
    twice = sum(parent_of[child] != parent for child, parent in ways)
    parents = set(parent_of.values())
    leaves = [child for child in parent_of if child not in parents]
    cyclic = sum(_is_circular(label, parent_of) for label in parent_of)
    findings: list[BadInput] = []
    if twice:
        findings.append(
            HierarchyInvalid(f"children under two parents: {twice}", MEND, reason="ambiguous label")
        )
    if cyclic:
        findings.append(HierarchyInvalid(f"labels below themselves: {cyclic}", MEND))
    raise_findings(what, findings)
    return _pad_paths([_path_up(leaf, parent_of) for leaf in leaves])


def _is_circular(label: str, parent_of: Mapping[str, str]) -> bool:
    visited = set()
    while label in parent_of:
        if label in visited:
            return True
        visited.add(label)
        label = parent_of[label]
    return False


def _path_up(label: str, parent_of: Mapping[str, str]) -> list[str]:
    way = [label]
    while way[-1] in parent_of:
        way.append(parent_of[way[-1]])
    return way


def write_arx(hierarchy: Hierarchy, path: str | Path, overwrite: bool = False) -> Path:
    """Write a hierarchy as ARX's CSV: one line for each leaf, the leaf first and the root last.

    A learnt hierarchy lists the table's own values, so such a file is for the curator only.

    Parameters
    ----------
    hierarchy
        The hierarchy.
    path
        The file to write.
    overwrite
        Whether an existing file may be replaced.

    Examples
    --------
    >>> import tempfile
    >>> from shoal.anonymize.hierarchies import build_halves
    >>> file = Path(tempfile.mkdtemp()) / "age.csv"
    >>> write_arx(build_halves((0, 3), whole=True, min_width=2), file).read_text().split()
    ['<2;*', '>=2;*']
    """
    with atomic_file(path, overwrite) as part, part.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";", lineterminator="\n").writerows(hierarchy.paths())
    return Path(path)


def raise_findings(what: str, findings: Sequence[BadInput]) -> None:
    """Raise all findings together, as an error of the first one's class; do nothing without any."""
    if findings:
        messages = "; ".join(finding.message for finding in findings)
        raise findings[0].changed(f"{what}: {messages}.")


def find_label_problems(
    rows: Sequence[Sequence[str]], opaque: bool = False, quoted: bool = True
) -> list[BadInput]:
    """Return what is wrong with rows of labels, the leaf first and the root last.

    All problems are returned, not only the first.

    Examples
    --------
    >>> rows = [["5", "0-4", "*"], ["6", "5-9", "*"], ["6", "5-9", "all"]]
    >>> [type(finding).__name__ for finding in find_label_problems(rows)]
    ['HierarchyInvalid']
    >>> [finding.message for finding in find_label_problems(rows[:2], quoted=False)]
    ['numbers outside their label: leaf 1']
    """
    lengths = Counter(len(row) for row in rows)
    if len(lengths) != 1 or 0 in lengths:
        fault = "no rows" if not rows else f"rows of {len(lengths)} different lengths"
        return [
            HierarchyInvalid(f"it has {fault}; every leaf needs the same number of levels", MEND)
        ]
    roots = len({row[-1] for row in rows})
    if roots > 1:
        return [HierarchyInvalid(f"it has {quantity(roots, 'root')} instead of one", MEND)]
    findings = [*_leaf_problems(rows, quoted), *_ambiguous_labels(rows, quoted)]
    return findings if opaque else [*findings, *_numbers_outside(rows, quoted)]


def describe_labels(labels: Sequence[str], leaves: Sequence[int], quoted: bool) -> str:
    """Name labels in an error, or the numbers of their leaves where they must not be quoted.

    Parameters
    ----------
    leaves
        Their leaves, numbered from 0.
    Examples
    --------
    >>> describe_labels(["Bern"], [7], True), describe_labels(["Bern", "Basel"], [7, 9], False)
    ("'Bern'", 'leaf 7, leaf 9')
    """
    if quoted:
        return join_names(list(dict.fromkeys(labels)))
    leaves = list(dict.fromkeys(leaves))
    shown = ", ".join(f"leaf {leaf}" for leaf in leaves[:5])
    return shown if len(leaves) <= 5 else f"{shown} and {len(leaves) - 5} more"


def _leaf_problems(rows: Sequence[Sequence[str]], quoted: bool) -> Iterator[BadInput]:
    times = Counter(row[0] for row in rows)
    twice = [i for i, row in enumerate(rows, start=1) if times[row[0]] > 1]
    if twice:
        which = describe_labels([rows[i - 1][0] for i in twice], twice, quoted)
        yield HierarchyInvalid(
            f"leaves listed more than once: {which}", MEND, reason="duplicate leaf"
        )
    if any(not label for row in rows for label in row):
        yield HierarchyInvalid("some labels are empty", MEND)


def _ambiguous_labels(rows: Sequence[Sequence[str]], quoted: bool) -> Iterator[BadInput]:
    """Yield labels that stand for two sets of leaves, at one level or at two."""
    below: dict[tuple[str, int, tuple[str, ...]], set[str]] = {}
    for row in rows:
        for level, label in enumerate(row):
            below.setdefault((label, level, tuple(row[level + 1 :])), set()).add(row[0])
    sets: dict[str, set[frozenset[str]]] = {}
    for (label, _, _), leaves in below.items():
        sets.setdefault(label, set()).add(frozenset(leaves))
    twice = [label for label, leaf_sets in sets.items() if len(leaf_sets) > 1]
    if twice:
        where = [i for i, row in enumerate(rows, start=1) if not {*twice}.isdisjoint(row)]
        which = describe_labels(twice, where, quoted)
        yield HierarchyInvalid(
            f"labels that stand for more than one set of leaves: {which}",
            MEND,
            reason="ambiguous label",
        )


def _numbers_outside(rows: Sequence[Sequence[str]], quoted: bool) -> Iterator[BadInput]:
    wrong: dict[str, int] = {}
    for i, row in enumerate(rows, start=1):
        number = _number(row[0])
        if number is not None:
            outside = (label for label in row[1:] if not _covers(label, number))
            wrong |= {f"{row[0]} -> {label}": i for label in outside}
    if wrong:
        which = describe_labels([*wrong], [*wrong.values()], quoted)
        yield HierarchyInvalid(
            f"numbers outside their label: {which}",
            "Correct the hierarchy, or set `labels: opaque` if its labels are only names.",
            reason="label does not cover",
        )


def _number(label: str) -> float | None:
    return float(label) if re.fullmatch(_NUMBER, label) else None


def _covers(label: str, number: float) -> bool:
    for pattern, kind in _RANGES:
        match = pattern.fullmatch(label)
        if match:
            return _inside(kind, [float(bound) for bound in match.groups()], number)
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
