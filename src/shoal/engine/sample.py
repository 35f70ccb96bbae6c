"""A uniform sample without replacement, drawn in one pass."""

import numpy as np

from shoal.arrays import Floats
from shoal.errors import InvalidSetting, setting


class Sample:
    """A sample: every row draws a number, and the ``n`` rows with the smallest stay in order.

    The numbers are drawn in the rows' order, so the sample does not depend on how the rows were
    cut into blocks.

    Examples
    --------
    >>> sample = Sample(2, np.random.default_rng(7))
    >>> sample.add(np.arange(5.0)[:, None])
    >>> sample.rows(width=1).shape
    (2, 1)
    """

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
            raise InvalidSetting(
                setting("n") + " must be a whole number of 0 or more.", "E.g. take(1_000, rng)."
            )
        self._n = int(n)
        self._rng = rng
        self._draws: list[Floats] = []
        self._rows: list[Floats] = []
        self._n_rows = 0
        self._highest = np.inf  # no row that draws more can stay

    def add(self, rows: Floats) -> None:
        """Let the rows of a block take part."""
        draws = self._rng.random(len(rows))
        good = draws < self._highest
        self._draws.append(draws[good])
        self._rows.append(rows[good])
        self._n_rows += int(np.count_nonzero(good))
        if self._n_rows > 2 * self._n + len(rows):  # seldom: a cut costs as much as it drops
            self._keep_smallest()

    def rows(self, width: int) -> Floats:
        """Return the sample."""
        self._keep_smallest()
        return self._rows[0] if self._rows else np.empty((0, width))

    def _keep_smallest(self) -> None:
        """Drop all but the ``n`` rows with the smallest numbers."""
        if not self._rows:
            return
        draws, rows = np.concatenate(self._draws), np.concatenate(self._rows)
        if len(draws) > self._n:
            smallest = np.argpartition(draws, self._n)
            self._highest = draws[smallest[self._n]]
            stay = np.sort(smallest[: self._n])
            draws, rows = draws[stay], rows[stay]
        self._draws, self._rows, self._n_rows = [draws], [rows], len(draws)
