"""Intervals of private k-means: the same fit, run again on rows drawn from what it released."""

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from shoal.arrays import Floats
from shoal.cluster._simulate import StandInRows, refit, unfitted
from shoal.cluster.intervals._half_widths import (
    Deviations,
    distance_to_next,
    half_widths,
    match_centers,
)
from shoal.cluster.intervals._result import RATE, Intervals, total_interval
from shoal.cluster.intervals._row_model import RowModel, made_up_rows
from shoal.cluster.kmeans._budget_plan import FEW_AXES
from shoal.estimator import promise_to_settings, unfitted_copy
from shoal.privacy import ApproxDP, PureDP
from shoal.randomness import Randomness
from shoal.synopsis import Synopsis

Draw = Callable[[int, np.random.Generator], Floats]

# How many refits, and how many before them that fit the spread: docs/decisions/intervals.md. A fit
# of many rows takes little longer than a refit, and its intervals should not take far longer.
_REFITS, _TRIALS = 8, 2
_MANY_ROWS, _FEWER_REFITS, _FEWER_TRIALS = 200_000, 3, 1
# A radius is drawn among candidates that are 2^(1/2) apart: within it, cells are believed.
_RADIUS_LOW, _RADIUS_HIGH = 2**-0.25, 2**0.25
_LLOYD_MOVES, _STARTS = 50, 3
_LEAST_ROWS = 8  # for each group, so that plain k-means finds as many
# Refits of the cells as they are, and how much further apart than others they are for nothing.
_ROUGH_REFITS, _ROUGHNESS = 5, 2.0
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
        wide[is_certain], of_sizes[is_certain] = _SHORTER * refitted[is_certain], sizes[is_certain]
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
    synopsis, d = model.synopsis_, model.box.d
    # In a view of many columns cells are halves of its axes: they tell no spread.
    if synopsis is None or d > FEW_AXES or not len(synopsis.cells_):
        return RowModel.without_cells(centers, sizes)
    low, high = synopsis.cells_.low, synopsis.cells_.high
    view = synopsis.view_
    if view is None:
        low, high = model.box.scale(low, -1, 1), model.box.scale(high, -1, 1)
    else:  # its axes are the columns themselves
        low, high = view.center + view.width * low, view.center + view.width * high
    return RowModel.from_cells(centers, sizes, low, high, synopsis.cells_.weight)


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
    """Half widths by refits of groups about the centres, or of the cells as they are.

    Groups about their centres have those centres for an optimum: where a table has no gaps, fits
    lie further apart than refits of them. The cells have no groups but their own. They are rougher
    than rows, so refits of them count only where they lie far further apart.
    """
    rng = Randomness(_seed_of(model))
    rows = released_rows(model, rng)
    refits = _REFITS if model.n_rows_ <= _MANY_ROWS else _FEWER_REFITS
    about = [_deviation(_refit(model, rows.draw, rng), centers) for _ in range(refits)]
    wide, of_sizes = half_widths(Deviations.of(about), centers, RATE)
    if not rows.has_cells:
        return wide, of_sizes
    rough = [
        _deviation(_refit(model, rows.draw_from_cells, rng), centers, anywhere=True)
        for _ in range(_ROUGH_REFITS)
    ]
    at_cells, of_cells = half_widths(Deviations.of(rough), centers, RATE)
    return np.maximum(wide, at_cells / _ROUGHNESS), np.maximum(of_sizes, of_cells / _ROUGHNESS)


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


def _deviation(refit: _MadeUpFit, centers: Floats, anywhere: bool = False) -> tuple[Floats, Floats]:
    """What a refit released less what plain k-means finds in its rows.

    Parameters
    ----------
    anywhere
        Whether it starts from elsewhere, too. A centre that is then found nearer to another place
        than to its own is as far off as can be.
    """
    plain = _plain_kmeans(refit.rows, centers, init=centers, n_init=1)
    if anywhere:
        other = _plain_kmeans(refit.rows, centers, n_init=_STARTS, random_state=0)
        plain = min(plain, other, key=lambda fit: fit.inertia_)
    own = match_centers(centers, plain.cluster_centers_)
    plain_centers = plain.cluster_centers_[own]
    sizes = np.bincount(plain.labels_, minlength=len(centers))[own] * refit.stands_for
    released = refit.model._scaled_centers()
    match = match_centers(plain_centers, released)
    moved = np.linalg.norm(plain_centers - centers, axis=1) > distance_to_next(centers) / 2
    at = np.where(moved[:, None] & anywhere, np.inf, released[match] - plain_centers)
    return at, refit.model.cluster_sizes_[match] - sizes


def _plain_kmeans(rows: Floats, centers: Floats, **settings: Any) -> KMeans:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(len(centers), max_iter=_LLOYD_MOVES, **settings).fit(rows)


def _seed_of(model: Any) -> int:
    """A number that follows from what was released, the same for a model that was loaded."""
    digest = hashlib.blake2b(digest_size=8)
    for numbers in (model.cluster_centers_, model.cluster_sizes_):
        digest.update(np.ascontiguousarray(numbers, dtype=np.float64).tobytes())
    return int.from_bytes(digest.digest(), "little")
