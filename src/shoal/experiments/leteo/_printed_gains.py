"""Top-down specialization with the report's gains, as printed and corrected, to compare them.

The smallest form of the method, over distinct combinations and without suppression. What releases
tables is ``shoal.TopDownSpecialization``; this one exists because the printed signs do not.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Integers

Paths = Mapping[str, Sequence[str]]  # of each value, its labels from the root to itself


@dataclass
class _Column:
    """A quasi-identifier: each value's path of labels, and how deep each combination is."""

    paths: list[Sequence[str]]
    values: Integers
    depth: Integers

    def labels(self) -> list[str]:
        """The present label of each combination."""
        return [self.paths[v][d] for v, d in zip(self.values, self.depth, strict=True)]

    def codes(self) -> Integers:
        """The present labels as numbers."""
        return np.unique(self.labels(), return_inverse=True)[1].astype(np.int64)

    def deeper(self, label: str) -> "_Column":
        """Return the column with a label replaced by its children."""
        at = np.array([each == label for each in self.labels()])
        longest = np.array([len(self.paths[v]) - 1 for v in self.values])
        return _Column(self.paths, self.values, np.minimum(self.depth + at, longest))

    def loss(self) -> Floats:
        """How much of the domain each label covers: 0 for a value, 1 for the root."""
        leaves = len(self.paths)
        below: dict[str, int] = {}
        for path in self.paths:
            for label in path:
                below[label] = below.get(label, 0) + 1
        return np.array([(below[label] - 1) / max(leaves - 1, 1) for label in self.labels()])

    def distance(self) -> Floats:
        """How far each value is from its label, from 0 to 1, as the report describes it.

        Numbers: to the middle of the label's values, as a share of the range. Categories: steps up
        the taxonomy, as a share of those to its root.
        """
        if not all(path[-1].isdigit() for path in self.paths):
            steps = [len(self.paths[v]) - 1 for v in self.values]
            return np.asarray(1 - self.depth / np.array(steps))
        below: dict[str, list[int]] = {}
        for path in self.paths:
            for label in path:
                below.setdefault(label, []).append(int(path[-1]))
        numbers = [int(path[-1]) for path in self.paths]
        middles = np.array([(min(below[x]) + max(below[x])) / 2 for x in self.labels()])
        own = np.array([numbers[v] for v in self.values])
        return np.asarray(np.abs(own - middles) / max(max(numbers) - min(numbers), 1))

    def open_labels(self) -> list[str]:
        """The labels that can be split."""
        can = {
            self.paths[v][d]
            for v, d in zip(self.values, self.depth, strict=True)
            if d < len(self.paths[v]) - 1
        }
        return sorted(can)


@dataclass(frozen=True)
class Specialization:
    """The outcome."""

    ncp: float
    smallest: int
    splits: int


def specialize(
    columns: Mapping[str, tuple[Paths, Sequence[str]]], counts: Integers, k: int, gain: str
) -> Specialization:
    """Split the label of greatest gain while every class keeps k rows.

    Parameters
    ----------
    columns
        For each quasi-identifier the path of each value, and the value of each combination.
    k
        The least size of a class.
    gain
        One of ``GAINS``.
    """
    state = {name: _column(*column) for name, column in columns.items()}
    splits = 0
    while best := _best_split(state, counts, k, GAINS[gain]):
        name, label = best
        state[name] = state[name].deeper(label)
        splits += 1
    sizes = _class_sizes(state, counts)
    losses = np.mean([column.loss() for column in state.values()], axis=0)
    ncp = float(losses @ counts / counts.sum())
    return Specialization(ncp, int(sizes.min()), splits)


def _column(paths: Paths, values: Sequence[str]) -> _Column:
    names = list(paths)
    place = {name: i for i, name in enumerate(names)}
    numbers = np.array([place[value] for value in values])
    return _Column([list(paths[name]) for name in names], numbers, np.zeros(len(values), int))


def _best_split(
    state: dict[str, _Column], counts: Integers, k: int, gain: "Gain"
) -> tuple[str, str] | None:
    sizes = _class_sizes(state, counts)
    best: tuple[str, str] | None = None
    best_score = -np.inf
    for name, column in state.items():
        for label in column.open_labels():
            split = {**state, name: column.deeper(label)}
            after = _class_sizes(split, counts)
            if after.min() < k:
                continue
            lost = max(int(sizes.min() - after.min()), 0)
            score = gain(state, split, counts) / (1 + lost)
            if score > best_score:
                best, best_score = (name, label), score
    return best


def _class_sizes(state: Mapping[str, _Column], counts: Integers) -> Integers:
    codes = np.column_stack([column.codes() for column in state.values()])
    _, inverse = np.unique(codes, axis=0, return_inverse=True)
    return np.bincount(inverse.ravel(), weights=counts).astype(np.int64)


Gain = Callable[[Mapping[str, _Column], Mapping[str, _Column], Integers], float]


def _entropy(state: Mapping[str, _Column], counts: Integers) -> float:
    shares = _class_sizes(state, counts) / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def _entropy_over_rows(state: Mapping[str, _Column], counts: Integers) -> float:
    """The sum (3.4) as it is printed, with a term for each row and not for each distinct one."""
    sizes = _class_sizes(state, counts)
    shares = sizes / counts.sum()
    return float(-(sizes * shares * np.log2(shares)).sum())


def _distance(state: Mapping[str, _Column], weights: Floats) -> float:
    squares = np.mean([column.distance() ** 2 for column in state.values()], axis=0)
    return float(squares @ weights)


def _distance_over_rows(state: Mapping[str, _Column], counts: Integers) -> float:
    """The sum (3.5) as it is printed: each row weighs as often as it occurs."""
    return _distance(state, counts * (counts / counts.sum()))


def _mean_distance(state: Mapping[str, _Column], counts: Integers) -> float:
    return _distance(state, counts / counts.sum())


def _mean_coverage(state: Mapping[str, _Column], counts: Integers) -> float:
    squares = np.mean([column.loss() ** 2 for column in state.values()], axis=0)
    return float(squares @ counts / counts.sum())


def _saved(measure: Callable[[Mapping[str, _Column], Integers], float]) -> Gain:
    return lambda before, after, n: measure(before, n) - measure(after, n)


def _added(measure: Callable[[Mapping[str, _Column], Integers], float]) -> Gain:
    return lambda before, after, n: measure(after, n) - measure(before, n)


ENTROPY = "entropy, as printed (3.3) with (3.4) over rows"
ENTROPY_DISTINCT = "entropy, as printed (3.3) with (3.4) over distinct rows"
ENTROPY_CORRECTED = "entropy, corrected"
DISTANCE = "distance, as printed (3.5)"
DISTANCE_SAVED = "distance, what a split saves of it"
GAINS: dict[str, Gain] = {
    ENTROPY: _saved(_entropy_over_rows),
    ENTROPY_DISTINCT: _saved(_entropy),
    ENTROPY_CORRECTED: _added(_entropy),
    DISTANCE: lambda before, after, n: _distance_over_rows(after, n),
    DISTANCE_SAVED: _saved(_mean_distance),
    "squared coverage, what a split saves of it": _saved(_mean_coverage),
}
