"""Search for a release of a Spark table, in the driver or where the combinations are."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.anonymize._frequency_table import (
    ColumnCells,
    FrequencyTable,
    check_table,
    codec_of,
    columns_to_count,
    columns_with_rules,
    frequency_of,
    problem_of_remote_lines,
)
from shoal.anonymize._policy import Policy
from shoal.anonymize.release._manifest import cut_of
from shoal.anonymize.search._large_table_top_down import specialise_remotely
from shoal.anonymize.search._run_search import Progress, apply_cut, as_published, find_outcome
from shoal.anonymize.search_problem import SearchOutcome
from shoal.anonymize.spark._lines import SparkLines, code_combinations, count_rows
from shoal.engine.spark import PersistedFrame, SparkTable, persist, too_many_error
from shoal.errors import InvalidPolicy, sentence

Study = tuple[FrequencyTable, SearchOutcome]
MERGED = (
    "The table has more combinations than the driver may hold: a single search was run, "
    "over values merged below the published labels, and what is said of the original table "
    "is said of those."
)


def refuse_here_only(policy: Policy) -> None:
    """Refuse what a policy may ask for on one machine only."""
    changed = [n for n, of in policy.attributes.items() if of.publish != "label" or of.transform]
    if changed:
        raise InvalidPolicy(
            f"Means, bounds, rounding and rare values (column {changed[0]!r}) are not available on "
            "Spark.",
            "Leave `publish` and `transform` out, or run on one machine.",
        )
    if policy.privacy.models:
        raise InvalidPolicy(
            f"privacy.{policy.privacy.models[0]} is not available on Spark.",
            sentence("Leave it out, or run on one machine: without {engine:spark}, or on a file."),
        )


def find_outcome_on_spark(
    policy: Policy, table: SparkTable, cut: Any = None, progress: Progress | None = None
) -> Study:
    """Count a table's combinations on Spark, and find the release or apply a cut.

    Combinations are fetched if they are few enough; else they stay on the cluster, and the search
    queries counts of them.
    """
    refuse_here_only(policy)
    table.known = None
    by_person = check_table(policy, table)
    columns = list(columns_to_count(policy).values())
    with table.grouped(columns, policy.privacy.person if by_person else None) as combinations:
        if combinations.lines > table.collect_limit:
            _check_remote_search(policy, by_person, combinations.lines, table.collect_limit)
            return _search_remotely(policy, combinations, table.collect_limit, cut)
        table.known = counted = combinations.table()
    frequency = frequency_of(policy, counted, by_person)
    return frequency, find_outcome(policy, frequency, cut, progress)


def _check_remote_search(policy: Policy, by_person: bool, lines: int, limit: int) -> None:
    """Refuse settings that need all combinations in the driver.

    A remote search supports k counted in rows, by one search for a cut that all rows share.
    """
    settings = policy.search
    for too_much, what in (
        (by_person, "People with several rows"),
        (bool(columns_with_rules(policy)), "l and t"),
        (settings.recoding == "local", "Local recoding"),
        (settings.score == "label-gain", "The score label-gain"),
        (bool(settings.restarts), f"{settings.restarts} restarts"),
    ):
        if too_much:
            raise too_many_error(lines, limit, f"{what} would need all of them there")


def _search_remotely(policy: Policy, combinations: PersistedFrame, most: int, cut: Any) -> Study:
    columns = _columns(policy, combinations)
    codec = codec_of(policy, columns)
    with persist(code_combinations(combinations.frame, codec)) as lines:
        everything = int(next(iter(columns.values())).n.sum())
        problem = problem_of_remote_lines(policy, codec, everything - count_rows(lines.frame))
        distant = SparkLines(lines.frame, problem)
        if cut is not None:
            places = cut_of(cut, codec)
            merged = distant.merged(places)
            assert merged is not None
            problem = replace(problem, codes=merged.codes, n=merged.n)
            outcome = apply_cut(problem, places)
        else:
            unit, score = policy.search.loss_unit, policy.search.score
            problem, outcome = specialise_remotely(
                problem, distant, most=most, score=score, loss_unit=unit
            )
    notes = (*outcome.curator_notes, MERGED)
    frequency = FrequencyTable(problem, codec, None)
    return frequency, replace(as_published(frequency, outcome), curator_notes=notes)


def _columns(policy: Policy, combinations: PersistedFrame) -> dict[str, ColumnCells]:
    """Return the distinct values of each quasi-identifier and their rows, in one job."""
    names = policy.names("quasi")
    cells = [f"c{q}" for q in range(len(names))]
    table = combinations.each(cells)
    which = table["which"].to_numpy()
    columns = {}
    for q, name in enumerate(names):
        part = table.filter(pa.array(which == q))
        columns[name] = ColumnCells(part[f"c{q}"], part["n"].to_numpy().astype(np.int64))
    return columns
