"""Ledgers for a replay: one records what leaves the gate, the other forces it on another table.

The gate itself has no switch for this: a fit is handed a ledger whose pages are made here. Recorded
values are exact. They stay in memory, on objects that cannot be pickled.
"""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from shoal.audit.loss._published_values import canonical
from shoal.domain import SparseCounts
from shoal.errors import InvalidSetting, quantity
from shoal.mechanisms import Choices, Gaussian, ScoredIntervals, TreeCounts
from shoal.privacy import GaussianShare, Guarantee, Ledger
from shoal.privacy.ledger_page import Page, Part, Parts


class Branch(Exception):
    """Raised to end a fit that leaves the recorded path: its next step depends on the rows."""


@dataclass(frozen=True, eq=False)
class GateRelease:
    """One value that was handed to the gate, and what left.

    Parameters
    ----------
    value
        The exact value; a counting function as it is, all else as a copy.
    """

    of: str
    mechanism: Any
    value: Any
    output: Any

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise InvalidSetting(
            "What a replay recorded holds exact values and cannot be saved.",
            "Keep the losses it returned instead.",
        )


@dataclass(frozen=True)
class StepLoss:
    """What one release loses between two tables.

    Parameters
    ----------
    worst
        The largest log-ratio over all outputs, in either direction; infinite for Gaussian noise.
    mean
        Half the variance of a Gaussian log-ratio; 0 for other noise.
    mean_limit
        The most that ``mean`` may be for one row added or removed.
    shared_limit
        The most that the means of all steps that share a Gaussian budget may sum to, for one row
        added or removed; 0 for other steps.
    """

    of: str
    mechanism: str
    epsilon: float
    loss: float
    reverse: float
    worst: float
    mean: float = 0.0
    mean_limit: float = 0.0
    shared_limit: float = 0.0


class RecordingLedger(Ledger):
    """A ledger in memory whose pages record every release; for one fit."""

    def __init__(self) -> None:
        super().__init__()
        self.promises: list[Guarantee] = []
        self.releases: list[GateRelease] = []

    def open(self, promise: Guarantee, *, by: str, of: str | None = None) -> Page:
        """Open a page that records, as ``Ledger.open`` does."""
        self.promises.append(promise)
        return _ObservedPage(promise, self._release)

    def _release(
        self, page: "_ObservedPage", of: str, mechanism: Any, value: Any, draw: Any
    ) -> Any:
        output = draw()
        self.releases.append(GateRelease(of, mechanism, _snapshot(value), copy.deepcopy(output)))
        return output


class ForcingLedger(Ledger):
    """A ledger in memory whose pages return what another fit released, and add up the losses."""

    def __init__(self, recorded: RecordingLedger) -> None:
        super().__init__()
        self._expected = list(recorded.releases)
        self._promises = [canonical(promise) for promise in recorded.promises]
        self.steps: list[StepLoss] = []
        self.branches: list[str] = []

    def open(self, promise: Guarantee, *, by: str, of: str | None = None) -> Page:
        """Open a page that forces recorded outputs, as ``Ledger.open`` does."""
        if not self._promises or self._promises.pop(0) != canonical(promise):
            self._leave("another promise")
        return _ObservedPage(promise, self._release)

    def close(self) -> None:
        """Note the releases that are missing on this table."""
        if self._expected and not self.branches:
            self.branches.append(f"{quantity(len(self._expected), 'release')} fewer")

    def _release(
        self, page: "_ObservedPage", of: str, mechanism: Any, value: Any, draw: Any
    ) -> Any:
        if not self._expected:
            self._leave(f"1 release more, {of}")
        expected = self._expected.pop(0)
        difference = _public_difference(expected, GateRelease(of, mechanism, value, None))
        if difference:
            self._leave(f"{of}: {difference}")
        self.steps.append(_step_loss(expected, value))
        return copy.deepcopy(expected.output)

    def _leave(self, branch: str) -> NoReturn:
        self.branches.append(branch)
        raise Branch(branch)


Observe = Callable[["_ObservedPage", str, Any, Any, Callable[[], Any]], Any]


class _ObservedPage(Page):
    """A page that hands every release to an observer, which draws or does not."""

    def __init__(self, promise: Guarantee, observe: Observe) -> None:
        super().__init__(promise, lambda made, needed, what, record: None)
        self._observe = observe

    def release(self, mechanism: Any, value: Any, rng: np.random.Generator, *, of: str) -> Any:
        """Release a value, as ``Page.release`` does; it is paid for either way."""

        def draw() -> Any:
            return mechanism.release(value, rng)

        _check(mechanism, value)
        self._pay(lambda: mechanism.guarantee, rng, of)
        return self._observe(self, of, mechanism, value, draw)

    @contextmanager
    def parallel(self, *, of: str) -> Iterator[Parts]:
        """Yield gates for parts of disjoint rows, as ``Page.parallel`` does."""
        with super().parallel(of=of):
            yield _ObservedParts(self, of)


class _ObservedParts(Parts):
    """Parts of disjoint rows whose releases are observed."""

    def __call__(self, name: object) -> Part:
        return _ObservedPart(self, f"{type(name).__name__} {name!r}")


class _ObservedPart(Part):
    """The gate of one part, observed."""

    def release(self, mechanism: Any, value: Any, rng: np.random.Generator) -> Any:
        """Release a value about the rows of this part, as ``Part.release`` does."""
        _check(mechanism, value)
        self._parts.pay(self._name, mechanism.guarantee, rng)
        page: Any = self._parts._page
        of = f"{self._parts._of}, {self._name}"
        return page._observe(page, of, mechanism, value, lambda: mechanism.release(value, rng))


def _check(mechanism: Any, value: Any) -> None:
    if hasattr(mechanism, "check"):
        mechanism.check(value)
    if not hasattr(mechanism, "log_ratio") or not hasattr(mechanism, "worst_ratio"):
        raise InvalidSetting(
            f"{type(mechanism).__name__} does not say how likely its outputs are.",
            "Give it log_ratio(output, value, other) and worst_ratio(value, other).",
        )


def _snapshot(value: Any) -> Any:
    """Return a copy that later steps cannot change; a counting function reads the rows again."""
    return value if isinstance(value, TreeCounts) else copy.deepcopy(value)


def _step_loss(release: GateRelease, other: Any) -> StepLoss:
    mechanism, value, output = release.mechanism, release.value, release.output
    worst = max(mechanism.worst_ratio(value, other), mechanism.worst_ratio(other, value))
    mean = limit = shared_limit = 0.0
    if hasattr(mechanism, "mean_ratio"):
        mean = mechanism.mean_ratio(value, other)
        limit = float(mechanism.sensitivity / mechanism.sigma) ** 2 / 2
    if isinstance(mechanism.guarantee, GaussianShare):
        shared_limit = float(1 / Gaussian(mechanism.guarantee.whole, 1).sigma) ** 2 / 2
    return StepLoss(
        release.of,
        type(mechanism).__name__,
        float(getattr(mechanism.guarantee, "epsilon", 0)),
        float(mechanism.log_ratio(output, value, other)),
        float(mechanism.log_ratio(output, other, value)),
        float(worst),
        mean,
        limit,
        shared_limit,
    )


def _public_difference(one: GateRelease, two: GateRelease) -> str:
    """Return what differs between two releases that must not depend on the rows, if anything."""
    if one.of != two.of:
        return f"in place of {one.of}"
    if canonical(one.mechanism) != canonical(two.mechanism):
        return "another mechanism, or other settings of it"
    if _public_shape(one.value) != _public_shape(two.value):
        return "another shape"
    return ""


def _public_shape(value: Any) -> Any:
    """Return what must not depend on the rows about a value."""
    if isinstance(value, SparseCounts):
        return "cells", value.size
    if isinstance(value, Choices):
        return "candidates", value.scores.size, value.weights
    if isinstance(value, ScoredIntervals):
        return "range", int(value.edges[0]), int(value.edges[-1])
    if isinstance(value, TreeCounts):
        return "tree", value.max_depth, value.most_nodes
    return "array", np.shape(value)
