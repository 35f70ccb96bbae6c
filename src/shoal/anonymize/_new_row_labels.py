"""Label new rows like a released table, from the table and the hierarchies alone.

Under global recoding the mapping beside a release leads from each value to its label. Local
recoding has none: labels differ from group to group. Here a new row gets the labels of the group
that covers it and loses least; so a model that was trained on the release can score new rows.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.anonymize._policy import AnyPolicy, policy_of
from shoal.anonymize.codec import Codec, published_cells
from shoal.anonymize.hierarchies._build import build_hierarchy, needs_rows
from shoal.anonymize.risk._model_recount import find_places
from shoal.anonymize.table import QueriedTable
from shoal.anonymize.taxonomy_arrays import Tree
from shoal.engine.duckdb import COUNTED
from shoal.errors import InvalidPolicy

_CHUNK_CELLS = 2**22  # comparisons held at a time


class LabelFinder:
    """Find, for new rows, the labels of a released table's groups.

    It reads what is published, the release and its policy, and so tells nothing more.

    Parameters
    ----------
    policy
        The policy of the release; its hierarchies must be declared, and not learnt from rows.
    released
        The released table: a path, a data frame, ...

    Examples
    --------
    >>> policy = {"version": 1, "privacy": {"k": 2}, "attributes": {
    ...     "age": {"role": "quasi", "hierarchy": {"tree": {"*": {"young": ["1", "2"],
    ...                                                           "old": ["8", "9"]}}}}}}
    >>> finder = LabelFinder(policy, {"age": ["young", "young", "8", "8", "old", "old"]})
    >>> finder.transform({"age": ["1", "8", "9"]})["age"].to_pylist()
    ['young', '8', 'old']
    """

    def __init__(self, policy: AnyPolicy, released: Any) -> None:
        self.policy = policy_of(policy)
        self._codec = _declared_codec(self.policy)
        self._names = list(self._codec.hierarchies)
        table = QueriedTable(released)
        cells = ", ".join(f"c{i}" for i in range(len(self._names)))
        groups = table.query(f"SELECT {cells}, {COUNTED} GROUP BY ALL", self._names)
        columns = {name: groups[f"c{i}"] for i, name in enumerate(self._names)}
        places = find_places(self.policy, self._codec, columns)
        costs = [hierarchy.costs() for hierarchy in self._codec.hierarchies.values()]
        loss = sum(cost[places[:, q]] for q, cost in enumerate(costs))
        order = np.lexsort((-groups["n"].to_numpy(), np.round(loss, 12)))
        self._places = places[order]  # the first group that covers a row is the best

    def transform(self, X: Any) -> pa.Table:
        """Return a table in which quasi-identifiers are labels; other columns stay as they are.

        A row that no group covers, such as one with an unknown value, gets the root's label
        everywhere.

        Parameters
        ----------
        X
            The new rows: a path, a data frame, ...
        """
        table = QueriedTable(X)
        rows = pa.Table.from_batches(list(table.batches(list(table.names))))
        codes = np.stack(
            [self._codec.leaves(n, rows[n].combine_chunks()) for n in self._names], axis=1
        )
        places = self._find(codes)
        for q, (name, hierarchy) in enumerate(self._codec.hierarchies.items()):
            cells = published_cells(self.policy, name, hierarchy)
            at = rows.column_names.index(name)
            rows = rows.set_column(at, name, cells[name].take(pa.array(places[:, q])))
        return rows

    def _find(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the labels of each row: int32 (rows, d)."""
        distinct, inverse = np.unique(codes, axis=0, return_inverse=True)
        places = np.zeros_like(distinct)
        trees = [Tree(hierarchy.taxonomy) for hierarchy in self._codec.hierarchies.values()]
        step = max(_CHUNK_CELLS // max(len(self._places), 1), 1)
        for start in range(0, len(distinct), step):
            part = distinct[start : start + step]
            covers = np.ones((len(part), len(self._places)), dtype=bool)
            for q, tree in enumerate(trees):
                low, high = tree.low[self._places[:, q]], tree.high[self._places[:, q]]
                covers &= (part[:, q, None] >= low) & (part[:, q, None] < high)
            first = covers.argmax(axis=1)
            places[start : start + step] = np.where(
                np.asarray(covers.any(axis=1))[:, None], self._places[first], 0
            )
        return np.asarray(places[inverse.reshape(-1)])


def _declared_codec(policy: Any) -> Codec:
    learnt = [name for name in policy.names("quasi") if needs_rows(policy.attributes[name])]
    changed = [n for n in policy.names("quasi") if policy.attributes[n].publish != "label"]
    if learnt or changed or policy.output.intervals != "label":
        raise InvalidPolicy(
            "New rows can be labelled only where hierarchies are declared and labels published.",
            "Leave `publish`, `intervals` and learnt hierarchies out of such a policy.",
        )
    names = policy.names("quasi")
    return Codec(policy, {n: build_hierarchy(policy, n).with_null() for n in names}, {})
