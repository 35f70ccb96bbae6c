"""Check that a table fits its policy: columns, people, and columns that look identifying."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from shoal.anonymize._policy import Policy
from shoal.anonymize.equivalence_classes import number_classes
from shoal.anonymize.release._pseudonyms import keys_of
from shoal.anonymize.search_problem import Problem
from shoal.anonymize.table import AnyTable
from shoal.data.column_names import (
    check_header,
    column_positions,
    join_names,
    missing_columns_error,
    missing_header_error,
)
from shoal.engine.duckdb import OWNER
from shoal.errors import InvalidPolicy, LooksIdentifying, PersonMissing, quantity

_FREE_TEXT_WORDS = 4  # as many words in most cells make free text
_COLUMNS_IN_A_QUERY = 20  # see _figures_of_columns
_RARE = 0.1  # largest share of rows that a column published as it is may identify
_MOMENT = "^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}"


def check_columns(policy: Policy, table: AnyTable, counted: Sequence[str]) -> None:
    """Check that every column has a role and exists, and that nothing published looks identifying.

    Keys of pseudonyms are checked first, before any row is read.
    """
    roles = list(policy.attributes)
    if not {*roles} <= {*table.names}:
        raise missing_columns_error(roles, table.names, f"of the policy's {len(roles)} columns")
    unlisted = [name for name in table.names if name not in roles]
    if unlisted:
        raise InvalidPolicy(
            f"Of the table's {len(table.names)} columns {len(unlisted)} have no role: "
            f"{column_positions(unlisted, table.names)}.",
            "Give each a role under `attributes`: identifier, quasi, sensitive or other. Names "
            "are not shown here: without a header line they would be a person's values.",
            reason="unlisted column",
        )
    keys_of(policy)
    _check_countable(table, counted)
    _check_others(policy, table)


def check_names(table: AnyTable, what: str) -> None:
    """Refuse column names that may be a person's values, before any is shown.

    They must look like names, and none may occur in its own column among other values, as `F` does
    in a table without a header. A column that holds only its name or nothing is a checkbox.
    """
    check_header(table.names, what)
    for name, (same, ticked) in _figures_of_columns(table, table.names, _recurrence):
        if same and not ticked:
            at = column_positions([name], table.names)
            raise missing_header_error(
                what, f"{at} of {len(table.names)} is also a value further down"
            )


def _check_countable(table: AnyTable, columns: Sequence[str]) -> None:
    """Refuse to count rows by lists or structures, which have no hierarchy and no order."""
    nested = table.nested(list(dict.fromkeys(columns)))
    if nested:
        raise InvalidPolicy(
            f"{join_names(nested)} of the columns to be counted by their values hold lists or "
            "structures.",
            "Take a part of each as a column of its own, or give it the role `other`.",
        )


def check_people(policy: Policy, table: AnyTable) -> bool:
    """Return whether some people have several rows; rows without a person are refused."""
    person = policy.privacy.person
    for name in keys_of(policy):
        if name != person and _repeats(table, name):
            raise InvalidPolicy(
                f"The pseudonyms of {name!r} repeat on several rows of a person, but rows are "
                "counted as people.",
                f"Set `person: {name}` under `privacy`, or drop the column.",
                reason="person required",
            )
    if person is None:
        return False
    rows, known, people = _people(table, person)
    if known < rows:
        raise PersonMissing(
            f"{rows - known} of {rows} rows have no value in {person!r}, so they belong to nobody.",
            "Fill in whose they are, or remove them.",
        )
    return people < rows


def check_tokens(policy: Policy, problem: Problem) -> None:
    """Refuse pseudonyms that link rows which differ in what is published of them."""
    person = policy.privacy.person
    if person not in keys_of(policy) or problem.people is None:
        return
    people = np.unique(problem.people, return_inverse=True)[1]
    pairs = number_classes(np.column_stack([problem.codes, people]).astype(np.int32)).size
    several = pairs - int(people.max(initial=-1)) - 1
    if several:
        raise InvalidPolicy(
            f"Pseudonyms of {person!r} would tie together rows with different quasi-identifiers "
            f"({quantity(several, 'combination')} too many): each is shared by k people, the set "
            "by nobody.",
            f"Drop the column (`action: drop`); `person: {person}` still counts people.",
            reason="linked rows",
        )


def _repeats(table: AnyTable, name: str) -> bool:
    _, known, people = _people(table, name)
    return people < known


def _people(table: AnyTable, name: str) -> tuple[int, int, int]:
    sql = f"SELECT count(*), count({OWNER}), count(DISTINCT {OWNER}) FROM rows"
    rows, known, people = (column[0].as_py() for column in table.query(sql, [], name).columns)
    return rows, known, people


def _check_others(policy: Policy, table: AnyTable) -> None:
    names = _unguarded_columns(policy)
    if not names:
        return
    person = policy.privacy.person
    suspects = [f"{person!r} (it says whose a row is)"] if person in names else []
    suspicions = partial(_suspicion_sql, null_values=policy.input.null_values)
    for name, (known, different, wordy, moments) in _figures_of_columns(table, names, suspicions):
        for many, what in ((different, "mostly unique"), (wordy, "free text"), (moments, "times")):
            if known and many > known / 2:
                suspects.append(f"{name!r} ({what})")
                break
    if suspects:
        raise LooksIdentifying(
            f"Published as they are, {', '.join(suspects)} may tell people apart.",
            "Make them quasi or identifier, or set `force: true` if that is no risk.",
        )


def find_identifying_columns(policy: Policy, table: AnyTable) -> dict[str, float]:
    """Return published columns that identify people, with the share of rows they identify.

    A row counts if fewer than k people share its value: whoever knows that value has fewer than k
    rows to look through, whatever the quasi-identifiers are. Up to one row in ten is accepted. The
    answer depends on the rows, so it is for their holder only.

    Examples
    --------
    >>> from shoal.anonymize.table import QueriedTable
    >>> policy = Policy.of({"version": 1, "privacy": {"k": 3}, "attributes": {
    ...     "sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}},
    ...     "case": {"role": "other"}}})
    >>> table = QueriedTable({"sex": ["F", "M"] * 4, "case": [1, 1, 2, 2, 3, 3, 4, 4]})
    >>> find_identifying_columns(policy, table)
    {'case': 1.0}
    """
    names = _unguarded_columns(policy)
    shares = {name: _share_of_rare_rows(policy, table, name) for name in names}
    return {name: share for name, share in shares.items() if share > _RARE}


def _unguarded_columns(policy: Policy) -> list[str]:
    """Return published columns that nobody vouched for and whose rare values stay."""
    k, person = policy.privacy.k, policy.privacy.person

    def hides_rare(name: str) -> bool:  # rare values are counted in rows, and not in people
        spec = policy.attributes[name].transform
        return person is None and spec is not None and spec.rare is not None and spec.rare >= k

    columns = policy.names("other")
    return [n for n in columns if not policy.attributes[n].force and not hides_rare(n)]


def _share_of_rare_rows(policy: Policy, table: AnyTable, name: str) -> float:
    person = policy.privacy.person
    people = "count(*)" if person is None else f"count(DISTINCT {OWNER})"
    cell = _cell(0, policy.input.null_values)
    values = f"SELECT {cell} AS value, count(*) AS n, {people} AS people FROM rows GROUP BY {cell}"
    few = f"sum(CASE WHEN people < {policy.privacy.k} THEN n ELSE 0 END)"
    sql = f"SELECT sum(n), {few} FROM ({values}) WHERE value IS NOT NULL"
    known, rare = (column[0].as_py() for column in table.query(sql, [name], person).columns)
    return float(rare) / float(known) if known else 0.0


def _figures_of_columns(
    table: AnyTable, names: Sequence[str], expressions: Callable[[int, str], list[str]]
) -> Iterator[tuple[str, list[Any]]]:
    """Yield each column with the values of its SQL expressions, queried 20 columns at a time.

    What DuckDB allocates for more columns grows with their square, and counts of the distinct
    values of 64 no longer fit in its memory limit.
    """
    for start in range(0, len(names), _COLUMNS_IN_A_QUERY):
        some = names[start : start + _COLUMNS_IN_A_QUERY]
        parts = [expressions(i, name) for i, name in enumerate(some)]
        counted = table.query(f"SELECT {', '.join(chain(*parts))} FROM rows", some)
        figures = iter([column[0].as_py() for column in counted.columns])
        yield from (
            (name, list(islice(figures, len(own)))) for name, own in zip(some, parts, strict=True)
        )


def _suspicion_sql(i: int, _: str, null_values: Sequence[str]) -> list[str]:
    cell = _cell(i, null_values)
    blanks = f"length({cell}) - length(replace({cell}, ' ', ''))"
    return [
        f"count({cell})",
        f"count(DISTINCT {cell})",
        _count_where(f"{blanks} >= {_FREE_TEXT_WORDS - 1}"),
        _count_where(f"regexp_replace({cell}, '{_MOMENT}', '') <> {cell}"),
    ]


def _cell(i: int, null_values: Sequence[str]) -> str:
    # In words that DuckDB and Spark both understand.
    nothing = ", ".join(map(_literal, null_values)) or "NULL"
    text = f"trim(CAST(c{i} AS STRING))"
    return f"(CASE WHEN {text} IN ({nothing}) THEN NULL ELSE {text} END)"


def _recurrence(i: int, name: str) -> list[str]:
    """Return SQL that counts cells equal to the column's name, and tests all others."""
    text, called = f"trim(CAST(c{i} AS STRING))", _literal(name.strip())
    same, other = f"{text} = {called}", f"{text} <> {called} AND {text} <> ''"
    filled = _count_where(f"{text} <> ''")
    return [_count_where(same), f"{_count_where(other)} = 0 AND {filled} < count(*)"]


def _count_where(condition: str) -> str:
    """Return SQL that counts the rows for which a condition is true.

    Without FILTER, for each of which DuckDB allocates a block of all the query's columns, outside
    its memory limit: 2.6 GB in a query of 600 columns.
    """
    return f"count(CASE WHEN {condition} THEN 1 END)"


def _literal(text: str) -> str:
    r"""Return text as SQL, without quotes and backslashes, which DuckDB and Spark read differently.

    Examples
    --------
    >>> _literal(r"\N"), _literal("NA"), _literal("")
    ("concat(chr(92), 'N')", "concat('NA')", "''")
    """
    parts = [part for part in re.split(r"([\\'])", text) if part]
    pieces = [f"chr({ord(part)})" if part in "\\'" else f"'{part}'" for part in parts]
    return f"concat({', '.join(pieces)})" if pieces else "''"
