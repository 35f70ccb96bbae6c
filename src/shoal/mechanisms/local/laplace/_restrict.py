"""Laplace noise redrawn until the report lies in the box: a law with a guarantee of its own."""

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats
from shoal.domain import Box
from shoal.errors import InvalidDomain, InvalidSetting, setting
from shoal.mechanisms.local._records import domain_required
from shoal.mechanisms.local._reports import Reports
from shoal.mechanisms.local.laplace._nd_laplace import NDLaplace, fill_with_noise, to_places
from shoal.privacy import Guarantee, MetricDP, exact_budget

_LEAST_ACCEPTANCE = 1e-3  # below, a report takes over a thousand draws on average


@dataclass(frozen=True)
class Restrict:
    """``NDLaplace`` whose noise is drawn again until the report lies in the box.

    Guarantee
    ---------
    Whether a draw is kept depends on the record, so the law of the noise changes, and with it the
    promise: noise of epsilon keeps 2 epsilon. By default noise is drawn at half the mechanism's
    epsilon, so that its epsilon is what is promised. ``clamp(box)`` costs nothing and keeps the
    whole epsilon for the noise; prefer it unless reports on the faces are in the way. See
    ``restrict.proof.md``.

    Parameters
    ----------
    mechanism
        The noise, with its scale and lattice.
    domain
        Public bounds where reports must lie; the mechanism's own domain if left out.
    calibrate
        ``True``: draw at epsilon/2 and promise epsilon. ``False``: draw at epsilon, promise 2
        epsilon.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> restricted = Restrict(NDLaplace(2.0), Box(x=(0, 5), y=(0, 5)))
    >>> float(restricted.guarantee.epsilon), float(restricted.drawn.guarantee.epsilon)
    (2.0, 1.0)
    >>> reports = restricted.release(np.zeros((100, 2)), Randomness(7).noise)
    >>> restricted.domain.contains(reports.values).all()
    np.True_
    """

    mechanism: NDLaplace
    domain: Box | None = None
    calibrate: bool = True
    drawn: NDLaplace = field(init=False, repr=False, compare=False)
    guarantee: Guarantee = field(init=False, repr=False, compare=False)
    acceptance: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, NDLaplace):
            raise InvalidSetting(
                "Restrict is for NDLaplace and its subclasses; got a "
                f"{type(self.mechanism).__name__}.",
                "E.g. Restrict(NDLaplace(1.0), box).",
            )
        box = _shared_domain(self.mechanism, self.domain)
        halves = Fraction(1, 2) if self.calibrate else Fraction(1)
        epsilon = exact_budget(self.mechanism.epsilon) * halves
        drawn = replace(self.mechanism, epsilon=epsilon, domain=box)
        if not isinstance(drawn.guarantee, MetricDP):
            raise InvalidSetting(
                "A mechanism without a lattice promises nothing.",
                "Leave " + setting("lattice", "auto") + ".",
            )
        object.__setattr__(self, "domain", box)
        object.__setattr__(self, "drawn", drawn)
        object.__setattr__(self, "guarantee", drawn.guarantee * 2)  # [P1] epsilon and slack
        object.__setattr__(self, "acceptance", _checked_acceptance(drawn, box))

    def check(self, value: ArrayLike) -> None:
        """Refuse what is neither a table of records nor a record.

        Parameters
        ----------
        value
            The records.
        """
        self.drawn.check(value)

    def release(self, value: ArrayLike, rng: np.random.Generator) -> Reports:
        """Return reports of a table, one a row, or of a single record, all inside the box.

        Parameters
        ----------
        value
            The records.
        rng
            The noise stream.
        """
        box = cast("Box", self.domain)
        cell = self.drawn.space.units(box.d) * cast("float", self.drawn.step)
        top = np.floor((box.high - box.low) / cell)
        places = np.array(self.drawn.records(value))
        to_places(places, box.low, cell)
        np.clip(places, 0, top, out=places)  # [P2] the record's own place lies in the box
        _redraw_until_inside(places, top, self.drawn.lattice_rate, rng)
        return Reports.drawn(np.minimum(box.low + places * cell, box.high), self, rng)


def _redraw_until_inside(
    places: Floats, top: Floats, rate: float, rng: np.random.Generator
) -> None:
    """Add noise to each row, drawn again until the sum lies in 0 .. top."""
    waiting = np.arange(len(places))
    while waiting.size:  # [P3] without a cap: giving up would tell of the record
        drawn = np.empty((waiting.size, top.size))
        fill_with_noise(drawn, rate, rng)
        np.rint(drawn, out=drawn)
        drawn += places[waiting]
        inside = np.all((drawn >= 0) & (drawn <= top), axis=1)
        places[waiting[inside]] = drawn[inside]
        waiting = waiting[~inside]


def _shared_domain(mechanism: NDLaplace, domain: Box | None) -> Box:
    if domain is not None and mechanism.domain not in (None, domain):
        raise InvalidDomain(
            "The mechanism has another domain than this one.",
            "Leave one of the two out: records and reports share one domain here.",
        )
    return domain_required(domain or mechanism.domain, "Restrict")


def _checked_acceptance(drawn: NDLaplace, box: Box) -> float:
    """Return the probability of keeping a draw at a corner, the worst place; public."""
    # A corner keeps at most this share: in many columns the integral need not be computed.
    most = 2.0**-box.d  # [P4]
    sides = (box.high - box.low) / drawn.space.units(box.d)
    acceptance = most if most < _LEAST_ACCEPTANCE else _corner_acceptance(sides, drawn.rate)
    if acceptance < _LEAST_ACCEPTANCE:
        raise InvalidDomain(
            f"At a corner of the box one draw in {1 / acceptance:,.0f} would land inside.",
            "Use clamp(box) on plain reports, which is free; or raise epsilon, widen the box, or "
            "take fewer columns (ten and more never do).",
            reason="restriction too tight",
        )
    return acceptance


def _corner_acceptance(sides: Floats, rate: float) -> float:
    """Compute E prod (Phi(w a) - 1/2), a = rate / sqrt(2V), V ~ Gamma((d+1)/2).

    In y = log v the integrand is smooth and falls off exponentially at both ends, where the
    trapezoid rule converges faster than any power of its step.
    """
    shape = (sides.size + 1) / 2
    y = np.linspace(-60, 8, 2_001)
    log_weights = shape * y - np.exp(y) - math.lgamma(shape)
    half_erf = np.vectorize(lambda z: math.erf(z) / 2)  # Phi(t) - 1/2 = erf(t / sqrt 2) / 2
    inside = np.prod([half_erf(side * rate / 2 * np.exp(-y / 2)) for side in sides], axis=0)
    return float(np.sum(inside * np.exp(log_weights)) * (y[1] - y[0]))
