"""Pairs of neighbouring tables of numbers and categories that a fit is replayed on."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.domain import Schema

Row = dict[str, Any]
_SIZES = (0, 1, 12, 60, 200)
_PLACES = (
    "of first categories at the lower bounds",
    "of last categories at the upper bounds, which no other row has",
    "that many other rows equal",
    "beyond the bounds",
    "with whatever may be missing missing",
    "drawn like the others",
)


def mixed_pairs(model: Any, pairs: int, random_state: int) -> Iterator[tuple[str, Any, Any]]:
    """Yield what a pair is, and two tables that the promise of a model compares.

    Parameters
    ----------
    model
        A private estimator of mixed tables, not fitted: its schema and promise are read.
    """
    schema: Schema = model.domain
    replaced = getattr(model._promise(), "neighbours", "add-remove") == "replace-one"
    for number in range(pairs):
        rng = np.random.default_rng([random_state, number])
        size, place = _SIZES[number % len(_SIZES)], number % len(_PLACES)
        others = [_drawn(schema, rng, unseen=place == 1) for _ in range(size)]
        row = _row(schema, place, rng)
        if place == 2:
            others = [row] * size
        instead = [_drawn(schema, rng)] if replaced else []
        about = f"{size} row{'s' * (size != 1)}, one {_PLACES[place]}"
        yield about, _table(schema, [*others, row], rng), _table(schema, [*others, *instead], rng)


def _drawn(schema: Schema, rng: np.random.Generator, unseen: bool = False) -> Row:
    """Return a random row; the last category of each column is left out if it is to be unseen."""
    row: Row = {}
    for name in schema.columns:
        if name in schema.bounds:
            row[name] = float(rng.uniform(*schema.bounds[name]))
        else:
            values = schema.categories[name].values
            row[name] = values[int(rng.integers(max(1, len(values) - unseen)))]
    return row


def _row(schema: Schema, place: int, rng: np.random.Generator) -> Row:
    """Return the row that one of two tables has more."""
    row = _drawn(schema, rng)
    for name in schema.columns:
        if name in schema.bounds:
            low, high = schema.bounds[name]
            ends = {0: low, 1: high, 3: high + 10 * (high - low)}
            row[name] = ends.get(place, row[name])
        elif place in (0, 1):
            row[name] = schema.categories[name].values[-place]
    return _with_missing(schema, row) if place == 4 else row


def _with_missing(schema: Schema, row: Row) -> Row:
    may_lack = {*schema.missing} | {n for n, c in schema.categories.items() if c.other == "bucket"}
    return {name: None if name in may_lack else value for name, value in row.items()}


def _table(schema: Schema, rows: list[Row], rng: np.random.Generator) -> pa.Table:
    kinds = {
        name: pa.float64() if name in schema.bounds else pa.string() for name in schema.columns
    }
    columns = {
        name: pa.array(
            [v if v is None or name in schema.bounds else str(v) for v in (r[name] for r in rows)],
            kind,
        )
        for name, kind in kinds.items()
    }
    if schema.person is not None:  # everyone has one row; limits are replayed with numbers
        columns[schema.person] = pa.array(np.arange(len(rows)))
    return pa.table(columns)
