"""Where the rows of a wide table lie, and how far they spread: a view that fits them."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.cluster.kmeans.refine import (
    Rings,
    candidate_radii,
    move_to_means,
    pick_radius,
    read_rings,
)
from shoal.domain import View
from shoal.domain.box import Matrix
from shoal.estimator import Spending

__all__ = ["DEVIATION", "Location", "locate", "rings_about_middle"]

_ENTRY = Fraction(3, 10)  # one cluster: its size is nearly known, so most of the noise may miss it
_WIDTHS = 2.5  # half a view's side, in standard deviations
_TRUST = 4.0  # in the guess of radii: budgets here are small, and a radius far off costs most
DEVIATION = 1 / _WIDTHS  # of a coordinate of the rows in a view, if they spread evenly


@dataclass(frozen=True, eq=False)
class Location:
    """A released middle of the rows and the radius about it that holds half of them."""

    center: Matrix
    spread: float

    @property
    def d(self) -> int:
        """Columns."""
        return self.center.size

    @property
    def width(self) -> float:
        """Half the side of a view of the rows."""
        return min(1.0, _WIDTHS * self.spread / math.sqrt(self.d))

    def view(self, spending: Spending, axes: int) -> View:
        """The rows on some public axes, drawn at random if they are fewer than the columns."""
        directions = np.eye(self.d)
        if axes < self.d:
            drawn = spending.rng.compute.standard_normal((self.d, axes))
            directions = np.linalg.qr(drawn).Q
        return View(spending.box, directions, self.center, self.width)


def rings_about_middle(spending: Spending) -> Rings:
    """All rows by their distance from the middle of the box: the first pass of ``locate``."""
    d = spending.box.d
    return read_rings(spending, np.zeros((1, d)), reach=math.sqrt(d))


def locate(spending: Spending, rings: Rings) -> Location:
    """Find the middle of the rows by one pass, and their spread about it by another.

    Parameters
    ----------
    spending
        A sixth goes to a first radius, six tenths to the mean, the rest to the spread.
    rings
        The first pass: ``rings_about_middle``.
    """
    guess = 0.4 * math.sqrt(spending.box.d)
    first, middle = Fraction(1, 6), Fraction(6, 10)
    radius = pick_radius(
        rings, spending.share(first), guess=guess, trust=_TRUST, of="radius of all rows"
    )
    means = move_to_means(
        rings, radius, spending.share(middle), entry=_ENTRY, of="mean of all rows"
    )
    rings = read_rings(spending, means.centers)
    radius = pick_radius(
        rings,
        spending.share(1 - first - middle),
        guess=guess,
        trust=_TRUST,
        of="spread of all rows",
    )
    return Location(means.centers[0], float(candidate_radii(rings.reach)[radius]))
