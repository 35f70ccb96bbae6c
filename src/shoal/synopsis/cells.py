"""The released cells of a synopsis: where they are, what was counted, what they weigh."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from shoal.domain import Partition
from shoal.errors import UnreadableTable

__all__ = ["Bounded", "Cells"]

Matrix = NDArray[np.float64]


class Bounded(Partition, Protocol):
    """A partition whose cells are boxes."""

    def bounds(self, keys: ArrayLike) -> tuple[Matrix, Matrix]:
        """Lowest and highest corner of each of these cells."""


@dataclass(frozen=True, eq=False)
class Cells:
    """One line a cell, sorted by key.

    Parameters
    ----------
    key
        The number of the cell in its partition.
    low, high
        Its corners.
    noisy_count
        The count that was released, as drawn.
    weight
        What it stands for after consistency and the rule for negative counts.

    Examples
    --------
    >>> one = np.ones((1, 2))
    >>> cells = Cells(np.array([3]), 0 * one, one, np.array([7]), np.array([6.5]))
    >>> cells.centers.tolist(), len(cells)
    ([[0.5, 0.5]], 1)
    """

    key: NDArray[np.int64]
    low: Matrix
    high: Matrix
    noisy_count: NDArray[np.int64]
    weight: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.key)

    @property
    def centers(self) -> Matrix:
        """The middle of each cell."""
        return (self.low + self.high) / 2

    def to_table(self, names: Sequence[str]) -> pa.Table:
        """As a table: ``key``, ``low_*``, ``high_*``, ``noisy_count``, ``weight``."""
        columns: dict[str, Any] = {"key": self.key}
        for side, corner in (("low", self.low), ("high", self.high)):
            columns |= {f"{side}_{name}": corner[:, i] for i, name in enumerate(names)}
        return pa.table(columns | {"noisy_count": self.noisy_count, "weight": self.weight})

    @classmethod
    def of_table(cls, table: pa.Table, names: Sequence[str]) -> "Cells":
        """Back from ``to_table``."""
        try:
            low, high = (
                np.column_stack([_column(table, f"{side}_{name}", np.float64) for name in names])
                for side in ("low", "high")
            )
            key, counts = (_column(table, name, np.int64) for name in ("key", "noisy_count"))
            return cls(key, low, high, counts, _column(table, "weight", np.float64))
        except (KeyError, pa.ArrowException, TypeError, ValueError):
            raise UnreadableTable(
                "A table of cells came without some of key, low_*, high_*, noisy_count, weight.",
                "Load the folder that was saved, unchanged.",
            ) from None


def _column(table: pa.Table, name: str, dtype: type) -> NDArray[Any]:
    return np.asarray(table[name].to_numpy(), dtype=dtype)
