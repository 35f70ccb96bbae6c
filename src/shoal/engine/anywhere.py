"""A box for numbers that may lie anywhere: reports, and rows that are only measured."""

from collections.abc import Iterable

from shoal.domain import Box

__all__ = ["anywhere"]

_FAR = 1e300  # nothing is out there, and differences do not overflow


def anywhere(columns: Iterable[str]) -> Box:
    """Bounds that hold every number that occurs, for columns whose rows are not to be moved.

    Examples
    --------
    >>> anywhere(["age"]).names
    ('age',)
    """
    return Box(**dict.fromkeys(columns, (-_FAR, _FAR)))
