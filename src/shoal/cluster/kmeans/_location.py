"""Where rows lie in their box, and how far they spread: a view that fits them."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.cluster.kmeans._budget_plan import FEW_AXES, direction_share, gaussian_if_less
from shoal.cluster.kmeans._kernels import BeyondSides, clip_radius
from shoal.cluster.kmeans._noisy_means import (
    Means,
    Rings,
    candidate_radii,
    move_to_means,
    pick_radii,
    pick_reach,
    read_rings,
)
from shoal.domain import Grid, View
from shoal.estimator import Spending
from shoal.mechanisms import NoisyBest

_ENTRY = Fraction(3, 10)  # one cluster: its size is nearly known, so most of the noise may miss it
_WIDTHS = 2.4  # half a view's side, in spreads along an axis
# Of the rows: a view that cuts off more is turned. See docs/decisions/private-kmeans.md.
_STRETCHED = 1 / 3
_MOST_OF_REACH = 2 / 3  # of the radius of all but few rows: that of most
# Times that radius over d^(1/4): between rows that spread along one column and along all, and
# wider than either in one or two, as noise may make the radius too small.
_MARGIN = 1.6
DEVIATION = 0.4  # of a coordinate of the rows in a view, if they spread evenly
# Of a budget that buys nothing but one mean: docs/decisions/private-kmeans.md.
_ONE_RADIUS = Fraction(1, 12)
_RADIUS, MEAN = Fraction(1, 6), Fraction(6, 10)  # shares; the rest is for the spread
# Cubes of a quarter of the box's side, and of an eighth unless these are too many. The smaller of
# two may hold fewer rows: half a scale of the noise, or a hundredth of all if that is more. Views
# are wider than the cube, which may cut a group. See docs/decisions/private-kmeans.md.
_LEVELS, _MOST_CUBES = (2, 3), 20_000
_FEWER_SCALES, _FEWER_ROWS = 0.5, 0.01
_WIDER = 1.5


@dataclass(frozen=True, eq=False)
class Location:
    """A released middle of the rows, and the radii about it that hold most and all but few of them.

    ``clip`` is the radius to which rows were cut to find the middle, ``error`` how far noise moves
    it. The larger radius is released in few columns, where the smaller one is a part of it.
    ``cut_off`` is the part of the rows that a view along the columns would cut off, if released.
    ``cube`` is half the side of the cube that was drawn, where no mean was released.
    """

    center: Floats
    spread: float
    reach: float | None
    clip: float
    error: float
    cut_off: float | None = None
    cube: float | None = None

    @property
    def d(self) -> int:
        """Columns."""
        return self.center.size

    @property
    def width(self) -> float:
        """Half the side of a view of the rows.

        In few columns it holds all but few of them, wherever they lie; in many that would be far
        too wide for rows that spread evenly over the columns.
        """
        if self.cube is not None:
            return min(1.0, _WIDER * self.cube)
        if self.reach is not None:
            return min(1.0, _MARGIN * self.reach / math.sqrt(math.sqrt(self.d)))
        even = _WIDTHS * self.spread / math.sqrt(self.d)
        return even if self.is_stretched else min(1.0, even)

    @property
    def is_stretched(self) -> bool:
        """Whether rows spread along few columns, so that a view along them cuts many off.

        On axes that are turned at random they spread evenly.
        """
        return self.cut_off is not None and self.cut_off > _STRETCHED

    @property
    def is_rough(self) -> bool:
        """Whether rows lie so close together that their middle is worth a second look."""
        return self.spread < self.clip / 2.5 and self.error > self.spread / 8

    @property
    def is_small(self) -> bool:
        """Whether rows fill so little of the box that cells of all of it would miss them."""
        return self.width <= 0.5

    def reach_about(self, center: Floats) -> float | None:
        """The radius about another centre that holds all which the reach does."""
        if self.reach is None:
            return None
        return self.reach + float(np.linalg.norm(center - self.center))

    def view(self, spending: Spending, axes: int) -> View:
        """The rows on some public axes, drawn at random if columns are more or rows stretched."""
        directions = np.eye(self.d)
        if axes < self.d or self.is_stretched:
            drawn = spending.rng.compute.standard_normal((self.d, axes))
            directions = np.linalg.qr(drawn).Q
        return View(spending.box, directions, self.center, self.width)


def rings_about_middle(spending: Spending) -> Rings:
    """All rows by their distance from the middle of the box: the first pass of ``locate``."""
    d = spending.box.d
    return read_rings(spending, np.zeros((1, d)), reach=math.sqrt(d))


def find_rows(spending: Spending, share: Fraction, rings: Rings) -> tuple[Location, Fraction]:
    """Locate the rows, and once more from there, for half as much, where that was rough.

    Where a view has an axis for each of many columns, count the rows that it would cut off.

    Returns
    -------
    tuple
        What was found, and what it cost.
    """
    location, rings = locate(spending.share(share), rings, 0.4 * math.sqrt(spending.box.d))
    if location.is_rough:  # [P1] released numbers decide
        second = share / 2
        location, _ = locate(spending.share(second), rings, location.spread, before=location)
        share += second
    assert spending.n_rows is not None
    directions = direction_share(spending.n_rows, spending.epsilon, spending.box.d)
    if not directions:
        return location, share
    sides = BeyondSides(spending.box, location.center, location.width)
    inside, beyond = spending.share(directions).count(sides, of="rows beyond a view")  # [P6]
    cut_off = beyond / max(inside + beyond, 1)
    return replace(location, cut_off=float(cut_off)), share + directions


def find_part(spending: Spending) -> Location:
    """Draw the cube that holds all but few rows, of the whole box and of small ones all over it.

    Each of these overlaps the next by a half, so that one of them has all rows that lie in half
    its side. It costs the logarithm of their number, and no mean of rows that may lie far apart.
    """
    d = spending.box.d
    best = NoisyBest(spending.budget, 1, one_way=True)
    cubes = OverlappingCubes(d, tuple(n for n in _LEVELS if (2 ** (n + 1) - 1) ** d <= _MOST_CUBES))
    counts = spending.exact_counts(Grid(spending.box, cubes.cells_an_axis))
    assert spending.n_rows is not None
    fewer = max(_FEWER_SCALES * best.scale, _FEWER_ROWS * spending.n_rows)
    more = [round(place * fewer) for place in range(len(cubes.sizes))]
    scores = cubes.rows_in_each(counts) + np.repeat(more, cubes.sizes)  # [P9]
    place = int(spending.release(best, scores[None], of="part of the box with the rows")[0])
    center, half = cubes.middle_and_half(place)
    spread = math.sqrt(d) / 2 * min(1.0, _WIDER * half)
    return Location(center, spread, None, clip=1.0, error=0.0, cube=half)


@dataclass(frozen=True)
class OverlappingCubes:
    """The cube [-1, 1]^d, then those of level n: of 2^-n times its side, half a side apart.

    Examples
    --------
    >>> cubes = OverlappingCubes(1, (2,))
    >>> cubes.rows_in_each(np.arange(8)).tolist()
    [28, 1, 3, 5, 7, 9, 11, 13]
    >>> cubes.middle_and_half(1)
    (array([-0.75]), 0.25)
    """

    d: int
    levels: tuple[int, ...]

    @property
    def cells_an_axis(self) -> int:
        """Of the grid whose cells make up all cubes."""
        return int(2 ** (self.levels[-1] + 1))

    @property
    def sizes(self) -> list[int]:
        """How many cubes there are of the whole side and of each level."""
        return [1, *(self._an_axis(level) ** self.d for level in self.levels)]

    def rows_in_each(self, counts: Integers) -> Integers:
        """Add up the counts of a grid's cells for each cube."""
        grid = counts.reshape((self.cells_an_axis,) * self.d)
        each = [grid.sum(keepdims=True), *(self._windows(grid, level) for level in self.levels)]
        return np.concatenate([rows.ravel() for rows in each])

    def middle_and_half(self, place: int) -> tuple[Floats, float]:
        """Where a cube lies, and half its side."""
        if place == 0:
            return np.zeros(self.d), 1.0
        place -= 1
        for level in self.levels:
            cubes = (self._an_axis(level),) * self.d
            if place < math.prod(cubes):
                break
            place -= math.prod(cubes)
        half = 2.0**-level
        numbers = np.array(np.unravel_index(place, cubes), dtype=np.float64)
        return np.asarray((numbers + 1) * half - 1), half

    def _windows(self, grid: Integers, level: int) -> Integers:
        """The sums of each two neighbours along all axes, of cells of half a cube's side."""
        wanted = 2 ** (level + 1)
        for axis in range(self.d):
            shape = list(grid.shape)
            shape[axis : axis + 1] = [wanted, shape[axis] // wanted]
            cells = grid.reshape(shape).sum(axis=axis + 1)
            grid = np.take(cells, range(wanted - 1), axis) + np.take(cells, range(1, wanted), axis)
        return grid

    @staticmethod
    def _an_axis(level: int) -> int:
        return int(2 ** (level + 1) - 1)


def find_one_mean(spending: Spending, rings: Rings) -> Means:
    """Spend everything on the mean of all rows, about the middle of the box.

    Parameters
    ----------
    spending
        A twelfth goes to a radius, the rest to the mean, with all of a delta where that helps.
    rings
        The first pass: ``rings_about_middle``.
    """
    guess, rest = 0.4 * math.sqrt(spending.box.d), 1 - _ONE_RADIUS
    radius = pick_radii(  # [P7]
        rings, spending.share(_ONE_RADIUS), guess=guess, thrift=True, of="radius of all rows"
    )
    for_mean = gaussian_if_less(spending, rest, rest).share(rest)
    return move_to_means(rings, radius, for_mean, entry=_ENTRY, of="mean of all rows")  # [P8]


def locate(
    spending: Spending, rings: Rings, guess: float, before: Location | None = None
) -> tuple[Location, Rings]:
    """Find the middle of the rows by one pass, and their spread about it by another.

    Parameters
    ----------
    spending
        A sixth goes to a first radius, six tenths to the mean, the rest to the spread.
    rings
        The first pass: ``rings_about_middle``, or what an earlier ``locate`` returned.
    Returns
    -------
    tuple
        What was found, and the second pass, which is as sensitive as rows.
    """
    first, middle = spending.share(_RADIUS), spending.share(MEAN)
    radius = pick_radii(rings, first, guess=guess, thrift=True, of="radius of all rows")  # [P2]
    means = move_to_means(rings, radius, middle, entry=_ENTRY, of="mean of all rows")  # [P3]
    clip, error = clip_radius(radius, rings.reach)[0], means.errors[0]
    rings = read_rings(spending, means.centers)
    rest = spending.share(1 - _RADIUS - MEAN)
    likely = None if before is None else before.reach_about(means.centers[0])
    spread, reach = _spread_and_reach(rings, rest, guess, likely)
    return Location(means.centers[0], spread, reach, float(clip), float(error)), rings


def _spread_and_reach(
    rings: Rings, spending: Spending, guess: float, likely: float | None
) -> tuple[float, float | None]:
    """In few columns the radius that holds all but few rows, else the one that holds most."""
    if rings.centers.shape[1] <= FEW_AXES:
        reach = pick_reach(rings, spending, likely=likely, of="reach of all rows")  # [P4]
        return _MOST_OF_REACH * reach, reach
    pick = pick_radii(rings, spending, guess=guess, thrift=True, of="spread of all rows")  # [P5]
    return float(candidate_radii(rings.reach)[pick[0]]), None
