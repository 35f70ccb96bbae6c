"""Turn any table into ``Rows``, and choose the engine that fits it."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, TypeVar

from shoal.data import source_of
from shoal.data.source import find_columns
from shoal.domain import Box, Schema
from shoal.engine._rows import Rows, Terms
from shoal.engine.local import LocalRows
from shoal.engine.row_screening import Screen
from shoal.errors import InvalidDomain, InvalidSetting, setting, value_text

if TYPE_CHECKING:
    from shoal.engine.spark._table import SparkTable


T = TypeVar("T")
_FAR = 1e300  # beyond any number that occurs, while differences do not overflow


def rows_of(
    X: Any,
    domain: Box | Schema,
    *,
    outside: Literal["clip", "drop", "refuse"] = "clip",
    nonfinite: Literal["refuse", "drop"] = "refuse",
    person: str | None = None,
    max_rows_per_person: int | None = None,
    selection_key: str | None = None,
) -> Rows:
    """Return any kind of table as ``Rows``; no row is read yet.

    Parameters
    ----------
    X
        Anything `shoal.data.source_of` takes: arrays, frames, Arrow and DuckDB tables, paths of
        files; or a Spark frame, whose rows stay where they are. Named columns are picked by name;
        those of an array are the domain's, in order. `Rows` pass through.
    domain
        A box, or a schema if there are categories.
    outside
        Rows beyond the box are moved to it (``"clip"``), left out (``"drop"``) or refused.
    nonfinite
        Rows with a missing, NaN or infinite number are refused or left out (``"drop"``).
    person
        The column that identifies people; it may also stand in the schema.
    max_rows_per_person
        How many rows a person keeps, chosen without the rows: those with the smallest keyed hash,
        whatever their place in the table.
    selection_key
        The key of that hash, where the same rows must be picked again; not on Spark. Left out,
        drawn by the operating system.

    Examples
    --------
    >>> from shoal.domain import Grid
    >>> box = Box(age=(0, 110))
    >>> rows = rows_of({"age": [31, 47, 200], "name": ["a", "b", "c"]}, box)
    >>> rows.count(Grid(box, 2)).tolist()
    [2, 1]
    """
    if not isinstance(domain, Box | Schema):
        raise InvalidDomain(
            setting("domain") + f" must be a Box or a Schema; got {value_text(domain)}.",
            "State public bounds, e.g. Box(age=(0, 110)).",
        )
    if hasattr(type(X), "__shoal_table__"):  # a table that knows where its rows are
        X = X.__shoal_table__()
    # Checked first: bad terms are refused for every kind of table alike.
    terms = _terms(domain, outside, nonfinite, person, max_rows_per_person)
    # Imported here: embedded users need no Spark.
    if is_spark_frame(X):
        from shoal.engine.spark._rows import SparkRows

        return SparkRows(X, domain, terms)
    if is_rows(X):
        return _checked_rows(X, domain, terms)
    columns = domain.names if isinstance(domain, Box) else domain.columns
    source = source_of(X, names=columns)
    # Missing columns are refused now, although rows are read later.
    find_columns(source.names, Screen(domain, terms).columns)
    return LocalRows(source, domain, terms, key=selection_key)


def by_engine(
    X: Any, *, embedded: Callable[[Any], T], distributed: Callable[["SparkTable"], T]
) -> T:
    """Call one of two functions, by whether a table's rows are here or on a cluster.

    Parameters
    ----------
    X
        A table of any kind.
    embedded
        Called with ``X`` if its rows can come to this machine.
    distributed
        Called with a ``FrameTable`` if they stay on a cluster.

    Examples
    --------
    >>> by_engine([[1.0, 2.0]], embedded=len, distributed=lambda table: len(table.names))
    1
    """
    if hasattr(type(X), "__shoal_table__"):
        X = X.__shoal_table__()
    is_distributed = is_spark_frame(X) or _has_type_from(X, "shoal.engine.spark._table")
    return distributed(frame_table(X)) if is_distributed else embedded(X)


def frame_table(X: Any) -> "SparkTable":
    """Return a Spark frame as a ``FrameTable``; refuse any other table.

    Parameters
    ----------
    X
        A Spark frame, or what this returned before.
    """
    from shoal.engine.spark._table import SparkTable  # loaded for a frame alone

    return X if isinstance(X, SparkTable) else SparkTable(X)


def is_rows(X: object) -> TypeGuard[Rows]:
    """Whether this is ``Rows`` already; a frame of Spark Connect claims to have any attribute.

    Parameters
    ----------
    X
        Anything.

    Examples
    --------
    >>> is_rows(rows_of([[31.0]], Box(age=(0, 110)))), is_rows([[31.0]])
    (True, False)
    """
    return isinstance(X, Rows) and not is_spark_frame(X)


def is_spark_frame(X: object) -> bool:
    """Whether this is a Spark frame, classic or of Spark Connect; Spark is not imported.

    For ``shoal.engine`` alone: others hand what they do on each engine to ``by_engine``.

    Examples
    --------
    >>> is_spark_frame([[1.0, 2.0]])
    False
    """
    return _has_type_from(X, "pyspark.sql.", name="DataFrame")


def _has_type_from(X: object, modules: str, name: str = "") -> bool:
    """Whether a class of the object comes from modules whose names begin so."""
    kinds = [kind for kind in type(X).__mro__ if not name or kind.__name__ == name]
    return any(kind.__module__.startswith(modules) for kind in kinds)


def _terms(
    domain: Box | Schema,
    outside: Literal["clip", "drop", "refuse"],
    nonfinite: Literal["refuse", "drop"],
    person: str | None,
    limit: int | None,
) -> Terms:
    """Return the terms asked for, completed from the schema."""
    if isinstance(domain, Schema):
        person = person if person is not None else domain.person
        limit = limit if limit is not None else domain.max_rows_per_person
    if person is not None and limit is None:
        raise InvalidSetting(
            setting("person")
            + " is given without "
            + setting("max_rows_per_person")
            + ", so nothing would be limited.",
            "Set how many rows a person may keep, e.g. "
            + setting("max_rows_per_person", 5)
            + "; or leave "
            + setting("person")
            + " out to protect single rows.",
        )
    return Terms(outside, nonfinite, person, limit)


def _checked_rows(rows: Rows, domain: Box | Schema, terms: Terms) -> Rows:
    """Return rows that were made earlier, refused if their domain or terms differ."""
    if rows.domain != domain:
        raise InvalidSetting(
            "These rows were made for another domain.",
            "Make them for this one, rows_of(X, domain), or use the domain they have.",
        )
    # The default terms stand for "as the rows were made".
    if terms not in (rows.terms, _terms(domain, "clip", "refuse", None, None)):
        raise InvalidSetting(
            "These rows were made with other settings.",
            "Set outside, nonfinite, "
            + setting("person")
            + " and "
            + setting("max_rows_per_person")
            + " where the rows are made.",
        )
    return rows


def unbounded_box(columns: Iterable[str]) -> Box:
    """Return a box so wide that no number of these columns is moved.

    Parameters
    ----------
    columns
        The columns.

    Examples
    --------
    >>> unbounded_box(["age"]).names
    ('age',)
    """
    return Box(**dict.fromkeys(columns, (-_FAR, _FAR)))
