"""The base class of synopses: what can be done with released cells once they are fitted."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, cast

import numpy as np
import pyarrow as pa
from sklearn.utils.validation import check_is_fitted

from shoal.arrays import Floats, Integers
from shoal.bounds_check import BoundsCheck, Clipping
from shoal.domain import Box, FarGrid, Schema, View, ZoomedGrid
from shoal.errors import InvalidSetting, UnknownColumn, quantity, setting
from shoal.estimator import (
    ROW_COUNT_SHARE,
    PrivateEstimator,
    Spending,
    promise_from_settings,
    promise_to_settings,
)
from shoal.figures import Figure, bars, cell_map, mosaic, raster_of_cells
from shoal.privacy import ApproxDP, LedgerOrPath, PureDP, guarantee_of, whole_number
from shoal.randomness import Seed
from shoal.synopsis._count_weights import Negative, weights_of
from shoal.synopsis._range_count import RangeCount, count_range, range_of
from shoal.synopsis.cells import AllCells, BoxCells, Cells, Estimates
from shoal.synopsis.folder import CELLS, DOCUMENT, SCHEMA, load_synopsis, read_box, save_synopsis

_MOST_DENSE_CELLS = 2**24  # the most cells the engine counts in one array

_MOST_TILES = 10_000  # as separate shapes; a picture of more is drawn as a raster


class Synopsis(PrivateEstimator):
    """Base class of private summaries: noisy counts of cells over a public box.

    ``fit`` pays once. Whatever is read off the fitted synopsis afterwards, weights, clusters for
    any number of clusters, synthetic points, pictures, costs nothing more.

    Parameters
    ----------
    epsilon
        The budget of one ``fit``, short for ``privacy=PureDP(epsilon)``.
    privacy
        The whole promise. Give this or ``epsilon``.
    domain
        Public bounds, to which rows are moved.
    clipping
        "stop" refuses bounds that many rows lie outside of; "accept" goes on and says so.
    n_public
        The number of rows, if it is known without them; never read it off the rows.
    nonfinite
        What NaN does: "refuse" the table, or "drop" the row.
    ledger
        Where the promise is written and added up; None keeps no record.
    random_state
        A seed makes the fit a simulation, marked as such; None draws real noise.

    Attributes
    ----------
    cells_
        The cells that are kept, each with its corners, noisy count and weight.
    n_cells_
        How many cells were counted, dropped ones included.
    n_rows_
        The noisy number of rows, or the public one.
    noise_variance_
        Of the noise in one weight.
    view_
        How rows were looked at before they were counted, or None; corners are then the view's.
    guarantee_
        What was promised to each person.
    """

    cells_: Cells
    n_cells_: int
    n_rows_: int
    noise_variance_: float
    view_: View | None
    guarantee_: Any
    negative: Negative
    _estimates: Estimates | None = None  # of all cells, after a dense count in this process
    _all_cells: AllCells | None = None  # what they added up to, also of a synopsis that was loaded
    _beyond_view: AllCells | None = None  # what those beyond the view of a zoomed grid added up to

    def __init__(
        self,
        *,
        epsilon: Any = None,
        privacy: PureDP | None = None,
        domain: Box | Schema | None = None,
        clipping: Clipping = "stop",
        n_public: int | None = None,
        nonfinite: Literal["refuse", "drop"] = "refuse",
        ledger: LedgerOrPath | None = None,
        random_state: Seed = None,
    ) -> None:
        self.epsilon = epsilon
        self.privacy = privacy
        self.domain = domain
        self.clipping = clipping
        self.n_public = n_public
        self.nonfinite = nonfinite
        self.ledger = ledger
        self.random_state = random_state

    def _begin(self, spending: Spending) -> Spending:
        """Check the settings before a row is read, then count the rows."""
        self._check_settings(spending.box)
        spending = spending.after(self._count_rows(spending))
        assert spending.n_rows is not None
        self.n_rows_, self.view_ = spending.n_rows, spending.view
        return spending

    @abstractmethod
    def _check_settings(self, box: Box) -> None:
        """Refuse bad settings before any row is read."""

    def _store_cells(
        self,
        cells: BoxCells,
        keys: Integers,
        noisy_counts: Integers,
        noise_variance: float,
        *,
        estimates: Floats | None = None,
        threshold: float | None = None,
        step: float | None = None,
        inside: Integers | None = None,
        zoom: ZoomedGrid | FarGrid | None = None,
    ) -> Self:
        """Store the cells whose count, or better estimate, is worth a weight.

        Parameters
        ----------
        estimates
            The counts after consistency, if that was applied.
        threshold
            For ``negative="threshold"``; left out, what half an empty cell in all would pass.
        step
            What one unit of noise in a count costs, where all cells were released.
        inside, zoom
            How many fine cells each coarse cell has, where they were made consistent, and the
            cells, if some lie beyond a view; see ``Estimates``.
        """
        if threshold is None:
            # Laplace noise exceeds b ln(m) in half a cell of m on average.
            threshold = math.sqrt(noise_variance / 2) * math.log(cells.size)
        numbers = np.asarray(noisy_counts if estimates is None else estimates, np.float64)
        # Those of an earlier fit were paid for there.
        self._estimates = self._all_cells = self._beyond_view = None
        if step is not None:
            self._estimates = Estimates(cells, numbers, step, inside, zoom)
            self._all_cells = self._estimates.all_cells()
            self._beyond_view = self._estimates.beyond_view()
            numbers = self._estimates.without_faint(numbers)
        weights = weights_of(numbers, self.n_rows_, self.negative, threshold)
        occupied = np.flatnonzero(weights)
        low, high = cells.bounds(keys[occupied])
        self.cells_ = Cells(keys[occupied], low, high, noisy_counts[occupied], weights[occupied])
        self.n_cells_ = cells.size
        self.noise_variance_ = noise_variance
        return self

    def rows_within(self) -> int:
        """Return the error of the row count in 95 of 100 releases, at most; 0 if it is public."""
        check_is_fitted(self)
        if self.n_public is not None or not isinstance(self.guarantee_, PureDP | ApproxDP):
            return 0
        # The sum of two geometric noises is beyond x / step in about (1 + x / 2) e^-x of draws.
        step = float(self.guarantee_.per_row().epsilon * ROW_COUNT_SHARE)
        return math.ceil(4.12 / step)

    def points(self) -> tuple[Floats, Floats]:
        """Return centres and weights of the cells, which weighted methods take in place of rows."""
        check_is_fitted(self)
        return self.cells_.centers, self.cells_.weight

    @property
    def noise_variance(self) -> float:
        """The variance of the noise in one weight, on average over the cells."""
        check_is_fitted(self)
        return self.noise_variance_

    def within_cells(self) -> float:
        """Estimate the squared distance of rows to the centres of their cells, summed.

        What an inertia computed from ``points`` lacks: an estimate.
        """
        check_is_fitted(self)
        # The variance of an even spread over a side is a twelfth of its square.
        squares = ((self.cells_.high - self.cells_.low) ** 2).sum(axis=1) / 12
        return float(self.cells_.weight @ squares)

    def sample(self, n: int, rng: Seed = None) -> Floats:
        """Draw synthetic points: cells by weight, places in a cell evenly.

        Parameters
        ----------
        n
            How many.
        rng
            A generator or a seed; these draws protect nothing, so any will do.
        """
        check_is_fitted(self)
        draw, cells = np.random.default_rng(rng), self.cells_
        if len(cells):
            chosen = draw.choice(len(cells), size=n, p=cells.weight / cells.weight.sum())
            low, high = cells.low[chosen], cells.high[chosen]
        else:  # nothing is known but the box
            low, high = self._box.low, self._box.high
        return draw.uniform(low, high, size=(n, self._box.d))

    def range_count(self, bounds: Mapping[str, tuple[float, float]]) -> RangeCount:
        """Estimate how many rows lie in a range, with an interval, at no further cost.

        The interval holds the noise, and what is not known of where rows lie in the cells that the
        range cuts; columns in which rows share few values lie worse than it assumes.

        Parameters
        ----------
        bounds
            The two ends of some columns, e.g. ``{"age": (20, 30)}``; others are whole.

        Returns
        -------
        The count and the ends of its interval. Of a synopsis that was loaded, or of a sparse one,
        there is no interval: estimates of dropped cells are not kept.

        Examples
        --------
        >>> from shoal.synopsis import UniformGrid
        >>> rows = np.repeat([[0.1], [0.6]], 500, axis=0)
        >>> grid = UniformGrid(epsilon=1, domain=Box.unit(1), cells=4, random_state=7).fit(rows)
        >>> found = grid.range_count({"x0": (0, 0.5)})
        >>> found.low <= 500 <= found.high
        True
        """
        check_is_fitted(self)
        if self.view_ is not None:
            raise InvalidSetting(
                "The synopsis was counted through a view, so its cells are no ranges of columns.",
                "Fit a synopsis on the columns themselves.",
            )
        return count_range(self._estimates, self.cells_, *range_of(self.box, bounds))

    def plot(self, columns: Sequence[str] | None = None) -> Figure:
        """Draw a map of the cells over two columns, or bars over one.

        Parameters
        ----------
        columns
            Which, in order; left out, the first two. Cells in more columns are shown as what they
            add up to over these.
        """
        check_is_fitted(self)
        return picture_of(self.cells_, self._box, columns, self.n_rows_)

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Write the synopsis to a folder as ``cells.parquet`` and ``synopsis.json``.

        Parameters
        ----------
        folder
            A folder of its own.
        overwrite
            Whether a synopsis that is there may be replaced. Nothing else ever is.
        """
        return save_synopsis(self, folder, overwrite)

    @staticmethod
    def load(folder: str | Path) -> "Synopsis":
        """Read a synopsis that was saved; it is fitted, so using it costs nothing.

        Parameters
        ----------
        folder
            What ``save`` wrote.
        """
        return cast("Synopsis", load_synopsis(folder))

    def parts(self) -> dict[str, Any]:
        """Return what is saved, by file name: the cells' table, and plain values."""
        check_is_fitted(self)
        document = {
            "schema": SCHEMA,
            "class": type(self).__name__,
            "settings": self._settings(),
            "domain": self.box.to_dict(),
            "guarantee": self.guarantee_.to_dict(),
            "simulation": self.guarantee_.simulation,
            "n_rows": self.n_rows_,
            "n_cells": self.n_cells_,
            "noise_variance": self.noise_variance_,
            "view": None if self.view_ is None else self.view_.to_dict(),
            "all_cells": None if self._all_cells is None else self._all_cells._asdict(),
            "beyond_view": None if self._beyond_view is None else self._beyond_view._asdict(),
            "bounds_check": None if self.bounds_check_ is None else self.bounds_check_.to_dict(),
        }
        return {CELLS: self.cells_.to_table(self._box.names), DOCUMENT: document}

    @classmethod
    def _restore(cls, document: Mapping[str, Any], cells: pa.Table) -> Self:
        """Rebuild a synopsis from its ``parts``."""
        domain = read_box(document["domain"])
        synopsis = cls(**promise_from_settings(document["settings"], domain))
        view = document["view"]
        synopsis.view_ = None if view is None else View.of(domain, view)
        synopsis.cells_ = Cells.of_table(cells, synopsis._box.names)
        synopsis.n_rows_, synopsis.n_cells_ = document["n_rows"], document["n_cells"]
        synopsis.noise_variance_ = document["noise_variance"]
        if (together := document.get("all_cells")) is not None:
            synopsis._all_cells = AllCells(**together)
        if (beyond := document.get("beyond_view")) is not None:
            synopsis._beyond_view = AllCells(**beyond)
        synopsis.guarantee_ = guarantee_of(document["guarantee"])
        if (check := document.get("bounds_check")) is not None:
            synopsis.bounds_check_ = BoundsCheck.of(check)
        return synopsis

    def _settings(self) -> dict[str, Any]:
        """Return the parameters as plain values, without the domain and those of one run."""
        promise = {k: v for k, v in promise_to_settings(self).items() if k != "delta"}
        terms = {name: getattr(self, name) for name in ("clipping", "n_public", "nonfinite")}
        return dict(sorted((self._settings_of_cells() | terms | promise).items()))

    def _settings_of_cells(self) -> dict[str, Any]:
        """Return the parameters that only this kind of synopsis has."""
        names = self.get_params(deep=False).keys() - Synopsis._get_param_names()
        return {name: _plain(getattr(self, name)) for name in sorted(names)}

    @property
    def _box(self) -> Box:
        return self.box if self.view_ is None else self.view_.box


def _plain(value: Any) -> Any:
    """Return NumPy's numbers and lists as Python's, which JSON knows."""
    is_list = isinstance(value, np.ndarray | np.generic | list | tuple)
    return np.asarray(value).tolist() if is_list else value


def check_max_cells(max_cells: object) -> None:
    """Refuse a limit that is no usable number, before any row is read."""
    most = whole_number(max_cells)
    if most is None or not 1 <= most <= _MOST_DENSE_CELLS:
        raise InvalidSetting.of(
            "max_cells",
            f"must be a whole number from 1 to {_MOST_DENSE_CELLS:,}",
            2_000_000,
            max_cells,
        )


def picture_of(cells: Cells, box: Box, columns: Sequence[str] | None, n_rows: int) -> Figure:
    """Draw released cells: bars over one column, or a map over two.

    Parameters
    ----------
    columns
        Which columns to draw; None takes the first two.
    """
    at = _drawn_columns(box, columns)
    names = [box.names[i] for i in at]
    title = f"{quantity(len(cells), 'cell')} for about {quantity(n_rows, 'row')}"
    low, high, within = cells.low[:, at], cells.high[:, at], np.array([box.low[at], box.high[at]])
    if box.d == 1:
        return bars(low, high, cells.weight, name=names[0], within=within, title=title)
    if box.d == 2 and len(cells) <= _MOST_TILES:
        return mosaic(low, high, cells.weight, names=names, within=within, title=title)
    counts = raster_of_cells(low, high, cells.weight, within=within)
    return cell_map(counts, names=names, low=within[0], high=within[1], title=title)


def _drawn_columns(box: Box, columns: Sequence[str] | None) -> list[int]:
    """Return the indices of the columns to draw."""
    if columns is None:
        return list(range(min(box.d, 2)))
    wanted, some = list(columns), min(box.d, 2)
    if len(wanted) != some or len(set(wanted) & set(box.names)) != some:
        raise UnknownColumn(
            "The columns to draw must be different columns of the synopsis.",
            f"Name {some} of {', '.join(box.names)}, e.g. "
            + setting("columns", list(box.names[:some]))
            + ".",
        )
    return [box.names.index(name) for name in wanted]
