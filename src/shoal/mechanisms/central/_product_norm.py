"""Noise for vectors made of blocks, each of which one row moves by a limited sum of changes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Integers
from shoal.errors import InvalidSetting, NotNumeric
from shoal.mechanisms.exact._rounded_reals import Interval, rounded_noise
from shoal.mechanisms.exact._whole_numbers import (
    changed_vectors,
    check_rate,
    check_vectors,
    clipped_to_62_bits,
    exact_sensitivity,
)
from shoal.privacy import Number, PureDP, whole_number


@dataclass(frozen=True)
class ProductNorm:
    r"""Add noise of density :math:`\propto e^{-\varepsilon \max_b |z_b|_1 / \Delta_b}` to vectors.

    A block is a count, a sum, or the counts of a column's categories: one row adds to one entry of
    each. Noise for every block alone would have to share epsilon among them; this pays for the
    block that moved most, and so for all of them at once.

    Guarantee
    ---------
    :math:`\varepsilon`-DP for vectors of whole numbers of which one row moves a single one, every
    block of it by at most its sensitivity in all (the sum of absolute changes). The noise is a real
    vector, rounded: its digits are read until the rounding is certain. See
    ``product_norm.proof.md``.

    Parameters
    ----------
    guarantee
        The promise of one ``release``, usually a share of ``page.budget``.
    blocks
        How many coordinates each block has, in the order of the vectors.
    sensitivities
        The most that a row moves each block, in steps of its lattice; None for 1 each.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> noise = ProductNorm(PureDP(1), blocks=(1, 3))  # a count, and a column of three categories
    >>> noise.release(np.zeros((5, 4), dtype=int), Randomness(7).noise).shape
    (5, 4)
    >>> [round(deviation, 2) for deviation in noise.deviations()]
    [3.16, 1.73]

    References
    ----------
    Hardt, Talwar, On the geometry of differential privacy, STOC 2010.
    """

    guarantee: PureDP
    blocks: Sequence[int]
    sensitivities: Sequence[Number] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.guarantee, PureDP):
            raise InvalidSetting(
                "ProductNorm needs a PureDP promise.",
                "Give e.g. ProductNorm(page.budget, blocks=(1, 3)) on a page of PureDP.",
            )
        sizes = _block_sizes(self.blocks)
        given = [1] * len(sizes) if self.sensitivities is None else list(self.sensitivities)
        if len(given) != len(sizes):
            raise InvalidSetting(
                f"There are {len(sizes)} blocks and {len(given)} sensitivities.",
                "Give one for each block.",
            )
        object.__setattr__(self, "blocks", sizes)
        object.__setattr__(self, "sensitivities", tuple(exact_sensitivity(each) for each in given))
        for scale in self.scales:
            check_rate(1 / scale)

    @property
    def size(self) -> int:
        """The length of the vectors."""
        return sum(self.blocks)

    @property
    def scales(self) -> tuple[Fraction, ...]:
        """Sensitivity over epsilon of each block: the unit of its noise."""
        assert self.sensitivities is not None
        return tuple(Fraction(each) / self.guarantee.epsilon for each in self.sensitivities)

    def deviations(self) -> tuple[float, ...]:
        """Return each block's standard deviation of one coordinate, before rounding."""
        radius = (self.size + 1) * (self.size + 2)
        return tuple(
            math.sqrt(2 * radius / ((m + 1) * (m + 2))) * float(scale)
            for m, scale in zip(self.blocks, self.scales, strict=True)
        )

    def check(self, value: object) -> None:
        """Refuse what is no array of whole vectors of this length, by its type and shape alone.

        Parameters
        ----------
        value
            What is to be released.
        """
        check_vectors(value)
        length = np.asarray(value).shape[-1]
        if length != self.size:
            raise NotNumeric(
                f"The blocks have {self.size} coordinates in all; got vectors of {length}.",
                "Give an array whose last axis holds the blocks, one after the other.",
            )

    def release(self, value: ArrayLike, rng: np.random.Generator) -> Integers:
        """Return the vectors (along the last axis) with noise.

        Parameters
        ----------
        value
            Whole numbers; the last axis holds the blocks of a vector, one after the other.
        rng
            The noise stream.
        """
        self.check(value)
        vectors = clipped_to_62_bits(value)
        n, drawn = vectors.size // self.size, 2 * self.size + 1 + len(self.blocks)
        noise = rounded_noise(n, self.size, drawn, self._size, rng, normals=0)
        return vectors + noise.reshape(vectors.shape)  # [P3]

    def log_ratio(self, output: ArrayLike, value: ArrayLike, other: ArrayLike) -> float:
        """Return at most by how much, in logarithms, an output is likelier on one value.

        An output stands for the cube of reals that are rounded to it. The ratio of two integrals
        over the cube is at most the largest ratio of the densities in it, which is bounded here.

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
        return sum(float(self._norm(before, after)) for _, before, after in moved)

    def _vector_ratio(self, noisy: list[int], before: list[int], after: list[int]) -> float:
        at_center = self._norm(noisy, after) - self._norm(noisy, before)
        # Within the cube each norm differs from that at the centre by half a step a coordinate.
        slack = max(m / scale for m, scale in zip(self.blocks, self.scales, strict=True))
        return float(min(at_center + slack, self._norm(before, after)))

    def _norm(self, one: list[int], two: list[int]) -> Fraction:
        """Return the largest block's sum of differences, in units of its noise; exact."""
        apart = [abs(x - y) for x, y in zip(one, two, strict=True)]
        return max(
            sum(apart[start:end]) / scale
            for (start, end), scale in zip(self._places(), self.scales, strict=True)
        )

    def _places(self) -> list[tuple[int, int]]:
        """Return where each block begins and ends."""
        return list(pairwise(accumulate(self.blocks, initial=0)))

    def _size(self, normal: Interval, exponential: Interval) -> Interval:
        """Return the absolute values of the noise: ``rounded_noise`` adds signs and rounds."""
        radius = exponential[..., : self.size + 1].total()  # [P1]
        parts, start = [], self.size + 1
        for m, scale in zip(self.blocks, self.scales, strict=True):
            drawn = exponential[..., start : start + m + 1]
            ball = drawn[..., :m] / drawn.total()  # [P2] sizes of a point of the block's ball
            parts.append(ball * radius.times(scale))
            start += m + 1
        return Interval.joined(parts)


def _block_sizes(blocks: Sequence[int]) -> tuple[int, ...]:
    sizes = tuple(whole_number(each) for each in blocks)
    if not sizes or any(size is None or size < 1 for size in sizes):
        raise InvalidSetting(
            "blocks must be whole numbers of 1 or more.", "E.g. blocks=(1, 3): a count, and three."
        )
    return tuple(size for size in sizes if size is not None)
