"""The private estimators that replays follow, and what a replay of one over many pairs shows."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.audit._finding import Measured
from shoal.audit.loss._mixed_twins import SCHEMA as MIXED
from shoal.audit.loss._neighbours import neighbour_pairs, search_worst_row
from shoal.audit.loss._replay import Replayed, replay
from shoal.cluster.registry import REGISTRY, EstimatorEntry
from shoal.domain import Box, Schema
from shoal.privacy import PureDP

PLANE = Box(x=(-1, 1), y=(-1, 1))
_SHOWN = 6  # faults that are told of an estimator


def _families(entry: EstimatorEntry) -> dict[str, Any]:
    """Return the replayed forms of an estimator; of numbers, also for replaced rows and people."""
    usual: dict[str, Any] = (
        {"domain": MIXED} if entry.is_mixed else {"domain": PLANE, "nonfinite": "drop"}
    )
    forms = {name: dict(settings) for name, settings in entry.replays().items()}
    if not entry.is_mixed:
        own = forms.pop("", {})
        replaced = own | {"privacy": PureDP(Fraction(1), neighbours="replace-one")}
        people = {"domain": Schema.of_box(PLANE, person="person", max_rows_per_person=2)}
        forms = {
            "": own,
            "a row replaced": replaced,
            "people": own | people,
            "a person replaced": replaced | people,
            **forms,
        }
    return {entry.named(name): entry.make(**usual | form) for name, form in forms.items()}


families: Mapping[str, Any] = {
    name: model for entry in REGISTRY if entry.replays() for name, model in _families(entry).items()
}


@dataclass(frozen=True)
class FamilyLoss:
    """The largest losses of an estimator over pairs of made-up tables.

    Parameters
    ----------
    faults
        What was wrong, with the pair it showed on; the first few.
    """

    pairs: int
    epsilon: float
    delta_claim: float
    loss: float
    worst: float
    delta: float
    steps: tuple[str, ...]
    faults: tuple[str, ...]
    verdict: str
    cpu_seconds: float

    def finding(self, random_state: int = 0) -> Measured:
        """Return it as the finding of an audit on made-up tables."""
        most = max(self.worst, self.loss if not self.delta_claim else 0.0)
        return Measured(
            statistic=most,
            claim=self.epsilon,
            verdict=self.verdict,
            notes=self.faults,
            instrument="replay",
            alpha=0.0,
            draws=self.pairs,
            pair="made-up tables that differ by a row or a person",
            constructed=True,
            seed=random_state,
        )


def replay_family(
    model: Any,
    pairs: int = 24,
    *,
    search: int = 0,
    random_state: int = 0,
    progress: Callable[[str, float], None] | None = None,
) -> FamilyLoss:
    """Replay an estimator over many pairs and return the largest losses.

    Parameters
    ----------
    model
        A private estimator, not fitted.
    pairs
        How many pairs of tables.
    search
        How many more are tried in a climb to the worst row; 0 for none.
    random_state
        The seed.
    progress
        Called with what is being done and how far it is, from 0 to 1.
    """
    start, replays = time.process_time(), list[tuple[str, Replayed]]()
    for number, pair in enumerate(neighbour_pairs(model, pairs, random_state)):
        if progress is not None:
            progress(pair.about, number / pairs)
        replayed = replay(model, pair.table, pair.neighbour, random_state=random_state + number)
        replays.append((pair.about, replayed))
    if getattr(model.domain, "categories", None):
        search = 0  # rows of categories have no coordinates to climb along
    if search:
        table = np.random.default_rng(random_state).uniform(
            model.box.low, model.box.high, (20, model.box.d)
        )
        best, replayed = search_worst_row(
            model, table, evaluations=search, random_state=random_state
        )
        replays.append((best.about, replayed))
    return _summary(replays, pairs + search, time.process_time() - start)


def _summary(replays: list[tuple[str, Replayed]], pairs: int, seconds: float) -> FamilyLoss:
    claim: Any = replays[0][1].claim
    verdicts = {replayed.verdict for _, replayed in replays}
    faults: dict[str, str] = {}
    for about, replayed in replays:
        faults |= {fault: about for fault in replayed.faults if fault not in faults}
    return FamilyLoss(
        pairs,
        float(claim.epsilon),
        float(getattr(claim, "delta", 0)),
        max(replayed.loss for _, replayed in replays),
        max(replayed.worst for _, replayed in replays),
        max(replayed.delta for _, replayed in replays),
        tuple(
            sorted(
                {
                    step.mechanism
                    for _, replayed in replays
                    for p in replayed.passes
                    for step in p.steps
                }
            )
        ),
        tuple(f"{fault} ({about})" for fault, about in faults.items())[:_SHOWN],
        next(each for each in ("violated", "broken", "consistent") if each in verdicts),
        round(seconds, 2),
    )
