"""The K-norm mechanism: noise for vectors that one row moves by a limited Euclidean length."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Integers
from shoal.errors import InvalidSetting
from shoal.mechanisms.exact._rounded_reals import Interval, rounded_noise
from shoal.mechanisms.exact._whole_numbers import (
    changed_vectors,
    check_rate,
    check_vectors,
    clipped_to_62_bits,
    exact_sensitivity,
)
from shoal.privacy import Number, PureDP


@dataclass(frozen=True)
class KNorm:
    r"""Add noise of density :math:`\propto e^{-\varepsilon \lVert z \rVert / \Delta}` to vectors.

    One length pays for all coordinates at once: where ``Geometric`` needs noise for the sum of
    their changes, this needs it for the Euclidean length of the change only.

    Guarantee
    ---------
    :math:`\varepsilon`-DP for vectors of whole numbers of which one row moves a single one, by at
    most ``sensitivity`` in Euclidean length. The noise is a real vector, rounded: its digits are
    read until the rounding is certain. See ``k_norm.proof.md``.

    Parameters
    ----------
    guarantee
        The promise of one ``release``, usually ``page.budget`` or a share of it.
    sensitivity
        The longest move, in steps of the vectors' lattice. Round up what is no fraction.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> noise = KNorm(PureDP(1), sensitivity=100)
    >>> noise.release(np.zeros((2, 3), dtype=int), Randomness(7).noise).shape
    (2, 3)
    >>> noise.deviation(3)
    200.0

    References
    ----------
    Hardt, Talwar, On the geometry of differential privacy, STOC 2010.
    """

    guarantee: PureDP
    sensitivity: Number

    def __post_init__(self) -> None:
        if not isinstance(self.guarantee, PureDP):
            raise InvalidSetting(
                "KNorm needs a PureDP promise.",
                "Give e.g. KNorm(page.budget, sensitivity=...) on a page of PureDP.",
            )
        object.__setattr__(self, "sensitivity", exact_sensitivity(self.sensitivity))
        check_rate(1 / self.scale)

    @property
    def scale(self) -> Fraction:
        """Sensitivity over epsilon: the unit of the noise."""
        return Fraction(self.sensitivity) / self.guarantee.epsilon

    def deviation(self, m: int) -> float:
        """Return the standard deviation of one coordinate of the noise before rounding.

        Parameters
        ----------
        m
            The length of the vectors.
        """
        return math.sqrt(m + 1) * float(self.scale)

    def check(self, value: object) -> None:
        """Refuse what is no array of whole numbers, by its type and shape alone.

        Parameters
        ----------
        value
            What is to be released.
        """
        check_vectors(value)

    def release(self, value: ArrayLike, rng: np.random.Generator) -> Integers:
        """Return the vectors (along the last axis) with noise.

        Parameters
        ----------
        value
            Whole numbers; the last axis holds the coordinates of a vector.
        rng
            The noise stream.
        """
        self.check(value)
        vectors = clipped_to_62_bits(value)
        m = vectors.shape[-1]
        noise = rounded_noise(vectors.size // m, m, m, self._size, rng)
        return vectors + noise.reshape(vectors.shape)  # [P3]

    def log_ratio(self, output: ArrayLike, value: ArrayLike, other: ArrayLike) -> float:
        """Return at most by how much, in logarithms, an output is likelier on one value.

        An output stands for the cube of reals that are rounded to it. The ratio of two integrals
        over the cube is at most the largest ratio of the densities in it, which is returned: it
        exceeds that at the cube's centre by at most sqrt(m) scales.

        Parameters
        ----------
        output
            What ``release`` returned.
        value
            The value that the output is held to be likelier on.
        other
            The value it is compared with, of the same shape.
        """
        return sum(
            self._vector_ratio(*vectors) for vectors in changed_vectors(output, value, other)
        )

    def worst_ratio(self, value: ArrayLike, other: ArrayLike) -> float:
        """Return the largest ``log_ratio`` over all outputs.

        Parameters
        ----------
        value
            The value that an output is held to be likelier on.
        other
            The value it is compared with, of the same shape.
        """
        moved = changed_vectors(value, value, other)
        return sum(math.dist(before, after) / float(self.scale) for _, before, after in moved)

    def _vector_ratio(self, noisy: list[int], before: list[int], after: list[int]) -> float:
        near, far = math.dist(noisy, before), math.dist(noisy, after)
        # A difference of squares over a sum: no digits are lost where both are long.
        squares = sum(
            (o - w) ** 2 - (o - v) ** 2 for o, v, w in zip(noisy, before, after, strict=True)
        )
        at_center = squares / (near + far)
        longest = min(at_center + math.sqrt(len(noisy)), math.dist(before, after))
        return longest / float(self.scale)

    def _size(self, normal: Interval, exponential: Interval) -> Interval:
        """Return the absolute values of the noise: ``rounded_noise`` adds signs and rounds."""
        radius = exponential.total().times(self.scale)  # [P1]
        length = (normal * normal).total().sqrt()
        return normal * (radius / length)  # [P2]
