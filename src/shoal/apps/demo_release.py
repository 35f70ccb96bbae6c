"""What the demo released, and how far its noise reaches: from noisy counts and promise alone."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.domain import Grid
    from shoal.figures import Area
    from shoal.mechanisms import Geometric
    from shoal.privacy import Guarantee, Ledger

__all__ = ["Release"]

AREAS = 4
_SIDE = 3  # of an area, in cells


@dataclass(frozen=True)
class Release:
    """What left the gate, what it was promised, and what follows from both for free."""

    grid: "Grid"
    noise: "Geometric"
    noisy_counts: "NDArray[np.int64]"
    guarantee: "Guarantee"
    ledger: "Ledger"
    seed: int | None = None

    @property
    def people(self) -> int:
        """About how many there are; noise may take the sum below nobody."""
        return max(int(self.noisy_counts.sum()), 0)

    @property
    def tells_people(self) -> bool:
        """Whether there is more in the sum than noise."""
        return self.people > self.off_in_total()

    @property
    def areas(self) -> list["Area"]:
        """The densest blocks of cells, those alone that surely hold somebody."""
        from shoal.figures import dense_areas

        box, beyond = self.grid.box, self.off_in_any_area()
        return dense_areas(self.noisy_counts, box.low, box.high, how_many=AREAS, above=beyond)

    def off_in_a_cell(self) -> int:
        """The least m with P[|noise| > m] = 2 a^(m+1) / (1 + a) <= 5 in 100, a = e^-step."""
        step = float(self.noise.step)
        tail = math.log(0.05 * (1 + math.exp(-step)) / 2)
        return max(math.ceil(tail / -step - 1), 0)

    def off_in_total(self) -> int:
        """Two standard deviations: the noise of that many cells is all but normal."""
        return math.ceil(2 * math.sqrt(self.grid.size * self.noise.variance))

    def off_in_any_area(self) -> int:
        """An m that no block passes in 95 of 100 releases, so neither do those that noise chose.

        With S the noise of a block, P[|S| > m] <= 2 e^(-t(m+1)) E[e^(tS)] for every t from 0 to
        the step (Chernoff); blocks share 5 in 100 evenly; the best of a thousand t is taken.
        """
        blocks = math.prod(side - _SIDE + 1 for side in self.grid.shape)
        allowed = math.log(2 * blocks / 0.05)
        step = float(self.noise.step)
        shares = (k / 1000 * step for k in range(1, 1000))
        return math.ceil(min((allowed + _SIDE**2 * _growth(t, step)) / t for t in shares)) - 1


def _growth(t: float, step: float) -> float:
    """log E[e^(tX)] = log of (1 - a)^2 / ((1 - a e^t) (1 - a e^-t)) for the noise X of a cell."""
    sides = (math.log(-math.expm1(side - step)) for side in (t, -t))
    return 2 * math.log(-math.expm1(-step)) - sum(sides)
