"""Privacy models besides k, l and t: what each asks of the classes of a release.

Two of them look at each class and the people of a *population* with the same labels: ``KMap`` and
``DeltaPresence``. Two look at all classes together: ``AverageRisk`` and ``Uniqueness``.

References
----------
Sweeney, k-anonymity: a model for protecting privacy, 2002 (k-map).
Nergiz, Atzori, Clifton, Hiding the presence of individuals from shared databases, SIGMOD 2007.
El Emam, Dankar, Protecting privacy using k-anonymity, JAMIA 2008 (k-map of a stated population).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.anonymize.risk._uniqueness import estimate_uniques, unique_share

Mask = NDArray[np.bool_]

_ROUNDING = 1e-9


@dataclass(frozen=True)
class KMap:
    """k-map: at least ``k`` people of the population have the labels of each class.

    It protects against someone who does not know whether the person is in the table; against
    someone who does, only k-anonymity helps.

    Parameters
    ----------
    k
        The least number of people.
    """

    k: int

    def holds(self, members: ArrayLike, people: ArrayLike) -> Mask:
        """Return which classes keep the model.

        Parameters
        ----------
        members
            The people of each class in the release; not used.
        people
            The people of the population with its labels.

        Examples
        --------
        >>> KMap(5).holds([1, 4], [5, 4]).tolist()
        [True, False]
        """
        return np.asarray(np.asarray(people) >= self.k)


@dataclass(frozen=True)
class DeltaPresence:
    """Delta-presence: nobody's being in the table is much likelier or less likely than it should.

    The chance that someone of the population is in the table, as far as the release tells, is
    the people of their class in the release over those of the population: it is at least
    ``least`` and at most ``most``. With labels that do not occur in the release it is 0.

    Parameters
    ----------
    most
        The greatest chance, in (0, 1].
    least
        The least chance, from 0 up to ``most``.
    """

    most: float
    least: float = 0.0

    def holds(self, members: ArrayLike, people: ArrayLike) -> Mask:
        """Return which classes keep the model, classes without members included.

        Parameters
        ----------
        people
            The people of the population with its labels; fewer than members break the model.

        Examples
        --------
        >>> DeltaPresence(0.5, 0.1).holds([5, 6, 0, 1], [10, 10, 3, 0]).tolist()
        [True, False, False, False]
        """
        inside, outside = np.asarray(members, np.float64), np.asarray(people, np.float64)
        enough = inside >= self.least * outside - _ROUNDING
        return np.asarray(enough & (inside <= self.most * outside + _ROUNDING))


@dataclass(frozen=True)
class AverageRisk:
    """The mean chance of picking somebody's record is at most ``most``: classes over people.

    Parameters
    ----------
    most
        The greatest mean chance, in (0, 1].
    """

    most: float

    @staticmethod
    def measure(sizes: ArrayLike) -> float:
        """Return the mean chance over all members.

        Examples
        --------
        >>> AverageRisk.measure([[2, 3], [4, 1]])
        0.4
        """
        people, classes = np.asarray(sizes, dtype=np.int64).reshape(-1, 2).T
        return int(classes.sum()) / max(int(people @ classes), 1)

    def holds(self, sizes: ArrayLike) -> bool:
        """Return whether classes of these sizes keep the model."""
        return self.measure(sizes) <= self.most + _ROUNDING


@dataclass(frozen=True)
class Uniqueness:
    """At most a share ``most`` of the people is unique, in the table or by estimate everywhere.

    Parameters
    ----------
    most
        The greatest share, in [0, 1).
    within
        ``sample``: unique in the released table. ``population``: unique in the population, as
        estimated by Dankar's rule.
    population
        How many people the population has; for ``population`` only.
    """

    most: float
    within: Literal["sample", "population"] = "sample"
    population: int | None = None

    def measure(self, sizes: ArrayLike) -> float:
        """Return the share of unique people.

        Examples
        --------
        >>> Uniqueness(0.1).measure([[1, 3], [7, 1]])
        0.3
        """
        if self.within == "sample" or self.population is None:
            return unique_share(sizes)
        return estimate_uniques(sizes, self.population).share

    def holds(self, sizes: ArrayLike) -> bool:
        """Return whether classes of these sizes keep the model.

        Parameters
        ----------
        sizes
            (sizes, 2): people of a class, and how many classes have them.
        """
        return self.measure(sizes) <= self.most + _ROUNDING


def least_sample_size(k: int, fraction: float, significance: float) -> int:
    """Return how many members a class must show for k people of a stated population.

    Of a class of k - 1 people, each is in the table with chance ``fraction``; given that one is,
    so many or more are with a chance of at most ``significance``. It is never more than k.

    Parameters
    ----------
    significance
        The chance of a mistake for a class of k - 1 people.

    Examples
    --------
    >>> least_sample_size(20, 0.01, 0.05), least_sample_size(20, 0.2, 0.05)
    (3, 8)
    >>> least_sample_size(5, 1.0, 0.05)
    5
    """
    from scipy.stats import binom

    at_least_one = float(binom.sf(0, k - 1, fraction))
    tails = binom.sf(np.arange(k), k - 1, fraction) / at_least_one  # of more than 0, 1, ...
    return int(np.flatnonzero(tails <= significance + _ROUNDING)[0]) + 1
