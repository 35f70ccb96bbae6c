"""How a budget is divided and what it buys: rules that read released and public numbers only."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from shoal.estimator import Spending
from shoal.mechanisms import Gaussian, KNorm
from shoal.privacy import ApproxDP, PureDP

_MOST_AXES = 12
_RADIUS = Fraction(1, 50)  # of the whole budget, for the radius of each step
# The limits from here to _ONE_MEAN were measured: docs/decisions/private-kmeans.md.
FEW_AXES = 5  # up to here the cells are those of the box itself
MOST_CELLS = 100_000  # more would cost more to cluster than they tell
_MANY = 2_000  # rows times epsilon, of all rows or of a cluster
_FEW = 100  # rows times epsilon: even cells tell more than those of a grid that follows the rows
_TWICE = 15  # how far clusters stand out of the noise before two steps are better than one
_SMALL_CLUSTERS = 3  # columns from which a small view finds small clusters first
_TOO_FEW = 40  # rows times epsilon: noise would move the middle of the rows by about their spread
_ONE_MEAN = 1 / 7  # radii by which noise moves a mean
_OWN_RADII = Fraction(2, 50)  # for a radius of each cluster
# Rows over the noise with which a part of the box is drawn, and the most that this may cost.
_PART_STRENGTH, _MOST_FOR_PART = 40, 1 / 16
_HALVED_AXES = 8  # of a box, at most: halves of more are too many cells


@dataclass(frozen=True)
class Step:
    """One step towards noisy means.

    Parameters
    ----------
    radii
        What of it goes to radii; the rest, ``means``, to noisy means within them.
    quantile
        As in ``KMeansPlan``.
    """

    name: str
    share: Fraction
    radii: Fraction
    quantile: Fraction | None = None
    finds_far_rows: bool = False

    @property
    def means(self) -> Fraction:
        """The share of the noisy means."""
        return self.share - self.radii


@dataclass(frozen=True)
class KMeansPlan:
    """How the budget is divided, in shares of the whole, and what is done with it.

    Parameters
    ----------
    axes
        How many axes the cells have.
    cells
        The share of the cells.
    micro
        The share of the step that finds the means of many small clusters; 0 without.
    micro_clusters
        How many small clusters; 0 without.
    last_steps
        The share of each last step.
    refined
        How many centres the last steps move.
    quantile
        The part of its rows that the own radius of each of them is to hold. None: one radius serves
        all, and holds half of all rows.
    cells_an_axis
        Of a uniform grid, in a view or where rows are few; 0 lets the grid follow the rows.
    even
        Whether rows are to be taken as spread evenly in each cell, as cells are few.
    """

    axes: int
    cells: Fraction
    micro: Fraction
    micro_clusters: int
    last_steps: tuple[Fraction, ...]
    refined: int
    quantile: Fraction | None = None
    cells_an_axis: int = 0
    even: bool = False

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, in order; none where the cells take everything."""
        named = [(f"clusters, step {n}", share) for n, share in enumerate(self.last_steps, start=1)]
        last = [_step(name, share, self.quantile) for name, share in named]
        if not self.micro_clusters:
            return tuple(last)
        small = _step("small clusters", self.micro, None)
        return (replace(small, finds_far_rows=True), *last)

    @property
    def finds_far_cells(self) -> bool:
        """Whether rows far beyond a view of many columns have cells of their own."""
        return self.micro_clusters > 0 and self.cells_an_axis > 0

    @property
    def means(self) -> Fraction:
        """The shares of all steps together, without their radii."""
        return sum((step.means for step in self.steps), Fraction(0))

    def fitted_to(self, spending: Spending) -> "KMeansPlan":
        """The same, whose means take what is left of the budget that Gaussian ones share.

        It was fixed before the rows were located, for a plan that may have been another one. The
        last step takes what the others leave, and the cells what is left of the pure budget.
        """
        if spending.gaussian is None:
            return self
        moved = self.means - spending.gaussian_left
        last = self.last_steps[-1] - moved
        return replace(self, cells=self.cells + moved, last_steps=(*self.last_steps[:-1], last))

    def first_clusters(self, k: int) -> int:
        """How many centres the cells are to give the first step, of ``k`` that are wanted."""
        return self.micro_clusters or min(self.refined, k)


def make_plan(
    left: Fraction, spending: Spending, k: int, *, auto: bool, in_view: bool, refine: bool
) -> KMeansPlan:
    """The plan for so many rows, columns and clusters: released and public numbers alone.

    Parameters
    ----------
    auto
        Whether the cells are the plan's to choose: those of a view in many columns, a few even ones
        for few rows.
    """
    assert spending.n_rows is not None
    n_rows, epsilon, d = spending.n_rows, spending.epsilon, spending.box.d
    rule = _rule(d, in_view)
    plan = rule(left, n_rows, epsilon, d, k, hardness(d, spending.budget))
    if not refine:
        plan = cells_alone(left, plan.axes)
    rows_epsilon = n_rows * epsilon * float(plan.cells)
    even = auto and not plan.steps and not in_view and rows_epsilon < _FEW
    if not even and not (in_view and d > FEW_AXES):
        return plan
    # Halves of many columns are more cells than there are rows.
    splits_axes = in_view or d <= FEW_AXES
    an_axis = view_cells_an_axis(rows_epsilon, plan.axes) if splits_axes else 1
    return replace(plan, cells_an_axis=an_axis, even=even)


def share_gaussian(spending: Spending, plan: KMeansPlan, also: Fraction = Fraction(0)) -> Spending:
    """Fix the budget that all noisy means share, if there is a delta and it makes noise less.

    Once fixed it stays. The largest share gains least by it, so it decides. See
    docs/decisions/approximate.md.

    Parameters
    ----------
    also
        The share of noisy means beside those of the plan.
    """
    if spending.gaussian is not None or not plan.steps:
        return spending
    largest = max(step.means for step in plan.steps)
    return gaussian_if_less(spending, plan.means + also, largest)


def gaussian_if_less(spending: Spending, fraction: Fraction, largest: Fraction) -> Spending:
    """Return the same with a shared Gaussian budget, if its largest part then meets less noise.

    Parameters
    ----------
    fraction
        What all parts cost together.
    largest
        What the largest part costs.
    """
    if not isinstance(spending.budget, ApproxDP):
        return spending
    shared, axes = spending.with_gaussian(fraction), spending.box.d + 1
    part = shared.share(largest)
    gaussian, pure = Gaussian(part.gaussian_share, 1), KNorm(part.budget, 1)
    return shared if gaussian.deviation(axes) < pure.deviation(axes) else spending


def _rule(d: int, in_view: bool) -> Callable[[Fraction, int, float, int, int, float], KMeansPlan]:
    """How the rest of a budget is divided, by the columns and by where the cells are."""
    if in_view and d > FEW_AXES:
        return plan_of_view
    return plan_of_small_view if in_view and d >= _SMALL_CLUSTERS else cells_then_step


def view_cells_an_axis(rows_epsilon: float, axes: int) -> int:
    """(N epsilon / 5)^(2 / (2 + p)): the rule of the uniform grid, twice as fine, within limits."""
    wanted: int = max(2, round((rows_epsilon / 5) ** (2 / (2 + axes))))
    while wanted > 2 and wanted**axes > MOST_CELLS:
        wanted -= 1
    return wanted


def hardness(d: int, budget: PureDP | ApproxDP | None = None) -> float:
    """How much noise a mean of unit vectors in d dimensions meets: its length, times epsilon.

    That is sqrt(d (d + 2)) for pure noise. With a delta it may be less: that of Gaussian noise, for
    which means have the whole budget together.

    Parameters
    ----------
    budget
        The whole budget for one row; left out, there is no delta.
    """
    pure = math.sqrt(d * (d + 2))
    if not isinstance(budget, ApproxDP):
        return pure
    return min(pure, math.sqrt(d) * Gaussian(budget, 1).deviation(d) * float(budget.epsilon))


# Below this strength no method does well: docs/decisions/private-kmeans.md.
WEAK_STRENGTH = 4


def strength(n_rows: int, epsilon: float, d: int, k: int, hard: float | None = None) -> float:
    """How far a cluster of average size stands out of the noise; below 4 nothing does well.

    Parameters
    ----------
    n_rows
        The number of rows, public or released.
    epsilon
        The budget of the fit.
    d
        The number of columns.
    k
        The number of clusters.
    hard
        What ``hardness`` gives for the budget, if that has a delta.

    Examples
    --------
    >>> strength(20_000, 1.0, 2, 4) > strength(20_000, 0.1, 2, 4)
    True
    """
    return n_rows * epsilon / (k * (hard or hardness(d)))


def own_quantile(rows_epsilon: float, d: int, k: int, hard: float | None = None) -> Fraction | None:
    """Which part of its rows each cluster's own radius is to hold; None where rows are too few.

    Twice the radius is twice the noise; rows beyond it count less, and the mean is off by that. So
    the part grows with the rows.
    """
    if rows_epsilon < _MANY * k:
        return None
    beyond = min(max(60 * k * (hard or hardness(d)) / rows_epsilon, 1 / 16), 1 / 2)
    return 1 - Fraction(round(16 * beyond), 16)


def takes_one_mean(n_rows: int, budget: PureDP | ApproxDP, d: int) -> bool:
    """Whether noise would drown even the middle of the rows, if it were to be shared with cells.

    In many columns noise moves a mean that has the whole budget by about (d + 1) / (N epsilon)
    radii, less if there is a delta. Where that is much, one mean is all that can be had. Where it
    is all, the mean is shrunk to about the middle of the box, and nothing better is to be had.
    """
    moved = (d + 1) * hardness(d, budget) / hardness(d) / (n_rows * float(budget.epsilon))
    return d > FEW_AXES and moved > _ONE_MEAN


def location_share(n_rows: int, epsilon: float, d: int, hard: float | None = None) -> Fraction:
    """What finding the rows' middle and spread may cost.

    In few columns cells of the box will do, unless it is much wider than the rows: where these are
    many, to look costs little. In many columns it is nothing only where rows are too few to be
    found.
    """
    if d <= FEW_AXES:
        return Fraction(8, 100) if n_rows * epsilon >= _MANY else Fraction(0)
    if n_rows * epsilon < _TOO_FEW:
        return Fraction(0)
    wanted = min(0.25, 5 * (hard or hardness(d)) / (n_rows * epsilon))
    return max(Fraction(6, 100), rational(wanted))


def part_share(n_rows: int, epsilon: float, d: int) -> Fraction:
    """What it may cost to draw the part of a box of few columns that holds the rows.

    Where these are too few to be located by a mean, and not so few that it would cost much.
    """
    wanted = _PART_STRENGTH / (n_rows * epsilon)
    pays = d <= FEW_AXES and n_rows * epsilon < _MANY and wanted <= _MOST_FOR_PART
    return rational(wanted) if pays else Fraction(0)


def takes_halves(n_rows: int, epsilon: float, d: int, k: int) -> bool:
    """Whether halves of each axis of the box serve as cells, as rows are too few for a view."""
    return FEW_AXES < d <= _HALVED_AXES and strength(n_rows, epsilon, d, k) < WEAK_STRENGTH


def view_axes(n_rows: int, epsilon: float, d: int) -> int:
    """How many axes a view of the rows has: as many as they can fill with cells."""
    return min(d, _MOST_AXES, max(2, int(math.log2(max(n_rows * epsilon, 1)))))


def direction_share(n_rows: int, epsilon: float, d: int) -> Fraction:
    """What it may cost to learn whether rows spread along few columns; 0 where it is no help.

    A view of fewer axes than columns is turned anyway.
    """
    turned = view_axes(n_rows, epsilon, d) < d
    helps = d > FEW_AXES and not turned and n_rows * epsilon >= _MANY
    return Fraction(1, 100) if helps else Fraction(0)


def cells_alone(left: Fraction, axes: int) -> KMeansPlan:
    """All that is left goes to the cells."""
    return KMeansPlan(axes, left, Fraction(0), 0, (), 0)


def cells_then_step(
    left: Fraction, n_rows: int, epsilon: float, d: int, k: int, hard: float | None = None
) -> KMeansPlan:
    """Cells of the box itself, and one step where it will pay.

    Parameters
    ----------
    n_rows, epsilon, d, k
        Released or public number of rows, the whole budget for one row, columns, clusters.
    hard
        The ``hardness`` of the whole budget; left out, there is no delta.
    """
    # Measured: where a step's noise would be large beside that of the cells, they take it all.
    stands_out = strength(n_rows, epsilon * float(left) * 0.27, d, k, hard)
    if stands_out < (12 if d < 4 else 4):
        return cells_alone(left, d)
    cells = left * Fraction(6, 10)
    quantile = own_quantile(n_rows * epsilon, d, k, hard)
    # Cells of three and more columns are so wide that a second step, from nearer, pays early.
    steps = _last_steps(left - cells, quantile, twice=d >= 3 and stands_out > _TWICE)
    return KMeansPlan(d, cells, Fraction(0), 0, steps, k, quantile)


def steps_alone(
    n_rows: int, epsilon: float, d: int, k: int, hard: float | None = None
) -> KMeansPlan:
    """All of a budget goes to steps, from centres that are public.

    Parameters
    ----------
    n_rows, epsilon, d, k, hard
        As in ``cells_then_step``, the budget being that of the steps.
    """
    quantile = own_quantile(n_rows * epsilon, d, k, hard)
    twice = strength(n_rows, epsilon, d, k, hard) > _TWICE
    return KMeansPlan(
        d, Fraction(0), Fraction(0), 0, _last_steps(Fraction(1), quantile, twice), k, quantile
    )


def plan_of_view(
    left: Fraction, n_rows: int, epsilon: float, d: int, k: int, hard: float | None = None
) -> KMeansPlan:
    """Cells of a view, small clusters if rows are many enough, and last steps.

    Parameters
    ----------
    left, n_rows, epsilon, d, k, hard
        As in ``cells_then_step``.
    """
    axes = view_axes(n_rows, epsilon, d)
    shadow = axes < d
    micro = left * (Fraction(30, 100) if shadow else Fraction(35, 100))
    rows_epsilon = n_rows * epsilon * float(micro - _RADIUS)  # of the micro step
    most = 3 * k if shadow else 4 * k  # a shadow tells fewer of them apart
    hard = hard or hardness(d)
    small = min(most, int(rows_epsilon * math.sqrt(0.1 if shadow else 0.06) / hard))
    if 2 * small < 3 * k:
        return _without_micro(left, axes, n_rows * epsilon, k, hard)
    cells = left * (Fraction(20, 100) if shadow else Fraction(30, 100))
    quantile = own_quantile(n_rows * epsilon, d, k, hard)
    # Means of clusters seen in a shadow are far from their rows: a second step, nearer, pays.
    steps = _last_steps(left - cells - micro, quantile, twice=shadow)
    return KMeansPlan(axes, cells, micro, small, steps, k, quantile)


def plan_of_halves(left: Fraction, d: int, k: int) -> KMeansPlan:
    """Halves of each axis of the box, and one step, with a half of the budget each."""
    cells = left / 2
    return KMeansPlan(d, cells, Fraction(0), 0, (left - cells,), k, cells_an_axis=2, even=True)


def plan_of_small_view(
    left: Fraction, n_rows: int, epsilon: float, d: int, k: int, hard: float | None = None
) -> KMeansPlan:
    """Cells of the part of a box in which the rows lie, in few columns.

    Cells of a view that is a little too wide hold two groups each, and noise in empty ones draws
    centres: means of many small clusters tell the groups apart, and their sizes the empty ones.

    Parameters
    ----------
    left, n_rows, epsilon, d, k, hard
        As in ``cells_then_step``.
    """
    plan = plan_of_view(left, n_rows, epsilon, d, k, hard)
    if not plan.micro_clusters:
        return cells_then_step(left, n_rows, epsilon, d, k, hard)
    rest = sum(plan.last_steps, Fraction(0))
    return replace(plan, last_steps=_last_steps(rest, plan.quantile, twice=True))


def _step(name: str, share: Fraction, quantile: Fraction | None) -> Step:
    """A step, with what it pays for one radius or for one a cluster."""
    return Step(name, share, _RADIUS if quantile is None else _OWN_RADII, quantile)


def _last_steps(
    share: Fraction, quantile: Fraction | None, twice: bool = False
) -> tuple[Fraction, ...]:
    """One step, or two: a first that may go far, a second with little noise."""
    if quantile is None and not twice:
        return (share,)
    return (share * Fraction(4, 10), share * Fraction(6, 10))


def _without_micro(
    left: Fraction, axes: int, rows_epsilon: float, k: int, hard: float
) -> KMeansPlan:
    # Half of the budget makes cells good, where they are more than halves of each axis.
    half = left / 2
    is_fine = view_cells_an_axis(rows_epsilon * float(half), axes) > 2
    cells = half if is_fine else left * Fraction(30, 100)
    step = left - cells
    stand_out = int(rows_epsilon * float(step - _RADIUS) * math.sqrt(0.3) / hard)
    return KMeansPlan(axes, cells, Fraction(0), 0, (step,), min(max(stand_out, 1), k))


def rational(share: float) -> Fraction:
    """A share on a lattice of 1/1024, so that shares stay exact and short."""
    return Fraction(math.floor(share * 1024), 1024)
