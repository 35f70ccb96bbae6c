"""The direct attack: is one person's row in the table that a release was computed from?

The adversary knows all other rows and looks at centres, cells and counts themselves. Each trial
fits a model of its own, so trials are independent and the result is certified.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats
from shoal.audit._draws import Progress, draw_outputs, halve_progress
from shoal.audit._finding import LowerBound, seed_of
from shoal.audit.bound._events import check_draws, check_levels
from shoal.audit.bound._lower_bound import lower_bound_of
from shoal.audit.bound._outputs import OutputSample, samples_of
from shoal.audit.bound._pairs import describe_pair
from shoal.audit.membership._ceiling import Ceiling, Game, ceiling_of
from shoal.audit.membership._roc import GameScores, Roc, roc_of_one_game
from shoal.audit.membership._shadow import learn_forest
from shoal.audit.membership._victim import Victim, as_rows, summary_of
from shoal.errors import DimensionMismatch, InvalidSetting, quantity, setting
from shoal.figures import Figure, roc_curve
from shoal.privacy import Guarantee, Protected, Public, Result, Unprotected, whole_number
from shoal.randomness import Randomness, Seed

Score = Callable[[Any], Floats]


@dataclass(frozen=True, eq=False)
class NeighbourAttack:
    """How well one row's presence shows; ``float()`` of it is the certified epsilon.

    Attributes
    ----------
    bound
        The certified lower bound on epsilon between the two tables, with its verdict.
    advantage
        TPR - FPR of the test half, at a threshold fixed before it.
    tpr
        The true positive rate there.
    fpr
        The false positive rate there.
    auc
        The area under the curve of the test half.
    roc
        The curve, with Clopper and Pearson's limits: models are independent.
    ceiling
        What the promise allows between the two tables.
    game
        ``"own coin"``: the row is there or not. ``"swap"``: another is in its place.
    models
        The models of each side.
    guarantee
        The promise that the ceiling follows from.
    """

    bound: LowerBound
    advantage: float
    tpr: float
    fpr: float
    auc: float
    roc: Roc
    ceiling: Ceiling
    game: str
    models: int
    guarantee: Guarantee | None = None

    @property
    def verdict(self) -> str:
        """The verdict of the certified bound."""
        return self.bound.verdict

    def __float__(self) -> float:
        return self.bound.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        rates = {name: getattr(self, name) for name in ("advantage", "tpr", "fpr", "auc")}
        parts = {name: getattr(self, name).to_dict() for name in ("bound", "roc", "ceiling")}
        promise = None if self.guarantee is None else self.guarantee.to_dict()
        facts = {"game": self.game, "models": self.models, "guarantee": promise}
        return {"kind": "NeighbourAttack", "verdict": self.verdict, **rates, **parts, **facts}

    def to_result(self) -> Result:
        """Return the finding for a report, with every number protected."""
        promise = self.guarantee or Unprotected("the model attacked promises nothing")
        settings = {"game": Public(self.game), "models": Public(self.models)}
        values = {k: v for k, v in self.to_dict().items() if k not in ("kind", *settings)}
        protected = {name: Protected(value) for name, value in values.items()}
        return Result("neighbour attack", promise, settings, protected=protected)

    def plot(self) -> Figure:
        """Draw the curve with its limits, chance, and the ceiling if there is one."""
        return roc_curve(
            {"likelihood ratio": self.roc.points()},
            title="One row, with it and without it",
            finding=f"Advantage {self.advantage:.3f}, epsilon at least {float(self):.3f}",
            band=f"{quantity(self.models // 2, 'model')} per side tested; bands hold with "
            f"probability {1 - self.bound.alpha:g} at each rate.",
            ceiling=self.ceiling.corners(),
            ceiling_name=self.ceiling.name,
        )

    def __str__(self) -> str:
        rates = f"advantage {self.advantage:.3f} (TPR {self.tpr:.3f}, FPR {self.fpr:.3f})"
        played = f"{rates}, AUC {self.auc:.3f}, game: {self.game}"
        return f"{self.bound}\n{played}\nceiling of the advantage: {self.ceiling}"


def neighbour_attack(
    fit: Any,
    rows: ArrayLike,
    person: int,
    *,
    replacement: ArrayLike | None = None,
    mechanism: Any = None,
    answers: Callable[[Any], Any] | None = None,
    score: Score | None = None,
    models: int = 2_000,
    guarantee: Guarantee | None = None,
    alpha: float = 0.01,
    random_state: Seed = None,
    progress: Progress | None = None,
) -> NeighbourAttack:
    """Distinguish a table from the same table without one row, by what was released.

    Parameters
    ----------
    fit
        As of ``membership_inference``.
    rows
        As of ``membership_inference``.
    person
        The place of the row in question.
    replacement
        The record that stands in its place in the other table; left out, the row is missing there.
    mechanism
        As of ``membership_inference``.
    answers
        From a model to what the adversary looks at, always equally many numbers. Left out: centres
        nearest to the record with their weights, the noisy count of its cell, the sizes.
    score
        From what it looks at, one line a model, to the log-likelihood ratio, where it is known.
        Without one it is learnt, on half of the models.
    models
        Models a side, 1,000 at least. Half choose the event, the others test it.
    guarantee
        As of ``membership_inference``.
    alpha
        The probability of calling something correct violated.
    random_state
        A seed makes the attack repeatable.
    progress
        Called with what is being done and its share.

    Examples
    --------
    >>> from shoal import PureDP
    >>> from shoal.mechanisms import Geometric
    >>> def noisy_size(rows, rng):
    ...     size = Geometric(PureDP(1)).release(np.array([len(rows)]), rng.noise)
    ...     return lambda asked: np.repeat(size.astype(float), len(asked))
    >>> rows = np.zeros((20, 1))
    >>> found = neighbour_attack(noisy_size, rows, 0, guarantee=PureDP(1), models=1_000,
    ...     random_state=7)
    >>> found.verdict, round(found.ceiling.advantage, 3)
    ('consistent', 0.462)
    """
    check_levels(alpha, 0.0)
    check_draws(models)
    table, victim = as_rows(rows), Victim.of(fit, mechanism)
    pair = _pair(table, person, replacement)
    record, rng = table[[person]], Randomness(random_state)
    promises = [] if guarantee is None else [guarantee]

    def shown(lines: Floats, noise: np.random.Generator) -> Any:
        model = victim.fit_rows(lines, None, Randomness(noise))
        own = victim.promise(model)
        if not promises and own is not None:
            promises.append(own)
        answer = summary_of(model, record) if answers is None else answers(model)
        return np.asarray(answer, dtype=np.float64)

    outputs = [
        draw_outputs(shown, lines, models, rng.noise.child(name), halve_progress(progress, start))
        for lines, name, start in zip(pair, ("with", "without"), (0.0, 0.5), strict=True)
    ]
    promise = promises[0] if promises else None
    game: Game = "own coin" if replacement is None else "swap"
    far = None if replacement is None else victim.farthest(promise, *pair)
    ceiling = ceiling_of(promise, game, distance=far)
    bound = lower_bound_of(
        *outputs, claim=ceiling.epsilon, score=score, alpha=alpha, delta=ceiling.delta
    )
    bound = replace(bound, pair=describe_pair(pair, False), seed=seed_of(random_state))
    played = _score_second_halves(*samples_of(*outputs), score, rng.seed())
    rates = {name: getattr(played, name) for name in ("advantage", "tpr", "fpr", "auc")}
    roc = roc_of_one_game(played, alpha)
    return NeighbourAttack(bound, **rates, roc=roc, ceiling=ceiling, game=game, models=models,
                           guarantee=promise)  # fmt: skip


def _pair(table: Floats, person: int, replacement: ArrayLike | None) -> tuple[Floats, Floats]:
    place = whole_number(person)
    if place is None or not 0 <= place < len(table):
        raise InvalidSetting(
            setting("person") + " must be the index of a row.",
            f"Give a whole number from 0 to {len(table) - 1}.",
        )
    if replacement is None:
        return table, np.delete(table, place, axis=0)
    other = as_rows(np.atleast_2d(np.asarray(replacement, dtype=np.float64)))
    if other.shape != (1, table.shape[1]):
        raise DimensionMismatch(
            f"The replacement has shape {other.shape}; a record has "
            f"{quantity(table.shape[1], 'column')}.",
            "Give one record.",
        )
    if np.array_equal(other[0], table[place]):
        raise InvalidSetting(
            "The replacement is the same as the row.", "Give another record.", setting="replacement"
        )
    changed = table.copy()
    changed[place] = other[0]
    return table, changed


def _score_second_halves(
    first: OutputSample, second: OutputSample, score: Score | None, seed: int
) -> GameScores:
    """Return the scores of the second halves, learnt on the first where no score is given."""
    half = len(first) // 2
    sides = [np.where(side.kinds[:, None] == 0, side.values, 0.0) for side in (first, second)]
    if not sides[0].shape[1]:  # nothing but failures
        return GameScores(np.zeros(half), np.zeros(half), 0.0)
    if score is None:
        forest = learn_forest(sides[0][:half], sides[1][:half], seed)
        return GameScores(forest(sides[0][half:]), forest(sides[1][half:]), 0.5)
    return GameScores(np.asarray(score(sides[0][half:])), np.asarray(score(sides[1][half:])), 0.0)
