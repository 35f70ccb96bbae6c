"""What is attacked: the way from rows, through a mechanism if there is one, to a fitted model."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.audit.pairs import distances
from shoal.cluster.totals import told_elsewhere
from shoal.errors import InvalidSetting, NotFinite, NotNumeric
from shoal.privacy import Guarantee, MetricDP
from shoal.randomness import Randomness

__all__ = ["Labels", "Matrix", "Victim", "as_rows"]

Matrix = NDArray[np.float64]
Labels = NDArray[np.int64]
Fit = Any  # an estimator, or a function (rows, rng) or (rows, labels, rng)


@dataclass(frozen=True, eq=False)
class Victim:
    """From rows to what is released about them, with fresh noise each time.

    Parameters
    ----------
    fit
        An estimator, which is cloned, or a function ``(rows, rng)`` that returns the model; with
        labels ``(rows, labels, rng)``. ``rng`` is a ``Randomness``.
    mechanism
        A local mechanism that rows pass before ``fit``; an estimator may bring its own.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> victim = Victim.of(KMeans(2, n_init=1))
    >>> model = victim.model(np.array([[0.0], [0.1], [1.0]]), None, Randomness(7))
    >>> sorted(model.cluster_centers_.round(2).ravel().tolist())
    [0.05, 1.0]
    """

    fit: Fit
    mechanism: Any = None

    @classmethod
    def of(cls, fit: Fit, mechanism: Any = None) -> "Victim":
        """With the estimator's own mechanism, if it has one and none is given."""
        if not callable(fit) and not hasattr(fit, "fit"):
            raise InvalidSetting(
                f"A {type(fit).__name__} came, which is neither an estimator nor a function.",
                "Give e.g. PrivateKMeans(...), or a function of rows and rng that returns a model.",
            )
        own = getattr(fit, "mechanism", None) if hasattr(fit, "fit") else None
        return cls(fit, own if mechanism is None else mechanism)

    def reported(self, rows: Matrix, rng: Randomness) -> Any:
        """What leaves the rows: ``Reports`` of the mechanism, or the rows themselves."""
        return rows if self.mechanism is None else self.mechanism.release(rows, rng.noise)

    def model(self, reported: Any, labels: Labels | None, rng: Randomness) -> Any:
        """A model of what was reported."""
        if not hasattr(self.fit, "fit"):
            values = np.asarray(reported)
            return self.fit(values, rng) if labels is None else self.fit(values, labels, rng)
        takes_reports = getattr(self.fit, "mechanism", None) is not None
        values = reported if takes_reports else np.asarray(reported)
        with told_elsewhere():
            return _fresh(self.fit, rng.seed()).fit(values, labels)

    def trained(self, rows: Matrix, labels: Labels | None, rng: Randomness) -> Any:
        """A model of rows."""
        return self.model(self.reported(rows, rng), labels, rng)

    def promise(self, model: Any) -> Guarantee | None:
        """What was promised: by the mechanism, or by the fitted model itself."""
        found = getattr(self.mechanism, "guarantee", getattr(model, "guarantee_", None))
        return found if isinstance(found, Guarantee) else None

    def farthest(self, promise: Guarantee | None, first: Matrix, second: Matrix) -> float | None:
        """The largest distance between lines of two tables, as a promise about distances has it.

        ``None`` for other promises, and where the promise's units are not known.
        """
        if not isinstance(promise, MetricDP):
            return None
        apart = distances(promise, self.mechanism, first, second)
        return None if apart is None else float(apart.max(initial=0))


def _fresh(estimator: Any, seed: int) -> Any:
    """An unfitted copy with noise of its own. It writes in no ledger: nothing of it is released."""
    from sklearn.base import clone

    made, known = clone(estimator), estimator.get_params(deep=False)
    own = {"random_state": seed, "ledger": None}
    return made.set_params(**{name: value for name, value in own.items() if name in known})


def as_rows(rows: ArrayLike) -> Matrix:
    """Rows as a table of finite numbers, one line a person."""
    try:
        table = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise NotNumeric("The rows are not numbers.", "Choose the columns that are.") from None
    if table.ndim != 2:
        raise InvalidSetting(
            f"An array of {table.ndim} dimensions came.", "Give a table: one line a person."
        )
    if not np.isfinite(table).all():
        raise NotFinite("Some rows hold NaN or infinity.", "Drop them, or fill them in.")
    return table
