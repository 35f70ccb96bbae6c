"""Broken mechanisms that the audit must catch, by name, each with the bound it must exceed.

Every one was published, shipped or drafted by somebody, or is one mistake away from one that was.
All are written from the description of the fault. An audit that stops catching one is broken.

Examples
--------
>>> twins["2-D angle in a quarter circle"].at_least
9.05
>>> twins["rounds not counted"].run(draws=20_000).verdict
'violated'
"""

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from shoal.audit.case import Cases, Twin

__all__ = ["twins"]

_FAMILIES = (
    "_noise_directions",
    "_noise_lengths",
    "_block_noise",
    "_remaps",
    "_bounded_values",
    "_raw_floats",
    "_repeated_reports",
    "_noisy_counts",
    "_thresholds",
    "_kmeans_steps",
    "_tree_splits",
    "_gaussian_noise",
    "_ledger_sums",
)


def _all() -> dict[str, Twin]:
    families = [import_module(f"{__name__}.{family}") for family in _FAMILIES]
    return {name: twin for family in families for name, twin in family.twins.items()}


twins = cast("Mapping[str, Twin]", Cases(_all))
