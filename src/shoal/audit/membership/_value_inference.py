"""Attribute inference and model inversion against released points: centres, or cells of a synopsis.

Whoever knows how columns are related guesses a value of anybody, inside the table or not. What a
release tells about those inside is the difference between them and people who were left out.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from shoal.arrays import Floats
from shoal.audit.membership._victim import as_rows
from shoal.errors import DimensionMismatch, InvalidSetting, TooFewRows

_BLOCK = 4_096  # people whose distances are computed at a time


@dataclass(frozen=True)
class ValueInference:
    """How well values are guessed from released points; ``float()`` of it is ``added``.

    Attributes
    ----------
    members_error
        Mean absolute error of the guess for people in the table.
    others_error
        The same for people who are not in it.
    without
        The error for people in the table of a guess without the release: the median of the others.
    standard_error
        Of ``added``.
    member_distance
        Mean distance of a released point to the nearest person in the table, all columns.
    other_distance
        The same to as many people who are not in it.
    people
        How many are guessed on each side.
    """

    members_error: float
    others_error: float
    without: float
    standard_error: float
    member_distance: float
    other_distance: float
    people: int

    @property
    def added(self) -> float:
        """What being in the table adds: the others' error less the members'."""
        return self.others_error - self.members_error

    def __float__(self) -> float:
        return self.added

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"kind": "ValueInference", **asdict(self), "added": self.added}

    def __str__(self) -> str:
        return (
            f"{self.people:,} people in the table are guessed with an error of "
            f"{self.members_error:.3g}, others with {self.others_error:.3g}: being in it adds "
            f"{self.added:.3g} ± {2 * self.standard_error:.2g}; without the release "
            f"{self.without:.3g}\nreleased points lie {self.member_distance:.3g} from the nearest "
            f"person in the table and {self.other_distance:.3g} from the nearest other"
        )


def value_inference(
    points: ArrayLike,
    members: ArrayLike,
    others: ArrayLike,
    column: int,
    *,
    weights: ArrayLike | None = None,
) -> ValueInference:
    """Guess a column of people from released points and all of their other columns.

    The guess is the value of the nearest point by the known columns; of several that are equally
    near, their mean by weight. It is made for people in the table and for as many outside. The
    true rows are read, so the result is for their holder only.

    Parameters
    ----------
    points
        What was released: ``cluster_centers_``, or the centres of a synopsis' ``points()``.
    members
        Rows that the release was made from.
    others
        Rows of the same population that it was not made from. Of the longer of both tables the
        first rows are taken.
    column
        Which column is guessed, by its place.
    weights
        How many rows each point stands for; points without any are left out. None takes all alike.

    Examples
    --------
    >>> rows, others = [[0.0, 1.0], [5.0, 7.0]], [[0.0, 2.0], [5.0, 5.0]]
    >>> found = value_inference(rows, rows, others, column=1)
    >>> found.members_error, found.others_error, found.member_distance
    (0.0, 1.5, 0.0)

    References
    ----------
    Yeom et al., Privacy risk in machine learning: analyzing the connection to overfitting, CSF
    2018; Jayaraman and Evans, Are attribute inference attacks just imputation?, CCS 2022.
    """
    inside, outside, released = as_rows(members), as_rows(others), as_rows(points)
    people = min(len(inside), len(outside))
    _check(released, inside, outside, column, people)
    sizes = np.ones(len(released)) if weights is None else np.asarray(weights, dtype=float)
    if sizes.shape != (len(released),):
        raise DimensionMismatch(
            f"There are {len(released)} points and {sizes.size} weights.",
            "Give each point a weight.",
        )
    released, sizes = released[sizes > 0], sizes[sizes > 0]
    if not len(released):
        raise TooFewRows("No released point has a weight.", "Give at least one.")
    inside, outside = inside[:people], outside[:people]
    own, foreign = (
        np.abs(_guesses(released, sizes, rows, column) - rows[:, column])
        for rows in (inside, outside)
    )
    middle = float(np.median(outside[:, column]))
    return ValueInference(
        members_error=float(own.mean()),
        others_error=float(foreign.mean()),
        without=float(np.abs(inside[:, column] - middle).mean()),
        standard_error=math.sqrt((own.var(ddof=1) + foreign.var(ddof=1)) / people),
        member_distance=_mean_nearest(released, inside),
        other_distance=_mean_nearest(released, outside),
        people=people,
    )


def _check(released: Floats, inside: Floats, outside: Floats, column: int, people: int) -> None:
    widths = {table.shape[1] for table in (released, inside, outside)}
    if len(widths) > 1 or min(widths) < 2:
        raise DimensionMismatch(
            f"The tables have {', '.join(map(str, sorted(widths)))} columns.",
            "Give points, members and others with the same columns, at least two.",
        )
    if not 0 <= column < released.shape[1]:
        raise InvalidSetting(
            f"There is no column {column}.",
            f"Columns are numbered from 0 to {released.shape[1] - 1}.",
            setting="column",
        )
    if people < 2:
        raise TooFewRows("Both sides need at least two people.", "Give more rows.")


def _guesses(points: Floats, sizes: Floats, rows: Floats, column: int) -> Floats:
    known, values = np.delete(points, column, axis=1), points[:, column]
    asked = np.delete(rows, column, axis=1)
    out = np.empty(len(rows))
    for start in range(0, len(rows), _BLOCK):
        apart = cdist(asked[start : start + _BLOCK], known)
        nearest = np.isclose(apart, apart.min(axis=1, keepdims=True)) * sizes
        out[start : start + _BLOCK] = nearest @ values / nearest.sum(axis=1)
    return out


def _mean_nearest(points: Floats, rows: Floats) -> float:
    starts = range(0, len(points), _BLOCK)
    nearest = [cdist(points[start : start + _BLOCK], rows).min(axis=1) for start in starts]
    return float(np.concatenate(nearest).mean())
