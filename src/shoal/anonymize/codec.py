"""How the columns of a table become codes: quasi-identifiers, and sensitive values under a rule."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.anonymize.cells import Distinct, distinct
from shoal.anonymize.hierarchies import Hierarchy
from shoal.anonymize.hierarchies.build import hierarchy_for
from shoal.anonymize.hierarchies.leaves import TextLeaves, as_text, days_in, numbers_in
from shoal.anonymize.policy import Policy
from shoal.anonymize.problem import Closeness, Diversity
from shoal.domain import Taxonomy
from shoal.domain.written import plain, plain_column, text

__all__ = ["NOTHING", "Codec", "Values", "values_of"]

Codes = NDArray[np.int32]
NOTHING = -2  # a null, where it is no leaf; a strange value is NO_LEAF


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a sensitive column that has rules, in the order of their numbers."""

    size: int
    number_of: Callable[[Any], Codes]
    l: Diversity | None = None  # noqa: E741 - the name of the literature
    t: Closeness | None = None
    taxonomy: Taxonomy | None = None


@dataclass(frozen=True, eq=False)
class Codec:
    """Leaf codes of quasi-identifiers and numbers of sensitive values, for any rows.

    Parameters
    ----------
    policy
        Where the spellings of nulls are.
    hierarchies, values
        By column, in the policy's order.
    """

    policy: Policy
    hierarchies: dict[str, Hierarchy]
    values: dict[str, Values]

    def leaves(self, name: str, column: Any) -> Codes:
        """The leaf code of each cell of a quasi-identifier; negative where there is none."""
        hierarchy = self.hierarchies[name]
        null = NOTHING if hierarchy.null is None else hierarchy.null
        taken = distinct(column, self.policy.input.null_values)
        return taken.lookup(hierarchy.leaf_of(taken.values), null)

    def numbers(self, name: str, column: Any) -> Codes:
        """The number of each cell of a sensitive column; ``NOTHING`` for a null."""
        taken = distinct(column, self.policy.input.null_values)
        return taken.lookup(self.values[name].number_of(taken.values), NOTHING)


def values_of(policy: Policy, name: str, taken: Distinct) -> Values:
    """How the values of a sensitive column are numbered.

    In the declared order, by their size if they are numbers or dates, by the hierarchy's leaves,
    or else by the alphabet: so that no order of the rows shows.
    """
    of = policy.attributes[name]
    rule_l = None if of.l is None else Diversity(of.l.kind, of.l.value, of.l.c)
    rule_t = None if of.t is None else Closeness(of.t.kind, of.t.value)
    if rule_t is not None and rule_t.kind == "hierarchical":
        hierarchy = hierarchy_for(policy, name)
        tree = hierarchy.taxonomy
        return Values(tree.size, hierarchy.leaf_of, rule_l, rule_t, tree)
    listed = _listed(policy, name, taken)
    return Values(len(listed), TextLeaves(listed), rule_l, rule_t)


def _listed(policy: Policy, name: str, taken: Distinct) -> list[str]:
    of = policy.attributes[name]
    if of.order is not None:
        return [plain(text(value)) for value in of.order]
    occurring = np.zeros(len(taken.values), dtype=bool)
    occurring[taken.at[taken.at >= 0]] = True
    found = pc.unique(plain_column(as_text(taken.values.filter(pa.array(occurring)))))
    return [found[i].as_py() for i in _by_size(of.type, found)]


def _by_size(kind: str, found: Any) -> Sequence[int]:
    """Where each value of a column comes in its order."""
    written = found.to_pylist()
    if kind == "date":
        days = days_in(found)
        return sorted(range(len(days)), key=lambda i: (str(days[i] or ""), written[i]))
    if kind in ("int", "float"):
        numbers = numbers_in(found)
        return np.lexsort((written, numbers)).tolist() if written else []
    return sorted(range(len(written)), key=written.__getitem__)
