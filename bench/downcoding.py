"""Downcoding: how much of a local release can be made more precise again, by why it is as it is.

Cohen (Attacks on deidentification's defenses, USENIX Security 2022) shows that a table that was
generalised as little as possible tells more than its labels: a group that could have been more
precise would have been. Three conclusions are drawn here from the released table and the
hierarchies alone, and then held against the truth:

- *both sides*: a label is the lowest that covers its group, so at least two of its children occur
  in the group. Where it has two children, one row of each is known for certain.
- *excluded*: a child under which a group with less loss would have covered the rows does not occur.
- *guess*: the commonest child among the published labels below, without and with the excluded ones.

A share is of cells that are not at a leaf: ``python bench/downcoding.py [TABLE ...]``.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from measure import write
from never_behind import tables

from shoal.anonymize import Policy, count_combinations
from shoal.anonymize.equivalence_classes import number_classes
from shoal.anonymize.search._run_search import run_search
from shoal.anonymize.search_problem import Problem, SearchOutcome

MOST_GROUPS = 1_500  # groups that are attacked, drawn at random


def attack(problem: Problem, outcome: SearchOutcome) -> dict[str, Any]:
    """Draw the three conclusions, and count how many are right."""
    classes = number_classes(outcome.labels, outcome.suppressed)
    labels = np.zeros((classes.size, problem.d), dtype=np.int32)
    live = classes.ids >= 0
    labels[classes.ids[live]] = outcome.labels[live]
    rows = np.bincount(classes.ids[live], problem.n[live], minlength=classes.size)
    loss = sum(cost[labels[:, q]] for q, cost in enumerate(problem.costs))
    chosen = np.random.default_rng(1).permutation(classes.size)[:MOST_GROUPS]
    members = {int(c): np.flatnonzero(classes.ids == c) for c in chosen}
    count = dict.fromkeys(
        ("cells", "certain", "excluded", "excluded right", "guess", "guess, excluded"), 0
    )
    pinned = 0
    for c in chosen:
        pinned += 2 * any(problem.trees[q].fanout[labels[c, q]] == 2 for q in range(problem.d))
        for q in range(problem.d):
            _attack_cell(problem, q, int(c), labels, rows, loss, members[int(c)], count)
    cells, of_chosen = count["cells"], int(rows[chosen].sum())
    return {
        "cells not at a leaf": round(cells / (of_chosen * problem.d), 4),
        "rows known for certain": round(pinned / of_chosen, 4),
        "children excluded": count["excluded"],
        "of them rightly": round(count["excluded right"] / max(count["excluded"], 1), 4),
        "guessed by labels": round(count["guess"] / max(cells, 1), 4),
        "guessed by downcoding": round(count["guess, excluded"] / max(cells, 1), 4),
    }


def _attack_cell(
    problem: Problem, q: int, c: int, labels: Any, rows: Any, loss: Any, lines: Any, count: Any
) -> None:
    tree, place = problem.trees[q], int(labels[c, q])
    children = np.flatnonzero(tree.parent == place)
    if not len(children):
        return
    n = problem.n[lines]
    truth = tree.below(np.full(len(lines), place), problem.codes[lines, q])
    occurs = np.array([n[truth == child].sum() for child in children])
    assert (occurs > 0).sum() > 1 or tree.fanout[place] == 1  # labels are lowest common nodes
    weight = _weights(tree, children, labels[:, q], rows)
    out = np.array([_is_covered(problem, labels, loss, c, q, int(child)) for child in children])
    total = int(rows[c])
    count["cells"] += total
    count["excluded"] += int(out.sum())
    count["excluded right"] += int((occurs[out] == 0).sum())
    count["guess"] += int(occurs[np.argmax(weight)])
    left = np.where(out & ~out.all(), -1.0, weight)
    count["guess, excluded"] += int(occurs[np.argmax(left)])


def _weights(tree: Any, children: Any, column: Any, rows: Any) -> Any:
    """How many published rows have a label at or below each child."""
    low, high = tree.low[column], tree.high[column]
    return np.array(
        [rows[(low >= tree.low[child]) & (high <= tree.high[child])].sum() for child in children]
    )


def _is_covered(problem: Problem, labels: Any, loss: Any, c: int, q: int, child: int) -> bool:
    """Whether a group of less loss covers all that this one has under a child."""
    covers = loss < loss[c] - 1e-9
    for p, tree in enumerate(problem.trees):
        place = child if p == q else labels[c, p]
        covers &= (tree.low[labels[:, p]] <= tree.low[place]) & (
            tree.high[labels[:, p]] >= tree.high[place]
        )
    return bool(covers.any())


def _problem(
    table: Path, hierarchies: dict[str, Path], others: Any, k: int
) -> tuple[Policy, Problem]:
    quasi = {
        name: {"role": "quasi", "hierarchy": {"file": str(path), "labels": "opaque"}}
        for name, path in hierarchies.items()
    }
    person = {"person": "id_student"} if "id_student" in others else {}
    policy = Policy.of(
        {
            "version": 1,
            "input": {"null_values": [""]},
            "attributes": quasi | others,
            "privacy": {"k": k, "suppression": 0.0, **person},
            "search": {"recoding": "local"},
        }
    )
    return policy, count_combinations(policy, str(table)).problem


def main(wanted: list[str]) -> None:
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for name, table, hierarchies, others, _ in tables(Path(place)):
            for k in (5, 10) if not wanted or name in wanted else ():
                policy, problem = _problem(table, hierarchies, others, k)
                outcome = run_search(policy, problem)
                rows.append({"table": name, "k": k, **attack(problem, outcome)})
    write("downcoding", rows)


if __name__ == "__main__":
    main(sys.argv[1:])
