"""Which rows are attacked and which the adversary has: drawn anew for each game."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit.shadow import Halves, halves
from shoal.errors import InvalidSetting, ShadowOverlap, TooFewRows
from shoal.privacy.exact import whole_number
from shoal.randomness import Randomness

__all__ = ["FEWEST", "Split", "as_places"]

Places = NDArray[np.intp]
FEWEST = 20  # members of a game


class Split:
    """Which rows are attacked, which the adversary has; a draw says who is in."""

    def __init__(self, target: int | Places, known: Places | None, n: int, shadows: int) -> None:
        self._target, self._known, self._n, self._shadows = target, known, n, shadows

    @classmethod
    def of(cls, n: int, target: Any, known: Any, shadows: int) -> "Split":
        """Checked, so that every draw goes through."""
        if whole_number(shadows) is None or shadows < 1:
            raise InvalidSetting("shadows is no whole number from 1 up.", "E.g. shadows=3.")
        share = np.ndim(target) == 0
        if share and not (isinstance(target, int | float | np.number) and 0 < target < 1):
            raise InvalidSetting("target is no share between 0 and 1.", "E.g. target=0.25.")
        aim = int(n * float(target)) if share else as_places(target, n, "target")
        held = None if known is None else as_places(known, n, "known")
        if held is not None and not isinstance(aim, int):
            _refuse_overlap(aim, held)
        of_target = aim if isinstance(aim, int) else aim.size
        left = n - of_target if held is None else held.size - (of_target if share else 0)
        if of_target // 2 < FEWEST or left < 4 * shadows:
            raise TooFewRows(
                f"{of_target} rows are under attack and {max(left, 0)} are left for {shadows} "
                f"shadow models.",
                f"Attack {2 * FEWEST} rows or more, and leave four or more a shadow model.",
            )
        return cls(aim, held, n, shadows)

    def drawn(self, rng: Randomness) -> tuple[Halves, list[Halves]]:
        """The target's halves, and those of each shadow model."""
        order = rng.compute.permutation(self._n)
        if isinstance(self._target, int):
            aim = order[: self._target]
        else:
            aim = rng.compute.permutation(self._target)
        rest = order[~np.isin(order, aim)]
        if self._known is not None:
            rest = rest[np.isin(rest, self._known)]
        return halves(aim), [halves(part) for part in np.array_split(rest, self._shadows)]


def as_places(values: Any, n: int, name: str) -> Places:
    """Places of rows: whole numbers, each once."""
    places = np.asarray(values)
    good = places.ndim == 1 and places.dtype.kind in "iu" and places.size
    if not good or places.min() < 0 or places.max() >= n or np.unique(places).size < places.size:
        raise InvalidSetting(
            f"{name} is no list of different places of rows.", f"Give numbers from 0 to {n - 1}."
        )
    return places.astype(np.intp)


def _refuse_overlap(target: Places, known: Places) -> None:
    both = np.intersect1d(target, known).size
    if both:
        raise ShadowOverlap(
            f"{both} of the {target.size} rows under attack are among those the adversary has.",
            "Give it other rows: whoever has the answer needs no attack.",
        )
