"""A public tree of categories, from one root down to the values a column may take."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from shoal.domain.categories import Categories, Codes
from shoal.domain.value_text import value_to_text
from shoal.errors import InvalidDomain

__all__ = ["Node", "Taxonomy"]


@dataclass(frozen=True)
class Node:
    """A set of leaves with a name: those numbered ``low`` up to, not including, ``high``.

    ``parent`` is its place in ``Taxonomy.nodes``, -1 for the root, whose depth is 0.
    """

    label: str
    low: int
    high: int
    parent: int
    depth: int


class _Branch(NamedTuple):
    label: str
    children: "list[_Branch]"


@dataclass(frozen=True)
class Taxonomy:
    """A tree whose leaves are numbered depth first, so that every node is an interval of codes.

    A node with a single child says nothing its child does not: such chains are contracted, to
    the leaf if one ends them, else to their top. Build one with ``nested`` or ``paths``.

    Examples
    --------
    >>> system = Taxonomy.nested("any", {"school": ["primary", "secondary"], "other": ["evening"]})
    >>> system.leaves
    ('primary', 'secondary', 'evening')
    >>> system.interval("school"), [node.label for node in system.children("any")]
    ((0, 2), ['school', 'evening'])
    >>> system.codes(["evening", "primary"]).tolist()
    [2, 0]
    """

    nodes: tuple[Node, ...] = field(repr=False)

    @classmethod
    def nested(cls, root: object, below: Mapping[Any, Any] | Sequence[Any]) -> "Taxonomy":
        """From ``{parent: {child: [leaf, ...]}}``; lists may mix leaves and such mappings."""
        return cls._of(_Branch(value_to_text(root), _branches(value_to_text(root), below, set())))

    @classmethod
    def paths(cls, rows: Sequence[Sequence[Any]]) -> "Taxonomy":
        """From one row a leaf, the leaf first and the root last, as in ARX's files.

        Examples
        --------
        >>> Taxonomy.paths([["1", "1-2", "*"], ["2", "1-2", "*"], ["3", "3-4", "*"]]).leaves
        ('1', '2', '3')
        """
        lengths = {len(row) for row in rows}
        if len(lengths) != 1 or lengths == {0}:
            raise _invalid(
                f"The {len(rows)} rows have {len(lengths)} different lengths.",
                "Give every leaf one row with the same number of levels.",
            )
        labels = [[value_to_text(label) for label in reversed(row)] for row in rows]
        _refuse_repeated([row[-1] for row in labels], "leaf")
        roots = {row[0] for row in labels}
        if len(roots) > 1:
            raise _invalid(
                f"The rows end in {len(roots)} different roots.",
                "End every row in the same label, e.g. *.",
            )
        return cls._of(_grown(labels))

    @classmethod
    def _of(cls, root: _Branch) -> "Taxonomy":
        branches = list(_walk(root))
        _refuse_repeated([b.label for b in branches if not b.children], "leaf")
        _refuse_repeated([b.label for b in branches if not _repeats_below(b)], "label")
        return cls(tuple(_numbered(_contracted(root), 0, -1, 0, 0)))

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The values, in the order of their codes."""
        return tuple(node.label for node in self.nodes if node.high - node.low == 1)

    @property
    def size(self) -> int:
        """How many leaves there are."""
        return self.nodes[0].high

    def codes(self, values: Any) -> Codes:
        """The number of each value's leaf; a value without one raises ``UnknownCategory``."""
        return Categories(self.leaves).codes(values)

    def interval(self, label: str) -> tuple[int, int]:
        """The codes ``[low, high)`` below a label."""
        node = self.nodes[self._place(label)]
        return node.low, node.high

    def children(self, label: str) -> tuple[Node, ...]:
        """The nodes right below a label; none for a leaf."""
        place = self._place(label)
        return tuple(node for node in self.nodes if node.parent == place)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {node.label: place for place, node in enumerate(self.nodes)}

    def _place(self, label: str) -> int:
        if label not in self._places:
            raise _invalid("The taxonomy has no such label.", "Its labels are in .nodes.")
        return self._places[label]


def _branches(parent: str, below: Any, above: set[int]) -> list[_Branch]:
    """The branches a nested description grows under ``parent``."""
    if id(below) in above:
        raise _invalid(f"{parent!r} lies below itself.", "Break the cycle.")
    if not isinstance(below, Mapping | list | tuple) or not below:
        raise _invalid(f"{parent!r} has no leaves.", "Give it a list of them, or remove it.")
    above = above | {id(below)}
    if isinstance(below, Mapping):
        return [
            _Branch(value_to_text(k), _branches(value_to_text(k), v, above))
            for k, v in below.items()
        ]
    return [branch for item in below for branch in _item(parent, item, above)]


def _item(parent: str, item: Any, above: set[int]) -> list[_Branch]:
    if isinstance(item, Mapping):
        return _branches(parent, item, above)
    if item is None or isinstance(item, list | tuple):
        raise _invalid(f"A leaf of {parent!r} is not a value.", "List text, numbers or dates.")
    return [_Branch(value_to_text(item), [])]


def _grown(rows: list[list[str]]) -> _Branch:
    """The tree of these paths, each from the root down."""
    root = _Branch(rows[0][0], [])
    known: dict[tuple[str, ...], _Branch] = {(root.label,): root}
    for row in rows:
        for depth in range(2, len(row) + 1):
            path = tuple(row[:depth])
            if path not in known:
                known[path] = _Branch(path[-1], [])
                known[path[:-1]].children.append(known[path])
    return root


def _walk(branch: _Branch) -> Iterator[_Branch]:
    yield branch
    for child in branch.children:
        yield from _walk(child)


def _repeats_below(branch: _Branch) -> bool:
    """Whether a node is its only child under the same name, as in padded files: one node."""
    return [child.label for child in branch.children] == [branch.label]


def _contracted(branch: _Branch) -> _Branch:
    label, children = branch
    while len(children) == 1:
        only = children[0]
        label, children = (label if only.children else only.label), only.children
    return _Branch(label, [_contracted(child) for child in children])


def _numbered(branch: _Branch, low: int, parent: int, depth: int, place: int) -> Iterator[Node]:
    """The nodes of a branch, a parent before its children, leaves numbered from ``low``."""
    below: list[Node] = []
    high = low
    for child in branch.children:
        nodes = list(_numbered(child, high, place, depth + 1, place + 1 + len(below)))
        high = nodes[0].high
        below += nodes
    yield Node(branch.label, low, max(high, low + 1), parent, depth)
    yield from below


def _refuse_repeated(labels: Sequence[str], what: str) -> None:
    twice = [label for label, times in Counter(labels).items() if times > 1]
    if twice:
        raise _invalid(
            f"The {what} {twice[0]!r} occurs {Counter(labels)[twice[0]]} times in the tree.",
            "Give every node a name of its own and every leaf one parent.",
        )


def _invalid(message: str, hint: str) -> InvalidDomain:
    return InvalidDomain(message, hint)
