"""The groups of any shape that a model released, as pages and terminals tell of them."""

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

from shoal.apps.cluster_telling import unit_of

if TYPE_CHECKING:
    from shoal.privacy import Guarantee

__all__ = ["WaveGroups"]


class WaveGroups:
    """How many rows each group holds, where it lies, and what noise leaves unsure.

    Everything here is read off a fitted ``WaveCluster``. Group i is label i - 1 of ``predict``.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.guarantee: Guarantee = model.guarantee_
        self.box = model.grid_.box
        self.names: tuple[str, ...] = self.box.names
        self.k: int = model.n_clusters_
        self.unit = unit_of(model)

    @cached_property
    def sizes(self) -> list[int]:
        """About how many belong to each group."""
        return self._shares[:-1]

    @property
    def outside(self) -> int:
        """About how many belong to no group."""
        return self._shares[-1]

    @property
    def told(self) -> list[bool]:
        """Whether each group can be told from nobody."""
        return [bool(each) for each in self.model.groups_told_]

    @cached_property
    def _shares(self) -> list[int]:
        """Whole numbers of rows of the groups and of none, which add up to all rows."""
        from shoal.cluster.totals import whole_shares

        model = self.model
        return whole_shares([*model.cluster_sizes_, model.rows_outside_], model.n_rows_)

    @cached_property
    def cells(self) -> list[int]:
        """Of how many cells each is made."""
        labels = self.model.cell_labels_
        return [int((labels == i).sum()) for i in range(self.k)]

    @cached_property
    def noise(self) -> list[int] | None:
        """The standard deviation of what noise added to each size, if it is known.

        That of cells chosen beforehand; these were chosen by their noisy counts, so the numbers
        lean high as well, most in small groups.
        """
        variance = self.model._noisy.variance
        if not (variance and self.model._transform.is_blocks):
            return None
        return [math.ceil(math.sqrt(cells * variance)) for cells in self.cells]

    def sides(self, group: int) -> list[str]:
        """Where the smallest box around a group begins and ends, along each column."""
        from shoal.figures.text import number, places

        low, high = self.model.boxes_[group]
        steps = (self.box.high - self.box.low) / self.model.grid_.shape
        each = zip(low.tolist(), high.tolist(), steps.tolist(), strict=True)
        return [
            " to ".join(number(end, places(step)) for end in (first, last))
            for first, last, step in each
        ]

    def counted(self, group: int) -> str:
        """``1,230 ± 45``, or the number alone; marked if that may be nobody."""
        size, mark = f"{self.sizes[group]:,}", "" if self.told[group] else " (not told)"
        return f"{size}{mark}" if self.noise is None else f"{size} ± {self.noise[group]:,}{mark}"
