"""A public tree of categories, from one root down to the values a column may take."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from shoal.domain.categories import Categories, Codes
from shoal.domain.value_text import value_to_text
from shoal.errors import InvalidDomain


@dataclass(frozen=True)
class Node:
    """A named set of leaves: those numbered from ``low`` up to, not including, ``high``.

    ``parent`` is its place in ``Taxonomy.nodes``, -1 for the root, whose depth is 0.

    Parameters
    ----------
    label
        Its name.
    low
        The number of its first leaf.
    high
        The number after its last leaf.
    parent
        The index of its parent in ``Taxonomy.nodes``; -1 for the root.
    depth
        How many nodes lie above it; 0 for the root.
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
    """A tree of categories whose nodes are intervals of codes.

    A node with a single child says nothing its child does not: such chains are contracted, to
    the leaf if one ends them, else to their top. Build one with ``nested`` or ``paths``.

    Parameters
    ----------
    nodes
        All nodes, a parent before its children; leaves are numbered depth first.

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
        """Build a tree from nested mappings and lists: ``{parent: {child: [leaf, ...]}}``.

        Parameters
        ----------
        root
            The name of the root.
        below
            What lies below it; lists may mix leaves and mappings.
        """
        return cls._of(_Branch(value_to_text(root), _branches(value_to_text(root), below, set())))

    @classmethod
    def paths(cls, rows: Sequence[Sequence[Any]]) -> "Taxonomy":
        """Build a tree from one row a leaf, the leaf first and the root last, as in ARX's files.

        Parameters
        ----------
        rows
            The labels from each leaf up to the root, as many in every row.

        Examples
        --------
        >>> Taxonomy.paths([["1", "1-2", "*"], ["2", "1-2", "*"], ["3", "3-4", "*"]]).leaves
        ('1', '2', '3')
        """
        lengths = {len(row) for row in rows}
        if len(lengths) != 1 or lengths == {0}:
            raise _invalid_error(
                f"The {len(rows)} rows have {len(lengths)} different lengths.",
                "Give every leaf one row with the same number of levels.",
            )
        labels = [[value_to_text(label) for label in reversed(row)] for row in rows]
        _refuse_repeated([row[-1] for row in labels], "leaf")
        roots = {row[0] for row in labels}
        if len(roots) > 1:
            raise _invalid_error(
                f"The rows end in {len(roots)} different roots.",
                "End every row in the same label, e.g. *.",
            )
        return cls._of(_tree_of_paths(labels))

    @classmethod
    def _of(cls, root: _Branch) -> "Taxonomy":
        """Check labels, contract chains of single children and number the nodes."""
        branches = list(_walk(root))
        # A repeated leaf would have two codes; a repeated label could not be looked up.
        _refuse_repeated([b.label for b in branches if not b.children], "leaf")
        _refuse_repeated([b.label for b in branches if not _repeats_below(b)], "label")
        return cls(tuple(_numbered(_contracted(root), 0, -1, 0, 0)))

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The values, in the order of their codes."""
        return tuple(node.label for node in self.nodes if node.high - node.low == 1)

    @property
    def size(self) -> int:
        """The number of leaves."""
        return self.nodes[0].high

    def codes(self, values: Any) -> Codes:
        """Return the number of each value's leaf.

        Parameters
        ----------
        values
            A column of any type that Arrow takes.

        Raises
        ------
        UnknownCategory
            If a value has no leaf.
        """
        return Categories(self.leaves).codes(values)

    def interval(self, label: str) -> tuple[int, int]:
        """Return the codes ``[low, high)`` of the leaves below a label.

        Parameters
        ----------
        label
            The name of a node.
        """
        node = self.nodes[self._place(label)]
        return node.low, node.high

    def children(self, label: str) -> tuple[Node, ...]:
        """Return the nodes directly below a label; none for a leaf.

        Parameters
        ----------
        label
            The name of a node.
        """
        place = self._place(label)
        return tuple(node for node in self.nodes if node.parent == place)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {node.label: place for place, node in enumerate(self.nodes)}

    def _place(self, label: str) -> int:
        if label not in self._places:
            raise _invalid_error("The taxonomy has no such label.", "Its labels are in .nodes.")
        return self._places[label]


def _branches(parent: str, below: Any, above: set[int]) -> list[_Branch]:
    """Return the branches that a nested description makes below ``parent``."""
    if id(below) in above:
        raise _invalid_error(f"{parent!r} lies below itself.", "Break the cycle.")
    if not isinstance(below, Mapping | list | tuple) or not below:
        raise _invalid_error(f"{parent!r} has no leaves.", "Give it a list of them, or remove it.")
    above = above | {id(below)}
    if isinstance(below, Mapping):
        return [
            _Branch(value_to_text(k), _branches(value_to_text(k), v, above))
            for k, v in below.items()
        ]
    return [branch for item in below for branch in _branches_of_item(parent, item, above)]


def _branches_of_item(parent: str, item: Any, above: set[int]) -> list[_Branch]:
    if isinstance(item, Mapping):
        return _branches(parent, item, above)
    if item is None or isinstance(item, list | tuple):
        raise _invalid_error(
            f"A leaf of {parent!r} is not a value.", "List text, numbers or dates."
        )
    return [_Branch(value_to_text(item), [])]


def _tree_of_paths(rows: list[list[str]]) -> _Branch:
    """Return the tree of these paths, each from the root down."""
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
    """Yield a branch and all below it."""
    yield branch
    for child in branch.children:
        yield from _walk(child)


def _repeats_below(branch: _Branch) -> bool:
    """Whether a node's only child has its name, as in padded files: they become one node."""
    return [child.label for child in branch.children] == [branch.label]


def _contracted(branch: _Branch) -> _Branch:
    """Return the branch with chains of single children made one node."""
    label, children = branch
    while len(children) == 1:
        only = children[0]
        label, children = (label if only.children else only.label), only.children
    return _Branch(label, [_contracted(child) for child in children])


def _numbered(branch: _Branch, low: int, parent: int, depth: int, place: int) -> Iterator[Node]:
    """Yield the nodes of a branch, a parent before its children, leaves numbered from ``low``."""
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
        raise _invalid_error(
            f"The {what} {twice[0]!r} occurs {Counter(labels)[twice[0]]} times in the tree.",
            "Give every node a name of its own and every leaf one parent.",
        )


def _invalid_error(message: str, hint: str) -> InvalidDomain:
    return InvalidDomain(message, hint)
