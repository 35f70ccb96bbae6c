"""From a column's entry in the policy to its hierarchy."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.hierarchies.files import from_nested, read_hierarchy
from shoal.anonymize.hierarchies.hierarchy import Hierarchy, numbers_in
from shoal.anonymize.hierarchies.rules import People, binary, dates, interval, prefix
from shoal.anonymize.policy import (
    Attribute,
    BinarySpec,
    DateSpec,
    FileSpec,
    IntervalSpec,
    Policy,
    PrefixSpec,
    TreeSpec,
)
from shoal.anonymize.policy_check import days
from shoal.errors import BadInput

__all__ = ["Held", "hierarchy_for", "needs_rows"]


def needs_rows(of: Attribute) -> bool:
    """Whether a column's hierarchy can only be built from its values."""
    spec = of.hierarchy
    if isinstance(spec, DateSpec):
        return of.domain is None
    return isinstance(spec, PrefixSpec) or (isinstance(spec, BinarySpec) and spec.split == "median")


class Held(NamedTuple):
    """The cells of a column as lines: which value each has, of how many rows, whose they are."""

    at: NDArray[np.int64]
    n: NDArray[np.int64]
    owner: NDArray[np.int64] | None = None


def hierarchy_for(
    policy: Policy, name: str, values: Any = None, held: Held | None = None
) -> Hierarchy:
    """The hierarchy of a column.

    ``values``, its distinct values, and ``held``, who holds them, are looked at only if
    ``needs_rows``.

    Examples
    --------
    >>> policy = Policy.of({"version": 1, "privacy": {"k": 2}, "attributes": {
    ...     "sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}}}})
    >>> hierarchy_for(policy, "sex").taxonomy.leaves
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
    return from_nested(spec.tree, "Its tree", spec.labels == "opaque")


def _interval(_: Policy, of: Attribute, *__: Any) -> Hierarchy:
    spec = of.hierarchy
    assert isinstance(spec, IntervalSpec)
    assert of.domain is not None
    return interval(
        of.domain,
        whole=of.type == "int",
        width=spec.width,
        breaks=spec.breaks,
        fanout=spec.fanout,
    )


def _binary(policy: Policy, of: Attribute, values: Any, held: Held | None) -> Hierarchy:
    spec = of.hierarchy
    assert isinstance(spec, BinarySpec)
    assert of.domain is not None
    whole = of.type == "int"
    if spec.split == "midpoint" or held is None:
        return binary(of.domain, whole=whole, min_width=spec.min_width)
    numbers = numbers_in(values)[held.at]
    known = ~np.isnan(numbers)
    owner = None if held.owner is None else held.owner[known]
    people = People(numbers[known], held.n[known], owner)
    return binary(
        of.domain, whole=whole, min_width=spec.min_width, people=people, k=policy.privacy.k
    )


def _prefix(_: Policy, of: Attribute, values: Any, *__: Any) -> Hierarchy:
    spec = of.hierarchy
    assert isinstance(spec, PrefixSpec)
    return prefix(values, spec.keep)


def _dates(_: Policy, of: Attribute, values: Any, *__: Any) -> Hierarchy:
    spec = of.hierarchy
    assert isinstance(spec, DateSpec)
    domain = None if of.domain is None else days(of.domain)
    return dates(spec.levels, values=values, domain=domain)


_BUILDERS: dict[Any, Callable[..., Hierarchy]] = {
    FileSpec: _file,
    TreeSpec: _tree,
    IntervalSpec: _interval,
    BinarySpec: _binary,
    PrefixSpec: _prefix,
    DateSpec: _dates,
}
