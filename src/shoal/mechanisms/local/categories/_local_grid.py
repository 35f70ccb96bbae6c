"""Report the cell of a public grid through a frequency oracle; local clustering learns from it."""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats, Integers
from shoal.domain import Box, Grid
from shoal.errors import InvalidDomain, InvalidSetting, setting, value_text
from shoal.mechanisms.local._people_needed import people_needed
from shoal.mechanisms.local._records import records_of
from shoal.mechanisms.local._reports import Reports
from shoal.mechanisms.local.bounded._base import Estimate, local_budget, own_reports
from shoal.mechanisms.local.categories._local_hash import LocalHash
from shoal.mechanisms.local.categories._randomized_response import RandomizedResponse
from shoal.privacy import LocalDP, Number

CellsSetting = int | Sequence[int] | Literal["auto"]
Oracle = RandomizedResponse | LocalHash
_USUAL_CLUSTERS = 8  # what cells are chosen for where nobody says how many are looked for
# Cells in all: more are slow to learn from, and were never better (docs/decisions/local-grid.md).
_MOST_AUTO = 4_096
# By number of columns, how strong a signal cells grow with in proportion; beyond, with its square
# root: smaller cells would hide small groups. Measured: docs/decisions/local-grid.md.
_FULL_SIGNAL = {1: 10.0, 2: 44.0}


@dataclass(frozen=True)
class LocalGrid:
    r"""Report the cell of a public grid that a row lies in, through a frequency oracle.

    The oracle is ``RandomizedResponse`` over few cells and ``LocalHash`` over many, whichever has
    the smaller error: a report is one whole number. From many of them come the counts of all cells,
    unbiased, and from those centres: ``LocalClusterer(n_clusters, mechanism=...)``.

    It is for one to three columns. In four the cells are coarse, and ``LocalRounds`` finds groups
    better; eight are accepted, but three cells an axis place no group, whatever epsilon.

    Guarantee
    ---------
    ``LocalDP(epsilon)`` for the whole row. Drawn exactly. See ``local_grid.proof.md``.

    Parameters
    ----------
    domain
        Public bounds. Rows outside are moved to their nearest point, NaN to the centre, as a
        deployed client does: a report that fails to arrive would be an output too.
    epsilon
        The promise of one report; at most 20.
    cells
        Along each axis, one number or one an axis. ``"auto"``: by ``auto_cells``, from the number
        of people, epsilon, columns and clusters.
    n_expected
        How many people will report. Left out, ``"auto"`` takes the rows of one call of ``release``
        for all of them, and ``reports.mechanism`` says which cells that meant.
    n_clusters
        How many clusters will be looked for, if known: the more, the finer is ``"auto"``.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> grid = LocalGrid(Box.unit(2), epsilon=1.0, n_expected=20_000)
    >>> grid.cells, type(grid.oracle).__name__
    ((13, 13), 'LocalHash')
    >>> rows = np.repeat([[0.1, 0.1], [0.7, 0.9]], 10_000, axis=0)
    >>> counts = grid.counts(grid.release(rows, Randomness(7).noise))
    >>> sorted(np.argsort(counts.value)[-2:].tolist()) == sorted(set(grid.grid.keys(rows).tolist()))
    True

    References
    ----------
    Wang et al., Locally differentially private protocols for frequency estimation, USENIX
    Security 2017.
    """

    domain: Box
    _: KW_ONLY
    epsilon: Number
    cells: CellsSetting = "auto"
    n_expected: int | None = None
    n_clusters: int | None = None

    def __post_init__(self) -> None:
        local_budget(self.epsilon)
        if not isinstance(self.domain, Box):
            raise InvalidDomain(
                setting("domain")
                + f" must be a Box of public bounds; got {value_text(self.domain)}.",
                "E.g. LocalGrid(Box(age=(0, 110)), epsilon=1.0). Bounds read from the rows would "
                "not be private.",
            )
        for name in ("n_expected", "n_clusters"):
            _check_count(name, getattr(self, name))
        if isinstance(self.cells, str):
            self._choose_cells()
        else:
            # Also checks the cells: a client must refuse them, not its server.
            self._fix(Grid(self.domain, self.cells))

    def _choose_cells(self) -> None:
        """Fix the number of cells if the number of people is known."""
        if self.cells != "auto":
            raise InvalidSetting.of("cells", "must be a number of cells or 'auto'", 12, self.cells)
        if self.n_expected is not None:
            self._fix(self._auto_grid(self.n_expected))

    def _auto_grid(self, n: int) -> Grid:
        clusters = self.n_clusters or _USUAL_CLUSTERS
        return Grid(self.domain, auto_cells(n, self.epsilon, self.domain.d, clusters))

    def _fix(self, grid: Grid) -> None:
        """Set the cells, refused if no oracle can report so many."""
        object.__setattr__(self, "cells", grid.shape)
        cell_oracle(self.epsilon, grid.size)  # refused now, if there are too few or too many

    @property
    def guarantee(self) -> LocalDP:
        """``LocalDP(epsilon)``: any two rows give every report with odds within e^epsilon."""
        return LocalDP(self.exact_epsilon).simulated(self.domain.simulation)

    @property
    def exact_epsilon(self) -> Fraction:
        """Epsilon as the fraction its decimal form names."""
        return local_budget(self.epsilon)

    @property
    def grid(self) -> Grid:
        """The public grid; refused while the number of its cells is not known."""
        if isinstance(self.cells, str):
            raise InvalidSetting(
                setting("cells", "auto") + " needs the number of people.",
                "Give " + setting("n_expected") + ", or use the mechanism of the reports: "
                "reports.mechanism.",
            )
        return Grid(self.domain, self.cells)

    @property
    def oracle(self) -> Oracle:
        """The mechanism that randomises the number of the cell."""
        return cell_oracle(self.epsilon, self.grid.size)

    def needs(self, ratio: float = 1.1, *, cautious: bool = True) -> int:
        """Return how many people a wanted accuracy takes, before collecting: see ``people_needed``.

        Parameters
        ----------
        ratio
            Inertia over that of plain k-means on the rows, with ``n_clusters`` (8, if left out).
        cautious
            Whether about nine of ten tables are to reach it, or every second.

        Examples
        --------
        >>> LocalGrid(Box.unit(2), epsilon=2.0, n_clusters=5).needs(1.1)
        19000
        """
        return people_needed(
            ratio,
            n_clusters=self.n_clusters or _USUAL_CLUSTERS,
            d=self.domain.d,
            epsilon=self.epsilon,
            cautious=cautious,
        )

    def with_cells_for(self, n: int) -> "LocalGrid":
        """Return this grid, its cells chosen for ``n`` people if they were not yet.

        Parameters
        ----------
        n
            How many people report.
        """
        if not isinstance(self.cells, str):
            return self
        return replace(self, cells=self._auto_grid(n).shape)

    def check(self, value: ArrayLike) -> None:
        """Refuse what is no table of numbers, before anything is written or drawn.

        Parameters
        ----------
        value
            The rows.
        """
        self._grid_and_rows(value)

    def release(self, value: ArrayLike, rng: np.random.Generator) -> Reports:
        """Return one report for each row, a whole number.

        Parameters
        ----------
        value
            A table of rows, or one row as a flat array.
        rng
            The noise stream.
        """
        mechanism, rows = self._grid_and_rows(value)
        codes = mechanism.grid.keys(rows)  # [P1]
        return Reports.drawn(mechanism.oracle.release(codes, rng).values, mechanism, rng)  # [P2]

    def counts(self, reports: Reports) -> Estimate:
        """Estimate how many of the people behind these reports are in each cell, by key.

        Unbiased, so some are negative; they sum to about the number of reports.

        Parameters
        ----------
        reports
            Reports of this mechanism, unchanged.
        """
        own = own_reports(reports, self)
        return self.counts_from_tally(self.oracle.tally(own.values))

    def counts_from_tally(self, tally: Integers) -> Estimate:
        """Estimate cell counts as ``counts`` does, from counts of reported numbers.

        Parameters
        ----------
        tally
            What ``oracle.tally`` returned, over all reports.
        """
        shares, n = self.oracle.frequencies_from_tally(tally), int(tally.sum())
        return Estimate(shares.value * n, shares.standard_error * n)

    def deviation(self, n: int) -> float:
        """Return the standard deviation of an empty cell's count.

        Parameters
        ----------
        n
            How many reports there are.
        """
        return math.sqrt(self.oracle.variance() * n)

    def chances(self, shares: Floats) -> Floats:
        """Return the probability of every report for people spread over the cells so.

        Parameters
        ----------
        shares
            One number a cell; the probabilities sum to their sum.
        """
        oracle = self.oracle
        if isinstance(oracle, LocalHash):
            return oracle.chances(shares)
        ratio = math.exp(self.exact_epsilon)
        return np.asarray((shares.sum() + (ratio - 1) * shares) / (ratio + oracle.size - 1))

    def _grid_and_rows(self, value: Any) -> tuple["LocalGrid", Floats]:
        rows = records_of(value, self.domain, clip=True)
        if isinstance(self.cells, str) and len(rows) == 1:
            raise InvalidSetting(
                "With a single row, "
                + setting("cells", "auto")
                + " cannot know how many people will report.",
                "Give " + setting("n_expected") + ", the same on every client.",
            )
        # The rows of one call stand for all people where nobody said how many there will be.
        return self.with_cells_for(max(1, len(rows))), rows


def auto_cells(n: int, epsilon: Number, d: int, n_clusters: int) -> int:
    """Return the number of cells along each axis that suits so many reports.

    Examples
    --------
    >>> [auto_cells(n, 1.0, 2, 5) for n in (2_000, 20_000, 200_000)]
    [8, 13, 17]
    """
    ratio = math.exp(local_budget(epsilon))
    signal = math.sqrt(n) * (ratio - 1) / (2 * math.sqrt(ratio))  # people a deviation of the noise
    slower = math.sqrt(signal * min(signal, _FULL_SIGNAL.get(d, signal)))
    wanted = min(max(0.75 * 2**d * slower, 4 * n_clusters), _MOST_AUTO)
    return max(2, round(float(wanted ** (1 / d))))


def cell_oracle(epsilon: Number, size: int) -> Oracle:
    """Return the frequency oracle with the smaller error over so many cells.

    >>> cell_oracle(1.0, 9), cell_oracle(1.0, 144)
    (RandomizedResponse(epsilon=1.0, categories=9), LocalHash(epsilon=1.0, categories=144))

    Parameters
    ----------
    epsilon
        The promise of one report.
    size
        How many cells there are.
    """
    either: tuple[Oracle, Oracle] = RandomizedResponse(epsilon, size), LocalHash(epsilon, size)
    return min(either, key=lambda oracle: oracle.variance())


def _check_count(name: str, value: object) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if value is not None and not (whole and value >= 1):  # type: ignore[operator]
        raise InvalidSetting.of(name, "must be a whole number of 1 or more", 20_000, value)
