"""Choose settings of clustering methods: how many clusters there are, read off weighted points."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans

from shoal.cluster.cells import cell_points
from shoal.cluster.settings import counts_of
from shoal.cluster.weighted import padded, weighted_kmeans
from shoal.domain.box import Matrix, as_matrix
from shoal.errors import DimensionMismatch, InvalidSetting
from shoal.figures import Figure, count_curve
from shoal.privacy import Guarantee, Unprotected
from shoal.synopsis.base import Synopsis

__all__ = ["Choice", "k"]

Rule = Literal["elbow", "silhouette", "gap"]
Weights = NDArray[np.float64]
Counts = tuple[int, ...]
Verdict = tuple[int, dict[int, float]]
_MOST_POINTS = 5_000
_REFERENCES = 10
_CHUNK = 256


@dataclass(frozen=True)
class Choice:
    """What was chosen, and the curve it was read off.

    Attributes
    ----------
    value
        The number of clusters.
    by
        The rule.
    curve
        For each number of clusters tried, what the rule looked at.
    guarantee
        That of the synopsis; ``Unprotected`` if rows were read.
    """

    value: int
    by: str
    curve: dict[int, float]
    guarantee: Guarantee

    def plot(self) -> Figure:
        """The curve, with what was chosen."""
        looked_at = {"elbow": "Inertia", "silhouette": "Mean silhouette", "gap": "Gap"}[self.by]
        chosen = f"{self.value} chosen by {self.by}"
        return count_curve(self.curve, chosen=self.value, value=looked_at, title=chosen)


def k(
    points: Any,
    weights: ArrayLike | None = None,
    by: Rule = "elbow",
    *,
    among: Sequence[int] = range(2, 21),
    random_state: int | None = 0,
) -> Choice:
    """How many clusters there are.

    Parameters
    ----------
    points
        A fitted synopsis, at no further cost; or points, e.g. rows: then the choice depends on
        them and nothing is promised.
    weights
        What each point stands for; 1 if left out.
    by
        "elbow": where the logarithm of the inertia, over that of k, bends most. "silhouette":
        where points are nearest to their own cluster beside the next. "gap": the first number at
        which the inertia is as far below that of evenly spread points as it gets.
    among
        Numbers to choose among.
    random_state
        Of the runs of k-means.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 100, axis=0)
    >>> k(X, by="silhouette", among=range(2, 7)).value
    3

    References
    ----------
    Rousseeuw, Silhouettes, J. Comput. Appl. Math. 1987; Tibshirani, Walther, Hastie, Estimating the
    number of clusters in a data set via the gap statistic, JRSS B 2001.
    """
    counts = counts_of(among)
    if by not in _RULES:
        known = ", ".join(map(repr, _RULES))
        raise InvalidSetting(f"by is none of {known}.", 'E.g. by="elbow".')
    cloud, guarantee = _cloud_of(points, weights)
    cloud = cloud.padded(counts[-1])
    value, curve = _RULES[by](cloud, counts, np.random.default_rng(random_state))
    return Choice(value, by, curve, guarantee)


@dataclass(frozen=True, eq=False)
class _Cloud:
    """Weighted points, the inertia that their spread inside cells adds, and the box about them."""

    points: Matrix
    weights: Weights
    within: float
    low: Matrix
    high: Matrix

    def padded(self, count: int) -> "_Cloud":
        """With so many different points at least."""
        points, weights = padded(self.points, self.weights, count)
        return replace(self, points=points, weights=weights)

    def fitted(self, count: int, rng: np.random.Generator, n_init: int = 5) -> KMeans:
        """Weighted k-means."""
        seed = int(rng.integers(2**31))
        return weighted_kmeans(self.points, self.weights, count, seed, n_init)

    def log_inertia(self, count: int, rng: np.random.Generator, n_init: int = 5) -> float:
        """Of the best centres found; an estimate where points are cells."""
        found = self.fitted(count, rng, n_init).inertia_ + self.within
        return float(np.log(max(found, np.finfo(float).tiny)))

    def sampled(self, rng: np.random.Generator) -> "_Cloud":
        """Few enough points to compare all pairs: drawn by weight if there are more."""
        if len(self.points) <= _MOST_POINTS:
            return self
        chances = self.weights / self.weights.sum()
        drawn = rng.choice(len(self.points), _MOST_POINTS, p=chances)
        points, times = np.unique(self.points[drawn], axis=0, return_counts=True)
        return replace(self, points=points, weights=times * (self.weights.sum() / _MOST_POINTS))

    def evenly(self, rng: np.random.Generator) -> "_Cloud":
        """As many points of the same weights, anywhere in the box."""
        return replace(self, points=rng.uniform(self.low, self.high, self.points.shape))


def _cloud_of(points: Any, weights: ArrayLike | None) -> tuple[_Cloud, Guarantee]:
    if isinstance(points, Synopsis):
        return _cloud_of_cells(points), points.guarantee_
    cloud = as_matrix(points)
    heavy = np.ones(len(cloud)) if weights is None else np.asarray(weights, dtype=np.float64)
    if heavy.shape != (len(cloud),) or not len(cloud) or not (heavy >= 0).all():
        raise DimensionMismatch(
            f"{heavy.size} weights came for {len(cloud)} points.",
            "Give at least one point, and each a weight from 0 up.",
        )
    unprotected = Unprotected("read off points as they came, which may be rows")
    return _Cloud(cloud, heavy, 0.0, cloud.min(axis=0), cloud.max(axis=0)), unprotected


def _cloud_of_cells(synopsis: Synopsis) -> _Cloud:
    """The cells in [-1, 1]^d, in which centres are sought."""
    cells = cell_points(synopsis)
    ones = np.ones(cells.points.shape[1])
    return _Cloud(cells.points, cells.weights, cells.within, -ones, ones)


def _elbow(cloud: _Cloud, counts: Counts, rng: np.random.Generator) -> Verdict:
    """Where the curve lies farthest below the line between its ends."""
    curve = np.array([cloud.log_inertia(count, rng) for count in counts])
    across = np.log(counts)
    share = (across - across[0]) / max(across[-1] - across[0], np.finfo(float).tiny)
    depth = curve[0] + share * (curve[-1] - curve[0]) - curve
    inertia = dict(zip(counts, np.exp(curve).tolist(), strict=True))
    return counts[int(np.argmax(depth))], inertia


def _silhouette(cloud: _Cloud, counts: Counts, rng: np.random.Generator) -> Verdict:
    cloud = cloud.sampled(rng)
    labels = [cloud.fitted(count, rng).predict(cloud.points) for count in counts]
    scores = silhouettes(cloud.points, cloud.weights, labels)
    return counts[int(np.argmax(scores))], dict(zip(counts, scores, strict=True))


def silhouettes(
    points: Matrix, weights: Weights, labellings: Sequence[NDArray[Any]]
) -> list[float]:
    """The mean silhouette of several labellings, a point of weight w counting as w points.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [9.0]])
    >>> round(silhouettes(points, np.array([2.0, 1.0, 2.0]), [np.array([0, 0, 1])])[0], 3)
    0.953
    """
    ones = [np.eye(labels.max() + 1)[labels] * weights[:, None] for labels in labellings]
    totals = np.zeros(len(labellings))
    for start in range(0, len(points), _CHUNK):
        part = slice(start, start + _CHUNK)
        distances = np.sqrt(((points[part, None] - points) ** 2).sum(axis=2))
        for at, (labels, own) in enumerate(zip(labellings, ones, strict=True)):
            totals[at] += weights[part] @ _widths(distances @ own, own.sum(axis=0), labels[part])
    return [float(total) for total in totals / max(weights.sum(), np.finfo(float).tiny)]


def _widths(sums: Matrix, sizes: Weights, labels: NDArray[Any]) -> Weights:
    """How much nearer each point is to its own cluster than to the next; 0 if it is alone."""
    rows = np.arange(len(labels))
    others = sizes[labels] - 1
    inside = sums[rows, labels] / np.maximum(others, np.finfo(float).tiny)
    outside = sums / np.maximum(sizes, np.finfo(float).tiny)
    outside[rows, labels] = np.inf
    outside[:, sizes <= 0] = np.inf
    nearest = outside.min(axis=1)
    good = (others > 0) & np.isfinite(nearest)
    larger = np.where(good, np.maximum(np.maximum(inside, nearest), np.finfo(float).tiny), 1)
    return np.where(good, (np.where(good, nearest, 0) - inside) / larger, 0)


def _gap(cloud: _Cloud, counts: Counts, rng: np.random.Generator) -> Verdict:
    """The first number whose gap is no further below the largest than the references waver."""
    cloud = cloud.sampled(rng)
    spread = [cloud.evenly(rng) for _ in range(_REFERENCES)]
    gaps, wavers = [], []
    for count in counts:
        even = np.array([one.log_inertia(count, rng, n_init=1) for one in spread])
        gaps.append(float(even.mean() - cloud.log_inertia(count, rng)))
        wavers.append(float(even.std() * np.sqrt(1 + 1 / _REFERENCES)))
    top = int(np.argmax(gaps))
    best = next(at for at, gap in enumerate(gaps) if gap >= gaps[top] - wavers[top])
    return counts[best], dict(zip(counts, gaps, strict=True))


_RULES: dict[str, Callable[[_Cloud, Counts, np.random.Generator], Verdict]] = {
    "elbow": _elbow,
    "silhouette": _silhouette,
    "gap": _gap,
}
