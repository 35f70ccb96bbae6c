"""Look for prototypes in rows held in memory, and follow what was measured of their groups.

``find_prototypes`` is plain k-prototypes: several starts, of which the best is kept. Between the
releases of a private fit, ``bend_rows`` and ``move_prototypes`` draw synthetic rows and prototypes
to noisy measurements; they read no row of the table.
"""

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from shoal.arrays import Floats, Integers
from shoal.cluster.prototypes._group_measurements import NoisyMeasurements
from shoal.cluster.prototypes._mixed_rows import MixedRows, Prototypes

_CANDIDATES = 3  # of greedy k-means++
_MOST_STEPS = 20

# Of bending rows and moving prototypes.
_SWEEPS = 3
_LEAST_FACTOR, _MOST_FACTOR = 0.02, 50.0
_LEAST_REACH = 0.03
_SURE = np.sqrt(2.0)  # deviations of a count that another mode must lead by


def find_prototypes(
    rows: MixedRows, k: int, rng: np.random.Generator, n_init: int = 10
) -> Prototypes:
    """Return the cheapest prototypes of several starts.

    Half of the starts are drawn by k-means++ in the mixed cost, half come from k-means on one-hot
    rows: either kind alone often ends in a poor optimum (docs/decisions/mixed-tables.md).
    """
    best, least = None, np.inf
    for start in range(max(1, n_init)):
        first = _greedy_start(rows, k, rng) if start % 2 else _kmeans_start(rows, k, rng)
        prototypes, cost = _lloyd(rows, first)
        if best is None or cost < least:
            best, least = prototypes, cost
    assert best is not None
    return best


def improve_prototypes(rows: MixedRows, prototypes: Prototypes) -> Prototypes:
    """Return prototypes moved to the means and modes of their rows until nothing gets cheaper."""
    return _lloyd(rows, prototypes)[0]


def _lloyd(rows: MixedRows, prototypes: Prototypes) -> tuple[Prototypes, float]:
    """Move prototypes to the means and modes of their rows until nothing gets cheaper."""
    least = np.inf
    for _ in range(_MOST_STEPS):
        costs = rows.costs(prototypes)
        labels = costs.argmin(axis=1)
        cost = float(costs[np.arange(len(rows)), labels].sum())
        if cost >= least * (1 - 1e-9):
            break
        least, best = cost, prototypes
        prototypes = rows.prototypes_of(labels, prototypes)
    return best, least


def _greedy_start(rows: MixedRows, k: int, rng: np.random.Generator) -> Prototypes:
    """Draw rows one after the other, each the best of a few drawn by their cost."""
    places = [int(rng.integers(len(rows)))]
    nearest = _costs_to(rows, places)[:, 0]
    while len(places) < k:
        total = nearest.sum()
        shares = nearest / total if total > 0 else None
        drawn = rng.choice(len(rows), size=_CANDIDATES, p=shares)
        tried = np.minimum(nearest[:, None], _costs_to(rows, drawn.tolist()))
        best = int(tried.sum(axis=0).argmin())
        places.append(int(drawn[best]))
        nearest = tried[:, best]
    return Prototypes(rows.numbers[places], rows.codes[places])


def _costs_to(rows: MixedRows, places: list[int]) -> Floats:
    return rows.costs(Prototypes(rows.numbers[places], rows.codes[places]))


def _kmeans_start(rows: MixedRows, k: int, rng: np.random.Generator) -> Prototypes:
    """Return the modes and means of k-means on one-hot rows."""
    kmeans = KMeans(
        min(k, len(rows)), n_init=1, max_iter=_MOST_STEPS, random_state=int(rng.integers(2**31))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # rows may be fewer than clusters
        labels = kmeans.fit_predict(rows.points)
    old = _greedy_start(rows, k, rng)
    return rows.prototypes_of(labels.astype(np.int64), old)


def reach_of(rows: MixedRows, prototypes: Prototypes) -> Floats:
    """Return how far numbers of synthetic rows lie from their prototypes: 95 of 100."""
    apart = np.abs(rows.numbers - prototypes.numbers[rows.labels(prototypes)])
    if not apart.shape[1]:
        return np.empty(0)
    return np.asarray(np.maximum(np.quantile(apart, 0.95, axis=0), _LEAST_REACH))


def bend_rows(
    rows: MixedRows, prototypes: Prototypes, measured: NoisyMeasurements, rng: np.random.Generator
) -> MixedRows:
    """Return as many synthetic rows that agree with the measurements of small groups."""
    labels, sizes = rows.labels(prototypes), np.maximum(measured.sizes[0], 0.0)
    weights, numbers = np.zeros(len(rows)), rows.numbers.copy()
    for group, size in enumerate(sizes):
        members = np.flatnonzero(labels == group)
        if size > 0 and members.size:
            weights[members] = _raked(rows, members, measured, group) * size
            _shift(numbers, members, weights[members], prototypes, measured, group)
    if weights.sum() <= 0:  # nothing was measured to be there: the model stays as it is
        return rows
    drawn = rng.choice(len(rows), size=len(rows), p=weights / weights.sum())
    return MixedRows(rows.columns, numbers[drawn], rows.codes[drawn])


def _raked(rows: MixedRows, members: Integers, measured: NoisyMeasurements, group: int) -> Floats:
    """Return weights of a group's rows, together 1, with which its histograms are as measured."""
    weights = np.full(members.size, 1 / members.size)
    for _ in range(_SWEEPS):
        for i, column in enumerate(rows.columns.categories):
            codes = rows.codes[members, i]
            present = np.bincount(codes, weights=weights, minlength=column.size)
            wanted = measured.share_simplex(i, group)
            factors = np.clip(wanted / np.maximum(present, 1e-12), _LEAST_FACTOR, _MOST_FACTOR)
            weights = weights * factors[codes]
            weights /= weights.sum()
    return weights


def _shift(
    numbers: Floats,
    members: Integers,
    weights: Floats,
    prototypes: Prototypes,
    measured: NoisyMeasurements,
    group: int,
) -> None:
    """Move a group's numbers, in place, to the means that were measured."""
    if not numbers.shape[1]:
        return
    wanted = prototypes.numbers[group] + _mean_offsets(measured)[group]
    present = weights @ numbers[members] / weights.sum()
    numbers[members] = np.clip(numbers[members] + (wanted - present), -1.0, 1.0)


def move_prototypes(prototypes: Prototypes, measured: NoisyMeasurements) -> Prototypes:
    """Return prototypes moved as far as the measurements tell more than noise."""
    numbers = np.clip(prototypes.numbers + _mean_offsets(measured), -1.0, 1.0)
    codes = prototypes.codes.copy()
    groups = np.arange(len(codes))
    for i in range(codes.shape[1]):
        counts, deviation = measured.histogram(i)
        best = counts.argmax(axis=1)
        lead = counts[groups, best] - counts[groups, codes[:, i]]
        codes[:, i] = np.where(lead > _SURE * deviation, best, codes[:, i])
    return Prototypes(numbers, codes)


def _mean_offsets(measured: NoisyMeasurements) -> Floats:
    """Return the mean offset of each number in each group, shrunk by what is noise in it."""
    n, n_deviation = measured.sizes
    sums, deviations = measured.sums()
    if not sums.shape[1]:
        return sums
    rows = np.maximum(n, 4 * n_deviation)[:, None]
    means, noise = sums / rows, np.square(deviations / rows).sum(axis=1)
    squares = np.maximum(np.square(means).sum(axis=1), 1e-300)
    return np.asarray(np.maximum(0.0, 1 - noise / squares)[:, None] * means)
