"""The shadow model attack: learn on models of rows of one's own, then attack (Shokri et al. 2017).

``RowSplit`` draws for each game which rows are attacked and which the adversary has.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats, Integers
from shoal.audit.membership._roc import GameScores
from shoal.audit.membership._victim import Victim, answers_of, check_answers
from shoal.errors import (
    ConflictingSettings,
    InvalidSetting,
    NotInstalled,
    TooFewRows,
    quantity,
    setting,
)
from shoal.privacy import whole_number
from shoal.randomness import Randomness

Places = NDArray[np.intp]
Scorer = Callable[[Floats], Floats]
Answers = Callable[[Any, Floats], Any]
TREES = 60  # of a forest
_EVEN = 0.5  # halves are equal, so a score above it means "member", before any target is seen

FEWEST = 20  # members of a game


@dataclass(frozen=True, eq=False)
class Halves:
    """The places of rows that a model is fitted on, and of those it is not."""

    inside: Places
    outside: Places


def split_halves(places: Places) -> Halves:
    """Split places into two halves: the first in, the rest out."""
    return Halves(places[: len(places) // 2], places[len(places) // 2 :])


@dataclass(frozen=True, eq=False)
class ShadowAttack:
    """A table, a victim, and the way the adversary proceeds.

    Parameters
    ----------
    labels
        The labels of its rows, if the victim learns from them.
    answers
        What the adversary notes down of a model's answers; ``None``: by the kind of model.
    """

    victim: Victim
    rows: Floats
    labels: Integers | None
    matched: bool
    perturbed: bool
    answers: Answers | None

    def play(self, target: Halves, shadows: Sequence[Halves], learn: "Learn", rng: Randomness
             ) -> tuple[GameScores, Any]:  # fmt: skip
        """Play one game: learn on the shadows, fix the threshold, attack the target.

        Returns
        -------
        The scores, and the model under attack.
        """
        rehearsed = [self._model_answers(part, self.matched, rng)[0] for part in shadows]
        target_answers, model = self._model_answers(target, True, rng)
        width = min(answers.shape[1] for pair in [*rehearsed, target_answers] for answers in pair)
        shadow_answers = [np.vstack([pair[i] for pair in rehearsed])[:, :width] for i in (0, 1)]
        score = learn(shadow_answers[0], shadow_answers[1], rng.seed())
        inside, outside = (score(answers[:, :width]) for answers in target_answers)
        return GameScores(inside, outside, _EVEN), model

    def _model_answers(
        self, part: Halves, protected: bool, rng: Randomness
    ) -> tuple[tuple[Floats, Floats], Any]:
        """Return what a model of the inner half says about it and about the outer half."""
        members = self.rows[part.inside]
        reported = self.victim.reported(members, rng) if protected else members
        model = self.victim.model(reported, self._of(part.inside), rng)
        shown = np.asarray(reported, dtype=np.float64) if self.perturbed else members
        members_answers = self._answers(model, shown, part.inside)
        return (members_answers, self._answers(model, self.rows[part.outside], part.outside)), model

    def _answers(self, model: Any, rows: Floats, places: Places) -> Floats:
        if self.answers is not None:
            return check_answers(self.answers(model, rows), len(rows))
        classes = 0 if self.labels is None else int(self.labels.max()) + 1
        return check_answers(answers_of(model, rows, self._of(places), classes), len(rows))

    def _of(self, places: Places) -> Integers | None:
        return None if self.labels is None else self.labels[places]


Learn = Callable[[Floats, Floats, int], Scorer]


def learn_forest(inside: Floats, outside: Floats, seed: int) -> Scorer:
    """Learn a forest that distinguishes answers about members from others."""
    answers = np.vstack([inside, outside])
    member = np.repeat([1, 0], [len(inside), len(outside)])
    forest = _forest(seed).fit(answers, member)
    return lambda answers: np.asarray(forest.predict_proba(answers)[:, 1])


def learn_with_toolbox(inside: Floats, outside: Floats, seed: int) -> Scorer:
    """Learn the black-box attack of the Adversarial Robustness Toolbox, with such a forest.

    Its own shadow models have no mechanism between rows and model, so it gets answers of ours.
    """
    toolbox, wrap = _toolbox()
    width = inside.shape[1]
    nobody = wrap(lambda rows: rows, input_shape=(width,), nb_classes=max(width, 2))
    attack = toolbox(nobody, attack_model_type="rf")  # it takes no forest that is not fitted yet
    attack.attack_model.set_params(n_estimators=TREES, random_state=seed)
    attack.fit(pred=inside, test_pred=outside)

    def score(answers: Floats) -> Floats:
        chances = np.asarray(attack.infer(None, pred=answers, probabilities=True), dtype=np.float64)
        return chances.reshape(len(answers), -1)[:, -1]

    return score


ATTACKS: dict[str, Learn] = {"forest": learn_forest, "art": learn_with_toolbox}


def _forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(TREES, random_state=seed)


def _toolbox() -> tuple[Any, Any]:
    with warnings.catch_warnings():
        # The toolbox warns about every framework that is not installed.
        warnings.simplefilter("ignore")
        try:
            from art.attacks.inference.membership_inference import MembershipInferenceBlackBox
            from art.estimators.classification import BlackBoxClassifier
        except ImportError:
            raise NotInstalled(
                setting("attack", "art")
                + " needs the Adversarial Robustness Toolbox, which is not installed.",
                "Install it: pip install 'shoal[attack]'. Or use "
                + setting("attack", "forest")
                + ".",
                reason="toolbox",
            ) from None
    return MembershipInferenceBlackBox, BlackBoxClassifier


class RowSplit:
    """Which rows are attacked and which the adversary has; each draw says who is in.

    Parameters
    ----------
    known
        The rows that the adversary has; None takes all others.
    """

    def __init__(self, target: int | Places, known: Places | None, n: int, shadows: int) -> None:
        self._target, self._known, self._n, self._shadows = target, known, n, shadows

    @classmethod
    def of(cls, n: int, target: Any, known: Any, shadows: int) -> "RowSplit":
        """Check the settings, so that every draw succeeds.

        Parameters
        ----------
        known
            Places, or None for all others.
        """
        if whole_number(shadows) is None or shadows < 1:
            raise InvalidSetting.of("shadows", "must be a whole number of 1 or more", 3, shadows)
        share = np.ndim(target) == 0
        if share and not (isinstance(target, int | float | np.number) and 0 < target < 1):
            raise InvalidSetting.of("target", "must be a share between 0 and 1", 0.25, target)
        aim = int(n * float(target)) if share else check_positions(target, n, "target")
        held = None if known is None else check_positions(known, n, "known")
        if held is not None and not isinstance(aim, int):
            _refuse_overlap(aim, held)
        of_target = aim if isinstance(aim, int) else aim.size
        left = n - of_target if held is None else held.size - (of_target if share else 0)
        if of_target // 2 < FEWEST or left < 4 * shadows:
            raise TooFewRows(
                f"{of_target} rows are attacked and {max(left, 0)} are left for "
                f"{quantity(shadows, 'shadow model')}.",
                f"Attack {2 * FEWEST} rows or more, and leave four or more for each shadow model.",
            )
        return cls(aim, held, n, shadows)

    def drawn(self, rng: Randomness) -> tuple[Halves, list[Halves]]:
        """Draw the target's halves, and those of each shadow model."""
        order = rng.compute.permutation(self._n)
        if isinstance(self._target, int):
            aim = order[: self._target]
        else:
            aim = rng.compute.permutation(self._target)
        rest = order[~np.isin(order, aim)]
        if self._known is not None:
            rest = rest[np.isin(rest, self._known)]
        return split_halves(aim), [
            split_halves(part) for part in np.array_split(rest, self._shadows)
        ]


def check_positions(values: Any, n: int, name: str) -> Places:
    """Return places of rows, checked to be distinct whole numbers in range."""
    places = np.asarray(values)
    good = places.ndim == 1 and places.dtype.kind in "iu" and places.size
    if not good or places.min() < 0 or places.max() >= n or np.unique(places).size < places.size:
        raise InvalidSetting(
            setting(name) + " must be a list of different row indices.",
            f"Give numbers from 0 to {n - 1}.",
        )
    return places.astype(np.intp)


def _refuse_overlap(target: Places, known: Places) -> None:
    both = np.intersect1d(target, known).size
    if both:
        raise ConflictingSettings(
            f"{both} of the {target.size} attacked rows are among those the adversary has.",
            "Give it other rows: whoever knows the answer needs no attack.",
            reason="overlap",
        )
