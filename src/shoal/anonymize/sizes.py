"""Counts in a table as it stands: the sizes of its classes, and what their members share."""

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.table import COUNTED, OWNER, Table, sizes_sql
from shoal.anonymize.weighted import Countable
from shoal.engine.named import plain_names

__all__ = ["greatest_share", "sizes_in"]


def sizes_in(
    table: Countable, labels: list[str], owner: str | None
) -> tuple[NDArray[np.int64], int]:
    """(sizes, 2): people a class has, ascending, and how many classes have so many; and all rows.

    Parameters
    ----------
    table
        Any table.
    labels
        The columns whose combinations are classes.
    owner
        The column that tells people apart, or None to take each row for a person.

    Examples
    --------
    >>> sizes, rows = sizes_in(Table({"sex": ["M", "F", "M"]}), ["sex"], None)
    >>> sizes.tolist(), rows
    ([[1, 1], [2, 1]], 3)
    """
    if isinstance(table, Table):
        found = table.sizes(labels, owner)
    else:
        found = table.query(sizes_sql(plain_names(labels, None), owner), labels, owner)
    people, classes, rows = (found[name].to_numpy() for name in ("people", "classes", "rows"))
    return np.stack([people, classes], axis=1).astype(np.int64), int(rows.sum())


def greatest_share(table: Countable, labels: list[str], name: str, owner: str | None) -> float:
    """The greatest share of a class whose members have one value of ``name`` in common.

    A missing value is one, too: to know that someone has none is to know something.

    Examples
    --------
    >>> table = Table({"sex": ["M", "F", "M", "M"], "ill": ["yes", "no", "no", "no"]})
    >>> greatest_share(table, ["sex"], "ill", None)
    1.0
    """
    cells, value = ", ".join(plain_names(labels, None)), f"c{len(labels)}"
    counted = (
        f"SELECT n, sum(n) OVER (PARTITION BY {cells}) AS people FROM "
        f"(SELECT {cells}, {value}, {COUNTED} GROUP BY ALL)"
    )
    if owner is not None:  # someone with two values counts for both, and as one of the people
        counted = (
            f"SELECT count(*) OVER (PARTITION BY {cells}, {value}) AS n, "
            f"sum(CASE WHEN nth = 1 THEN 1 ELSE 0 END) OVER (PARTITION BY {cells}) AS people FROM "
            f"(SELECT *, row_number() OVER (PARTITION BY {cells}, {OWNER} ORDER BY {value}) AS nth "
            f"FROM (SELECT DISTINCT {cells}, {value}, {OWNER} FROM rows))"
        )
    sql = f"SELECT coalesce(max(n / people), 0.0) FROM ({counted})"
    return float(table.query(sql, [*labels, name], owner).column(0)[0].as_py())
