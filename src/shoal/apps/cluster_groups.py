"""The groups a model released, as pages and terminals tell of them."""

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

from shoal.apps.cluster_telling import unit_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.privacy import Guarantee

__all__ = ["Groups"]

WEAK = 4  # measured: below this strength no method does well


class Groups:
    """Centres, how far noise may have moved each, and about how many belong to it.

    Everything here is read off a fitted model's released numbers. Group i is label i - 1 of
    ``predict``.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.guarantee: Guarantee = model.guarantee_
        self.box = model.domain
        self.names: tuple[str, ...] = self.box.names
        self.centers: NDArray[np.float64] = model.cluster_centers_
        self.k = len(self.centers)
        self.n_rows = int(model.n_rows_)
        self.unit = unit_of(model)

    @cached_property
    def relative(self) -> list[float]:
        """The noise to expect in a centre, along a column, as a share of that column's range."""
        return [float(error) / math.sqrt(self.box.d) / 2 for error in self.model.expected_error_]

    @cached_property
    def reach(self) -> "NDArray[np.float64]":
        """The same in each column's own units."""
        import numpy as np

        return np.outer(self.relative, self.box.high - self.box.low)

    @cached_property
    def sizes(self) -> list[int]:
        """About how many belong to each group; together ``n_rows``."""
        from shoal.cluster.totals import whole_shares

        return whole_shares(self.model.cluster_weights_, self.n_rows)

    @property
    def told(self) -> list[bool]:
        """Whether each group can be told from nobody."""
        return [bool(each) for each in self.model.groups_told_]

    @property
    def rows_within(self) -> int:
        """What the number of rows is off by at most in 95 of 100 releases; 0 if it is public."""
        return int(self.model.n_rows_within_)

    def counted(self, group: int) -> str:
        """About how many belong to a group, marked if that may be nobody."""
        return f"{self.sizes[group]:,}{'' if self.told[group] else ' (not told)'}"

    @property
    def weak(self) -> bool:
        """Whether noise decides more than the rows do."""
        from shoal.cluster.plan import strength

        epsilon = float(self.model._promise().per_row().epsilon)
        return strength(self.n_rows, epsilon, self.box.d, self.k) < WEAK

    def in_words(self, group: int) -> list[str]:
        """Each number of a centre with its noise, to the digits the noise leaves."""
        sides = self.box.high - self.box.low
        each = zip(self.centers[group], self.reach[group], sides, strict=True)
        return [_with_noise(float(value), float(noise), float(side)) for value, noise, side in each]


def _with_noise(value: float, noise: float, side: float) -> str:
    """``12.30 ± 0.42``: two digits of the noise, and the value to the same place."""
    from shoal.figures.text import number, places

    if not side * 1e-6 < noise < math.inf:  # a centre on a single cell, which no noise moves
        return number(value, places(side) + 4)
    decimals = 1 - math.floor(math.log10(noise))
    shown = [f"{round(each, decimals):,.{max(decimals, 0)}f}" for each in (value, noise)]
    return " ± ".join(shown)
