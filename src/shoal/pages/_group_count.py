"""Say why a page shows so many groups: the differences left inside more and fewer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shoal.errors import quantity
from shoal.figures import count_curve
from shoal.pages.page import CountReason

if TYPE_CHECKING:
    from shoal.cluster.choose.cost_curve import CostCurve


ACROSS = "Number of groups"
UPWARDS = "Differences left"
LEAST_TRIED = 8  # numbers of groups on a curve, at least
Spread = dict[int, tuple[float, float, float]]  # the low end, the value, the high end
MOST_TRIED = 20  # and at most: each is a run of k-means over the released cells


def count_reason(model: Any, n_groups: int) -> CountReason | None:
    """Return the curve over the number of groups, from the released cells; None without cells.

    It reads what was released and spends nothing.

    Parameters
    ----------
    model
        A fitted model with ``synopsis_``, or one that was learnt from reports.
    """
    costs = getattr(model, "cost_curve_", None)
    spread = _chosen_spread(costs) if costs is not None else _spread(model, n_groups)
    if spread is None or n_groups not in spread:
        return None
    figure = count_curve(
        {count: height for count, (_, height, _) in spread.items()},
        chosen=n_groups,
        value=UPWARDS,
        title="The differences left inside the groups, by how many there are",
        across=ACROSS,
        label=f"{n_groups} here",
        band=None if costs is None else {n: (low, high) for n, (low, _, high) in spread.items()},
    )
    lines = _lines({count: height for count, (_, height, _) in spread.items()}, n_groups)
    noise = [] if costs is None else ["The band is what noise makes of it in 95 of 100 releases."]
    return CountReason(figure, [*lines, *noise, _origin(model, n_groups)])


def _chosen_spread(costs: "CostCurve") -> Spread:
    """Return the costs that a choice was made by, of 100 at the smallest number of groups."""
    most = max(costs.costs) or 1.0
    return {
        count: (100 * low / most, 100 * costs.cost[count] / most, 100 * high / most)
        for count, (low, high) in costs.band.items()
    }


def _spread(model: Any, n_groups: int) -> Spread | None:
    """Return the inertia at each number of groups, of 100 at one group."""
    from shoal.cluster import choose
    from shoal.errors import ShoalError
    from shoal.synopsis import Synopsis

    synopsis = getattr(model, "synopsis_", None)
    source = synopsis if isinstance(synopsis, Synopsis) else model
    if (source is model and not hasattr(model, "density_")) or not 2 <= n_groups <= MOST_TRIED:
        return None
    among = range(1, min(max(LEAST_TRIED, n_groups + 4), MOST_TRIED) + 1)
    try:
        inertia = choose.k(source, by="elbow", among=among, random_state=0).curve
    except ShoalError:  # fewer cells than groups: then there is no curve to show
        return None
    most = max(inertia.values()) or 1.0
    return {int(count): (0.0, 100 * height / most, 0.0) for count, height in inertia.items()}


def _lines(spread: dict[int, float], n_groups: int) -> list[str]:
    lines = [
        f"Let the differences left inside {quantity(min(spread), 'group')} be 100. With "
        f"{quantity(n_groups, 'group')}, {spread[n_groups]:.0f} are left."
    ]
    if n_groups - 1 in spread:
        lines.append(f"With one less, {spread[n_groups - 1]:.0f} are left.")
    if n_groups + 1 in spread:
        lines.append(f"With one more, {spread[n_groups + 1]:.0f} would be.")
    return lines


def _origin(model: Any, n_groups: int) -> str:
    """Return who chose the number."""
    tried = getattr(model, "n_clusters", None)
    if isinstance(tried, Sequence) and len(tried) > 1:
        return (
            f"{n_groups} was picked by rule among {tried[0]} to {tried[-1]} from released numbers, "
            "so picking it cost no privacy."
        )
    return f"{n_groups} was given; the curve is made from released numbers and costs no privacy."
