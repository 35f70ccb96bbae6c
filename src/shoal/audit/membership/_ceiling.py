r"""The upper bound that a promise puts on any membership attack, and when there is none.

Against an :math:`(\varepsilon, \delta)`-private release, with two neighbouring worlds to tell
apart, TPR :math:`\le e^\varepsilon` FPR :math:`+ \delta` and 1 - FPR :math:`\le e^\varepsilon`
(1 - TPR) :math:`+ \delta`. Added up, TPR - FPR is at most
:math:`(e^\varepsilon - 1 + 2\delta)/(e^\varepsilon + 1)`, which is
:math:`\tanh(\varepsilon/2)` where delta is 0.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats
from shoal.errors import InvalidSetting
from shoal.privacy import Guarantee, LocalDP, MetricDP, PureDP, Unprotected
from shoal.privacy.guarantees import ApproxDP

Game = Literal["own coin", "swap"]
_TINY = 1e-300  # avoids a division by zero


@dataclass(frozen=True)
class Ceiling:
    """How far apart the two worlds of a game may be, or why nothing bounds that.

    Attributes
    ----------
    epsilon
        Between the two worlds of the game; ``None`` if there is no ceiling.
    delta
        Between the two worlds of the game.
    reason
        Which promise was used, or why there is none.

    Examples
    --------
    >>> round(ceiling_of(LocalDP(1), "swap").advantage, 3)
    0.462
    >>> print(ceiling_of(LocalDP(1), "own coin"))
    no ceiling: taking part is not covered
    """

    epsilon: float | None
    delta: float
    reason: str

    @property
    def advantage(self) -> float | None:
        """The largest TPR - FPR; None if there is no ceiling."""
        if self.epsilon is None:
            return None
        # By e^-epsilon, since e^epsilon itself may overflow.
        rare = math.exp(-self.epsilon)
        return min(1.0, math.tanh(self.epsilon / 2) + 2 * self.delta * rare / (1 + rare))

    def tpr(self, fpr: ArrayLike) -> Floats | None:
        """Return the largest true positive rate at each false positive rate.

        Parameters
        ----------
        fpr
            False positive rates.
        """
        if self.epsilon is None:
            return None
        share, rare = np.asarray(fpr, dtype=np.float64), max(math.exp(-self.epsilon), _TINY)
        low: Floats = np.minimum(share, rare) / rare + self.delta
        return np.minimum(np.minimum(low, 1 - rare * (1 - share - self.delta)), 1.0)

    def corners(self) -> list[tuple[float, float]] | None:
        """Return the same as points of a line for a figure: its start, bend and end."""
        if self.epsilon is None:
            return None
        rare = math.exp(-self.epsilon)
        bend, at = ((1 - self.delta) * share / (1 + rare) for share in (rare, 1.0))
        return [(0.0, self.delta), (bend, at + self.delta), (1 - self.delta, 1.0), (1.0, 1.0)]

    @property
    def name(self) -> str:
        """The ceiling in a few words."""
        return str(self) if self.epsilon is None else f"Ceiling: at most {self.advantage:.3f}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        values = {"epsilon": self.epsilon, "delta": self.delta, "reason": self.reason}
        return {**values, "advantage": self.advantage}

    def __str__(self) -> str:
        if self.epsilon is None:
            return f"no ceiling: {self.reason}"
        return f"at most {self.advantage:.3f} ({self.reason})"


def ceiling_of(
    guarantee: Guarantee | None,
    game: Game,
    *,
    distance: float | None = None,
    reports: int = 1,
    uncovered: str = "",
) -> Ceiling:
    """Return the ceiling of a game under a promise.

    Parameters
    ----------
    guarantee
        The promise about everything the adversary sees; None without one.
    game
        ``"own coin"``: each target is in or out by itself. ``"swap"``: as many are in either way,
        so that someone else is in the place of who is out. A promise about rows added or removed
        covers the first, and the second in two steps; one about replaced values only the second.
    distance
        For ``MetricDP``, the largest distance between two records of the game, in the promise's own
        units.
    reports
        The number of reports of one record that the adversary sees.
    uncovered
        What the adversary sees beyond the promise, if anything: then there is no ceiling.
    """
    if game not in ("own coin", "swap"):
        raise InvalidSetting(
            f"There is no game {game!r}.", "Choose 'own coin' or 'swap'.", setting="game"
        )
    if uncovered:
        return _unbounded(uncovered)
    match guarantee:
        case PureDP() | ApproxDP():
            return _of_rows(guarantee, game)
        case LocalDP() | MetricDP():
            return _of_reports(guarantee, game, distance, reports)
        case None | Unprotected():
            return _unbounded("nothing is promised")
    return _unbounded(f"{type(guarantee).__name__} bounds no odds")


def _of_reports(
    guarantee: LocalDP | MetricDP, game: Game, distance: float | None, reports: int
) -> Ceiling:
    if game == "own coin":
        return _unbounded("taking part is not covered")
    if isinstance(guarantee, LocalDP):
        return _bounded(reports * float(guarantee.epsilon), 0.0, "any two values, swapped")
    if distance is None:
        return _unbounded("how far records lie apart is not known")
    epsilon = float(guarantee.epsilon) * distance + float(guarantee.slack)
    return _bounded(reports * epsilon, 0.0, f"records at most {distance:.3g} apart, swapped")


def _of_rows(guarantee: PureDP | ApproxDP, game: Game) -> Ceiling:
    if game == "swap":
        steps = "two steps, out and in" if guarantee.neighbours == "add-remove" else "one replaced"
        promise: PureDP | ApproxDP = guarantee.as_replace_one()
        return _bounded(float(promise.epsilon), float(getattr(promise, "delta", 0)), steps)
    if guarantee.neighbours == "replace-one":
        return _unbounded("taking part is not covered")
    return _bounded(float(guarantee.epsilon), float(getattr(guarantee, "delta", 0)), "in or out")


def _bounded(epsilon: float, delta: float, how: str) -> Ceiling:
    return Ceiling(epsilon, min(delta, 1.0), f"epsilon {epsilon:.4g}: {how}")


def _unbounded(reason: str) -> Ceiling:
    return Ceiling(None, 0.0, reason)
