"""Which cases a word on the command line names, and a case for anybody's function."""

import json
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InvalidSetting, ShoalError

if TYPE_CHECKING:
    from shoal.audit import Case

__all__ = ["Asked", "cases_of", "kinds"]

_SHORT = {"kmeans": "privatekmeans", "wave": "wavecluster"}
_EVERY = ("mechanisms", "estimators", "twins")
Asked = dict[str, "Case"]


def kinds() -> Mapping[str, Mapping[str, "Case"]]:
    """All there is to audit, by kind and name."""
    from shoal.audit import estimators, shipped, twins

    return dict(zip(_EVERY, (shipped, estimators, twins), strict=True))


def cases_of(
    word: str | None, python: str | None, pair: str | None, epsilon: str | None, delta: float
) -> Asked:
    """The cases these options ask for, by name."""
    if (word is None) == (python is None):
        raise InvalidSetting(
            "Exactly one is needed: a name, or --python.",
            "E.g. shoal audit nd-laplace, or shoal audit --python mine:noisy --pair '[0, 1]'. "
            "`shoal audit --list` says what there is.",
        )
    if python is not None:
        return {python: _function(python, pair, epsilon, delta)}
    if pair is not None:
        raise InvalidSetting("--pair goes with --python.", "Our own cases have their pairs.")
    found = _named(str(word))
    return found if epsilon is None else _at(found, _number(epsilon))


def _named(word: str) -> Asked:
    """All cases of a kind, or those whose name is, or begins with, the word."""
    known = kinds()
    if word in known:
        return dict(known[word])
    wanted = _SHORT.get(word, _folded(word))
    everything = {name: case for group in known.values() for name, case in group.items()}
    exact = {name: case for name, case in everything.items() if _folded(name) == wanted}
    if exact and len(exact) == 1 and word in everything:
        return exact
    begun = {
        n: c for n, c in everything.items() if _folded(n.split(",")[0].split(" d=")[0]) == wanted
    }
    found = begun or exact or {n: c for n, c in everything.items() if _folded(n).startswith(wanted)}
    if found:
        return found
    raise InvalidSetting(
        f"There is nothing named {word!r} to audit.",
        f"`shoal audit --list` names all there is; {', '.join(_EVERY)} audit all of a kind.",
    )


def _folded(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter not in " -_")


def _at(cases: Asked, epsilon: float) -> Asked:
    """The same cases at another epsilon, where the mechanism says how to make it."""
    remade = {name: _remade(case, epsilon) for name, case in cases.items()}
    found = {name: case for name, case in remade.items() if case is not None}
    if found:
        return found
    raise InvalidSetting(
        "These cases are made for one epsilon each, stated in their claim.",
        "Leave --epsilon out; or audit a function of your own with --python.",
    )


def _remade(case: "Case", epsilon: float) -> "Case | None":
    from shoal.audit import exact_score
    from shoal.privacy import LocalDP

    made = _with_epsilon(case.mechanism, epsilon)
    if made is None or case.score is None or case.pair is None:
        return None
    as_local = isinstance(case.claim, LocalDP) and hasattr(made, "as_local")
    claim = made.as_local() if as_local else made.guarantee
    score = exact_score(made, case.pair)
    return replace(case, mechanism=made, claim=claim, score=score, at_least=None)


def _with_epsilon(mechanism: Any, epsilon: float) -> Any:
    from shoal.privacy import PureDP
    from shoal.privacy.exact import exact_budget

    names = {field.name for field in fields(mechanism)} if hasattr(mechanism, "release") else set()
    if "epsilon" in names:
        return replace(mechanism, epsilon=epsilon)
    if "guarantee" in names and isinstance(mechanism.guarantee, PureDP):
        return replace(mechanism, guarantee=PureDP(exact_budget(epsilon)))
    return None


def _function(python: str, pair: str | None, epsilon: str | None, delta: float) -> "Case":
    """A case for a function or mechanism of somebody's own."""
    from shoal.audit import Case

    if pair is None:
        raise InvalidSetting(
            "--python came without --pair.",
            "Give two inputs that the claim compares, as JSON, e.g. --pair '[[0, 0], [1, 0]]'.",
        )
    claim = None if epsilon is None else _number(epsilon)
    about = f"the two inputs of --pair {pair}"
    return Case(_loaded(python), _pair(pair), claim, draws=20_000, delta=delta, about=about)


def _pair(text: str) -> tuple[Any, Any]:
    try:
        first, second = json.loads(text)
    except (ValueError, TypeError):
        raise InvalidSetting(
            "--pair is no JSON list of two inputs.", "E.g. --pair '[0, 1]' or '[[0, 0], [1, 0]]'."
        ) from None
    return first, second


def _loaded(python: str) -> Any:
    """What ``module:name`` names; modules in the folder at hand are found too."""
    module, _, name = python.partition(":")
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        found = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except ShoalError:
        raise
    except Exception as error:
        raise InvalidSetting(
            f"--python {python} cannot be loaded ({type(error).__name__}).",
            "Write module:function; the module must be in this folder or installed.",
        ) from None
    finally:
        sys.path.remove(here)
    return found


def _number(epsilon: str) -> float:
    try:
        value = float(epsilon)
    except ValueError:
        value = -1.0
    if 0 <= value < float("inf"):
        return value
    raise InvalidSetting("--epsilon is no number from 0 up.", "E.g. --epsilon 1.")
