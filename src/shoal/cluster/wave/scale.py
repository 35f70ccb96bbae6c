r"""How fine the automatic selector of ``WaveCluster`` divides the box, and how wide it smooths.

A Gaussian filter of width :math:`\sigma` cells averages over about :math:`(2\sqrt\pi\,\sigma)^d` of
them. With :math:`\rho` rows and noise of variance v in a cell, that many cells hold a mean count
that is :math:`S` standard errors of sampling and noise above nothing if they are
:math:`S^2 (\rho + v) / \rho^2`. The filter is that wide, so that what it shows is as sure at every
budget: less noise makes it narrower down to the width that sampling alone asks for, and no further.

Only public and released numbers are read.
"""

import math

import numpy as np

from shoal.cluster.wave.noise import NoiseLaw, NoisyGrid

__all__ = ["cells_an_axis", "suggested_sigma"]

# All constants: docs/decisions/wave-selector.md.
_SURE, _SURE_OF_THREE = (
    2.4,
    1.0,
)  # standard errors of the mean count, up to two and in three columns
_ROWS = 1_000  # at which they hold
_GROWTH = 0.3  # the power of the rows by which the square of it grows
_SIGMA, _WIDEST = 0.7, 8.0  # the least and the largest width of the filter, in cells
_MANY_COLUMNS = 4  # from which on nearly all cells are empty, and single rows would be peaks
_FINER, _LARGEST_EPSILON = 3.0, 4.0  # of the cells of so many columns


def cells_an_axis(n_rows: float, epsilon: float, d: int) -> float:
    """Return how many cells along an axis make the suggested filter 0.7 cells wide.

    Parameters
    ----------
    n_rows
        The number of rows, public or released.
    epsilon
        The budget of the counts.
    d
        The number of columns.

    Examples
    --------
    >>> [round(cells_an_axis(1_000, epsilon, 2)) for epsilon in (0.5, 1, 2, 4)]
    [18, 24, 30, 32]
    """
    if d >= _MANY_COLUMNS:
        return _FINER * math.pow(n_rows * min(epsilon, _LARGEST_EPSILON) / 10, 1 / d)
    sure, noise = _squared_errors(n_rows, d), NoiseLaw(epsilon).variance
    # The filter's cells are sure (rho + noise) / rho^2 with rho = n_rows / cells: a quadratic
    # equation in n_rows / cells, of which this is the positive root.
    share = sure / _filter_cells(_SIGMA, d)
    rows_a_cell = (share + math.sqrt(share**2 + 4 * share * noise)) / 2
    return math.pow(n_rows / rows_a_cell, 1 / d)


def suggested_sigma(grid: NoisyGrid) -> float:
    """Suggest the filter's width, in cells: the mean count stands out from sampling and noise.

    From four columns on a cube as wide as the filter is to hold one row on average instead, or
    more where there is noise: nearly all cells are empty.

    Parameters
    ----------
    grid
        Released coefficients.

    Examples
    --------
    >>> few, many = np.full((8, 8), 0.5), np.full((8, 8), 20.0)
    >>> [round(suggested_sigma(NoisyGrid(rows, variance=2.0)), 1) for rows in (few, many)]
    [1.4, 0.7]
    """
    rows, d = max(float(np.mean(grid.values)), 1e-6), grid.values.ndim
    if d >= _MANY_COLUMNS:
        sigma = math.pow(1 / rows, 1 / d)
        if grid.variance > 0:
            epsilon = math.sqrt(2 / grid.variance)  # that of Laplace noise as strong
            sigma = max(sigma, _SIGMA * math.pow(10 / (rows * epsilon), 1 / d) / _FINER)
    else:
        cells = _squared_errors(rows * grid.values.size, d) * (rows + grid.variance) / rows**2
        sigma = math.pow(cells, 1 / d) / _filter_cells(1, 1)
    return min(max(sigma, _SIGMA), _WIDEST)


def _squared_errors(n_rows: float, d: int) -> float:
    sure = _SURE if d < 3 else _SURE_OF_THREE
    return sure**2 * math.pow(n_rows / _ROWS, _GROWTH)


def _filter_cells(sigma: float, d: int) -> float:
    """Return over how many cells a filter averages: one over the sum of its squared weights."""
    return math.pow(2 * math.sqrt(math.pi) * sigma, d)
