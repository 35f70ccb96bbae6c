"""Gaussian noise at a delta that draws can show: a tenth of it missing, or a group forgotten."""

from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.audit.case import Twin
from shoal.audit.twins._base import BrokenMechanism, Stream, approximate_claim
from shoal.audit.twins._noise_lengths import STEP, _diagonal_move
from shoal.mechanisms import Gaussian

CLAIM = approximate_claim(1, "0.01")


def _draw_gaussian(mechanism: Gaussian) -> Any:
    """Draws of vectors with this noise."""

    def draw(x: Any, n: int, rng: Stream) -> Any:
        return mechanism.release(np.tile(x, (n, 1)), rng)

    return draw


def _score_along_move(move: Any) -> Any:
    """A score: how far a release lies along the move, where values are told apart best."""
    direction = move / np.linalg.norm(move)

    def score(z: Floats) -> Floats:
        return np.asarray(z @ direction)

    return score


def _twin(mechanism: Gaussian, move: Any, at_least: float, reason: str, about: str) -> Twin:
    how: dict[str, Any] = {"score": _score_along_move(move), "delta": float(CLAIM.delta)}
    form, pair = BrokenMechanism(_draw_gaussian(mechanism), reason), (move, np.zeros_like(move))
    return Twin(form, pair, CLAIM, at_least, draws=300_000, **how, about=about)


twins = {
    "Gaussian: a tenth less noise": _twin(
        Gaussian(approximate_claim("1.2", "0.01"), STEP),
        _diagonal_move(1, 1),
        1.08,
        "the noise is for epsilon 1.2",
        "Noise calibrated for 1.2 and sold as 1: the smallest fault this audit is asked to see. "
        "The figure is measured.",
    ),
    "Gaussian: the sensitivity of one coordinate": _twin(
        Gaussian(CLAIM, 7 * STEP // 10),
        _diagonal_move(2, 2),
        1.4,
        "two coordinates move, and one is charged",
        "The sensitivity of one coordinate for a vector of two, as when lengths are taken axis by "
        "axis. The figure is measured.",
    ),
    "Gaussian: delta forgotten for a group": _twin(
        Gaussian(approximate_claim(CLAIM.epsilon / 4, CLAIM.delta), STEP),
        4 * _diagonal_move(1, 1),
        1.4,
        "epsilon is divided among a person's rows, delta is not",
        "A person with four rows: epsilon is divided by four and delta is left as it is, though "
        "it must shrink, too. The figure is measured.",
    ),
    "Gaussian: a group taken for one row": _twin(
        Gaussian(CLAIM, STEP),
        2 * _diagonal_move(1, 1),
        2.3,
        "two rows move, and one is charged",
        "A person with two rows behind noise for one. The figure is measured.",
    ),
}
