"""What every estimator with centres can do once it is fitted: label rows, be told, be kept."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from shoal.arrays import Floats, Integers
from shoal.cluster._description_cache import ComputedOnce
from shoal.cluster._groups_display import GroupsMixin
from shoal.cluster.choose import CostCurve
from shoal.cluster.figures import cells_of_synopsis, center_map
from shoal.cluster.group_sizes import NoiseSum
from shoal.cluster.intervals import Intervals
from shoal.cluster.kmeans._budget_plan import WEAK_STRENGTH, hardness, strength
from shoal.cluster.kmeans._kernels import Cube, Distances, Labels, LeastSquares, Nearest
from shoal.cluster.model_folder import save_model
from shoal.domain import Box
from shoal.engine import Mapper, rows_of
from shoal.estimator import PrivateEstimator
from shoal.figures import Figure
from shoal.privacy import Public, Released, Result
from shoal.synopsis import read_box
from shoal.synopsis.cells import AllCells
from shoal.synopsis.folder import CELLS, DOCUMENT, synopsis_of

CENTERS = "centers.csv"
_SCALARS = ("n_rows_", "n_rows_within_", "n_clusters_", "rows_detected_")
_BEYOND_VIEW = ("n_rows_beyond_view_", "n_rows_beyond_view_within_")
_STEPS = 2**24  # a square is at most 4 d: a billion rows of a hundred columns fit in 63 bits


class CentroidClusterer(
    GroupsMixin,
    ComputedOnce,
    TransformerMixin,  # type: ignore[misc]
    PrivateEstimator,
):
    """Centres that may be published, and the verbs with which the holder of rows uses them.

    ``predict``, ``transform`` and ``score`` read rows and protect nothing: what they return is for
    the holder. Distances are those of the box scaled to [-1, 1]^d, in which centres were sought, so
    that every column counts by the width of its bounds.
    """

    cluster_centers_: Floats
    cluster_sizes_: Floats
    expected_error_: Floats
    n_rows_: int
    n_rows_within_: int
    n_clusters_: int
    is_certain_: NDArray[np.bool_]
    rows_detected_: bool
    noise_sizes_: Floats
    synopsis_: Any
    cost_curve_: CostCurve | None = None
    guarantee_: Any

    @property
    def n_rows_beyond_view_(self) -> int | None:
        """The noisy number of rows beyond the part of the box in which cells are fine.

        0 or more; None where cells of one kind cover all of the box.
        """
        beyond = self._beyond_view()
        return None if beyond is None else max(0, round(beyond.total))

    @property
    def n_rows_beyond_view_within_(self) -> int | None:
        """What noise moves that number by, at most, in 95 of 100 releases."""
        beyond = self._beyond_view()
        if beyond is None:
            return None
        return math.ceil(NoiseSum.geometric(beyond.step, math.ceil(beyond.noises)).reach(0.025))

    def _beyond_view(self) -> AllCells | None:
        check_is_fitted(self)
        return None if self.synopsis_ is None else self.synopsis_._beyond_view

    @property
    def intervals_(self) -> Intervals:
        """Intervals of centres, sizes and the total, simulated from what was released: at no cost.

        Nine in ten hold what plain k-means of the rows would find; NaN marks a group that is
        unstable. Read from the model's description (``shoal.describe``); a model that was not
        described computes them when they are first read, and keeps them.
        """
        from shoal.cluster.kmeans._intervals import kmeans_intervals

        check_is_fitted(self)
        return self._compute_once("intervals", lambda: kmeans_intervals(self))

    def predict(self, X: Any) -> Any:
        """The nearest centre of each row: for the holder of the rows, not to be published.

        An array; a Spark frame comes back with a column ``label``.
        """
        check_is_fitted(self)
        return rows_of(X, self.box).map(self._labels(), ["label"]).like_input(squeeze=True)

    def transform(self, X: Any) -> Any:
        """The distance of each row to each centre: for the holder of the rows.

        An array; a Spark frame comes back with columns ``distance0``, ``distance1``, ...
        """
        check_is_fitted(self)
        kernel = Distances(Cube(self.box), self._scaled_centers())
        names = [f"distance{i}" for i in range(len(kernel.centers))]
        return rows_of(X, self.box).map(kernel, names).like_input()

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The columns of ``transform``, for ``set_output`` and pipelines.

        Parameters
        ----------
        input_features
            Ignored; scikit-learn's pipelines pass it.
        """
        check_is_fitted(self)
        return np.array([f"distance{i}" for i in range(self.n_clusters_)], dtype=object)

    def score(self, X: Any, y: None = None) -> float:
        """Minus the squared distances to the nearest centres, summed: for the holder.

        Exact to 2^-24 a row: whole numbers add up the same on any number of machines.
        """
        check_is_fitted(self)
        half = (self.box.high - self.box.low) / 2
        kernel = LeastSquares(half, self.cluster_centers_ / half, _STEPS)
        (squares,) = rows_of(X, self.box).sum(kernel)
        return -float(squares[0]) / _STEPS

    def plot(self, columns: Sequence[str] | None = None) -> Figure:
        """Draw the centres over two columns, or along the only one, with the released cells.

        Parameters
        ----------
        columns
            The names of the two; None takes those in which centres are the most distant.
        """
        check_is_fitted(self)
        return center_map(self.box, self.cluster_centers_, self._counts_over, columns, "rows")

    def to_result(self) -> Result:
        """What a report shows: settings, which are public, and what was released."""
        check_is_fitted(self)
        settings = {"domain": Public(self.box)}
        settings |= {name: Public(value) for name, value in self._settings().items()}
        names = ("cluster_centers_", "cluster_sizes_", "expected_error_", "is_certain_",
                 "noise_sizes_", *_SCALARS)  # fmt: skip
        released = {name: Released(getattr(self, name)) for name in names}
        for name in ("synopsis_", "cost_curve_", *_BEYOND_VIEW):
            if getattr(self, name) is not None:
                released[name] = Released(getattr(self, name))
        return Result("private k-means", self.guarantee_, settings, released)

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Keep it in a folder: ``shoal.load_model`` takes it back.

        Parameters
        ----------
        folder, overwrite
            Where to; whether a model that is there may be replaced. Nothing else ever is.
        """
        check_is_fitted(self)
        return save_model(self, folder, overwrite)

    def _document(self) -> dict[str, Any]:
        """Settings and released numbers, as JSON has them."""
        released = {name: int(getattr(self, name)) for name in _SCALARS}
        curve = {} if self.cost_curve_ is None else {"cost_curve": self.cost_curve_.to_dict()}
        return {"settings": self._settings(), "released": released} | curve

    def _tables(self) -> dict[str, Any]:
        """By file name: the centres, and the synopsis if there is one."""
        columns = {n: self.cluster_centers_[:, i] for i, n in enumerate(self.box.names)}
        own = {
            "_rows": self.cluster_sizes_,
            "_expected_error": self.expected_error_,
            "_noise_size": self.noise_sizes_,
            "_is_certain": self.is_certain_,
        }
        tables: dict[str, Any] = {CENTERS: pa.table(columns | own)}
        return tables if self.synopsis_ is None else tables | self.synopsis_.parts()

    @classmethod
    def _restore(cls, document: Mapping[str, Any], tables: Mapping[str, Any]) -> Self:
        """Back from ``_document`` and ``_tables``."""
        domain, released = read_box(document["domain"]), document["released"]
        model = cls(**cls._parameters(document["settings"], domain))
        centers = tables[CENTERS]
        model.cluster_centers_ = np.column_stack(
            [np.asarray(centers[name], dtype=np.float64) for name in domain.names]
        )
        model.cluster_sizes_ = np.asarray(centers["_rows"], dtype=np.float64)
        model.expected_error_ = np.asarray(centers["_expected_error"], dtype=np.float64)
        model.noise_sizes_ = np.asarray(centers["_noise_size"], dtype=np.float64)
        model.is_certain_ = np.asarray(centers["_is_certain"], dtype=np.bool_)
        for name in _SCALARS:
            setattr(model, name, int(released[name]))
        model.rows_detected_ = bool(model.rows_detected_)
        curve = document.get("cost_curve")  # older versions, and single numbers, have none
        model.cost_curve_ = None if curve is None else CostCurve.of(curve)
        model.synopsis_ = synopsis_of(tables) if {CELLS, DOCUMENT} <= tables.keys() else None
        model.n_features_in_ = domain.d
        model.feature_names_in_ = np.array(domain.names, dtype=object)
        return model

    @abstractmethod
    def _settings(self) -> dict[str, Any]:
        """The parameters as JSON has them, without the domain and what belongs to one run."""

    @classmethod
    @abstractmethod
    def _parameters(cls, settings: Mapping[str, Any], box: Box) -> dict[str, Any]:
        """Back from ``_settings``."""

    def _labels(self) -> Mapper:
        """What labels a block of rows."""
        check_is_fitted(self)
        return Labels(Cube(self.box), Nearest(self._scaled_centers()))

    @property
    def _is_weak(self) -> bool:
        """Whether noise has more influence than the rows."""
        budget, d, k = self._promise().per_row(), self.box.d, len(self.cluster_centers_)
        strong = strength(self.n_rows_, float(budget.epsilon), d, k, hardness(d, budget))
        return strong < WEAK_STRENGTH

    def _counts_over(self, at: list[int]) -> Integers:
        """Return the released cells on a grid of one or two columns, given by their places."""
        return cells_of_synopsis(self.synopsis_, self.box, at, self.n_rows_)

    def _group_values(self) -> dict[str, list[float]]:
        return dict(zip(self.box.names, self.cluster_centers_.T.tolist(), strict=True))

    def _scaled_centers(self) -> Floats:
        check_is_fitted(self)
        return self.box.scale(self.cluster_centers_, -1, 1)
