"""Score groups of a mixed table beside plain k-prototypes and the same method without data."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.exceptions import NotFittedError

from shoal.arrays import Floats, Integers
from shoal.cluster.prototypes._search import find_prototypes
from shoal.cluster.prototypes.held_rows import hold_rows
from shoal.cluster.prototypes.mixed_cost import MixedRows, Prototypes
from shoal.domain import Schema
from shoal.errors import InvalidSetting
from shoal.evaluate.checks import check_labels, check_same_length
from shoal.evaluate.mixed import gower_silhouette
from shoal.evaluate.score_table import (
    SCHEMA,
    Clustering,
    Comparison,
    Score,
    agreement_scores,
    controls_of,
)

_STARTS = 10  # of plain k-prototypes


class ScoredPrototypes:
    """What models with prototypes have for ``evaluate.score``: a table of scores of their groups.

    Classes that use it have ``domain``, a schema, and ``_prototypes`` once they are fitted.
    """

    domain: Any
    _prototypes: Prototypes

    def score_table(
        self, rows: Any, *, against: Any = None, control: Any = None, random_state: int = 0
    ) -> pa.Table:
        """Score the groups as ``evaluate.score`` does; the table is for the holder of the rows.

        Parameters
        ----------
        rows
            A table with the model's columns, or rows held already.
        against
            Labels, or a model with prototypes; left out, plain k-prototypes with as many groups.
        control
            One or several models or labels made without data.
        """
        if not hasattr(self, "_prototypes"):
            raise NotFittedError(f"This {type(self).__name__} has no prototypes yet.")
        if rows is None:
            raise InvalidSetting("A model needs rows to label.", "Give rows=X.")
        held = rows if isinstance(rows, MixedRows) else hold_rows(rows, every_row(self.domain))
        own = _clustering(held, self)
        plain = self._plain(held, against, random_state)
        controls = tuple(_clustering(held, one) for one in controls_of(control))
        comparison = Comparison(own, plain, controls, own.shuffled(random_state))
        lines = [comparison.line(score) for score in _scores(held, plain, random_state)]
        return pa.Table.from_pylist(lines, schema=SCHEMA)

    def _plain(self, held: MixedRows, against: Any, seed: int) -> Clustering:
        if against is not None:
            return _clustering(held, against)
        rng = np.random.default_rng(seed)
        prototypes = find_prototypes(held, len(self._prototypes), rng, _STARTS)
        return _of_prototypes(held, prototypes)


def every_row(domain: Schema) -> Schema:
    """Return the schema without limits on people: scores are about every row."""
    return replace(domain, entity=None, max_rows_per_person=None)


def _clustering(held: MixedRows, of: Any) -> Clustering:
    """Return the groups of a model with prototypes, or labels as given."""
    if hasattr(of, "_prototypes"):
        return _of_prototypes(held, of._prototypes)
    labels = check_labels(of)
    check_same_length(held.numbers, labels, "labels")
    return Clustering(labels)


def _of_prototypes(held: MixedRows, prototypes: Prototypes) -> Clustering:
    """Return labels, and prototypes as points whose squared distances are costs."""
    points = MixedRows(held.columns, prototypes.numbers, prototypes.codes).points
    return Clustering(held.labels(prototypes), points)


def _scores(held: MixedRows, plain: Clustering, seed: int) -> Iterator[Score]:
    yield from agreement_scores(plain)
    yield Score("gower_silhouette", "higher", lambda one: _silhouette(held, one.labels, seed))
    if plain.centers is not None:
        least = _cost(held, plain.centers)
        yield Score("normalised_cost", "lower", _CostRatio(held, least), of_labels=False)


def _silhouette(held: MixedRows, labels: Integers, seed: int) -> float:
    columns = held.columns
    return gower_silhouette(
        held.numbers,
        held.codes,
        labels,
        number_weights=columns.number_weights,
        category_weights=columns.category_weights,
        random_state=seed,
    )


@dataclass(frozen=True, eq=False)
class _CostRatio:
    """The mixed cost over that of plain prototypes; NaN if those cost nothing and these do."""

    held: MixedRows
    least: float

    def __call__(self, one: Clustering) -> float:
        assert one.centers is not None
        cost = _cost(self.held, one.centers)
        if self.least > 0:
            return cost / self.least
        return 1.0 if cost == 0 else math.nan


def _cost(held: MixedRows, centers: Floats) -> float:
    squares = np.square(held.points).sum(axis=1)
    nearest = np.full(len(held), np.inf)
    for center in centers:
        apart = squares - 2 * (held.points @ center) + center @ center
        np.minimum(nearest, apart, out=nearest)
    return float(np.maximum(nearest, 0.0).sum())
