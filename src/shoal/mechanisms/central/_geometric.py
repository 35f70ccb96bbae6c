"""Two-sided geometric noise on whole numbers: the exact discrete Laplace mechanism."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Integers
from shoal.domain import SparseCounts
from shoal.errors import InvalidSetting, TooLarge, setting
from shoal.mechanisms.exact._discrete_laplace import geometric_law, reach_probability, skip_law
from shoal.mechanisms.exact._whole_numbers import (
    LARGEST_RATE,
    check_rate,
    check_whole_numbers,
    clipped_to_62_bits,
)
from shoal.privacy import PureDP, whole_number

Counts = int | NDArray[np.integer] | SparseCounts
_MOST_FALSE_CELLS = 2**27  # keys and counts of so many fill 2 GiB


@dataclass(frozen=True)
class Geometric:
    r"""Add noise :math:`\Pr[k] \propto e^{-\varepsilon |k| / \Delta}` to whole numbers.

    Guarantee
    ---------
    :math:`\varepsilon`-DP for any value that one row moves by at most ``sensitivity`` in all (the
    sum of the absolute changes of its entries). Drawn exactly, in integers: no float is on the
    path, nothing is truncated. See ``geometric.proof.md``.

    Parameters
    ----------
    guarantee
        The promise of one ``release``, usually ``page.budget`` or a share of it.
    sensitivity
        The most one row can move the value, a whole number. Cells of a grid: 1.
    at_least
        For ``SparseCounts``: cells whose noisy count is lower are left out. Choose it without
        these counts. The result has the law of noising *all* cells, empty ones too, and keeping
        those; only what is kept is ever made.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> noise = Geometric(PureDP(1))
    >>> noise.release(np.array([10, 0, 3]), Randomness(7).noise)
    array([8, 0, 3])
    >>> round(noise.variance, 3)
    1.841

    References
    ----------
    Ghosh, Roughgarden, Sundararajan, Universally utility-maximizing privacy mechanisms, STOC
    2009; Canonne, Kamath, Steinke, The discrete Gaussian for differential privacy, NeurIPS 2020;
    Cormode, Procopiuc, Srivastava, Tran, Differentially private summaries for sparse data, ICDT
    2012.
    """

    guarantee: PureDP
    sensitivity: int = 1
    at_least: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.guarantee, PureDP):
            raise InvalidSetting(
                "Geometric needs a PureDP promise.",
                "Give e.g. Geometric(page.budget) on a page of PureDP.",
            )
        for name in ("sensitivity", "at_least"):
            if getattr(self, name) is not None or name == "sensitivity":
                object.__setattr__(self, name, _whole_from_one(name, getattr(self, name)))
        check_rate(self.step)
        if self.at_least is not None and self.step * self.at_least > LARGEST_RATE:
            raise InvalidSetting(
                "No empty cell would ever reach "
                + setting("at_least")
                + f": more than {LARGEST_RATE} noise scales.",
                "ln(cells / rows expected) scales are enough: lower " + setting("at_least") + ".",
            )

    @property
    def step(self) -> Fraction:
        """What one unit of noise costs: epsilon over the sensitivity."""
        return self.guarantee.epsilon / self.sensitivity

    @property
    def variance(self) -> float:
        """The variance of the noise on one number."""
        a = math.exp(-self.step)
        return 2 * a / math.expm1(-self.step) ** 2

    def check(self, value: object) -> None:
        """Refuse what cannot be noised, by its type and public size alone.

        Parameters
        ----------
        value
            What is to be released.
        """
        if isinstance(value, SparseCounts):
            self._check_sparse(value.size)
        elif self.at_least is not None:
            raise InvalidSetting(
                setting("at_least") + " applies to sparse counts only.",
                "Leave it out, or pass SparseCounts.",
            )
        else:
            check_whole_numbers(value)

    @overload
    def release(self, value: NDArray[np.integer], rng: np.random.Generator) -> Integers: ...
    @overload
    def release(self, value: SparseCounts, rng: np.random.Generator) -> SparseCounts: ...
    @overload
    def release(self, value: int, rng: np.random.Generator) -> int: ...

    def release(
        self, value: int | NDArray[np.integer] | SparseCounts, rng: np.random.Generator
    ) -> int | Integers | SparseCounts:
        """Return the value with noise: a number, an array, or the cells that reach ``at_least``.

        Parameters
        ----------
        value
            A whole number, an array of them, or ``SparseCounts``.
        rng
            The noise stream.
        """
        self.check(value)
        if isinstance(value, SparseCounts):
            return self._release_sparse(value, rng)
        # Clipped without looking: a refusal would tell of the value.
        noisy = clipped_to_62_bits(value) + self._noise(np.size(value), rng).reshape(
            np.shape(value)
        )
        return noisy if np.ndim(value) else int(noisy)

    def log_ratio(self, output: Counts, value: Counts, other: Counts) -> Fraction | float:
        """Return by how much, in logarithms, an output is likelier on one value than on another.

        Parameters
        ----------
        output
            What ``release`` returned.
        value
            The value that the output is held to be likelier on.
        other
            The value it is compared with, of the same shape or number of cells.

        Returns
        -------
            An exact fraction, unless cells were left out of the output.
        """
        if isinstance(value, SparseCounts):
            return sum(self._cell_ratio(*cell) for cell in _changed_cells(output, value, other))
        moved = _changed_numbers(output, value, other)
        return self.step * sum(
            abs(noisy - after) - abs(noisy - before) for noisy, before, after in moved
        )

    def worst_ratio(self, value: Counts, other: Counts) -> Fraction | float:
        """Return the largest ``log_ratio`` over all outputs.

        Parameters
        ----------
        value
            The value that an output is held to be likelier on.
        other
            The value it is compared with, of the same shape or number of cells.
        """
        if isinstance(value, SparseCounts):
            nothing = SparseCounts(value.keys[:0], value.counts[:0], value.size)
            moved = _changed_cells(nothing, value, other)
            return sum(self._worst_cell_ratio(before, after) for _, before, after in moved)
        moved = _changed_numbers(value, value, other)
        return self.step * sum(abs(before - after) for _, before, after in moved)

    def _cell_ratio(self, noisy: int | None, before: int, after: int) -> Fraction | float:
        """Return the log-ratio of one cell, whose noisy count is None if it was left out."""
        if noisy is None:
            return self._log_left_out(before) - self._log_left_out(after)
        return self.step * (abs(noisy - after) - abs(noisy - before))

    def _worst_cell_ratio(self, before: int, after: int) -> Fraction | float:
        # Noisy counts that are released are at least the threshold; the ratio is monotone in them.
        if before > after:
            return self.step * (before - after)
        return max(self._cell_ratio(noisy, before, after) for noisy in (None, self._threshold))

    def _log_left_out(self, count: int) -> float:
        """Return ln P[count + noise < threshold]."""
        step, short = float(self.step), self._threshold - count
        if short <= 0:
            return -(1 - short) * step - math.log1p(math.exp(-step))
        return math.log1p(-math.exp(-step * short) / (1 + math.exp(-step)))

    @property
    def pays_first(self) -> bool:
        """Whether the cost is written before drawing: a sparse output's length is random."""
        return self.at_least is not None

    def to_arrays(self, output: int | Integers | SparseCounts) -> list[Integers]:
        """Return an output as arrays, for the ledger's journal.

        Parameters
        ----------
        output
            What ``release`` returned.
        """
        if isinstance(output, SparseCounts):
            return [output.keys, output.counts, np.array(output.size)]
        return [np.asarray(output, dtype=np.int64)]

    def from_arrays(self, arrays: Sequence[Integers]) -> int | Integers | SparseCounts:
        """Rebuild an output from its arrays.

        Parameters
        ----------
        arrays
            What ``to_arrays`` returned.
        """
        if self.at_least is not None:
            return SparseCounts(arrays[0], arrays[1], int(arrays[2]))
        return arrays[0] if arrays[0].ndim else int(arrays[0])

    def _noise(self, n: int, rng: np.random.Generator) -> Integers:
        return geometric_law(self.step).two_sided(n, rng)  # [P1]

    def _release_sparse(self, counts: SparseCounts, rng: np.random.Generator) -> SparseCounts:
        """Release the cells whose noisy count reaches the threshold, empty cells included."""
        tau = self._threshold
        noisy = clipped_to_62_bits(counts.counts) + self._noise(counts.keys.size, rng)  # [P2]
        reaching = noisy >= tau
        empty = self._reaching(counts.size - counts.keys.size, rng)  # [P3]
        false_keys = _nth_empty(counts.keys, empty)
        false_counts = tau + geometric_law(self.step).one_sided(empty.size, rng)  # [P4]
        keys = np.concatenate([counts.keys[reaching], false_keys])
        order = np.argsort(keys)  # [P5] the order drawn would tell true cells from false ones
        return SparseCounts(
            keys[order], np.concatenate([noisy[reaching], false_counts])[order], counts.size
        )

    def _reaching(self, empty_cells: int, rng: np.random.Generator) -> Integers:
        """Draw which of the empty cells, numbered from 0, reach the threshold, gap by gap."""
        law = skip_law(self.step, self._threshold)
        expected = empty_cells * reach_probability(self.step, self._threshold)
        # Six deviations more than expected: a second batch is hardly ever drawn.
        batch = int(expected + 6 * math.sqrt(expected)) + 16
        batches = [np.array([-1], dtype=np.int64)]
        while True:
            places = batches[-1][-1] + np.cumsum(law.one_sided(batch, rng) + 1)
            past = (places >= empty_cells) | (places < 0)  # below 0: wrapped around 2**63
            if past.any():
                return np.concatenate([*batches, places[: int(np.argmax(past))]])[1:]
            batches.append(places)

    @property
    def _threshold(self) -> int:
        if self.at_least is None:
            raise InvalidSetting(
                "Sparse counts need "
                + setting("at_least")
                + ": noise on the occupied cells alone would show which they are.",
                "Give Geometric(..., at_least=tau), tau chosen without these counts.",
            )
        return self.at_least

    def _check_sparse(self, size: int) -> None:
        if size * reach_probability(self.step, self._threshold) > _MOST_FALSE_CELLS:
            raise TooLarge(
                f"Over {_MOST_FALSE_CELLS} empty cells of {size} would reach {self._threshold}.",
                "Raise " + setting("at_least") + " or epsilon, or use fewer cells.",
                reason="cells",
            )


def _whole_from_one(name: str, value: object) -> int:
    whole = whole_number(value)
    if whole is None or whole < 1:
        raise InvalidSetting.of(name, "must be a whole number of 1 or more", 1, value)
    return whole


def _nth_empty(occupied: Integers, ranks: Integers) -> Integers:
    """Return the keys of the empty cells of these ranks, skipping occupied keys."""
    # How many empty cells lie below each occupied one.
    empty_before = occupied - np.arange(occupied.size)
    return ranks + np.searchsorted(empty_before, ranks, side="right")


def _changed_numbers(output: Any, value: Any, other: Any) -> Iterator[tuple[int, int, int]]:
    """Yield the numbers of three arrays in the places where the last two differ."""
    before, after = clipped_to_62_bits(value), clipped_to_62_bits(other)
    moved = before != after
    arrays = (np.asarray(output)[moved], before[moved], after[moved])
    yield from zip(*(array.tolist() for array in arrays), strict=True)


def _changed_cells(output: Any, value: Any, other: Any) -> Iterator[tuple[int | None, int, int]]:
    """Yield the noisy count, None for a cell left out, and both counts of cells that differ."""
    keys = np.union1d(value.keys, other.keys)
    noisy = dict(zip(output.keys.tolist(), output.counts.tolist(), strict=True))
    before, after = _counts_of(value, keys), _counts_of(other, keys)
    for place in np.flatnonzero(before != after).tolist():
        yield noisy.get(int(keys[place])), int(before[place]), int(after[place])


def _counts_of(cells: SparseCounts, keys: Integers) -> Integers:
    """Return the counts of these cells, which all occupied ones are among."""
    counts = np.zeros(keys.size, dtype=np.int64)
    counts[np.searchsorted(keys, cells.keys)] = clipped_to_62_bits(cells.counts)
    return counts
