"""Recount the models besides k, l and t in a published table, by their definitions.

Published labels are led back to nodes of the hierarchies, and the people of the population below
them are counted.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize._policy import Policy
from shoal.anonymize._population import PopulationLines, count_covered, read_population
from shoal.anonymize._privacy_models import AverageRisk, Uniqueness, least_sample_size
from shoal.anonymize.codec import Codec, find_distinct, published_cells, published_names
from shoal.anonymize.hierarchies._build import build_hierarchy, needs_rows
from shoal.anonymize.hierarchies._hierarchy import as_text
from shoal.anonymize.taxonomy_arrays import Tree
from shoal.arrays import Integers
from shoal.engine.duckdb import COUNTED, OWNER
from shoal.errors import InvalidPolicy

if TYPE_CHECKING:
    from shoal.anonymize.risk._recount import Queryable


_ROUNDING = 1e-9
_NO_CELL = "\0null"  # no published text


def measure_models(
    policy: Policy,
    table: "Queryable",
    labels: Sequence[str],
    owner: str | None,
    sizes: Integers,
    codec: Codec | None,
) -> dict[str, float]:
    """Return what a table reaches of each model that its policy asks for.

    Parameters
    ----------
    codec
        The hierarchies; None builds them from the policy.
    """
    privacy, reached = policy.privacy, dict[str, float]()
    if privacy.average_risk is not None:
        reached["average_risk"] = AverageRisk.measure(sizes)
    if privacy.uniqueness is not None:
        size = _population_size(policy, codec, int(sizes[:, 0] @ sizes[:, 1]))
        rule = Uniqueness(privacy.uniqueness.most, privacy.uniqueness.within, size)
        reached["uniqueness"] = rule.measure(sizes)
    if privacy.k_map is not None and privacy.population and privacy.population.size:
        reached["k_map"] = _stated_k_map(policy, privacy.population.size, sizes)
    of_population = privacy.k_map is not None or privacy.presence is not None
    if of_population and privacy.population is not None and privacy.population.path is not None:
        reached |= _population_models(policy, table, labels, owner, codec or _codec_of(policy))
    return reached


def broken_models(policy: Policy, reached: dict[str, float]) -> list[str]:
    """Return which models of a policy a table breaks, as sentences.

    Parameters
    ----------
    reached
        What the table reaches, as from ``measure_models``.
    """
    return list(_broken(policy, reached))


def _broken(policy: Policy, reached: dict[str, float]) -> Iterator[str]:
    privacy = policy.privacy
    if privacy.k_map is not None and reached.get("k_map", np.inf) < privacy.k_map.k:
        yield f"k_map is {reached['k_map']:g}, not {privacy.k_map.k}"
    rule = privacy.presence
    if rule is not None and "presence" in reached:
        if reached["presence"] > rule.most + _ROUNDING:
            yield f"presence is {reached['presence']:.4g}, above {rule.most:g}"
        if reached["least_presence"] < rule.least - _ROUNDING:
            yield f"the least presence is {reached['least_presence']:.4g}, not {rule.least:g}"
    unique = None if privacy.uniqueness is None else privacy.uniqueness.most
    for name, most in (("average_risk", privacy.average_risk), ("uniqueness", unique)):
        if most is not None and reached.get(name, 0.0) > most + _ROUNDING:
            yield f"{name} is {reached[name]:.4g}, above {most:g}"


def _population_size(policy: Policy, codec: Codec | None, members: int) -> int | None:
    """Return how many people the population has, at least as many as the table."""
    of = policy.privacy.population
    if of is None or of.path is None:
        return None if of is None else of.size
    people = read_population(policy, codec or _codec_of(policy)).people
    return max(int(people.sum()), members)


def _stated_k_map(policy: Policy, population: int, sizes: Integers) -> int:
    """Return the k of the rule if every class shows enough members, else the smallest class."""
    rule, people = policy.privacy.k_map, sizes[:, 0]
    assert rule is not None
    members, smallest = int(people @ sizes[:, 1]), int(people.min(initial=population))
    needed = least_sample_size(rule.k, min(members / population, 1.0), rule.significance)
    return rule.k if smallest >= needed else min(smallest, rule.k - 1)


def _population_models(
    policy: Policy, table: "Queryable", labels: Sequence[str], owner: str | None, codec: Codec
) -> dict[str, float]:
    cells = ", ".join(f"c{i}" for i in range(len(labels)))
    people = f"count(*) AS n FROM (SELECT DISTINCT {cells}, {OWNER} FROM rows)"
    counted = COUNTED if owner is None else people
    groups = table.query(f"SELECT {cells}, {counted} GROUP BY ALL", labels, owner)
    members = groups["n"].to_numpy().astype(np.int64)
    places = find_places(policy, codec, {name: groups[f"c{i}"] for i, name in enumerate(labels)})
    lines = read_population(policy, codec)
    trees = tuple(Tree(hierarchy.taxonomy) for hierarchy in codec.hierarchies.values())
    outside = count_covered(trees, places, lines)
    reached: dict[str, float] = {}
    if policy.privacy.k_map is not None:
        reached["k_map"] = int(outside.min(initial=0 if not len(outside) else outside[0]))
    if policy.privacy.presence is not None:
        reached |= _presence(members, outside, lines)
    return reached


def _presence(members: Integers, outside: Integers, lines: PopulationLines) -> dict[str, float]:
    shares = np.divide(
        members, outside, out=np.full(len(members), np.inf), where=np.asarray(outside) > 0
    )
    everybody = int(outside.sum()) == int(lines.people.sum())
    least = float(shares.min(initial=np.inf)) if everybody else 0.0
    return {"presence": float(shares.max(initial=0.0)), "least_presence": least}


def find_places(policy: Policy, codec: Codec, columns: dict[str, Any]) -> NDArray[np.int32]:
    """Return the node behind each published cell.

    Returns
    -------
    int32 (cells, d): places of nodes.

    Raises
    ------
    InvalidPolicy
        If a cell is no label of its hierarchy.
    """
    places = []
    for name, hierarchy in codec.hierarchies.items():
        published = published_names(policy, name)
        if not set(published) <= set(columns):
            published = (name,)
        shown = published_cells(policy, name, hierarchy)
        nodes = list(zip(*(_texts(cells) for cells in shown.values()), strict=True))
        place_of = {node: at for at, node in reversed(list(enumerate(nodes)))}
        cells = zip(*(_texts(columns[column]) for column in published), strict=True)
        places.append([place_of.get(cell, -1) for cell in cells])
    matrix = np.array(places, dtype=np.int32).T.reshape(-1, len(codec.hierarchies))
    if (matrix < 0).any():
        raise InvalidPolicy(
            "The table has labels that no hierarchy of the policy has.",
            "Models about a population are counted in released tables only.",
        )
    return matrix


def _texts(column: Any) -> list[str]:
    """Return cells as texts that compare equal in a file and in memory."""
    taken = find_distinct(column, ())
    texts = [*as_text(taken.values).to_pylist(), _NO_CELL]
    return [texts[at] for at in taken.at]


def _codec_of(policy: Policy) -> Codec:
    learnt = [name for name in policy.names("quasi") if needs_rows(policy.attributes[name])]
    if learnt:
        raise InvalidPolicy(
            f"The hierarchy of {learnt[0]!r} is learnt from the rows, so models about a population "
            "cannot be counted in the released table alone.",
            "Declare the hierarchy, or look at the manifest of the release.",
        )
    hierarchies = {
        name: build_hierarchy(policy, name).with_null() for name in policy.names("quasi")
    }
    return Codec(policy, hierarchies, {})
