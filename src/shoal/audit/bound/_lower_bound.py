"""Compute a certified lower bound on epsilon from outputs on two neighbouring inputs.

A proof establishes the guarantee; an audit checks the code. A bound above the claim proves a fault,
at level 1 - alpha; one below it proves nothing. See ``events.proof.md``.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.audit._draws import Progress, draw_outputs, halve_progress, has_own_randomness
from shoal.audit._finding import LowerBound, seed_of, verdict_of
from shoal.audit.bound._events import (
    EventOutcome,
    best_events,
    ceiling_of,
    check_draws,
    check_levels,
    outcome_of,
)
from shoal.audit.bound._outputs import OutputSample, samples_of
from shoal.audit.bound._pairs import (
    check_pair,
    check_row_pair,
    delta_of,
    describe_pair,
    epsilon_of,
    epsilon_of_pair,
)
from shoal.audit.bound._statistics import Score, Statistic, has_low_bits
from shoal.errors import DimensionMismatch, InvalidSetting
from shoal.privacy import Guarantee
from shoal.randomness import Randomness, Seed

Event = Callable[[Any], Any]
_SERIAL = "outputs depend on earlier ones: nothing is certified"


def lower_bound(
    mechanism: Any,
    pair: Any,
    claim: Guarantee | float | None = None,
    *,
    draws: int = 200_000,
    alpha: float = 0.01,
    delta: float = 0.0,
    score: Score | None = None,
    event: Event | None = None,
    random_state: Seed = None,
    progress: Progress | None = None,
    constructed: bool | str = False,
) -> LowerBound:
    """Draw outputs on two inputs and bound epsilon from below by how they differ.

    Parameters
    ----------
    mechanism
        One of ours, or anything with ``release(value, rng)``, or a function of an input, or of an
        input and a NumPy generator; ``Batched(f)`` draws many outputs in one call. Outputs are
        numbers, arrays, text, or several of them in a tuple or a mapping. An exception, NaN or
        changed shape is an output, and reported. Each call gets an input of its own to work on.
    pair
        Two inputs that the claim compares.
    claim
        The guarantee or number to compare the bound with; None takes the mechanism's own.
    draws
        Outputs of each side. Half of them choose the event, the others test it.
    alpha
        The probability with which a correct mechanism may exceed its epsilon here.
    delta
        The delta of a claim of (epsilon, delta); an ``ApproxDP`` brings its own.
    score
        A function from outputs to how much each is evidence for the first input, at best its
        log-likelihood ratio (``scores.exact_score`` knows those of our mechanisms). Without one
        boosted trees learn it.
    event
        A function from outputs to whether they are in an event, fixed before drawing. It is tested
        on all draws.
    random_state
        A seed makes the audit repeatable, if the function takes its randomness from us.
    progress
        Called with what is being done and how far it is, from 0 to 1.
    constructed
        ``True``, or the pair in words: the inputs are made up, so the result may name them.

    Returns
    -------
    The bound, with its event and verdict.

    Examples
    --------
    >>> from shoal.mechanisms import RandomizedResponse
    >>> found = lower_bound(RandomizedResponse(1.0, 8), (0, 1), draws=20_000, random_state=7)
    >>> found.verdict, 0.8 < float(found) < 1
    ('consistent', True)
    >>> def too_little_noise(x, rng):
    ...     return x + rng.laplace(0, 0.25)
    >>> lower_bound(too_little_noise, (0, 1), 1.0, draws=4_000, random_state=7).verdict
    'violated'
    """
    check_levels(alpha, delta)
    check_draws(draws)
    first, second = check_pair(pair, mechanism)
    held = getattr(mechanism, "guarantee", None) if claim is None else claim
    relation = check_row_pair(held, (first, second))
    promised, delta = epsilon_of_pair(held, mechanism, (first, second)), delta_of(held, delta)
    rng = Randomness(random_state)
    outputs = [
        draw_outputs(mechanism, x, draws, rng.noise.child(name), halve_progress(progress, start))
        for x, name, start in ((first, "first", 0.0), (second, "second", 0.5))
    ]
    _report_progress(progress, "looking for the event", 1.0)
    seed = seed_of(random_state)
    own_randomness = seed is not None and has_own_randomness(mechanism)
    return _bound_samples(
        *samples_of(*outputs),
        promised=promised,
        alpha=alpha,
        delta=delta,
        score=score,
        event=event,
        more=_low_bits_of(first, second),
        seed=rng.seed(),
        facts={
            "pair": describe_pair((first, second), constructed),
            "constructed": bool(constructed),
            "seed": seed,
            "guarantee": held if isinstance(held, Guarantee) else None,
        },
        notes=(*relation, *(["draws by itself: the seed does not repeat it"] * own_randomness)),
    )


def lower_bound_of(
    A: ArrayLike,
    B: ArrayLike,
    *,
    claim: Guarantee | float | None = None,
    event: Event | None = None,
    score: Score | None = None,
    alpha: float = 0.01,
    delta: float = 0.0,
) -> LowerBound:
    """Bound epsilon from below, given outputs on one input and on its neighbour.

    Parameters
    ----------
    A
        Independent outputs on one input, one a row: numbers or text, or lists of outputs.
    B
        The same on the neighbouring input.
    claim
        The guarantee or number to compare the bound with.
    event
        A function from outputs to whether they are in an event, fixed before drawing.
    score
        A function from outputs to how much each is evidence for the first input.
    alpha
        The probability with which a correct mechanism may exceed its epsilon here.
    delta
        The delta of a claim of (epsilon, delta).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> A, B = rng.random(20_000) < 0.8, rng.random(20_000) < 0.2
    >>> found = lower_bound_of(A.astype(int), B.astype(int), claim=1.0)
    >>> found.verdict, bool(1.2 < float(found) < np.log(4))
    ('violated', True)
    """
    check_levels(alpha, delta)
    promised, delta = epsilon_of(claim), delta_of(claim, delta)
    first, second = samples_of(A, B)
    if len(first) != len(second):
        raise DimensionMismatch(
            f"The two inputs have {len(first):,} and {len(second):,} outputs.",
            "Draw the same number from each.",
        )
    check_draws(len(first))
    return _bound_samples(
        first,
        second,
        promised=promised,
        alpha=alpha,
        delta=delta,
        score=score,
        event=event,
        more=has_low_bits(0, 1.0),
        seed=0,
        facts={"guarantee": claim if isinstance(claim, Guarantee) else None},
    )


def _bound_samples(
    first: OutputSample,
    second: OutputSample,
    *,
    promised: float | None,
    alpha: float,
    delta: float,
    score: Score | None,
    event: Event | None,
    more: list[Statistic],
    seed: int,
    facts: dict[str, Any],
    notes: tuple[str, ...] = (),
) -> LowerBound:
    support: list[str] = []
    if event is not None:
        tested = _test_given_event(event, first, second, alpha, delta)
    else:
        real = first.values.dtype.kind == "f" and first.values.shape[1] > 0
        tested, support = best_events(
            first,
            second,
            alpha=alpha,
            delta=delta,
            score=score,
            more=more if real else [],
            seed=seed,
        )
    best = max(tested, key=lambda each: each.value)
    if best.seldom == 0 and best.value > 0:
        support.insert(0, "support: one side never reaches the event")
    faults, oddities = _faults(first, second)
    return LowerBound(
        epsilon=best.value,
        event=best.description,
        counts=(best.often, best.seldom, best.of),
        ceiling=ceiling_of(best.of, alpha),
        verdict="broken" if _SERIAL in faults else verdict_of(best.value, promised, faults),
        claim=promised,
        alpha=alpha,
        delta=delta,
        draws=len(first),
        instrument=f"lower bound by {best.by}",
        notes=(*faults, *oddities, *support, *notes),
        **facts,
    )


def _test_given_event(
    event: Event, first: OutputSample, second: OutputSample, alpha: float, delta: float
) -> list[EventOutcome]:
    """Test an event that was fixed in advance, which needs no split."""
    k, l = (int(_mask(event, side).sum()) for side in (first, second))  # noqa: E741
    description = "the given event"
    return [
        outcome_of(description, k, l, len(first), alpha, delta, description),
        outcome_of(f"{description}, other way round", l, k, len(first), alpha, delta, description),
    ]


def _mask(event: Event, sample: OutputSample) -> NDArray[np.bool_]:
    mask = np.asarray(event(sample.values))
    if mask.dtype != np.bool_ or mask.shape != (len(sample),):
        raise InvalidSetting(
            f"The event returned {mask.dtype} of shape {mask.shape} for {len(sample)} outputs.",
            "Return true or false for each output, e.g. event=lambda z: z[:, 0] > 0.",
        )
    return mask


def _faults(first: OutputSample, second: OutputSample) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what no working mechanism does, and what is only unusual."""
    broken: list[str] = []
    odd: list[str] = []
    for place, name in enumerate(first.names[1:], start=1):
        k, l = (np.count_nonzero(side.kinds == place) for side in (first, second))  # noqa: E741
        description = f"{name}: {k:,} and {l:,} of {len(first):,} outputs"
        numbers = name.startswith("type ") and "text" not in name  # say 1 where 1.0 is usual
        (odd if numbers else broken).append(description)
    if first.is_serial or second.is_serial:
        broken.append(_SERIAL)
    if first.is_constant and second.is_constant:
        broken.append("constant" if first.starts_like(second) else "deterministic")
    return tuple(broken), tuple(odd)


def _low_bits_of(first: Any, second: Any) -> list[Statistic]:
    """Return the low-bits statistics where the inputs differ most in size, fixed before drawing."""
    try:
        sizes = np.abs([np.ravel(value) for value in (first, second)]).astype(np.float64)
        column = int(np.argmax(sizes.max(axis=0) - sizes.min(axis=0)))
        size = float(sizes[:, column].max())
    except (TypeError, ValueError):  # no two records of numbers
        column, size = 0, 1.0
    return has_low_bits(column, size) if 0 < size < np.inf else has_low_bits(0, 1.0)


def _report_progress(progress: Progress | None, what: str, share: float) -> None:
    if progress is not None:
        progress(what, share)
