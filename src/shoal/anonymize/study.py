"""From a policy and a table to an outcome: on this machine, or from afar on Spark.

The search a policy asks for, or the cut it keeps.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.anonymize.classes import Classes, classes_of, metrics_of
from shoal.anonymize.frequency_table import (
    Column,
    Frequency,
    asked_columns,
    codec_of,
    frequency_of,
    problem_of,
    ruled,
    screened,
    without_lines,
)
from shoal.anonymize.local_recoding.recoding import recode
from shoal.anonymize.policy import Policy
from shoal.anonymize.problem import KEPT, Cut, Outcome, Problem
from shoal.anonymize.release.lines import violations
from shoal.anonymize.release.manifest import cut_of
from shoal.anonymize.search.lazy_frontier import specialise_from_afar
from shoal.anonymize.search.portfolio import portfolio
from shoal.anonymize.spark.lines import SparkLines, coded, rows_in
from shoal.anonymize.table import AnyTable
from shoal.engine.spark.table import Kept, SparkTable, keeping, too_many
from shoal.errors import StartFails
from shoal.randomness import Randomness

__all__ = [
    "MERGED",
    "Progress",
    "Studied",
    "kept",
    "search",
    "studied",
]

Progress = Callable[[str, float], None]

Studied = tuple[Frequency, Outcome]
MERGED = (
    "The table has more combinations than come to the driver: one search was made, over values "
    "merged below the published labels, and what is told of the table before is told of those."
)


def search(policy: Policy, problem: Problem, progress: Progress | None = None) -> Outcome:
    """The best release the policy's search finds."""
    asked = policy.search
    tell = progress or (lambda what, share: None)
    if asked.recoding == "local":
        return recode(problem, Randomness(asked.seed).compute, asked.local, tell)
    return portfolio(
        problem,
        score=asked.score,
        objective=asked.objective,
        restarts=asked.restarts,
        seed=asked.seed,
        loss_unit=asked.loss_unit,
        progress=lambda done, of: tell("search", done / of),
    )


def kept(problem: Problem, cut: Cut) -> Outcome:
    """A kept cut on new rows: classes that break k, l or t are suppressed, within the budget.

    Two cuts of one table can be intersected, so a table that is released again keeps its cut.
    """
    labels = problem.labels(cut)
    suppressed: NDArray[np.bool_] = np.asarray(
        (labels < 0).any(axis=1)
    )  # values the cut does not cover
    labels[suppressed] = 0
    classes = classes_of(labels, suppressed)
    while classes.size and (broken := violations(problem, classes)).any():
        suppressed[np.append(broken, True)[classes.ids]] = True
        classes = classes_of(labels, suppressed)
    _refuse_over_budget(problem, classes, int(problem.n[suppressed].sum()))
    metrics = metrics_of(problem, labels, suppressed)
    return Outcome(labels, suppressed, metrics, cut, method=KEPT)


def _refuse_over_budget(problem: Problem, classes: Classes, lost: int) -> None:
    if lost > problem.budget or not classes.size:
        raise StartFails(
            f"Under the kept cut {lost} rows lie in classes that break k, l or t; "
            f"{max(problem.budget, 0)} may be suppressed.",
            "Gather more rows, or allow more suppression; another cut could be intersected with "
            "the first release.",
        )


def studied(
    policy: Policy, table: AnyTable, cut: Any = None, progress: Progress | None = None
) -> Studied:
    """The frequency table of a table, and the release that is found for it.

    Parameters
    ----------
    policy, table
        What is asked, and of which table.
    cut
        A kept cut, as labels, instead of a search.
    progress
        Called now and then with what is being done and the share of it that is done.
    """
    if not isinstance(table, SparkTable):
        return _decided(policy, problem_of(policy, table), cut, progress)
    table.known = None
    by_person = screened(policy, table)
    columns = list(asked_columns(policy).values())
    with table.grouped(columns, policy.privacy.entity if by_person else None) as found:
        if found.lines > table.collect_limit:
            _refuse_afar(policy, by_person, found.lines, table.collect_limit)
            return _from_afar(policy, found, table.collect_limit, cut)
        table.known = counted = found.table()
    return _decided(policy, frequency_of(policy, counted, by_person), cut, progress)


def _decided(policy: Policy, frequency: Frequency, cut: Any, progress: Progress | None) -> Studied:
    if cut is None:
        return frequency, search(policy, frequency.problem, progress)
    return frequency, kept(frequency.problem, cut_of(cut, frequency.codec))


def _refuse_afar(policy: Policy, by_person: bool, lines: int, limit: int) -> None:
    """From afar k is kept, counted in rows, by one search over labels all rows share."""
    asked = policy.search
    for too_much, what in (
        (by_person, "People with several rows"),
        (bool(ruled(policy)), "l and t"),
        (asked.recoding == "local", "Local recoding"),
        (asked.score == "label-gain", "The score label-gain"),
        (bool(asked.restarts), f"{asked.restarts} restarts"),
    ):
        if too_much:
            raise too_many(lines, limit, f"{what} would need all of them there")


def _from_afar(policy: Policy, found: Kept, most: int, cut: Any) -> Studied:
    columns = _columns(policy, found)
    codec = codec_of(policy, columns)
    with keeping(coded(found.frame, codec)) as lines:
        everything = int(next(iter(columns.values())).n.sum())
        problem = without_lines(policy, codec, everything - rows_in(lines.frame))
        distant = SparkLines(lines.frame, problem)
        if cut is not None:
            places = cut_of(cut, codec)
            merged = distant.merged(places)
            assert merged is not None
            problem = replace(problem, codes=merged.codes, n=merged.n)
            outcome = kept(problem, places)
        else:
            unit, score = policy.search.loss_unit, policy.search.score
            problem, outcome = specialise_from_afar(
                problem, distant, most=most, score=score, loss_unit=unit
            )
    noted = (*outcome.curator_notes, MERGED)
    return Frequency(problem, codec, None), replace(outcome, curator_notes=noted)


def _columns(policy: Policy, found: Kept) -> dict[str, Column]:
    """The distinct values of each quasi-identifier and their rows, in one job."""
    names = policy.names("quasi")
    cells = [f"c{q}" for q in range(len(names))]
    table = found.each(cells)
    which = table["which"].to_numpy()
    columns = {}
    for q, name in enumerate(names):
        part = table.filter(pa.array(which == q))
        columns[name] = Column(part[f"c{q}"], part["n"].to_numpy().astype(np.int64))
    return columns
