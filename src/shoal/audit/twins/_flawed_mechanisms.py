"""Published or drafted mechanisms that do not keep their promise, for the audit to catch.

None of them protects anyone. Each class is ``Unprotected`` and says why; the gate refuses it on a
page with a promise; no package exports it. They are the thesis' drafted and published forms ("the
thesis": nD-Laplace for privacy-preserving clustering), rewritten, and the form of Duchi's mechanism
that is in print for an even number of columns. ``value`` is a table, one row a person; several of
these look at the whole table, which is their fault.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.arrays import Floats
from shoal.errors import InvalidSetting, setting
from shoal.mechanisms import Reports
from shoal.mechanisms.local import records_of
from shoal.mechanisms.local.bounded import local_budget, piecewise_law
from shoal.privacy import Number, Unprotected


@dataclass(frozen=True)
class _Flawed(ABC):
    """Base of mechanisms with a claimed epsilon, and the reason why the claim is wrong.

    Parameters
    ----------
    epsilon
        The claimed epsilon, which does not hold.
    """

    reason: ClassVar[str]
    columns: ClassVar[int | None] = None
    epsilon: Number

    @property
    def guarantee(self) -> Unprotected:
        """No guarantee, with the reason."""
        return Unprotected(self.reason)

    @property
    def rate(self) -> float:
        """The claimed epsilon."""
        return float(local_budget(self.epsilon))

    def check(self, value: ArrayLike) -> None:
        """Refuse what is no table of numbers."""
        records_of(value, d=self.columns)

    def release(self, value: ArrayLike, rng: np.random.Generator) -> Reports:
        """Return what the flawed mechanism would have sent."""
        rows = records_of(value, d=self.columns)
        return Reports.drawn(self._perturb(rows, rng), self, rng)

    @abstractmethod
    def _perturb(self, rows: Floats, rng: np.random.Generator) -> Floats:
        """The rows as this form would have sent them."""


class FlawedAngles2D(_Flawed):
    """Draft, algorithm 1: the angle lies in [0, pi/2], so noise only ever adds."""

    reason = "the angle is drawn from a quarter of the circle: supports of two rows differ"
    columns = 2

    def _perturb(self, rows: Floats, rng: np.random.Generator) -> Floats:
        radius = _radius(rows, self.rate, rng)
        angle = rng.uniform(0, math.pi / 2, len(rows))
        return _add_noise(rows, radius, np.column_stack([np.cos(angle), np.sin(angle)]))


class FlawedAngles3D(_Flawed):
    """Published code, d = 3: the azimuth's law is used for the polar angle and the other way."""

    reason = "polar angle and azimuth are swapped: noise piles up along the third axis"
    columns = 3

    def _perturb(self, rows: Floats, rng: np.random.Generator) -> Floats:
        radius = _radius(rows, self.rate, rng)
        polar = rng.uniform(0, 2 * math.pi, len(rows))
        azimuth = np.arccos(rng.uniform(-1, 1, len(rows)))
        across = np.sin(polar)
        direction = [across * np.sin(azimuth), across * np.cos(azimuth), np.cos(polar)]
        return _add_noise(rows, radius, np.column_stack(direction))


class FlawedPolarAngle3D(_Flawed):
    """The angle from the third axis is uniform, as if a sphere were as wide at its poles."""

    reason = "the polar angle is uniform: noise piles up along the third axis"
    columns = 3

    def _perturb(self, rows: Floats, rng: np.random.Generator) -> Floats:
        radius = _radius(rows, self.rate, rng)
        polar = rng.uniform(0, math.pi, len(rows))
        azimuth = rng.uniform(0, 2 * math.pi, len(rows))
        across = np.sin(polar)
        direction = [across * np.cos(azimuth), across * np.sin(azimuth), np.cos(polar)]
        return _add_noise(rows, radius, np.column_stack(direction))


class FlawedAnglesND(_Flawed):
    """Published code, d >= 4: the coordinates of a unit vector are read as angles."""

    reason = "a unit vector is read as angles: noise is one-sided and nearly absent at the end"

    def _perturb(self, rows: Floats, rng: np.random.Generator) -> Floats:
        radius = _radius(rows, self.rate, rng)
        angles = _directions(rows, rng)
        sines = np.sin(angles)
        sines[:, 0] = 1.0
        direction: Floats = np.roll(np.cos(angles), -1, axis=1)
        direction *= np.cumprod(sines, axis=1)
        return _add_noise(rows, radius, direction)


@dataclass(frozen=True)
class _FlawedRemap(_Flawed):
    """Base of right noise followed by a map that looks at the rows.

    Parameters
    ----------
    nodes
        Nodes of the grid along each axis; at least 2.
    """

    nodes: int = 12

    def __post_init__(self) -> None:
        if self.nodes < 2:
            raise InvalidSetting(
                "A grid needs 2 or more nodes along each axis.",
                "E.g. " + setting("nodes", 12) + ".",
            )

    def _perturb(self, rows: Floats, rng: np.random.Generator) -> Floats:
        return self.sent_by(rows, rows, rng)

    def sent_by(self, own: Floats, rows: Floats, rng: np.random.Generator) -> Floats:
        """What people at ``own`` would send, each a member of the table ``rows``."""
        noisy = _add_noise(own, _radius(own, self.rate, rng), _directions(own, rng))
        return self._remap(own, rows, noisy) if len(own) else noisy

    @abstractmethod
    def _remap(self, own: Floats, rows: Floats, noisy: Floats) -> Floats:
        """Where this form moves the noisy rows, looking at the true ones."""

    def on_grid(self, rows: Floats, noisy: Floats) -> Floats:
        """The nearest node of the grid spanned by the rows' own extremes."""
        low, high = rows.min(axis=0), rows.max(axis=0)
        step = np.where(high > low, (high - low) / (self.nodes - 1), 1.0)
        nodes: Floats = low + step * np.rint((np.clip(noisy, low, high) - low) / step)
        return nodes


class FlawedGridRemap(_FlawedRemap):
    """Algorithms 3 and 4: what lies outside, or nearer to a node than to a true row, snaps."""

    reason = "box and grid come from the rows' extremes, and the nearest true row decides"

    def _remap(self, own: Floats, rows: Floats, noisy: Floats) -> Floats:
        nodes = self.on_grid(rows, noisy)
        nearest = rows[_distances(noisy, rows).argmin(axis=1)]
        closer = _lengths(noisy - nodes) < _lengths(noisy - nearest)
        snaps = _outside(rows, noisy) | closer
        return np.where(snaps[:, None], nodes, noisy)


class FlawedUnionRemap(_FlawedRemap):
    """The text's X u G: what lies outside goes to the nearest true row or node."""

    reason = "a report can be another person's row, exactly"

    def _remap(self, own: Floats, rows: Floats, noisy: Floats) -> Floats:
        nodes = self.on_grid(rows, noisy)
        nearest = rows[_distances(noisy, rows).argmin(axis=1)]
        closer = _lengths(noisy - nodes) < _lengths(noisy - nearest)
        union = np.where(closer[:, None], nodes, nearest)
        return np.where(_outside(rows, noisy)[:, None], union, noisy)


class FlawedOptimalRemap(FlawedGridRemap):
    """Algorithm 5: what was outside becomes a mean of true rows in a ball around the true row."""

    reason = "the ball and the weights are taken around the true row"

    def _remap(self, own: Floats, rows: Floats, noisy: Floats) -> Floats:
        remapped = super()._remap(own, rows, noisy)
        apart = _distances(rows, rows)
        for i in np.flatnonzero(_outside(rows, noisy)):
            radius = np.linalg.norm(noisy[i] - own[i])  # the one drawn
            to_report = _lengths(rows - remapped[i])
            ball = np.flatnonzero((_lengths(rows - own[i]) <= radius) & (to_report <= radius))
            if ball.size:
                crowd = np.count_nonzero(apart[ball] <= radius, axis=1)
                weights = crowd * np.exp(-self.rate * (to_report[ball] - to_report[ball].min()))
                remapped[i] = weights @ rows[ball] / weights.sum()
        return remapped


class FlawedDuchi(_Flawed):
    """In print for even d: ties belong to both halves. Rows in [-1, 1]^d."""

    reason = "ties are in both halves: the ratio is e^epsilon + 1"

    def _perturb(self, rows: Floats, rng: np.random.Generator) -> Floats:
        n, d = rows.shape
        corner = np.where(rng.random((n, d)) < (1 + rows) / 2, 1, -1)
        side = np.where(rng.random(n) < 1 / (1 + math.exp(-self.rate)), 1, -1)
        signs = np.zeros((n, d), dtype=np.int64)
        wrong = np.arange(n)
        while wrong.size:
            signs[wrong] = 2 * rng.integers(0, 2, size=(wrong.size, d)) - 1
            lead = side[wrong] * np.sum(signs[wrong] * corner[wrong], axis=1)
            wrong = wrong[lead < 0]
        return signs.astype(np.float64) * self._size(d)

    def _size(self, d: int) -> float:
        half = float(2 ** (d - 1)) + (math.comb(d, d // 2) / 2 if d % 2 == 0 else 0)
        return half / math.comb(d - 1, d // 2) / math.tanh(self.rate / 2)


class FlawedPiecewise(_Flawed):
    """Piecewise at the whole epsilon on every column, each scaled by its own extremes."""

    reason = "every column spends epsilon, d times that in all, and bounds come from the rows"

    def _perturb(self, rows: Floats, rng: np.random.Generator) -> Floats:
        low, high = rows.min(axis=0, initial=np.inf), rows.max(axis=0, initial=-np.inf)
        half = np.where(high > low, (high - low) / 2, 1.0)
        steps = np.rint((rows - low) / half * 2**19).astype(np.int32)
        drawn = piecewise_law(local_budget(self.epsilon)).draw(steps, rng)
        return np.asarray(low + half * (1 + drawn), dtype=np.float64)


def _radius(rows: Floats, rate: float, rng: np.random.Generator) -> Floats:
    return rng.gamma(rows.shape[1], 1 / rate, len(rows))


def _add_noise(rows: Floats, radius: Floats, direction: Floats) -> Floats:
    return rows + radius[:, None] * direction


def _directions(rows: Floats, rng: np.random.Generator) -> Floats:
    vectors = rng.standard_normal(rows.shape)
    return vectors / _lengths(vectors)[:, None]


def _outside(rows: Floats, noisy: Floats) -> NDArray[np.bool_]:
    """What does not lie strictly inside the box of the rows' extremes (algorithm 3)."""
    inside = (noisy > rows.min(axis=0)) & (noisy < rows.max(axis=0))
    outside: NDArray[np.bool_] = ~inside.all(axis=1)
    return outside


def _distances(points: Floats, rows: Floats) -> Floats:
    return _lengths(points[:, None, :] - rows[None, :, :])


def _lengths(vectors: Floats) -> Floats:
    return np.asarray(np.linalg.norm(vectors, axis=-1), dtype=np.float64)
