"""The exact privacy loss of a whole fit between two neighbouring tables.

A fit on the first table is recorded: every value handed to the gate, and what left. The fit on the
second table is then run with the same outputs forced on it. So the probability of the whole
output is known on both tables, by the mechanisms' own laws, and no chance is involved:

    first table   fit ── release ── release ── release ──► published
                          │ output   │          │             ‖ equal, bit by bit
    second table  fit ── forced ─── forced ─── forced ───► published
"""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from sklearn.base import BaseEstimator

from shoal.audit.loss._published_values import different_names, published
from shoal.audit.loss._replay_ledgers import Branch, ForcingLedger, RecordingLedger, StepLoss
from shoal.cluster import unfitted
from shoal.domain import Schema
from shoal.engine import is_rows, rows_of
from shoal.errors import BoundsMissTheRows, InvalidSetting
from shoal.privacy import ApproxDP, Guarantee, PureDP, Unprotected
from shoal.randomness import Randomness

# What floats may be off by: log-ratios are sums of a few hundred terms.
_ROUNDING = 1e-9
_KEY = "replay"  # picks a person's rows, the same ones on both tables


@dataclass(frozen=True)
class Pass:
    """One recorded fit and its replay on the other table.

    Parameters
    ----------
    promise
        What the fit promised; None if it opened no page.
    branches
        Where the two fits part: another mechanism, shape or number of releases, or an error.
    """

    promise: Guarantee | None
    steps: tuple[StepLoss, ...]
    branches: tuple[str, ...] = ()
    different: tuple[str, ...] = ()

    @property
    def loss(self) -> float:
        """The log-ratio of the whole output as it was drawn, in the direction it is larger."""
        return max(sum(step.loss for step in self.steps), sum(step.reverse for step in self.steps))

    @property
    def worst(self) -> float:
        """The sum of the largest log-ratios of all steps but Gaussian ones."""
        return sum(step.worst for step in self.steps if not step.mean)

    @property
    def delta(self) -> float:
        """The delta at the promised epsilon, from the Gaussian steps of this path; else 0."""
        mean = sum(step.mean for step in self.steps)
        return gaussian_delta(mean, self._epsilon - self.worst) if mean else 0.0

    @property
    def _epsilon(self) -> float:
        return float(getattr(self.promise, "epsilon", math.inf))

    @property
    def _rows(self) -> int:
        """The most rows that two tables of the promise differ in."""
        return int(getattr(self.promise, "steps", 1))

    def excesses(self) -> Iterator[str]:
        """Yield where more is lost than is promised."""
        if self.loss > self._epsilon + _ROUNDING and not any(step.mean for step in self.steps):
            yield f"the fit loses {self.loss:.4g} of {self._epsilon:.4g}"
        if self.worst > self._epsilon + _ROUNDING:
            yield f"its steps can lose {self.worst:.4g} of {self._epsilon:.4g}"
        delta = float(getattr(self.promise, "delta", 0))
        if self.delta > delta * (1 + _ROUNDING):
            yield f"delta is {self.delta:.4g} of {delta:.4g}"
        yield from self._shared_excess()
        for step in self.steps:
            yield from _step_excess(step, self._rows)

    def _shared_excess(self) -> Iterator[str]:
        """Yield by how much steps that share a Gaussian budget lose more than it allows."""
        shared = [step for step in self.steps if step.shared_limit]
        limit = max((step.shared_limit for step in shared), default=0.0) * self._rows**2
        mean = sum(step.mean for step in shared)
        if mean > limit * (1 + _ROUNDING):
            times = math.sqrt(mean / limit)
            yield f"Gaussian steps together move by {times:.4g} times what their budget is for"


def _step_excess(step: StepLoss, rows: int) -> Iterator[str]:
    """Yield what is wrong with one step: each has a limit of its own."""
    if not step.mean and step.worst > step.epsilon * rows + _ROUNDING:
        yield f"{step.of} can lose {step.worst:.4g} of its own {step.epsilon * rows:.4g}"
    if step.mean > step.mean_limit * rows**2 * (1 + _ROUNDING):
        times = math.sqrt(step.mean / step.mean_limit) / rows
        yield f"{step.of} moves by {times:.4g} times its sensitivity"


@dataclass(frozen=True)
class Replayed:
    """The exact loss of a fit between two tables, over several runs and in both directions.

    It was computed from exact values of both tables: it is for the holder of the rows, promises
    nothing, and cannot be pickled.

    Parameters
    ----------
    passes
        One for each run and direction.

    Attributes
    ----------
    guarantee
        ``Unprotected``.
    """

    passes: tuple[Pass, ...]
    guarantee: Unprotected = field(
        default=Unprotected("computed from the exact values of two tables"), repr=False
    )

    @property
    def claim(self) -> Guarantee | None:
        """What the fit promised."""
        return self.passes[0].promise

    @property
    def loss(self) -> float:
        """The largest log-ratio of a whole output that was drawn."""
        return max(each.loss for each in self.passes)

    @property
    def worst(self) -> float:
        """The largest sum of the steps' worst log-ratios; Gaussian steps are in ``delta``."""
        return max(each.worst for each in self.passes)

    @property
    def delta(self) -> float:
        """The largest delta at the promised epsilon; 0 without Gaussian steps."""
        return max(each.delta for each in self.passes)

    @property
    def branches(self) -> tuple[str, ...]:
        """Where fits part because of the rows, each once."""
        return _once(branch for each in self.passes for branch in each.branches)

    @property
    def different(self) -> tuple[str, ...]:
        """The names of published things that differ although all outputs were equal."""
        return _once(name for each in self.passes for name in each.different)

    @property
    def faults(self) -> tuple[str, ...]:
        """Everything that is wrong, in words; empty if nothing was seen."""
        excesses = _once(excess for each in self.passes for excess in each.excesses())
        branches = tuple(f"the path depends on the rows: {branch}" for branch in self.branches)
        unequal = tuple(f"{name} depends on the rows beside the gate" for name in self.different)
        return excesses + branches + unequal

    @property
    def verdict(self) -> str:
        """``"violated"``: more is lost than promised. ``"broken"``: the rows show elsewhere."""
        if any(True for each in self.passes for _ in each.excesses()):
            return "violated"
        return "broken" if self.faults else "consistent"

    def __str__(self) -> str:
        claim = f"{self.claim}"
        delta = f", delta {self.delta:.3g}" if self.delta else ""
        head = (
            f"{self.verdict}: loses {self.loss:.4g}, at worst {self.worst:.4g}{delta}, of {claim}"
        )
        return "\n".join([head, *self.faults])

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise InvalidSetting(
            "The exact loss of a fit tells of the rows and cannot be saved.",
            "Print what you need of it; it is for the holder of the rows.",
        )


def replay(
    model: Any,
    table: Any,
    neighbour: Any,
    *,
    privacy: PureDP | ApproxDP | None = None,
    runs: int = 1,
    random_state: int = 0,
) -> Replayed:
    """Compute what a whole fit loses between two neighbouring tables, exactly.

    Three things are held against the promise: the log-ratio of the outputs drawn; of each step the
    largest log-ratio over all outputs, against the step's own budget; and everything published,
    which must be equal bit by bit, as all outputs are. A step that depends on the rows otherwise,
    in its mechanism, shape or number, is a fault at once.

    It is exact for these two tables, these outputs and this seed; it says nothing about other
    tables, about the samplers, or about what leaves otherwise, such as time. Use many pairs.

    Parameters
    ----------
    model
        A private estimator, not fitted; or a function ``(table, page, rng)`` that releases through
        ``page.release`` and returns what it publishes, with ``rng`` a ``Randomness``.
    table
        A table of any kind that the model takes; Spark frames too.
    neighbour
        A table that the promise compares it with: a row or a person more, less or replaced.
    privacy
        The promise of a function; an estimator has its own.
    runs
        How many fits are recorded in each direction: paths differ.
    random_state
        The seed of the first run.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal import Box, UniformGrid
    >>> grid = UniformGrid(epsilon=1, domain=Box(x=(0, 1)), cells=4)
    >>> replay(grid, np.array([[0.1], [0.9]]), np.array([[0.1]])).verdict
    'consistent'
    """
    fit = _fit_of(model, privacy)
    seeds = range(random_state, random_state + runs)
    # Once for all fits: which rows of a person stay is the same in each, and takes long to tell.
    one, other = (_with_known_key(model, each) for each in (table, neighbour))
    pairs = [(one, other), (other, one)]
    return Replayed(tuple(_replay_once(fit, *pair, seed) for seed in seeds for pair in pairs))


def gaussian_delta(mean: float, epsilon: float) -> float:
    """Return the delta at epsilon of a log-ratio that is normal, its variance twice its mean.

    Parameters
    ----------
    mean
        The mean; above 0.
    Examples
    --------
    >>> round(gaussian_delta(0.5, 1.0), 4)
    0.1269
    """
    from scipy.stats import norm

    root = math.sqrt(2 * mean)
    above = norm.cdf(root / 2 - epsilon / root)
    return float(above - math.exp(epsilon + norm.logcdf(-root / 2 - epsilon / root)))


Fit = Callable[[Any, Any, int], Any]


def _fit_of(model: Any, privacy: PureDP | ApproxDP | None) -> Fit:
    """Return a function of a table, a ledger and a seed that returns what is published."""
    if isinstance(model, BaseEstimator):
        return lambda table, ledger, seed: unfitted(model, random_state=seed, ledger=ledger).fit(
            table
        )
    if not callable(model) or privacy is None:
        raise InvalidSetting(
            "A replay needs an estimator, or a function with the promise it keeps.",
            "Give e.g. replay(function, table, neighbour, privacy=PureDP(1)).",
        )

    def fit(table: Any, ledger: Any, seed: int) -> Any:
        page = ledger.open(privacy, by="replay")
        return model(table, page, Randomness(seed))

    return fit


def _with_known_key(model: Any, table: Any) -> Any:
    """Return the table as rows of which the same ones of a person stay in every fit."""
    domain = getattr(model, "domain", None)
    if is_rows(table) or not isinstance(domain, Schema) or domain.person is None:
        return table
    return rows_of(table, domain, nonfinite=model.nonfinite, selection_key=_KEY)


def _replay_once(fit: Fit, table: Any, neighbour: Any, seed: int) -> Pass:
    recording = RecordingLedger()
    first = _Outcome.of(lambda: fit(table, recording, seed))
    forcing = ForcingLedger(recording)
    second = _Outcome.of(lambda: fit(neighbour, forcing, seed))
    if first.error is not None and second.error == first.error:
        raise first.raised  # type: ignore[misc]  # the same on both tables: the fit itself fails
    forcing.close()
    promise = recording.promises[0] if recording.promises else None
    branches = (*forcing.branches, *first.differences(second, bool(forcing.branches)))
    different = () if branches else different_names(first.published, second.published)
    return Pass(promise, tuple(forcing.steps), branches, different)


@dataclass(frozen=True)
class _Outcome:
    """What can be seen of a fit besides its releases: what it published, warned of and raised."""

    published: dict[str, Any]
    warnings: tuple[str, ...]
    raised: Exception | None = None

    @classmethod
    def of(cls, fit: Callable[[], Any]) -> "_Outcome":
        made: dict[str, Any] = {}
        raised: Exception | None = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                made = published(fit())
            except BoundsMissTheRows as error:  # an outcome: its facts are released
                made = {"stopped": str(error), **error.facts}
            except Exception as error:
                raised = error
        texts = [f"{each.category.__name__}: {each.message}" for each in caught]
        return cls(made, tuple(texts), raised)

    @property
    def error(self) -> tuple[str, str] | None:
        return None if self.raised is None else (type(self.raised).__name__, str(self.raised))

    def differences(self, other: "_Outcome", has_left: bool) -> Iterator[str]:
        """Yield how the errors and warnings of two fits differ; never their texts."""
        for one, two in ((self, other), (other, self)):
            alike = one.raised is None or isinstance(one.raised, Branch) or one.error == two.error
            if not alike:
                yield f"{type(one.raised).__name__} is raised on one table only"
        if not has_left and self.raised is other.raised is None and self.warnings != other.warnings:
            yield "the warnings differ"


def _once(texts: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
