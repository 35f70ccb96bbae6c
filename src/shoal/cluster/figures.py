"""Draw the groups of a fitted model: centres on a map, or the profile of a group."""

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.domain import Box
from shoal.errors import DimensionMismatch, InvalidSetting, setting
from shoal.figures import (
    Figure,
    ProfileRow,
    cell_map,
    group_profile,
    raster_of_cells,
    raster_of_points,
)

MAPS = 4  # pairs of columns to draw at most
MAP_PARTS = 48  # of a map along each axis at most
_PROFILE_ROWS = 8


def plot(model: Any, **options: Any) -> Figure:
    """Draw a fitted model, from released numbers: its groups on a map, or the profile of a group.

    The figure shows itself in a notebook; ``svg()`` is the picture as text.

    Parameters
    ----------
    model
        A fitted clusterer, or whatever has a method ``plot``, such as the result of an attack.
    **options
        Those of its ``plot``: ``columns`` of a map, ``group`` of a profile.

    Raises
    ------
    InvalidSetting
        If there is no figure of such a thing.

    Examples
    --------
    >>> from shoal.cluster import PrivateKMeans
    >>> X = np.repeat([[0.2, 0.2], [0.8, 0.8]], 500, axis=0)
    >>> model = PrivateKMeans(2, epsilon=1.0, domain=Box.unit(2), random_state=7).fit(X)
    >>> plot(model).title
    'Groups by x0 and x1: centres numbered'
    """
    if not hasattr(model, "plot"):
        raise InvalidSetting(
            f"There is no figure of a {type(model).__name__}.",
            "Give a fitted PrivateKMeans, PrivateKPrototypes, WaveCluster or LocalClusterer.",
            setting="model",
        )
    figure: Figure = model.plot(**options)
    return figure


def center_map(
    box: Box | None,
    centers: Floats,
    counts: Callable[[list[int]], Integers],
    columns: Sequence[str] | None,
    of: str,
) -> Figure:
    """Draw centres over two columns.

    Parameters
    ----------
    counts
        Returns the released counts over two columns, given by their places.
    columns
        The names of the two; None takes those in which centres are the most distant.
    of
        What is counted.
    """
    if box is None or box.d < 2:
        raise DimensionMismatch(
            "A map shows two columns with public bounds; the groups have "
            f"{'none' if box is None else '1'}.",
            "shoal.report(model) shows them in a table.",
        )
    at = list(column_pairs(box, centers)[0]) if columns is None else _places(box, columns)
    names = [box.names[i] for i in at]
    return cell_map(
        counts(at),
        names=names,
        low=box.low[at],
        high=box.high[at],
        title=f"Groups by {names[0]} and {names[1]}: centres numbered",
        centers=box.clip(centers)[:, at],
        of=of,
    )


def _places(box: Box, columns: Sequence[str]) -> list[int]:
    if len(set(columns)) != 2 or not set(columns) <= set(box.names):
        raise InvalidSetting(
            setting("columns") + " must name two columns of the model.",
            "E.g. " + setting("columns", list(box.names[:2])) + ".",
            setting="columns",
        )
    return [box.names.index(name) for name in columns]


def column_pairs(box: Box, centers: Floats) -> list[tuple[int, int]]:
    """Return pairs of columns worth a map, those with the most distant centres first."""
    if box.distance_unit == "km":
        return [(1, 0)]  # longitude across
    spread = (centers / (box.high - box.low)).std(axis=0) if len(centers) else np.zeros(box.d)
    each = combinations(range(box.d), 2)
    return sorted(each, key=lambda pair: -spread[pair[0]] * spread[pair[1]])[:MAPS]


def cells_of_synopsis(synopsis: Any, box: Box, at: list[int], n_rows: int) -> Integers:
    """Return the released cells on a grid of two columns; zeros if none were released."""
    within = np.stack([box.low[at], box.high[at]])
    parts = min(MAP_PARTS, max(8, math.isqrt(n_rows // 8)))
    if synopsis is None:
        return np.zeros((1, 1), dtype=np.int64)
    cells, view = synopsis.cells_, synopsis.view_
    if view is None:
        corners = cells.low[:, at], cells.high[:, at]
        return raster_of_cells(*corners, cells.weight, within=within, parts=parts)
    points = view.place(cells.centers)[:, at]
    return raster_of_points(points, cells.weight, within=within, parts=parts)


def profile_of_group(profiles: Any, group: int | None) -> Figure:
    """Draw what is typical of a group beside everyone.

    Parameters
    ----------
    profiles
        The ``profiles_`` of a ``PrivateKPrototypes``.
    group
        Its number, from 1; None takes the largest group.
    """
    number = profiles.by_size()[0] + 1 if group is None else group
    if number not in range(1, profiles.n_groups + 1):
        raise InvalidSetting.of(
            "group", f"must be a whole number from 1 to {profiles.n_groups}", 1, group
        )
    rows = [_profile_row(each) for each in profiles.differences(number - 1)[:_PROFILE_ROWS]]
    return group_profile(rows, number=number, title=profiles.titles[number - 1])


def _profile_row(each: Any) -> ProfileRow:
    low, width = each.span[0], (each.span[1] - each.span[0]) or 1.0
    known, is_share = not math.isnan(each.low), each.value is not None
    here, everyone = (
        f"{100 * value:.0f} in 100" if is_share else f"{value:,.4g}"
        for value in (each.here, each.everyone)
    )
    return ProfileRow(
        label=each.label,
        value=here,
        everyone=everyone,
        here=(each.here - low) / width,
        low=(each.low - low) / width if known else None,
        high=(each.high - low) / width if known else None,
        other=(each.everyone - low) / width,
        is_share=is_share,
    )
