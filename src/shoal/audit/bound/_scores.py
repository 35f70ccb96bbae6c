"""Exact log-likelihood ratios of outputs, for mechanisms whose law is known.

The laws are written here again from the literature, not taken from the mechanisms: an audit that
asked the code for its own law would share its mistakes (hashed cells are the exception). Each
likelihood is up to a factor that depends on the output only, which cancels in a ratio.
"""

import math
from collections.abc import Mapping
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats
from shoal.audit.bound._statistics import Score
from shoal.errors import InvalidSetting
from shoal.mechanisms import (
    Duchi,
    Gaussian,
    Geometric,
    Harmony,
    Hybrid,
    KNorm,
    LocalGrid,
    Mixed,
    NDLaplace,
    Piecewise,
    PrivUnit,
    ProductNorm,
    RandomizedResponse,
    Restrict,
    SquareWave,
    Staircase,
    UnaryEncoding,
)

_PIECEWISE_FROM = 0.6094  # below, Hybrid reports signs only


def exact_score(mechanism: Any, pair: tuple[Any, Any]) -> Score:
    """Return the log-likelihood ratio of outputs, first input over second, for ``lower_bound``.

    Parameters
    ----------
    mechanism
        One of our mechanisms.
    pair
        The two inputs.

    Examples
    --------
    >>> score = exact_score(NDLaplace(2.0), ([0.0, 0.0], [1.0, 0.0]))
    >>> score(np.array([[0.0, 0.0], [0.5, 3.0], [4.0, 0.0]])).round(6).tolist()
    [2.0, 0.0, -2.0]
    """
    first, second = pair

    def score(values: ArrayLike) -> Floats:
        outputs = np.asarray(values)
        ratio = log_likelihood(mechanism, outputs, first) - log_likelihood(
            mechanism, outputs, second
        )
        return np.asarray(ratio)

    return score


@singledispatch
def log_likelihood(mechanism: Any, values: Any, x: Any) -> Floats:
    """Return the log-likelihood of each output given an input, up to a term of the output."""
    raise InvalidSetting(
        f"The noise distribution of {type(mechanism).__name__} is not known here.",
        "Leave score out: boosted trees then learn one.",
    )


def has_law(mechanism: Any) -> bool:
    """Return whether the law of a mechanism is written here."""
    return log_likelihood.dispatch(type(mechanism)) is not log_likelihood.dispatch(object)


@log_likelihood.register
def _(mechanism: NDLaplace, values: Floats, x: Any) -> Floats:
    reports = mechanism.space.scaled(values)
    record = mechanism.space.scaled(np.reshape(np.asarray(x, dtype=np.float64), (1, -1)))
    # The noise is added to the record's place on the lattice, not to the record.
    if mechanism.step is not None:
        record = np.rint(record / mechanism.step) * mechanism.step
    return -mechanism.rate * np.asarray(np.linalg.norm(reports - record, axis=1))


@log_likelihood.register
def _(mechanism: Restrict, values: Floats, x: Any) -> Floats:
    """Of the noise as drawn; what restricting adds is a constant for each input."""
    return log_likelihood(mechanism.drawn, values, x)


@log_likelihood.register
def _(mechanism: Piecewise, values: Floats, x: Any) -> Floats:
    reports, row = _scaled(mechanism, values, x)
    return _sum_over_reported(mechanism, reports, row, _in_window)


@log_likelihood.register
def _(mechanism: Hybrid, values: Floats, x: Any) -> Floats:
    reports, row = _scaled(mechanism, values, x)
    return _sum_over_reported(mechanism, reports, row, _sign_or_window)


@log_likelihood.register
def _(mechanism: Duchi, values: Floats, x: Any) -> Floats:
    """1 + (E - 1) P[more than half the columns agree with the rounded row]."""
    reports, row = _scaled(mechanism, values, x)
    agrees = (1 + np.sign(reports) * row) / 2
    d = row.size
    chances = np.zeros((d + 1, len(reports)))  # of so many columns agreeing
    chances[0] = 1.0
    for p in agrees.T:
        moved = chances[:-1] * p
        chances *= 1 - p
        chances[1:] += moved
    most = chances[d // 2 + 1 :].sum(axis=0)
    return np.asarray(np.log1p(math.expm1(mechanism.exact_epsilon) * most))


@log_likelihood.register
def _(mechanism: Harmony, values: Floats, x: Any) -> Floats:
    reports, row = _scaled(mechanism, values, x)
    lean = np.tanh(float(mechanism.exact_epsilon) / 2) * np.sign(reports) @ row
    return np.asarray(np.log1p(lean))


@log_likelihood.register
def _(mechanism: PrivUnit, values: Floats, x: Any) -> Floats:
    """Past the radius along the row's direction a report is e^epsilon as likely."""
    reports, row = _scaled(mechanism, values, x)
    d = row.size
    radius = math.sqrt(d) if mechanism.radius is None else float(mechanism.radius)
    if mechanism.radius is not None and mechanism.domain is None:
        radius = 1.0  # the scale is the ball's own then
    length = float(np.linalg.norm(row))
    along = reports @ (row / length if length else np.eye(d)[0])
    growth, facing = math.expm1(mechanism.exact_epsilon), (1 + min(length / radius, 1)) / 2
    past = facing * (along >= radius) + (1 - facing) * (-along >= radius)
    return np.asarray(np.log1p(growth * past))


@log_likelihood.register
def _(mechanism: SquareWave, values: Floats, x: Any) -> Floats:
    reports, row = _scaled(mechanism, values, x)  # on [-1, 1], twice as wide as [0, 1]
    inside = np.abs(reports[:, 0] - row[0]) <= 2 * mechanism.half_width
    return np.asarray(float(mechanism.exact_epsilon) * inside)


@log_likelihood.register
def _(mechanism: Staircase, values: Floats, x: Any) -> Floats:
    reports, row = _scaled(mechanism, values, x)
    epsilon = float(mechanism.exact_epsilon)
    widths = np.abs(reports[:, 0] - row[0]) / 2  # the domain is 2 wide on this scale
    return np.asarray(-epsilon * np.floor(widths + 1 - 1 / (1 + math.exp(epsilon / 2))))


@log_likelihood.register
def _(mechanism: RandomizedResponse, values: Any, x: Any) -> Floats:
    log_odds: Floats = float(mechanism.exact_epsilon) * (np.ravel(values) == _code(mechanism, x))
    return log_odds


@log_likelihood.register
def _(mechanism: UnaryEncoding, values: Any, x: Any) -> Floats:
    """All bits but the own are rarely 1; what the own would have been is taken out again."""
    own = np.asarray(values)[:, _code(mechanism, x)]
    rare = 1 / (math.exp(mechanism.exact_epsilon) + 1)
    return np.where(own == 1, -math.log(rare), -math.log1p(-rare))


@log_likelihood.register
def _(mechanism: LocalGrid, values: Any, x: Any) -> Floats:
    """The one law taken from the mechanism: which cells share a hash is its own business."""
    cell = mechanism.grid.keys(np.reshape(np.asarray(x, dtype=np.float64), (1, -1)))[0]
    chances = mechanism.chances(np.eye(1, mechanism.grid.size, int(cell))[0])
    return np.asarray(np.log(chances)[np.ravel(values)])


@log_likelihood.register
def _(mechanism: Mixed, values: Any, x: Mapping[str, Any]) -> Floats:
    total, column = np.zeros(len(values)), 0
    for name, each in mechanism.mechanisms.items():
        width = each.size if isinstance(each, UnaryEncoding) else 1
        total += log_likelihood(each, values[:, column : column + width], x[name])
        column += width
    return total


@log_likelihood.register
def _(mechanism: Geometric, values: Any, x: Any) -> Floats:
    return np.asarray(-float(mechanism.step) * np.abs(_differences(values, x)).sum(axis=1))


@log_likelihood.register
def _(mechanism: KNorm, values: Any, x: Any) -> Floats:
    return np.asarray(-np.linalg.norm(_differences(values, x), axis=1) / float(mechanism.scale))


@log_likelihood.register
def _(mechanism: ProductNorm, values: Any, x: Any) -> Floats:
    apart = np.abs(_differences(values, x))
    starts = np.cumsum([0, *mechanism.blocks[:-1]])
    lengths = np.add.reduceat(apart, starts, axis=1) / np.array([*map(float, mechanism.scales)])
    return np.asarray(-lengths.max(axis=1))


@log_likelihood.register
def _(mechanism: Gaussian, values: Any, x: Any) -> Floats:
    squares = np.square(_differences(values, x)).sum(axis=1)
    return np.asarray(-squares / (2 * float(mechanism.sigma) ** 2))


def _differences(values: Any, x: Any) -> Floats:
    return np.asarray(values, dtype=np.float64) - np.ravel(x)


def _scaled(mechanism: Any, values: Floats, x: Any) -> tuple[Floats, Floats]:
    """Return reports and row on the scale where the public box is [-1, 1]^d."""
    row = np.atleast_1d(np.asarray(x, dtype=np.float64))
    box = mechanism._box(row.size)
    return box.scale(values, -1, 1), box.scale(row.reshape(1, -1), -1, 1)[0]


def _sum_over_reported(
    mechanism: Piecewise | Hybrid, reports: Floats, row: Floats, column: Any
) -> Floats:
    """Sum over the reported columns, k of d at epsilon/k each, scaled by d/k; the rest are 0."""
    d = row.size
    k = mechanism.columns_reported(d)
    epsilon = float(mechanism.exact_epsilon) / k
    log_odds = np.stack([column(reports[:, j] * (k / d), row[j], epsilon) for j in range(d)])
    return np.asarray(np.where(np.abs(reports.T) > 1e-9, log_odds, 0.0).sum(axis=0))


def _in_window(z: Floats, x: float, epsilon: float) -> Floats:
    """Return Piecewise's likelihood: epsilon inside the window around (C + 1) x / 2."""
    root = math.exp(epsilon / 2)
    C = (root + 1) / (root - 1)
    return np.asarray(epsilon * (np.abs(z - (C + 1) * x / 2) <= (C - 1) / 2))


def _sign_or_window(z: Floats, x: float, epsilon: float) -> Floats:
    """Return Hybrid's likelihood: a sign at plus or minus C1, elsewhere Piecewise."""
    size = 1 / math.tanh(epsilon / 2)
    sign = np.log1p(np.sign(z) * x / size)
    if epsilon <= _PIECEWISE_FROM:
        return np.asarray(sign)
    return np.where(np.abs(np.abs(z) - size) < 1e-6, sign, _in_window(z, x, epsilon))


def _code(mechanism: RandomizedResponse | UnaryEncoding, x: Any) -> int:
    return int(mechanism._codes(x)[0])
