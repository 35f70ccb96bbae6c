"""What is done to anonymise a frame of a cluster; loaded for such a table alone."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.anonymize.frequency_table import FrequencyTable
    from shoal.anonymize.policy import Policy
    from shoal.anonymize.problem import Outcome
    from shoal.anonymize.release.people_register import KnownPeople
    from shoal.anonymize.release.result import Pages, RunResult
    from shoal.anonymize.search.portfolio import Progress

__all__ = ["find_outcome_on_frame", "release_frame", "run_on_frame"]


def find_outcome_on_frame(
    policy: "Policy", table: Any, cut: Any, progress: "Progress | None"
) -> "tuple[FrequencyTable, Outcome]":
    """Count a frame's combinations, and find the release or apply a cut.

    Parameters
    ----------
    policy
        What is asked.
    table
        The frame, as ``by_engine`` hands it on.
    cut
        A kept cut, as labels, instead of a search.
    progress
        Called now and then with what is being done and the share of it that is done.
    """
    from shoal.anonymize.spark.search import find_outcome_on_spark

    return find_outcome_on_spark(policy, table, cut, progress)


def release_frame(
    policy: "Policy", table: Any, frequency: "FrequencyTable", outcome: "Outcome"
) -> Any:
    """A frame of the released rows, counted again before it is returned.

    Parameters
    ----------
    policy
        What is asked.
    table
        The frame, as ``by_engine`` hands it on.
    frequency
        Its frequency table.
    outcome
        The release that was found for it.
    """
    from shoal.anonymize.spark.run import release_on_spark

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
    """A whole run of a policy: the frame is counted, written and counted again by its cluster.

    Parameters
    ----------
    policy
        What is asked, and where things are.
    table
        The frame, as ``by_engine`` hands it on.
    cut
        A kept cut, as labels, instead of a search.
    people
        What is known of the people of earlier releases.
    pages
        As for ``run_policy``.
    overwrite
        As for ``run_policy``.
    progress
        As for ``run_policy``.
    """
    from shoal.anonymize.spark.run import SparkRun

    return SparkRun(policy, table, pages, overwrite, people).finished(cut, progress)
