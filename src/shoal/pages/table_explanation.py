"""Explain why each column is published as it is, and what k-anonymity is not."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import quantity
from shoal.pages.page import Line, labelled_lines

if TYPE_CHECKING:
    from shoal.anonymize import Policy, RunResult


IS_NOT = (
    "k-anonymity is not differential privacy. It limits one thing: how well someone who knows "
    "your quasi-identifiers, and that you are in the table, can pick your row.",
    "Same values: if all of a group have one diagnosis, whoever finds the group knows it. Rules "
    "l and t limit that; without them nothing does.",
    "Two releases: two tables that share people can be intersected under different cuts, and "
    "subtracted under one. Keep one cut, and use `shoal anonymize apply` for new people only.",
    "Minimality: someone who knows how the search works can reason about why it stopped, and "
    "learn more than the table shows.",
    "Other columns are published as they are. What is known of them can find people, too.",
)
_WHY = {
    "identifier": "names a person",
    "sensitive": "is what others should not learn; published as it is",
    "other": "is published as it is, because the policy says so",
}


def explanation_lines(policy: "Policy", finished: "RunResult | None") -> list[Line]:
    """Return everything that ``--explain`` prints.

    Parameters
    ----------
    finished
        The run; None before one.
    """
    columns = role_texts(policy) | (column_texts(finished) if finished else {})
    return [
        *labelled_lines("Is not", IS_NOT),
        *labelled_lines("Columns", list(columns.values())),
        Line("", "These lines count rows: they are for their holder alone."),
    ]


def role_texts(policy: "Policy") -> dict[str, str]:
    """Return the role of each column, in a sentence."""
    texts = {}
    for name, of in policy.attributes.items():
        why = _WHY.get(of.role, "may be known to others, so it is generalised")
        if of.role == "identifier":
            why += ", so it is " + ("dropped" if of.action == "drop" else "replaced by a pseudonym")
        texts[name] = f"{name}: {of.role}, {why}."
    return texts


def column_texts(finished: "RunResult") -> dict[str, str]:
    """Return, for each quasi-identifier, what is published and why it is not more precise."""
    outcome = finished.outcome
    hierarchies = finished.frequency.codec.hierarchies
    if outcome.cut is None:
        return {n: f"{n}: quasi; every group has labels of its own." for n in hierarchies}
    left = max(finished.frequency.problem.budget - outcome.metrics.suppressed, 0)
    return {
        name: f"{name}: quasi; {_state(finished, q)}{_blocked(finished, q, left)}"
        for q, name in enumerate(hierarchies)
    }


def _state(finished: "RunResult", q: int) -> str:
    assert finished.outcome.cut is not None
    tree, nodes = finished.frequency.problem.taxonomies[q], finished.outcome.cut.nodes[q]
    detail = 100 * max(1 - finished.outcome.metrics.ncp_by_qid[q], 0.0)
    if nodes == (0,):
        return f"fully generalised to {tree.nodes[0].label!r}."
    return (
        f"{quantity(len(nodes), 'label')} for {quantity(tree.size, 'leaf', 'leaves')}, "
        f"{detail:.0f} % of its detail kept."
    )


def _blocked(finished: "RunResult", q: int, left: int) -> str:
    """Return what splitting the largest label would cost."""
    at, rows = _largest(finished, q)
    if at is None:
        return " It cannot be split further."
    label = finished.frequency.problem.taxonomies[q].nodes[at].label
    lost = _lost_by_opening(finished, q, at)
    if lost <= left:
        return (
            f" Splitting {label!r} ({quantity(rows, 'row')}) would suppress "
            f"{quantity(lost, 'row')}; {left:,} more may be suppressed, and another step was "
            "worth more."
        )
    return (
        f" Splitting {label!r} ({quantity(rows, 'row')}) would put {quantity(lost, 'row')} into "
        f"groups that do not meet k, l or t; {left:,} more may be left out."
    )


def _largest(finished: "RunResult", q: int) -> tuple[int | None, int]:
    """Return the published label with most rows that has something below it."""
    problem, release = finished.frequency.problem, finished.produced.release
    live = ~release.suppressed & ~release.starred
    rows = np.bincount(release.labels[live, q], problem.n[live]).astype(np.int64)
    assert finished.outcome.cut is not None
    # Nulls may be published as a root that is not in the cut, and have nothing below them.
    tree, nodes = problem.trees[q], finished.outcome.cut.nodes[q]
    occurring = [at for at in nodes if at < len(rows) and rows[at]]
    inner = [at for at in occurring if tree.high[at] - tree.low[at] > 1]
    at = max(inner, key=lambda place: rows[place], default=None)
    return (None, 0) if at is None else (int(at), int(rows[at]))


def _lost_by_opening(finished: "RunResult", q: int, at: int) -> int:
    """Count rows in groups that would break a rule if this label were split."""
    from shoal.anonymize.equivalence_classes import number_classes
    from shoal.anonymize.search import find_violations

    problem, release = finished.frequency.problem, finished.produced.release
    gone = release.suppressed | release.starred
    labels = release.labels.copy()
    for place in _below(finished, q, at):
        node = problem.taxonomies[q].nodes[place]
        code = problem.codes[:, q]
        labels[(code >= node.low) & (code < node.high) & (release.labels[:, q] == at), q] = place
    classes = number_classes(labels, gone)
    broken = np.append(find_violations(problem, classes), False)
    return int(problem.n[broken[classes.ids]].sum())


def _below(finished: "RunResult", q: int, at: int) -> Iterator[int]:
    nodes = finished.frequency.problem.taxonomies[q].nodes
    return (place for place, node in enumerate(nodes) if node.parent == at)
