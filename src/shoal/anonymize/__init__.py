"""k-anonymity by specialising taxonomies from the top."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.anonymize.check import Achieved, recount
    from shoal.anonymize.frequency import Frequency, problem_of
    from shoal.anonymize.hierarchies import Hierarchy, read_hierarchy, write_arx
    from shoal.anonymize.policy import Policy, read_policy
    from shoal.anonymize.run import Finished, run_policy
    from shoal.anonymize.specialization import TopDownSpecialization

_HOMES = {
    "Achieved": "check",
    "Finished": "run",
    "Frequency": "frequency",
    "Hierarchy": "hierarchies",
    "Policy": "policy",
    "TopDownSpecialization": "specialization",
    "problem_of": "frequency",
    "read_hierarchy": "hierarchies",
    "read_policy": "policy",
    "recount": "check",
    "run_policy": "run",
    "write_arx": "hierarchies",
}

__all__ = [
    "Achieved",
    "Finished",
    "Frequency",
    "Hierarchy",
    "Policy",
    "TopDownSpecialization",
    "problem_of",
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
