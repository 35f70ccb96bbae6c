"""EM on a lattice by convolution: as many reports as you like, in a pass each and no more.

The likelihood of a report depends on its distance to an atom alone. With reports counted on the
lattice of the atoms, carried on beyond the box, both sums of an EM step are convolutions with the
noise's kernel:

    evidence = kernel * weights          weights <- weights . (kernel * (counts / evidence))

Counting shares a report among the 2^d nodes around it, which keeps its mean and adds, h the step,
h^2/6 to its variance along an axis (h^2/4 for a report half-way between nodes): with h at most
1 / (4 epsilon), a 190th of the noise's own in one column, a 290th in two, a 380th in three.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfftn, next_fast_len, rfftn

from shoal.cluster.local.learnt import Progress, Row
from shoal.domain.box import Matrix

__all__ = ["Lattice", "lattice_for"]

_MOST_CELLS = 2**21  # of the carried-on lattice: some 16 MB an array
_MOST_ATOMS = 2**17
_REACH = 20.0  # noise goes beyond 20 / epsilon in one report of a million, in three columns
_ROUNDS = 100

Field = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lattice:
    """Nodes over a box, ``margin`` more on each side where reports may fall; units of 1/epsilon.

    Attributes
    ----------
    low, step
        The first node of the box and the distance of nodes, by axis.
    nodes, margin
        How many lie in the box, and beyond it on each side, by axis.
    """

    low: Row
    step: Row
    nodes: tuple[int, ...]
    margin: tuple[int, ...]

    def atoms(self) -> Matrix:
        """The nodes in the box, one a line."""
        every = zip(self.low, self.step, self.nodes, strict=True)
        axes = [low + h * np.arange(m) for low, h, m in every]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))

    def counts(self, blocks: Iterable[Matrix]) -> Field:
        """Reports, some at a time, each shared among the nodes around it."""
        total = np.zeros(int(np.prod(self.whole)))
        for values in blocks:
            places = self._places(values)
            base = np.floor(places).astype(np.int64)
            base = np.minimum(base, np.array(self.whole) - 2)
            ahead = places - base
            for corner in product((0, 1), repeat=len(self.whole)):
                share = np.prod(np.where(corner, ahead, 1 - ahead), axis=1)
                keys = np.ravel_multi_index(tuple((base + corner).T), self.whole)
                total += np.bincount(keys, share, total.size)
        return total.reshape(self.whole)

    def likeliest(
        self, counts: Field, rounds: int = _ROUNDS, progress: Progress = None, start: float = 0.0
    ) -> Field:
        """Weights of the nodes in the box after so many steps of EM from uniform ones."""
        weights = np.full(self.nodes, 1 / np.prod(self.nodes))
        for done in range(rounds):
            evidence = self.spread(weights)
            ratio = counts / np.maximum(evidence, 1e-14 * evidence.max())
            weights = np.maximum(weights * self._gathered(ratio), 0)
            weights /= weights.sum()
            if progress is not None:
                progress(start + (1 - start) * (done + 1) / rounds)
        return weights

    def spread(self, weights: Field) -> Field:
        """Where reports of records with these weights fall."""
        padded = np.zeros(self._shape)
        padded[self._box] = weights
        return self._convolved(padded)[self._all]

    def likeliest_part(self, blocks: Iterable[Matrix], parts: list[Field]) -> NDArray[np.int64]:
        """For each report, some at a time, the part of the weights it most likely came from."""
        best = np.zeros(self.whole, dtype=np.int64)
        top = np.full(self.whole, -np.inf)
        for label, weights in enumerate(parts):
            level = self.spread(weights)
            better = level > top
            best[better], top[better] = label, level[better]
        places = (np.rint(self._places(values)).astype(np.int64) for values in blocks)
        return np.concatenate([best[tuple(near.T)] for near in places])

    @property
    def whole(self) -> tuple[int, ...]:
        """How many nodes there are by axis, those beyond the box among them."""
        return tuple(m + 2 * g for m, g in zip(self.nodes, self.margin, strict=True))

    @property
    def _all(self) -> tuple[slice, ...]:
        return tuple(slice(w) for w in self.whole)

    @property
    def _box(self) -> tuple[slice, ...]:
        return tuple(slice(g, g + m) for g, m in zip(self.margin, self.nodes, strict=True))

    def _places(self, values: Matrix) -> Matrix:
        """In steps from the outermost node; from further out, along the line to the middle."""
        middle = (np.array(self.whole) - 1) / 2
        gaps = (values - self.low) / self.step + self.margin - middle
        out = np.max(np.abs(gaps) / middle, axis=1, initial=1.0, keepdims=True)
        inside = gaps / out + middle  # but for rounding, which may push them over the edge
        return np.asarray(np.clip(inside, 0, 2 * middle))

    @cached_property
    def _shape(self) -> tuple[int, ...]:
        """Room enough that a convolution does not bite its tail."""
        return tuple(
            next_fast_len(w + m, real=True) for w, m in zip(self.whole, self.nodes, strict=True)
        )

    @cached_property
    def _kernel(self) -> NDArray[np.complex128]:
        """The transform of e^-r; symmetric, so it is real and serves both directions."""
        steps = [np.minimum(np.arange(s), s - np.arange(s)) for s in self._shape]
        axes = [h * each for h, each in zip(self.step, steps, strict=True)]
        squares = sum(np.square(each) for each in np.meshgrid(*axes, indexing="ij", sparse=True))
        return np.asarray(rfftn(np.exp(-np.sqrt(squares))))

    def _convolved(self, field: Field) -> Field:
        return np.asarray(irfftn(rfftn(field) * self._kernel, s=self._shape))

    def _gathered(self, ratio: Field) -> Field:
        padded = np.zeros(self._shape)
        padded[self._all] = ratio
        return self._convolved(padded)[self._box]


def lattice_for(low: Row, high: Row, step: Row, values: Matrix) -> Lattice | None:
    """A lattice over the box and as far as reports go; ``None`` if it would be too large.

    Examples
    --------
    >>> corner = np.array([0.0, 0.0])
    >>> lattice = lattice_for(corner, corner + 4, corner + 0.25, np.array([[-1.0, 2.0]]))
    >>> lattice.nodes, lattice.margin
    ((17, 17), (4, 1))
    """
    fine = np.minimum(step, 0.25)
    nodes = np.maximum(np.ceil((high - low) / fine - 1e-9), 1) + 1
    width = np.maximum(high - low, 1e-9)
    step = width / (nodes - 1)
    beyond = np.maximum(low - values.min(axis=0), values.max(axis=0) - high)
    margin = np.ceil(np.clip(beyond, 0, _REACH) / step).clip(min=1)
    if np.prod(nodes) > _MOST_ATOMS or np.prod(nodes + 2 * margin) > _MOST_CELLS:
        return None
    return Lattice(low, step, tuple(nodes.astype(int).tolist()), tuple(margin.astype(int).tolist()))
