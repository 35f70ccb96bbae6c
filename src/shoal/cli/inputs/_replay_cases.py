"""Find the estimators that ``shoal audit --replay`` follows, or load one of somebody's own."""

from collections.abc import Callable, Mapping
from typing import Any

from sklearn.base import BaseEstimator

from shoal.audit import Case, Finding, Measured, replay
from shoal.audit.loss import families, replay_family
from shoal.cli.inputs._audit_cases import (
    CaseMap,
    import_object,
    is_named,
    parse_pair,
    short_name,
)
from shoal.errors import InvalidSetting
from shoal.randomness import Seed

PAIRS = 24


class ReplayCase(Case):
    """An estimator whose exact loss is computed over pairs of made-up tables, or on a given one."""

    def run(
        self,
        *,
        draws: int | None = None,
        alpha: float = 0.01,
        random_state: Seed = 0,
        progress: Callable[[str, float], None] | None = None,
    ) -> Finding:
        """Replay it on so many pairs, ``draws``, or on the pair that was given.

        Parameters
        ----------
        alpha
            Not used: there is no chance in it.
        progress
            Called with what is being done and how far it is, from 0 to 1.
        """
        seed = int(random_state)  # type: ignore[arg-type]
        if self.pair is not None:
            return self._on_given_pair(seed)
        pairs = self.draws if draws is None else draws
        replayed = replay_family(self.mechanism, pairs, random_state=seed, progress=progress)
        return replayed.finding(seed)

    def _on_given_pair(self, seed: int) -> Finding:
        """Return what the pair shows; the tables themselves are not kept."""
        table, neighbour = self.pair  # type: ignore[misc]
        replayed = replay(self.mechanism, table, neighbour, random_state=seed, runs=3)
        return Measured(
            statistic=replayed.worst,
            claim=float(getattr(replayed.claim, "epsilon", 0)),
            verdict=replayed.verdict,
            notes=replayed.faults,
            instrument="replay",
            alpha=0.0,
            draws=1,
            pair=self.about or "given by the caller, not kept",
            constructed=bool(self.about),
            seed=seed,
        )


def named_replays(word: str) -> CaseMap:
    """Return the estimators that a word names: ``estimators``, a whole name, or its first words.

    Parameters
    ----------
    word
        E.g. ``kmeans``, ``PrivTree, people``. Broken twins are looked at last.

    Examples
    --------
    >>> list(named_replays("PrivTree"))[:2]
    ['PrivTree', 'PrivTree, a row replaced']
    """
    from shoal.audit.loss import twins  # broken on purpose: looked at last

    wanted = short_name(word)
    for kind, models in {"estimators": families, "twins": twins}.items():
        if wanted == kind:
            return _cases(models)
        named = {name: model for name, model in models.items() if is_named(wanted, name)}
        if named:
            return _cases(named)
    raise InvalidSetting(
        f"There is no estimator named {word!r} to replay.",
        "`shoal audit estimators --replay` replays all; --python loads one of your own.",
    )


def python_replay(python: str, pair: str | None, made_up: bool) -> Case:
    """Build a case for an estimator given by name.

    Parameters
    ----------
    python
        ``module:name`` of an estimator that is not fitted, or of a function that makes one.
    pair
        Two tables as a JSON list; None for made-up ones.
    """
    thing = import_object(python)
    model = thing if isinstance(thing, BaseEstimator) else _made(python, thing)
    about = "given by the caller, made up" if made_up and pair is not None else ""
    tables = None if pair is None else parse_pair(pair)
    return ReplayCase(model, tables, None, draws=PAIRS, about=about)


def _made(python: str, thing: Any) -> BaseEstimator:
    model = thing() if callable(thing) else None
    if isinstance(model, BaseEstimator):
        return model
    raise InvalidSetting(
        f"--python {python} must name a private estimator that is not fitted.",
        "Name an instance, or a function without arguments that returns one.",
        setting="--python",
    )


def _cases(models: Mapping[str, Any]) -> CaseMap:
    return {
        name: ReplayCase(model, None, model._promise(), draws=PAIRS)
        for name, model in models.items()
    }
