"""The result of a learning method, and the types and small helpers that all methods share."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Floats, Integers, nearest_centers
from shoal.mechanisms import Reports
from shoal.randomness import Randomness


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
    """

    centers: Floats
    points: Floats
    weights: Floats
    labels: Integers | None = None
    counted: bool = False

    def by_size(self, units: Floats) -> "LearningResult":
        """Return the same with the centre first that most of the density belongs to.

        Parameters
        ----------
        units
            How much of each column counts as one unit of distance.
        """
        nearest = nearest_centers(self.points, self.centers, units)
        held = np.bincount(nearest, weights=self.weights, minlength=len(self.centers))
        order = np.argsort(-held, kind="stable")
        labels = None if self.labels is None else np.argsort(order)[self.labels]
        return replace(self, centers=self.centers[order], labels=labels)


# learn(reports, n_clusters, rng, units, progress): ``units`` is how much of each column, in raw
# units, counts as one unit of distance; ``progress`` hears which share of the work is done.
Progress = Callable[[float], None] | None
Learn = Callable[[Reports, int, Randomness, Floats, Progress], LearningResult]


def increasing_progress(progress: Progress) -> Callable[[float], None]:
    """Wrap a callback so that it is only called with growing shares.

    Some methods pass over the reports twice, and would report the same share again.

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
