"""Laplace noise in any number of dimensions: planar, spherical and n-dimensional."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats
from shoal.domain import Box
from shoal.domain.box import as_matrix
from shoal.errors import (
    DimensionMismatch,
    InvalidBudget,
    InvalidDomain,
    InvalidSetting,
    OutsideDomain,
    setting,
)
from shoal.mechanisms.local._records import domain_required, extremes, is_simulated, records_of
from shoal.mechanisms.local._reports import Reports
from shoal.mechanisms.local._scaling import Scale, Scaling
from shoal.mechanisms.local.laplace._lattice_step import FARTHEST, WIDEST_BOX, Lattice, checked_step
from shoal.mechanisms.local.laplace._noise_law import log_density, radius_quantile
from shoal.privacy import Guarantee, LocalDP, MetricDP, Number, Unprotected, exact_budget

_BLOCK = 2**14  # numbers worked on at a time: 128 kB, so they stay in the cache
# Columns the slack is stated for where neither domain nor scale tell how many:
# docs/decisions/local-lattice.md.
_MOST_COLUMNS = 1024


@dataclass(frozen=True)
class NDLaplace:
    r"""Add noise of density :math:`\propto e^{-\varepsilon \lVert u \rVert}` to records.

    Guarantee
    ---------
    ``MetricDP(epsilon)``: the odds of any report differ between records x, x' by at most
    :math:`e^{\varepsilon \lVert x - x' \rVert + \text{slack}}`, distances in scaled units. The
    closer two records, the better they are hidden from each other; far ones are told apart. The
    slack, some 1e-6, is the price of reports on a public lattice. Each report is a release of
    its own: k of one record cost k times epsilon. See ``nd_laplace.proof.md``.

    Parameters
    ----------
    epsilon
        Per scaled unit: per kilometre with ``Box.geo`` (whole-globe geometry is out of scope).
    scale
        How much of each column counts as one unit: ``None`` for 1 (epsilon per raw unit),
        ``"box"`` for half the box's sides, or numbers. Public, as the domain is.
    domain
        The public box; records outside are refused. Without one, numbers up to 2**45 steps of
        the lattice go: some 3e7 / epsilon.
    lattice
        The step of the lattice in scaled units; ``"auto"`` for some 2**-20 / epsilon. ``None``
        gives raw floats, which promise nothing: for simulations only.
    clip
        Move records into the box instead, and NaN to its centre, as every deployed client must.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> noise = NDLaplace(2.0, domain=Box(age=(0, 110), visits=(0, 20)), scale=(10, 2))
    >>> noise.release([[43, 7], [61, 2]], Randomness(7).noise).values.round(1).tolist()
    [[42.4, 6.2], [72.6, 5.2]]
    >>> round(noise.error_quantile(0.95), 2), noise.guarantee.slack < 2e-6
    (2.37, True)

    References
    ----------
    Andrés, Bordenabe, Chatzikokolakis, Palamidessi, Geo-indistinguishability, CCS 2013; Hardt,
    Talwar, On the geometry of differential privacy, STOC 2010.
    """

    _fixed_d: ClassVar[int | None] = None

    epsilon: Number
    scale: Scale = None
    domain: Box | None = None
    lattice: Lattice = "auto"
    clip: bool = False
    space: Scaling = field(init=False, repr=False, compare=False)
    step: float | None = field(init=False, repr=False, compare=False)
    guarantee: Guarantee = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        epsilon = exact_budget(self.epsilon)
        if not Fraction(1, 10**100) <= epsilon <= 10**100:
            raise InvalidBudget(
                setting("epsilon") + " must be between 1e-100 and 1e100.",
                "Choose another unit of distance: " + setting("scale") + ".",
            )
        if self.clip:
            domain_required(self.domain, "clip=True")
        object.__setattr__(self, "space", Scaling.of(self.scale, self.domain))
        object.__setattr__(self, "scale", self.space.scale)  # an array would have no hash
        self._check_width()
        step = None if self.lattice is None else checked_step(self.lattice, epsilon)
        object.__setattr__(self, "step", step)
        self._check_cells()
        object.__setattr__(self, "guarantee", self._promise(epsilon))

    @classmethod
    def from_radius(cls, level: Number, radius: Number, **settings: Any) -> Self:
        """Build it from a policy: records within ``radius`` get odds within e^``level``.

        >>> PlanarLaplace.from_radius(level=2, radius=0.5).guarantee.epsilon
        Fraction(4, 1)

        Parameters
        ----------
        level
            The largest log-odds between two such records.
        radius
            A distance in scaled units.
        **settings
            The other parameters of the class.
        """
        try:
            exact_radius = exact_budget(radius)
        except InvalidBudget:
            raise InvalidDomain(
                setting("radius") + " must be a positive, finite number.",
                "Give it in scaled units, e.g. " + setting("radius", 0.2) + ".",
            ) from None
        return cls(exact_budget(level) / exact_radius, **settings)

    @property
    def d(self) -> int | None:
        """The number of columns; ``None`` if only the records will tell."""
        return self._fixed_d or self.space.d

    @property
    def rate(self) -> float:
        """Epsilon as a float: how fast the density of the noise falls."""
        return float(exact_budget(self.epsilon))

    def error_quantile(self, p: float) -> float:
        """Return the distance within which a report stays with probability ``p``.

        Parameters
        ----------
        p
            A probability between 0 and 1.

        Returns
        -------
            The distance from the record, in scaled units.
        """
        return radius_quantile(self._known_d(), p) / self.rate

    def log_density(self, values: ArrayLike, atoms: ArrayLike) -> Floats:
        """Return the log-density of each report (lines) for a record at each atom (columns).

        Parameters
        ----------
        values
            Reports, in raw units.
        atoms
            Places where the record may be, in raw units.
        """
        reports = self.space.scaled(values)
        records = self.space.scaled(as_matrix(atoms, reports.shape[1]))
        logs = log_density(reports * self.rate, records * self.rate)
        logs += reports.shape[1] * math.log(self.rate)
        return logs

    def check(self, value: ArrayLike) -> None:
        """Refuse what is neither a table of records nor a record.

        Parameters
        ----------
        value
            The records.
        """
        self.records(value)

    def release(
        self, value: ArrayLike, rng: np.random.Generator, *, out: Floats | None = None
    ) -> Reports:
        """Return reports of a table, one a row, or of a single record.

        ``out``, a C-ordered float64 array, receives them; it may be the table itself.

        Parameters
        ----------
        value
            The records.
        rng
            The noise stream.
        out
            A C-ordered float64 array that receives the reports; it may be the table itself.
        """
        if self.step is None and not getattr(rng, "simulation", True):
            raise InvalidSetting(
                setting("lattice", None)
                + " needs a simulation: with real noise, the low bits of raw floats reveal "
                "records.",
                "Leave lattice at 'auto', or seed the run as a simulation.",
            )
        values = _copied_into(self.records(value), out)
        self._perturb(values, rng)
        return Reports.drawn(values, self, rng)

    @property
    def lattice_rate(self) -> float:
        """Epsilon per step of the lattice (per unit without one), rounded down."""
        return _float_not_above(exact_budget(self.epsilon) * Fraction(self.step or 1))

    def records(self, value: ArrayLike) -> Floats:
        """Return checked float64 rows, moved into the box if ``clip``.

        Parameters
        ----------
        value
            The records.
        """
        rows = records_of(value, self.domain, d=self.d, clip=self.clip)
        if self.d is None and rows.shape[1] > _MOST_COLUMNS:
            raise DimensionMismatch(
                f"Without a domain at most {_MOST_COLUMNS} columns are possible; "
                f"got {rows.shape[1]}.",
                "Give a domain, or scale with a number for each column.",
            )
        if self.domain is None and self.step is not None:
            self._refuse_far(rows)
        return rows

    def _refuse_far(self, rows: Floats) -> None:
        """Refuse records beyond the reach of the lattice, where there is no domain."""
        reach = FARTHEST * cast("float", self.step) * self.space.units(rows.shape[1])
        if not len(rows) or np.all(np.abs(extremes(rows)) <= reach):
            return
        far = np.any(np.abs(rows) > reach, axis=1)
        raise OutsideDomain(
            f"{np.count_nonzero(far)} of {len(rows)} rows lie more than 2**45 steps of the "
            "lattice from zero.",
            "Give a domain, or use a coarser unit: " + setting("scale") + ".",
        )

    def _perturb(self, values: Floats, rng: np.random.Generator) -> None:
        """Replace rows by reports, in place, a block at a time."""
        n, d = values.shape
        size = min(n, max(1, _BLOCK // d))
        origins = np.tile(self.space.origin(d), (size, 1))  # whole blocks: no slow broadcasting
        cells = np.tile(self.space.units(d) * (self.step or 1.0), (size, 1))
        noise, rate = np.empty_like(cells), self.lattice_rate
        for start in range(0, n, size or 1):
            rows = values[start : start + size]
            block = slice(len(rows))
            fill_with_noise(noise[block], rate, rng)
            if self.step is None:
                rows += np.multiply(noise[block], cells[block], out=noise[block])
            else:
                _add_on_lattice(rows, noise[block], origins[block], cells[block])

    def _promise(self, epsilon: Fraction) -> Guarantee:
        if self.step is None:
            return Unprotected("the low bits of raw float64 reports depend on the record")
        # Without a known width the slack is stated for the widest table that is taken.
        slack = lattice_slack(epsilon * Fraction(self.step), self.d or _MOST_COLUMNS, self._reach())
        unit, scale = self.space.unit, self.space.named
        promise = MetricDP(epsilon, "euclidean", slack=slack, unit=unit, scale=scale)
        return promise.simulated(is_simulated(self.domain))

    def _reach(self) -> float:
        """Return how many steps from the lattice's origin a record may lie."""
        if self.domain is None:
            return FARTHEST
        cells = self.space.units(self.domain.d) * cast("float", self.step)
        reach = float(np.max((self.domain.high - self.domain.low) / cells))
        if reach > WIDEST_BOX:
            raise InvalidSetting(
                "The box is more than 2**50 steps of the lattice across.",
                "Use a coarser unit, e.g. "
                + setting("scale", "box")
                + ", and choose epsilon for that.",
            )
        return reach

    def as_local(self) -> LocalDP:
        """Return the ``LocalDP`` that the guarantee implies for any two records of the domain."""
        box = domain_required(self.domain, "as_local()")
        if not isinstance(self.guarantee, MetricDP):
            raise InvalidSetting(f"Nothing is promised: {self.guarantee}.", "Give a lattice.")
        return self.guarantee.as_local(box)

    def _check_width(self) -> None:
        if self._fixed_d and self.space.d not in (None, self._fixed_d):
            raise DimensionMismatch(
                f"{type(self).__name__} is for {self._fixed_d} columns; domain or scale have "
                f"{self.space.d}.",
                "Use NDLaplace, or choose the columns.",
                reason="columns",
            )

    def _check_cells(self) -> None:
        with np.errstate(over="ignore"):
            cells = self.space.units(self.d or 1) * (self.step or 1.0)
        if not np.all((cells > 1e-300) & (cells < 1e300)):
            raise InvalidDomain(
                "The box or scale is too small or too large for float64 at this epsilon.",
                "Give the columns in another unit, e.g. metres for micrometres.",
            )

    def _known_d(self) -> int:
        if self.d is None:
            raise DimensionMismatch(
                "The number of columns is not known yet.",
                "Give a domain, or scale with a number for each column.",
            )
        return self.d


@dataclass(frozen=True)
class PlanarLaplace(NDLaplace):
    """``NDLaplace`` for two columns: geo-indistinguishability on a map.

    Examples
    --------
    >>> city = Box.geo(latitude=(52.3, 52.7), longitude=(13.1, 13.8))
    >>> noise = PlanarLaplace.from_radius(level=1, radius=0.2, domain=city)  # 0.2 km
    >>> noise.guarantee.unit, float(noise.guarantee.epsilon)
    ('km', 5.0)
    """

    _fixed_d: ClassVar[int | None] = 2


@dataclass(frozen=True)
class SphericalLaplace(NDLaplace):
    """``NDLaplace`` for three columns.

    Examples
    --------
    >>> round(SphericalLaplace(1.0).error_quantile(0.95), 2)
    6.3
    """

    _fixed_d: ClassVar[int | None] = 3


def fill_with_noise(out: Floats, rate: float, rng: np.random.Generator) -> None:
    """Fill an array with noise of density proportional to e^(-rate ||u||), a vector each row."""
    n, d = out.shape
    radius = rng.standard_gamma((d + 1) / 2, size=n)  # [P2]
    np.sqrt(radius, out=radius)
    radius *= math.sqrt(2) / rate
    rng.standard_normal(out=out)
    out *= radius[:, np.newaxis]


def lattice_slack(step_cost: Fraction, d: int, reach: float) -> Fraction:
    """Return what rounding a record to the lattice costs, rounded up to a multiple of 1e-9.

    A step a column, and what float64 gets wrong before rounding at so many steps from the origin.
    """
    # One step for the rounding of the record, the rest for float64's error at that distance.
    steps = 1 + Fraction(reach) / 2**50
    square = (step_cost * steps) ** 2 * d * 10**18  # [P4]
    root = math.isqrt(math.ceil(square))
    return Fraction(root if root * root >= square else root + 1, 10**9)


def to_places(rows: Floats, origin: Floats, cell: Floats) -> None:
    """Convert rows, in place, to whole numbers of steps from the origin."""
    rows -= origin
    rows /= cell
    np.rint(rows, out=rows)


def _add_on_lattice(rows: Floats, noise: Floats, origins: Floats, cells: Floats) -> None:
    """Turn rows into reports, in place: record and noise are rounded apart, then added."""
    to_places(rows, origins, cells)  # [P3] k, of the record alone
    np.rint(noise, out=noise)  # [P3] K, of the noise alone
    rows += noise  # [P3] exact: whole numbers below 2**53
    rows *= cells  # [P5] from here on a function of k + K
    rows += origins


def _copied_into(rows: Floats, out: Floats | None) -> Floats:
    """Copy the rows into ``out``, or into a new array."""
    if out is None:
        return np.array(rows, order="C")
    good = isinstance(out, np.ndarray) and out.dtype == np.float64 and out.flags.c_contiguous
    if not good or out.shape != rows.shape or not out.flags.writeable:
        raise InvalidSetting(
            setting("out") + " must be a writeable, C-ordered float64 array with the shape of "
            "the records.",
            "Leave it out, or give np.empty(shape).",
        )
    if out is not rows:
        out[...] = rows
    return out


def _float_not_above(rate: Fraction) -> float:
    """Return the largest float64 not above a rate: noise is never narrower than promised."""
    near = float(rate)  # [P1]
    return near if Fraction(near) <= rate else math.nextafter(near, 0)
