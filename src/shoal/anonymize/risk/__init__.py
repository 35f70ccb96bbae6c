"""Recount what a table reaches, and estimate how likely someone is re-identified in it."""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.anonymize.risk._reidentification import (
        Population,
        Risk,
        leaf_class_sizes,
        leaf_entropy,
        population_of,
        suppressed_values,
    )
    from shoal.anonymize.risk._special_uniques import SpecialUniques, find_special_uniques
    from shoal.anonymize.risk._uniqueness import PopulationUniques, estimate_uniques

_MODULE_OF = {
    "Population": "_reidentification",
    "PopulationUniques": "_uniqueness",
    "Risk": "_reidentification",
    "SpecialUniques": "_special_uniques",
    "estimate_uniques": "_uniqueness",
    "find_special_uniques": "_special_uniques",
    "leaf_class_sizes": "_reidentification",
    "leaf_entropy": "_reidentification",
    "population_of": "_reidentification",
    "suppressed_values": "_reidentification",
}

__all__ = [
    "Population",
    "PopulationUniques",
    "Risk",
    "SpecialUniques",
    "estimate_uniques",
    "find_special_uniques",
    "leaf_class_sizes",
    "leaf_entropy",
    "population_of",
    "suppressed_values",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
