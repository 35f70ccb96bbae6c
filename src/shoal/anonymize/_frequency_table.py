"""Count the distinct combinations of a table: the frequency table that a search works on."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.anonymize._number_intervals import interval_replacements
from shoal.anonymize._policy import Policy
from shoal.anonymize.codec import (
    NOTHING,
    Codec,
    DistinctValues,
    SensitiveValues,
    find_distinct,
    number_values,
)
from shoal.anonymize.equivalence_classes import number_classes
from shoal.anonymize.hierarchies import NO_LEAF, Hierarchy
from shoal.anonymize.hierarchies._build import HeldCells, build_hierarchy, needs_rows
from shoal.anonymize.search_problem import Cut, Problem, SensitiveColumn
from shoal.anonymize.table import AnyTable, table_of
from shoal.anonymize.table_check import check_columns, check_people, check_tokens
from shoal.arrays import Floats, Integers
from shoal.domain.value_text import value_to_text
from shoal.engine.duckdb import OWNER
from shoal.errors import (
    HierarchyInvalid,
    InvalidPolicy,
    InvalidSetting,
    TooFewRows,
    UnknownCategory,
    quantity,
)

_TARGET = "<target>"


class FrequencyTable(NamedTuple):
    """The problem that a search solves, and the codec that encodes rows when they are written.

    Parameters
    ----------
    problem
        The lines and the rules.
    codec
        How columns are encoded.
    owners
        An Arrow array of the person behind each number in ``problem.people``, or None.
    """

    problem: Problem
    codec: Codec
    owners: Any

    def __repr__(self) -> str:
        """Show sizes only, so that printing it reveals nobody."""
        return f"<Frequency of {len(self.problem.n)} lines, {self.problem.N} rows>"


class ColumnCells(NamedTuple):
    """Cells of a column, with the rows and the person that each stands for.

    Parameters
    ----------
    owner
        The person of each cell as a number; None if each row is a person.
    """

    cells: Any
    n: Integers
    owner: Integers | None = None


class _Lines(NamedTuple):
    """Distinct lines: codes (F, columns), rows of each, and rows left out for a null."""

    codes: NDArray[np.int32]
    n: Integers
    lost: int


def count_combinations(policy: Policy, X: Any) -> FrequencyTable:
    """Count the distinct combinations of a table under a policy.

    Memory grows with the number of distinct combinations, not with the rows; numbers of declared
    intervals are counted by interval.

    Parameters
    ----------
    policy
        Every column of the table needs a role in it.
    X
        Whatever ``source_of`` takes: a path, a data frame, an Arrow table, ...

    Returns
    -------
    The frequency table, with the codec that made it.

    Examples
    --------
    >>> policy = Policy.of({"version": 1, "privacy": {"k": 2}, "attributes": {
    ...     "sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}}}})
    >>> problem, codec, _ = count_combinations(policy, {"sex": ["M", "F", "M"]})
    >>> problem.codes.tolist(), problem.n.tolist()
    ([[0], [1]], [1, 2])
    """
    return frequency_of(policy, *count_cells(policy, X))


def count_cells(policy: Policy, X: Any) -> tuple[pa.Table, bool]:
    """Check a table, and count its distinct combinations of cells.

    Parameters
    ----------
    X
        Whatever ``source_of`` takes.

    Returns
    -------
    The combinations, and whether some people have several rows: what ``frequency_of`` takes.
    """
    table = table_of(X)
    by_person = check_table(policy, table)
    named = columns_to_count(policy)
    owner = policy.privacy.person if by_person else None
    counted = table.counts(list(named.values()), owner, interval_replacements(policy))
    return counted, by_person


def check_table(policy: Policy, table: AnyTable) -> bool:
    """Check that a table fits its policy, and return whether some people have several rows.

    Parameters
    ----------
    policy
        The policy.
    table
        The table.
    """
    check_columns(policy, table, list(columns_to_count(policy).values()))
    return check_people(policy, table)


def columns_to_count(policy: Policy) -> dict[str, str]:
    """Return the columns that a search needs, by the names they have in the table."""
    named = {name: name for name in (*policy.names("quasi"), *columns_with_rules(policy))}
    if policy.search.target is not None:
        named[_TARGET] = policy.search.target
    return named


def frequency_of(policy: Policy, counted: pa.Table, by_person: bool) -> FrequencyTable:
    """Build the frequency table from the distinct combinations of raw cells.

    Parameters
    ----------
    counted
        The combinations: columns c0, c1, ..., perhaps ``owner``, and ``n``.
    """
    named = columns_to_count(policy)
    counted = counted.rename_columns([*named, *counted.column_names[len(named) :]])
    n = counted["n"].to_numpy().astype(np.int64)
    people = _number_people(counted[OWNER]) if by_person else None
    owner = None if people is None else people.at.astype(np.int64)
    columns = {name: ColumnCells(counted[name], n, owner) for name in named}
    codec = codec_of(policy, columns)
    extra = [find_distinct(counted[_TARGET], ()).at] if policy.search.target else []
    extra += [] if people is None else [people.at]
    numbers = [
        *(codec.leaves(name, counted[name]) for name in codec.hierarchies),
        *(codec.numbers(name, counted[name]) for name in codec.values),
    ]
    lines = _lines([*numbers, *extra], n, len(codec.hierarchies))
    problem = _problem(policy, codec, lines, by_person)
    check_tokens(policy, problem)
    return FrequencyTable(problem, codec, None if people is None else people.values)


def problem_of_remote_lines(policy: Policy, codec: Codec, lost: int) -> Problem:
    """Build a problem without lines, for lines that stay on a cluster."""
    none = _Lines(np.empty((0, len(codec.hierarchies)), np.int32), np.empty(0, np.int64), lost)
    return _problem(policy, codec, none, False)


def columns_with_rules(policy: Policy) -> tuple[str, ...]:
    """Return the sensitive columns that have an l or a t rule."""
    columns = policy.attributes
    return tuple(n for n in policy.names("sensitive") if columns[n].l or columns[n].t)


def codec_of(policy: Policy, columns: Mapping[str, ColumnCells]) -> Codec:
    """Build the codec of all columns; values without a code are reported for all at once."""
    if not len(columns[policy.names("quasi")[0]].n):
        raise TooFewRows("The table has no rows.", "Give it at least k rows.", reason="people")
    hierarchies = {}
    for name in policy.names("quasi"):
        part = find_distinct(columns[name].cells, policy.input.null_values)
        tree = _hierarchy(policy, name, part, columns[name])
        has_null = bool((part.at < 0).any()) and policy.privacy.nulls != "suppress"
        hierarchies[name] = tree.with_null() if has_null else tree
    values = {
        name: number_values(
            policy, name, find_distinct(columns[name].cells, policy.input.null_values)
        )
        for name in columns_with_rules(policy)
    }
    _refuse_too_diverse(values)
    codec = Codec(policy, hierarchies, values)
    _refuse_strange(codec, columns)
    return codec


def _refuse_too_diverse(values: dict[str, SensitiveValues]) -> None:
    for name, of in values.items():
        if of.l is not None and of.l.value > of.size:
            raise InvalidSetting(
                f"Column {name!r} must show {of.l.value:g} values in each class, but has only "
                f"{of.size} in all.",
                "Choose a smaller l.",
            )


def _hierarchy(policy: Policy, name: str, part: DistinctValues, column: ColumnCells) -> Hierarchy:
    if not needs_rows(policy.attributes[name]):
        return build_hierarchy(policy, name)
    known = part.at >= 0
    occurring, at = np.unique(part.at[known], return_inverse=True)
    if not len(occurring):
        raise HierarchyInvalid(
            f"Column {name!r} is empty, so there is no hierarchy to learn.",
            "Drop the column from the table, or give its hierarchy in a file.",
            reason="no values",
        )
    owner = None if column.owner is None else column.owner[known]
    held = HeldCells(at, column.n[known], owner)
    return build_hierarchy(policy, name, part.values.take(pa.array(occurring)), held)


def _refuse_strange(codec: Codec, columns: Mapping[str, ColumnCells]) -> None:
    wrong = []
    for name in (*codec.hierarchies, *codec.values):
        code = codec.leaves if name in codec.hierarchies else codec.numbers
        strange = code(name, columns[name].cells) == NO_LEAF
        if strange.any():
            wrong.append(f"{name!r} ({quantity(int(columns[name].n[strange].sum()), 'row')})")
    if wrong:
        raise UnknownCategory(
            f"Some values have no leaf in the hierarchy of {', '.join(wrong)}.",
            "Add them to the hierarchy or order, check the column's `type`, or list them under "
            "`null_values`; they are not shown here because they are people's.",
            reason="no leaf",
        )


def _number_people(owners: Any) -> DistinctValues:
    """Number people alphabetically, so that the order of rows does not show."""
    taken = find_distinct(owners, ())
    order = pc.array_sort_indices(taken.values)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order.to_numpy()] = np.arange(len(order))
    return DistinctValues(taken.values.take(order), rank[taken.at])


def _lines(numbers: Sequence[NDArray[np.int32]], n: Integers, quasi: int) -> _Lines:
    """Merge lines with equal numbers, in the order of their numbers."""
    matrix = np.stack(numbers, axis=1)
    complete = (matrix[:, :quasi] >= 0).all(axis=1)
    lost = int(n[~complete].sum())
    matrix, n = matrix[complete], n[complete]
    ids, size = number_classes(matrix - NOTHING)  # from 0 up
    codes = np.empty((size, matrix.shape[1]), dtype=np.int32)
    codes[ids] = matrix
    return _Lines(codes, np.bincount(ids, n, minlength=size).astype(np.int64), lost)


def _problem(policy: Policy, codec: Codec, lines: _Lines, by_person: bool) -> Problem:
    d = len(codec.hierarchies)
    trees = tuple(h.taxonomy for h in codec.hierarchies.values())
    target = policy.search.target
    sensitive = tuple(
        SensitiveColumn(
            name, np.maximum(lines.codes[:, d + i], -1), of.size, of.l, of.t, of.taxonomy
        )
        for i, (name, of) in enumerate(codec.values.items())
    )
    return Problem(
        names=policy.names("quasi"),
        taxonomies=trees,
        costs=_costs(policy, codec),
        codes=np.ascontiguousarray(lines.codes[:, :d]),
        n=lines.n,
        k=policy.privacy.k,
        suppression=policy.privacy.suppression,
        weights=tuple(policy.attributes[name].weight for name in codec.hierarchies),
        lost=lines.lost,
        start=_starting_cut(policy, codec),
        sensitive=sensitive,
        people=lines.codes[:, -1].astype(np.int64) if by_person else None,
        target=None if target is None else lines.codes[:, d + len(sensitive)],
        levels=tuple(hierarchy.levels for hierarchy in codec.hierarchies.values()),
    )


def _costs(policy: Policy, codec: Codec) -> tuple[Floats, ...]:
    every = []
    for name, hierarchy in codec.hierarchies.items():
        costs = stated_costs(name, hierarchy, policy.attributes[name].distances or {})
        if hierarchy.null is not None and policy.privacy.nulls == "as_root":
            costs[-1] = 1.0
        every.append(costs)
    return tuple(every)


def stated_costs(name: str, hierarchy: Hierarchy, distances: Mapping[Any, float]) -> Floats:
    """Return what publishing each node loses: as stated, else by the values it covers.

    A label that is not listed loses at most what the nearest listed one above it loses, and at
    least what a listed one below it does, so that a child never loses more than its parent.

    Raises
    ------
    InvalidPolicy
        If a label is unknown, or loses more than one above it.

    Examples
    --------
    >>> from shoal.anonymize.hierarchies import hierarchy_from_tree
    >>> tree = hierarchy_from_tree({"*": {"EU": ["DE", "FR"], "other": ["US", "JP"]}}, "", True)
    >>> stated_costs("country", tree, {"EU": 0.1}).round(2).tolist()
    [1.0, 0.1, 0.0, 0.0, 0.33, 0.0, 0.0]
    """
    costs, nodes = hierarchy.costs(), hierarchy.taxonomy.nodes
    stated = {value_to_text(label): float(far) for label, far in distances.items()}
    unknown = len(stated.keys() - {node.label for node in nodes})
    if unknown:
        raise InvalidPolicy(
            f"attributes.{name}.distances names {quantity(unknown, 'label')} that its hierarchy "
            "does not have.",
            "Use the labels of the hierarchy, as they would be published.",
        )
    for place, node in enumerate(nodes):
        costs[place] = stated.get(node.label, costs[place])
    for place in range(len(nodes) - 1, 0, -1):  # a listed child lifts an unlisted parent
        parent = nodes[place].parent
        if nodes[parent].label not in stated and nodes[place].label in stated:
            costs[parent] = max(costs[parent], costs[place])
            stated[nodes[parent].label] = float(costs[parent])
    for place in range(1, len(nodes)):
        above = costs[nodes[place].parent]
        if nodes[place].label in stated and costs[place] > above:
            raise InvalidPolicy(
                f"attributes.{name}.distances gives a label more than the one above it.",
                "What a label loses must not grow on the way down.",
            )
        costs[place] = min(costs[place], above)
    return costs


def _starting_cut(policy: Policy, codec: Codec) -> Cut | None:
    limits = {name: policy.attributes[name].max_level for name in codec.hierarchies}
    if all(level is None for level in limits.values()):
        return None
    for name, level in limits.items():
        top = len(codec.hierarchies[name].levels) - 1
        if level is not None and level > top:
            raise InvalidPolicy(
                f"attributes.{name}.max_level is {level}; its hierarchy has levels 0 to {top}.",
                "Leave it out to allow full generalisation.",
            )
    nodes = [
        (0,) if level is None else codec.hierarchies[name].level_nodes(level)
        for name, level in limits.items()
    ]
    return Cut(tuple(nodes))
