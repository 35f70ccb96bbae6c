"""The groups of any shape that a model released, as pages and terminals tell of them."""

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

from shoal.apps.cluster_telling import unit_of

if TYPE_CHECKING:
    from shoal.privacy import Guarantee

__all__ = ["WaveGroups"]


class WaveGroups:
    """How many people each group holds, where it lies, and what noise leaves unsure.

    Everything here is read off a fitted ``WaveCluster``. Group i is label i - 1 of ``predict``.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.guarantee: Guarantee = model.guarantee_
        self.box = model.grid_.box
        self.names: tuple[str, ...] = self.box.names
        self.k: int = model.n_clusters_
        self.unit = unit_of(self.guarantee)

    @cached_property
    def people(self) -> list[int]:
        """About how many belong to each group."""
        return [round(float(size)) for size in self.model.cluster_sizes_]

    @cached_property
    def cells(self) -> list[int]:
        """Of how many cells each is made."""
        labels = self.model.cell_labels_
        return [int((labels == i).sum()) for i in range(self.k)]

    @cached_property
    def noise(self) -> list[int] | None:
        """The standard deviation of what noise added to each number of people, if it is known.

        That of cells chosen beforehand; these were chosen by their noisy counts, so the numbers
        lean high as well, most in small groups.
        """
        variance = self.model._noisy.variance
        if not (variance and self.model._transform.is_blocks):
            return None
        return [math.ceil(math.sqrt(cells * variance)) for cells in self.cells]

    @cached_property
    def outside(self) -> int | None:
        """About how many belong to no group; unknown if most cells were never made."""
        model = self.model
        if model.cell_keys_ is not None:
            return None
        rest = model.noisy_counts_[model.cell_labels_ < 0].sum() / model._transform.gain
        return max(round(float(rest)), 0)

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
        """``1,230 ± 45``, or the number alone."""
        people = f"{self.people[group]:,}"
        return people if self.noise is None else f"{people} ± {self.noise[group]:,}"
