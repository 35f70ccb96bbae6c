"""Encode the columns of a table as leaf codes and value numbers, and decode published cells.

Columns are first reduced to their distinct values, so that each value is encoded once. A published
cell holds the label, the bounds or the midpoint of a node.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.anonymize._policy import Policy
from shoal.anonymize.hierarchies import Hierarchy
from shoal.anonymize.hierarchies._build import build_hierarchy
from shoal.anonymize.hierarchies._hierarchy import TextLeaves, as_text, parse_days, parse_numbers
from shoal.anonymize.search_problem import Closeness, Diversity
from shoal.arrays import Floats
from shoal.domain import Taxonomy
from shoal.domain.value_text import normalise_column, normalise_text, value_to_text
from shoal.errors import InvalidPolicy

Codes = NDArray[np.int32]
NOTHING = -2  # a null that is no leaf; a value that no hierarchy has is NO_LEAF

Shown = dict[str, Any]  # an Arrow array by place, for each published column


class DistinctValues(NamedTuple):
    """A column as its distinct values and the place of each row's value among them.

    Parameters
    ----------
    at
        For each row the place of its value; -1 for a null.
    """

    values: Any
    at: NDArray[np.int32]

    def lookup(self, of_values: NDArray[np.int32], null: int) -> NDArray[np.int32]:
        """Return a number for each row, given one for each distinct value."""
        numbers: NDArray[np.int32] = np.append(of_values, np.int32(null))[self.at]
        return numbers


def find_distinct(column: Any, null_values: Sequence[str]) -> DistinctValues:
    """Reduce a column to its distinct values; NaN and ``null_values`` count as nulls.

    Work on each value is then done once, however many rows share it.

    Examples
    --------
    >>> found = find_distinct(pa.array(["x", "NA", None, "x"]), ["NA"])
    >>> found.values.to_pylist(), found.at.tolist()
    (['x', 'NA'], [0, -1, -1, 0])
    """
    encoded = _dictionary_of(column)
    values, at = encoded.dictionary, pc.fill_null(encoded.indices, -1)
    places = at.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    missing = find_nulls(values, null_values)
    if missing.any():
        places = np.append(np.where(missing, -1, np.arange(len(values))), -1)[places]
    return DistinctValues(values, places.astype(np.int32, copy=False))


def find_nulls(values: Any, null_values: Sequence[str]) -> NDArray[np.bool_]:
    """Return which values are nulls, NaN, or one of the spellings of nulls."""
    missing = pc.is_null(values, nan_is_null=pa.types.is_floating(values.type))
    if _is_text(values.type):
        trimmed = pc.utf8_trim_whitespace(as_text(values))
        missing = pc.or_(
            missing, pc.fill_null(pc.is_in(trimmed, pa.array(null_values, pa.string())), True)
        )
    mask: NDArray[np.bool_] = missing.to_numpy(zero_copy_only=False)
    return mask


def _dictionary_of(column: Any) -> pa.DictionaryArray:
    if pa.types.is_nested(column.type):
        raise InvalidPolicy(
            "A column to be counted by its values holds lists or structures.",
            "Take a part of it as a column of its own, or give it the role `other`.",
        )
    if pa.types.is_null(column.type):  # parts of it could not be put together
        column = column.cast(pa.string())
    if isinstance(column, pa.ChunkedArray):
        chunked = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        column = chunked.unify_dictionaries().combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # no rows at all
            return pa.array([], chunked.type)
        return column
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


@dataclass(frozen=True, eq=False)
class SensitiveValues:
    """How the values of a sensitive column with rules are numbered."""

    size: int
    number_of: Callable[[Any], Codes]
    l: Diversity | None = None  # noqa: E741 - the name of the literature
    t: Closeness | None = None
    taxonomy: Taxonomy | None = None


@dataclass(frozen=True, eq=False)
class Codec:
    """The encoding of quasi-identifiers as leaf codes, and of sensitive values as numbers.

    Parameters
    ----------
    values
        The numbering of each sensitive column with rules, in the policy's order.
    """

    policy: Policy
    hierarchies: dict[str, Hierarchy]
    values: dict[str, SensitiveValues]

    def leaves(self, name: str, column: Any) -> Codes:
        """Return the leaf code of each cell of a quasi-identifier; negative where there is none."""
        hierarchy = self.hierarchies[name]
        null = NOTHING if hierarchy.null is None else hierarchy.null
        taken = find_distinct(column, self.policy.input.null_values)
        return taken.lookup(hierarchy.leaf_of(taken.values), null)

    def numbers(self, name: str, column: Any) -> Codes:
        """Return the number of each cell of a sensitive column; ``NOTHING`` for a null."""
        taken = find_distinct(column, self.policy.input.null_values)
        return taken.lookup(self.values[name].number_of(taken.values), NOTHING)


def number_values(policy: Policy, name: str, taken: DistinctValues) -> SensitiveValues:
    """Decide how the values of a sensitive column are numbered.

    They are numbered in the declared order, by size if they are numbers or dates, by the
    hierarchy's leaves, or else alphabetically; never by the order of rows, which would reveal it.
    """
    of = policy.attributes[name]
    rule_l = None if of.l is None else Diversity(of.l.kind, of.l.value, of.l.c)
    rule_t = None if of.t is None else Closeness(of.t.kind, of.t.value)
    if rule_t is not None and rule_t.kind == "hierarchical":
        hierarchy = build_hierarchy(policy, name)
        tree = hierarchy.taxonomy
        return SensitiveValues(tree.size, hierarchy.leaf_of, rule_l, rule_t, tree)
    listed = _ordered_values(policy, name, taken)
    return SensitiveValues(len(listed), TextLeaves(listed), rule_l, rule_t)


def _ordered_values(policy: Policy, name: str, taken: DistinctValues) -> list[str]:
    of = policy.attributes[name]
    if of.order is not None:
        return [normalise_text(value_to_text(value)) for value in of.order]
    occurring = np.zeros(len(taken.values), dtype=bool)
    occurring[taken.at[taken.at >= 0]] = True
    texts = pc.unique(normalise_column(as_text(taken.values.filter(pa.array(occurring)))))
    return [texts[i].as_py() for i in _ranks_by_size(of.type, texts)]


def _ranks_by_size(kind: str, texts: Any) -> Sequence[int]:
    """Return the rank of each value in the order of its type."""
    written = texts.to_pylist()
    if kind == "date":
        days = parse_days(texts)
        return sorted(range(len(days)), key=lambda i: (str(days[i] or ""), written[i]))
    if kind in ("int", "float"):
        numbers = parse_numbers(texts)
        return np.lexsort((written, numbers)).tolist() if written else []
    return sorted(range(len(written)), key=written.__getitem__)


def published_names(policy: Policy, name: str) -> tuple[str, ...]:
    """Return the names of the columns in which a quasi-identifier is published."""
    numeric = getattr(policy.attributes[name].hierarchy, "kind", "") in ("interval", "binary")
    if numeric and _interval_form(policy, name) == "bounds":
        return f"{name}_low", f"{name}_high"
    return (name,)


def _interval_form(policy: Policy, name: str) -> str:
    """Return how intervals of a column are published; means in their place have no form."""
    is_mean = policy.attributes[name].publish != "label"
    return "label" if is_mean else policy.output.intervals


def published_cells(policy: Policy, name: str, hierarchy: Hierarchy) -> Shown:
    """Return the published cells of each node of a column's hierarchy, by place.

    Bounds of whole numbers are inclusive; others are half open.

    Returns
    -------
    For each published column an Arrow array with a cell for each node.

    Examples
    --------
    >>> from shoal.anonymize.hierarchies import build_halves
    >>> policy = Policy.of({"version": 1, "privacy": {"k": 2}, "output": {"intervals": "bounds"},
    ...     "attributes": {"age": {"role": "quasi", "type": "int", "domain": [0, 3],
    ...                            "hierarchy": {"kind": "binary"}}}})
    >>> cells = published_cells(policy, "age", build_halves((0, 3), whole=True, min_width=2))
    >>> cells["age_low"].to_pylist(), cells["age_high"].to_pylist()
    ([0, 0, 2], [3, 1, 3])
    """
    form = _interval_form(policy, name)
    if hierarchy.edges is None or form == "label":
        nodes, shown = hierarchy.taxonomy.nodes, published_places(policy, hierarchy)
        return {name: pa.array([nodes[at].label for at in shown], pa.string())}
    shown = published_places(policy, hierarchy)
    low, high = (bounds[shown] for bounds in hierarchy.bounds())
    high = high - hierarchy.edges.whole
    if form == "midpoint":
        return {name: _column((low + high) / 2, whole=False)}
    names = published_names(policy, name)
    whole = hierarchy.edges.whole
    return {names[0]: _column(low, whole), names[1]: _column(high, whole)}


def published_places(policy: Policy, hierarchy: Hierarchy) -> Codes:
    """Return the place under which each node is published: its own, or that of a node above.

    Nulls may be published as the root, and an only child may have its parent's label.
    """
    nodes = hierarchy.taxonomy.nodes
    places = np.arange(len(nodes), dtype=np.int32)
    for at, node in enumerate(nodes[1:], 1):
        if node.label == nodes[node.parent].label:
            places[at] = places[node.parent]
    if policy.privacy.nulls == "as_root" and hierarchy.null is not None:
        places[-1] = 0
    return places


def _column(numbers: Floats, whole: bool) -> Any:
    column = pa.array(numbers, mask=np.isnan(numbers))
    return column.cast(pa.int64()) if whole else column
