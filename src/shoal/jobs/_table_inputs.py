"""Read what verbs on rows are given: a table, its public domain, columns and a budget."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import (
    InvalidBudget,
    InvalidDomain,
    InvalidSetting,
    UnknownBounds,
    quantity,
    sentence,
    setting,
)
from shoal.files import nameless_file

if TYPE_CHECKING:
    from shoal.data.number_style import NumberStyle
    from shoal.domain import Box, Schema


@contextmanager
def table_file(table: str, numbers: "NumberStyle | None" = None) -> Iterator[str]:
    """Yield the table's path; standard input is stored in a nameless file, gone with the process.

    Parameters
    ----------
    table
        The table as it was named.
    numbers
        How its numbers are written; if given, a nameless file with plain numbers is yielded.
    """
    if numbers is not None:
        with table_file(table) as written, _plain_file(written, numbers) as plain:
            yield plain
        return
    if table != "-":
        yield table
        return
    with nameless_file("stdin.csv") as (path, file):
        while part := sys.stdin.buffer.read(1 << 20):
            file.write(part)
        file.flush()
        yield str(path)


@contextmanager
def _plain_file(path: str, numbers: "NumberStyle") -> Iterator[str]:
    from shoal.data import source_of
    from shoal.data.files import CSVSource
    from shoal.data.number_style import write_plain_table

    source = source_of(path)
    if not isinstance(source, CSVSource):
        raise InvalidSetting(
            sentence(
                "{numbers} is for CSV files: other tables say themselves which columns are numbers."
            ),
            "Leave it out, or convert the columns where the table is made.",
            setting="numbers",
        )
    with nameless_file("plain.csv") as (plain, file):
        write_plain_table(source, file, numbers)
        file.flush()
        yield str(plain)


def is_uri(path: str) -> bool:
    """Return whether a path names its file system, so that a cluster takes it as it is.

    Parameters
    ----------
    path
        The path.

    Examples
    --------
    >>> is_uri("hdfs://names/visits.csv"), is_uri("file:/visits.csv"), is_uri("/visits.csv")
    (True, True, False)
    """
    return "://" in path or path.startswith("file:")


def budget_of(epsilon: str | None, of: str) -> str:
    """Return the budget as it was written; there is no default.

    Parameters
    ----------
    epsilon
        The option, or None.
    of
        What it is the budget of, for the error.
    """
    if epsilon is None:
        raise InvalidBudget(
            sentence("{epsilon} is missing."),
            sentence(
                f"Give the budget of one {of}, e.g. {{epsilon:1}}; the choice is yours to defend."
            ),
            setting="epsilon",
        )
    return epsilon


def schema_of(domain: Path | None) -> "Schema":
    """Read what is public about the table.

    Parameters
    ----------
    domain
        The file of public bounds, or None.
    """
    from shoal.domain import Schema

    if domain is None:
        raise UnknownBounds(
            sentence("{domain}, the public bounds, is missing."),
            sentence(
                "`shoal init TABLE` drafts the file. Or write the bounds of each column to one, "
                "e.g. `version: 1` and `columns: {{age: {{low: 0, high: 110}}}}`, and pass it with "
                "{domain}. Bounds read from the rows would not be private."
            ),
            setting="domain",
        )
    return Schema.load(domain)


def box_of(schema: "Schema", columns: str | None, domain: Path | None) -> "Box":
    """Return the public bounds of the columns to cluster.

    A domain with categories is not silently narrowed to its numbers, since its author would believe
    that every column was used.

    Parameters
    ----------
    schema
        What is public about the table.
    columns
        The columns asked for, or None.
    domain
        The file of public bounds, for errors.
    """
    names = chosen_columns(columns, schema.columns, domain)
    if categories := [name for name in names if name in schema.categories]:
        raise _categories_error(categories, schema)
    if describing := [name for name in names if schema.weights[name] == 0]:
        raise InvalidSetting(
            f"{', '.join(map(repr, describing))} only describe groups (`use: describe`), and this "
            "method forms groups by every column.",
            sentence("Leave them out with {columns}, or use {method:kmeans}."),
            setting="columns",
        )
    if schema.geo and {*names} != {*schema.geo}:
        raise InvalidDomain(
            sentence(
                "{columns} names only one of latitude and longitude, which would be clustered in "
                "degrees."
            ),
            "Use both, " + setting("columns", ",".join(schema.geo)) + ", or leave it out.",
            setting="columns",
        )
    return schema.box if schema.geo else schema.box.select(names)


def labelled_domain(domain: Any, schema: "Schema") -> Any:
    """Return the domain of an estimator with the labels, units and marks of the file."""
    from shoal.domain import Schema

    if not (schema.labels or schema.units or schema.whole):
        return domain
    own = domain if isinstance(domain, Schema) else Schema.of_box(domain)
    return own.with_texts(schema.labels, schema.units, schema.whole)


def mixed_schema_of(
    schema: "Schema", columns: str | None, domain: Path | None, method: str
) -> "Schema | None":
    """Return the schema of the columns to cluster if some are not plain numbers, else None."""
    names = chosen_columns(columns, schema.columns, domain)
    is_mixed = any(n in schema.categories or schema.weights[n] == 0 for n in names)
    if method not in ("kmeans", "prototypes") or not is_mixed:
        return None
    return schema.select(names)


def _categories_error(categories: list[str], schema: "Schema") -> InvalidSetting:
    hold = "holds" if len(categories) == 1 else "hold"
    message = (
        f"{', '.join(map(repr, categories))} {hold} categories; groups are found among numbers, "
        "and no column is left out unless you say so."
    )
    if not schema.bounds:
        return InvalidSetting(
            message, "Give a numeric column low and high, e.g. `age: {low: 0, high: 110}`."
        )
    return InvalidSetting(
        message,
        "Choose the numeric columns with "
        + setting("columns", ",".join(schema.numbers))
        + "; or give a domain file without categories.",
    )


def chosen_columns(
    columns: str | None, known: tuple[str, ...], domain: Path | None
) -> tuple[str, ...]:
    """Return the columns asked for, which the domain must describe; or all of the domain."""
    names = split_commas(columns) if columns else known
    unknown = [repr(name) for name in names if name not in known]
    if unknown:
        raise UnknownBounds(
            f"{', '.join(unknown)} of {quantity(len(names), 'column')} "
            f"{'is' if len(unknown) == 1 else 'are'} not in {domain}.",
            f"It describes {', '.join(known)}; add public bounds or values for others.",
            setting="columns",
        )
    return tuple(dict.fromkeys(names))


def split_commas(text: str) -> tuple[str, ...]:
    """Split text at commas.

    Parameters
    ----------
    text
        The text.
    """
    return tuple(word.strip() for word in text.split(",") if word.strip())
