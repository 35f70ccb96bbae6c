"""The likelihood ratio attack: compare what models say about a record with it and without it.

What models say about each record, when it is in and when it is out, is modelled by two normal laws.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.arrays import Floats, Integers
from shoal.audit._draws import Progress
from shoal.audit._finding import seed_of
from shoal.audit.membership._ceiling import Game, ceiling_of
from shoal.audit.membership._inference import as_labels, check_levels, spawn_seeds
from shoal.audit.membership._result import MembershipInference, Setting, combine_games
from shoal.audit.membership._roc import GameScores
from shoal.audit.membership._shadow import FEWEST, Answers, check_positions
from shoal.audit.membership._victim import Victim, as_rows, check_one_number_each, evidence_of
from shoal.errors import (
    ConflictingSettings,
    DimensionMismatch,
    InvalidSetting,
    TooFewRows,
    quantity,
    setting,
)
from shoal.privacy import Guarantee, whole_number
from shoal.randomness import Randomness, Seed

Mask = NDArray[np.bool_]
_OWN_VARIANCES = 64  # shadow models from which on each record has variances of its own
_FLOOR = 1e-6  # least standard deviation

_FEWEST_MODELS = 8


@dataclass(frozen=True, eq=False)
class AnswerSums:
    """Sums over the models on one side of what they say about each record."""

    count: Floats
    total: Floats
    squares: Floats

    @classmethod
    def of(cls, answers: Floats, there: Mask) -> "AnswerSums":
        """Return the sums of the models on one side."""
        own = np.where(there, answers, 0.0)
        return cls(there.sum(axis=0, dtype=float), own.sum(axis=0), (own**2).sum(axis=0))

    def without(self, answers: Floats, there: Mask) -> "AnswerSums":
        """Return, for each model, the sums of the others on this side.

        Parameters
        ----------
        there
            (models, records): whether the model is on this side for the record.
        """
        own = np.where(there, answers, 0.0)
        return AnswerSums(self.count - there, self.total - own, self.squares - own**2)

    @property
    def mean(self) -> Floats:
        """The mean answer about each record."""
        return self.total / np.maximum(self.count, 1)

    @property
    def variance(self) -> Floats:
        """The variance of the answers about each record."""
        spread = self.squares / np.maximum(self.count, 1) - self.mean**2
        return np.maximum(spread, 0) * self.count / np.maximum(self.count - 1, 1)


@dataclass(frozen=True, eq=False)
class ShadowAnswers:
    """The laws of what shadow models say about each record, in and out."""

    answers: Floats
    coins: Mask
    inside: AnswerSums
    outside: AnswerSums
    middle: Floats

    @classmethod
    def of(cls, answers: Floats, coins: Mask) -> "ShadowAnswers":
        """Estimate the laws from the answers of shadow models."""
        # Subtracted first, since the variance of large numbers would lose its digits.
        middle = answers.mean(axis=0)
        off = answers - middle
        return cls(off, coins, AnswerSums.of(off, coins), AnswerSums.of(off, ~coins), middle)

    def score(self, answers: Floats, online: bool) -> Floats:
        """Return how much each answer is evidence for "in".

        Parameters
        ----------
        answers
            (models, records): what models under attack say.
        """
        return self._scores(answers - self.middle, self.inside, self.outside, online)

    def score_shadows(self, online: bool) -> Floats:
        """Score each shadow model by the laws of the others, to choose a threshold."""
        inside = self.inside.without(self.answers, self.coins)
        outside = self.outside.without(self.answers, ~self.coins)
        return self._scores(self.answers, inside, outside, online)

    def _scores(
        self, answers: Floats, inside: AnswerSums, outside: AnswerSums, online: bool
    ) -> Floats:
        out = _log_density(answers, outside, self._spread(outside))
        if online:
            scores = _log_density(answers, inside, self._spread(inside)) - out
        else:
            scores = (answers - outside.mean) / self._spread(outside)
        lacking = (outside.count < 2) | (online & (inside.count < 2))
        return np.where(lacking, 0.0, scores)

    def _spread(self, side: AnswerSums) -> Floats:
        """Return standard deviations: a record's own, or one for all where models are few."""
        own = side.variance
        if len(self.answers) < _OWN_VARIANCES:
            own = np.average(own, weights=side.count, axis=-1, keepdims=True)
        return np.maximum(np.sqrt(own), _FLOOR)


def _log_density(answers: Floats, side: AnswerSums, spread: Floats) -> Floats:
    return -0.5 * ((answers - side.mean) / spread) ** 2 - np.log(spread)


def best_threshold(scores: Floats, coins: Mask) -> float:
    """Return the threshold that separates the shadow models best."""
    inside, outside = np.sort(scores[coins]), np.sort(scores[~coins])
    tried = np.unique(scores)
    missed = np.searchsorted(inside, tried, side="right") / max(inside.size, 1)
    rejected = np.searchsorted(outside, tried, side="right") / max(outside.size, 1)
    return float(tried[np.argmax(rejected - missed)])


def lira(
    fit: Any,
    rows: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    mechanism: Any = None,
    partners: ArrayLike | None = None,
    target: ArrayLike | None = None,
    variant: Literal["online", "offline"] = "online",
    answers: Answers | None = None,
    n_shadow: int = 64,
    repeats: int = 10,
    guarantee: Guarantee | None = None,
    alpha: float = 0.01,
    random_state: Seed = None,
    progress: Progress | None = None,
) -> MembershipInference:
    """Attack each record with the laws of what models say with it and without it.

    Every row is in or out by a fair coin of its own, or, with ``partners``, either it or its
    partner is in. ``n_shadow`` models, each through the mechanism with fresh noise, show for every
    record what is said about it when it is in and when it is out; ``repeats`` further models are
    attacked. Read first ``tpr_at[0.01]``: whom the attack finds almost surely.

    Parameters
    ----------
    fit
        As of ``membership_inference``.
    rows
        As of ``membership_inference``.
    labels
        As of ``membership_inference``.
    mechanism
        As of ``membership_inference``.
    partners
        For each row the record that takes its place when it is out: the game that promises about
        replaced values, ``LocalDP`` and ``MetricDP``, speak about.
    target
        Places of the rows that are attacked; left out, all.
    variant
        ``"online"``: the ratio of two normal densities. ``"offline"``: how unlikely the answer is
        when the record is out, for an adversary who cannot fit models with it.
    answers
        A function of the model and rows that returns one number a row, higher for a member. Left
        out: log odds of the own label, minus the squared distance to the nearest centre, the
        logarithm of the noisy count of the cell.
    n_shadow
        Models to learn from. Fewer than 64 share variances over all records.
    repeats
        The number of models under attack.
    guarantee
        As of ``membership_inference``.
    alpha
        As of ``membership_inference``.
    random_state
        As of ``membership_inference``.
    progress
        As of ``membership_inference``.

    Examples
    --------
    >>> def nearest(rows, rng):  # a model that keeps its rows, and tells how near the nearest is
    ...     return lambda asked: -np.abs(asked - rows.T).min(axis=1)
    >>> rows = np.random.default_rng(0).normal(size=(60, 1))
    >>> found = lira(nearest, rows, n_shadow=16, repeats=5, random_state=7)
    >>> found.tpr_at[0.05].mean > 0.9
    True

    References
    ----------
    Carlini et al., Membership inference attacks from first principles, S&P 2022.
    """
    table, victim = as_rows(rows), Victim.of(fit, mechanism)
    check_levels(alpha, repeats)
    _check(variant, n_shadow, labels, partners)
    aim = np.arange(len(table)) if target is None else check_positions(target, len(table), "target")
    if aim.size < 2 * FEWEST:
        raise TooFewRows(
            f"Only {quantity(aim.size, 'row')} would be attacked.", f"Attack {2 * FEWEST} or more."
        )
    others = None if partners is None else _check_partners(as_rows(partners), table)
    play = _Play(victim, table, as_labels(labels, len(table)), others, aim, answers)
    all_answers, coins, model = play.models(n_shadow + repeats, random_state, progress)
    shadows = ShadowAnswers.of(all_answers[:n_shadow], coins[:n_shadow])
    threshold = best_threshold(shadows.score_shadows(variant == "online"), coins[:n_shadow])
    scores = shadows.score(all_answers[n_shadow:], variant == "online")
    games = [
        GameScores(score[coin], score[~coin], threshold)
        for score, coin in zip(scores, coins[n_shadow:], strict=True)
    ]
    promise = victim.promise(model) if guarantee is None else guarantee
    far = None if others is None else victim.farthest(promise, table, others)
    game: Game = "own coin" if others is None else "swap"
    uncovered = "" if labels is None else "labels unprotected"
    ceiling = ceiling_of(promise, game, distance=far, uncovered=uncovered)
    setting = Setting(f"likelihood ratios, {variant}", game, shadows=n_shadow, alpha=alpha,
                      seed=seed_of(random_state))  # fmt: skip
    return combine_games(games, ceiling, setting, promise)


@dataclass(frozen=True, eq=False)
class _Play:
    """One table, of which each model is fitted on the rows whose coin says so."""

    victim: Victim
    rows: Floats
    labels: Integers | None
    partners: Floats | None
    aim: NDArray[np.intp]
    answers: Answers | None

    def models(
        self, count: int, random_state: Seed, progress: Progress | None
    ) -> tuple[Floats, Mask, Any]:
        """Return what each model says about each target, who was in, and the last model."""
        shape = count, self.aim.size
        answers, coins = np.empty(shape), np.empty(shape, dtype=bool)
        model: Any = None
        for place, rng in enumerate(spawn_seeds(count, random_state)):
            coin = rng.compute.random(len(self.rows)) < 0.5
            model = self._model(coin, rng)
            answers[place], coins[place] = self._answers_of(model), coin[self.aim]
            if progress is not None:
                progress("models", (place + 1) / count)
        return answers, coins, model

    def _model(self, coin: Mask, rng: Randomness) -> Any:
        if self.partners is not None:
            table = np.where(coin[:, None], self.rows, self.partners)
            return self.victim.fit_rows(table, None, rng)
        labels = None if self.labels is None else self.labels[coin]
        return self.victim.fit_rows(self.rows[coin], labels, rng)

    def _answers_of(self, model: Any) -> Floats:
        records = self.rows[self.aim]
        if self.answers is not None:
            return check_one_number_each(self.answers(model, records), len(records))
        own = None if self.labels is None else self.labels[self.aim]
        classes = 0 if self.labels is None else int(self.labels.max()) + 1
        return check_one_number_each(evidence_of(model, records, own, classes), len(records))


def _check_partners(partners: Floats, rows: Floats) -> Floats:
    if partners.shape == rows.shape:
        return partners
    raise DimensionMismatch(
        f"The partners have shape {partners.shape}, the rows {rows.shape}.",
        "Give each row one partner, with the same columns.",
    )


def _check(variant: str, n_shadow: int, labels: Any, partners: Any) -> None:
    if variant not in ("online", "offline"):
        raise InvalidSetting(
            setting("variant", variant) + " came.", "Choose 'online' or 'offline'."
        )
    if whole_number(n_shadow) is None or n_shadow < _FEWEST_MODELS:
        raise InvalidSetting.of(
            "n_shadow", f"must be a whole number of {_FEWEST_MODELS} or more", 64, n_shadow
        )
    if labels is not None and partners is not None:
        raise ConflictingSettings("Both labels and partners are given.", "Give one of the two.")
