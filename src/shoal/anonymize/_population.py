"""The population of a table: its people coded like the table's rows, and the models about them.

A model that looks at a population (``KMap``, ``DeltaPresence``) is kept while a global cut is
searched for: the population's people join the lines of the problem as lines of no rows, so that
every class knows how many of them have its labels.
"""

from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize._policy import Policy
from shoal.anonymize._privacy_models import (
    AverageRisk,
    DeltaPresence,
    KMap,
    Uniqueness,
    least_sample_size,
)
from shoal.anonymize.codec import Codec
from shoal.anonymize.equivalence_classes import Classes, count_people, number_classes
from shoal.anonymize.search_problem import Problem, SearchOutcome
from shoal.anonymize.table import AnyTable, table_of
from shoal.anonymize.taxonomy_arrays import Tree
from shoal.arrays import Integers
from shoal.engine.duckdb import COUNTED
from shoal.errors import InvalidPolicy, quantity

ClassModel = KMap | DeltaPresence
Whole = TypeVar("Whole", bound=np.integer[Any])
_CHUNK_CELLS = 2**22  # comparisons held at a time


class PopulationLines(NamedTuple):
    """Distinct combinations of quasi-identifiers in a population.

    Parameters
    ----------
    codes
        int32 (lines, d): leaf codes; negative where the hierarchy has no such value.
    """

    codes: NDArray[np.int32]
    people: Integers

    @property
    def known(self) -> "PopulationLines":
        """The lines whose values are all in the hierarchies."""
        keep = (self.codes >= 0).all(axis=1)
        return PopulationLines(self.codes[keep], self.people[keep])


class Models(NamedTuple):
    """The models of a policy besides k, l and t.

    Parameters
    ----------
    of_classes
        Models that look at each class and the people of the population under its labels.
    lines
        The population; None if no model of classes needs it.
    k
        The least k that keeps what is only stated of a population; the policy's k or more.
    """

    of_classes: tuple[ClassModel, ...]
    of_table: tuple[AverageRisk | Uniqueness, ...]
    lines: PopulationLines | None
    k: int

    @property
    def any(self) -> bool:
        """Whether there is anything to keep besides k, l and t."""
        return bool(self.of_classes or self.of_table)


def models_of(policy: Policy, codec: Codec, members: int) -> Models:
    """Return the models of a policy, its population read and coded.

    Raises
    ------
    InvalidPolicy
        If a stated population is smaller than the table.
    """
    privacy = policy.privacy
    size = None if privacy.population is None else privacy.population.size
    if size is not None and size < members:
        raise InvalidPolicy(
            f"privacy.population.size is {size:,}; the table has {quantity(members, 'row')}.",
            "State how many people the table was drawn from.",
        )
    k, of_classes = privacy.k, list[ClassModel]()
    if privacy.k_map is not None:
        of_classes.append(KMap(privacy.k_map.k))
        if size is not None:
            of_classes.pop()
            rule = privacy.k_map
            k = max(k, least_sample_size(rule.k, members / size, rule.significance))
    if privacy.presence is not None:
        of_classes.append(DeltaPresence(privacy.presence.most, privacy.presence.least))
    lines = None
    if privacy.population is not None and privacy.population.path is not None:
        lines = read_population(policy, codec)
        size = max(int(lines.people.sum()), members)
    return Models(tuple(of_classes), _table_models(policy, size), lines, k)


def _table_models(policy: Policy, size: int | None) -> tuple[AverageRisk | Uniqueness, ...]:
    privacy, models = policy.privacy, list[AverageRisk | Uniqueness]()
    if privacy.average_risk is not None:
        models.append(AverageRisk(privacy.average_risk))
    if privacy.uniqueness is not None:
        models.append(Uniqueness(privacy.uniqueness.most, privacy.uniqueness.within, size))
    return tuple(models)


def read_population(policy: Policy, codec: Codec) -> PopulationLines:
    """Read the population table of a policy, and code it like the table."""
    assert policy.privacy.population is not None
    assert policy.privacy.population.path is not None
    return code_population(codec, table_of(str(policy.path(policy.privacy.population.path))))


def code_population(codec: Codec, table: AnyTable) -> PopulationLines:
    """Count the combinations of a population: one row a person, the table's column names."""
    names = list(codec.hierarchies)
    missing = [name for name in names if name not in table.names]
    if missing:
        raise InvalidPolicy(
            f"The population has no column {missing[0]!r}.",
            "It needs every quasi-identifier of the policy, under the same names.",
        )
    cells = ", ".join(f"c{i}" for i in range(len(names)))
    groups = table.query(f"SELECT {cells}, {COUNTED} GROUP BY ALL", names)
    codes = [codec.leaves(name, groups[f"c{i}"]) for i, name in enumerate(names)]
    return PopulationLines(np.stack(codes, axis=1), groups["n"].to_numpy().astype(np.int64))


def count_covered(
    trees: tuple[Tree, ...], labels: NDArray[np.int32], lines: PopulationLines
) -> Integers:
    """Count the people under each combination of labels; labels of local recoding may overlap.

    Parameters
    ----------
    labels
        int32 (classes, d): places of nodes.
    Returns
    -------
    int64 (classes,).
    """
    people = np.zeros(len(labels), dtype=np.int64)
    step = max(_CHUNK_CELLS // max(len(lines.codes), 1), 1)
    for start in range(0, len(labels), step):
        part = labels[start : start + step]
        under = np.ones((len(part), len(lines.codes)), dtype=bool)
        for q, tree in enumerate(trees):
            low, high = tree.low[part[:, q]], tree.high[part[:, q]]
            codes = lines.codes[:, q]
            under &= (codes >= low[:, None]) & (codes < high[:, None])
        people[start : start + step] = under @ lines.people
    return people


def with_population(problem: Problem, models: Models) -> Problem:
    """Return a problem with a line of no rows for each combination of the population.

    Only the greatest presence is asked of a class there: the least one is about people outside
    every class, too.
    """
    if models.lines is None:
        return problem
    known = models.lines.known
    more, lines = len(known.people), len(problem.n)
    rules = tuple(
        replace(model, least=0.0) if isinstance(model, DeltaPresence) else model
        for model in models.of_classes
    )
    return replace(
        problem,
        codes=np.concatenate([problem.codes, known.codes]).astype(np.int32),
        n=_padded(problem.n, more, 0),
        sensitive=tuple(
            replace(column, codes=_padded(column.codes, more, -1)) for column in problem.sensitive
        ),
        people=None if problem.people is None else _padded(problem.people, more, -1),
        target=None if problem.target is None else _padded(problem.target, more, -1),
        population=np.concatenate([np.zeros(lines, np.int64), known.people]),
        class_models=rules,
    )


def without_population(problem: Problem) -> Problem:
    """Return a problem without the lines that only stand for people of a population."""
    if problem.population is None:
        return problem
    lines = int((problem.n > 0).sum())  # the population's lines come last
    return replace(
        problem,
        codes=problem.codes[:lines],
        n=problem.n[:lines],
        sensitive=tuple(replace(c, codes=c.codes[:lines]) for c in problem.sensitive),
        people=None if problem.people is None else problem.people[:lines],
        target=None if problem.target is None else problem.target[:lines],
        population=None,
        class_models=(),
    )


def count_all_people(problem: Problem) -> int:
    """Return how many people, or rows without a person column, a problem has."""
    one_class = Classes(np.zeros(len(problem.n), dtype=np.int64), 1)
    return int(count_people(problem, one_class)[0])


def _padded(values: NDArray[Whole], more: int, fill: int) -> NDArray[Whole]:
    return np.concatenate([values, np.full(more, fill, dtype=values.dtype)])


def trim_population(problem: Problem, outcome: SearchOutcome) -> SearchOutcome:
    """Return an outcome without the lines that only stood for the population."""
    lines = len(problem.n)
    return replace(outcome, labels=outcome.labels[:lines], suppressed=outcome.suppressed[:lines])


def class_labels(problem: Problem, outcome: SearchOutcome) -> NDArray[np.int32]:
    """Return the labels of each class of an outcome, in the order of its numbers."""
    classes = number_classes(outcome.labels, outcome.suppressed)
    labels = np.zeros((classes.size, problem.d), dtype=np.int32)
    live = classes.ids >= 0
    labels[classes.ids[live]] = outcome.labels[live]
    return labels
