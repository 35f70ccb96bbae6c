"""What the method does between releases: bend synthetic rows, move prototypes. Reads no row."""

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.cluster.prototypes.measure import Measured
from shoal.cluster.prototypes.mixed_cost import MixedRows, Prototypes

_SWEEPS = 3
_LEAST_FACTOR, _MOST_FACTOR = 0.02, 50.0
_LEAST_REACH = 0.03
_SURE = np.sqrt(2.0)  # deviations of a count that another mode must lead by


def reach_of(rows: MixedRows, prototypes: Prototypes) -> Floats:
    """Return how far numbers of synthetic rows lie from their prototypes: 95 of 100."""
    apart = np.abs(rows.numbers - prototypes.numbers[rows.labels(prototypes)])
    if not apart.shape[1]:
        return np.empty(0)
    return np.asarray(np.maximum(np.quantile(apart, 0.95, axis=0), _LEAST_REACH))


def bend_rows(
    rows: MixedRows, prototypes: Prototypes, measured: Measured, rng: np.random.Generator
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


def _raked(rows: MixedRows, members: Integers, measured: Measured, group: int) -> Floats:
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
    measured: Measured,
    group: int,
) -> None:
    """Move a group's numbers, in place, to the means that were measured."""
    if not numbers.shape[1]:
        return
    wanted = prototypes.numbers[group] + _mean_offsets(measured)[group]
    present = weights @ numbers[members] / weights.sum()
    numbers[members] = np.clip(numbers[members] + (wanted - present), -1.0, 1.0)


def move_prototypes(prototypes: Prototypes, measured: Measured) -> Prototypes:
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


def _mean_offsets(measured: Measured) -> Floats:
    """Return the mean offset of each number in each group, shrunk by what is noise in it."""
    n, n_deviation = measured.sizes
    sums, deviations = measured.sums()
    if not sums.shape[1]:
        return sums
    rows = np.maximum(n, 4 * n_deviation)[:, None]
    means, noise = sums / rows, np.square(deviations / rows).sum(axis=1)
    squares = np.maximum(np.square(means).sum(axis=1), 1e-300)
    return np.asarray(np.maximum(0.0, 1 - noise / squares)[:, None] * means)
