"""Pairs of neighbouring tables that a fit is replayed on, made up, and a search for worse ones.

Where a row is put decides what can be seen of it, so it is put wherever a method may treat it
apart: into an empty table, far from all others, on a cell's edge, beyond the box, between groups.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.audit.loss._mixed_tables import mixed_pairs
from shoal.audit.loss._replay import Replayed, replay
from shoal.domain import Box, Schema
from shoal.estimator import numeric_box, person_and_limit

Place = Callable[[Box, Floats, np.random.Generator], Floats]
_SIZES = (0, 1, 12, 60, 200)
_EDGES = (2, 3, 4, 5, 8, 10, 16)  # cells along an axis whose edges a row is put on
_ROWS_OF_SOMEBODY = 50  # far more than any limit of rows a person


@dataclass(frozen=True, eq=False)
class TablePair:
    """Two neighbouring tables."""

    about: str
    table: Any
    neighbour: Any


def neighbour_pairs(model: Any, pairs: int = 24, random_state: int = 0) -> Iterator[TablePair]:
    """Yield pairs of made-up tables that a model's promise compares.

    They follow the promise: a row added or replaced, or all rows of a person.

    Parameters
    ----------
    model
        A private estimator, not fitted: its domain, promise and settings are read.
    pairs
        How many pairs.
    random_state
        The seed.

    Examples
    --------
    >>> from shoal import Box, UniformGrid
    >>> grid = UniformGrid(epsilon=1, domain=Box(x=(0, 1)))
    >>> [pair.about for pair in neighbour_pairs(grid, 2)]
    ['0 rows, one at a corner', '1 row, one twice']
    """
    if isinstance(model.domain, Schema) and model.domain.categories:
        yield from (TablePair(*pair) for pair in mixed_pairs(model, pairs, random_state))
        return
    box, places = numeric_box(model.domain), dict(PLACES)
    if model.nonfinite != "drop":  # a table with such a row is refused
        del places["not a number"]
    for number in range(pairs):
        rng = np.random.default_rng([random_state, number])
        size = _SIZES[number % len(_SIZES)]
        about, place = list(places.items())[number % len(places)]
        table = _table(box, size, rng)
        rows = f"{size} row{'s' * (size != 1)}"
        yield _pair_of(model, f"{rows}, one {about}", table, place(box, table, rng), rng)


def search_worst_row(
    model: Any, table: Floats, *, evaluations: int = 40, random_state: int = 0
) -> tuple[TablePair, Replayed]:
    """Climb to the row whose addition, or replacement of the first, loses most.

    Each step moves one coordinate by 1/2, 1/4, ... of the box and stays if the loss grew.

    Parameters
    ----------
    model
        A private estimator, not fitted, on rows and not on people.
    table
        The rows.
    evaluations
        How many pairs are replayed.
    random_state
        The seed of the first row and of the fits.
    """
    box, rng = numeric_box(model.domain), np.random.default_rng(random_state)

    def losing(row: Floats) -> tuple[TablePair, Replayed]:
        pair = _pair_of(model, "the worst row that was found", table, row, rng)
        return pair, replay(model, pair.table, pair.neighbour, random_state=random_state)

    row = rng.uniform(box.low, box.high)
    best = losing(row)
    moves = _moves(box)
    for _ in range(evaluations - 1):
        if best[1].faults:
            break
        trial = box.clip((row + next(moves))[None])[0]
        candidate = losing(trial)
        if _amount(candidate[1]) > _amount(best[1]):
            row, best = trial, candidate
    return best


def _moves(box: Box) -> Iterator[Floats]:
    """Yield moves along each axis, both ways, ever smaller, and then again."""
    while True:
        for halvings in range(1, 6):
            for axis in range(box.d):
                for sign in (1, -1):
                    move = np.zeros(box.d)
                    move[axis] = sign * (box.high[axis] - box.low[axis]) / 2**halvings
                    yield move


def _amount(replayed: Replayed) -> float:
    if replayed.faults:
        return math.inf
    return max(each.worst + sum(step.mean for step in each.steps) for each in replayed.passes)


def _table(box: Box, size: int, rng: np.random.Generator) -> Floats:
    """Return rows of two or three groups, evenly spread ones, or one row many times."""
    kind = int(rng.integers(3))
    if kind == 0:
        return rng.uniform(box.low, box.high, (size, box.d))
    if kind == 1:
        return np.tile(rng.uniform(box.low, box.high), (size, 1))
    centers = rng.uniform(box.low, box.high, (int(rng.integers(2, 4)), box.d))
    spread = 0.03 * (np.asarray(box.high) - box.low)
    drawn = centers[rng.integers(len(centers), size=size)] + spread * rng.normal(size=(size, box.d))
    return np.asarray(box.clip(drawn))


def _pair_of(
    model: Any, about: str, table: Floats, row: Floats, rng: np.random.Generator
) -> TablePair:
    """Return the pair that a row, or a person of such rows, makes under the model's promise."""
    promise = model._promise()
    replaced = getattr(promise, "neighbours", "add-remove") == "replace-one"
    first = rng.integers(2) and not replaced
    person, limit = person_and_limit(model.domain)
    if person is None or limit is None:
        rest = table[1:] if replaced else table
        old = _one_row(table, row) if replaced else table
        rows = [row[None], rest] if first or replaced else [rest, row[None]]
        return TablePair(about, old, np.vstack(rows))
    count = int(rng.choice([1, limit, limit + 1, _ROWS_OF_SOMEBODY]))
    spread = 0.2 * (np.asarray(numeric_box(model.domain).high) - numeric_box(model.domain).low)
    own = np.vstack([row[None], row + spread * rng.normal(size=(count - 1, len(row)))])
    others = _people(table, rng)
    before = own[::-1] / 2 if replaced else own[:0]
    old, new = (_owned(model.domain, person, table, others, mine) for mine in (before, own))
    return TablePair(f"{about}, of a person of {count} rows", old, new)


def _one_row(table: Floats, row: Floats) -> Floats:
    """Return the table, or one of a single row in place of an empty one."""
    return table if len(table) else np.zeros((1, len(row))) + np.nan_to_num(row, posinf=0) / 2


def _people(table: Floats, rng: np.random.Generator) -> list[str]:
    """Return whose each row is: people of one to four rows."""
    return [f"p{int(rng.integers(1 + len(table) // 2))}" for _ in table]


def _owned(domain: Schema, person: str, table: Floats, others: list[str], mine: Floats) -> Any:
    """Return columns by name, with the rows of one more person at the end."""
    rows = np.vstack([table, mine])
    columns = dict(zip(domain.box.names, rows.T.tolist(), strict=True))
    return {**columns, person: [*others, *["somebody"] * len(mine)]}


def _at_corner(box: Box, table: Floats, rng: np.random.Generator) -> Floats:
    return np.where(rng.integers(2, size=box.d), box.high, box.low)


def _twice(box: Box, table: Floats, rng: np.random.Generator) -> Floats:
    return table[0].copy() if len(table) else _anywhere(box, table, rng)


def _anywhere(box: Box, table: Floats, rng: np.random.Generator) -> Floats:
    return np.asarray(rng.uniform(box.low, box.high))


def _on_edge(box: Box, table: Floats, rng: np.random.Generator) -> Floats:
    cells = rng.choice(_EDGES, box.d)
    return np.asarray(box.low + (np.asarray(box.high) - box.low) * rng.integers(cells + 1) / cells)


def _beside_edge(box: Box, table: Floats, rng: np.random.Generator) -> Floats:
    return np.asarray(np.nextafter(_on_edge(box, table, rng), rng.choice([-np.inf, np.inf])))


def _beyond(box: Box, table: Floats, rng: np.random.Generator) -> Floats:
    return np.asarray(rng.choice([-1e300, 1e300], box.d))


def _not_a_number(box: Box, table: Floats, rng: np.random.Generator) -> Floats:
    row = _anywhere(box, table, rng)
    row[int(rng.integers(box.d))] = rng.choice([np.nan, np.inf])
    return row


def _between(box: Box, table: Floats, rng: np.random.Generator) -> Floats:
    """Halfway between two rows: as far from one group as from the other."""
    if len(table) < 2:
        return np.asarray((np.asarray(box.low) + box.high) / 2)
    return np.asarray(table[rng.integers(len(table), size=2)].mean(axis=0))


def _at_median_radius(box: Box, table: Floats, rng: np.random.Generator) -> Floats:
    """As far from the middle of all rows as half of them are."""
    if not len(table):
        return _anywhere(box, table, rng)
    middle = table.mean(axis=0)
    radius = np.median(np.linalg.norm(table - middle, axis=1))
    direction = rng.normal(size=box.d)
    return np.asarray(middle + radius * direction / np.linalg.norm(direction))


PLACES: dict[str, Place] = {
    "at a corner": _at_corner,
    "twice": _twice,
    "on a cell's edge": _on_edge,
    "beside a cell's edge": _beside_edge,
    "beyond the box": _beyond,
    "not a number": _not_a_number,
    "between two others": _between,
    "at the median radius": _at_median_radius,
    "anywhere": _anywhere,
}
