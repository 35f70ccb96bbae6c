"""Change published cells besides generalising them: means of classes, bounds, rounding, blanks.

*Micro-aggregation* publishes a numeric quasi-identifier as the mean or median of its class. Of a
column of role ``other``, numbers can be *bounded* (top and bottom coding) and *rounded*, and *rare*
values left out (cell suppression). All of it is computed from the published rows alone, and whether
a column holds whole numbers follows from the policy, so that nothing tells of rows that are not
published.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.anonymize._policy import Attribute, Policy
from shoal.anonymize._policy_rules import TransformSpec
from shoal.anonymize.codec import find_distinct, find_nulls
from shoal.anonymize.hierarchies._hierarchy import as_text, parse_numbers
from shoal.arrays import Floats
from shoal.data.untyped_cells import cells_of, texts_of
from shoal.errors import InvalidPolicy, quantity

CellChange = Callable[[Any], Any]
Finder = Callable[[pa.RecordBatch], NDArray[np.int32]]
_LARGEST_INTEGER = 2.0**53  # beyond it doubles skip integers


class ReleaseSummary(NamedTuple):
    """What the published rows say together.

    Parameters
    ----------
    centres
        For each micro-aggregated column its number in each class, NaN where a class has none.
    frequent
        For each column with a rule on rare values, the texts of those that are not rare.
    """

    centres: dict[str, Floats]
    frequent: dict[str, pa.Array]


def aggregated_columns(policy: Policy) -> dict[str, str]:
    """Return the quasi-identifiers that are published as the mean or median of their class."""
    columns = {name: policy.attributes[name].publish for name in policy.names("quasi")}
    return {name: how for name, how in columns.items() if how != "label"}


def _rare_limits(policy: Policy) -> dict[str, int]:
    specs = {name: of.transform for name, of in policy.attributes.items()}
    return {name: spec.rare for name, spec in specs.items() if spec and spec.rare is not None}


def needs_summary(policy: Policy) -> bool:
    """Return whether published cells depend on other published rows."""
    return bool(aggregated_columns(policy) or _rare_limits(policy))


def summarise_release(
    policy: Policy, batches: Iterator[pa.RecordBatch], find: Finder, classes: int
) -> ReleaseSummary:
    """Read the published rows once, and return what their cells depend on.

    Parameters
    ----------
    find
        Returns the class of each row, -1 if it is not published.
    """
    aggregated, limits = aggregated_columns(policy), _rare_limits(policy)
    of_classes: dict[str, list[Any]] = {name: [] for name in aggregated}
    counts: dict[str, dict[str, int]] = {name: {} for name in limits}
    changes = cell_changes(policy, None)
    for batch in batches:
        ids = find(batch)
        live = ids >= 0
        for name, parts in of_classes.items():
            parts.append((ids[live], _numbers(policy, name, batch)[live]))
        for name, known in counts.items():
            cells = carried_cells(batch, name).filter(pa.array(live))
            change = changes.get(name)
            _count_texts(known, cells if change is None else change(cells))
    centres = {
        name: _centres(parts, aggregated[name], classes) for name, parts in of_classes.items()
    }
    frequent = {
        name: pa.array([text for text, n in known.items() if n >= limits[name]], pa.string())
        for name, known in counts.items()
    }
    return ReleaseSummary(centres, frequent)


def carried_cells(batch: pa.RecordBatch, name: str) -> pa.Array:
    """Return the cells of a column as they are published, before any change of the policy's."""
    column = batch.column(name)
    if cells_of(batch.schema.field(name)) == "untyped":
        # One cell, which may be suppressed, decides how Arrow holds all cells of a Python list.
        return texts_of(column)
    if pa.types.is_dictionary(column.type):  # its list of categories would name what is suppressed
        column = column.dictionary_decode()
    # One text, which may be suppressed, would make a column of nothing a column of text.
    is_text = pa.types.is_string_view(column.type) or pa.types.is_null(column.type)
    return column.cast(pa.string()) if is_text else column


def _numbers(policy: Policy, name: str, batch: pa.RecordBatch) -> Floats:
    column = batch.column(name)
    numbers = parse_numbers(column).copy()
    numbers[find_nulls(_decoded(column), policy.input.null_values)] = np.nan
    domain = policy.attributes[name].domain
    if domain is not None:  # numbers beyond the declared domain stand for its ends
        numbers = np.clip(numbers, float(domain[0]), float(domain[1]))
    return numbers


def _centres(parts: list[Any], how: str, classes: int) -> Floats:
    """Return the mean or median of each class, to six digits after those that two numbers need."""
    ids = np.concatenate([part[0] for part in parts] or [np.empty(0, np.int32)])
    numbers = np.concatenate([part[1] for part in parts] or [np.empty(0)])
    known = ~np.isnan(numbers)
    ids, numbers = ids[known], numbers[known]
    centres = np.full(classes, np.nan)
    order = np.lexsort((numbers, ids))  # sorted, so that sums do not depend on the rows' order
    ids, numbers = ids[order], numbers[order]
    occurring, first, sizes = np.unique(ids, return_index=True, return_counts=True)
    if how == "mean":
        centres[occurring] = np.add.reduceat(numbers, first) / sizes if len(occurring) else []
    else:
        middle = (numbers[first + (sizes - 1) // 2] + numbers[first + sizes // 2]) / 2
        centres[occurring] = middle
    return np.round(centres, 6)


def cell_changes(policy: Policy, summary: ReleaseSummary | None) -> dict[str, CellChange]:
    """Return, for each column that is changed cell by cell, how.

    Parameters
    ----------
    summary
        What the published rows say together; None leaves rare values in.
    """
    changes: dict[str, CellChange] = {}
    for name, of in policy.attributes.items():
        if of.transform is not None:
            frequent = None if summary is None else summary.frequent.get(name)
            changes[name] = _change_of(policy, name, of.transform, frequent)
    return changes


def _change_of(policy: Policy, name: str, spec: TransformSpec, frequent: Any) -> CellChange:
    nulls, whole = policy.input.null_values, _publishes_whole(policy.attributes[name], spec)

    def change(column: Any) -> Any:
        column = _decoded(column)
        if spec.changes_numbers:
            column = _changed_numbers(name, spec, column, find_nulls(column, nulls), whole)
        if frequent is not None:
            rare = pc.invert(pc.is_in(as_text(column), frequent))
            column = pc.if_else(rare, pa.scalar(None, column.type), column)
        return column

    return change


def _publishes_whole(of: Attribute, spec: TransformSpec) -> bool:
    """Return whether changed numbers are published as integers: the policy's word alone."""
    return of.type == "int" or (of.type == "text" and spec.makes_whole)


def _decoded(column: Any) -> Any:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _changed_numbers(
    name: str, spec: TransformSpec, column: Any, missing: NDArray[np.bool_], whole: bool
) -> Any:
    numbers = parse_numbers(column)
    strange = int((np.isnan(numbers) & ~missing).sum())
    if strange:
        raise InvalidPolicy(
            f"Column {name!r} has {quantity(strange, 'cell')} that are no numbers, which cannot be "
            "bounded or rounded.",
            "List their spellings under `null_values`, or take `top`, `bottom` and `round` out.",
        )
    changed = change_numbers(numbers, spec)
    if not whole:
        return pa.array(changed, mask=missing)
    is_integer = (changed == np.floor(changed)) & (np.abs(changed) <= _LARGEST_INTEGER)
    strange = int((~is_integer & ~missing).sum())
    if strange:
        raise InvalidPolicy(
            f"Column {name!r} has {quantity(strange, 'cell')} that are no integers up to 2^53, as "
            "which its numbers are to be published.",
            "Set its `type` to float, or bound and round its numbers to integers.",
        )
    return pa.array(np.where(missing, 0, changed).astype(np.int64), mask=missing)


def change_numbers(numbers: Floats, spec: TransformSpec) -> Floats:
    """Bound and round numbers; halves are rounded up.

    Examples
    --------
    >>> spec = TransformSpec(bottom=0, top=100, round=25)
    >>> change_numbers(np.array([-7.0, 12.5, 60, 1e6]), spec).tolist()
    [0.0, 25.0, 50.0, 100.0]
    """
    bounded = np.clip(numbers, spec.bottom, spec.top)
    if spec.round is None:
        return np.asarray(bounded)
    rounded = np.floor(bounded / spec.round + 0.5) * spec.round
    digits = max(0, 6 - math.floor(math.log10(spec.round)))
    return np.asarray(np.round(np.clip(rounded, spec.bottom, spec.top), digits))


def _count_texts(known: dict[str, int], column: Any) -> None:
    taken = find_distinct(column, ())
    counts = np.bincount(taken.at[taken.at >= 0], minlength=len(taken.values))
    for text, n in zip(as_text(taken.values).to_pylist(), counts.tolist(), strict=True):
        if n:
            known[text] = known.get(text, 0) + n
