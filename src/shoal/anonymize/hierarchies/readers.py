"""Hierarchies from files: ARX's CSV, nested YAML or JSON, and lines of child and parent."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from shoal.anonymize.hierarchies.findings import MEND, findings_in, refuse
from shoal.anonymize.hierarchies.hierarchy import Hierarchy, grown
from shoal.anonymize.hierarchies.leaves import TextLeaves
from shoal.documents import read_yaml
from shoal.domain.written import text
from shoal.errors import AmbiguousLabel, BadInput, HierarchyInvalid, InvalidSchema

__all__ = ["Format", "from_nested", "from_paths", "read_hierarchy"]

Format = Literal["arx", "nested", "child-parent"]


def read_hierarchy(path: str | Path, format: Format = "arx", opaque: bool = False) -> Hierarchy:
    """A hierarchy from a file, checked.

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

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "sex.csv"
    >>> _ = file.write_text("F;*\\nM;*\\n")
    >>> read_hierarchy(file).taxonomy.leaves
    ('F', 'M')
    """
    if format == "nested":
        return from_nested(_yaml(path), str(path), opaque)
    if format == "arx":
        return _from_paths(_lines(path, ";"), str(path), opaque, quoted=False)
    return _from_paths(_climbed(_pairs(path), str(path)), str(path), opaque, quoted=False)


def from_nested(content: Any, what: str = "The hierarchy", opaque: bool = False) -> Hierarchy:
    """A hierarchy from ``{root: {parent: [leaf, ...]}}``; branches may be of unequal depth.

    Examples
    --------
    >>> system = from_nested({"any": {"school": ["primary", "secondary"], "evening": []}})
    >>> system.taxonomy.leaves, system.paths()[2]
    (('primary', 'secondary', 'evening'), ['evening', 'evening', 'any'])
    """
    try:
        downward = list(_descended(content, ()))
    except RecursionError:
        raise HierarchyInvalid(f"{what} lies below itself.", "Break the cycle.") from None
    odd = {step for path in downward for step in path if isinstance(step, bool | None)}
    if odd:
        raise HierarchyInvalid(
            f"{what} holds truth values or nothing where labels belong.",
            "YAML reads yes, no, on and off as truth values: put them in quotes.",
        )
    return from_paths(_padded([[text(s) for s in reversed(p)] for p in downward]), what, opaque)


def from_paths(
    rows: Sequence[Sequence[str]], what: str = "The hierarchy", opaque: bool = False
) -> Hierarchy:
    """A hierarchy from rows of labels, the leaf first and the root last."""
    return _from_paths(rows, what, opaque, quoted=True)


def _from_paths(rows: Sequence[Sequence[str]], what: str, opaque: bool, quoted: bool) -> Hierarchy:
    refuse(what, findings_in(rows, opaque, quoted))
    columns = [np.array(column, dtype=object) for column in zip(*rows, strict=True)]
    taxonomy, levels, _ = grown(columns)
    written = sum(len(set(column)) for column in columns)
    chains = written - len(taxonomy.nodes)
    notes = (f"contracted, as a single label was below each: {chains}",) if chains else ()
    return Hierarchy(taxonomy, levels, TextLeaves(taxonomy.leaves), notes=notes)


def _lines(path: str | Path, delimiter: str) -> list[list[str]]:
    try:
        with Path(path).expanduser().open(encoding="utf-8-sig", newline="") as file:
            return [[text(c) for c in row] for row in csv.reader(file, delimiter=delimiter) if row]
    except OSError as error:
        raise HierarchyInvalid(f"{path} cannot be read: {error.strerror}.", "Check it.") from None
    except (UnicodeError, csv.Error):
        raise HierarchyInvalid(
            f"{path} is no CSV file in UTF-8.", "Save it as UTF-8 with one leaf a line."
        ) from None


def _yaml(path: str | Path) -> Any:
    try:
        return read_yaml(path)
    except InvalidSchema as error:
        raise HierarchyInvalid(error.came, error.next_step) from None


def _descended(content: Any, above: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The way down to each leaf of a nested description."""
    if isinstance(content, Mapping):
        if set(content) == {"parent", "leaves"}:
            content = {content["parent"]: content["leaves"]}
        for label, below in content.items():
            yield from _descended(below, (*above, label)) if below else [(*above, label)]
    elif isinstance(content, list | tuple):
        for item in content:
            yield from _descended(item, above)
    else:
        yield (*above, content)


def _padded(rows: list[list[str]]) -> list[list[str]]:
    """Rows of one length: a leaf that hangs higher is its own parent for a while."""
    length = max((len(row) for row in rows), default=0)
    return [[row[0]] * (length - len(row)) + row for row in rows]


def _pairs(path: str | Path) -> list[list[str]]:
    lines = _lines(path, ",")
    if lines and [cell.lower() for cell in lines[0]] == ["child", "parent"]:
        del lines[0]
    return lines


def _climbed(pairs: list[list[str]], what: str) -> list[list[str]]:
    """The way up from each leaf."""
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
    cyclic = sum(_runs_in_circles(label, parent_of) for label in parent_of)
    found: list[BadInput] = []
    if twice:
        found.append(AmbiguousLabel(f"children under two parents: {twice}", MEND))
    if cyclic:
        found.append(HierarchyInvalid(f"labels below themselves: {cyclic}", MEND))
    refuse(what, found)
    return _padded([_way_up(leaf, parent_of) for leaf in leaves])


def _runs_in_circles(label: str, parent_of: Mapping[str, str]) -> bool:
    seen = set()
    while label in parent_of:
        if label in seen:
            return True
        seen.add(label)
        label = parent_of[label]
    return False


def _way_up(label: str, parent_of: Mapping[str, str]) -> list[str]:
    way = [label]
    while way[-1] in parent_of:
        way.append(parent_of[way[-1]])
    return way
