"""k-anonymity by specialising taxonomies from the top."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.anonymize.frequency_table import Frequency, count_combinations
    from shoal.anonymize.hierarchies import Hierarchy, read_hierarchy, write_arx
    from shoal.anonymize.policy import Policy, read_policy
    from shoal.anonymize.release.result import Finished
    from shoal.anonymize.release.run import run_policy
    from shoal.anonymize.risk.recount import Achieved, recount
    from shoal.anonymize.specialization import (
        OutputSettings,
        SearchSettings,
        TopDownSpecialization,
    )

_HOMES = {
    "Achieved": "risk.recount",
    "Finished": "release.run",
    "Frequency": "frequency_table",
    "Hierarchy": "hierarchies",
    "OutputSettings": "specialization",
    "Policy": "policy",
    "SearchSettings": "specialization",
    "TopDownSpecialization": "specialization",
    "count_combinations": "frequency_table",
    "read_hierarchy": "hierarchies",
    "read_policy": "policy",
    "recount": "risk.recount",
    "run_policy": "release.run",
    "write_arx": "hierarchies",
}

__all__ = [
    "Achieved",
    "Finished",
    "Frequency",
    "Hierarchy",
    "OutputSettings",
    "Policy",
    "SearchSettings",
    "TopDownSpecialization",
    "count_combinations",
    "read_hierarchy",
    "read_policy",
    "recount",
    "run_policy",
    "write_arx",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is asked for: whoever runs a policy needs no scikit-learn."""
    if name in _HOMES:
        return getattr(import_module(f"shoal.anonymize.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'shoal.anonymize' has no attribute '{name}'")
