"""Report which published centre a row is nearest to, and on which side of it the row lies."""

import math
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats, Integers, nearest_centers
from shoal.domain import Box
from shoal.domain.box import as_matrix
from shoal.errors import InvalidDomain, InvalidSetting, setting, value_text
from shoal.mechanisms.local._records import records_of
from shoal.mechanisms.local._reports import Reports
from shoal.mechanisms.local.bounded._base import (
    STEPS,
    Estimate,
    local_budget,
    own_reports,
    positive_number,
)
from shoal.mechanisms.local.categories._local_grid import Oracle, cell_oracle
from shoal.privacy import LocalDP, Number


@dataclass(frozen=True)
class ResidualSign:
    r"""Report the nearest published centre and a coin for the row's side of it in one column.

    A column is drawn without looking at the row. Along it the row lies some way from its nearest
    centre, cut to :math:`\pm reach`, and a coin says + with probability
    :math:`(1 + way/reach)/2`: right on average, whatever the law of the rows. Cluster and coin go
    through one frequency oracle together.

    Guarantee
    ---------
    ``LocalDP(epsilon)`` for the whole row. Drawn exactly. See ``residual_sign.proof.md``.

    Parameters
    ----------
    domain
        Public bounds. Rows outside are moved to their nearest point, NaN to the centre.
    centers
        Published ones, a line each, in raw units: learnt from other people's reports.
    reach
        How far from a centre is told apart, where half of each side of the box counts as 1.
    epsilon
        The promise of one report; at most 20.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> sides = ResidualSign(Box.unit(1), [[0.25], [0.75]], 0.4, epsilon=2.0)
    >>> rows = np.repeat([[0.30], [0.75]], 20_000, axis=0)
    >>> shifts = sides.shifts(sides.release(rows, Randomness(7).noise))
    >>> bool(np.all(abs(shifts - [[0.05], [0.0]]) < 0.02))
    True
    """

    domain: Box
    centers: tuple[tuple[float, ...], ...]
    reach: float
    _: KW_ONLY
    epsilon: Number

    def __post_init__(self) -> None:
        local_budget(self.epsilon)
        if not isinstance(self.domain, Box):
            raise InvalidDomain(
                setting("domain")
                + f" must be a Box of public bounds; got {value_text(self.domain)}.",
                "E.g. Box(age=(0, 110)).",
            )
        if not positive_number(self.reach):
            raise InvalidSetting.of("reach", "must be a positive number", 0.3, self.reach)
        lines = as_matrix(self.centers, self.domain.d)
        if not len(lines) or not np.all(np.isfinite(lines)):
            raise InvalidSetting(
                "The centres must be finite, and at least one.",
                "Give at least one published centre.",
            )
        object.__setattr__(self, "centers", tuple(map(tuple, lines.tolist())))

    @property
    def guarantee(self) -> LocalDP:
        """``LocalDP(epsilon)``: any two rows give every report with odds within e^epsilon."""
        return LocalDP(self.exact_epsilon).simulated(self.domain.simulation)

    @property
    def exact_epsilon(self) -> Fraction:
        """Epsilon as the fraction its decimal form names."""
        return local_budget(self.epsilon)

    @property
    def oracle(self) -> Oracle:
        """The frequency oracle over twice as many categories as there are centres."""
        return cell_oracle(self.epsilon, 2 * len(self.centers))

    def check(self, value: ArrayLike) -> None:
        """Refuse what is no table of numbers, before anything is written or drawn."""
        records_of(value, self.domain, clip=True)

    def release(self, value: ArrayLike, rng: np.random.Generator) -> Reports:
        """Return one report for each row: the column and the oracle's report."""
        rows = self.domain.scale(records_of(value, self.domain, clip=True), -1, 1)  # [P1]
        columns = rng.integers(0, self.domain.d, size=len(rows))  # [P2]
        nearest = nearest_centers(rows, self._scaled)
        every = np.arange(len(rows))
        ways = rows[every, columns] - self._scaled[nearest, columns]
        steps = np.rint((np.clip(ways / self.reach, -1, 1) + 1) * (STEPS // 2))
        sides = rng.integers(0, STEPS, size=len(rows)) < steps  # [P3]
        codes = self.oracle.release(2 * nearest + sides, rng).values  # [P4]
        return Reports.drawn(np.column_stack([columns, codes]), self, rng)

    def shifts(self, reports: Reports) -> Floats:
        """Estimate how far the mean of each centre's rows lies from it, in raw units.

        0 where a centre has no more rows than noise alone would show.

        Returns
        -------
            A line for each centre, a column for each column.
        """
        values = own_reports(reports, self).values
        moves = [self._column_shifts(values[values[:, 0] == j, 1]) for j in range(self.domain.d)]
        return np.column_stack(moves) * (self.domain.high - self.domain.low) / 2

    def shares(self, reports: Reports) -> Estimate:
        """Estimate the share of people nearest to each centre."""
        codes = own_reports(reports, self).values[:, 1]
        shares = self.oracle.frequencies(Reports(codes, self.oracle)).value
        error = math.sqrt(2 * self.oracle.variance() / codes.size)
        return Estimate(shares[::2] + shares[1::2], np.full(len(self.centers), error))

    def _column_shifts(self, codes: Integers) -> Floats:
        """Estimate the shift of each centre along one column, in scaled units."""
        if not codes.size:
            return np.zeros(len(self.centers))
        oracle = self.oracle
        shares = oracle.frequencies(Reports(codes, oracle)).value
        sizes, leans = shares[::2] + shares[1::2], shares[1::2] - shares[::2]
        # Two deviations: a centre with fewer rows than that cannot be moved in any direction.
        noise = 2 * math.sqrt(2 * oracle.variance() / codes.size)
        moves = leans / np.maximum(sizes, noise) * self.reach
        return np.where(sizes > noise, np.clip(moves, -self.reach, self.reach), 0.0)

    @property
    def _scaled(self) -> Floats:
        return self.domain.scale(np.array(self.centers), -1, 1)
