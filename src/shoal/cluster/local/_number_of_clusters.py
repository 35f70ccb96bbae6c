"""Choose the number of clusters from reports."""

from collections.abc import Sequence

import numpy as np

from shoal.cluster.choose import Choice
from shoal.cluster.choose import k as choose_k
from shoal.cluster.choose._count import Rule
from shoal.cluster.kmeans._settings import cluster_numbers
from shoal.cluster.local._estimator import LocalClusterer, distance_units
from shoal.cluster.local.methods._gaussian_groups import CellCounts, fit_groups, greedy_start
from shoal.cluster.local.methods._grid import cells_of
from shoal.mechanisms import LocalGrid, NDLaplace, Reports
from shoal.randomness import Randomness, Seed

_WIDTHS = (0.5, 1.0, 2.0)  # times the usual width, from which fits start
_STARTS = 2  # from each width


def choose_number(
    reports: Reports, among: Sequence[int], by: Rule = "elbow", *, random_state: Seed = None
) -> Choice[int]:
    """Choose the number of clusters on the density behind the reports, at no further cost.

    For reports of a ``LocalGrid`` the density is fitted by round groups, as many as the Bayesian
    information criterion prefers; for those of ``NDLaplace`` by expectation maximisation, which
    assumes no number. ``choose.k`` then chooses the number on that density.

    Parameters
    ----------
    reports
        The reports as released.
    among
        The numbers to choose among, as in ``choose.k``.
    by
        The rule, as in ``choose.k``.
    random_state
        The seed of the starts.

    Examples
    --------
    >>> from shoal.domain import Box
    >>> places = np.array([[0.2, 0.2], [0.8, 0.3], [0.5, 0.8]])
    >>> rows = np.random.default_rng(7).normal(np.repeat(places, 10_000, axis=0), 0.04)
    >>> grid = LocalGrid(Box.unit(2), epsilon=2.0, n_expected=30_000)
    >>> reports = grid.release(rows, Randomness(7).noise)
    >>> choose_number(reports, range(2, 7), random_state=7).value
    3
    """
    counts, rng = cluster_numbers(among), Randomness(random_state)
    k = counts[0]
    if isinstance(reports.mechanism, LocalGrid):
        k = _best_by_bic(cells_of(reports, distance_units(None, reports)), counts, rng)
    method = "em" if isinstance(reports.mechanism, NDLaplace) else "auto"
    model = LocalClusterer(
        k, mechanism=reports.mechanism, method=method, random_state=rng.seed()
    ).fit(reports)
    return choose_k(model, by=by, among=counts, random_state=rng.seed())


def _best_by_bic(cells: CellCounts, counts: Sequence[int], rng: Randomness) -> int:
    """Return the number of round groups with the best Bayesian information criterion.

    Schwarz, Estimating the dimension of a model, Ann. Statist. 1978.
    """
    # The penalty of one group, which has a place, a width and a size.
    each = (len(cells.edges) + 2) * np.log(cells.counts.size)
    return min(counts, key=lambda k: _least_cost(cells, k, rng) + k * each)


def _least_cost(cells: CellCounts, k: int, rng: Randomness) -> float:
    starts = (greedy_start(cells, k, width * cells.usual_width, 1.0, rng.compute)
              for width in _WIDTHS for _ in range(_STARTS))  # fmt: skip
    return min(fit_groups(cells, start).cost for start in starts)
