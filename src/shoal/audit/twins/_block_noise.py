"""Twins of noise for vectors of blocks: a count, sums and columns of categories at once."""

from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.audit.case import Twin
from shoal.audit.twins._base import BrokenMechanism, Stream, declare_broken, pure_claim
from shoal.mechanisms import Geometric, ProductNorm

STEP = 1000  # lattice steps that a row moves each block
BLOCKS = (1, 2)  # few coordinates, so that draws come near the value and show most
_SIZE = sum(BLOCKS)
_LONE_ROW = np.array([STEP, STEP, 0])


def _norm(vectors: Floats, first: float = 1.0) -> Floats:
    """Return the largest block's sum of sizes, in steps; the first block's in ``first`` steps."""
    starts = np.cumsum([0, *BLOCKS[:-1]])
    lengths = np.add.reduceat(np.abs(vectors), starts, axis=1) / (STEP * np.array([first, 1.0]))
    return np.asarray(lengths.max(axis=1))


@declare_broken("every block has noise for the whole epsilon, and all of them are released")
def _draw_each_block_at_epsilon(x: Any, n: int, rng: Stream) -> Any:
    """Draw noise for each block as if no other were released."""
    return Geometric(pure_claim(1), STEP).release(np.tile(x, (n, 1)), rng)


@declare_broken("the radius is Gamma of shape M, not of shape M + 1")
def _draw_with_short_radius(x: Any, n: int, rng: Stream) -> Any:
    """Draw a uniform point of the ball at a radius of one exponential number too few."""
    points = []
    for m in BLOCKS:
        sizes = rng.exponential(size=(n, m + 1))
        signs = 1 - 2 * rng.integers(0, 2, size=(n, m))
        points.append(signs * sizes[:, :m] / sizes.sum(axis=1, keepdims=True))
    radius = rng.gamma(_SIZE, STEP, (n, 1))
    return x + np.rint(np.hstack(points) * radius).astype(np.int64)


@declare_broken("a coordinate of +1 or -1 has noise for a move of one half")
def _draw_for_half_a_block(x: Any, n: int, rng: Stream) -> Any:
    """Draw noise whose first block is half as long as a row may move it."""
    noise = ProductNorm(pure_claim(1), BLOCKS, (STEP // 2, STEP))
    return noise.release(np.tile(x, (n, 1)), rng)


def _log_ratio_of_short_radius(z: Floats) -> Floats:
    """Return the exact log-ratio of the density that a radius of shape M gives."""
    from scipy.special import exp1

    near, far = _norm(z), _norm(z - _LONE_ROW)
    # The integral over r from |z| up of r^-M r^(M-1) e^-r is E_1(|z|): it has a pole at zero.
    tiny = 1 / (2 * STEP)
    first, second = exp1(np.maximum(near, tiny)), exp1(np.maximum(far, tiny))
    return np.asarray(np.log(np.maximum(first, 1e-300)) - np.log(np.maximum(second, 1e-300)))


def _twin(form: BrokenMechanism, at_least: float, score: Any, about: str) -> Twin:
    pair = np.zeros(_SIZE, dtype=np.int64), _LONE_ROW
    return Twin(form, pair, pure_claim(1), at_least, draws=100_000, score=score, about=about)


def _nearness(z: Floats) -> Floats:
    return np.asarray((np.abs(z - _LONE_ROW) - np.abs(z)).sum(axis=1) / STEP)


def _log_ratio_for_half_a_block(z: Floats) -> Floats:
    return _norm(z - _LONE_ROW, 0.5) - _norm(z, 0.5)


twins = {
    "one charge for all histograms": _twin(
        _draw_each_block_at_epsilon,
        1.7,
        _nearness,
        "The histogram of each column is noised as if it were the only one: a row is in all of "
        "them. True loss 2, one for each block; the figure is measured.",
    ),
    "block noise with one Gamma step too few": _twin(
        _draw_with_short_radius,
        1.4,
        _log_ratio_of_short_radius,
        "A uniform point of a ball in M dimensions needs a radius of shape M + 1. With shape M, "
        "which is right on the sphere, reports crowd around the value: the density has a pole "
        "there. The figure is measured.",
    ),
    "block noise for half a move": _twin(
        _draw_for_half_a_block,
        1.6,
        _log_ratio_for_half_a_block,
        "A column of two categories is one coordinate of +1 or -1, and its noise is for a move of "
        "one half. True loss 2; the figure is measured.",
    ),
}
