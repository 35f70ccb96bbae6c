"""Pairs of inputs, and the epsilon that a guarantee promises for them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.errors import BadInput, InvalidSetting, setting
from shoal.privacy import ApproxDP, Guarantee, LocalDP, MetricDP, PureDP, Unprotected

_NORMS = {"euclidean": 2, "manhattan": 1, "chebyshev": np.inf}
_LONGEST = 60  # characters of an input in a description


def epsilon_of(claim: Guarantee | float | None) -> float | None:
    """Return the epsilon of a claim that is the same for every pair; None without a claim."""
    if claim is None or isinstance(claim, Unprotected):
        return None
    if isinstance(claim, PureDP | LocalDP | ApproxDP):
        return float(claim.epsilon)
    if isinstance(claim, Guarantee):
        raise InvalidSetting(
            f"{claim} does not bound a pair of outputs by itself.",
            "Give the number: for MetricDP epsilon times the distance of the inputs, plus slack.",
        )
    number = isinstance(claim, int | float | np.number) and not isinstance(claim, bool)
    if not number or not float(claim) >= 0:
        raise InvalidSetting(
            "The claim must be a guarantee or a number of 0 or more.",
            "E.g. claim=PureDP(1).",
            setting="claim",
        )
    return float(claim)


def epsilon_of_pair(claim: Guarantee | float | None, mechanism: Any, pair: Any) -> float | None:
    """Return a claim's epsilon for this pair; under ``MetricDP`` it grows with the distance."""
    if not isinstance(claim, MetricDP):
        return epsilon_of(claim)
    apart = pair_distances(claim, mechanism, *pair)
    if apart is None:
        raise InvalidSetting(
            f"How far the inputs are apart in units of {claim} is not known here.",
            "Give the claim as a number: epsilon times their distance, plus slack.",
        )
    people = np.count_nonzero(apart)  # one, unless both inputs are tables that differ in more
    return float(claim.epsilon) * float(apart.sum()) + float(claim.slack) * people


def delta_of(claim: Guarantee | float | None, delta: float) -> float:
    """Return the delta given, or else the claim's own.

    Parameters
    ----------
    delta
        The delta given; 0 for none.
    """
    return float(claim.delta) if isinstance(claim, ApproxDP) and delta == 0 else delta


def check_row_pair(claim: Guarantee | float | None, pair: tuple[Any, Any]) -> tuple[str, ...]:
    """Check that a promise about rows compares these two tables, and return remarks about it."""
    tables = all(np.ndim(getattr(each, "shape", 0)) and len(each.shape) == 2 for each in pair)
    if not isinstance(claim, PureDP | ApproxDP) or not tables:
        return ()
    sizes = [each.shape[0] for each in pair]
    if claim.neighbours == "replace-one" and sizes[0] != sizes[1]:
        raise InvalidSetting(
            f"{claim} compares tables of the same size; these have {sizes[0]:,} and {sizes[1]:,} "
            "rows.",
            "Replace a row instead of adding one, or claim what holds for rows added or removed.",
            setting="pair",
        )
    if claim.neighbours == "add-remove" and sizes[0] == sizes[1]:
        return ("if a row was replaced: that is two steps, for which 2 epsilon are promised",)
    return ()


def check_pair(pair: Any, mechanism: Any) -> tuple[Any, Any]:
    """Check that there are two different inputs in the domain; errors quote neither."""
    try:
        first, second = pair
    except (TypeError, ValueError):
        raise InvalidSetting(
            f"pair must be two inputs; got one {type(pair).__name__}.",
            "E.g. " + setting("pair", (5, 6)) + ".",
            setting="pair",
        ) from None
    if are_equal(first, second):
        raise InvalidSetting(
            "Both inputs are the same: nothing could ever tell them apart.",
            "Give two that the guarantee compares, e.g. tables that differ by one row.",
            setting="pair",
        )
    check = getattr(mechanism, "check", None)
    for which, value in (("first", first), ("second", second)):
        try:
            if check is not None:
                check(value)
        except BadInput as refused:
            raise InvalidSetting(
                f"The {which} input is refused by {type(mechanism).__name__}: {refused.message}",
                "Give two inputs from its domain.",
                setting="pair",
            ) from None
    return first, second


def are_equal(first: Any, second: Any) -> bool:
    """Return whether two inputs of any kind are equal; False where that cannot be decided."""
    if first is second:
        return True
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        keys = first.keys() == second.keys()
        return keys and all(are_equal(first[key], second[key]) for key in first)
    try:
        a, b = np.asarray(first), np.asarray(second)
    except ValueError:  # ragged
        return bool(first == second)
    if object in (a.dtype, b.dtype):
        return type(first) is type(second) and bool(np.all(first == second))
    return np.array_equal(a, b)


def describe_pair(pair: tuple[Any, Any], constructed: bool | str) -> str:
    """Describe the pair in words; inputs that may be somebody's are not quoted."""
    if isinstance(constructed, str):
        return constructed
    if not constructed:
        return "given by the caller, not kept"
    first, second = (_short(value) for value in pair)
    return f"{first} against {second}"


def _short(value: Any) -> str:
    text = str(value.tolist() if isinstance(value, np.ndarray) else value)
    return text if len(text) <= _LONGEST else f"a {type(value).__name__}"


def pair_distances(claim: MetricDP, mechanism: Any, first: Any, second: Any) -> Floats | None:
    """Return the distances of corresponding rows of two inputs, in the claim's own units.

    None where those units are not known here.
    """
    a, b = (np.atleast_2d(np.asarray(value, dtype=np.float64)) for value in (first, second))
    if a.shape != b.shape:
        raise InvalidSetting(
            f"The inputs must have the same shape; got {a.shape} and {b.shape}.",
            f"{claim} compares two values of one record.",
            setting="pair",
        )
    moved = _scaled_move(claim, mechanism, a, b)
    return None if moved is None else np.linalg.norm(moved, ord=_NORMS[claim.metric], axis=1)


def _scaled_move(claim: MetricDP, mechanism: Any, a: Floats, b: Floats) -> Floats | None:
    space = getattr(getattr(mechanism, "drawn", mechanism), "space", None)
    own = getattr(getattr(mechanism, "guarantee", None), "kind", None)
    if space is not None and own == claim.kind:
        return np.asarray(space.scaled(a) - space.scaled(b))
    if claim.unit != "1" or isinstance(claim.scale, str):
        return None
    return np.asarray((a - b) / (1.0 if claim.scale is None else np.array(claim.scale)))
