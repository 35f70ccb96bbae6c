"""What reports of mixed records say: tables of columns, and groups; made of reports alone."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.cluster.prototypes._mixed_rows import MixedRows, Prototypes
from shoal.mechanisms import Reports
from shoal.mechanisms.local.bounded import Estimate
from shoal.mechanisms.local.categories import PrototypeReport
from shoal.synopsis.mixed import TreeModel, consistent_model, norm_sub

_TOTAL = 1e5  # counts of the model add up to this; only shares matter
_DEPENDENT = 2.0  # standard deviations beyond chance from which on two columns are taken together
_SURE = 3.0  # standard errors from which on a group's share divides
_SWEEPS = 4
_LEAST_FACTOR, _MOST_FACTOR = 0.05, 20.0


class _PairTable(NamedTuple):
    """The shares of two columns' combinations, and the variance of one."""

    shares: Floats
    variance: float


def tree_of_answers(mechanism: PrototypeReport, reports: Reports) -> TreeModel:
    """Return a model of records from answers about one or two columns each."""
    people_per_question = np.bincount(reports.values[:, 0], minlength=len(mechanism.questions))
    answers = [mechanism.answers(reports, i) for i in range(len(mechanism.questions))]
    if len(mechanism.questions[0]) == 1:
        return TreeModel(tuple(_counts(each.value) for each in answers), (), ())
    tables = {
        (pair[0], pair[1]): _PairTable(each.value, _variance(each, n))
        for pair, each, n in zip(
            mechanism.questions, answers, people_per_question.tolist(), strict=True
        )
    }
    columns = _columns_of(tables, len(mechanism.sizes))
    edges, joint = _dependent_pairs(tables, columns)
    counts = [share * _TOTAL for share in columns]
    # The tables' own margins are in the columns already, so they weigh nothing again.
    return consistent_model(
        counts, [1.0] * len(counts), edges, [_TOTAL * t for t in joint], 1e12, (_TOTAL, 0.0)
    )


def _counts(shares: Floats) -> Floats:
    return norm_sub(shares * _TOTAL, _TOTAL)


def _variance(answer: Estimate, people: int) -> float:
    """Return the variance of one share: the oracle's, and that of drawing the people."""
    drawn = 1 / (max(people, 1) * answer.value.size)
    return min(float(answer.standard_error.flat[0]) ** 2 + drawn, 1e6)


def _columns_of(tables: dict[tuple[int, int], _PairTable], d: int) -> list[Floats]:
    """Return the shares of each column: the mean of all tables that have it, by variance."""
    sums: list[Floats] = [np.zeros(1)] * d
    weights = np.zeros(d)
    for (i, j), table in tables.items():
        for column, axis in ((i, 1), (j, 0)):
            weight = 1 / (table.variance * table.shares.shape[axis])
            sums[column] = sums[column] + weight * table.shares.sum(axis=axis)
            weights[column] += weight
    return [norm_sub(each / weight, 1.0) for each, weight in zip(sums, weights, strict=True)]


def _dependent_pairs(
    tables: dict[tuple[int, int], _PairTable], columns: list[Floats]
) -> tuple[list[tuple[int, int]], list[Floats]]:
    """Return a forest of pairs that depend on each other beyond noise, and their tables."""
    joined = []
    for (i, j), table in tables.items():
        alone = np.outer(columns[i], columns[j])
        apart = _centered(table.shares - alone)
        freedom = max((apart.shape[0] - 1) * (apart.shape[1] - 1), 1)
        squares, noise = float(np.square(apart).sum()), freedom * table.variance
        if squares - noise > _DEPENDENT * math.sqrt(2 * freedom) * table.variance:
            joined.append((squares - noise, (i, j), alone + apart * (1 - noise / squares)))
    trees, edges, joint = list(range(len(columns))), [], []
    for _, (i, j), shares in sorted(joined, key=lambda each: -each[0]):
        if trees[i] != trees[j]:
            trees = [trees[i] if tree == trees[j] else tree for tree in trees]
            edges.append((i, j))
            joint.append(shares)
    return edges, joint


def _centered(table: Floats) -> Floats:
    """Return a table without what its rows and columns have in common."""
    return np.asarray(table - table.mean(axis=0) - table.mean(axis=1)[:, None] + table.mean())


@dataclass(frozen=True, eq=False)
class GroupAnswers:
    """What a later round says of each group.

    Parameters
    ----------
    columns
        For each column the shares of (group, category or side), with the standard error of one.
    """

    columns: tuple[tuple[Floats, float], ...]
    reach: tuple[float, ...]
    shares: Floats
    share_error: float

    @classmethod
    def of(cls, mechanism: PrototypeReport, reports: Reports) -> "GroupAnswers":
        """Estimate them from the reports of a round."""
        answers = [mechanism.answers(reports, i) for i in range(len(mechanism.questions))]
        columns = tuple(
            (each.value, min(float(each.standard_error.flat[0]), 1e3)) for each in answers
        )
        weights = np.array([1 / max(e**2 * v.shape[1], 1e-12) for v, e in columns])
        sums = np.array([values.sum(axis=1) for values, _ in columns])
        shares = weights @ sums / weights.sum()
        return cls(columns, mechanism.reach, shares, float(weights.sum() ** -0.5))

    def divisor(self, group: int) -> float:
        """Return the share of a group, not less than what noise alone would reach."""
        return max(float(self.shares[group]), _SURE * self.share_error, 1e-9)


def bend_records(
    records: MixedRows, prototypes: Prototypes, answers: GroupAnswers, rng: np.random.Generator
) -> MixedRows:
    """Return as many synthetic records that agree with the answers, as far as these are no
    noise.
    """
    labels, k = records.labels(prototypes), len(prototypes)
    sizes = np.bincount(labels, minlength=k) / len(records)
    wanted = norm_sub(_towards(sizes, answers.shares, answers.share_error), 1.0)
    weights, numbers = np.zeros(len(records)), records.numbers.copy()
    for group in range(k):
        members = np.flatnonzero(labels == group)
        if members.size and wanted[group] > 0:
            own = _raked(records, members, answers, group)
            _shift(numbers, members, own, prototypes, answers, group)
            weights[members] = own * wanted[group]
    if weights.sum() <= 0:  # no group was seen: records stay as they are
        return records
    drawn = rng.choice(len(records), size=len(records), p=weights / weights.sum())
    return MixedRows(records.columns, numbers[drawn], records.codes[drawn])


def _towards(known: Floats, measured: Floats, error: float) -> Floats:
    """Move known shares to measured ones by the part of their distance that is no noise."""
    apart = measured - known
    noise = max(apart.size - 1, 1) * error**2
    part = max(0.0, 1 - noise / max(float(np.square(apart).sum()), 1e-300))
    return np.asarray(known + part * apart)


def _raked(records: MixedRows, members: Integers, answers: GroupAnswers, group: int) -> Floats:
    """Return weights of a group's records, together 1, that give its columns the shares wanted."""
    p, codes, size = len(answers.reach), records.codes[members], answers.divisor(group)
    weights, goals = np.full(members.size, 1 / members.size), []
    for i, (values, error) in enumerate(answers.columns[p:]):
        known = np.bincount(codes[:, i], minlength=values.shape[1]) / members.size
        measured = values[group] / size
        level = measured + (1 - measured.sum()) / measured.size
        goals.append(norm_sub(_towards(known, level, error / size), 1.0))
    for _ in range(_SWEEPS):
        for i, goal in enumerate(goals):
            present = np.bincount(codes[:, i], weights, goal.size)
            factors = goal / np.maximum(present, 1e-12)
            weights = weights * np.clip(factors, _LEAST_FACTOR, _MOST_FACTOR)[codes[:, i]]
            weights /= weights.sum()
    return weights


def _shift(
    numbers: Floats,
    members: Integers,
    weights: Floats,
    prototypes: Prototypes,
    answers: GroupAnswers,
    group: int,
) -> None:
    """Move a group's numbers, in place, towards the means that sides tell."""
    size = answers.divisor(group)
    for j, reach in enumerate(answers.reach):
        values, error = answers.columns[j]
        ways = np.clip((numbers[members, j] - prototypes.numbers[group, j]) / reach, -1, 1)
        share = np.clip((values[group, 1] - values[group, 0]) / size, -1, 1)
        apart, noise = float(share - weights @ ways), math.sqrt(2) * error / size
        move = apart * apart**2 / max(apart**2 + noise**2, 1e-300)
        numbers[members, j] = np.clip(numbers[members, j] + move * reach, -1.0, 1.0)
