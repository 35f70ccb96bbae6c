"""Say why a page shows so many groups: the spread left inside them, for more and fewer."""

from collections.abc import Sequence
from typing import Any

from shoal.figures import count_curve
from shoal.pages.page import CountReason

__all__ = ["count_reason"]

ACROSS = "Number of groups"
UPWARDS = "Spread left, of 100"
LEAST_TRIED = 8  # numbers of groups on a curve, at least
MOST_TRIED = 20  # and at most: each is a run of k-means over the released cells


def count_reason(model: Any, n_groups: int) -> CountReason | None:
    """Return the curve over the number of groups, from the released cells; None without cells.

    It reads what was released and spends nothing.

    Parameters
    ----------
    model
        A fitted model with ``synopsis_``, or one that was learnt from reports.
    n_groups
        How many groups it shows.
    """
    source = getattr(model, "synopsis_", None) or (model if hasattr(model, "density_") else None)
    if source is None or n_groups > MOST_TRIED:
        return None
    spread = _spread(source, n_groups)
    if spread is None or not 2 <= n_groups <= max(spread):
        return None
    figure = count_curve(
        spread,
        chosen=n_groups,
        value=UPWARDS,
        title="The spread left inside the groups, by how many there are",
        across=ACROSS,
        label=f"{n_groups} here",
    )
    return CountReason(figure, _lines(model, n_groups, spread))


def _spread(source: Any, n_groups: int) -> dict[float, float] | None:
    """Return the inertia at each number of groups, of 100 at one group."""
    from shoal.cluster import choose
    from shoal.errors import ShoalError

    among = range(1, min(max(LEAST_TRIED, n_groups + 4), MOST_TRIED) + 1)
    try:
        inertia = choose.k(source, by="elbow", among=among, random_state=0).curve
    except ShoalError:  # fewer cells than groups: then there is no curve to show
        return None
    most = max(inertia.values()) or 1.0
    return {count: 100 * height / most for count, height in inertia.items()}


def _lines(model: Any, n_groups: int, spread: dict[float, float]) -> list[str]:
    fewer, here = spread[n_groups - 1], spread[n_groups]
    lines = [
        f"With one group less, {fewer:.0f} of 100 parts of the spread are left inside the groups; "
        f"with {n_groups}, {here:.0f}."
    ]
    if n_groups + 1 in spread:
        lines.append(f"One more would leave {spread[n_groups + 1]:.0f}.")
    return [*lines, _origin(getattr(model, "n_clusters", None), n_groups)]


def _origin(n_clusters: Any, n_groups: int) -> str:
    """Return who chose the number."""
    if isinstance(n_clusters, Sequence | range) and len(n_clusters) > 1:
        return (
            f"{n_groups} was picked by rule among {n_clusters[0]} to {n_clusters[-1]} from "
            "released numbers, so picking it cost no privacy."
        )
    return f"{n_groups} was given; the curve is made from released numbers and costs no privacy."
