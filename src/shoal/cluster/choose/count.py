"""How many clusters there are, for k-means."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from shoal.cluster.choose.choice import Choice
from shoal.cluster.choose.cloud import Cloud, cloud_of
from shoal.cluster.choose.silhouettes import silhouettes
from shoal.cluster.settings import counts_of
from shoal.errors import InvalidSetting
from shoal.privacy import Guarantee

__all__ = ["k"]

Rule = Literal["elbow", "silhouette", "gap"]
Counts = tuple[int, ...]
Verdict = tuple[int, dict[float, float]]
ACROSS = "Number of clusters"
_UPWARDS = {"elbow": "Inertia", "silhouette": "Mean silhouette", "gap": "Gap"}
_REFERENCES = 10


def k(
    points: Any,
    weights: ArrayLike | None = None,
    by: Rule = "elbow",
    *,
    among: Sequence[int] = range(2, 21),
    guarantee: Guarantee | None = None,
    random_state: int | None = 0,
) -> Choice[int]:
    """How many clusters there are.

    Parameters
    ----------
    points
        A fitted synopsis, or a model learnt from reports, at no further cost; or points, e.g.
        rows: then the choice depends on them and nothing is promised.
    weights, guarantee
        What each point stands for, 1 if left out; what points were released under, if they were.
    by
        "elbow": where the logarithm of the inertia, over that of k, lies farthest below the line
        between its ends. "silhouette": where points are nearest to their own cluster beside the
        next. "gap": the first number at which the inertia is as far below that of evenly spread
        points as it gets.
    among
        Numbers to choose among. An elbow is found between the ends, so begin below and end above
        what you expect.
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
    cloud, promise = cloud_of(points, weights, guarantee)
    value, curve = _RULES[by](cloud, counts, np.random.default_rng(random_state))
    settings = {"n_clusters": value}
    return Choice(value, by, curve, promise, settings, value, ACROSS, _UPWARDS[by])


def _elbow(cloud: Cloud, counts: Counts, rng: np.random.Generator) -> Verdict:
    """Where the curve lies farthest below the line between its ends."""
    curve = np.array([cloud.log_inertia(count, rng) for count in counts])
    across = np.log(counts)
    share = (across - across[0]) / max(across[-1] - across[0], np.finfo(float).tiny)
    depth = curve[0] + share * (curve[-1] - curve[0]) - curve
    inertia: dict[float, float] = dict(zip(counts, np.exp(curve).tolist(), strict=True))
    return counts[int(np.argmax(depth))], inertia


def _silhouette(cloud: Cloud, counts: Counts, rng: np.random.Generator) -> Verdict:
    cloud = cloud.sampled(rng)
    labels = [cloud.fitted(count, rng).predict(cloud.points) for count in counts]
    scores = silhouettes(cloud.points, cloud.weights, labels)
    return counts[int(np.argmax(scores))], dict(zip(counts, scores, strict=True))


def _gap(cloud: Cloud, counts: Counts, rng: np.random.Generator) -> Verdict:
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


_RULES: dict[str, Callable[[Cloud, Counts, np.random.Generator], Verdict]] = {
    "elbow": _elbow,
    "silhouette": _silhouette,
    "gap": _gap,
}
