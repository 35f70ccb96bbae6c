"""Twins on bounded values and on categories, with other probabilities than their promise needs."""

import math
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.audit.case import Twin
from shoal.audit.twins._base import (
    BrokenMechanism,
    Stream,
    batch_flawed,
    declare_broken,
    local_claim,
    metric_claim,
)
from shoal.audit.twins._flawed_mechanisms import FlawedDuchi, FlawedPiecewise
from shoal.mechanisms import PrivUnit, Staircase

CLAIM = local_claim(1)
_E = math.e


def _draw_piecewise_on_every_column(x: Floats, n: int, rng: Stream) -> Any:
    """Draw from Piecewise at epsilon on each column; two more rows hold its bounds still."""
    ends = np.array([-np.ones(x.size), np.ones(x.size)])
    return FlawedPiecewise(1).release(np.vstack([np.tile(x, (n, 1)), ends]), rng).values[:n]


def _every_column(d: int, at_least: float) -> Twin:
    return Twin(
        BrokenMechanism(_draw_piecewise_on_every_column, FlawedPiecewise.reason),
        (-np.ones(d), np.ones(d)),
        CLAIM,
        at_least,
        event=lambda z: (z < -1).all(axis=1),
        about="A thesis runs the Piecewise mechanism at the whole epsilon on every column and "
        f"reports epsilon. Columns add up: {d} of them cost {d} epsilon.",
    )


def flip_half_the_signs(d: int) -> Floats:
    """Return a corner with half the signs of (-1, ..., -1) flipped."""
    return np.where(np.arange(d) < d // 2, 1.0, -1.0)


def _tied(d: int, at_least: float) -> Twin:
    return Twin(
        batch_flawed(FlawedDuchi(1)),
        (-np.ones(d), flip_half_the_signs(d)),
        CLAIM,
        at_least,
        about="The form of Duchi, Jordan and Wainwright's mechanism that is in print for an even "
        "number of columns puts corners that agree with the row in half their signs into both "
        "halves. Their chance differs by e^epsilon + 1, 1.313 at epsilon 1; opposite corners do "
        "not show it, half the signs flipped do.",
    )


def _is_between_stairs(z: Floats) -> np.ndarray:
    """The event between the ends of the two rows' stairs."""
    edge = 2 / (1 + math.exp(0.5))
    return np.asarray((z[:, 0] > -0.05 - edge) & (z[:, 0] < 0.05 - edge))


@declare_broken(
    "a density with steps of height e^epsilon keeps no promise that shrinks with distance"
)
def _draw_staircase(x: Floats, n: int, rng: Stream) -> Any:
    """Draw from the mechanism itself, of which only the promise is wrong."""
    return Staircase(1, width=2).release(np.tile(x, (n, 1)), rng).values


@declare_broken("the cap is drawn at twice the budget")
def _draw_priv_unit(x: Floats, n: int, rng: Stream) -> Any:
    """Draw from PrivUnit at epsilon 2."""
    return PrivUnit(2).release(np.tile(x, (n, 1)), rng).values


# Categories: one of eight.


@declare_broken("the answer is kept as often as if there were two categories")
def _draw_response_for_two(code: int, n: int, rng: Stream) -> Any:
    """Draw randomised responses with p = e/(e + 1), whatever the number of categories."""
    other = rng.integers(0, 7, n)
    return np.where(rng.random(n) < _E / (_E + 1), code, other + (other >= code))


@declare_broken("two bits differ between two values, and each spends epsilon")
def _draw_unary_biased(code: int, n: int, rng: Stream) -> Any:
    """Draw unary encodings with p = e/(e + 1) and q = 1 - p."""
    chance = np.where(np.arange(8) == code, _E / (_E + 1), 1 / (_E + 1))
    return (rng.random((n, 8)) < chance).astype(int)


@declare_broken("every bit of the vector spends the epsilon that is claimed for all of it")
def _draw_independent_bits(bits: Any, n: int, rng: Stream) -> Any:
    """Draw a vector of bits, each turned over with chance 1/(e + 1)."""
    turned = rng.random((n, len(bits))) < 1 / (_E + 1)
    return np.asarray(bits) ^ turned


twins = {
    "Piecewise, epsilon on every column, d = 2": _every_column(2, 1.59),
    "Piecewise, epsilon on every column, d = 3": _every_column(3, 2.75),
    "Piecewise, epsilon on every column, d = 4": _every_column(4, 3.58),
    "Duchi with ties in both halves, d = 2": _tied(2, 1.29),
    "Duchi with ties in both halves, d = 4": _tied(4, 1.23),
    "Staircase sold as MetricDP": Twin(
        _draw_staircase,
        (np.array([-0.05]), np.array([0.05])),
        metric_claim("0.5"),
        at_least=0.82,
        event=_is_between_stairs,
        about="Staircase noise (Geng, Viswanath) is optimal for a whole domain, and its density "
        "falls in steps. Sold as a promise per unit of distance, a shift of 0.1 is claimed to cost "
        "0.05; between two stairs it costs all of epsilon.",
    ),
    "PrivUnit at twice its budget": Twin(
        _draw_priv_unit,
        (-np.ones(2), np.ones(2)),
        CLAIM,
        at_least=1.9,
        event=lambda z: z.sum(axis=1) <= -2,
        about="A budget that is doubled on the way, as a factor of two lost between two "
        "conventions does. True loss 2; the figure is measured.",
    ),
    "unary encoding with p = e/(e+1), q = 1 - p": Twin(
        _draw_unary_biased,
        (0, 1),
        CLAIM,
        at_least=1.87,
        about="Unary encoding in which the own bit is kept with the odds of a single bit. Two "
        "values differ in two bits, so a report costs 2 epsilon.",
    ),
    "randomised response with p = e/(e+1), k = 8": Twin(
        _draw_response_for_two,
        (0, 1),
        CLAIM,
        at_least=2.92,
        about="Randomised response over eight categories that keeps the answer as often as for "
        "two. Any other answer is seven times rarer than it should be: ln(7e) = 2.95.",
    ),
    "epsilon a bit claimed for a vector": Twin(
        _draw_independent_bits,
        ((0, 0, 0, 0), (1, 1, 1, 1)),
        CLAIM,
        at_least=3.9,
        about="Related work turns over each bit of a vector at epsilon and states epsilon for the "
        "vector. Vectors may differ in every bit: 4 epsilon for four. True loss 4; "
        "the figure is measured.",
    ),
}
