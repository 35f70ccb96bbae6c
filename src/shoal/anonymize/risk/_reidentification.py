"""Estimate how likely someone is re-identified in a table, and which values are suppressed.

There are three attackers. The *prosecutor* knows that the person is in the table; the *journalist*
knows only a population the table was drawn from; the *marketer* wants many people and accepts
mistakes. Class sizes count people where there is a person column, else rows.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from shoal.anonymize._frequency_table import FrequencyTable
from shoal.anonymize._population import code_population, count_covered
from shoal.anonymize.equivalence_classes import count_people, number_classes
from shoal.anonymize.release._writer import Release
from shoal.anonymize.search_problem import Problem
from shoal.anonymize.table import table_of
from shoal.arrays import Integers


@dataclass(frozen=True, eq=False)
class Population:
    """The people of each class of a release, and those of a population with the same labels.

    A class of which the population has fewer people than the release is taken to be as large as in
    the release, since the table cannot have come from that population.

    Parameters
    ----------
    members
        The people of each class in the release.
    people
        The people of each class in the population.
    size
        All people of the population, whatever their labels.
    """

    members: Integers
    people: Integers
    size: int = 0

    @property
    def short(self) -> int:
        """The number of classes with fewer people in the population than in the release."""
        return int((self.people < self.members).sum())

    @property
    def likely(self) -> Integers:
        """The people of each class in the population, never fewer than in the release."""
        return np.maximum(self.people, self.members)


@dataclass(frozen=True)
class Risk:
    """Probabilities of re-identification, from the sizes of the classes alone.

    Parameters
    ----------
    members
        People over all classes; someone in two classes counts for both.
    classes
        The number of classes.
    smallest
        The people in the smallest class.
    prosecutor
        The prosecutor's chance of the right record in the smallest class.
    prosecutor_mean
        The prosecutor's chance on average over all members.
    exposed
        Share of members whose class has fewer than k people.
    journalist
        The chance in the population's smallest class; without a population, the prosecutor's.
    marketer
        The share of members that a marketer expects to match rightly; without a population, the
        prosecutor's mean.
    """

    members: int
    classes: int
    smallest: int
    prosecutor: float
    prosecutor_mean: float
    exposed: float
    journalist: float
    marketer: float

    @classmethod
    def of(cls, sizes: ArrayLike, k: int, population: Population | None = None) -> "Risk":
        """Compute the risk in classes of these sizes.

        Parameters
        ----------
        sizes
            (sizes, 2): people a class has, and how many classes have so many.
        population
            The population of the same release, if one is known.

        Examples
        --------
        >>> risk = Risk.of([[2, 3], [4, 1]], k=4)
        >>> risk.prosecutor, risk.prosecutor_mean, risk.exposed
        (0.5, 0.4, 0.6)
        """
        people, classes = np.asarray(sizes, dtype=np.int64).reshape(-1, 2).T
        members = int(people @ classes)
        smallest = int(people.min(initial=members))
        most, mean = 1 / max(smallest, 1), int(classes.sum()) / max(members, 1)
        wide, match = most, mean
        if population is not None and population.members.size:
            wide = 1 / int(population.likely.min())
            match = float((population.members / population.likely).sum()) / max(members, 1)
        small = people < k
        exposed = int(people[small] @ classes[small]) / max(members, 1)
        return cls(members, int(classes.sum()), smallest, most, mean, exposed, wide, match)


class SuppressedValue(NamedTuple):
    """A value of a quasi-identifier, its rows, and how many of them are not published."""

    value: str
    rows: int
    gone: int


def leaf_class_sizes(problem: Problem) -> Integers:
    """Count class sizes as if rows were published at the leaves of the hierarchies.

    This shows how exposed people were before, and is for the holder of the rows only.

    Parameters
    ----------
    problem
        The lines.

    Returns
    -------
    (sizes, 2): people of a class, ascending, and how many classes have them.
    """
    people = count_people(problem, number_classes(problem.codes))
    return np.stack(np.unique(people, return_counts=True), axis=1).astype(np.int64)


def leaf_entropy(problem: Problem) -> float:
    """Return the bits by which a row's leaves tell its class: the most a release can keep.

    Parameters
    ----------
    problem
        The lines.
    """
    classes = number_classes(problem.codes)
    sizes = np.bincount(classes.ids, problem.n, minlength=classes.size)
    return float((sizes * np.log2(problem.N / sizes)).sum() / problem.N)


def suppressed_values(
    frequency: FrequencyTable, release: Release
) -> dict[str, list[SuppressedValue]]:
    """Return, for each quasi-identifier, its values by the share of rows not published.

    Starred rows count as not published. It names rare values, so it is for the holder of the rows
    only.

    Parameters
    ----------
    frequency
        The frequency table.
    release
        What becomes of each line.
    """
    problem, gone = frequency.problem, release.suppressed | release.starred
    values = {}
    for q, (name, hierarchy) in enumerate(frequency.codec.hierarchies.items()):
        leaves, codes = hierarchy.taxonomy.leaves, problem.codes[:, q]
        rows = np.bincount(codes, problem.n, minlength=len(leaves)).astype(np.int64)
        lost = np.bincount(codes[gone], problem.n[gone], minlength=len(leaves)).astype(np.int64)
        order = np.lexsort((-lost, -lost / np.maximum(rows, 1)))
        values[name] = [
            SuppressedValue(leaves[at], int(rows[at]), int(lost[at])) for at in order if rows[at]
        ]
    return values


def population_of(frequency: FrequencyTable, release: Release, X: Any) -> Population:
    """Count how many people of a population have the labels of each class.

    Parameters
    ----------
    frequency
        The frequency table of the released table.
    release
        What becomes of each of its lines.
    X
        The population: one row a person, with the quasi-identifiers in columns of the same
        names. A value no hierarchy has matches no class, which can only overstate a risk.
    """
    problem, classes = frequency.problem, release.classes()
    labels = np.zeros((classes.size, problem.d), dtype=np.int32)
    live = classes.ids >= 0
    labels[classes.ids[live]] = release.labels[live]
    lines = code_population(frequency.codec, table_of(X))
    people = count_covered(problem.trees, labels, lines)
    return Population(count_people(problem, classes), people, int(lines.people.sum()))
