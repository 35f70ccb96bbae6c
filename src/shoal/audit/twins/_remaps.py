"""Twins with right noise and a remap that looks at the rows, which is no post-processing."""

from collections.abc import Callable
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.audit.case import Twin
from shoal.audit.twins._base import BrokenMechanism, Stream, metric_claim
from shoal.audit.twins._flawed_mechanisms import (
    FlawedGridRemap,
    FlawedOptimalRemap,
    FlawedUnionRemap,
)
from shoal.domain import Box
from shoal.mechanisms import NDLaplace, Restrict

CLAIM = metric_claim(1)
OTHERS = np.random.default_rng(0).uniform(0, 10, (60, 2))  # made up, and fixed
INNER, NEARBY = np.array([4.2, 5.6]), np.array([5.2, 5.6])
EXTREME, FARTHER = np.array([12.0, 4.7]), np.array([13.0, 4.7])
_WIDE = Box(x=(0, 30), y=(0, 30))
_GRID = FlawedGridRemap(1)


def _draw_first_reports(form: Any) -> BrokenMechanism:
    """Draw the report of a person among the sixty others, again and again."""

    def draw(x: Floats, n: int, rng: Stream) -> Any:
        return form.sent_by(np.tile(x, (n, 1)), np.vstack([x, OTHERS]), rng)

    return BrokenMechanism(draw, form.reason)


def _stays_off_the_grid(z: Floats) -> np.ndarray:
    """Off the grid, though nearer to a node than to a row, were the person at the second place."""
    there = np.vstack([NEARBY, OTHERS])
    to_node = np.linalg.norm(z - _GRID.on_grid(there, z), axis=1)
    to_row = np.linalg.norm(z[:, None] - there, axis=2).min(axis=1)
    return np.asarray((to_node > 1e-9) & (to_node < to_row))


def _stays_near_the_row(z: Floats) -> np.ndarray:
    """The same, near the person's row: means of others' rows, off the grid too, lie elsewhere."""
    near = np.linalg.norm(z - INNER, axis=1) < 0.5
    return np.asarray(near & _stays_off_the_grid(z))


def _is_on_last_grid_line(z: Floats) -> np.ndarray:
    """On the line of nodes that lies at the person's own row, if that is the largest."""
    return np.asarray(np.isclose(z[:, 0], EXTREME[0], rtol=1e-12))


def _resampled(distance: float) -> tuple[Floats, Floats]:
    return np.zeros(2), np.full(2, distance / np.sqrt(2))


def _redrawn(x: Floats, n: int, rng: Stream) -> Any:
    mechanism = Restrict(NDLaplace(1), _WIDE, calibrate=False)
    return mechanism.release(np.tile(x, (n, 1)), rng).values


redrawn = BrokenMechanism(_redrawn, "redrawing until inside costs as much again as the noise")


def _resample(distance: float, at_least: float, exact: float) -> Twin:
    first, second = _resampled(distance)

    def score(z: Floats) -> Floats:
        return np.asarray(np.linalg.norm(z - second, axis=1) - np.linalg.norm(z - first, axis=1))

    about = (
        "Noise is drawn again until the report lies in the box, and sold at the noise's own "
        "epsilon, as drafts of a thesis on bounded noise do. How often it is redrawn "
        f"depends on the row. From a corner, {distance:g} along the diagonal; true loss {exact}."
    )
    how: dict[str, Any] = {"draws": 600_000, "score": score, "about": about}
    return Twin(redrawn, (first, second), CLAIM, at_least, **how)


def _among_others(
    form: Any, pair: tuple[Floats, Floats], at_least: float, event: Callable[..., Any], about: str
) -> Twin:
    how: dict[str, Any] = {"draws": 10_000, "event": event, "about": about}
    return Twin(_draw_first_reports(form), pair, CLAIM, at_least, **how)


inner, extreme = (INNER, NEARBY), (EXTREME, FARTHER)
twins = {
    "resample until inside, distance 1": _resample(1, 1.18, 1.69),
    "resample until inside, distance 0.5": _resample(0.5, 0.55, 0.90),
    "grid from the rows, inner person": _among_others(
        _GRID,
        inner,
        1.33,
        _stays_off_the_grid,
        "A thesis' algorithms 3 and 4: a noisy point is snapped to a grid unless a true row is "
        "nearer. A point that stayed off the grid where no other row is near gives the person's "
        "own row away.",
    ),
    "grid from the rows, extreme person": _among_others(
        _GRID,
        extreme,
        6.54,
        _is_on_last_grid_line,
        "The same algorithms take box and grid from the smallest and largest row. Whoever is the "
        "largest sees the last line of the grid drawn through them.",
    ),
    "union with the true rows, extreme person": _among_others(
        FlawedUnionRemap(1),
        extreme,
        6.28,
        _is_on_last_grid_line,
        "The thesis' text: points outside go to the nearest of the true rows and the grid's nodes. "
        "A report can be somebody's row, exactly; an inner person is hit too seldom to show it "
        "(0.15 of a claimed 1), an extreme one at once.",
    ),
    "remap around the true row, inner person": _among_others(
        FlawedOptimalRemap(1),
        inner,
        3.76,
        _stays_near_the_row,
        "The thesis' algorithm 5: what fell outside becomes a weighted mean of true rows in a "
        "ball around the person's true row; the rest is snapped as in algorithms 3 and 4.",
    ),
    "remap around the true row, extreme person": _among_others(
        FlawedOptimalRemap(1),
        extreme,
        6.71,
        _is_on_last_grid_line,
        "The same for a person who is far from everybody: the ball holds their own row alone, and "
        "the report is that row.",
    ),
}
