"""Recount k, l and t of a table from the table itself, independently of any search.

The counts are SQL queries: on the rows, or on combinations that a cluster counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.anonymize._diversity import measure_closeness, measure_diversity
from shoal.anonymize._policy import AnyPolicy, Policy, policy_of
from shoal.anonymize.codec import (
    Codec,
    SensitiveValues,
    find_distinct,
    number_values,
    published_names,
)
from shoal.anonymize.equivalence_classes import number_classes
from shoal.anonymize.risk._model_recount import broken_models, measure_models
from shoal.anonymize.table import AnyTable, QueriedTable, TableWithOwners, sizes_sql, table_of
from shoal.arrays import Integers
from shoal.data.column_names import missing_columns_error
from shoal.engine.duckdb import COUNTED, OWNER, plain_names, query_stream
from shoal.errors import NotKAnonymous, quantity

_SUMMED = "CAST(sum(n) AS BIGINT) AS n FROM rows"

_ROUNDING = 1e-9  # ln 3 of three equal shares, or a distance of 0.3, is off by rounding
_CHUNK_CELLS = 2**22  # counts held at a time


class Queryable(Protocol):
    """The interface of a table that answers SQL queries about its rows."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""

    def query(self, sql: str, columns: Sequence[str], owner: str | None = None) -> pa.Table:
        """Return the result of a query on ``rows``, whose columns are c0, c1, ... and ``owner``."""


class CombinationCounts:
    """Distinct combinations and their numbers of rows, queried like the rows they stand for.

    Parameters
    ----------
    counted
        Columns c0, c1, ..., perhaps ``owner``, and ``n``.
    columns
        The names of c0, c1, ...

    Examples
    --------
    >>> table = CombinationCounts(pa.table({"c0": ["M", "F"], "n": [2, 1]}), ["sex"])
    >>> table.query(f"SELECT {COUNTED}", ["sex"]).to_pydict()
    {'n': [3]}
    """

    def __init__(self, counted: pa.Table, columns: Sequence[str]) -> None:
        self._counted = counted
        self._at = {name: f"c{i}" for i, name in enumerate(columns)}
        self.names = tuple(columns)

    def query(self, sql: str, columns: Sequence[str], owner: str | None = None) -> pa.Table:
        """Return the result of a query on the rows behind the combinations.

        Parameters
        ----------
        columns
            The columns that become c0, c1, ...
        """
        needed = [*(self._at[name] for name in columns), *([OWNER] if owner else []), "n"]
        rows = self._counted.select(needed).rename_columns([*plain_names(columns, owner), "n"])
        return query_stream(sql.replace(COUNTED, _SUMMED), rows.schema, rows.to_batches())


def cache_columns(table: AnyTable, columns: Sequence[str], owner: str | None) -> Queryable:
    """Return a table that answers several queries about these columns; on a cluster, in one pass.

    If they have too many combinations for the driver, each query is another job.
    """
    counted = table.collected(columns, owner)
    return table if counted is None else CombinationCounts(counted, columns)


@dataclass(frozen=True, eq=False)
class AchievedPrivacy:
    """The k, l and t that a table reaches.

    Parameters
    ----------
    k
        People, or rows, in the smallest class; 0 for a table without rows.
    classes
        How many classes there are.
    rows
        How many rows there are.
    l
        For each sensitive column with an l rule the least l of a class.
    t
        For each sensitive column with a t rule the greatest distance of a class.
    by_person
        Whether people were counted; if not, each row was taken for a person of its own.
    share
        For each sensitive column the greatest share of a class that has one value in common.
    sizes
        (sizes, 2): how many people a class may have, ascending, and how many classes have them.
    models
        What is reached of each further model of the policy: the least people of the population
        (``k_map``), the greatest and least ``presence``, ``average_risk`` and ``uniqueness``.
    """

    k: int
    classes: int
    rows: int
    by_person: bool = False
    l: dict[str, float] = field(default_factory=dict)  # noqa: E741 - the literature's name
    t: dict[str, float] = field(default_factory=dict)
    share: dict[str, float] = field(default_factory=dict)
    sizes: Integers = field(default_factory=lambda: np.zeros((0, 2), np.int64), repr=False)
    models: dict[str, float] = field(default_factory=dict, repr=False)

    def broken(self, policy: Policy) -> list[str]:
        """Return which promises of a policy the table breaks, as sentences.

        Parameters
        ----------
        policy
            The policy.
        """
        wrong = [] if self.k >= policy.privacy.k else [f"k is {self.k}, not {policy.privacy.k}"]
        for name, reached in self.l.items():
            rule = policy.attributes[name].l
            if rule is not None and reached < rule.value - _ROUNDING:
                wrong.append(f"l of {name!r} is {reached:.4g}, not {rule.value:g}")
        for name, far in self.t.items():
            close = policy.attributes[name].t
            if close is not None and far > close.value + _ROUNDING:
                wrong.append(f"t of {name!r} is {far:.4g}, above {close.value:g}")
        return [*wrong, *broken_models(policy, self.models)]


def recount(
    X: Any,
    policy: AnyPolicy,
    owners_path: Path | None = None,
    *,
    owner: str | None = None,
    by_row: bool = False,
    codec: Codec | None = None,
) -> AchievedPrivacy:
    """Compute the k, l and t that a published table reaches, by their definitions.

    Parameters
    ----------
    X
        The table: a path, a data frame, ...
    policy
        Which columns are quasi-identifiers, and which sensitive ones have rules.
    owners_path
        A Parquet file that says whose each row is, in the table's order. Without it people are
        told apart by the policy's ``person``, if the table has that column, else by row.
    owner
        The column that says whose each row is, if it is another one.
    by_row
        Take each row for a person of its own, whatever the policy says.
    codec
        The hierarchies of the release, for models about a population; built from the policy if
        not given, which cannot be done where the policy learns them from the rows.

    Examples
    --------
    >>> policy = Policy.of({"version": 1, "privacy": {"k": 2}, "attributes": {
    ...     "sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}}}})
    >>> recount({"sex": ["M", "F", "M"]}, policy)
    AchievedPrivacy(k=1, classes=2, rows=3, by_person=False, l={}, t={}, share={})
    """
    policy = policy_of(policy)
    table = table_of(X if owners_path is None else TableWithOwners(X, owners_path))
    labels = _label_columns(policy, table.names)
    if owner is None and not by_row:
        owner = _owner(policy, table.names, owners_path is not None)
    counted = cache_columns(table, [*labels, *policy.names("sensitive")], owner)
    achieved = _measure(policy, counted, labels, owner)
    models = measure_models(policy, counted, labels, owner, achieved.sizes, codec)
    return replace(achieved, models=models)


def refuse_broken(policy: Policy, achieved: AchievedPrivacy, *, rows: int, classes: int) -> None:
    """Raise unless a written table keeps its promises and has the announced rows."""
    wrong = achieved.broken(policy)
    if achieved.rows != rows:
        wrong.append(f"it has {quantity(achieved.rows, 'row')}, not {rows:,}")
    if achieved.classes > classes:
        wrong.append(f"it has {quantity(achieved.classes, 'class', 'classes')}, not {classes:,}")
    if wrong:
        raise NotKAnonymous(
            f"The table as written does not keep the promise: {'; '.join(wrong)}.",
            "The file was removed. Did the input change during the run? If not, please report "
            "this.",
        )


def _owner(policy: Policy, names: Sequence[str], beside: bool) -> str | None:
    """Return the column that says whose a row is, if there is one."""
    person = policy.privacy.person if policy.privacy.person in names else None
    return OWNER if beside else person


def _measure(
    policy: Policy, table: Queryable, labels: list[str], owner: str | None
) -> AchievedPrivacy:
    rules: dict[str, tuple[float | None, float | None]] = {
        name: _rules(policy, table, labels, name, owner)
        for name in policy.names("sensitive")
        if policy.attributes[name].l or policy.attributes[name].t
    }
    sizes, rows = count_class_sizes(table, labels, owner)
    return AchievedPrivacy(
        int(sizes[:, 0].min(initial=rows)),
        int(sizes[:, 1].sum()),
        rows,
        owner is not None,
        {name: reached for name, (reached, _) in rules.items() if reached is not None},
        {name: far for name, (_, far) in rules.items() if far is not None},
        {
            name: largest_value_share(table, labels, name, owner)
            for name in policy.names("sensitive")
        },
        sizes,
    )


def _label_columns(policy: Policy, names: Sequence[str]) -> list[str]:
    """Return the columns whose combinations are classes; before a release, the plain ones."""
    labels: list[str] = []
    for name in policy.names("quasi"):
        published = published_names(policy, name)
        labels += published if set(published) <= set(names) else [name]
    wanted = [*labels, *policy.names("sensitive")]
    if not {*wanted} <= {*names}:
        raise missing_columns_error(wanted, names, "of what the policy calls quasi or sensitive")
    return labels


def _rules(
    policy: Policy, table: Queryable, labels: list[str], name: str, owner: str | None
) -> tuple[float | None, float | None]:
    """Return the least l and the greatest distance over all classes."""
    columns = [*labels, name]
    cells = ", ".join(f"c{i}" for i in range(len(columns)))
    people = f"count(*) AS n FROM (SELECT DISTINCT {cells}, {OWNER} FROM rows)"
    counted = COUNTED if owner is None else people
    groups = table.query(f"SELECT {cells}, {counted} GROUP BY ALL", columns, owner)
    taken = find_distinct(groups[f"c{len(labels)}"], policy.input.null_values)
    values = number_values(policy, name, taken)
    number = taken.lookup(values.number_of(taken.values), -1)
    n = groups["n"].to_numpy().astype(np.int64)
    reference = (
        _reference(table, name, owner, policy, values)
        if owner
        else _counts(np.zeros(len(n), dtype=np.int64), number, n, 1, values.size)[0]
    )
    return _worst_class(values, _classes(groups, labels), number, n, reference)


def _classes(groups: pa.Table, labels: list[str]) -> tuple[Integers, int]:
    numbered = [find_distinct(groups[f"c{i}"], ()).at + 1 for i in range(len(labels))]
    ids, size = number_classes(np.stack(numbered, axis=1))
    return ids, size


def _reference(
    table: Queryable, name: str, owner: str, policy: Policy, values: SensitiveValues
) -> Integers:
    """Count the people of each value in the whole table."""
    sql = f"SELECT c0, count(*) AS n FROM (SELECT DISTINCT c0, {OWNER} FROM rows) GROUP BY ALL"
    groups = table.query(sql, [name], owner)
    taken = find_distinct(groups["c0"], policy.input.null_values)
    number = taken.lookup(values.number_of(taken.values), -1)
    zero = np.zeros(len(number), dtype=np.int64)
    counts: Integers = _counts(zero, number, groups["n"].to_numpy(), 1, values.size)[0]
    return counts


def _worst_class(
    values: SensitiveValues,
    classes: tuple[Integers, int],
    number: NDArray[np.int32],
    n: Integers,
    reference: Integers,
) -> tuple[float | None, float | None]:
    ids, size = classes
    order = np.argsort(ids, kind="stable")
    least, far = np.inf, 0.0
    step = max(_CHUNK_CELLS // (values.size + 1), 1)
    for low in range(0, size, step):
        begin, end = np.searchsorted(ids[order], [low, low + step])
        part = order[begin:end]
        counts = _counts(ids[part] - low, number[part], n[part], min(step, size - low), values.size)
        if values.l is not None:
            least = min(least, float(measure_diversity(values.l, counts).min()))
        if values.t is not None:
            far = max(
                far, float(measure_closeness(values.t, counts, reference, values.taxonomy).max())
            )
    return (None if values.l is None else least), (None if values.t is None else far)


def _counts(
    ids: Integers, number: NDArray[np.int32], n: Integers, classes: int, size: int
) -> Integers:
    """Count each value in each class, nulls in the last column: (classes, size + 1)."""
    cells = ids * (size + 1) + np.where(number < 0, size, number)
    counts = np.bincount(cells, n, minlength=classes * (size + 1))
    return counts.astype(np.int64).reshape(classes, size + 1)


def count_class_sizes(
    table: Queryable, labels: list[str], owner: str | None
) -> tuple[Integers, int]:
    """Count how many classes have how many people.

    Parameters
    ----------
    owner
        The column that tells people apart, or None to take each row for a person.

    Returns
    -------
    (sizes, 2): people of a class, ascending, and how many classes have them; and the rows.

    Examples
    --------
    >>> sizes, rows = count_class_sizes(QueriedTable({"sex": ["M", "F", "M"]}), ["sex"], None)
    >>> sizes.tolist(), rows
    ([[1, 1], [2, 1]], 3)
    """
    if isinstance(table, QueriedTable):
        sizes = table.sizes(labels, owner)
    else:
        sizes = table.query(sizes_sql(plain_names(labels, None), owner), labels, owner)
    people, classes, rows = (sizes[name].to_numpy() for name in ("people", "classes", "rows"))
    return np.stack([people, classes], axis=1).astype(np.int64), int(rows.sum())


def largest_value_share(table: Queryable, labels: list[str], name: str, owner: str | None) -> float:
    """Return the greatest share of a class whose members have one value in common.

    A missing value counts as one too, since knowing that someone has none reveals something.

    Examples
    --------
    >>> table = QueriedTable({"sex": ["M", "F", "M", "M"], "ill": ["yes", "no", "no", "no"]})
    >>> largest_value_share(table, ["sex"], "ill", None)
    1.0
    """
    cells, value = ", ".join(plain_names(labels, None)), f"c{len(labels)}"
    counted = (
        f"SELECT n, sum(n) OVER (PARTITION BY {cells}) AS people FROM "
        f"(SELECT {cells}, {value}, {COUNTED} GROUP BY ALL)"
    )
    if owner is not None:  # a person with two values counts for both
        counted = (
            f"SELECT count(*) OVER (PARTITION BY {cells}, {value}) AS n, "
            f"sum(CASE WHEN nth = 1 THEN 1 ELSE 0 END) OVER (PARTITION BY {cells}) AS people FROM "
            f"(SELECT *, row_number() OVER (PARTITION BY {cells}, {OWNER} ORDER BY {value}) AS nth "
            f"FROM (SELECT DISTINCT {cells}, {value}, {OWNER} FROM rows))"
        )
    sql = f"SELECT coalesce(max(n / people), 0.0) FROM ({counted})"
    return float(table.query(sql, [*labels, name], owner).column(0)[0].as_py())
