"""What another budget would do, from a release that was made: rows are drawn about its groups."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.domain import Box
from shoal.errors import InvalidSetting
from shoal.planning.made_up import rows_about, spacing_of
from shoal.planning.public_facts import Plan, Progress, check_trust, check_within, curves_of
from shoal.planning.trial import Trial, rows_to_make
from shoal.randomness import Randomness

__all__ = ["FLATTERY", "FLATTERY_WITHOUT_CELLS", "Flattery", "what_if"]

Matrix = NDArray[np.float64]
_TABLES = 4
_LEAST_SPREAD = 0.005  # of a side: cells without a second row tell no spread
_UNKNOWN_SPREAD = 0.2  # of the spacing, where no cells were released: groups near each other


class Flattery(NamedTuple):
    """What a what-if predicted over what fits did, measured.

    Parameters
    ----------
    median
        The median over settings.
    least
        The least: there it promised too much.
    greatest
        The greatest: there it promised too little.
    settings
        How many settings there were.
    """

    median: float
    least: float
    greatest: float
    settings: int


# Measured by bench/plan.py: docs/decisions/plan.md. Without released cells of all columns nobody
# knows the spread of the groups: there it was measured twice, and is worth nothing.
FLATTERY = Flattery(0.66, 0.084, 4.8, 18)
FLATTERY_WITHOUT_CELLS = Flattery(75.0, 0.19, 150.0, 2)


def what_if(
    model: Any,
    *,
    epsilons: Sequence[float] | None = None,
    trust: str = "central",
    within: float = 0.05,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Plan:
    """Predict the error at other budgets from a released model; nothing more is spent.

    Rows are drawn about the released centres, as many as were released for each, with the spread
    that the released cells show; without cells of all columns, from six on or for "lloyd", as if
    groups were near each other. Tables drawn from a release are smoother than the one behind it,
    so errors come out too small where groups are not round: ``Plan.flattery`` is by how much, as
    measured.

    Parameters
    ----------
    model
        A fitted ``PrivateKMeans``, or one that was loaded.
    epsilons
        The budgets to try; None for the usual ones.
    trust
        "central", "local" or "both".
    within
        The wanted error of nine in ten coordinates, as a share of the range.
    random_state
        The seed of rows and fits.
    progress
        Called with what is being done and how far it is, from 0 to 1.

    Examples
    --------
    >>> from shoal import PrivateKMeans
    >>> rows = np.random.default_rng(0).normal([[0.3], [0.7]], 0.05, (2, 500)).reshape(-1, 1)
    >>> model = PrivateKMeans(2, epsilon=1, domain=Box.unit(1), random_state=7).fit(rows)
    >>> found = what_if(model, epsilons=[0.5, 2])
    >>> found.n_clusters, [band.epsilon for band in found.curves["central"].bands]
    (2, [0.5, 2.0])
    """
    check_trust(trust)
    check_within(within)
    box = _box_of(model)
    centers = box.scale(model.cluster_centers_)
    sizes = np.maximum(model.cluster_weights_, 1.0)
    n, spread = int(sizes.sum()), _spreads(model, box, centers)

    def trials(_: str) -> dict[str, list[Trial]]:
        rng, rows = Randomness(random_state).compute, rows_to_make(n, box.d)
        drawn = [
            rows_about(centers, sizes / sizes.sum(), spread, rows, rng) for _ in range(_TABLES)
        ]
        return {"as released": [Trial(each, n, centers) for each in drawn]}

    curves, skipped = curves_of(
        trials, box.d, n, epsilons, trust, within, 1, random_state, progress
    )
    found = Plan(len(centers), box, n, 1, None, within, curves, skipped)
    return replace(found, flattery=FLATTERY if _has_cells(model) else FLATTERY_WITHOUT_CELLS)


def _box_of(model: Any) -> Box:
    box = getattr(model, "box", None)
    if box is None or not hasattr(model, "cluster_weights_"):
        raise InvalidSetting(
            f"A what-if needs a model with released centres and sizes; got {type(model).__name__}.",
            "Use a fitted PrivateKMeans, or plan from public facts alone.",
        )
    return box  # type: ignore[no-any-return]


def _has_cells(model: Any) -> bool:
    """Whether it released cells of all its columns."""
    synopsis = getattr(model, "synopsis_", None)
    return synopsis is not None and synopsis.view_ is None and len(synopsis.cells_) > 0


def _spreads(model: Any, box: Box, centers: Matrix) -> Matrix:
    """The standard deviations of each group in the unit box, as its cells show them."""
    usual = np.full(centers.shape, _UNKNOWN_SPREAD * spacing_of(centers))
    if not _has_cells(model):
        return usual
    synopsis = model.synopsis_
    points, weights = synopsis.points()
    unit, sides = box.scale(points), _sides(synopsis, box)
    group = ((unit[:, None] - centers[None]) ** 2).sum(axis=2).argmin(axis=1)
    for j in np.unique(group[weights > 0]):
        own, weight = group == j, weights[group == j]
        middle = np.average(unit[own], axis=0, weights=weight)
        # Rows lie evenly in their cells: a twelfth of the side's square besides.
        squares = (unit[own] - middle) ** 2 + sides[own] ** 2 / 12
        usual[j] = np.maximum(np.sqrt(np.average(squares, axis=0, weights=weight)), _LEAST_SPREAD)
    return usual


def _sides(synopsis: Any, box: Box) -> Matrix:
    return np.asarray((synopsis.cells_.high - synopsis.cells_.low) / (box.high - box.low))
