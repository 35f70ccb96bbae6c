"""Intervals of private k-means: the same fit, run again on rows drawn from what it released."""

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import t as student
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from shoal.arrays import Floats
from shoal.cluster._simulate import StandInRows, refit, unfitted
from shoal.cluster.intervals._half_widths import (
    PRIOR,
    Deviations,
    distance_to_next,
    half_widths,
    match_centers,
)
from shoal.cluster.intervals._near_ties import find_near_ties
from shoal.cluster.intervals._result import RATE, Intervals, total_interval
from shoal.cluster.intervals._row_model import RowModel, WholeColumns, made_up_rows
from shoal.cluster.kmeans._budget_plan import FEW_AXES
from shoal.domain import Box, Schema
from shoal.estimator import promise_to_settings, unfitted_copy
from shoal.privacy import ApproxDP, PureDP
from shoal.randomness import Randomness
from shoal.synopsis import Synopsis

Draw = Callable[[int, np.random.Generator], Floats]

# How many refits, and how many before them that fit the spread: docs/decisions/intervals.md. A fit
# of many rows takes little longer than a refit, and its intervals should not take far longer.
_REFITS, _TRIALS = 3, 2
_MANY_ROWS, _FEWER_TRIALS = 200_000, 1
# A radius is drawn among candidates that are 2^(1/2) apart: within it, cells are believed.
_RADIUS_LOW, _RADIUS_HIGH = 2**-0.25, 2**0.25
_LLOYD_MOVES = 50
_LEAST_ROWS = 8  # for each group, so that plain k-means finds as many
# Parts of the variance of groups that may lie along the scatter of the centres, in many columns;
# rows that are drawn to choose among them, and cells that are compared.
_PARTS_ALONG, _PART_ROWS, _MOST_COMPARED = (0.0, 0.3, 0.6, 0.9), 2_000, 200
_AT_EDGE = 1e-9  # what a view moves to its surface lies in the last cell
# Of a width by refits: more than nine in ten held without it.
_SHORTER = 0.93
_OF_REPORTS = "The cells are those of local reports, whose noise is drawn by other rules."


def kmeans_intervals(model: Any) -> Intervals:
    """Return intervals of a fitted ``PrivateKMeans``, from what it released alone.

    Rows are drawn about the released centres. The method is run on them under the same promise, and
    its centres are compared with those of plain k-means of the same rows. No row of the table is
    read and no ledger is written; the seed is a digest of the released numbers, so that a model
    that was saved and loaded has the same intervals.

    Parameters
    ----------
    model
        A fitted or loaded ``PrivateKMeans``.
    """
    box, centers = model.box, model._scaled_centers()
    total = total_interval(model.n_rows_, model.n_rows_within_)
    wide, of_sizes = np.full(centers.shape, np.nan), np.full(len(centers), np.nan)
    if not isinstance(model.guarantee_, PureDP | ApproxDP):
        return Intervals(wide, wide, of_sizes, of_sizes, *total, missing=_OF_REPORTS)
    # What may be nobody lies where the method puts groups by itself: refits agree for no reason.
    if (is_certain := model.is_certain_).any():
        refitted, sizes = _half_widths(model, centers)
        wide[is_certain], of_sizes[is_certain] = refitted[is_certain], sizes[is_certain]
    low, high = (box.unscale(np.clip(centers + way * wide, -1, 1), -1, 1) for way in (-1, 1))
    sizes = model.cluster_sizes_
    return Intervals(low, high, np.maximum(sizes - of_sizes, 0), sizes + of_sizes, *total)


def row_model_of(model: Any) -> RowModel:
    """Return where rows lie as far as the model's release tells.

    Parameters
    ----------
    model
        A fitted ``PrivateKMeans``.
    """
    centers, sizes = model._scaled_centers(), model.cluster_sizes_
    synopsis, whole = model.synopsis_, _whole_columns(model)
    # In a view of many columns cells are halves of its axes: they tell no spread.
    if synopsis is None or model.box.d > FEW_AXES or not len(synopsis.cells_):
        return replace(RowModel.without_cells(centers, sizes), whole=whole)
    low, high = synopsis.cells_.low, synopsis.cells_.high
    view = synopsis.view_
    if view is None:
        low, high = model.box.scale(low, -1, 1), model.box.scale(high, -1, 1)
    else:  # its axes are the columns themselves
        low, high = view.center + view.width * low, view.center + view.width * high
    made = RowModel.from_cells(centers, sizes, low, high, synopsis.cells_.weight)
    return replace(made, whole=whole)


def _whole_columns(model: Any) -> WholeColumns | None:
    """Return which columns the schema says to hold whole numbers; None if it says so of none."""
    named = model.domain.whole if isinstance(model.domain, Schema) else ()
    is_whole = tuple(name in named for name in model.box.names)
    return WholeColumns(model.box, is_whole) if any(is_whole) else None


def released_rows(model: Any, rng: Randomness) -> RowModel:
    """Return where rows lie, as wide as the cells and the noise of the last step tell.

    Parameters
    ----------
    model
        A fitted ``PrivateKMeans``.
    rng
        Seeded: refits that fit the width are drawn from it.
    """
    rows = row_model_of(model)
    if not isinstance(model.guarantee_, PureDP | ApproxDP):
        return rows
    return _with_released_spread(model, rows, rng)


@dataclass(frozen=True, eq=False)
class _MadeUpFit:
    """A fit of made-up rows."""

    model: Any
    rows: Floats
    stands_for: float  # rows that each of them counts as
    took_steps: bool


def _half_widths(model: Any, centers: Floats) -> tuple[Floats, Floats]:
    """Half widths by refits of groups about the centres, and by near ties where cells show them.

    Groups about their centres have those centres for an optimum: where a table has no gaps, fits
    lie further apart than refits of them. So the larger of the two counts.
    """
    rng = Randomness(_seed_of(model))
    rows = released_rows(model, rng)
    about = [_deviation(_refit(model, rows.draw, rng), centers) for _ in range(_REFITS)]
    draw = rows.draw_from_cells
    if not rows.has_cells:
        longer = _along_centers(model, rows, rng)
        if longer is not rows:
            about += [_deviation(_refit(model, longer.draw, rng), centers) for _ in range(_REFITS)]
        draw = longer.draw
    wide, of_sizes = half_widths(Deviations.of(about), centers, RATE)
    n, sizes = max(int(model.n_rows_), 1), model.cluster_sizes_
    ties = find_near_ties(draw, centers, sizes, n, rng.compute)
    reach = student.ppf((1 + RATE) / 2, _REFITS + PRIOR)
    wide = np.maximum(_SHORTER * wide, reach * np.sqrt(ties.centers))
    unstable = ties.is_unstable | (wide.max(axis=1) > distance_to_next(centers) / 2)
    wide[unstable] = np.nan
    of_sizes = np.maximum(of_sizes, reach * np.sqrt(ties.sizes))
    return wide, np.where(np.isnan(wide).any(axis=1), np.nan, of_sizes)


def _along_centers(model: Any, rows: RowModel, rng: Randomness) -> RowModel:
    """Return groups that lie along the scatter of the centres, if any part of their variance does.

    The part is the next larger than the one whose rows fill the released cells best.
    """
    synopsis = model.synopsis_
    if synopsis is None or synopsis.view_ is None or not len(synopsis.cells_):
        return rows
    errors = [
        _cells_apart(synopsis, model.box, rows.along_centers(part).draw(_PART_ROWS, rng.compute))
        for part in _PARTS_ALONG
    ]
    best = int(np.argmin(errors))
    longer = len(_PARTS_ALONG) - 1 if best else 0
    return rows.along_centers(_PARTS_ALONG[longer]) if longer else rows


def _cells_apart(synopsis: Synopsis, box: Box, rows: Floats) -> float:
    """The squared difference between the shares of rows in released cells and those released."""
    assert synopsis.view_ is not None
    seen = synopsis.view_.apply(box.unscale(rows, -1, 1))
    cells = synopsis.cells_
    heaviest = np.argsort(-cells.weight)[:_MOST_COMPARED]
    inside = (cells.low[heaviest, None] <= seen) & (seen < cells.high[heaviest, None] + _AT_EDGE)
    drawn = inside.all(axis=2).mean(axis=1)
    released = cells.weight[heaviest] / max(float(cells.weight.sum()), 1.0)
    return float(np.square(drawn - released).sum())


def _with_released_spread(model: Any, rows: RowModel, rng: Randomness) -> RowModel:
    """Stretch the groups until refits expect the noise that the release expected.

    The noise of the last step goes with the radius that was drawn for it, and that with the spread
    of the rows. In few columns the cells show the spread, too, and are believed within the width
    of a candidate.
    """
    for _ in range(_TRIALS if model.n_rows_ <= _MANY_ROWS else _FEWER_TRIALS):
        refit = _refit(model, rows.draw, rng)
        if not refit.took_steps:
            return rows
        match = match_centers(rows.centers, refit.model._scaled_centers())
        times = float(np.median(_noise(model) / _noise(refit.model)[match]))
        if rows.has_cells:
            times = float(np.clip(1.0, _RADIUS_LOW * times, _RADIUS_HIGH * times))
        rows = replace(rows, scale=rows.scale * times)
    return rows


def _noise(model: Any) -> Floats:
    """The noise in a sum of offsets: that of a mean, times the number of rows."""
    noise: Floats = model.expected_error_ * np.maximum(model.cluster_sizes_, 1)
    return np.maximum(noise, np.finfo(float).tiny)


def _refit(model: Any, draw: Draw, rng: Randomness) -> _MadeUpFit:
    """Run the model's method on rows drawn anew, with noise drawn anew."""
    n = max(int(model.n_rows_), 1)
    rows = draw(max(made_up_rows(n), _LEAST_ROWS * model.n_clusters_), rng.compute)
    stand_in = StandInRows(model.box.unscale(rows, -1, 1), n, model.box)
    again = refit(_unfitted(model, rng.seed()), stand_in)
    steps = any(name.startswith("means of clusters") for name in again.releases)
    return _MadeUpFit(again.model, rows, n / len(rows), steps)


def _unfitted(model: Any, seed: int) -> Any:
    """The same method, not fitted, for the number of clusters that was chosen."""
    settings: dict[str, Any] = {"spark_kmeans": "sklearn"}
    if _is_from_synopsis(model):
        settings |= {"method": _cells_alone(model.synopsis_), "n_public": model.synopsis_.n_public}
    return unfitted(model, random_state=seed, **settings)._with_number(model.n_clusters_)


def _cells_alone(synopsis: Synopsis) -> Synopsis:
    """A synopsis as a method, without the promise and bounds that it leaves to the model."""
    usual = type(synopsis)()
    shared = {name: getattr(usual, name) for name in Synopsis._get_param_names()}
    return unfitted_copy(synopsis).set_params(**shared)  # type: ignore[no-any-return]


def _is_from_synopsis(model: Any) -> bool:
    """Whether it clustered a synopsis that had been released for the whole promise."""
    synopsis: Synopsis | None = model.synopsis_
    if synopsis is None or model.refine or model.method != "auto" or model.n_public is not None:
        return False
    return promise_to_settings(model) == promise_to_settings(synopsis)


def _deviation(refit: _MadeUpFit, centers: Floats) -> tuple[Floats, Floats]:
    """What a refit released less what plain k-means finds in its rows."""
    plain = _plain_kmeans(refit.rows, centers)
    own = match_centers(centers, plain.cluster_centers_)
    plain_centers = plain.cluster_centers_[own]
    sizes = np.bincount(plain.labels_, minlength=len(centers))[own] * refit.stands_for
    released = refit.model._scaled_centers()
    match = match_centers(plain_centers, released)
    return released[match] - plain_centers, refit.model.cluster_sizes_[match] - sizes


def _plain_kmeans(rows: Floats, centers: Floats) -> KMeans:
    """Plain k-means of the rows, from these centres."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(len(centers), init=centers, n_init=1, max_iter=_LLOYD_MOVES).fit(rows)


def _seed_of(model: Any) -> int:
    """A number that follows from what was released, the same for a model that was loaded."""
    digest = hashlib.blake2b(digest_size=8)
    for numbers in (model.cluster_centers_, model.cluster_sizes_):
        digest.update(np.ascontiguousarray(numbers, dtype=np.float64).tobytes())
    return int.from_bytes(digest.digest(), "little")
