"""Fit made-up tables and measure how far the released centres lie from those of plain k-means."""

import math
import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.arrays import Floats
from shoal.domain import Box

# Never more rows than this are made up; beyond, the budget is raised so that the noise relative
# to the number of rows stays what it is: docs/decisions/plan.md.
_MOST_ROWS, _FEWER_ROWS = 20_000, 8_000
_WIDE = 6  # columns from which on a fit takes several passes
_STARTS = 4  # of plain k-means, besides one from where the groups were put


@dataclass(frozen=True, eq=False)
class TrialTable:
    """A table that fits are tried on, in the unit box, standing for more people than it has rows.

    Parameters
    ----------
    rows
        The rows, which ``rows_to_make`` says the number of.
    start
        Where plain k-means starts once, besides its own starts; how many lines it has is the
        number of groups.
    """

    rows: Floats
    people: int
    start: Floats
    seed: int = 0

    @cached_property
    def plain_centers(self) -> Floats:
        """What plain k-means finds in the rows: the target that errors are measured from."""
        from sklearn.cluster import KMeans

        k = len(self.start)
        own = KMeans(k, init=self.start, n_init=1, random_state=self.seed).fit(self.rows)
        more = KMeans(k, n_init=_STARTS, random_state=self.seed).fit(self.rows)
        return np.asarray(min(own, more, key=lambda fit: fit.inertia_).cluster_centers_)


def half_way(trial: TrialTable) -> Floats:
    """Return half the distance from each plain centre to the next; infinite for a single one."""
    gaps = np.linalg.norm(trial.plain_centers[:, None] - trial.plain_centers[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    return np.asarray(gaps.min(axis=1) / 2)


def rows_to_make(n: int, d: int, trust: str = "central") -> int:
    """Return how many rows are made up for so many.

    Parameters
    ----------
    trust
        "central" or "local": fits on reports take long.

    Examples
    --------
    >>> rows_to_make(500, 2), rows_to_make(10**6, 2), rows_to_make(10**6, 8)
    (500, 20000, 8000)
    >>> rows_to_make(10**6, 2, "local")
    8000
    """
    return min(n, _MOST_ROWS if d < _WIDE and trust == "central" else _FEWER_ROWS)


def central_errors(trial: TrialTable, epsilon: float, seed: int) -> Floats:
    """Fit ``PrivateKMeans`` once and return the error of each coordinate, in shares of the
    range.
    """
    from shoal.cluster import PrivateKMeans, StandInRows, refit

    # The noise of a share of rows goes with 1 / (rows x epsilon), in pure differential privacy.
    n = len(trial.rows)
    k, box = len(trial.start), Box.unit(trial.rows.shape[1])
    method = PrivateKMeans(k, epsilon=epsilon * trial.people / n, domain=box, random_state=seed)
    with warnings.catch_warnings():
        # That no group can be distinguished from noise is what the errors say.
        warnings.simplefilter("ignore")
        model = refit(method, StandInRows(trial.rows, n, box)).model
    return center_errors(model.cluster_centers_, trial.plain_centers)


def local_errors(trial: TrialTable, epsilon: float, seed: int) -> Floats:
    """Report once for everybody, learn from it, and return the error of each coordinate."""
    from shoal.cluster.local import ROUNDS_FROM

    promise = equivalent_epsilon(epsilon, trial.people / len(trial.rows))
    learn = _centers_of_cells if trial.rows.shape[1] < ROUNDS_FROM else _centers_of_rounds
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        centers = learn(trial, promise, seed)
    return center_errors(centers, trial.plain_centers)


def _centers_of_cells(trial: TrialTable, epsilon: float, seed: int) -> Floats:
    """Return centres learnt from one report of a cell each."""
    from shoal.cluster import LocalClusterer, refit
    from shoal.mechanisms import LocalGrid
    from shoal.randomness import Randomness

    k, box = len(trial.start), Box.unit(trial.rows.shape[1])
    mechanism = LocalGrid(box, epsilon=epsilon, n_expected=len(trial.rows), n_clusters=k)
    reports = mechanism.release(trial.rows, Randomness(seed).noise)
    model = LocalClusterer(k, mechanism=mechanism, random_state=seed)
    return np.asarray(refit(model, reports).model.cluster_centers_)


def _centers_of_rounds(trial: TrialTable, epsilon: float, seed: int) -> Floats:
    """Return centres learnt in three rounds of reports."""
    from shoal.cluster import LocalRounds

    k, box = len(trial.start), Box.unit(trial.rows.shape[1])
    rounds = LocalRounds(box, n_clusters=k, epsilon=epsilon, n_expected=len(trial.rows))
    return np.asarray(rounds.simulate(trial.rows, seed).cluster_centers)


def equivalent_epsilon(epsilon: float, ratio: float) -> float:
    r"""Return the epsilon at which a report tells as much as ``ratio`` reports at this one do.

    The noise of a cell's share in n reports has variance :math:`v/n` with
    :math:`v = 1/\sinh^2(\varepsilon/2)`, so n reports of variance v are worth one another.

    Examples
    --------
    >>> equivalent_epsilon(1.0, 1), round(equivalent_epsilon(1.0, 4), 2)
    (1.0, 1.82)
    """
    return 2 * math.asinh(math.sqrt(ratio) * math.sinh(epsilon / 2))


def center_errors(centers: Floats, plain: Floats) -> Floats:
    """Match released centres with plain ones and return the absolute differences.

    Centres that were not released are as far off as the nearest released one.

    Parameters
    ----------
    centers
        What was released; possibly fewer than the plain ones.
    plain
        What plain k-means found.

    Examples
    --------
    >>> center_errors(np.array([[0.5], [0.125]]), np.array([[0.0], [1.0]])).tolist()
    [[0.125], [0.5]]
    """
    from scipy.optimize import linear_sum_assignment

    squares = ((plain[:, None] - centers[None]) ** 2).sum(axis=2)
    nearest = squares.argmin(axis=1)
    lines, columns = linear_sum_assignment(squares)
    nearest[lines] = columns
    return np.asarray(np.abs(plain - centers[nearest]))
