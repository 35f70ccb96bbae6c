"""Two inputs, and what a guarantee says about them: a number to hold a bound against."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import BadInput, InvalidPair, InvalidSetting
from shoal.privacy import ApproxDP, Guarantee, LocalDP, MetricDP, PureDP, Unprotected

__all__ = ["check_pair", "delta_of", "described", "epsilon_for", "epsilon_of"]

_NORMS = {"euclidean": 2, "manhattan": 1, "chebyshev": np.inf}
_LONGEST = 60


def epsilon_of(claim: Guarantee | float | None) -> float | None:
    """The epsilon of a claim that is the same for every pair; ``None`` if nothing is claimed."""
    if claim is None or isinstance(claim, Unprotected):
        return None
    if isinstance(claim, PureDP | LocalDP | ApproxDP):
        return float(claim.epsilon)
    if isinstance(claim, Guarantee):
        raise InvalidSetting(
            f"{claim} is no bound for a pair of outputs by itself.",
            "Give the number: for MetricDP epsilon times the distance of the inputs, plus slack.",
        )
    number = isinstance(claim, int | float | np.number) and not isinstance(claim, bool)
    if not number or not float(claim) >= 0:
        raise InvalidSetting("The claim is no number from 0 up.", "E.g. claim=PureDP(1).")
    return float(claim)


def epsilon_for(claim: Guarantee | float | None, mechanism: Any, pair: Any) -> float | None:
    """The epsilon of a claim for this pair: under ``MetricDP`` it grows with the distance."""
    if not isinstance(claim, MetricDP):
        return epsilon_of(claim)
    moved = _scaled_move(claim, mechanism, pair)
    distance = float(np.linalg.norm(moved, ord=_NORMS[claim.metric]))
    return float(claim.epsilon) * distance + float(claim.slack)


def delta_of(claim: Guarantee | float | None, delta: float) -> float:
    """The delta given, or else the claim's own."""
    return float(claim.delta) if isinstance(claim, ApproxDP) and delta == 0 else delta


def check_pair(pair: Any, mechanism: Any) -> tuple[Any, Any]:
    """Two different inputs, both in the domain; errors quote neither."""
    try:
        first, second = pair
    except (TypeError, ValueError):
        raise InvalidPair(
            f"The pair came as a {type(pair).__name__}, not as two inputs.", "E.g. pair=(5, 6)."
        ) from None
    if same(first, second):
        raise InvalidPair(
            "Both inputs are the same: nothing could ever tell them apart.",
            "Give two that the guarantee compares, e.g. tables that differ by one row.",
        )
    check = getattr(mechanism, "check", None)
    for which, value in (("first", first), ("second", second)):
        try:
            if check is not None:
                check(value)
        except BadInput as refused:
            raise InvalidPair(
                f"The {which} input is refused by {type(mechanism).__name__}: {refused.came}",
                "Give two inputs from its domain.",
            ) from None
    return first, second


def same(first: Any, second: Any) -> bool:
    """Whether two inputs are equal, whatever they are; where that cannot be told, no."""
    if first is second:
        return True
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        keys = first.keys() == second.keys()
        return keys and all(same(first[key], second[key]) for key in first)
    try:
        a, b = np.asarray(first), np.asarray(second)
    except ValueError:  # ragged
        return bool(first == second)
    if object in (a.dtype, b.dtype):
        return type(first) is type(second) and bool(np.all(first == second))
    return np.array_equal(a, b)


def described(pair: tuple[Any, Any], constructed: bool | str) -> str:
    """The pair in words; inputs that may be somebody's are not kept."""
    if isinstance(constructed, str):
        return constructed
    if not constructed:
        return "given by the caller, not kept"
    first, second = (_short(value) for value in pair)
    return f"{first} against {second}"


def _short(value: Any) -> str:
    text = str(value.tolist() if isinstance(value, np.ndarray) else value)
    return text if len(text) <= _LONGEST else f"a {type(value).__name__}"


def _scaled_move(claim: MetricDP, mechanism: Any, pair: Any) -> NDArray[np.float64]:
    """From one input to the other in scaled units."""
    first, second = (np.atleast_1d(np.asarray(value, dtype=np.float64)) for value in pair)
    space = getattr(getattr(mechanism, "drawn", mechanism), "space", None)
    if space is not None:
        scaled = space.scaled(np.stack([first, second]))
        return np.asarray(scaled[0] - scaled[1])
    if claim.unit != "1" or isinstance(claim.scale, str):
        raise InvalidSetting(
            f"How far the inputs are apart in units of {claim} is not known here.",
            "Give the claim as a number: epsilon times their distance, plus slack.",
        )
    units = 1.0 if claim.scale is None else np.array(claim.scale)
    return np.asarray((first - second) / units)
