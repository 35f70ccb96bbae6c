"""The hierarchy of a column: its tree, its levels, and how values are mapped to leaves."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.anonymize.taxonomy_arrays import Tree, leaf_count_costs, level_costs, width_costs
from shoal.arrays import Floats, Integers
from shoal.data.encode import floats_of
from shoal.domain import Node, Taxonomy
from shoal.domain.value_text import normalise_column, normalise_text

NULL = "<null>"
"""How a null cell is written among the labels of a hierarchy."""
NO_LEAF = -1
"""The code of a value that a hierarchy does not have."""
Labels = NDArray[np.object_]
Codes = NDArray[np.int32]

_SLASHES = re.compile(r"(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})(?:[T ].*)?")
# By how days are written: the pattern, and where in it year, month and day are.
_DAYS = {
    "iso": (re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ].*)?"), (1, 2, 3)),
    "dd/mm/yyyy": (_SLASHES, (3, 2, 1)),
    "mm/dd/yyyy": (_SLASHES, (3, 1, 2)),
}


@dataclass(frozen=True, eq=False)
class LeafIntervals:
    """The interval of numbers behind each leaf, by code: ``[low, high)`` of the declared domain.

    Intervals are half open.

    Parameters
    ----------
    low
        The lower bound of each leaf.
    high
        The upper bound of each leaf, not included.
    whole
        Whether the numbers are integers, so that an interval holds ``high - low`` values.
    """

    low: Floats
    high: Floats
    whole: bool


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The nodes that the values of a column may be generalised to.

    Parameters
    ----------
    taxonomy
        The tree, unary chains contracted.
    levels
        int32 (levels, leaves): the place of the node above each leaf at each level as written,
        level 0 the leaves and the last the root, before chains were contracted.
    leaf_of
        Finds the leaf code of each value of an Arrow column without nulls; ``NO_LEAF`` if none.
    edges
        For hierarchies of numbers, the interval of each leaf.
    learnt
        Whether the leaves or the split points came from the table's own rows.
    notes
        Remarks of the builder, for the curator.
    """

    taxonomy: Taxonomy
    levels: NDArray[np.int32]
    leaf_of: Callable[[Any], Codes]
    edges: LeafIntervals | None = None
    learnt: bool = False
    notes: tuple[str, ...] = ()

    @property
    def null(self) -> int | None:
        """The code of the leaf for nulls, which is the last; None if there is none."""
        last = self.taxonomy.nodes[-1]
        return last.low if last.label == NULL and last.depth == 1 else None

    def costs(self) -> Floats:
        """The certainty penalty of every node, by place; nulls are no value and cost nothing.

        Costs depend on the label and the policy only, not on the table, because their sums are
        published and would otherwise reveal values of the table, suppressed ones included. Declared
        leaves and domains cost by their size; learnt leaves by their level.
        """
        if self.edges is None and self.learnt:
            return level_costs(self.taxonomy, self.levels)
        if self.edges is None:
            declared = np.ones(self.taxonomy.size)
            if self.null is not None:
                declared[self.null] = 0
            return leaf_count_costs(self.taxonomy, declared)
        widths = np.zeros(self.taxonomy.size)
        widths[: len(self.edges.low)] = self.edges.high - self.edges.low
        by_domain = leaf_count_costs if self.edges.whole else width_costs
        return by_domain(self.taxonomy, widths)

    def with_null(self) -> "Hierarchy":
        """Return the same hierarchy with one more leaf below the root, for missing values."""
        nodes, size = self.taxonomy.nodes, self.taxonomy.size
        # A hierarchy of one leaf has no root of its own that the null could share.
        if len(nodes) == 1:
            root, *rest = Node("*", 0, size + 1, -1, 0), Node(nodes[0].label, 0, 1, 0, 1)
            levels = np.ones((max(len(self.levels), 2), 1), dtype=np.int32)
            levels[-1] = 0
        else:
            root, rest, levels = replace(nodes[0], high=size + 1), list(nodes[1:]), self.levels
        null = Node(NULL, size, size + 1, 0, 1)
        above = np.full((len(levels), 1), len(rest) + 1, dtype=np.int32)
        above[-1] = 0
        return replace(
            self,
            taxonomy=Taxonomy((root, *rest, null)),
            levels=np.concatenate([levels, above], axis=1),
        )

    def level_nodes(self, level: int) -> tuple[int, ...]:
        """Return the places of the nodes at a level as written; the root's level is the last.

        Parameters
        ----------
        level
            The number of the level, 0 for the leaves.
        """
        return tuple(int(place) for place in np.unique(self.levels[level]))

    def paths(self) -> list[list[str]]:
        """Return one row for each leaf, the leaf first and the root last, as in an ARX file."""
        label = np.array([node.label for node in self.taxonomy.nodes], dtype=object)
        rows: list[list[str]] = label[self.levels].T.tolist()
        return rows

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the lowest and the highest bound of each node, by place; NaN for nulls."""
        assert self.edges is not None
        tree = Tree(self.taxonomy)
        low = np.append(self.edges.low, [np.nan] * 2)
        high = np.append(self.edges.high, [np.nan] * 2)
        last = np.minimum(tree.high, len(self.edges.high)) - 1  # the root's last leaf may be null
        is_null = tree.low >= len(self.edges.low)
        return np.where(is_null, np.nan, low[tree.low]), np.where(is_null, np.nan, high[last])


def grow_taxonomy(
    columns: Sequence[Labels],
) -> tuple[Taxonomy, NDArray[np.int32], Integers]:
    """Build the tree of labelled levels, in which each label stands for one node.

    Chains of single children are contracted: to the leaf if one ends them, else to their top.

    Returns
    -------
    The taxonomy, the levels as places (in the order of codes) and, for each code, the row of its
    leaf.

    Examples
    --------
    >>> columns = [["1", "3", "2"], ["1-2", "3-4", "1-2"], ["*", "*", "*"]]
    >>> tree, levels, order = grow_taxonomy([np.array(c, dtype=object) for c in columns])
    >>> tree.leaves, [node.label for node in tree.nodes], order.tolist()
    (('1', '2', '3'), ['*', '1-2', '1', '2', '3'], [0, 2, 1])
    """
    groups = [_number_by_first_use(column) for column in columns]
    # The root is the primary key, so that leaves of one node are neighbours; ties keep their order.
    order = np.lexsort(groups)
    runs = [
        _node_starts([group[order] for group in groups[level:]]) for level in range(len(groups))
    ]
    labels: dict[tuple[int, int], str] = {}
    for level in reversed(range(len(runs))):
        for low, high in zip(runs[level], [*runs[level][1:], len(order)], strict=True):
            if (low, high) not in labels or high - low == 1:
                labels[low, high] = columns[level][order[low]]
    intervals = sorted(labels, key=lambda interval: (interval[0], -interval[1]))
    place = {interval: at for at, interval in enumerate(intervals)}
    levels = np.stack([_places(starts, len(order), place) for starts in runs])
    return Taxonomy(tuple(_nodes(intervals, labels))), levels, order


def _number_by_first_use(column: Labels) -> Integers:
    """Number labels in the order of their first occurrence."""
    number: dict[Any, int] = {}
    return np.array([number.setdefault(label, len(number)) for label in column], dtype=np.int64)


def _node_starts(groups: Sequence[Integers]) -> list[int]:
    """Return where a new node begins at a level: where its label, or one above it, changes."""
    new = np.ones(len(groups[0]), dtype=bool)
    new[1:] = False
    for group in groups:
        new[1:] |= group[1:] != group[:-1]
    starts: list[int] = np.flatnonzero(new).tolist()
    return starts


def _places(starts: list[int], size: int, place: dict[tuple[int, int], int]) -> NDArray[np.int32]:
    stops = [*starts[1:], size]
    nodes = [place[interval] for interval in zip(starts, stops, strict=True)]
    return np.repeat(np.array(nodes, dtype=np.int32), np.diff([*starts, size]))


def _nodes(intervals: list[tuple[int, int]], label: dict[tuple[int, int], str]) -> list[Node]:
    """Convert intervals in preorder to nodes; the parent is the last earlier one that covers it."""
    nodes: list[Node] = []
    above: list[int] = []
    for at, (low, high) in enumerate(intervals):
        while above and nodes[above[-1]].high <= low:
            above.pop()
        nodes.append(Node(label[low, high], low, high, above[-1] if above else -1, len(above)))
        above.append(at)
    return nodes


@dataclass(frozen=True, eq=False)
class TextLeaves:
    """Map cells to leaves by their text or, if no leaf has it, by their number: 39.0 is 39.

    It is called with an Arrow column.

    Parameters
    ----------
    length
        How many characters of a cell count, the rest being masked by ``*``; None for all.

    Examples
    --------
    >>> TextLeaves(["39", "40"])(pa.array([" 40", "39.0", "x"])).tolist()
    [1, 0, -1]
    """

    leaves: Sequence[str]
    length: int | None = None

    def __call__(self, column: Any) -> Codes:
        """Return the code of each cell."""
        cells = pc.utf8_trim_whitespace(as_text(column))
        if self.length is not None:
            return _codes(pc.index_in(mask_text(cells, self.length), self._exact))
        codes = pc.index_in(cells, self._exact)
        if codes.null_count:
            codes = pc.coalesce(
                codes, pc.index_in(normalise_column(cells), self._equal, skip_nulls=True)
            )
        return _codes(codes)

    @cached_property
    def _exact(self) -> pa.Array:
        return pa.array(self.leaves, pa.string())

    @cached_property
    def _equal(self) -> pa.Array:
        """Return leaves as they are compared, null where several are equal, like 1.1 and 1.10."""
        written = [normalise_text(leaf) for leaf in self.leaves]
        counts: dict[str, int] = {}
        for leaf in written:
            counts[leaf] = counts.get(leaf, 0) + 1
        return pa.array([leaf if counts[leaf] == 1 else None for leaf in written], pa.string())


@dataclass(frozen=True, eq=False)
class NumberLeaves:
    """Map cells to the interval they lie in; beyond the domain, to the first or the last.

    Examples
    --------
    >>> NumberLeaves(np.array([0.0, 10, 20]), whole=True)(pa.array(["-3", "10", "1.5"])).tolist()
    [0, 1, -1]
    """

    breaks: Floats
    whole: bool

    def __call__(self, column: Any) -> Codes:
        """Return the code of each cell."""
        numbers = parse_numbers(column)
        codes = np.searchsorted(self.breaks[1:-1], numbers, side="right").astype(np.int32)
        odd = np.isnan(numbers) | (self.whole & (numbers != np.floor(numbers)))
        codes[odd] = NO_LEAF
        return codes


@dataclass(frozen=True, eq=False)
class DateLeaves:
    """Map cells to the period they lie in.

    Periods are whole numbers.
    """

    leaves: Integers
    period: Any
    clip: bool
    written: str = "iso"

    def __call__(self, column: Any) -> Codes:
        """Return the code of each cell."""
        days = parse_days(column, self.written)
        periods = np.array([-1 if day is None else self.period(day) for day in days], np.int64)
        if self.clip:
            inside = np.clip(periods, self.leaves[0], self.leaves[-1])
            periods = np.where(periods < 0, periods, inside)
        codes = np.searchsorted(self.leaves, periods).astype(np.int32)
        is_leaf = self.leaves[np.minimum(codes, len(self.leaves) - 1)] == periods
        return np.where(is_leaf, codes, np.int32(NO_LEAF))


def as_text(column: Any) -> Any:
    """Convert a column to an Arrow array of text, null where a cell has no text; -0.0 is 0.

    Times with a zone are written in UTC, since readers and DuckDB show the same time in different
    zones.

    Parameters
    ----------
    column
        An Arrow array of any type.

    Examples
    --------
    >>> as_text(pa.array([1.0, 2.5, -0.0])).to_pylist()
    ['1', '2.5', '0']
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_binary(column.type) or pa.types.is_nested(column.type):
        return pa.nulls(len(column), pa.string())  # such cells have no leaf
    if pa.types.is_timestamp(column.type) and column.type.tz:
        column = column.cast(pa.timestamp(column.type.unit, "UTC"))
    written = column.cast(pa.string())
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.equal(written, "-0"), "0", written)
    return written


def mask_text(cells: Any, length: int) -> Any:
    """Keep the first characters of each text, and put one ``*`` for all that follow."""
    more = pc.greater(pc.utf8_length(cells), length)
    return pc.if_else(
        more, pc.binary_join_element_wise(pc.utf8_slice_codeunits(cells, 0, length), "*", ""), cells
    )


def parse_numbers(column: Any) -> Floats:
    """Return each cell as a number, NaN if it is none."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        floats: Floats = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return floats
    return floats_of(as_text(column))


def parse_days(column: Any, written: str = "iso") -> list[date | None]:
    """Return each cell as a day, with or without a time after it; None if it is none.

    Parameters
    ----------
    column
        An Arrow array. A column of dates or times needs no spelling.
    written
        How days are written as text: ``iso`` (2001-03-05), ``dd/mm/yyyy`` or ``mm/dd/yyyy``.

    Examples
    --------
    >>> parse_days(pa.array(["5/3/2001", "31.02.2001"]), "dd/mm/yyyy")
    [datetime.date(2001, 3, 5), None]
    """
    pattern, places = _DAYS["iso" if pa.types.is_temporal(column.type) else written]
    return [_day(cell, pattern, places) for cell in as_text(column).to_pylist()]


def _day(cell: str | None, pattern: re.Pattern[str], places: tuple[int, ...]) -> date | None:
    match = pattern.fullmatch(cell.strip()) if cell else None
    try:
        return date(*map(int, match.group(*places))) if match else None
    except ValueError:
        return None


def _codes(places: Any) -> Codes:
    codes: Codes = pc.fill_null(places, NO_LEAF).to_numpy(zero_copy_only=False).astype(np.int32)
    return codes
