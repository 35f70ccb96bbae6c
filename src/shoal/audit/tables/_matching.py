"""Match people with the classes of a released table, by the values that labels cover."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.anonymize import Policy, count_combinations
from shoal.anonymize.codec import Codec, find_distinct, published_cells
from shoal.anonymize.equivalence_classes import number_classes
from shoal.anonymize.hierarchies import as_text
from shoal.anonymize.table import QueriedTable
from shoal.anonymize.taxonomy_arrays import Tree
from shoal.arrays import Integers
from shoal.data.column_names import missing_columns_error
from shoal.domain.value_text import normalise_column
from shoal.errors import UnknownCategory

Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]
_CHUNK_CELLS = 2**22  # comparisons held at a time


@dataclass(frozen=True, eq=False)
class LabelCombinations:
    """The distinct combinations of labels in a released table.

    Attributes
    ----------
    labels
        (classes, d): places of the labels in their hierarchies.
    rows
        The rows of each combination.
    of_line
        The class of each row.
    """

    labels: Codes
    rows: Integers
    of_line: NDArray[np.intp]

    @property
    def sizes(self) -> Integers:
        """Return (sizes, 2): rows of a class, and how many classes have so many."""
        return np.stack(np.unique(self.rows, return_counts=True), axis=1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Matcher:
    """The map from values to leaves and from labels to nodes, as a reader of the policy knows
    it.
    """

    codec: Codec

    @classmethod
    def of(cls, policy: Policy, raw: Any) -> "Matcher":
        """Build the matcher of a policy; learnt hierarchies are learnt from the raw table again."""
        return cls(count_combinations(policy, raw).codec)

    @property
    def names(self) -> list[str]:
        """The quasi-identifiers."""
        return list(self.codec.hierarchies)

    @cached_property
    def trees(self) -> list[Tree]:
        """The hierarchies of the quasi-identifiers."""
        return [Tree(hierarchy.taxonomy) for hierarchy in self.codec.hierarchies.values()]

    def codes(self, X: Any) -> Codes:
        """Return the leaf of each value, negative where it is missing or has none: (rows, d)."""
        columns = columns_of(X, self.names)
        return np.stack([self.codec.leaves(name, columns[name]) for name in self.names], axis=1)

    def classes(self, released: Any) -> LabelCombinations:
        """Return the classes of a released table."""
        places = np.stack([self._places(released, name) for name in self.names], axis=1)
        ids, size = number_classes(places)
        labels = np.zeros((size, places.shape[1]), dtype=np.int32)
        labels[ids] = places
        return LabelCombinations(labels, np.bincount(ids, minlength=size).astype(np.int64), ids)

    def covering(self, classes: LabelCombinations, codes: Codes) -> Iterator[tuple[slice, Mask]]:
        """Yield, for some people at a time, which classes each may be in: (people, classes).

        A missing value fits any label; a value that no hierarchy has fits none.
        """
        step = max(_CHUNK_CELLS // max(len(classes.rows), 1), 1)
        for start in range(0, len(codes), step):
            part = codes[start : start + step]
            under = np.ones((len(part), len(classes.rows)), dtype=bool)
            for q, tree in enumerate(self.trees):
                low, high = (end[classes.labels[:, q]] for end in (tree.low, tree.high))
                leaf = part[:, q, None]
                under &= ((leaf >= low) & (leaf < high)) | (leaf < -1)
            yield slice(start, start + len(part)), under

    def _places(self, released: Any, name: str) -> Codes:
        """Return the node of each label of a column, the highest of those written alike."""
        hierarchy = self.codec.hierarchies[name]
        published = published_cells(self.codec.policy, name, hierarchy)
        nodes = zip(*(as_text(cells).to_pylist() for cells in published.values()), strict=True)
        place = {labels: at for at, labels in reversed(list(enumerate(nodes)))}
        columns = columns_of(released, list(published))
        parts = [find_distinct(column, ()) for column in columns.values()]
        lines, of_line = np.unique(np.stack([part.at for part in parts], axis=1), axis=0,
                                   return_inverse=True)  # fmt: skip
        texts = [[*as_text(part.values).to_pylist(), None] for part in parts]
        different = [tuple(text[at] for text, at in zip(texts, line, strict=True))
                     for line in lines.tolist()]  # fmt: skip
        places = np.array([_place_of(place, labels, name) for labels in different], dtype=np.int32)
        return places[of_line.reshape(-1)]


def _place_of(place: dict[Any, int], texts: tuple[str | None, ...], name: str) -> int:
    if texts in place or set(texts) <= {None, "*"}:
        return place.get(texts, 0)  # a starred line shows nothing, whatever the root is called
    raise UnknownCategory(
        f"Column {name!r} of the released table has labels that are not in its hierarchy.",
        "Give the policy that this table was released under.",
    )


def columns_of(X: Any, names: list[str]) -> dict[str, Any]:
    """Return columns of a table."""
    table = X if isinstance(X, QueriedTable) else QueriedTable(X)
    if not {*names} <= {*table.names}:
        raise missing_columns_error(names, table.names)
    columns = table.query("SELECT * FROM rows", names)
    return {name: columns[f"c{i}"] for i, name in enumerate(names)}


def text_combinations(X: Any, names: list[str]) -> list[tuple[str | None, ...]]:
    """Return the values of each row in these columns as text, equal numbers written alike."""
    by_name = columns_of(X, names)
    columns = [_texts(name, column) for name, column in by_name.items()]
    return list(zip(*columns, strict=True))


def _texts(name: str, column: Any) -> list[str | None]:
    try:
        texts: list[str | None] = normalise_column(column.cast(pa.string())).to_pylist()
    except pa.ArrowException:
        raise UnknownCategory(
            f"Column {name!r} holds values that cannot be written as text.",
            "Convert it to text, numbers or dates first.",
        ) from None
    return texts
