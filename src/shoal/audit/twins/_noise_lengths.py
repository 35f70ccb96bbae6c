"""Twins with noise of the right direction and the wrong length."""

import math
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.audit.case import Twin
from shoal.audit.twins._base import (
    BrokenMechanism,
    Stream,
    declare_broken,
    likelihood_ratio_score,
    metric_claim,
    pure_claim,
    round_to_lattice,
    unit_step,
)
from shoal.mechanisms import KNorm

STEP = 1000  # the sensitivity of vectors of whole numbers, in lattice steps


def _draw_gamma_length(shape: float) -> BrokenMechanism:
    """Draw noise of a uniform direction whose length is Gamma of this shape, whatever d is."""

    @declare_broken(f"the length of the noise is Gamma of shape {shape:g}, not of shape d")
    def draw(x: Floats, n: int, rng: Stream) -> Floats:
        return round_to_lattice(x + _directions(n, x.size, rng) * rng.gamma(shape, 1.0, (n, 1)))

    return draw


@declare_broken(
    "Gaussian noise of Laplace's variance falls off too fast for any epsilon per distance"
)
def _draw_gaussian(x: Floats, n: int, rng: Stream) -> Floats:
    """Draw Gaussian noise of variance d + 1 for each column, like Laplace noise of epsilon 1."""
    return round_to_lattice(x + rng.normal(0, math.sqrt(x.size + 1), (n, x.size)))


def _draw_lengths_of_shape_6(n: int, rng: Stream) -> Floats:
    """Draw the lengths of the noise of the twin of shape d - 1 at d = 7."""
    return np.asarray(np.linalg.norm(_draw_gamma_length(6).draw(np.zeros(7), n, rng), axis=1))


def _gamma_7_distribution(r: Floats) -> Floats:
    """The distribution function that the claim would have in seven columns."""
    from scipy.special import gammainc

    return np.asarray(gammainc(7, r))


def _directions(n: int, d: int, rng: Stream) -> Floats:
    vectors = rng.standard_normal((n, d))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def _shape(d: int, shape: int, at_least: float) -> Twin:
    pair = np.zeros(d), unit_step(d, 1)

    def log_density(u: Floats) -> Floats:
        r = np.linalg.norm(u, axis=1)
        return np.asarray((shape - d) * np.log(r) - r)

    about = (
        f"The radius of noise in {d} columns must be Gamma of shape {d}. With shape {shape}, which "
        "is right in fewer columns and easily copied from there, reports crowd around the row: "
        "their density grows without end towards it."
    )
    score = likelihood_ratio_score(log_density, pair)
    return Twin(
        _draw_gamma_length(shape), pair, metric_claim(1), at_least, score=score, about=about
    )


def _gaussian(distance: float, at_least: float) -> Twin:
    return Twin(
        _draw_gaussian,
        (np.zeros(2), unit_step(2, 1, distance)),
        metric_claim(1),
        at_least,
        score=lambda z: -z[:, 0],
        about="Gaussian noise of the variance that Laplace noise has, offered in its place. Its "
        f"log-ratio grows with the report without bound; seen at distance {distance:g}.",
    )


# Vectors of whole numbers, noised at once: KNorm and what is mistaken for it.


def _diagonal_move(m: int, axes: int) -> Any:
    """A move of full length along the diagonal of the first axes, in lattice steps."""
    move = np.zeros(m, dtype=np.int64)
    move[:axes] = int(STEP / math.sqrt(axes))
    return move


def _score_nearness_to_first(second: Any) -> Any:
    """A score: how much nearer a release is to zero, the first value, than to the second."""

    def score(z: Floats) -> Floats:
        return np.asarray(np.linalg.norm(z - second, axis=1) - np.linalg.norm(z, axis=1))

    return score


def _draw_k_norm(epsilon: int, sensitivity: int) -> BrokenMechanism:
    """Draw from KNorm at another epsilon or sensitivity than it is sold for."""

    @declare_broken("the noise is for another epsilon, or another sensitivity, than the one stated")
    def draw(x: Any, n: int, rng: Stream) -> Any:
        return KNorm(pure_claim(epsilon), sensitivity).release(np.tile(x, (n, 1)), rng)

    return draw


@declare_broken("the radius has the law of one dimension")
def _draw_with_radius_of_one_dimension(x: Any, n: int, rng: Stream) -> Any:
    """Draw a uniform direction in m dimensions, at a length that is right in one."""
    return x + np.rint(_directions(n, x.size, rng) * rng.gamma(1, STEP, (n, 1))).astype(int)


@declare_broken("noise for each coordinate alone does not cover a length")
def _draw_each_coordinate_alone(x: Any, n: int, rng: Stream) -> Any:
    """Draw Laplace noise of scale STEP / 3 on each of 9 coordinates: right for such a cube."""
    return x + np.rint(rng.laplace(0, STEP / 3, (n, x.size))).astype(int)


def _vectors(form: BrokenMechanism, move: Any, at_least: float, about: str) -> Twin:
    pair, score = (np.zeros_like(move), move), _score_nearness_to_first(move)
    return Twin(form, pair, pure_claim(1), at_least, draws=60_000, score=score, about=about)


twins = {
    "Gamma shape 1 at d = 2": _shape(2, 1, 4.5),
    "Gamma shape 2 at d = 3": _shape(3, 2, 2.64),
    "Gamma shape 6 at d = 7": Twin(
        _draw_lengths_of_shape_6,
        None,
        metric_claim(1),
        at_least=0.16,
        draws=50_000,
        score=_gamma_7_distribution,
        instrument="law",
        about="Shape d - 1 at d = 7. So little of the noise is near the row that no event shows "
        "it at sizes one can draw: learned bounds stay near 0.6 of a claimed 1. The lengths "
        "themselves show it at once: the two distribution functions are 6^6 e^-6 / 6! = 0.16 "
        "apart.",
    ),
    "Gaussian noise of equal variance, distance 1": _gaussian(1, 1.31),
    "Gaussian noise of equal variance, distance 3": _gaussian(3, 4.48),
    "vector noise for half the sensitivity": _vectors(
        _draw_k_norm(2, STEP),
        _diagonal_move(3, 1),
        1.6,
        "Half the noise on a vector of sums: what an error of a factor of two in a sensitivity "
        "does. True loss 2; the figure is measured.",
    ),
    "vector noise with the radius of one dimension": _vectors(
        _draw_with_radius_of_one_dimension,
        _diagonal_move(9, 1),
        6.3,
        "The length of noise in nine dimensions drawn as in one: reports crowd around the value. "
        "The figure is measured.",
    ),
    "vector noise for each coordinate alone": _vectors(
        _draw_each_coordinate_alone,
        _diagonal_move(9, 1),
        2.8,
        "Noise a coordinate for a move that is bounded in length: along one axis the whole move "
        "meets noise of a third of the scale. True loss 3; the figure is measured.",
    ),
    "vector noise for a sensitivity in squares": _vectors(
        _draw_k_norm(1, STEP // 3),
        _diagonal_move(9, 9),
        1.9,
        "A sensitivity that is the root of what it should be, as when squared lengths are taken "
        "for lengths. True loss 3; the figure is measured.",
    ),
}
