"""Find the cases that a word on the command line names, or build one for a given function."""

import difflib
import re
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from shoal.audit import Case, Finding, estimators, exact_score, mechanisms
from shoal.audit.case import Cases
from shoal.cluster.registry import REGISTRY
from shoal.documents import parse_json
from shoal.errors import InvalidSetting, ShoalError, quantity
from shoal.privacy import LocalDP, PureDP, exact_budget

CaseMap = Mapping[str, Case]


def _twins() -> CaseMap:
    # Broken on purpose, so loaded only where one is named, or all are listed.
    from shoal.audit.twins import twins

    return twins


KINDS: Mapping[str, CaseMap] = {
    "mechanisms": mechanisms,
    "estimators": estimators,
    "twins": Cases(_twins),
}
_SHORT = {entry.command: entry.name for entry in REGISTRY if entry.command is not None}
_DRAWS = 20_000  # of a given function, which is called once for each draw


def named_cases(word: str, epsilon: float | None = None) -> CaseMap:
    """Return the cases that a word names: a kind, a case's whole name, or its first words.

    Parameters
    ----------
    word
        E.g. ``mechanisms``, ``nd-laplace d=2``, ``NDLaplace``. Twins are looked at last: one is
        meant only if nothing of ours has such a name.
    epsilon
        Rebuilds the mechanisms with this budget; None keeps their own.

    Examples
    --------
    >>> list(named_cases("Harmony"))
    ['harmony d=2', 'harmony d=4']
    >>> list(named_cases("Harmony", 2.0).values())[0].claim
    LocalDP(epsilon=2)
    """
    cases = _cases_matching(short_name(word))
    if not cases:
        raise InvalidSetting(
            f"There is nothing named {word!r} to audit.",
            f"{_nearest(word)}`shoal audit --list` lists all cases; {', '.join(KINDS)} audit all "
            "of a kind.",
        )
    return cases if epsilon is None else _at_epsilon(cases, epsilon)


def _nearest(word: str) -> str:
    """Return a question with the name nearest to a misspelt one; empty if none is near."""
    cases = (name for cases in KINDS.values() for name in cases)
    first_words = dict.fromkeys(re.split(r"[ ,]", name)[0] for name in cases)
    near = difflib.get_close_matches(word, [*_SHORT, *KINDS, *first_words], n=1)
    return f"Did you mean {near[0]!r}? " if near else ""


def _cases_matching(word: str) -> CaseMap:
    if word in KINDS:
        return dict(KINDS[word])
    for cases in KINDS.values():
        if word in cases:
            return {word: cases[word]}
        begun = {name: case for name, case in cases.items() if is_named(word, name)}
        if begun:
            return begun
    return {}


def short_name(word: str) -> str:
    """Return the class that a short word of ``shoal cluster`` stands for, or the word itself.

    Parameters
    ----------
    word
        E.g. ``kmeans``.
    """
    return _SHORT.get(word, word)


def is_named(word: str, name: str) -> bool:
    """Whether a word is a name or its first words, whatever separates them."""
    return _letters_and_digits(word) in _prefixes(name)


def _letters_and_digits(text: str) -> str:
    """Keep letters and digits only, so that ``nd-laplace`` and ``NDLaplace`` are equal."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _prefixes(name: str) -> set[str]:
    """Return the first word of a name, the first two, and so on, without separators."""
    parts = re.findall(r"[a-z0-9]+", name.lower())
    return {"".join(parts[:end]) for end in range(1, len(parts) + 1)}


def _at_epsilon(cases: CaseMap, epsilon: float) -> CaseMap:
    """Return the same cases at another epsilon; raise if some cannot be rebuilt."""
    made = {name: _remake_case(case, epsilon) for name, case in cases.items()}
    others = [name for name, case in made.items() if case is None]
    if others:
        raise InvalidSetting(
            f"{len(others)} of {quantity(len(cases), 'case')} have a fixed epsilon, e.g. "
            f"{others[0]!r}.",
            "Leave --epsilon out, or audit a function of your own with --python.",
        )
    return {name: case for name, case in made.items() if case is not None}


def _remake_case(case: Case, epsilon: float) -> Case | None:
    """Return the case with its mechanism rebuilt; None if it is no mechanism of ours."""
    if case.score is None or case.pair is None or not is_dataclass(case.mechanism):
        return None
    as_local = isinstance(case.claim, LocalDP) and hasattr(case.mechanism, "as_local")
    if as_local:  # its own epsilon is per unit of distance
        epsilon *= float(case.mechanism.epsilon) / float(case.claim.epsilon)  # type: ignore[union-attr]
    made = _with_epsilon(case.mechanism, epsilon)
    if made is None:
        return None
    claim = made.as_local() if as_local else made.guarantee
    return replace(
        case, mechanism=made, claim=claim, score=exact_score(made, case.pair), at_least=None
    )


def _with_epsilon(mechanism: Any, epsilon: float) -> Any:
    names = {field.name for field in fields(mechanism)}
    if "epsilon" in names:
        return replace(mechanism, epsilon=epsilon)
    if "guarantee" in names and isinstance(mechanism.guarantee, PureDP):
        return replace(mechanism, guarantee=PureDP(exact_budget(epsilon)))
    return None


class GivenPairCase(Case):
    """A case on inputs that may be somebody's; its finding does not contain them."""

    def run(self, **settings: Any) -> Finding:
        """Audit the case, as ``Case.run`` does."""
        finding = super().run(**settings)
        return replace(finding, pair="given by the caller, not kept", constructed=False)


def function_case(
    python: str, pair: str | None, epsilon: float | None, delta: float, made_up: bool
) -> Case:
    """Build a case for a function or mechanism given by name.

    Parameters
    ----------
    epsilon
        The claimed epsilon; None for no claim.
    """
    if pair is None:
        raise InvalidSetting(
            "--python needs --pair.",
            "Give two inputs that the claim compares, as JSON, e.g. --pair '[[0, 0], [1, 0]]'.",
            setting="--pair",
        )
    kind = Case if made_up else GivenPairCase
    return kind(_import_mechanism(python), parse_pair(pair), epsilon, draws=_DRAWS, delta=delta)


def parse_pair(text: str) -> tuple[Any, Any]:
    """Read two inputs from JSON."""
    try:
        pair = parse_json(text)
    except ValueError:
        pair = None
    if not isinstance(pair, list) or len(pair) != 2:
        raise InvalidSetting(
            "--pair must be a JSON list of two inputs.",
            "E.g. --pair '[0, 1]' or '[[0, 0], [1, 0]]'.",
            setting="--pair",
        )
    return pair[0], pair[1]


def import_object(python: str) -> Any:
    """Import what ``module:name`` names, also from the working folder.

    Parameters
    ----------
    python
        ``module:name``.
    """
    module, _, name = python.partition(":")
    sys.path.insert(0, str(Path.cwd()))  # and stays: a function may import its neighbours later
    try:
        target = import_module(module)
        for part in name.split("."):
            target = getattr(target, part)
    except ShoalError:
        raise
    except Exception as error:
        raise InvalidSetting(
            f"--python {python} cannot be loaded ({type(error).__name__}).",
            "Write module:function, without .py; the module must be in this folder or installed.",
            setting="--python",
        ) from None
    return target


def _import_mechanism(python: str) -> Any:
    """Import a function or mechanism."""
    target = import_object(python)
    if isinstance(target, type) or not (callable(target) or hasattr(target, "release")):
        raise InvalidSetting(
            f"--python {python} must be a function or an object with release(value, rng).",
            "Name a function, or an instance of a class made in that module.",
            setting="--python",
        )
    return target
