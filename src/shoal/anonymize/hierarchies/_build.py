"""Build the hierarchy of a column from its entry in the policy."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.anonymize._policy import (
    Attribute,
    BinarySpec,
    DateSpec,
    FileSpec,
    FrequencySpec,
    IntervalSpec,
    OrderSpec,
    Policy,
    PrefixSpec,
    TreeSpec,
)
from shoal.anonymize._policy_check import parse_day_domain
from shoal.anonymize.hierarchies._files import hierarchy_from_tree, read_hierarchy
from shoal.anonymize.hierarchies._hierarchy import Hierarchy, parse_numbers
from shoal.anonymize.hierarchies._lists import build_by_frequency, build_ordered
from shoal.anonymize.hierarchies._rules import (
    HeldNumbers,
    build_halves,
    build_intervals,
    build_periods,
    build_prefixes,
)
from shoal.arrays import Integers
from shoal.domain.value_text import value_to_text
from shoal.errors import BadInput


def needs_rows(of: Attribute) -> bool:
    """Return whether a column's hierarchy can only be built from its values."""
    spec = of.hierarchy
    if isinstance(spec, DateSpec):
        return of.domain is None
    if isinstance(spec, PrefixSpec):
        return spec.values is None
    return isinstance(spec, BinarySpec) and spec.split == "median"


class HeldCells(NamedTuple):
    """The cells of a column with the rows and people that hold them.

    Parameters
    ----------
    owner
        The person of each cell as a number; None if each row is a person.
    """

    at: Integers
    n: Integers
    owner: Integers | None = None


def build_hierarchy(
    policy: Policy, name: str, values: Any = None, held: HeldCells | None = None
) -> Hierarchy:
    """Build the hierarchy of a column.

    Values are read only if ``needs_rows``.

    Examples
    --------
    >>> policy = Policy.of({"version": 1, "privacy": {"k": 2}, "attributes": {
    ...     "sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}}}})
    >>> build_hierarchy(policy, "sex").taxonomy.leaves
    ('F', 'M')
    """
    of = policy.attributes[name]
    try:
        return _BUILDERS[type(of.hierarchy)](policy, of, values, held)
    except BadInput as error:
        raise error.within(f"Column {name!r}") from None


def _file(policy: Policy, of: Attribute, *_: Any) -> Hierarchy:
    spec = of.hierarchy
    assert isinstance(spec, FileSpec)
    return read_hierarchy(policy.path(spec.file), spec.format, spec.labels == "opaque")


def _tree(_: Policy, of: Attribute, *__: Any) -> Hierarchy:
    spec = of.hierarchy
    assert isinstance(spec, TreeSpec)
    return hierarchy_from_tree(spec.tree, "Its tree", spec.labels == "opaque")


def _interval(_: Policy, of: Attribute, *__: Any) -> Hierarchy:
    spec = of.hierarchy
    assert isinstance(spec, IntervalSpec)
    assert of.domain is not None
    return build_intervals(
        of.domain,
        whole=of.type == "int",
        width=spec.width,
        breaks=spec.breaks,
        fanout=spec.fanout,
    )


def _binary(policy: Policy, of: Attribute, values: Any, held: HeldCells | None) -> Hierarchy:
    spec = of.hierarchy
    assert isinstance(spec, BinarySpec)
    assert of.domain is not None
    whole = of.type == "int"
    if spec.split == "midpoint" or held is None:
        return build_halves(of.domain, whole=whole, min_width=spec.min_width)
    numbers = parse_numbers(values)[held.at]
    known = ~np.isnan(numbers)
    owner = None if held.owner is None else held.owner[known]
    people = HeldNumbers(numbers[known], held.n[known], owner)
    return build_halves(
        of.domain, whole=whole, min_width=spec.min_width, people=people, k=policy.privacy.k
    )


def _prefix(_: Policy, of: Attribute, values: Any, *__: Any) -> Hierarchy:
    spec = of.hierarchy
    assert isinstance(spec, PrefixSpec)
    if spec.values is None:
        return build_prefixes(values, spec.keep)
    listed = pa.array([value_to_text(value) for value in spec.values], pa.string())
    return replace(build_prefixes(listed, spec.keep), learnt=False)


def _dates(_: Policy, of: Attribute, values: Any, *__: Any) -> Hierarchy:
    spec = of.hierarchy
    assert isinstance(spec, DateSpec)
    domain = None if of.domain is None else parse_day_domain(of.domain)
    return build_periods(spec.levels, values=values, domain=domain, written=spec.format)


def _order(_: Policy, of: Attribute, *__: Any) -> Hierarchy:
    spec = of.hierarchy
    assert isinstance(spec, OrderSpec)
    return build_ordered(spec.values, spec.fanout)


def _frequency(_: Policy, of: Attribute, *__: Any) -> Hierarchy:
    spec = of.hierarchy
    assert isinstance(spec, FrequencySpec)
    return build_by_frequency(spec.counts, spec.fanout)


_BUILDERS: dict[Any, Callable[..., Hierarchy]] = {
    FileSpec: _file,
    TreeSpec: _tree,
    IntervalSpec: _interval,
    BinarySpec: _binary,
    PrefixSpec: _prefix,
    DateSpec: _dates,
    OrderSpec: _order,
    FrequencySpec: _frequency,
}
