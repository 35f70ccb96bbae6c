"""Draw many outputs of a mechanism on one input, in one call where possible."""

import inspect
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.errors import InvalidSetting
from shoal.mechanisms.local.bounded import Bounded
from shoal.mechanisms.local.categories import Categorical
from shoal.mechanisms.registry import REGISTRY

Call = Callable[[Any, Any], Any]
Draw = Callable[[Any, int, np.random.Generator], Any]
Progress = Callable[[str, float], None]
_PARTS = 20  # of a side, after each of which progress is reported


@dataclass(frozen=True)
class Batched:
    """A function that draws many outputs at once, for audits: ``Batched(f)``.

    Parameters
    ----------
    draw
        ``draw(x, n, rng)`` returns ``n`` independent outputs on the input ``x``: an array, one
        output a line, or a list.

    Examples
    --------
    >>> laplace = Batched(lambda x, n, rng: x + rng.laplace(0, 1, n))
    >>> laplace.draw(3.0, 5, np.random.default_rng(0)).shape
    (5,)
    """

    draw: Draw


@dataclass(frozen=True)
class Failure:
    """An output that failed: the name of the exception raised in its place."""

    name: str


def draw_outputs(
    mechanism: Any, x: Any, n: int, rng: np.random.Generator, progress: Progress | None = None
) -> Any:
    """Draw ``n`` independent outputs on the input ``x``.

    One of our mechanisms on records, or on arrays of whole numbers, gets n copies of x in one
    release. Anything else with ``release``, or a function of x or of (x, rng), is called once for
    each output, since it may keep a memo, a cache or a ledger.

    Parameters
    ----------
    mechanism
        As for ``lower_bound``.

    Returns
    -------
    One array, or a list.
    """
    if isinstance(mechanism, Batched):
        return _check_count(_call_or_failure(mechanism.draw, _copy_of(x), n, rng), n)
    if _takes_copies(mechanism, x):
        return mechanism.release(repeat_record(x, n), rng)
    return _one_by_one(_call_of(mechanism), x, n, rng, progress)


def has_own_randomness(mechanism: Any) -> bool:
    """Return whether a mechanism has its own randomness, which no seed of ours repeats.

    Parameters
    ----------
    mechanism
        As for ``lower_bound``.
    """
    return not isinstance(mechanism, Batched) and not takes_stream(_function_of(mechanism))


def halve_progress(progress: Progress | None, start: float) -> Progress | None:
    """Return a callback that reports the progress of one half as that of the whole.

    Parameters
    ----------
    start
        Where the half begins, 0 or 0.5.
    """
    return None if progress is None else lambda what, share: progress(what, start + share / 2)


def _check_count(outputs: Any, n: int) -> Any:
    if isinstance(outputs, Failure):
        return [outputs] * n
    if not hasattr(outputs, "__len__") or len(outputs) != n:
        raise InvalidSetting(
            f"A batch of {n} outputs was expected; the function returned something else.",
            "Return n outputs, one on each row: f(x, n, rng).",
        )
    return outputs


def _takes_copies(mechanism: Any, x: Any) -> bool:
    for entry in REGISTRY:
        if isinstance(mechanism, entry.kind):
            is_value = isinstance(x, int | np.integer | np.ndarray | list)
            return entry.takes_copies and (is_value or not entry.is_central)
    return isinstance(mechanism, Bounded | Categorical)


def repeat_record(x: Any, n: int) -> Any:
    """Return a table of n people who all hold this record."""
    if isinstance(x, Mapping):
        return {name: repeat_record(value, n) for name, value in x.items()}
    row = np.asarray(x)
    return np.broadcast_to(row, (n, *row.shape)).copy()


def _one_by_one(
    call: Call, x: Any, n: int, rng: np.random.Generator, progress: Progress | None
) -> list[Any]:
    outputs = []
    for done in range(n):
        if progress is not None and done % max(1, n // _PARTS) == 0:
            progress("drawing", done / n)
        outputs.append(_copy_of(_call_or_failure(call, _copy_of(x), rng)))
    return outputs


def _copy_of(value: Any) -> Any:
    """Return a copy, so that changes in place reach no other input and no earlier output."""
    if isinstance(value, list | tuple | dict):
        return deepcopy(value)
    in_place = isinstance(value, np.ndarray) or type(value).__module__.split(".")[0] == "pandas"
    return value.copy() if in_place else value


def _call_or_failure(call: Callable[..., Any], *arguments: Any) -> Any:
    """Return the output, or how the call failed: an exception is an output too."""
    try:
        return call(*arguments)
    except Exception as raised:
        return Failure(type(raised).__name__)


def _call_of(mechanism: Any) -> Call:
    """Return a function ``f(x, rng)``; one of ``x`` only is called without the stream."""
    function = _function_of(mechanism)
    if not callable(function):
        raise InvalidSetting(
            f"A {type(mechanism).__name__} cannot be drawn from.",
            "Give a mechanism, a function of an input, or Batched(f).",
        )
    return function if takes_stream(function) else lambda x, rng: function(x)


def _function_of(mechanism: Any) -> Any:
    return getattr(mechanism, "release", mechanism)


def takes_stream(function: Callable[..., Any]) -> bool:
    """Return whether a function takes the stream of noise as its second argument."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    second = places[1] if len(places) > 1 else None
    return second is not None and (second.default is second.empty or second.name == "rng")
