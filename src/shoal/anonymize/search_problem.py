"""The input and output of a search: the problem, the rules, the cut and the outcome.

A search sees only the frequency table, never rows. k is compared with people if ``people`` is
given, else with rows. The suppression budget and every measure of loss count rows. No ``repr`` here
shows lines.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.anonymize.taxonomy_arrays import Tree, leaf_count_costs
from shoal.arrays import Floats, Integers
from shoal.domain import Taxonomy

if TYPE_CHECKING:
    from shoal.anonymize._privacy_models import DeltaPresence, KMap


KEPT_CUT = "kept cut"  # the method of an outcome that was not searched for


@dataclass(frozen=True)
class Diversity:
    """A rule that each class must show varied sensitive values (Machanavajjhala et al. 2007).

    Nulls are no values here.

    Parameters
    ----------
    kind
        ``distinct``: at least ``value`` different values. ``entropy``: their entropy is at least ln
        ``value``. ``recursive``: the commonest is rarer than ``c`` times all from the ``value``-th
        commonest on.
    """

    kind: Literal["distinct", "entropy", "recursive"]
    value: float
    c: float = 3.0


@dataclass(frozen=True)
class Closeness:
    """A rule that each class be distributed like the published table (Li et al. 2007).

    The distance is the earth mover's, in [0, 1]. Nulls are one category: with ``ordered`` it
    follows the last value, with ``hierarchical`` it is a child of the root.

    Parameters
    ----------
    kind
        The distance of two values. ``equal``: 1 if they differ. ``ordered``: their steps apart in
        the declared order among the values that occur, over the most possible. ``hierarchical``:
        the height of the lowest node above both over the root's height.
    """

    kind: Literal["equal", "ordered", "hierarchical"]
    value: float


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """A column that is published as it is, and the rules on its values in a class.

    Parameters
    ----------
    codes
        int32 (F,): each line's value as a number in [0, size), -1 for a null. With ``ordered``
        the numbers follow the declared order; with ``hierarchical`` they are leaf codes of
        ``taxonomy``. Values that do not occur may have numbers too.
    l
        How varied values must be in a class, or None.
    t
        How close their distribution must be to the whole table's, or None.
    taxonomy
        For ``hierarchical`` only.
    """

    name: str
    codes: NDArray[np.int32] = field(repr=False)
    size: int
    l: Diversity | None = None  # noqa: E741 - the name of the literature
    t: Closeness | None = None
    taxonomy: Taxonomy | None = None


@dataclass(frozen=True)
class Cut:
    """The published nodes of each QID; all rows share them under global recoding.

    The nodes of a QID are disjoint and together cover every leaf of the taxonomy.

    Parameters
    ----------
    nodes
        For each QID, in the problem's order, the places of its published nodes, ascending.

    Examples
    --------
    >>> Cut.top(2)
    Cut(nodes=((0,), (0,)))
    """

    nodes: tuple[tuple[int, ...], ...]

    @classmethod
    def top(cls, d: int) -> "Cut":
        """Return the cut at the roots, with every QID fully generalised."""
        return cls(((0,),) * d)


@dataclass(frozen=True, eq=False)
class Problem:
    """A frequency table, its taxonomies, and the rules of the release.

    Parameters
    ----------
    taxonomies
        Of each QID. A null that is a value of its own is a leaf right below the root, and its
        code is like any other.
    costs
        Of each QID float64 (nodes,): by place, the normalised certainty penalty (ncp) of
        publishing that node (``taxonomy_arrays.py``). Never larger for a child than for
        its parent, except that a leaf published as ``*`` costs 1.
    codes
        int32 (F, d): leaf codes, never -1. Rows to be suppressed whatever happens (nulls, if so
        asked) are not among the lines: the reader counts them in ``lost``.
    n
        int64 (F,): how many rows each line stands for, at least 1; 0 for a line that stands for
        people of the population alone.
    k
        At least so many people (or rows) a class.
    suppression
        Share of the N + ``lost`` rows that may stay unpublished.
    weights
        Of each QID in the mean over QIDs; all 1 if empty.
    lost
        Rows that were suppressed before the search; they count against the budget.
    start
        Where the search begins, and above which nothing may be published: ``None`` for the
        roots, else the nodes of ``max_level``. Local recoding keeps below it, too.
    people
        int64 (F,) or None: the person of each line, any numbers. If given, no line holds rows of
        two people.
    target
        int32 (F,) or None: the class column of the ``label-gain`` score, any numbers from -1 up.
    levels
        Of each QID int32 (levels, leaves): the place of the node above each leaf at each level as
        written, the leaves first; the steps below the root if empty.
    population
        int64 (F,) or None: how many people of a population each line stands for.
    class_models
        What each class must keep besides k, l and t, given its people and the population's.
    """

    names: tuple[str, ...]
    taxonomies: tuple[Taxonomy, ...]
    costs: tuple[Floats, ...]
    codes: NDArray[np.int32] = field(repr=False)
    n: Integers = field(repr=False)
    k: int
    suppression: float = 0.0
    weights: tuple[float, ...] = ()
    lost: int = 0
    start: Cut | None = None
    sensitive: tuple[SensitiveColumn, ...] = ()
    people: Integers | None = field(default=None, repr=False)
    target: NDArray[np.int32] | None = field(default=None, repr=False)
    levels: tuple[NDArray[np.int32], ...] = field(default=(), repr=False)
    population: Integers | None = field(default=None, repr=False)
    class_models: "tuple[KMap | DeltaPresence, ...]" = ()

    def __post_init__(self) -> None:
        if not self.weights:
            object.__setattr__(self, "weights", (1.0,) * self.d)

    @property
    def d(self) -> int:
        """The number of QIDs."""
        return len(self.taxonomies)

    @cached_property
    def N(self) -> int:  # noqa: N802 - the letter of the literature
        """The number of all rows, those lost before the search included."""
        return int(self.n.sum()) + self.lost

    @cached_property
    def budget(self) -> int:
        """How many rows the search may suppress: ``floor(suppression * N)`` less ``lost``.

        A negative number says that those lost before the search are too many already.
        """
        # 0.02 * 50 is not exactly 1 in floats, but the share is meant as it was written.
        return math.floor(round(self.suppression * self.N, 6)) - self.lost

    @cached_property
    def trees(self) -> tuple[Tree, ...]:
        """The taxonomies as arrays."""
        return tuple(Tree(taxonomy) for taxonomy in self.taxonomies)

    @property
    def top(self) -> Cut:
        """The most general cut that may be published."""
        return self.start or Cut.top(self.d)

    def labels(self, cut: Cut) -> NDArray[np.int32]:
        """Return the node under which each line is published by a cut.

        Returns
        -------
        int32 (F, d): places of nodes.
        """
        labels = np.empty(self.codes.shape, dtype=np.int32)
        for q, (tree, nodes) in enumerate(zip(self.trees, cut.nodes, strict=True)):
            labels[:, q] = tree.partition(nodes)[self.codes[:, q]]
        return labels


@dataclass(frozen=True)
class Metrics:
    """How much a release keeps; all rows count, those lost before the search included.

    Parameters
    ----------
    ncp
        Normalised certainty penalty in [0, 1]: the mean over rows of the cost of their labels, a
        suppressed row costing 1; over QIDs the mean weighted by ``weights``.
    ncp_by_qid
        The same for each QID alone.
    dm
        Discernibility: the sum of squared class sizes, plus N for each suppressed row.
    aecs
        Published rows over (classes times k); 1 is the least possible without a person column.
    entropy
        Bits by which a published row tells its class: sum of (n_c / N) log2(N / n_c).
    classes
        How many classes there are.
    smallest
        The size of the smallest class, in people if there is a person column.
    suppressed
        Rows that are not published.
    """

    ncp: float
    ncp_by_qid: tuple[float, ...]
    dm: int
    aecs: float
    entropy: float
    classes: int
    smallest: int
    suppressed: int


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """The result of a search: the labels of lines, which are suppressed, and what is kept.

    Parameters
    ----------
    labels
        int32 (F, d): the place of the node under which each line is published on each QID. For a
        suppressed line it says nothing.
    suppressed
        bool (F,): lines that are not published.
    cut
        With global recoding the cut all lines share; None with local recoding.
    method
        The score or kind of recoding that found it, as named in the policy.
    notes
        Remarks for the public page, e.g. that a rule may have stopped the search early. Whether
        they appear depends on the policy only.
    curator_notes
        Remarks that depend on the table, suppressed rows included, and are for the curator only.
    """

    labels: NDArray[np.int32] = field(repr=False)
    suppressed: NDArray[np.bool_] = field(repr=False)
    metrics: Metrics
    cut: Cut | None = None
    method: str = ""
    compared: int = 1
    notes: tuple[str, ...] = ()
    curator_notes: tuple[str, ...] = ()


def problem_of(
    taxonomies: Mapping[str, Taxonomy], codes: ArrayLike, *, k: int, **settings: Any
) -> Problem:
    """Build a problem from rows: equal rows become one line.

    Parameters
    ----------
    taxonomies
        By name of the QID, in the order that settles ties.
    codes
        (rows, d): the leaf codes of each row.
    k
        At least so many people (or rows) a class.
    **settings
        Further fields of ``Problem``. What has an entry a line there (``sensitive``,
        ``people``, ``target``) has one a row here, and rows are not grouped then.

    Examples
    --------
    >>> ages = Taxonomy.nested("*", {"young": ["18", "19"], "old": ["70", "71"]})
    >>> problem = problem_of({"age": ages}, [[0], [0], [1], [2]], k=2)
    >>> problem.codes[:, 0].tolist(), problem.n.tolist(), problem.costs[0].round(1).tolist()
    ([0, 1, 2], [2, 1, 1], [1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    """
    lines = np.asarray(codes, dtype=np.int32)
    n = np.ones(len(lines), dtype=np.int64)
    if not settings.keys() & {"sensitive", "people", "target"}:
        lines, n = np.unique(lines, axis=0, return_counts=True)
    trees = tuple(taxonomies.values())
    occurring = [np.bincount(lines[:, q], minlength=t.size) > 0 for q, t in enumerate(trees)]
    costs = tuple(leaf_count_costs(t, occurs) for t, occurs in zip(trees, occurring, strict=True))
    return Problem(tuple(taxonomies), trees, costs, lines, n, k, **settings)
