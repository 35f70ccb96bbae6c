"""Whose each row is: rules on one cell, and a table that leads old ids to people."""

from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.data import source_of
from shoal.data.encode import encode_owners
from shoal.data.source import find_columns
from shoal.domain.features import Crosswalk, IdRules
from shoal.errors import AmbiguousId


class Owners:
    """Reads ids: their rules first, then the crosswalk; pickled with what it leads to.

    Parameters
    ----------
    rules
        The rules of the file.
    crosswalk
        The columns of the table of ids; None without one.
    table
        The table of ids, read when the first id is; kept in memory.
    """

    def __init__(
        self, rules: IdRules, crosswalk: Crosswalk | None = None, table: Any = None
    ) -> None:
        self._rules, self._crosswalk = rules, crosswalk
        self._source = None if crosswalk is None else source_of(table)
        if crosswalk is not None and self._source is not None:
            find_columns(self._source.names, [crosswalk.old, crosswalk.new])

    def of(self, batch: pa.RecordBatch, name: str) -> pa.Array:
        """Return whose each row is, null where the cell names nobody."""
        owners = _by_rules(batch, name, self._rules)
        old, new = self.links
        if not len(old):
            return owners
        place = pc.index_in(owners, old, skip_nulls=True)
        return pc.coalesce(new.take(place), owners)

    @cached_property
    def links(self) -> tuple[pa.Array, pa.Array]:
        """Old ids, each once, and the person each leads to."""
        nothing = pa.array([], pa.string())
        if self._source is None or self._crosswalk is None:
            return nothing, nothing
        names = [self._crosswalk.old, self._crosswalk.new]
        parts = [
            [_by_rules(batch, name, self._rules) for name in names]
            for batch in self._source.batches(names)
        ]
        if not parts:
            return nothing, nothing
        old, new = (pa.concat_arrays([part[i] for part in parts]) for i in range(2))
        # A row of an id to itself says nothing, and neither does one that lacks a side.
        links = pa.table({"old": old, "new": new}).filter(pc.not_equal(old, new))
        links = links.group_by(["old", "new"]).aggregate([]).sort_by([("old", "ascending")])
        old, new = (links[name].combine_chunks() for name in ("old", "new"))
        if len(pc.unique(old)) < len(old) or pc.any(pc.is_in(new, old)).as_py():
            raise AmbiguousId(
                "The table of ids leads one id to two people, or to an id that is old itself.",
                "Keep one row for each old id, with the id in use now.",
            )
        return old, new

    def __getstate__(self) -> dict[str, Any]:
        """Return what tasks elsewhere need: the links, not the table."""
        return {"_rules": self._rules, "links": self.links}


def _by_rules(batch: pa.RecordBatch, name: str, rules: IdRules) -> pa.Array:
    """Return ids as the rules write them, each cell by itself."""
    owners = encode_owners(batch, name)
    if rules.ignore_case:
        owners = pc.utf8_lower(owners)
    if rules.prefix:
        prefix = rules.prefix.lower() if rules.ignore_case else rules.prefix
        rest = pc.utf8_slice_codeunits(owners, len(prefix))
        owners = pc.if_else(pc.starts_with(owners, prefix), rest, owners)
    if rules.strip_zeros:
        bare = pc.ascii_ltrim(owners, "0")
        owners = pc.if_else(pc.equal(bare, ""), "0", bare)
    return pc.if_else(pc.equal(owners, ""), None, owners)
