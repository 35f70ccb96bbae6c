"""What verbs that read rows are given: a table, its public domain, columns, a budget."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.cli.output import Progress
from shoal.errors import InvalidBudget, InvalidDomain, InvalidSetting, UnknownBounds
from shoal.scratch import nameless_file

if TYPE_CHECKING:
    from shoal.domain import Box, Schema

__all__ = [
    "box_of",
    "budget_of",
    "chosen_columns",
    "is_uri",
    "schema_of",
    "show_row_count",
    "split_commas",
    "table_file",
]


@contextmanager
def table_file(table: str) -> Iterator[str]:
    """The table's path; standard input is kept in a file without a name, gone with the process."""
    if table != "-":
        yield table
        return
    with nameless_file("stdin.csv") as (path, file):
        while part := sys.stdin.buffer.read(1 << 20):
            file.write(part)
        file.flush()
        yield str(path)


def is_uri(path: str) -> bool:
    """Whether a path names its file system: a cluster takes it as it is, whatever the folder.

    Examples
    --------
    >>> is_uri("hdfs://names/visits.csv"), is_uri("file:/visits.csv"), is_uri("/visits.csv")
    (True, True, False)
    """
    return "://" in path or path.startswith("file:")


def budget_of(epsilon: str | None, of: str) -> str:
    """The budget as it was given; there is no default."""
    if epsilon is None:
        raise InvalidBudget(
            "No epsilon came.",
            f"Name the budget of one {of}, e.g. --epsilon 1; it is yours to choose and defend.",
            setting="--epsilon",
        )
    return epsilon


def schema_of(domain: Path | None) -> "Schema":
    """What is public about the table."""
    from shoal.domain import Schema

    if domain is None:
        raise UnknownBounds(
            "No public bounds came.",
            "Write what each column may be to a file and give it with --domain, e.g. "
            "`version: 1` and `columns: {age: {low: 0, high: 110}}`. Bounds read from the rows "
            "would not be private.",
            setting="--domain",
        )
    return Schema.load(domain)


def box_of(schema: "Schema", columns: str | None, domain: Path | None) -> "Box":
    """The public bounds of the columns to cluster.

    A domain with categories is not narrowed to its numbers unasked: whoever wrote it would believe
    that every column of it was used.
    """
    names = chosen_columns(columns, schema.columns, domain)
    if categories := [name for name in names if name in schema.categories]:
        raise _categories_error(categories, schema)
    if schema.geo and {*names} != {*schema.geo}:
        raise InvalidDomain(
            "--columns names a part of a map, which would be clustered in degrees.",
            f"Take both, --columns {','.join(schema.geo)}, or leave it out.",
            setting="--columns",
        )
    return schema.box if schema.geo else schema.box.select(names)


def _categories_error(categories: list[str], schema: "Schema") -> InvalidSetting:
    hold = "holds" if len(categories) == 1 else "hold"
    message = (
        f"{', '.join(map(repr, categories))} {hold} categories; groups are found among numbers, "
        "and no column is left out unasked."
    )
    if not schema.bounds:
        return InvalidSetting(
            message, "Give a numeric column low and high, e.g. `age: {low: 0, high: 110}`."
        )
    return InvalidSetting(
        message,
        f"Choose the numeric ones on purpose, --columns {','.join(schema.numbers)}; or give a "
        "domain file without categories.",
    )


def chosen_columns(
    columns: str | None, known: tuple[str, ...], domain: Path | None
) -> tuple[str, ...]:
    """The columns asked for, each of which the domain must describe; or all it does."""
    names = split_commas(columns) if columns else known
    unknown = [repr(name) for name in names if name not in known]
    if unknown:
        raise UnknownBounds(
            f"{', '.join(unknown)} of {len(names)} columns are not in {domain}.",
            f"It describes {', '.join(known)}; add public bounds or values for others.",
            setting="--columns",
        )
    return tuple(dict.fromkeys(names))


def split_commas(text: str) -> tuple[str, ...]:
    """What commas separate."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def show_row_count(progress: Progress) -> Callable[[int], None]:
    """For ``rows.on_progress``: the rows read so far, beside the step under way."""

    def show(read: int) -> None:
        if progress.bar is not None:
            text = progress.bar.tasks[0].description.split(":")[0]
            progress.bar.update(progress.task, description=f"{text}: {read:,}")

    return show
