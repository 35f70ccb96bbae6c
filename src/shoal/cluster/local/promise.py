"""What a mechanism says about itself, under whichever names it has it."""

from typing import Any

from shoal.domain import Box
from shoal.privacy import LocalDP, MetricDP

__all__ = ["as_local", "box_of"]


def box_of(mechanism: Any) -> Box | None:
    """Its public bounds, if it has any.

    Examples
    --------
    >>> from shoal.mechanisms import NDLaplace
    >>> box_of(NDLaplace(1.0, bounds=Box(age=(0, 110)))), box_of(NDLaplace(1.0))
    (Box(age=(0, 110)), None)
    """
    named = (getattr(mechanism, name, None) for name in ("bounds", "domain", "box"))
    return next((box for box in named if isinstance(box, Box)), None)


def as_local(mechanism: Any) -> LocalDP:
    """Its promise for any two records of its box; ``UnknownBounds`` where it has none."""
    guarantee, box = mechanism.guarantee, box_of(mechanism)
    if isinstance(guarantee, LocalDP):
        return guarantee
    if isinstance(guarantee, MetricDP) and box is not None:
        return guarantee.as_local(box)
    local: LocalDP = mechanism.as_local()
    return local
