"""Twins with noise of the right length in the wrong direction: angles that are not uniform."""

import numpy as np

from shoal.arrays import Floats
from shoal.audit.case import Twin
from shoal.audit.twins._base import batch_flawed, likelihood_ratio_score, metric_claim, unit_step
from shoal.audit.twins._flawed_mechanisms import (
    FlawedAngles2D,
    FlawedAngles3D,
    FlawedAnglesND,
    FlawedPolarAngle3D,
)

CLAIM = metric_claim(1)


def _is_left_of_second_row(z: Floats) -> np.ndarray:
    """Left of the second row, where noise that only adds cannot bring it."""
    return np.asarray(z[:, 0] < 1)


def _lengths(u: Floats) -> Floats:
    return np.asarray(np.linalg.norm(u, axis=1))


def _polar_log_density(u: Floats) -> Floats:
    """Uniform polar angle: e^-r over the sine of the angle from the third axis."""
    r, across = _lengths(u), np.hypot(u[:, 0], u[:, 1])
    return np.asarray(-r + np.log(r / across))


def _swapped_log_density(u: Floats) -> Floats:
    """Angles swapped: the sine of the azimuth comes on top, |u_1| over the distance across."""
    across = np.hypot(u[:, 0], u[:, 1])
    return np.asarray(_polar_log_density(u) + np.log(np.abs(u[:, 0]) / across))


def _angles_log_density(u: Floats) -> Floats:
    """A unit vector read as angles, about: its first coordinate is found by iteration.

    The angles of the noise must be the coordinates of a unit vector, so their squares sum to at
    most 1, and the first coordinate of the noise is positive; elsewhere there is no noise at all.
    The density lacks a factor near 1, which makes it a weaker score, not a wrong one.
    """
    d = u.shape[1]
    unseen = np.zeros(len(u))  # the coordinate whose cosine alone enters, in the last column
    for _ in range(6):
        straight = np.column_stack([u[:, :-1], u[:, -1] / np.cos(unseen)])
        tails = np.sqrt(np.cumsum(straight[:, ::-1] ** 2, axis=1)[:, ::-1])
        angles = np.arccos(np.clip(np.abs(u[:, :-1]) / tails[:, :-1], 0, 1))
        squares = np.sum(angles**2, axis=1)
        unseen = np.sqrt(np.clip(1 - squares, 0, 1))
    sines = np.log(np.maximum(np.sin(angles), 1e-12)) @ np.arange(d - 2, -1, -1)
    impossible = np.maximum(squares - 1, 0) + (u[:, 0] < 0)
    return np.asarray(-tails[:, 0] - sines - np.log(np.maximum(unseen, 0.02)) - 100 * impossible)


def _is_near_second_row(z: Floats) -> np.ndarray:
    """In a small ball around the second row, e_3: its own noise leaves it emptier than others'."""
    return np.asarray(np.linalg.norm(z - unit_step(3, 3), axis=1) < 0.08)


def _swapped(j: int, at_least: float) -> Twin:
    pair = np.zeros(3), unit_step(3, j)
    about = (
        "Code published with a thesis on n-dimensional Laplace noise draws the azimuth where the "
        "polar angle belongs and the other way round. Noise piles up along the third axis through "
        f"the row, so reports of rows apart along axis {j} are easily told apart."
    )
    score = likelihood_ratio_score(_swapped_log_density, pair)
    return Twin(batch_flawed(FlawedAngles3D(1)), pair, CLAIM, at_least, score=score, about=about)


def _unit_vector(d: int, j: int, at_least: float) -> Twin:
    pair = np.zeros(d), unit_step(d, j)
    about = (
        "The same code, from four columns on, reads the coordinates of a random unit vector as "
        "angles. The first column's noise is then always positive and the last column's nearly "
        f"vanishes; rows apart along axis {j} of {d} show it."
    )
    score = likelihood_ratio_score(_angles_log_density, pair)
    return Twin(batch_flawed(FlawedAnglesND(1)), pair, CLAIM, at_least, score=score, about=about)


twins = {
    "2-D angle in a quarter circle": Twin(
        batch_flawed(FlawedAngles2D(1)),
        (np.zeros(2), unit_step(2, 1)),
        CLAIM,
        at_least=9.05,
        event=_is_left_of_second_row,
        about="A draft of a thesis draws the angle of planar noise from [0, pi/2]. Noise then only "
        "ever adds: a report left of a row rules that row out, so no epsilon holds.",
    ),
    "3-D polar angle uniform": Twin(
        batch_flawed(FlawedPolarAngle3D(1)),
        (np.zeros(3), unit_step(3, 1)),
        CLAIM,
        at_least=3.33,
        score=likelihood_ratio_score(_polar_log_density, (np.zeros(3), unit_step(3, 1))),
        about="The slip everyone makes once: a uniform polar angle is no uniform direction, for a "
        "sphere is narrow at its poles. Noise piles up along the third axis through the row.",
    ),
    "3-D angles swapped, first axis": _swapped(1, 3.27),
    "3-D angles swapped, second axis": _swapped(2, 4.79),
    "3-D angles swapped, third axis": Twin(
        batch_flawed(FlawedAngles3D(1)),
        (np.zeros(3), unit_step(3, 3)),
        CLAIM,
        at_least=1.4,
        draws=1_000_000,
        event=_is_near_second_row,
        about="The same swap seen along the axis that hides it best: learned events find less than "
        "epsilon. Near a row its own reports are rarer than others': s^3/6 of them lie within s of "
        "it, but s^2/(4e) of those of a row 1 away along the third axis, so the ratio is 0.55/s. "
        "The figure is measured, at s = 0.08.",
    ),
    "unit vector read as angles, d = 7, first axis": _unit_vector(7, 1, 4.67),
    "unit vector read as angles, d = 7, last axis": _unit_vector(7, 7, 9.72),
    "unit vector read as angles, d = 10, first axis": _unit_vector(10, 1, 1.82),
    "unit vector read as angles, d = 10, last axis": _unit_vector(10, 10, 9.72),
}
