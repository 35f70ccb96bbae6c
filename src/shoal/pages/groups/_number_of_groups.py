"""Say why a page shows so many groups: the differences left inside more and fewer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shoal.errors import quantity
from shoal.figures import count_curve
from shoal.pages.page import CountReason

if TYPE_CHECKING:
    from shoal.cluster.choose import CostCurve


ACROSS = "Number of groups"
UPWARDS = "Differences left"
Spread = dict[int, tuple[float, float, float]]  # the low end, the value, the high end


def count_reason(curve: "CostCurve | None", n_groups: int, tried: Any) -> CountReason | None:
    """Return the curve over the number of groups, as a figure and what it says; None without one.

    Parameters
    ----------
    curve
        That of a model's ``describe``.
    tried
        The number of groups that was given, or the numbers that it was chosen among.
    """
    if curve is None or n_groups not in curve.counts:
        return None
    spread, has_band = _spread(curve), bool(curve.deviations)
    figure = count_curve(
        {count: height for count, (_, height, _) in spread.items()},
        chosen=n_groups,
        value=UPWARDS,
        title="The differences left inside the groups, by how many there are",
        across=ACROSS,
        label=f"{n_groups} here",
        band={n: (low, high) for n, (low, _, high) in spread.items()} if has_band else None,
    )
    lines = _lines({count: height for count, (_, height, _) in spread.items()}, n_groups)
    noise = ["The band is what noise makes of it in 95 of 100 releases."] if has_band else []
    return CountReason(figure, [*lines, *noise, _origin(tried, n_groups)])


def _spread(curve: "CostCurve") -> Spread:
    """Return the costs, of 100 at the smallest number of groups, between what noise makes of them.

    Where the noise is not known, both ends are the cost itself.
    """
    most = max(curve.costs) or 1.0
    ends = curve.band if curve.deviations else {n: (cost, cost) for n, cost in curve.cost.items()}
    return {
        count: (100 * low / most, 100 * curve.cost[count] / most, 100 * high / most)
        for count, (low, high) in ends.items()
    }


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


def _origin(tried: Any, n_groups: int) -> str:
    """Return who chose the number."""
    if isinstance(tried, Sequence) and len(tried) > 1:
        return (
            f"{n_groups} was picked by rule among {tried[0]} to {tried[-1]} from released numbers, "
            "so picking it cost no privacy."
        )
    return f"{n_groups} was given; the curve is made from released numbers and costs no privacy."
