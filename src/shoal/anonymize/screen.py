"""Is the table what the policy says? Columns, people, and columns that look identifying."""

import re
from collections.abc import Sequence

import numpy as np

from shoal.anonymize.classes import classes_of
from shoal.anonymize.identifiers import keys_of
from shoal.anonymize.policy import Policy
from shoal.anonymize.policy_check import nearest
from shoal.anonymize.problem import Problem
from shoal.anonymize.table import OWNER, AnyTable
from shoal.data.source import listed
from shoal.errors import (
    EntityMissing,
    EntityRequired,
    InvalidPolicy,
    LinkedRows,
    LooksIdentifying,
    UnknownColumn,
    UnlistedColumn,
)

__all__ = ["check_columns", "check_countable", "check_people", "check_tokens"]

_WORDS = 4  # so many in most cells make free text
_MOMENT = "^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}"


def check_columns(policy: Policy, table: AnyTable, counted: Sequence[str]) -> None:
    """Every column has a role and exists, keys are there, and nothing published looks identifying.

    The keys come first: without them no row is read. Columns that are ``counted`` hold plain
    values.
    """
    roles = list(policy.attributes)
    absent = [name for name in roles if name not in table.names]
    if absent:
        left = [name for name in table.names if name not in roles]
        raise UnknownColumn(
            f"{listed(absent)} of the policy's {len(roles)} columns are not in the table.",
            f"Check the spelling{nearest(absent[0], left)}" if left else "Take them out.",
        )
    unlisted = [name for name in table.names if name not in roles]
    if unlisted:
        raise UnlistedColumn(
            f"{listed(unlisted)} of the table's {len(table.names)} columns have no role.",
            "Give each one under `attributes`: identifier, quasi, sensitive or other.",
        )
    keys_of(policy)
    check_countable(table, counted)
    _check_others(policy, table)


def check_countable(table: AnyTable, columns: Sequence[str]) -> None:
    """Refuse to count rows by lists or structures, which no hierarchy or order tells apart."""
    nested = table.nested(list(dict.fromkeys(columns)))
    if nested:
        raise InvalidPolicy(
            f"{listed(nested)} of the columns to be counted by their values hold lists or "
            "structures.",
            "Take a part of each as a column of its own, or give it the role `other`.",
        )


def check_people(policy: Policy, table: AnyTable) -> bool:
    """Whether people have to be told apart: some have several rows. Nobody's rows are refused."""
    entity = policy.privacy.entity
    for name in keys_of(policy):
        if name != entity and _repeats(table, name):
            raise EntityRequired(
                f"Pseudonyms of {name!r} stand on several rows of a person, but rows are counted "
                "as people.",
                f"Say `entity: {name}` under `privacy`, or drop the column.",
            )
    if entity is None:
        return False
    rows, known, people = _people(table, entity)
    if known < rows:
        raise EntityMissing(
            f"{rows - known} of {rows} rows have nothing in {entity!r}, so they belong to nobody.",
            "Fill in whose they are, or remove them.",
        )
    return people < rows


def check_tokens(policy: Policy, problem: Problem) -> None:
    """A pseudonym must not tie together rows that differ in what is published of them."""
    entity = policy.privacy.entity
    if entity not in keys_of(policy) or problem.entities is None:
        return
    people = np.unique(problem.entities, return_inverse=True)[1]
    pairs = classes_of(np.column_stack([problem.codes, people]).astype(np.int32)).size
    several = pairs - int(people.max(initial=-1)) - 1
    if several:
        raise LinkedRows(
            f"Pseudonyms of {entity!r} would tie together rows with different quasi-identifiers "
            f"({several} combinations too many): each is shared by k people, the set by nobody.",
            f"Drop the column (`action: drop`); `entity: {entity}` still counts people.",
        )


def _repeats(table: AnyTable, name: str) -> bool:
    _, known, people = _people(table, name)
    return people < known


def _people(table: AnyTable, name: str) -> tuple[int, int, int]:
    sql = f"SELECT count(*), count({OWNER}), count(DISTINCT {OWNER}) FROM rows"
    rows, known, people = (column[0].as_py() for column in table.query(sql, [], name).columns)
    return rows, known, people


def _check_others(policy: Policy, table: AnyTable) -> None:
    names = [name for name in policy.names("other") if not policy.attributes[name].force]
    if not names:
        return
    parts = [part for i in range(len(names)) for part in _suspicions(i, policy.input.null_values)]
    found = [
        c[0].as_py() for c in table.query(f"SELECT {', '.join(parts)} FROM rows", names).columns
    ]
    entity = policy.privacy.entity
    looks = [f"{entity!r} (it says whose a row is)"] if entity in names else []
    for name, (known, different, wordy, moments) in zip(
        names, zip(*[iter(found)] * 4, strict=True), strict=True
    ):
        for many, what in ((different, "mostly unique"), (wordy, "free text"), (moments, "times")):
            if known and many > known / 2:
                looks.append(f"{name!r} ({what})")
                break
    if looks:
        raise LooksIdentifying(
            f"Published as they are, {', '.join(looks)} may tell people apart.",
            "Make them quasi or identifier, or say `force: true` if that is no danger.",
        )


def _suspicions(i: int, null_values: Sequence[str]) -> list[str]:
    # In words that DuckDB and Spark both understand.
    nothing = ", ".join(map(_literal, null_values)) or "NULL"
    text = f"trim(CAST(c{i} AS STRING))"
    cell = f"(CASE WHEN {text} IN ({nothing}) THEN NULL ELSE {text} END)"
    blanks = f"length({cell}) - length(replace({cell}, ' ', ''))"
    return [
        f"count({cell})",
        f"count(DISTINCT {cell})",
        f"count(*) FILTER (WHERE {blanks} >= {_WORDS - 1})",
        f"count(*) FILTER (WHERE regexp_replace({cell}, '{_MOMENT}', '') <> {cell})",
    ]


def _literal(text: str) -> str:
    r"""Text as SQL, without the quotes and backslashes that DuckDB and Spark read differently.

    Examples
    --------
    >>> _literal(r"\N"), _literal("NA"), _literal("")
    ("concat(chr(92), 'N')", "concat('NA')", "''")
    """
    parts = [part for part in re.split(r"([\\'])", text) if part]
    said = [f"chr({ord(part)})" if part in "\\'" else f"'{part}'" for part in parts]
    return f"concat({', '.join(said)})" if said else "''"
