"""Pairs (place, amount) of whole numbers, in which tasks hand on what they counted."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from shoal.engine.rows import Integers, Tally

__all__ = ["PROBLEM", "Pairs", "Totals", "tally_pairs"]

Pairs = tuple[Integers, Integers]
_COUNTED = ("read", "kept", "nonfinite", "outside", "nobody")  # at -1, -2, ...
PROBLEM = -1 - len(_COUNTED)  # tasks that met what shoal refuses
_COLUMNS = PROBLEM - 1  # from here down: columns with odd values


def tally_pairs(tally: Tally, columns: Sequence[str]) -> Pairs:
    """A partition's tally, below 0.

    Examples
    --------
    >>> keys, values = tally_pairs(Tally(read=9, kept=9), ["age"])
    >>> keys.tolist(), values.tolist()
    ([-1, -2, -3, -4, -5, -7, -8], [9, 9, 0, 0, 0, 0, 0])
    """
    odd = [name in tally.nonfinite_columns for name in columns]
    odd += [name in tally.outside_columns for name in columns]
    values = [*(getattr(tally, name) for name in _COUNTED), *map(int, odd)]
    keys = [*(-1 - i for i in range(len(_COUNTED))), *(_COLUMNS - i for i in range(len(odd)))]
    return np.array(keys, dtype=np.int64), np.array(values, dtype=np.int64)


class Totals:
    """What all partitions came to, once Spark added it up.

    Parameters
    ----------
    table
        A line for each place that any task named: the place, and the sum.
    """

    def __init__(self, table: pa.Table) -> None:
        keys, values = (column.to_numpy() for column in table.columns)
        order = np.argsort(keys)
        self._keys, self._values = keys[order], values[order]
        self._first = int(np.searchsorted(self._keys, 0))
        self._told = dict(zip(keys[keys < 0].tolist(), values[keys < 0].tolist(), strict=True))

    @property
    def problem(self) -> bool:
        """Whether a task met what shoal refuses."""
        return PROBLEM in self._told

    def tally(self, columns: Sequence[str]) -> Tally:
        """Of all partitions."""
        counted = {name: self._told.get(-1 - i, 0) for i, name in enumerate(_COUNTED)}
        odd = [self._told.get(_COLUMNS - i, 0) > 0 for i in range(2 * len(columns))]
        nonfinite = frozenset(name for name, is_odd in zip(columns, odd, strict=False) if is_odd)
        outside = zip(columns, odd[len(columns) :], strict=True)
        beyond = frozenset(name for name, is_odd in outside if is_odd)
        return Tally(**counted, nonfinite_columns=nonfinite, outside_columns=beyond)

    def sparse(self) -> Pairs:
        """Places that have something, rising, and what."""
        return self._keys[self._first :], self._values[self._first :]

    def dense(self, size: int) -> Integers:
        """An amount for each place."""
        keys, values = self.sparse()
        total = np.zeros(size, dtype=np.int64)
        total[keys] = values
        return total
