"""The private estimators that replays follow, and what a replay of one over many pairs shows."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.audit.finding import Measured
from shoal.audit.loss._mixed_twins import SCHEMA as MIXED
from shoal.audit.loss._neighbours import neighbour_pairs, search_worst_row
from shoal.audit.loss.replay import Replayed, replay
from shoal.cluster import PrivateKMeans, PrivateKPrototypes, WaveCluster
from shoal.cluster.wave import Percentile
from shoal.domain import Box, Schema
from shoal.privacy import ApproxDP, PureDP
from shoal.synopsis import AdaptiveGrid, MixedSynopsis, PrivateBounds, PrivTree, UniformGrid

PLANE = Box(x=(-1, 1), y=(-1, 1))
FOUR = Box.unit(4)
EIGHT = Box.unit(8)
PEOPLE = Schema.of_box(PLANE, entity="person", max_rows_per_person=2)
FORTY = Box.unit(40)  # so many columns that noise with a delta is the smaller one
FORTY_OF_PEOPLE = Schema.of_box(FORTY, entity="person", max_rows_per_person=2)
REPLACED = PureDP(Fraction(1), neighbours="replace-one")
DELTA = Fraction(1, 10**6)
PUBLIC_ROWS = ((-0.5, -0.5), (-0.4, 0.1), (0.5, 0.4))
_SHOWN = 6  # faults that are told of an estimator
_STEPS = 3000  # a public number of rows from which on there are steps after the cells


def _make(kind: Any, *arguments: Any, **settings: Any) -> Any:
    usual: dict[str, Any] = {"domain": PLANE, "nonfinite": "drop"}
    if "privacy" not in settings:
        usual["epsilon"] = 1
    return kind(*arguments, **usual | settings)


def _kmeans(method: Any = "auto", k: Any = 2, **settings: Any) -> PrivateKMeans:
    model: PrivateKMeans = _make(PrivateKMeans, k, method=method, **settings)
    return model


def _wave(**settings: Any) -> WaveCluster:
    model: WaveCluster = _make(WaveCluster, **{"cells": 8, "min_cells": 1} | settings)
    return model


def _mixed(**settings: Any) -> PrivateKPrototypes:
    usual: dict[str, Any] = {"epsilon": 1, "domain": MIXED, "n_init": 2, "n_synthetic": 200}
    return PrivateKPrototypes(2, **usual | settings)


def _kinds(name: str, make: Callable[..., Any], **settings: Any) -> dict[str, Any]:
    """Return an estimator for rows added, rows replaced and people added or replaced."""
    replaced = {"privacy": REPLACED, **settings}
    return {
        name: make(**settings),
        f"{name}, a row replaced": make(**replaced),
        f"{name}, people": make(**{**settings, "domain": PEOPLE}),
        f"{name}, a person replaced": make(**{**replaced, "domain": PEOPLE}),
    }


families: Mapping[str, Any] = {
    **_kinds("UniformGrid", lambda **settings: _make(UniformGrid, **settings)),
    "UniformGrid, sparse": _make(UniformGrid, cells=64, sparse=True),
    **_kinds("AdaptiveGrid", lambda **settings: _make(AdaptiveGrid, **settings)),
    "AdaptiveGrid, sparse": _make(AdaptiveGrid, cells=16, sparse=True),
    **_kinds("PrivTree", lambda **settings: _make(PrivTree, **settings)),
    **_kinds("PrivateBounds", lambda **settings: _make(PrivateBounds, **settings)),
    **_kinds("PrivateKMeans", lambda **settings: _kmeans(n_public=_STEPS, **settings)),
    "PrivateKMeans, few rows": _kmeans(),
    "PrivateKMeans, four columns": _kmeans(domain=FOUR, n_public=_STEPS),
    "PrivateKMeans, eight columns": _kmeans(domain=EIGHT, n_public=_STEPS),
    "PrivateKMeans, public rows": _kmeans(init=PUBLIC_ROWS, n_public=_STEPS),
    "PrivateKMeans, choice of k": _kmeans(k=range(2, 5), n_public=_STEPS),
    "PrivateKMeans, adaptive-grid": _kmeans("adaptive-grid"),
    "PrivateKMeans, uniform-grid": _kmeans("uniform-grid"),
    "PrivateKMeans, privtree": _kmeans("privtree"),
    "PrivateKMeans, lloyd": _kmeans("lloyd"),
    "PrivateKMeans, hybrid": _kmeans("hybrid", n_public=10 * _STEPS),
    "PrivateKMeans, with a delta": _kmeans(
        privacy=ApproxDP(Fraction(1), DELTA), domain=FORTY, n_public=_STEPS
    ),
    "PrivateKMeans, with a delta, people": _kmeans(
        privacy=ApproxDP(Fraction(2), DELTA), domain=FORTY_OF_PEOPLE, n_public=_STEPS
    ),
    **_kinds("WaveCluster", _wave),
    "WaveCluster, sparse": _wave(domain=EIGHT, cells=4),
    "WaveCluster, privqt": _wave(method="privqt"),
    "WaveCluster, privthr": _wave(method="privthr"),
    "WaveCluster, privthrem": _wave(method="privthrem"),
    "WaveCluster, baseline": _wave(method="baseline"),
    "WaveCluster, persistence": _wave(selector="persistence"),
    "WaveCluster, percentile": _wave(selector="percentile"),
    "WaveCluster, density": _wave(selector="density"),
    "WaveCluster, mass": _wave(selector="mass"),
    "WaveCluster, posterior": _wave(selector=Percentile(rule="posterior")),
    "MixedSynopsis": MixedSynopsis(epsilon=1, domain=MIXED),
    "MixedSynopsis, a row replaced": MixedSynopsis(privacy=REPLACED, domain=MIXED),
    "PrivateKPrototypes, few rows": _mixed(),
    "PrivateKPrototypes, a profile": _mixed(n_public=300),
    "PrivateKPrototypes, one step": _mixed(n_public=1000),
    "PrivateKPrototypes, small groups": _mixed(n_public=_STEPS),
    "PrivateKPrototypes, a row replaced": _mixed(n_public=_STEPS, epsilon=None, privacy=REPLACED),
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
    search
        How many more are tried in a climb to the worst row; 0 for none.
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
