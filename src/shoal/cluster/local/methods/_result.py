"""The result of a learning method, and the types and small helpers that all methods share."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.mechanisms.local.reports import Reports
from shoal.randomness import Randomness

_BLOCK = 2**15  # so that ten million reports need little extra memory


@dataclass(frozen=True, eq=False)
class LearningResult:
    """Centres, the density they were found in, and the labels of the reports.

    Parameters
    ----------
    points
        Where records lie according to the reports, one a row, in raw units.
    Attributes
    ----------
    centers
        One row for each cluster, in raw units.
    labels
        The likeliest cluster behind each report, where the method can tell; ``None``: the nearest
        centre of the report itself.
    counted
        Whether all reports were counted, wherever they are. If not, those that are held here were
        learnt from: of a Spark frame a sample.

    Examples
    --------
    >>> LearningResult(np.zeros((1, 2)), np.zeros((3, 2)), np.full(3, 1 / 3)).labels is None
    True
    """

    centers: Floats
    points: Floats
    weights: Floats
    labels: Integers | None = None
    counted: bool = False


# learn(reports, n_clusters, rng, units, progress): ``units`` is how much of each column, in raw
# units, counts as one unit of distance; ``progress`` hears which share of the work is done.
Progress = Callable[[float], None] | None
Learn = Callable[[Reports, int, Randomness, Floats, Progress], LearningResult]


def increasing_progress(progress: Progress) -> Callable[[float], None]:
    """Wrap a callback so that it is only called with growing shares.

    Some methods pass over the reports twice, and would report the same share again.

    Parameters
    ----------
    progress
        The callback; None for none.

    Examples
    --------
    >>> heard = []
    >>> tell = increasing_progress(heard.append)
    >>> for share in (0.5, 1.0, 0.5):
    ...     tell(share)
    >>> heard
    [0.5, 1.0]
    """
    last = 0.0

    def tell(share: float) -> None:
        nonlocal last
        if progress is not None and share > last:
            last = share
            progress(share)

    return tell


def nearest(points: Floats, centers: Floats, units: Floats) -> Integers:
    """Return the number of the nearest centre of each point.

    Parameters
    ----------
    points
        One a row, in raw units.
    centers
        One a row, in raw units.
    units
        How much of each column counts as one unit of distance.

    Examples
    --------
    >>> nearest(np.array([[1.0], [8.0]]), np.array([[0.0], [9.0]]), np.ones(1)).tolist()
    [0, 1]
    """
    scaled = centers / units
    halves = (scaled**2).sum(axis=1) / 2
    labels = np.empty(len(points), dtype=np.int64)
    for start in range(0, len(points), _BLOCK):
        part = slice(start, start + _BLOCK)
        labels[part] = np.argmin(halves - (points[part] / units) @ scaled.T, axis=1)
    return labels
