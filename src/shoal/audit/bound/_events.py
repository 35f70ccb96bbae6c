"""Choose the event on which two inputs differ most on one half of draws, and test it on the other.

Choosing and testing on the same outputs would find differences where there are none. Unless outputs
have few different values, statistics are learnt on two thirds of the first half and compared on the
rest, so that one that overfits does not win. See ``events.proof.md``.

Counts of an event become a certified bound by Clopper and Pearson's limits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats
from shoal.audit.bound._outputs import OutputSample
from shoal.audit.bound._statistics import Score, Statistic, candidate_statistics, has_few_values
from shoal.errors import InvalidSetting, TooFewRows, value_text
from shoal.privacy import whole_number

_QUANTILES = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998)
_FEW = 256  # up to as many different numbers, all are tried as thresholds

Counts = NDArray[np.intp]
_FEWEST = 1_000  # outputs of each side, below which nothing can be certified


@dataclass(frozen=True)
class EventOutcome:
    """An event and its counts on fresh outputs.

    Parameters
    ----------
    often
        How often it occurred on the side it is evidence for.
    value
        The certified bound on epsilon, 0 if nothing is certified.
    """

    description: str
    often: int
    seldom: int
    of: int
    value: float
    by: str


@dataclass(frozen=True)
class _Event:
    """The event {statistic >= t}, for the first input, or {statistic <= t}, for the second."""

    statistic: Statistic
    t: float
    first: bool

    @property
    def description(self) -> str:
        direction = "first over second" if self.first else "second over first"
        return f"{self.statistic.describe(self.t, self.first)}, {direction} input"

    def contains(self, sample: OutputSample) -> NDArray[np.bool_]:
        numbers = self.statistic.of(sample)
        return numbers >= self.t if self.first else numbers <= self.t


def best_events(
    first: OutputSample,
    second: OutputSample,
    *,
    alpha: float,
    delta: float,
    score: Score | None,
    more: Sequence[Statistic],
    seed: int,
) -> tuple[list[EventOutcome], list[str]]:
    """Choose the best event for each direction on the first half, and test it on the second.

    It also describes what only one input ever reached.

    Returns
    -------
    The tested events, and sentences about one-sided outputs.
    """
    m = len(first) // 2  # [P1] of the first half of the outputs everything but the test is made
    half, fresh = ((first.part(s), second.part(s)) for s in (slice(0, m), slice(m, None)))
    learnt, judges = (half, half) if has_few_values(*half) else _split_for_learning(*half)
    tried = [*candidate_statistics(*learnt, score, seed), *more]
    chosen = _best(tried, *judges, alpha, delta)
    tested = [_test_event(event, *fresh, alpha, delta) for event in chosen]  # [P2] two events
    alone = [_one_sided(event, *half) for event in chosen]
    reached = [_test_event(event, *fresh, alpha, 0.0) for event in alone if event]
    return tested, _one_sided_events(tested, reached)


def _split_for_learning(
    first: OutputSample, second: OutputSample
) -> tuple[tuple[OutputSample, OutputSample], tuple[OutputSample, OutputSample]]:
    """Split both samples: two thirds to learn from, the rest to compare on."""
    cut = 2 * len(first) // 3
    learnt, judges = ((first.part(s), second.part(s)) for s in (slice(0, cut), slice(cut, None)))
    return learnt, judges


def outcome_of(
    description: str, often: int, seldom: int, of: int, alpha: float, delta: float, by: str
) -> EventOutcome:
    """Return an event with its certified bound, 0 where nothing is certified."""
    value = certified_epsilon(np.array([often]), np.array([seldom]), of, alpha, delta)[0]  # [P3]
    return EventOutcome(description, often, seldom, of, max(0.0, float(value)), by)


def _best(
    tried: Sequence[Statistic],
    first: OutputSample,
    second: OutputSample,
    alpha: float,
    delta: float,
) -> list[_Event]:
    """Return the best event for each direction."""
    numbers = [(each, each.of(first), each.of(second)) for each in tried]
    best: list[_Event] = []
    for speaks_for_first in (True, False):
        candidates = [
            (*_best_threshold(a, b, speaks_for_first, alpha, delta), statistic)
            for statistic, a, b in numbers
        ]
        _, t, statistic = max(candidates, key=lambda each: each[0])
        best.append(_Event(statistic, t, speaks_for_first))
    return best


def _best_threshold(
    a: Floats, b: Floats, speaks_for_first: bool, alpha: float, delta: float
) -> tuple[float, float]:
    """Return the bound at the best threshold, and the threshold."""
    often, seldom = (np.sort(a), np.sort(b)) if speaks_for_first else (np.sort(-b), np.sort(-a))
    thresholds = _thresholds(np.concatenate([often, seldom]))
    k_p, k_q = (_count_at_least(side, thresholds) for side in (often, seldom))
    bounds = certified_epsilon(k_p, k_q, a.size, alpha, delta)
    place = int(np.argmax(bounds))
    t = float(thresholds[place])
    return float(bounds[place]), t if speaks_for_first else -t


def _thresholds(numbers: Floats) -> Floats:
    known = np.sort(numbers[~np.isnan(numbers)])
    if known.size == 0:
        return np.array([np.inf])
    different = np.unique(known)
    if different.size <= _FEW:
        return different
    return np.unique(known[(np.array(_QUANTILES) * known.size).astype(int)])


def _count_at_least(rising: Floats, thresholds: Floats) -> NDArray[np.intp]:
    known = rising[~np.isnan(rising)]
    return known.size - np.searchsorted(known, thresholds, side="left")


def _test_event(
    event: _Event, first: OutputSample, second: OutputSample, alpha: float, delta: float
) -> EventOutcome:
    k_first, k_second = (int(event.contains(side).sum()) for side in (first, second))
    often, seldom = (k_first, k_second) if event.first else (k_second, k_first)
    return outcome_of(
        event.description, often, seldom, len(first), alpha, delta, event.statistic.name
    )


def _one_sided(event: _Event, first: OutputSample, second: OutputSample) -> _Event | None:
    """Return the event beyond all values of the other input; None if nothing is there."""
    sign = 1.0 if event.first else -1.0
    own, other = (first, second) if event.first else (second, first)
    numbers, limits = sign * event.statistic.of(own), sign * event.statistic.of(other)
    limit = np.max(limits[~np.isnan(limits)], initial=-np.inf)
    beyond = numbers[numbers > limit]
    return _Event(event.statistic, sign * float(beyond.min()), event.first) if beyond.size else None


def _one_sided_events(tested: Sequence[EventOutcome], alone: Sequence[EventOutcome]) -> list[str]:
    """Describe what only one input reached, in both halves and too often for chance."""
    known = {each.description for each in tested}
    return [
        f"support: only one input reached {each.description}: {each.often:,} of {each.of:,} outputs"
        for each in alone
        if each.seldom == 0 and each.value > 0 and each.description not in known
    ]


def certified_epsilon(often: Counts, seldom: Counts, m: int, alpha: float, delta: float) -> Floats:
    """Return ln((p_low - delta)/q_high) for events with these counts.

    Four one-sided limits at alpha/4, two for each of two directions, hold together with
    probability 1 - alpha; and where they hold, no (epsilon, delta)-private mechanism exceeds its
    epsilon: p_low - delta <= p - delta <= e^epsilon q <= e^epsilon q_high.
    """
    from scipy.stats import beta

    with np.errstate(divide="ignore", invalid="ignore"):
        p_low = np.where(often == 0, 0.0, beta.ppf(alpha / 4, often, m - often + 1))
        q_high = np.where(seldom == m, 1.0, beta.ppf(1 - alpha / 4, seldom + 1, m - seldom))
        return np.asarray(np.log(np.maximum(p_low - delta, 0) / q_high))


def ceiling_of(m: int, alpha: float) -> float:
    """Return the largest bound that m outputs of each side can show.

    Parameters
    ----------
    m
        The outputs of each side.
    alpha
        The level.

    Examples
    --------
    >>> round(ceiling_of(100_000, 0.01), 2)
    9.72
    """
    return math.log(m / math.log(4 / alpha))


def check_levels(alpha: float, delta: float) -> None:
    """Refuse an alpha outside (0, 0.5) or a delta outside [0, 1).

    Parameters
    ----------
    alpha
        The level.
    delta
        The delta.

    Raises
    ------
    InvalidSetting
        If one is outside its range.
    """
    if not isinstance(alpha, int | float) or not 0 < alpha < 0.5:
        raise InvalidSetting.of("alpha", "must be between 0 and 0.5", 0.01, alpha)
    if not isinstance(delta, int | float) or not 0 <= delta < 1:
        raise InvalidSetting.of("delta", "must be at least 0 and below 1", 1e-6, delta)


def check_draws(draws: int) -> None:
    """Refuse fewer than a thousand outputs of each side."""
    whole = whole_number(draws)
    if whole is None or whole < _FEWEST:
        raise TooFewRows(
            f"An audit needs {_FEWEST:,} outputs or more for each input; got {value_text(draws)}.",
            "Draw more: 200,000 for each input can show bounds up to 9.7.",
            reason="draws",
        )
