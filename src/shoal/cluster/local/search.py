"""Round groups behind counts, looked for from many starts and by putting groups elsewhere.

Steps downhill move a group a little. Two groups on one cluster, and none on another, may stay so,
unless one of them is taken away and put where most is unexplained.
"""

import math
from dataclasses import replace

import numpy as np

from shoal.cluster.local.bumps import Bumps, Cells, fitted, greedy_start
from shoal.cluster.local.learnt import Progress
from shoal.domain.box import Matrix

__all__ = ["fits_of", "placed_anew", "spare_places"]

_STARTS = 24  # fewer miss the best fit, more gain nothing: measured
_TRIED_WIDTHS = (0.5, 1.0, 2.0)  # of the usual one
_HEATS = (1.0, 4.0)
_MOST_MOVES = 4


def fits_of(
    cells: Cells, k: int, rng: np.random.Generator, progress: Progress = None
) -> list[Bumps]:
    """Fits of ``k`` groups to the counts, good and bad.

    Parameters
    ----------
    cells, k
        Noisy counts, and how many groups are behind them.
    rng, progress
        Of the starts; hears which share of the work is done.
    """
    fits = []
    for start in range(_STARTS):
        width = _TRIED_WIDTHS[start % len(_TRIED_WIDTHS)] * cells.usual_width
        heat = _HEATS[start % len(_HEATS)]
        fits.append(fitted(cells, greedy_start(cells, k, width, heat, rng)))
        if progress is not None:
            progress((start + 1) / (_STARTS + 1))
    for _ in range(_MOST_MOVES):
        best = min(fits, key=_cost)
        moved = placed_anew(cells, best, rng)
        fits += moved
        if min(map(_cost, moved)) > best.cost - 1:
            break
    return fits


def placed_anew(cells: Cells, fit: Bumps, rng: np.random.Generator) -> list[Bumps]:
    """For each group a fit with it taken out, and put where the others leave most unexplained."""
    found = []
    for group in range(len(fit.centers)):
        others = fit.without(group)
        new = spare_places(cells, others, 1, rng)
        found.append(fitted(cells, np.vstack([others.centers, new])))
    return found


def spare_places(cells: Cells, fit: Bumps, more: int, rng: np.random.Generator) -> Matrix:
    """Where further groups would be, most likely: the places that a fit explains least.

    Parameters
    ----------
    cells, fit
        Noisy counts, and the groups known of.
    more, rng
        How many places; of the choice.
    """
    if not fit.sizes.size:  # of no groups at all nothing is explained
        return greedy_start(cells, more, cells.usual_width, 1.0, rng)
    rest = replace(cells, counts=cells.counts - fit.masses(cells))
    return greedy_start(rest, more, math.exp(fit.widths.mean()), 1.0, rng)


def _cost(fit: Bumps) -> float:
    return fit.cost
