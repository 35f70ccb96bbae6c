"""Where the rows of a wide table lie, and how far they spread: a view that fits them."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.cluster.kmeans.ball import Rings, ball_step, candidate_radii, pick_radius, read_rings
from shoal.cluster.kmeans.nearest import Cube, Nearest
from shoal.cluster.kmeans.work import Work
from shoal.domain import View
from shoal.domain.box import Matrix
from shoal.engine import Rows

__all__ = ["DEVIATION", "Location", "about_the_middle", "locate"]

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

    def view(self, work: Work, axes: int) -> View:
        """The rows on some public axes, drawn at random if they are fewer than the columns."""
        looks = np.eye(self.d)
        if axes < self.d:
            looks = np.linalg.qr(work.rng.compute.standard_normal((self.d, axes))).Q
        return View(work.cube.box, looks, self.center, self.width)


def about_the_middle(rows: Rows) -> Rings:
    """All rows by their distance from the middle of the box: the first pass of ``locate``."""
    cube = Cube(rows.domain)  # type: ignore[arg-type]
    d = cube.box.d
    return read_rings(rows, cube, Nearest(np.zeros((1, d))), reach=math.sqrt(d))


def locate(work: Work, share: Fraction) -> Location:
    """Find the middle in one pass, the spread about it in another.

    Parameters
    ----------
    work
        Rows and what pays for them.
    share
        Of the budget: a sixth for a first radius, six tenths for the mean, the rest for the
        spread.
    """
    guess, rings = 0.4 * math.sqrt(work.d), work.rings or about_the_middle(work.rows)
    first = share / 6
    pick = pick_radius(
        rings,
        work.page,
        work.pure(first),
        work.rng,
        guess=guess,
        trust=_TRUST,
        of="radius of all rows",
    )
    middle = share * Fraction(6, 10)
    means = ball_step(
        rings, pick, work.page, work.pure(middle), work.rng, entry=_ENTRY, of="mean of all rows"
    )
    rings = read_rings(work.rows, work.cube, Nearest(means.centers))
    rest = work.pure(share - first - middle)
    pick = pick_radius(
        rings, work.page, rest, work.rng, guess=guess, trust=_TRUST, of="spread of all rows"
    )
    return Location(means.centers[0], float(candidate_radii(rings.reach)[pick]))
