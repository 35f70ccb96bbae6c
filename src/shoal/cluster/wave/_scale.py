r"""How fine the automatic selector of ``WaveCluster`` divides the box, and how wide it smooths.

A Gaussian filter of width :math:`\sigma` cells averages over about :math:`(2\sqrt\pi\,\sigma)^d` of
them. With :math:`\rho` rows and noise of variance v in a cell, the mean count under the filter is S
standard errors of sampling and noise if these cells are :math:`S^2 (\rho + v) / \rho^2`. Up to two
columns the filter is that wide, so that what it shows is as sure at every budget: less noise makes
it narrower down to the width that sampling alone asks for, and no further.

Only public and released numbers are read.
"""

import math

import numpy as np

from shoal.cluster.wave._noise import NoiseLaw, NoisyGrid

# All constants: docs/decisions/wave-selector.md.
_SURE, _ROWS = 1.7, 1_000  # standard errors of the mean count under the filter, at so many rows
_GROWTH = 0.3  # the power of the rows by which the square of them grows
_SIGMA, _WIDEST = 0.7, 5.6  # the least and the largest width of the filter, in cells
_SIGMA_ON_FINE = 1.1  # the most where cells are made finer because noise is small
_NOISE_SHARE = 0.3  # of the variance of sampling: noise as small as this is
_LEAST_NOISE = 1e-12  # of counts at a large epsilon, whose variance is too small for a float
_FEW_COLUMNS = 2  # up to which this holds; with more, the noise alone limits cells and filter
_MANY_COLUMNS = 4  # from which on nearly all cells are empty, and single rows would be peaks
_FINER, _LARGEST_EPSILON = 3.0, 4.0  # of the cells of more columns


def cells_an_axis(n_rows: float, epsilon: float, d: int) -> float:
    """Return how many cells along an axis the automatic selector wants.

    So many that its filter is 0.7 cells wide, or, where noise adds little, up to 1.1 cells: shapes
    thinner than a cell fall apart.

    Examples
    --------
    >>> [round(cells_an_axis(1_000, epsilon, 2)) for epsilon in (0.5, 1, 2, 4)]
    [21, 29, 38, 67]
    """
    if d > _FEW_COLUMNS:
        return _FINER * math.pow(n_rows * min(epsilon, _LARGEST_EPSILON) / 10, 1 / d)
    noise = max(NoiseLaw(epsilon).variance, _LEAST_NOISE)
    coarse, fine = (
        n_rows / _rows_a_cell(n_rows, noise, sigma, d) for sigma in (_SIGMA, _SIGMA_ON_FINE)
    )
    cells = min(max(_NOISE_SHARE * n_rows / noise, coarse), fine)
    return math.pow(cells, 1 / d)


def suggested_sigma(grid: NoisyGrid) -> float:
    """Suggest the filter's width, in cells.

    Up to two columns the mean count stands out from sampling and noise. With more, the filter is
    0.7 cells wide where they hold about 1/epsilon rows, else wider; from four columns on a cube as
    wide as the filter is to hold one row on average, since nearly all cells are empty.

    Examples
    --------
    >>> few, many = np.full((8, 8), 0.5), np.full((8, 8), 20.0)
    >>> [round(suggested_sigma(NoisyGrid(rows, variance=2.0)), 1) for rows in (few, many)]
    [0.9, 0.7]
    """
    rows, d = max(float(np.mean(grid.values)), 1e-6), grid.values.ndim
    if d <= _FEW_COLUMNS:
        cells = _squared_errors(rows * grid.values.size) * (rows + grid.variance) / rows**2
        sigma = math.pow(cells, 1 / d) / (2 * math.sqrt(math.pi))
    else:
        sigma = _SIGMA if d < _MANY_COLUMNS else math.pow(1 / rows, 1 / d)
        if grid.variance > 0:
            epsilon = math.sqrt(2 / grid.variance)  # that of Laplace noise as strong
            sigma = max(sigma, _SIGMA * math.pow(10 / (rows * epsilon), 1 / d) / _FINER)
    return min(max(sigma, _SIGMA), _WIDEST)


def _squared_errors(n_rows: float) -> float:
    return _SURE**2 * math.pow(n_rows / _ROWS, _GROWTH)


def _rows_a_cell(n_rows: float, noise: float, sigma: float, d: int) -> float:
    """Return the rows in a cell for which the suggested filter is this wide."""
    # The filter's cells are squared_errors * (rows + noise) / rows^2; this is the positive root.
    share = _squared_errors(n_rows) / math.pow(2 * math.sqrt(math.pi) * sigma, d)
    return (share + math.sqrt(share**2 + 4 * share * noise)) / 2
