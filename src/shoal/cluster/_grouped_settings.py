"""The base of grouped settings of an estimator, such as ``selector=Persistence(z=2)``."""

from sklearn.base import BaseEstimator


class Options(BaseEstimator):  # type: ignore[misc]
    """Base of grouped settings, which scikit-learn reads and sets like those of an estimator.

    ``clone`` copies them, and a search sets one of them by the name ``selector__z``. A subclass
    keeps what it is given; the estimator checks it in ``fit``.
    """

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bool(self.get_params(deep=False) == other.get_params(deep=False))

    def __hash__(self) -> int:
        # Parameters may change, so they must not enter the hash.
        return hash(type(self))
