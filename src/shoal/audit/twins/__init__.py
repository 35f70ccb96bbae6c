"""Broken forms that the audit must catch, by name; each with the bound it must exceed.

Every one was published, shipped or drafted by somebody, or is one slip away from what was. All are
written anew from the description of the fault. An audit that stops catching one has rotted.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module

from shoal.audit.case import Twin

__all__ = ["twins"]

_FAMILIES = (
    "directions",
    "radii",
    "remaps",
    "bounded",
    "floats",
    "rounds",
    "counts",
    "thresholds",
    "steps",
    "trees",
    "gaussians",
    "ledgers",
)


class _Families(Mapping[str, Twin]):
    """The twins of every family, loaded when first looked at.

    Examples
    --------
    >>> twins["2-D angle in a quarter circle"].at_least
    9.05
    >>> twins["rounds not counted"].run(draws=20_000).verdict
    'violated'
    """

    def __getitem__(self, name: str) -> Twin:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __repr__(self) -> str:
        return f"<{len(self)} broken forms: {', '.join(map(repr, self))}>"

    @cached_property
    def _all(self) -> dict[str, Twin]:
        families = [import_module(f"{__name__}.{family}") for family in _FAMILIES]
        return {name: twin for family in families for name, twin in family.twins.items()}


twins = _Families()
