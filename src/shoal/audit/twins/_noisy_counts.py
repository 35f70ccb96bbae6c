"""Twins of counts: noise too small, one-sided or absent, omitted cells, and unpaid sizes."""

from typing import Any

import numpy as np

from shoal.audit._draws import Draw
from shoal.audit.case import Twin
from shoal.audit.twins._base import BrokenMechanism, Stream, declare_broken, pure_claim
from shoal.mechanisms import Geometric

CLAIM = pure_claim(1)


def _draw_noisy_counts(counts: Any, n: int, rng: Stream, epsilon: int = 1) -> Any:
    """Draw geometric noise on each count, n times over."""
    return Geometric(pure_claim(epsilon)).release(np.full((n, *np.shape(counts)), counts), rng)


@declare_broken("two cells change when a row moves, and each has noise for epsilon")
def _draw_cells_of_moved_row(cells: Any, n: int, rng: Stream) -> Any:
    """Draw two noisy cells; extremes, which tell no more, are put together."""
    return np.clip(_draw_noisy_counts(cells, n, rng), -9, 9)


@declare_broken("cells without rows get no noise, so a cell that shows has a row")
def _draw_occupied_cells(count: int, n: int, rng: Stream) -> Any:
    """Draw one cell of a sparse grid, shown if it has rows and its noisy count reaches 3."""
    shown = _draw_noisy_counts(count, n, rng)
    return np.where((shown >= 3) & (count > 0), shown, 0)


@declare_broken("counted cells are listed before drawn ones")
def _draw_in_draw_order(count: int, n: int, rng: Stream) -> Any:
    """Draw the first of sixteen listed cells; the last holds ``count`` rows, the others none."""
    cells = np.zeros(16, dtype=int)
    cells[15] = count
    shown = _draw_noisy_counts(cells, n, rng) >= 1
    first = np.where(shown.any(axis=1), shown.argmax(axis=1), -1)
    return np.where(shown[:, 15] & (count > 0), 15, first)


@declare_broken("the number of rows is used as it is")
def _draw_with_exact_size(size: int, n: int, rng: Stream) -> Any:
    """Draw a noisy count, and its threshold: a share of the exact number of rows."""
    return np.column_stack([_draw_noisy_counts(40, n, rng), np.full(n, size / 8)])


@declare_broken("which rows of a person are kept hangs on where they lie in the table")
def _draw_rows_chosen_by_place(in_front: int, n: int, rng: Stream) -> Any:
    """Draw counts of two cells; twenty people have a row in each, of which the even one stays."""
    places = in_front + np.arange(40)
    counts = np.bincount(np.arange(40)[places % 2 == 0] % 2, minlength=2)
    return np.clip(_draw_noisy_counts(counts, n, rng), -9, 30)


@declare_broken("bounds are read off the rows")
def _draw_with_own_bounds(largest: float, n: int, rng: Stream) -> Any:
    """Draw counts of two cells between 0 and the largest row, and where the box ends."""
    return np.column_stack([_draw_noisy_counts((3, 2), n, rng), np.full(n, largest)])


def _count(draw: Draw, reason: str, at_least: float, about: str) -> Twin:
    return Twin(BrokenMechanism(draw, reason), (5, 6), CLAIM, at_least, about=about)


twins = {
    "half the noise on a count": _count(
        lambda x, n, rng: _draw_noisy_counts(x, n, rng, epsilon=2),
        "half the noise",
        1.95,
        "A count for a person with two rows, with noise for one. True loss 2; measured.",
    ),
    "noise one way only": _count(
        lambda x, n, rng: np.maximum(_draw_noisy_counts(x, n, rng), x),
        "noise that never takes away",
        9.3,
        "Counts that are kept from falling, so that no cell looks emptier than it is: the true "
        "count is a lower bound anyone can read. At the ceiling; measured.",
    ),
    "noise that ends": _count(
        lambda x, n, rng: x + rng.integers(-3, 4, n),
        "bounded noise",
        7.7,
        "Uniform or truncated noise, as in tables protected by hand: counts at either end "
        "rule a neighbour out. At the ceiling for an event of one in seven; measured.",
    ),
    "one value unnoised": _count(
        lambda x, n, rng: np.where(x == 6, x, _draw_noisy_counts(x, n, rng)),
        "one value gets no noise",
        9.4,
        "A special case without noise, such as a zero that stays zero: a value known for sure "
        "where neighbours are blurred. At the ceiling; measured.",
    ),
    "add-remove counts sold as replace-one": Twin(
        _draw_cells_of_moved_row,
        ((1, 0), (0, 1)),
        pure_claim(1, neighbours="replace-one"),
        at_least=1.93,
        about="Histograms with noise for one row added or removed, described as hiding what a row "
        "says. Replacing a row changes two cells: 2 epsilon.",
    ),
    "sparse grid without false cells": Twin(
        _draw_occupied_cells,
        (0, 1),
        CLAIM,
        at_least=6.19,
        about="A group-by returns occupied cells only, and noise is put on what it returns. A cell "
        "that shows at all has a row. Cormode et al. (ICDT 2012) say how to draw the empty ones.",
    ),
    "cells listed in the order drawn": Twin(
        _draw_in_draw_order,
        (0, 1),
        CLAIM,
        at_least=5.4,
        about="Empty cells are drawn as they should be, and appended: the place of a cell in the "
        "list tells counted from drawn. True loss ln(0.731/0.0024) = 5.7 on sixteen cells; the "
        "figure is measured.",
    ),
    "exact number of rows in a threshold": Twin(
        _draw_with_exact_size,
        (320, 321),
        CLAIM,
        at_least=9.7,
        event=lambda z: z[:, 1] == 40,
        about="The number of rows taken for public and built into a threshold, as code for private "
        "k-means by evolution of samples does. Under add-remove it is the one thing promised to be "
        "hidden. At the ceiling.",
    ),
    "rows kept by their place": Twin(
        _draw_rows_chosen_by_place,
        (0, 1),
        CLAIM,
        at_least=9.7,
        about="Each person keeps one row, chosen by a hash of its position. If somebody leaves, "
        "every later row moves up and other people keep other rows. At the ceiling; measured.",
    ),
    "box from the rows": Twin(
        _draw_with_own_bounds,
        (0.8, 0.9),
        CLAIM,
        at_least=9.7,
        event=lambda z: z[:, -1] == 0.8,
        about="Bounds that are missing are read off the rows, as libraries do with a warning and "
        "the code of private WaveCluster does in silence. The box is published with every grid, "
        "and its corner is somebody's value. At the ceiling.",
    ),
}
