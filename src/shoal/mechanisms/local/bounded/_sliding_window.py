"""The law of a window that slides with the value: a report is likelier inside it; drawn exactly.

Of 2**20 + width places the window covers ``width``, beginning at the value's own step; each place
inside is e^epsilon times as likely as each outside. ``Piecewise`` and ``SquareWave`` are this law
with a window of their own width, read on their own scale. See ``sliding_window.proof.md``.
"""

from fractions import Fraction

import numpy as np

from shoal.mechanisms.exact._coins import Coin
from shoal.mechanisms.local.bounded._base import STEPS, Steps


class SlidingWindow:
    """Draws the reported position of a value, in whole numbers.

    Parameters
    ----------
    width
        The width of the window, in steps; from 1 up.
    """

    def __init__(self, epsilon: Fraction, width: int) -> None:
        self.width = width
        self.places = STEPS + width
        self._inside = Coin(epsilon, lambda E: E * width / (E * width + STEPS))

    def draw(self, steps: Steps, rng: np.random.Generator) -> Steps:
        """Draw a position from 0 to ``places - 1`` for each value."""
        inside = self._inside.flip(steps.size, rng).reshape(steps.shape)  # [P1]
        near = rng.integers(0, self.width, size=steps.shape, dtype=np.int32)  # [P2]
        far = rng.integers(0, STEPS, size=steps.shape, dtype=np.int32)  # [P3]
        far += np.int32(self.width) * (far >= steps)
        near += steps
        return np.where(inside, near, far)
