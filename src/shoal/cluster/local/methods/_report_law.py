"""The likelihood of a report given its record, for mechanisms whose law is known."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.cluster.local._inputs import box_of
from shoal.domain import Box
from shoal.errors import NotAReport, setting
from shoal.mechanisms import NDLaplace, Piecewise, Reports, SquareWave
from shoal.mechanisms.local.laplace import Law

_NODES = {1: 128, 2: 24, 3: 12}  # fewest lattice nodes along an axis, by number of columns


@dataclass(frozen=True)
class SlidingLaw:
    """The law of one column: a window moves with the value, and is e^epsilon times as likely.

    Parameters
    ----------
    half_width
        Of the window, on the scale where the box is [-1, 1].
    Examples
    --------
    >>> law = SlidingLaw(Box(x=(-1, 1)), half_width=0.5, slope=1.0, ratio=math.e)
    >>> law.log_density(np.array([[0.2]]), np.array([[0.0], [0.9]])).tolist()
    [[1.0, 0.0]]
    """

    box: Box
    half_width: float
    slope: float
    ratio: float

    def log_density(self, values: Floats, atoms: Floats) -> Floats:
        """Return the log density of each report (rows) at each atom (columns), up to a constant."""
        at, middles = self.box.scale(values, -1, 1), self.slope * self.box.scale(atoms, -1, 1)
        inside = np.abs(at - middles.T) <= self.half_width
        return np.where(inside, math.log(self.ratio), 0.0)


def law_of(reports: Reports) -> Law:
    """Return the law of these reports.

    Raises
    ------
    NotAReport
        If the density of their mechanism is not known here.
    """
    mechanism = reports.mechanism
    if isinstance(mechanism, NDLaplace):
        return mechanism
    if isinstance(mechanism, Piecewise | SquareWave) and reports.values.shape[1] == 1:
        return _sliding_law(mechanism)
    raise NotAReport(
        f"The density of {type(mechanism).__name__} in {_columns(reports)} is not known here.",
        "Use NDLaplace or LocalGrid, or " + setting("method", "plain") + ", which needs no "
        "density.",
    )


def span_of(reports: Reports) -> tuple[Floats, Floats]:
    """Return where records may lie: the public box, or else the extent of the reports.

    Returns
    -------
    The lowest and the highest corner.
    """
    box = box_of(reports.mechanism)
    if box is None and not isinstance(reports.mechanism, NDLaplace):
        box = _scale_of(reports.mechanism)
    if box is not None:
        return box.low, box.high
    return reports.values.min(axis=0), reports.values.max(axis=0)


def step_of(reports: Reports, span: Floats) -> Floats:
    """Return the step of a lattice fine enough for these reports: half the scale of their noise."""
    d = span.size
    least = span / _NODES[d]
    if not isinstance(reports.mechanism, NDLaplace):
        return least
    mechanism = reports.mechanism
    return np.minimum(least, mechanism.space.units(d) / (2 * mechanism.rate))


def _sliding_law(mechanism: Piecewise | SquareWave) -> SlidingLaw:
    epsilon, box = float(mechanism.exact_epsilon), box_of(mechanism) or _scale_of(mechanism)
    if isinstance(mechanism, SquareWave):
        return SlidingLaw(box, 2 * mechanism.half_width, 1.0, math.exp(epsilon))
    root_ratio = math.exp(epsilon / 2)
    far = (root_ratio + 1) / (root_ratio - 1)  # reports lie in [-far, far]
    return SlidingLaw(box, (far - 1) / 2, (far + 1) / 2, math.exp(epsilon))


def _scale_of(mechanism: Any) -> Box:
    """Return the range of values of mechanisms without a box, which are scaled already."""
    return Box.unit(1) if isinstance(mechanism, SquareWave) else Box(x0=(-1, 1))


def _columns(reports: Reports) -> str:
    d = reports.values.shape[1] if reports.values.ndim == 2 else 1
    return "one column" if d == 1 else f"{d} columns"
