"""Check the records handed to a local mechanism and convert them to float64 rows."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.arrays import Floats
from shoal.domain import Box
from shoal.domain.box import as_matrix
from shoal.errors import NotFinite, NotNumeric, OutsideDomain, UnknownBounds, setting

_BLOCK = 2**13  # rows looked at together


def records_of(
    value: ArrayLike, domain: Box | None = None, *, d: int | None = None, clip: bool = False
) -> Floats:
    """Return checked float64 rows; errors name counts and columns, never a value.

    Parameters
    ----------
    value
        A table, one row a person, or a single record: a flat array of d numbers. It is never
        written to; the result may share its memory.
    domain
        The public box, if there is one.
    d
        The number of columns, where there is no box and it is fixed.
    clip
        ``False``: rows that are not finite, or outside the box, are refused; this is for the
        holder of the rows. ``True``: every number is taken, as on a deployed client, where a
        report that fails to arrive would be an output too. Outside goes to the nearest point of
        the box, NaN to its centre.

    Examples
    --------
    >>> records_of([[3, 4]], Box(x=(0, 5), y=(0, 5))).tolist()
    [[3.0, 4.0]]
    >>> records_of([7, np.nan], Box(x=(0, 5), y=(0, 5)), clip=True).tolist()
    [[5.0, 2.5]]
    """
    rows = as_matrix(_as_lines(value), d if domain is None else domain.d)
    if clip:
        return _clip_to_box(rows, domain_required(domain, "clip=True"))
    if len(rows):
        lowest, highest = extremes(rows)
        _refuse_nonfinite(rows, lowest, highest, domain)
        if domain is not None:
            _refuse_outside(rows, lowest, highest, domain)
    return rows


def is_simulated(domain: Box | None) -> bool:
    """Return whether there are bounds, and they were estimated with seeded noise."""
    return domain is not None and domain.simulation


def domain_required(domain: Box | None, by: str) -> Box:
    """Return the box, or raise ``UnknownBounds`` where there is none."""
    if isinstance(domain, Box):
        return domain
    raise UnknownBounds(
        f"{by} needs public bounds.",
        "Give a box, e.g. domain=Box(age=(0, 110)). Bounds read from the rows would not be "
        "private.",
    )


def _as_lines(value: ArrayLike) -> NDArray[np.generic]:
    """Return an array with one record a line."""
    try:
        array: NDArray[np.generic] = np.asanyarray(value)
    except ValueError:
        raise NotNumeric(
            "The rows have different lengths.",
            "Give every row as many numbers as there are columns.",
        ) from None
    return array.reshape(1, -1) if array.ndim == 1 else array


def _clip_to_box(rows: Floats, box: Box) -> Floats:
    moved = box.clip(rows)
    # The centre, a public point: refusing would make the missing report an output.
    return np.where(np.isnan(moved), box.low / 2 + box.high / 2, moved)


def extremes(rows: Floats) -> tuple[Floats, Floats]:
    """Return the lowest and highest value of each column, NaN where there is one.

    Few columns make slow reductions, so rows are laid side by side first; and some at a time, so
    that the second look finds them in the cache.

    Parameters
    ----------
    rows
        The rows, at least one.
    """
    d = rows.shape[1]
    lows, highs = [], []
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        wide = block.reshape(-1, 128 * d) if len(block) == _BLOCK else block
        lows.append(wide.min(axis=0).reshape(-1, d).min(axis=0))
        highs.append(wide.max(axis=0).reshape(-1, d).max(axis=0))
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _refuse_nonfinite(rows: Floats, lowest: Floats, highest: Floats, domain: Box | None) -> None:
    if np.all(np.isfinite(lowest)) and np.all(np.isfinite(highest)):
        return
    names = [f"x{i}" for i in range(rows.shape[1])] if domain is None else domain.names
    raise NotFinite(
        f"{_describe_bad_values(~np.isfinite(rows), names)} NaN or infinite.",
        "Drop or fill those rows, or give a domain and "
        + setting("clip", True)
        + ": infinite goes to the nearest bound, NaN to the centre of the box.",
    )


def _refuse_outside(rows: Floats, lowest: Floats, highest: Floats, box: Box) -> None:
    if np.all(lowest >= box.low) and np.all(highest <= box.high):
        return
    raise OutsideDomain(
        f"{_describe_bad_values((rows < box.low) | (rows > box.high), box.names)} outside the box.",
        "Widen the box by public knowledge, drop those rows, or give "
        + setting("clip", True)
        + " to move them to its nearest point.",
    )


def _describe_bad_values(bad: NDArray[np.bool_], names: Iterable[str]) -> str:
    columns = [repr(name) for name, column in zip(names, bad.T, strict=True) if column.any()]
    shown = ", ".join(columns[:5]) + (f" and {len(columns) - 5} more" if len(columns) > 5 else "")
    return f"{np.count_nonzero(bad.any(axis=1))} of {len(bad)} rows have values in {shown} that are"
