"""Draw the groups of a fitted model: centres on a map or an axis, or the profile of a group."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats, Integers
from shoal.domain import Box
from shoal.errors import DimensionMismatch, InvalidSetting, setting
from shoal.figures import (
    Figure,
    ProfileRow,
    bars,
    cell_map,
    group_profile,
    raster_of_cells,
    raster_of_points,
)

MAPS = 4  # pairs of columns to draw at most
MAP_PARTS = 48  # of a map along each axis at most
_PROFILE_ROWS = 8


def plot(model: Any, **options: Any) -> Figure:
    """Draw a fitted model: its groups on a map, along an axis, or the profile of a group.

    It is drawn from released numbers, but for a model that adds no noise: the words of the figure
    then say that it is for the holder of the rows.

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
            "Give a fitted clusterer, e.g. a PrivateKMeans, or the result of an attack.",
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
    """Draw centres over two columns, or along the only one.

    Parameters
    ----------
    counts
        Returns the released counts over two columns, or over one, given by their places.
    columns
        The names of the two; None takes those in which centres are the most distant.
    """
    if box is None:
        raise DimensionMismatch(
            "A map shows columns with public bounds; the groups have none.",
            "shoal.report(model) shows them in a table.",
        )
    if box.d == 1:
        _check_only_column(box, columns)
        return center_bars(box, counts([0]), box.clip(centers), of=of)
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


def center_bars(
    box: Box,
    counts: Integers,
    centers: Floats,
    spans: ArrayLike = (),
    *,
    of: str,
    noisy: bool = True,
) -> Figure:
    """Draw centres along one column, over bars of the counts of even cells."""
    edges = np.linspace(box.low[0], box.high[0], len(counts) + 1)
    return bars(
        edges[:-1],
        edges[1:],
        counts,
        name=box.names[0],
        within=[box.low[0], box.high[0]],
        title=f"Groups by {box.names[0]}: {'ranges' if np.size(spans) else 'centres'} numbered",
        centers=centers,
        spans=spans,
        of=of,
        noisy=noisy,
    )


def _check_only_column(box: Box, columns: Sequence[str] | None) -> None:
    if columns is not None and list(columns) != list(box.names):
        raise InvalidSetting(
            setting("columns") + " must name the only column of the model.",
            "E.g. " + setting("columns", list(box.names)) + ", or leave it out.",
            setting="columns",
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
    """Return the released cells on a grid of one or two columns; zeros if there are none."""
    within = np.stack([box.low[at], box.high[at]])
    parts = min(MAP_PARTS, max(8, math.isqrt(n_rows // 8)))
    if synopsis is None:
        return np.zeros((1,) * len(at), dtype=np.int64)
    cells, view = synopsis.cells_, synopsis.view_
    if view is None:
        corners = cells.low[:, at], cells.high[:, at]
        return raster_of_cells(*corners, cells.weight, within=within, parts=parts)
    points = view.place(cells.centers)[:, at]
    return raster_of_points(points, cells.weight, within=within, parts=parts)


def profile_of_group(profiles: Any, group: int | None, *, noisy: bool = True) -> Figure:
    """Draw what is typical of a group beside everyone.

    Parameters
    ----------
    profiles
        The ``profiles_`` of a ``PrivateKPrototypes`` or a ``KPrototypes``.
    group
        Its number, from 1; None takes the largest group.
    """
    number = group_number(profiles.sizes, group)
    rows = [_profile_row(each) for each in profiles.differences(number - 1)[:_PROFILE_ROWS]]
    return group_profile(rows, number=number, title=profiles.titles[number - 1], noisy=noisy)


def profile_of_prototype(
    numbers: Sequence[ProfileRow], modes: Mapping[str, Any], *, number: int, title: str
) -> Figure:
    """Draw a prototype: numbers beside everyone's, farthest first, and most common categories."""
    by_distance = sorted(numbers, key=lambda row: -abs((row.here or 0.0) - (row.other or 0.0)))
    common = [ProfileRow(name, str(value), "", None, None, None, None, is_share=False)
              for name, value in modes.items()]  # fmt: skip
    return group_profile([*by_distance, *common][:_PROFILE_ROWS], number=number, title=title)


def group_number(sizes: ArrayLike, group: int | None) -> int:
    """Return the number of a group, from 1; of the largest if None is given."""
    if group is None:
        return int(np.argmax(sizes)) + 1
    if group not in range(1, np.size(sizes) + 1):
        raise InvalidSetting.of(
            "group", f"must be a whole number from 1 to {np.size(sizes)}", 1, group
        )
    return group


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
