"""Choose the number of clusters for k-means, and compute silhouettes of weighted points."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.arrays import Floats
from shoal.cluster.choose._cost_curve import CostCurve
from shoal.cluster.choose._result import Choice
from shoal.cluster.choose._simulation import (
    CellRelease,
    PointSample,
    RepeatableRelease,
    count_with_most_gain,
    simulate_gains,
)
from shoal.cluster.choose._weighted_points import Cloud, cloud_of
from shoal.cluster.kmeans._settings import cluster_numbers
from shoal.errors import InvalidSetting
from shoal.privacy import Guarantee
from shoal.synopsis import Synopsis
from shoal.synopsis.mixed import MixedSynopsis

Rule = Literal["simulation", "elbow", "silhouette", "gap"]
Counts = tuple[int, ...]
Verdict = tuple[int, dict[float, float]]
ACROSS = "Number of clusters"
_UPWARDS = {"elbow": "Inertia", "silhouette": "Mean silhouette", "gap": "Gap"}
_REFERENCES = 10  # evenly spread sets that the gap is measured against

_CHUNK = 256  # rows of the distance matrix held at a time


def k(
    points: Any,
    weights: ArrayLike | None = None,
    by: Rule | None = None,
    *,
    among: Sequence[int] = range(2, 21),
    guarantee: Guarantee | None = None,
    random_state: int | None = 0,
) -> Choice[int]:
    """Choose the number of clusters.

    Parameters
    ----------
    points
        A fitted synopsis, of numbers or of a mixed table, or a model learnt from reports, at no
        further cost; or an array of points, e.g. rows, where the choice depends on them and nothing
        is promised.
    weights
        How many rows each point stands for, 1 if left out.
    guarantee
        The guarantee under which an array of points was released, if it was.
    by
        "simulation": where costs stop falling faster than they would if the groups found were all,
        by simulated releases with the noise of this one; the usual rule for a synopsis, and the
        only one for a mixed table. Of a synopsis that was loaded, is sparse or has more than
        500,000 cells, the weights are taken as they are, without noise. "elbow", the usual one for
        points and reports: where the logarithm of the inertia, over that of k, lies farthest below
        the line between its ends. "silhouette": where points are nearest to their own cluster
        beside the next. "gap": the first number at which the inertia is as far below that of evenly
        spread points as it gets.
    among
        The numbers to choose among. An elbow lies between the ends, so begin below and end above
        what you expect.
    random_state
        The seed of the runs of k-means and of simulations.

    Returns
    -------
    The chosen number and its curve.

    Raises
    ------
    InvalidSetting
        If ``by`` or ``among`` is outside its range.

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
    counts = cluster_numbers(among)
    by = by or ("simulation" if isinstance(points, Synopsis | MixedSynopsis) else "elbow")
    _check_rule(by, points)
    rng = np.random.default_rng(random_state)
    if isinstance(points, MixedSynopsis):
        # Here, since its estimator chooses by this package.
        from shoal.cluster.prototypes._number_of_groups import choose_groups

        return choose_groups(points, counts, rng)
    cloud, promise = cloud_of(points, weights, guarantee)
    if by == "simulation":
        return _simulation(_release_of(points, cloud, rng), counts, promise, rng)
    value, curve = _RULES[by](cloud, counts, rng)
    settings = {"n_clusters": value}
    return Choice(value, by, curve, promise, settings, value, ACROSS, _UPWARDS[by])


def _check_rule(by: str, points: Any) -> None:
    known = ("simulation",) if isinstance(points, MixedSynopsis) else ("simulation", *_RULES)
    if by not in known:
        listed = ", ".join(map(repr, known))
        raise InvalidSetting.of("by", f"must be one of {listed}", known[0], by)


def _release_of(points: Any, cloud: Cloud, rng: np.random.Generator) -> RepeatableRelease:
    if isinstance(points, Synopsis) and CellRelease.serves(points):
        return CellRelease(points)
    return PointSample(cloud, rng)


def _simulation(
    release: RepeatableRelease, counts: Counts, promise: Guarantee, rng: np.random.Generator
) -> Choice[int]:
    """Choose the number up to which clusters gain more than those of plain groups would."""
    gains, fits = simulate_gains(release, counts, rng)
    value, heights = count_with_most_gain(gains), tuple(gains.gaps.tolist())
    deviations = tuple(release.deviation(fit) for fit in fits)
    costs = CostCurve(
        counts, tuple(fit.cost for fit in fits), deviations, heights, value, "simulation"
    )
    return Choice(
        value, "simulation", dict(zip(counts, heights, strict=True)), promise,
        {"n_clusters": value}, value, ACROSS, "Gap", costs,
    )  # fmt: skip


def _elbow(cloud: Cloud, counts: Counts, rng: np.random.Generator) -> Verdict:
    """Choose the number where the curve lies farthest below the line between its ends."""
    curve = np.array([cloud.log_inertia(count, rng) for count in counts])
    across = np.log(counts)
    share = (across - across[0]) / max(across[-1] - across[0], np.finfo(float).tiny)
    depth = curve[0] + share * (curve[-1] - curve[0]) - curve
    inertia: dict[float, float] = dict(zip(counts, np.exp(curve).tolist(), strict=True))
    return counts[int(np.argmax(depth))], inertia


def _silhouette(cloud: Cloud, counts: Counts, rng: np.random.Generator) -> Verdict:
    cloud = cloud.sample(rng)
    labels = [cloud.fit_kmeans(count, rng).predict(cloud.points) for count in counts]
    scores = silhouettes(cloud.points, cloud.weights, labels)
    return counts[int(np.argmax(scores))], dict(zip(counts, scores, strict=True))


def _gap(cloud: Cloud, counts: Counts, rng: np.random.Generator) -> Verdict:
    """Choose the first number whose gap is within one deviation of the largest."""
    cloud = cloud.sample(rng)
    spread = [cloud.uniform(rng) for _ in range(_REFERENCES)]
    gaps, deviations = [], []
    for count in counts:
        reference_logs = np.array([one.log_inertia(count, rng, n_init=1) for one in spread])
        gaps.append(float(reference_logs.mean() - cloud.log_inertia(count, rng)))
        deviations.append(float(reference_logs.std() * np.sqrt(1 + 1 / _REFERENCES)))
    top = int(np.argmax(gaps))
    best = next(at for at, gap in enumerate(gaps) if gap >= gaps[top] - deviations[top])
    return counts[best], dict(zip(counts, gaps, strict=True))


_RULES: dict[str, Callable[[Cloud, Counts, np.random.Generator], Verdict]] = {
    "elbow": _elbow,
    "silhouette": _silhouette,
    "gap": _gap,
}


def silhouettes(points: Floats, weights: Floats, labellings: Sequence[NDArray[Any]]) -> list[float]:
    """Compute the mean silhouette of several labellings, a point of weight w counting as w points.

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


def _widths(sums: Floats, sizes: Floats, labels: NDArray[Any]) -> Floats:
    """Return how much nearer each point is to its own cluster than to the next; 0 if alone."""
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
