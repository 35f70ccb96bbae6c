"""``shoal audit``: whether a mechanism keeps what it claims, as far as its outputs show."""

import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shoal.cli._options import AUDIT, Json, Quiet, takes
from shoal.cli._output import Output, check_page, show_verdicts
from shoal.errors import ConflictingSettings, InvalidSetting

if TYPE_CHECKING:
    from shoal.audit import Finding
    from shoal.cli.inputs._audit_cases import CaseMap


@takes(options=AUDIT)
def audit(
    method: str | None = None,
    epsilon: str | None = None,
    delta: float = 0.0,
    python: str | None = None,
    pair: str | None = None,
    made_up: bool = False,
    replay: bool = False,
    pairs: int | None = None,
    draws: int | None = None,
    alpha: float = 0.01,
    seed: int | None = None,
    output: Path | None = None,
    overwrite: bool = False,
    names: bool = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw outputs on two neighbouring inputs and certify how far apart they are.

    `violated` is a proof, at level 1 - alpha, that the claim is false for this pair. `consistent`
    proves nothing: the claim rests on its proof. `broken`: what was audited raises, returns NaN,
    changes shape or is not random. Exit code 1: something is violated or broken, as every twin
    should be.

    With --replay nothing is left to chance: every release of a fit is recorded, the outputs are
    forced on a neighbouring table, and what the fit loses is added up by the mechanisms' own laws.

    **Examples**

        shoal audit nd-laplace --epsilon 1
        shoal audit kmeans --draws 2000 -o verdict.html
        shoal audit "Duchi with ties in both halves, d = 2"
        shoal audit --python mine:noisy_mean --pair '[[0, 0, 0], [0, 0, 1]]' --epsilon 0.5
        shoal audit kmeans --replay --pairs 50
        shoal audit --python mine:estimator --replay
        shoal audit --list
    """
    from shoal.audit.bound import check_levels
    from shoal.cli.inputs._audit_cases import KINDS
    from shoal.pages.audit import Audit, case_list, page

    say = Output(json, quiet)
    if names:
        cases = case_list(KINDS)
        say.result(cases.values, *cases.lines)
        return
    check_page(output, overwrite, "verdict.html")
    check_levels(alpha, delta)
    chosen = secrets.randbelow(2**31) if seed is None else seed
    options: dict[str, Any]
    if replay:
        _check_replay_options(epsilon, delta, draws)
        audited, options = _replays(method, python, pair, made_up), {"replay": True, "pairs": pairs}
    else:
        _check_draw_options(pairs)
        audited = _cases(method, python, pair, _claim(epsilon), delta, made_up)
        options = {"epsilon": epsilon, "delta": delta or None, "draws": draws, "alpha": alpha}
    findings = _run(audited, pairs if replay else draws, alpha / len(audited), chosen, say)
    done = Audit(method or str(python), findings, options, chosen, python, pair)
    private = not done.constructed
    show_verdicts(page(done), say, output, overwrite=overwrite, private=private)
    if done.faults:
        raise typer.Exit(1)


def _check_replay_options(epsilon: str | None, delta: float, draws: int | None) -> None:
    """Refuse options of audits by draws: a replay takes claims from the estimator itself."""
    if epsilon is not None or delta or draws is not None:
        raise ConflictingSettings(
            "--epsilon, --delta and --draws are not for --replay.",
            "Leave them out: an estimator's own promise is the claim, and nothing is drawn.",
        )


def _check_draw_options(pairs: int | None) -> None:
    if pairs is not None:
        raise ConflictingSettings("--pairs needs --replay.", "Add --replay, or leave --pairs out.")


def _replays(method: str | None, python: str | None, pair: str | None, made_up: bool) -> "CaseMap":
    """What is to be replayed: estimators of ours by a word, or one of anybody's."""
    from shoal.cli.inputs._replay_cases import named_replays, python_replay

    _check_one(method, python)
    if python is not None:
        return {python: python_replay(python, pair, made_up)}
    if pair is not None or made_up:
        raise ConflictingSettings(
            "--pair and --made-up need --python.",
            "Leave them out: estimators of shoal are replayed on made-up tables.",
        )
    return named_replays(str(method))


def _check_one(method: str | None, python: str | None) -> None:
    if (method is None) == (python is None):
        raise ConflictingSettings(
            "Give exactly one: a name, or --python.",
            "E.g. shoal audit nd-laplace, or shoal audit --python mine:noisy --pair '[0, 1]'. "
            "`shoal audit --list` lists the names.",
        )


def _cases(
    method: str | None,
    python: str | None,
    pair: str | None,
    epsilon: float | None,
    delta: float,
    made_up: bool,
) -> "CaseMap":
    """What is to be audited: cases of ours by a word, or one of anybody's function."""
    from shoal.cli.inputs._audit_cases import function_case, named_cases

    _check_one(method, python)
    if python is not None:
        return {python: function_case(python, pair, epsilon, delta, made_up)}
    if pair is not None or delta or made_up:
        raise ConflictingSettings(
            "--pair, --delta and --made-up need --python.",
            "Leave them out: built-in cases have their own made-up pairs and claims.",
        )
    return named_cases(str(method), epsilon)


def _run(
    cases: "CaseMap", draws: int | None, alpha: float, seed: int, say: Output
) -> dict[str, "Finding"]:
    """Every case, one after the other."""
    findings = {}
    with say.progress(len(cases)) as progress:
        for name, case in cases.items():
            progress.step(name)
            findings[name] = case.run(
                draws=draws, alpha=alpha, random_state=seed, progress=progress.part
            )
    return findings


def _claim(epsilon: str | None) -> float | None:
    """The claim as a number."""
    if epsilon is None:
        return None
    with suppress(ValueError):
        if 0 <= float(epsilon) < float("inf"):
            return float(epsilon)
    raise InvalidSetting(
        "--epsilon must be a number of 0 or more.", "E.g. --epsilon 1.", setting="--epsilon"
    )
