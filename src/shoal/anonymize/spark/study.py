"""From a policy and a Spark frame to an outcome, however many combinations the frame has."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.anonymize.frequency_table import (
    Column,
    Frequency,
    asked_columns,
    codec_of,
    frequency_of,
    ruled,
    screened,
    without_lines,
)
from shoal.anonymize.policy import Policy
from shoal.anonymize.release.manifest import cut_of
from shoal.anonymize.search.lazy_frontier import specialise_from_afar
from shoal.anonymize.spark.lines import SparkLines, coded, rows_in
from shoal.anonymize.study import Progress, Studied, decide, kept
from shoal.engine.spark.table import Kept, SparkTable, keeping, too_many

__all__ = ["MERGED", "study_frame"]

MERGED = (
    "The table has more combinations than come to the driver: one search was made, over values "
    "merged below the published labels, and what is told of the table before is told of those."
)


def study_frame(policy: Policy, table: SparkTable, cut: Any, progress: Progress | None) -> Studied:
    """The frequency table of a frame, and the release that is found for it.

    Combinations come to this machine if they are few enough; else they stay on the cluster, and
    the search asks for counts of them.

    Parameters
    ----------
    policy, table, cut, progress
        As for ``shoal.anonymize.study.studied``.
    """
    table.known = None
    by_person = screened(policy, table)
    columns = list(asked_columns(policy).values())
    with table.grouped(columns, policy.privacy.entity if by_person else None) as combinations:
        if combinations.lines > table.collect_limit:
            _check_remote_search(policy, by_person, combinations.lines, table.collect_limit)
            return _search_remotely(policy, combinations, table.collect_limit, cut)
        table.known = counted = combinations.table()
    return decide(policy, frequency_of(policy, counted, by_person), cut, progress)


def _check_remote_search(policy: Policy, by_person: bool, lines: int, limit: int) -> None:
    """Refuse what needs all combinations here.

    What is left keeps k, counted in rows, by one search over labels that all rows share.
    """
    search = policy.search
    for too_much, what in (
        (by_person, "People with several rows"),
        (bool(ruled(policy)), "l and t"),
        (search.recoding == "local", "Local recoding"),
        (search.score == "label-gain", "The score label-gain"),
        (bool(search.restarts), f"{search.restarts} restarts"),
    ):
        if too_much:
            raise too_many(lines, limit, f"{what} would need all of them there")


def _search_remotely(policy: Policy, combinations: Kept, most: int, cut: Any) -> Studied:
    columns = _columns(policy, combinations)
    codec = codec_of(policy, columns)
    with keeping(coded(combinations.frame, codec)) as lines:
        everything = int(next(iter(columns.values())).n.sum())
        problem = without_lines(policy, codec, everything - rows_in(lines.frame))
        remote = SparkLines(lines.frame, problem)
        if cut is not None:
            places = cut_of(cut, codec)
            merged = remote.merged(places)
            assert merged is not None
            problem = replace(problem, codes=merged.codes, n=merged.n)
            outcome = kept(problem, places)
        else:
            unit, score = policy.search.loss_unit, policy.search.score
            problem, outcome = specialise_from_afar(
                problem, remote, most=most, score=score, loss_unit=unit
            )
    noted = (*outcome.curator_notes, MERGED)
    return Frequency(problem, codec, None), replace(outcome, curator_notes=noted)


def _columns(policy: Policy, combinations: Kept) -> dict[str, Column]:
    """The distinct values of each quasi-identifier and their rows, in one job."""
    names = policy.names("quasi")
    cells = [f"c{q}" for q in range(len(names))]
    table = combinations.each(cells)
    which = table["which"].to_numpy()
    columns = {}
    for q, name in enumerate(names):
        part = table.filter(pa.array(which == q))
        columns[name] = Column(part[f"c{q}"], part["n"].to_numpy().astype(np.int64))
    return columns
