"""The sides of a comparison: each labels the same rows, and may have centres."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.domain.box import Matrix
from shoal.errors import InvalidSetting
from shoal.evaluate.checks import Labels, labels_of, points_of, same_length
from shoal.evaluate.distortion import plain_centers

__all__ = ["Ground", "Side"]


@dataclass(frozen=True, eq=False)
class Side:
    """The label of each row and, if it has any, centres in the ground's units."""

    labels: Labels
    centers: Matrix | None = None

    @property
    def count(self) -> int:
        """How many clusters it has."""
        inside = self.labels[self.labels >= 0]
        return len(np.unique(inside)) if self.centers is None else len(self.centers)

    def shuffled(self, random_state: int) -> "Side":
        """As many rows in each cluster, but any rows."""
        return Side(np.random.default_rng(random_state).permutation(self.labels))


@dataclass(frozen=True, eq=False)
class Ground:
    """The rows, if they came, as they are and in the units in which clusters were sought."""

    rows: Matrix | None
    scaled: Matrix | None
    scale: Callable[[Any], Matrix]

    @classmethod
    def of(cls, rows: Any, model: Any) -> "Ground":
        """In the model's units: its own, half sides of its box, or the rows' if it has neither."""
        scale = _scale_of(model)
        if rows is None:
            return cls(None, None, scale)
        plain = points_of(rows)
        return cls(plain, scale(plain), scale)

    def side(self, of: Any) -> Side:
        """Labels as they came, or those a fitted model gives the rows."""
        if not hasattr(of, "predict"):
            return self._checked(Side(labels_of(of)))
        if self.rows is None:
            raise InvalidSetting("A model came without rows to label.", "Give rows=X.")
        centers = getattr(of, "cluster_centers_", None)
        scaled = None if centers is None else self.scale(np.asarray(centers))
        return self._checked(Side(labels_of(of.predict(self.rows)), scaled))

    def reference(self, against: Any, count: int, random_state: int) -> Side:
        """What is compared with: labels, a model, or k-means on the rows with as many clusters."""
        if against is not None:
            side = self.side(against)
            return Side(side.labels, self._means(side.labels)) if side.centers is None else side
        if self.scaled is None:
            raise InvalidSetting(
                "Nothing came to compare with.", "Give rows=X, or against=labels of the plain way."
            )
        centers = plain_centers(self.scaled, max(count, 1), random_state=random_state)
        return Side(_nearest(self.scaled, centers), centers)

    def _means(self, labels: Labels) -> Matrix | None:
        """The middle of each cluster."""
        names = np.unique(labels[labels >= 0])
        if self.scaled is None or not len(names):
            return None
        return np.array([self.scaled[labels == name].mean(axis=0) for name in names])

    def _checked(self, side: Side) -> Side:
        if self.rows is not None:
            same_length(self.rows, side.labels, "labels")
        return side


def _scale_of(model: Any) -> Callable[[Any], Matrix]:
    if (units := getattr(model, "units_", None)) is not None:
        return lambda X: np.asarray(X / units)
    if (box := getattr(model, "domain", None)) is not None:
        return lambda X: box.scale(box.clip(X), -1, 1)
    return np.asarray


def _nearest(rows: Matrix, centers: Matrix) -> Labels:
    distances = np.array([((rows - center) ** 2).sum(axis=1) for center in centers])
    return np.asarray(distances.argmin(axis=0), dtype=np.int64)
