"""Anonymise a Spark frame: functions that load Spark code only when it is needed."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.anonymize._frequency_table import FrequencyTable
    from shoal.anonymize._policy import Policy
    from shoal.anonymize.release._people_register import KnownPeople
    from shoal.anonymize.release._result import Pages, RunResult
    from shoal.anonymize.search._run_search import Progress
    from shoal.anonymize.search_problem import SearchOutcome


def find_outcome_on_frame(
    policy: "Policy", table: Any, cut: Any, progress: "Progress | None"
) -> "tuple[FrequencyTable, SearchOutcome]":
    """Count the combinations of a frame, and search for a release or apply a cut."""
    from shoal.anonymize.spark._search import find_outcome_on_spark

    return find_outcome_on_spark(policy, table, cut, progress)


def release_frame(
    policy: "Policy", table: Any, frequency: "FrequencyTable", outcome: "SearchOutcome"
) -> Any:
    """Return a frame of the released rows, recounted before it is returned."""
    from shoal.anonymize.spark._run import release_on_spark

    return release_on_spark(policy, table, frequency, outcome)


def run_on_frame(
    policy: "Policy",
    table: Any,
    cut: Any,
    people: "KnownPeople",
    pages: "Pages | None",
    overwrite: bool,
    progress: "Progress | None",
) -> "RunResult":
    """Run a whole policy on a frame, which the cluster counts, writes and recounts.

    Parameters
    ----------
    table
        The frame, as ``by_engine`` hands it on.
    cut
        The labels of an earlier cut to apply; None searches for one.
    """
    from shoal.anonymize.spark._run import SparkRun

    return SparkRun(policy, table, pages, overwrite, people).finished(cut, progress)
