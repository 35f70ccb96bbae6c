"""A certified lower bound on epsilon, from outputs on two neighbouring inputs.

A proof gives the guarantee; an audit guards the code. A bound above the claim proves a fault, at
level 1 - alpha; one below it proves nothing.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import DimensionMismatch, InvalidSetting, TooFewDraws
from shoal.privacy import Guarantee, LocalDP, PureDP, Unprotected

__all__ = ["LowerBound", "lower_bound_of"]

Outputs = NDArray[np.generic]
Event = Callable[[Outputs], NDArray[np.bool_]]
Mask = NDArray[np.bool_]
_FEWEST = 1_000
_MOST_ATOMS = 65_536


@dataclass(frozen=True)
class LowerBound:
    """What an audit found; ``float()`` of it is the bound.

    Attributes
    ----------
    epsilon
        At most the true epsilon with probability 1 - alpha; 0 if nothing was seen.
    event
        The event it was seen on, in words.
    ceiling
        The largest bound so many draws can show.
    verdict
        ``"violated"`` if the bound exceeds the claim, else ``"consistent"``; ``"no claim"``
        without one.
    """

    epsilon: float
    event: str
    ceiling: float
    verdict: str
    claim: float | None
    alpha: float
    delta: float
    draws: int
    notes: tuple[str, ...] = ()

    def __float__(self) -> float:
        return self.epsilon


def lower_bound_of(
    A: ArrayLike,
    B: ArrayLike,
    *,
    claim: Guarantee | float | None = None,
    event: Event | None = None,
    alpha: float = 0.01,
    delta: float = 0.0,
) -> LowerBound:
    """Bound epsilon from below by outputs ``A`` on one input and ``B`` on its neighbour.

    Parameters
    ----------
    A, B
        Independent outputs, one a line: whole numbers, text, or any values of which there are at
        most 65,536 different ones.
    claim
        The guarantee, or the number, to hold the bound against.
    event
        Fixed before drawing: from outputs to whether they are in it. Tested on all draws. Without
        one the best set of values is chosen on one half of the draws and tested on the other.
    alpha
        The probability with which a correct mechanism may exceed its epsilon here.
    delta
        For a claim of (epsilon, delta).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> A, B = rng.random(20_000) < 0.8, rng.random(20_000) < 0.2
    >>> found = lower_bound_of(A.astype(int), B.astype(int), claim=1.0)
    >>> found.verdict, 1.2 < float(found) < math.log(4)
    ('violated', True)
    """
    _check_levels(alpha, delta)
    promised = _claimed(claim)
    first, second = _outputs(A), _outputs(B)
    _check_outputs(first, second)
    if event is not None:
        masks = _mask(event, first), _mask(event, second)
        tried = [("the given event", *masks), ("the given event, other way round", *masks[::-1])]
    else:
        tried = _best_sets_of_atoms(*_atoms(first, second), alpha, delta)
    bounds = [(_bound(p, q, alpha, delta), name, p, q) for name, p, q in tried]
    value, name, p, q = max(bounds, key=lambda each: each[0])
    return LowerBound(
        epsilon=value,
        event=name,
        ceiling=math.log(p.size / math.log(4 / alpha)),
        verdict=_verdict(value, promised),
        claim=promised,
        alpha=alpha,
        delta=delta,
        draws=len(first),
        notes=_notes(first, second, value, p, q),
    )


def _mask(event: Event, outputs: Outputs) -> Mask:
    mask = np.asarray(event(outputs))
    if mask.dtype != np.bool_ or mask.shape != (len(outputs),):
        raise InvalidSetting(
            f"The event returned {mask.dtype} of shape {mask.shape} for {len(outputs)} outputs.",
            "Return one true or false an output, e.g. event=lambda z: z[:, 0] > 0.",
        )
    return mask


def _best_sets_of_atoms(
    a: NDArray[np.intp], b: NDArray[np.intp], alpha: float, delta: float
) -> list[tuple[str, Mask, Mask]]:
    """For each direction the set of values that shows most on the first halves; there the rest."""
    half_a, half_b = len(a) // 2, len(b) // 2
    size = max(a.max(), b.max()) + 1
    counts_a = np.bincount(a[:half_a], minlength=size)
    counts_b = np.bincount(b[:half_b], minlength=size)
    tried = []
    for more, fewer, direction in (
        (counts_a, counts_b, "A over B"),
        (counts_b, counts_a, "B over A"),
    ):
        chosen = _best_prefix(more, fewer, half_a, half_b, alpha, delta)
        masks = chosen[a[half_a:]], chosen[b[half_b:]]
        name = f"{int(chosen.sum())} of {size} values, {direction}"
        tried.append((name, *(masks if direction == "A over B" else masks[::-1])))
    return tried


def _best_prefix(
    more: NDArray[np.intp],
    fewer: NDArray[np.intp],
    draws_a: int,
    draws_b: int,
    alpha: float,
    delta: float,
) -> Mask:
    """The values most in favour of one side, as many as give the best bound."""
    seen = np.flatnonzero(more + fewer)  # a value first seen later belongs to no set
    order = seen[np.argsort(-(more[seen] + 0.5) / (fewer[seen] + 0.5), kind="stable")]
    draws = min(draws_a, draws_b)
    bounds = _bounds(np.cumsum(more[order]), np.cumsum(fewer[order]), draws, alpha, delta)
    chosen = np.zeros(more.size, dtype=bool)
    chosen[order[: int(np.argmax(bounds)) + 1]] = True
    return chosen


def _bound(p: Mask, q: Mask, alpha: float, delta: float) -> float:
    k_p, k_q = np.array([np.count_nonzero(p)]), np.array([np.count_nonzero(q)])
    return max(0.0, float(_bounds(k_p, k_q, p.size, alpha, delta)[0]))


def _bounds(
    k_p: NDArray[np.intp], k_q: NDArray[np.intp], m: int, alpha: float, delta: float
) -> NDArray[np.float64]:
    """ln((p_low - delta)/q_high) with Clopper-Pearson limits at alpha/4 each."""
    from scipy.stats import beta

    with np.errstate(divide="ignore", invalid="ignore"):
        p_low = np.where(k_p == 0, 0.0, beta.ppf(alpha / 4, k_p, m - k_p + 1))
        q_high = np.where(k_q == m, 1.0, beta.ppf(1 - alpha / 4, k_q + 1, m - k_q))
        return np.log(np.maximum(p_low - delta, 0) / q_high)


def _outputs(values: ArrayLike) -> Outputs:
    outputs = np.asarray(values)
    if outputs.ndim == 0 or outputs.dtype.kind not in "biufU":
        raise InvalidSetting(
            f"Outputs of {outputs.dtype} came.",
            "Give an array of numbers or of text, one output a line.",
        )
    return outputs.reshape(len(outputs), -1) if outputs.ndim > 1 else outputs.reshape(-1, 1)


def _atoms(first: Outputs, second: Outputs) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Each different output as a whole number; NaN is an output like any other."""
    both = np.concatenate([first, second])
    codes = np.zeros(len(both), dtype=np.intp)
    for column in both.T:
        values, places = np.unique(column, return_inverse=True)
        codes = np.unique(codes * values.size + places, return_inverse=True)[1]
    if codes.max() >= _MOST_ATOMS:
        raise InvalidSetting(
            f"{codes.max() + 1} different outputs came; at most {_MOST_ATOMS} can be compared.",
            "Round them to a public lattice, or give an event fixed in advance.",
        )
    return codes[: len(first)], codes[len(first) :]


def _check_levels(alpha: float, delta: float) -> None:
    numbers = isinstance(alpha, int | float) and isinstance(delta, int | float)
    if not numbers or not 0 < alpha < 0.5 or not 0 <= delta < 1:
        raise InvalidSetting(
            "alpha must lie in (0, 0.5) and delta in [0, 1).", "E.g. alpha=0.01, delta=0."
        )


def _check_outputs(first: Outputs, second: Outputs) -> None:
    if first.shape[1] != second.shape[1] or len(first) != len(second):
        raise DimensionMismatch(
            f"Outputs of shapes {first.shape} and {second.shape} came.",
            "Draw equally many from each input, of equal width.",
        )
    if len(first) < _FEWEST:
        raise TooFewDraws(
            f"{len(first)} outputs a side came; an audit needs {_FEWEST}.",
            "Draw more: 200,000 a side show bounds up to 9.7.",
        )


def _claimed(claim: Guarantee | float | None) -> float | None:
    if claim is None or isinstance(claim, Unprotected):
        return None
    if isinstance(claim, PureDP | LocalDP):
        return float(claim.epsilon)
    if isinstance(claim, Guarantee):
        raise InvalidSetting(
            f"{claim} is no bound for a pair of outputs by itself.",
            "Give the number: for MetricDP epsilon times the distance of the inputs, plus slack.",
        )
    if not isinstance(claim, int | float) or not claim >= 0:
        raise InvalidSetting("The claim is no number from 0 up.", "E.g. claim=PureDP(1).")
    return float(claim)


def _verdict(value: float, claim: float | None) -> str:
    if claim is None:
        return "no claim"
    return "violated" if value > claim else "consistent"


def _notes(first: Outputs, second: Outputs, value: float, p: Mask, q: Mask) -> tuple[str, ...]:
    notes = []
    if len(np.unique(first, axis=0)) == len(np.unique(second, axis=0)) == 1:
        notes.append("constant" if np.array_equal(first[0], second[0]) else "deterministic")
    if value > 0 and not q.any() and p.any():
        notes.append("support: one side never reaches the event")
    return tuple(notes)
