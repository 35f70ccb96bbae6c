"""Outputs of a mechanism on one input, many times over: in one call where its form allows it."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.errors import InvalidSetting
from shoal.mechanisms import Gaussian, Geometric, KNorm, LocalGrid, Mixed, NDLaplace, Restrict
from shoal.mechanisms.bounded import Bounded
from shoal.mechanisms.categorical import Categorical

__all__ = ["Batched", "Failure", "Progress", "drawn"]

Call = Callable[[Any, Any], Any]
Draw = Callable[[Any, int, np.random.Generator], Any]
Progress = Callable[[str, float], None]
_PARTS = 20  # of a side, after each of which progress is told


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
    """An output that is none: the name of the exception raised in its place."""

    name: str


def drawn(
    mechanism: Any, x: Any, n: int, rng: np.random.Generator, progress: Progress | None = None
) -> Any:
    """``n`` independent outputs on the input ``x``: one array of them, or a list.

    A mechanism of ours that randomises records, or arrays of whole numbers, gets n copies of x in
    one release; whatever else has ``release``, or is a function of x or of (x, rng), is called
    once for each output, since it may keep a memo, a cache or a ledger.
    """
    if isinstance(mechanism, Batched):
        return _all_of(_tried(mechanism.draw, x, n, rng), n)
    if _takes_copies(mechanism, x):
        return mechanism.release(copies(x, n), rng)
    call = getattr(mechanism, "release", None) or _with_stream(mechanism)
    return _one_by_one(call, x, n, rng, progress)


def _all_of(outputs: Any, n: int) -> Any:
    if isinstance(outputs, Failure):
        return [outputs] * n
    if not hasattr(outputs, "__len__") or len(outputs) != n:
        raise InvalidSetting(
            f"A batch of {n} outputs was asked for; something else came.",
            "Return one output a line: f(x, n, rng) -> n of them.",
        )
    return outputs


def _takes_copies(mechanism: Any, x: Any) -> bool:
    if isinstance(mechanism, Geometric | KNorm | Gaussian):
        return isinstance(x, int | np.integer | np.ndarray | list)
    records = Bounded | Categorical | NDLaplace | Restrict | LocalGrid | Mixed
    return isinstance(mechanism, records)


def copies(x: Any, n: int) -> Any:
    """A table of n people who all hold this record."""
    if isinstance(x, Mapping):
        return {name: copies(value, n) for name, value in x.items()}
    row = np.asarray(x)
    return np.broadcast_to(row, (n, *row.shape)).copy()


def _one_by_one(
    call: Call, x: Any, n: int, rng: np.random.Generator, progress: Progress | None
) -> list[Any]:
    outputs = []
    for done in range(n):
        if progress is not None and done % max(1, n // _PARTS) == 0:
            progress("drawing", done / n)
        outputs.append(_tried(call, x, rng))
    return outputs


def _tried(call: Callable[..., Any], *arguments: Any) -> Any:
    """What came, or how it failed: an exception is an output like any other."""
    try:
        return call(*arguments)
    except Exception as raised:
        return Failure(type(raised).__name__)


def _with_stream(function: Callable[..., Any]) -> Call:
    """``f(x, rng)`` as it is; ``f(x)``, which draws from a stream of its own, without."""
    return function if takes_stream(function) else lambda x, rng: function(x)


def takes_stream(function: Callable[..., Any]) -> bool:
    """Whether a function wants the stream of noise as its second argument."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    second = places[1] if len(places) > 1 else None
    return second is not None and (second.default is second.empty or second.name == "rng")
