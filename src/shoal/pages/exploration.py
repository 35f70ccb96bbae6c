"""Build the page of an exploration: loss and risk under several settings, for the holder."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from shoal.figures import detail_bars
from shoal.pages._table_risk import chance_text
from shoal.pages._verdicts import Detail, Verdicts
from shoal.pages.page import Line, Table, VerdictPage

if TYPE_CHECKING:
    from shoal.anonymize import ExploredSetting
    from shoal.figures import Figure


COLUMNS = (
    "k", "May be left out", "Recoding", "Loss", "Left out", "Groups", "Smallest",
    "Risk, highest", "Risk, mean",
)  # fmt: skip
_FOR_YOU = "These numbers depend on every row. Do not pass them on: they are no release."
_NEVER_BOTH = (
    "Release under one of these settings only: two releases of the same people can be compared."
)


def page(trials: Sequence["ExploredSetting"]) -> VerdictPage:
    """Build the page."""
    table, lead = _table(trials), _lead(trials)
    lines: list[Line | Table] = [
        Line("Found", lead),
        table,
        *_refusals(trials),
        Line("Note", _FOR_YOU),
    ]
    values = {"for_the_holder_alone": True, "trials": [asdict(trial) for trial in trials]}
    return VerdictPage(lines=lines, values=values, verdicts=_verdicts(trials, table, lead))


def policy_lines(trial: "ExploredSetting") -> str:
    """Return what a policy says for a setting."""
    return (
        f"privacy: {{k: {trial.k}, suppression: {trial.suppression:g}}}, "
        f"search: {{recoding: {trial.recoding}}}"
    )


def _lead(trials: Sequence["ExploredSetting"]) -> str:
    made = [trial for trial in trials if trial.loss is not None]
    if not made:
        return "No setting has a release."
    best = min(made, key=lambda trial: (trial.loss, -trial.k))
    return (
        f"The least loss is {best.loss:.3f}, with k = {best.k}, {best.suppression:.2g} of the rows "
        f"that may be left out and {best.recoding} recoding. In the policy: `{policy_lines(best)}`."
    )


def _table(trials: Sequence["ExploredSetting"]) -> Table:
    note = (
        "Loss is the certainty penalty, 0 for nothing lost and 1 for nothing left. Risk is the "
        "chance to pick the right record of a person who is known to be in the table."
    )
    return Table(
        "Settings", COLUMNS, [_row(trial) for trial in trials], note=note, left=COLUMNS[2:3]
    )


def _row(trial: "ExploredSetting") -> list[str]:
    setting = [str(trial.k), f"{100 * trial.suppression:g} %", trial.recoding]
    if trial.loss is None:
        return [*setting, "none", "", "", "", "", ""]
    return [
        *setting,
        f"{trial.loss:.3f}",
        f"{trial.rows_left_out:,}",
        f"{trial.groups:,}",
        f"{trial.smallest:,}",
        chance_text(trial.highest_risk),
        chance_text(trial.mean_risk),
    ]


def _refusals(trials: Sequence["ExploredSetting"]) -> list[Line]:
    return [
        Line("Refused", f"{_name(trial)}: {trial.refusal}") for trial in trials if trial.refusal
    ]


def _name(trial: "ExploredSetting") -> str:
    return f"k = {trial.k}, {100 * trial.suppression:g} %, {trial.recoding}"


def _verdicts(trials: Sequence["ExploredSetting"], table: Table, lead: str) -> Verdicts:
    return Verdicts(
        title="What other settings would give",
        lead=lead,
        heading="Settings",
        sub="Each line is a release that was searched for and not written.",
        tables=[table.to_dict()],
        details=_details(trials),
        reading="A bar for each setting: k, the share that may be left out, and the recoding.",
        says=("How much of the table each setting keeps, and how likely somebody is found.",),
        says_not=(_FOR_YOU, _NEVER_BOTH, *(line.text for line in _refusals(trials))),
        constructed=False,
    )


def _details(trials: Sequence["ExploredSetting"]) -> list[Detail]:
    made = [trial for trial in trials if trial.loss is not None]
    if not made:
        return []
    detail = {_name(trial): min(max(1 - (trial.loss or 0), 0.0), 1.0) for trial in made}
    risk = {_name(trial): trial.mean_risk for trial in made}
    return [
        _detail("Detail kept", "the more the better", detail, "Detail kept"),
        _detail("Mean risk", "the less the better", risk, "Mean chance of the right record"),
    ]


def _detail(title: str, verdict: str, bars: dict[str, float], axis: str) -> Detail:
    figure: Figure = detail_bars(bars, title=title, axis=axis)
    return Detail(title, verdict, (figure,), open=True)
