"""What every method of private k-means is handed, and what it hands back."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.kmeans.ball import Rings
from shoal.cluster.kmeans.nearest import Cube
from shoal.cluster.totals import Counted
from shoal.domain.box import Matrix
from shoal.engine import Rows
from shoal.privacy import ApproxDP, PureDP
from shoal.privacy.page import Page
from shoal.randomness import Randomness

__all__ = ["Found", "Work"]


@dataclass(frozen=True, eq=False)
class Work:
    """Rows, the page that pays for reading them, and how much may be paid.

    Parameters
    ----------
    rows, page, rng
        Whose rows, on which page, with which noise.
    budget
        The whole budget of this method, for one row added or removed.
    n_rows
        The number of rows, released or public.
    left
        The share of the budget that its release left over.
    rings
        Of all rows about the middle of the box, where a pass has read them already.
    """

    rows: Rows
    page: Page
    rng: Randomness
    budget: PureDP | ApproxDP
    n_rows: int
    left: Fraction
    rings: Rings | None = None

    @property
    def cube(self) -> Cube:
        """Where centres are looked for."""
        return Cube(self.rows.domain)  # type: ignore[arg-type]

    @property
    def d(self) -> int:
        """Columns."""
        return self.cube.box.d

    @property
    def epsilon(self) -> float:
        """Of the whole budget."""
        return float(self.budget.epsilon)

    def pure(self, share: Fraction) -> PureDP:
        """A share of the budget, without any of its delta."""
        return PureDP(self.budget.epsilon * share)

    def step(self, share: Fraction, of: Fraction) -> PureDP | ApproxDP:
        """The budget of one step: a share, with its part of the delta that all steps divide.

        Parameters
        ----------
        share
            Of the budget's epsilon.
        of
            The shares of all steps together.
        """
        if isinstance(self.budget, PureDP):
            return self.pure(share)
        delta = self.budget.delta * share / of
        return ApproxDP(self.budget.epsilon * share, delta)


@dataclass(frozen=True, eq=False)
class Found:
    """Centres in [-1, 1]^d, with their noisy numbers of rows and the noise to expect in each.

    ``counted`` are unbiased counts of the same clusters, by which they are told from nobody; of
    refined centres the sizes themselves.
    """

    centers: Matrix
    sizes: NDArray[np.float64]
    errors: NDArray[np.float64]
    counted: Counted
