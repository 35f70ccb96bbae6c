"""Rows drawn about released centres, as wide as the released cells show their groups."""

import math
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Floats
from shoal.cluster.intervals._half_widths import distance_to_next
from shoal.cluster.kmeans._kernels import Nearest
from shoal.cluster.kmeans._weighted_kmeans import soften_weights
from shoal.domain import Box

# Rows of a group that are drawn from its own cells, where these have all columns. Cells show tails
# and gaps, but are rougher than the rows: docs/decisions/intervals.md.
_FROM_CELLS = 0.5
# The others have the tails of Student's t: with those of a normal law refits are less biased than
# fits of most tables are.
_TAIL_DEGREES = 4
_LEAST_INSIDE = 0.25  # of the variance of rows spread evenly in their cells
_UNKNOWN_SPREAD = 0.2  # of the distance to the next centre, where nothing was released about it
_ALONE = 0.3  # a spread in [-1, 1], of a single group of which no cell is known
_LEAST_VARIANCE = 1e-12
_MOST_CORRELATION = 0.99  # of what the cells show: a group in a line of cells has some width
_MOST_ROWS, _MANY = 20_000, 20_000
_FEWER_ROWS = 5_000


def made_up_rows(n: int) -> int:
    """Return how many rows are drawn to stand for so many.

    Examples
    --------
    >>> made_up_rows(500), made_up_rows(10_000), made_up_rows(10**6)
    (500, 5000, 20000)
    """
    return min(max(n, 1), _FEWER_ROWS if n <= _MANY else _MOST_ROWS)


@dataclass(frozen=True, eq=False)
class GroupCells:
    """The released cells of one group.

    Parameters
    ----------
    low
        Their lowest corners, in [-1, 1]^d.
    weight
        How much each counts, more than 0.
    """

    low: Floats
    high: Floats
    weight: Floats

    @property
    def mean(self) -> Floats:
        """The mean of rows spread evenly in each cell."""
        return np.average((self.low + self.high) / 2, axis=0, weights=self.weight)

    @property
    def even_variances(self) -> Floats:
        """The variance along each axis of rows spread evenly in each cell."""
        return np.asarray(np.diag(self._of_middles) + self._inside)

    @property
    def variances(self) -> Floats:
        """The variance along each axis of the rows that were counted.

        Middles of cells spread more widely than rows do, by a twelfth of a side's square
        (Sheppard's correction); rows drawn evenly in cells, by as much again.
        """
        corrected = np.diag(self._of_middles) - self._inside
        return np.maximum(corrected, _LEAST_INSIDE * self.even_variances)

    @property
    def root(self) -> Floats:
        """A matrix that gives vectors of variance 1 along each axis their covariance."""
        middles = self._of_middles
        lengths = np.sqrt(np.maximum(np.diag(middles), _LEAST_VARIANCE))
        correlations = _MOST_CORRELATION * middles / np.outer(lengths, lengths)
        np.fill_diagonal(correlations, 1.0)
        return np.asarray(np.sqrt(self.variances)[:, None] * np.linalg.cholesky(correlations))

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw offsets from the mean: cells by weight, places in a cell evenly, then drawn in."""
        chosen = rng.choice(len(self.weight), n, p=self.weight / self.weight.sum())
        away = rng.uniform(self.low[chosen], self.high[chosen]) - self.mean
        return np.asarray(away * np.sqrt(self.variances / self.even_variances))

    @property
    def _of_middles(self) -> Floats:
        away = (self.low + self.high) / 2 - self.mean
        return np.asarray((self.weight[:, None] * away).T @ away / self.weight.sum())

    @property
    def _inside(self) -> Floats:
        return np.asarray(np.average((self.high - self.low) ** 2, axis=0, weights=self.weight) / 12)


@dataclass(frozen=True, eq=False)
class WholeColumns:
    """The columns that are publicly known to hold whole numbers, in [-1, 1].

    Parameters
    ----------
    is_whole
        Whether each column does.
    """

    box: Box
    is_whole: tuple[bool, ...]

    def round(self, rows: Floats) -> Floats:
        """Return rows whose whole columns lie on the nearest whole number inside the bounds."""
        numbers, which = self.box.unscale(rows, -1, 1), np.array(self.is_whole)
        low, high = np.ceil(self.box.low[which]), np.floor(self.box.high[which])
        rounded = rows.copy()
        numbers[:, which] = np.clip(np.rint(numbers[:, which]), low, np.maximum(low, high))
        rounded[:, which] = self.box.scale(numbers, -1, 1)[:, which]
        return np.clip(rounded, -1, 1)


@dataclass(frozen=True, eq=False)
class RowModel:
    """Where rows lie, as far as a release tells: groups about their centres in [-1, 1]^d.

    Parameters
    ----------
    sizes
        The number of rows of each, more than 0.
    roots
        Of each group: what gives vectors of variance 1 along each axis its covariance.
    cells
        The cells of each group; None where none were released, or not of all columns.
    """

    centers: Floats
    sizes: Floats
    roots: Floats
    cells: tuple[GroupCells | None, ...]
    scale: float = 1.0
    whole: WholeColumns | None = None

    @classmethod
    def without_cells(cls, centers: Floats, sizes: Floats) -> "RowModel":
        """Return round groups near each other, of which only the centres are known."""
        k, d = centers.shape
        spacing = float(np.median(distance_to_next(centers)))
        known = math.isfinite(spacing)
        spread = _UNKNOWN_SPREAD * spacing / math.sqrt(max(d / 2, 1)) if known else _ALONE
        roots = np.tile(max(spread, _LEAST_VARIANCE) * np.eye(d), (k, 1, 1))
        return cls(centers, np.maximum(sizes, 1.0), roots, (None,) * k)

    @classmethod
    def from_cells(
        cls, centers: Floats, sizes: Floats, low: Floats, high: Floats, weights: Floats
    ) -> "RowModel":
        """Return groups as wide as their cells, each cell that of the nearest centre.

        Parameters
        ----------
        low
            The cells' lowest corners, in [-1, 1]^d.
        """
        soft = soften_weights(weights)
        labels = Nearest(centers).labels_of_points((low + high) / 2)
        cells = []
        for group in range(len(centers)):
            own = (labels == group) & (soft > 0)
            cells.append(GroupCells(low[own], high[own], soft[own]) if own.any() else None)
        return cls.without_cells(centers, sizes)._with_cells(tuple(cells))

    def _with_cells(self, cells: tuple[GroupCells | None, ...]) -> "RowModel":
        known = [each for each in cells if each is not None]
        if not known:
            return self
        weights = [each.weight.sum() for each in known]
        pooled = np.average([each.variances for each in known], axis=0, weights=weights)
        usual = np.diag(np.sqrt(np.maximum(pooled, _LEAST_VARIANCE)))
        roots = np.array([usual if each is None else each.root for each in cells])
        return replace(self, roots=roots, cells=cells)

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw rows of all groups, moved into [-1, 1]^d."""
        counts = rng.multinomial(n, self.sizes / self.sizes.sum())
        offsets = [self._offsets(group, count, rng) for group, count in enumerate(counts)]
        about = np.repeat(self.centers, counts, axis=0)
        return self._rounded(np.clip(about + self.scale * np.vstack(offsets), -1, 1))

    def draw_from_cells(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw rows from the cells as they are, wherever the centres lie."""
        cells = [each for each in self.cells if each is not None]
        low, high = (np.vstack([getattr(each, end) for each in cells]) for end in ("low", "high"))
        weight = np.concatenate([each.weight for each in cells])
        chosen = rng.choice(len(weight), n, p=weight / weight.sum())
        return self._rounded(np.clip(rng.uniform(low[chosen], high[chosen]), -1, 1))

    def along_centers(self, part: float) -> "RowModel":
        """Return groups of which a part of the variance lies along the scatter of the centres.

        The trace of each group's covariance stays as it is.
        """
        weights = self.sizes / self.sizes.sum()
        away = self.centers - weights @ self.centers
        scatter = (weights[:, None] * away).T @ away
        if not part or scatter.trace() < _LEAST_VARIANCE:
            return self
        roots = []
        for root in self.roots:
            round_ = root @ root.T
            mixed = (1 - part) * round_ + part * scatter * round_.trace() / scatter.trace()
            values, vectors = np.linalg.eigh(mixed)
            roots.append(vectors * np.sqrt(np.maximum(values, _LEAST_VARIANCE)))
        return replace(self, roots=np.array(roots))

    def _rounded(self, rows: Floats) -> Floats:
        return np.asarray(rows if self.whole is None else self.whole.round(rows))

    @property
    def has_cells(self) -> bool:
        """Whether any cell of all columns is known."""
        return any(each is not None for each in self.cells)

    def _offsets(self, group: int, n: int, rng: np.random.Generator) -> Floats:
        cells = self.cells[group]
        from_cells = 0 if cells is None else int(rng.binomial(n, _FROM_CELLS))
        root = self.roots[group]
        tailed = _tailed(n - from_cells, len(root), rng) @ root.T
        return tailed if cells is None else np.vstack([cells.draw(from_cells, rng), tailed])


def _tailed(n: int, d: int, rng: np.random.Generator) -> Floats:
    """Vectors of a multivariate Student's t, of variance 1 along each axis."""
    stretch = np.sqrt((_TAIL_DEGREES - 2) / rng.chisquare(_TAIL_DEGREES, n))
    return np.asarray(stretch[:, None] * rng.standard_normal((n, d)))
