"""Membership inference with shadow models: was a person's record used to fit a model?"""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Integers
from shoal.audit._draws import Progress
from shoal.audit._finding import seed_of
from shoal.audit.membership._ceiling import ceiling_of
from shoal.audit.membership._result import MembershipInference, Setting, combine_games
from shoal.audit.membership._shadow import ATTACKS, Answers, RowSplit, ShadowAttack
from shoal.audit.membership._victim import Victim, as_rows
from shoal.errors import (
    ConflictingSettings,
    DimensionMismatch,
    InvalidSetting,
    quantity,
    setting,
)
from shoal.privacy import Guarantee, whole_number
from shoal.randomness import Randomness, Seed


def membership_inference(
    fit: Any,
    rows: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    mechanism: Any = None,
    query: Literal["true", "perturbed"] = "true",
    shadow: Literal["matched", "plain"] = "matched",
    attack: Literal["forest", "art"] = "forest",
    answers: Answers | None = None,
    target: float | ArrayLike = 0.25,
    known: ArrayLike | None = None,
    shadows: int = 3,
    repeats: int = 10,
    guarantee: Guarantee | None = None,
    alpha: float = 0.01,
    random_state: Seed = None,
    progress: Progress | None = None,
) -> MembershipInference:
    """Play the membership game with shadow models.

    Half of the target rows are members: the model is fitted on them, through the mechanism, and on
    nothing else. The adversary holds true records, the model, and rows of its own, on which it
    rehearses with models made the same way. Each repeat draws split, noise and models anew.

    Parameters
    ----------
    fit
        The model under attack: an estimator, which is cloned, such as ``PrivateKMeans(...)``,
        ``LocalClusterer(...)`` or scikit-learn's; or a function ``(rows, rng)``, with ``labels``
        ``(rows, labels, rng)``, that returns a model.
    rows
        The table, one row for each person.
    labels
        A whole number from 0 up for each row, if the model learns labels. Labels count as seen by
        everyone, so no promise about rows covers them.
    mechanism
        A local mechanism that rows pass before ``fit``.
    query
        ``"perturbed"`` asks for members by their report. Nobody outside holds that, and it finds
        leaks that are not there: only to show this.
    shadow
        ``"matched"`` shadow models pass the same mechanism; ``"plain"`` ones see true rows.
    attack
        ``"forest"``, or ``"art"`` for the black-box attack of the Adversarial Robustness Toolbox.
    answers
        A function of the model and rows that returns what the adversary notes down, a line a row.
        Left out: probabilities of a classifier, distances to centres, noisy counts of cells.
    target
        The share of the rows under attack, or their places.
    known
        The places of the rows that the adversary has; None takes all others.
    shadows
        Shadow models of each game.
    repeats
        The number of games.
    guarantee
        The promise about everything the adversary sees; None takes the mechanism's or the model's
        own.
    alpha
        The level of the verdict and the bands.
    random_state
        A seed makes the games repeatable.
    progress
        Called with what is being done and its share.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> rows = np.random.default_rng(0).normal(size=(400, 2))
    >>> found = membership_inference(KMeans(3, n_init=1), rows, repeats=5, random_state=7)
    >>> found.verdict, found.members, abs(found.advantage.mean) < 0.2
    ('no claim', 50, True)

    References
    ----------
    Shokri, Stronati, Song, Shmatikov, Membership inference attacks against machine learning models,
    S&P 2017; Yeom et al., Privacy risk in machine learning, CSF 2018.
    """
    table, victim = as_rows(rows), Victim.of(fit, mechanism)
    check_levels(alpha, repeats)
    _check(query, shadow, attack, victim)
    split = RowSplit.of(len(table), target, known, shadows)
    way = ShadowAttack(victim, table, as_labels(labels, len(table)), shadow == "matched",
                    query == "perturbed", answers)  # fmt: skip
    games = []
    for done, rng in enumerate(spawn_seeds(repeats, random_state)):
        played, model = way.play(*split.drawn(rng), ATTACKS[attack], rng)
        games.append(played)
        if progress is not None:
            progress("games", (done + 1) / repeats)
    promise = victim.promise(model) if guarantee is None else guarantee
    setting = Setting(
        attack=f"shadow models and {_NAMES[attack]}",
        game="swap",
        query=query,
        shadow=shadow,
        shadows=shadows,
        alpha=alpha,
        seed=seed_of(random_state),
        notes=("members were asked for by their reports, which invents leakage",)
        if query == "perturbed"
        else (),
    )
    far = victim.farthest(promise, table.min(axis=0), table.max(axis=0))
    ceiling = ceiling_of(promise, "swap", distance=far, uncovered=_uncovered(way))
    return combine_games(games, ceiling, setting, promise)


_NAMES = {"forest": "a forest", "art": "the toolbox' forest"}


def _check(query: str, shadow: str, attack: str, victim: Victim) -> None:
    for name, value, choices in (("query", query, ("true", "perturbed")),
                                 ("shadow", shadow, ("matched", "plain")),
                                 ("attack", attack, tuple(ATTACKS))):  # fmt: skip
        if value not in choices:
            raise InvalidSetting(setting(name, value) + " came.", f"Choose {' or '.join(choices)}.")
    if query == "perturbed" and victim.mechanism is None:
        raise ConflictingSettings(
            setting("query", "perturbed") + " needs a mechanism: without one there are no reports.",
            "Give " + setting("mechanism") + ", or ask for true records.",
        )


def check_levels(alpha: float, repeats: int) -> None:
    """Refuse a level outside (0, 0.5), or no games.

    Raises
    ------
    InvalidSetting
        If one is outside its range.
    """
    if not isinstance(alpha, int | float) or not 0 < alpha < 0.5:
        raise InvalidSetting.of("alpha", "must be between 0 and 0.5", 0.01, alpha)
    if whole_number(repeats) is None or repeats < 1:
        raise InvalidSetting.of("repeats", "must be a whole number of 1 or more", 10, repeats)


def as_labels(labels: ArrayLike | None, n: int) -> Integers | None:
    """Return labels as whole numbers from 0 up, one for each row."""
    if labels is None:
        return None
    given = np.asarray(labels)
    if given.shape != (n,):
        raise DimensionMismatch(
            f"There are {quantity(given.size, 'label')} for {quantity(n, 'row')}.",
            "Give one label for each row.",
        )
    if given.dtype.kind not in "iub" or given.min(initial=0) < 0:
        raise InvalidSetting(
            "Labels must be whole numbers of 0 or more.", "Number the classes: 0, 1."
        )
    return given.astype(np.int64)


def spawn_seeds(repeats: int, random_state: Seed) -> Iterator[Randomness]:
    """Yield independent randomness for each of several models or games."""
    source = Randomness(random_state)
    return (Randomness(source.compute) for _ in range(repeats))


def _uncovered(way: ShadowAttack) -> str:
    """Describe what the adversary sees that no promise about the rows covers."""
    if way.labels is not None:
        return "labels unprotected"
    return "the report itself is asked for" if way.perturbed else ""
