"""k-anonymity by specialising taxonomies from the top."""

from shoal.anonymize.check import Achieved, recount
from shoal.anonymize.frequency import Frequency, problem_of
from shoal.anonymize.hierarchies import Hierarchy, read_hierarchy, write_arx
from shoal.anonymize.policy import Policy, read_policy
from shoal.anonymize.run import Finished, run_policy
from shoal.anonymize.specialization import TopDownSpecialization

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
