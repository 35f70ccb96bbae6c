"""How a budget is divided and what it buys: rules that read released and public numbers only."""

import math
from dataclasses import dataclass
from fractions import Fraction

__all__ = [
    "FEW_AXES",
    "Plan",
    "cells_alone",
    "cells_then_step",
    "location_share",
    "plan_of_view",
    "strength",
]

FEW_AXES = 5  # up to here the cells are those of the box itself
_MOST_AXES = 12
_RADIUS = Fraction(1, 50)  # of the whole budget, for the radius of each step


@dataclass(frozen=True)
class Plan:
    """Shares of the whole budget, by name, and what is done with them.

    Attributes
    ----------
    axes
        How many axes the cells have.
    cells
        The share of the cells.
    micro, micro_clusters
        The share of the step that finds the means of many small clusters, and how many; 0 without.
    steps, refined
        The share of each last step, and how many centres they move: 0 without.
    """

    axes: int
    cells: Fraction
    micro: Fraction
    micro_clusters: int
    steps: tuple[Fraction, ...]
    refined: int

    @property
    def radius(self) -> Fraction:
        """What the radius takes of the share of each step."""
        return _RADIUS

    @property
    def for_steps(self) -> Fraction:
        """The shares of all steps together, without their radii."""
        steps = (self.micro, *self.steps) if self.micro else self.steps
        return sum((step - _RADIUS for step in steps), Fraction(0))


def hardness(d: int) -> float:
    """How much noise a mean of unit vectors in d dimensions meets: sqrt(d (d + 2))."""
    return math.sqrt(d * (d + 2))


def strength(n_rows: int, epsilon: float, d: int, k: int) -> float:
    """How far a cluster of average size stands out of the noise; below 4 nothing does well."""
    return n_rows * epsilon / (k * hardness(d))


def location_share(n_rows: int, epsilon: float, d: int) -> Fraction:
    """What finding the rows' middle and spread may cost; 0 where cells of the box will do."""
    if d <= FEW_AXES:
        return Fraction(0)
    wanted = min(0.25, 5 * hardness(d) / (n_rows * epsilon))
    return max(Fraction(6, 100), rational(wanted))


def cells_alone(left: Fraction, axes: int) -> Plan:
    """All that is left goes to the cells."""
    return Plan(axes, left, Fraction(0), 0, (), 0)


def cells_then_step(left: Fraction, n_rows: int, epsilon: float, d: int, k: int) -> Plan:
    """Cells of the box itself, and one step where it will pay.

    Parameters
    ----------
    left
        The share of the budget that is left.
    n_rows, epsilon, d, k
        Released or public number of rows, the whole budget for one row, columns, clusters.
    """
    # Measured: where a step's noise would be large beside that of the cells, they take it all.
    felt = strength(n_rows, epsilon * float(left) * 0.27, d, k)
    if felt < (12 if d < 4 else 4):
        return cells_alone(left, d)
    cells = left * Fraction(6, 10)
    return Plan(d, cells, Fraction(0), 0, (left - cells,), k)


def plan_of_view(left: Fraction, n_rows: int, epsilon: float, d: int, k: int) -> Plan:
    """Cells of a view, small clusters if rows are many enough, and last steps.

    Parameters
    ----------
    left, n_rows, epsilon, d, k
        As in ``cells_then_step``.
    """
    axes = min(d, _MOST_AXES, max(2, int(math.log2(max(n_rows * epsilon, 1)))))
    shadow = axes < d
    micro = left * (Fraction(30, 100) if shadow else Fraction(35, 100))
    rows_felt = n_rows * epsilon * float(micro - _RADIUS)  # by the micro step
    most = 3 * k if shadow else 4 * k  # a shadow tells fewer of them apart
    small = min(most, int(rows_felt * math.sqrt(0.1 if shadow else 0.06) / hardness(d)))
    if 2 * small < 3 * k:
        return _without_micro(left, axes, n_rows * epsilon, d, k)
    cells = left * (Fraction(20, 100) if shadow else Fraction(30, 100))
    rest = left - cells - micro
    # Means of clusters seen in a shadow are far from their rows: a second step, nearer, pays.
    steps = (rest * Fraction(4, 10), rest * Fraction(6, 10)) if shadow else (rest,)
    return Plan(axes, cells, micro, small, steps, k)


def _without_micro(left: Fraction, axes: int, felt: float, d: int, k: int) -> Plan:
    cells = left * Fraction(30, 100)
    step = left - cells
    stand_out = int(felt * float(step - _RADIUS) * math.sqrt(0.3) / hardness(d))
    return Plan(axes, cells, Fraction(0), 0, (step,), min(max(stand_out, 1), k))


def rational(share: float) -> Fraction:
    """A share on a lattice of 1/1024, so that shares stay exact and short."""
    return Fraction(math.floor(share * 1024), 1024)
