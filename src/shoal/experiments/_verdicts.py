"""What a document says, in its own words, and the one rule that judges it.

A statement is written down before anything is run, with the smallest difference that matters. What
was measured becomes effects: above 0 they speak for the statement, below 0 against it.
"""

import math
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scipy.stats import t as student

from shoal.experiments._results import Mean
from shoal.pages import (
    CANNOT_TELL,
    DOES_NOT_HOLD,
    HOLDS,
    HOLDS_IN_PART,
    NOT_JUDGED,
    Claim,
)

NO_QUICK_VERDICT = "The quick form has too few draws for a verdict."
# The texts that quotes are searched in, by the names that statements use.
SOURCES = {
    "thesis": "the thesis",
    "draft": "an earlier draft of the thesis",
    "first draft": "the first draft of the thesis",
    "wavecluster": "the WaveCluster report",
    "leteo": "the LETEO report",
}


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A sentence of a document that can be tested.

    Parameters
    ----------
    quote
        Its own words; " ... " stands for words that are left out.
    tested
        What was tested, in our words: how we read the quote.
    matters
        The smallest difference that matters; a smaller one counts as none.
    margin
        What that difference means, in words, with its unit.
    is_possibility
        Whether the document says that something can happen: then one setting is enough.
    is_strict
        Whether it says "less" or "more", so that an equality does not speak for it.
    number
        The number that the document gives, and where it is if not in the quote's place.
    parts
        Parts of the run that it rests on; none for a calculation or a proof.
    proof
        The file below ``src/shoal`` with the proof it rests on.
    untestable
        Why it cannot be told here, whatever is run.
    """

    source: str
    where: str
    quote: str
    tested: str
    matters: float = 0.0
    margin: str = ""
    is_possibility: bool = False
    is_strict: bool = False
    number: str = ""
    parts: tuple[str, ...] = ()
    proof: str = ""
    untestable: str = ""
    exhibit: str = ""


@dataclass(frozen=True)
class Effect:
    """How far one setting speaks for a statement, with the interval that its draws leave."""

    setting: str
    value: float
    low: float
    high: float


def exact(setting: str, value: float) -> Effect:
    """Return an effect that was calculated and has no error."""
    return Effect(setting, value, value, value)


def measured(gaps: Mapping[str, Mean]) -> list[Effect]:
    """Return effects with intervals that allow for how many are compared; one draw has none."""
    return [interval(setting, gap, len(gaps)) for setting, gap in gaps.items()]


def near(means: Mapping[str, Mean], aims: Mapping[str, float], tolerance: float) -> list[Effect]:
    """Return how far inside a tolerance each mean is of its aim.

    Examples
    --------
    >>> near({"a": Mean(0.5, 0.0, 9)}, {"a": 0.4}, 0.25)[0].value
    0.15
    """
    inside = {
        setting: Mean(round(tolerance - abs(mean.mean - aims[setting]), 12), mean.error, mean.n)
        for setting, mean in means.items()
    }
    return measured(inside)


def audited(setting: str, claim: float, bound: float) -> Effect:
    """Return what an audit says of a promise: a larger certified loss refutes it, none proves it.

    Examples
    --------
    >>> audited("a", claim=1.0, bound=0.9).low, audited("a", claim=1.0, bound=1.5).high
    (-inf, -0.5)
    """
    return Effect(setting, claim - bound, -math.inf, claim - bound)


def interval(setting: str, gap: Mean, comparisons: int) -> Effect:
    """Return an effect with the interval that its draws leave, as one of several comparisons."""
    is_known = gap.n > 1 and not math.isnan(gap.error)
    half = clear_errors(comparisons, gap.n) * gap.error if is_known else math.inf
    return Effect(setting, gap.mean, gap.mean - half, gap.mean + half)


def clear_errors(comparisons: int, draws: float = math.inf) -> float:
    """Return how many standard errors make a difference clear, where several are compared.

    Of equal means at most one in twenty such groups of comparisons has a difference that looks
    clear. Few draws know their own spread badly, so Student's t is taken; of a difference of two
    means it has the draws of the smaller one, which is never too few errors.

    Parameters
    ----------
    draws
        How many the standard error was taken from, at least 2; infinite where it is known.

    Examples
    --------
    >>> round(clear_errors(1), 2), round(clear_errors(3), 2), round(clear_errors(7), 2)
    (1.96, 2.39, 2.69)
    >>> round(clear_errors(1, draws=10), 2), round(clear_errors(1, draws=3), 2)
    (2.26, 4.3)
    """
    return float(student.ppf(1 - 0.025 / max(comparisons, 1), df=draws - 1))


FOR, AGAINST, SAME, UNCLEAR = "for", "against", "no difference that matters", "cannot be told"


def side_of(effect: Effect, matters: float, is_strict: bool = False) -> str:
    """Return which side an effect is on; one that is smaller than what matters is on neither.

    Examples
    --------
    >>> side_of(exact("a", 0.2), 0.05), side_of(exact("a", 0.01), 0.05)
    ('for', 'no difference that matters')
    >>> side_of(exact("a", 0.0), 0.0), side_of(exact("a", 0.0), 0.0, is_strict=True)
    ('for', 'no difference that matters')
    """
    is_above = effect.low > 0 if is_strict else effect.low >= 0
    if is_above and effect.value >= matters:
        return FOR
    if effect.high < 0 and effect.value <= -matters:
        return AGAINST
    return SAME if max(-effect.low, effect.high) <= matters else UNCLEAR


def verdict_on(
    effects: Sequence[Effect],
    matters: float,
    is_possibility: bool = False,
    is_strict: bool = False,
) -> str:
    """Return the verdict: the one rule of all documents.

    It holds if every setting speaks for it; of a possibility, if one does. Without any setting, or
    of a possibility while one is unclear, it cannot be told. It does not hold if more settings
    speak against it than for it, or if none shows a difference that matters. Where nothing speaks
    against it and more than half of the settings are unclear, or none speaks for it and some are,
    it cannot be told. Otherwise it holds in part.

    Examples
    --------
    >>> verdict_on([exact("a", 0.2), exact("b", 0.3)], 0.05)
    'holds'
    >>> verdict_on([exact("a", 0.2), exact("b", -0.0015)], 0.05)
    'holds in part'
    >>> verdict_on([exact("a", -0.2), exact("b", 0.01)], 0.05)
    'does not hold'
    >>> verdict_on([Effect("a", 0.2, -0.1, 0.5)], 0.05)
    'cannot be told here'
    """
    sides = Counter(side_of(effect, matters, is_strict) for effect in effects)
    if sides[FOR] and (is_possibility or sides[FOR] == len(effects)):
        return HOLDS
    if not effects or (is_possibility and sides[UNCLEAR]):
        return CANNOT_TELL
    if sides[AGAINST] > sides[FOR]:
        return DOES_NOT_HOLD
    if not sides[AGAINST] and sides[UNCLEAR] > (len(effects) / 2 if sides[FOR] else 0):
        return CANNOT_TELL
    return HOLDS_IN_PART if sides[FOR] else DOES_NOT_HOLD


def sides_text(effects: Sequence[Effect], matters: float, is_strict: bool = False) -> str:
    """Return where a statement holds and where not, in a sentence.

    Examples
    --------
    >>> sides_text([exact("a", 0.2), exact("b", -0.2), exact("c", 0.3)], 0.05)
    'Speaks for it: a, c. Against it: b.'
    """
    words = {FOR: "Speaks for it", AGAINST: "Against it", SAME: "No difference that matters",
             UNCLEAR: "Cannot be told"}  # fmt: skip
    by_side: dict[str, list[str]] = {side: [] for side in words}
    for effect in effects:
        by_side[side_of(effect, matters, is_strict)].append(effect.setting)
    return " ".join(
        f"{words[side]}: {_names_text(names)}." for side, names in by_side.items() if names
    )


def _names_text(names: Sequence[str]) -> str:
    """Return names in a line, a table's name once for all of its budgets.

    Examples
    --------
    >>> _names_text(["seeds at 1", "seeds at 2", "heart at 1"])
    'seeds at 1, 2; heart at 1'
    """
    if not all(" at " in name for name in names):
        return ", ".join(names)
    budgets: dict[str, list[str]] = {}
    for name in names:
        table, budget = name.split(" at ", maxsplit=1)
        budgets.setdefault(table, []).append(budget)
    return "; ".join(f"{table} at {', '.join(each)}" for table, each in budgets.items())


@dataclass(frozen=True)
class Judge:
    """Turns effects into claims of a page, for one run of a document.

    Parameters
    ----------
    command
        The document's name on the command line.
    """

    command: str
    quick: bool

    def claim(
        self, statement: Statement, effects: Sequence[Effect], ours: str = "", reason: str = ""
    ) -> Claim:
        """Return a statement with its verdict; without effects it says which part to run."""
        verdict, detail = self._judged(statement, effects)
        if verdict == NOT_JUDGED:
            note = NO_QUICK_VERDICT if effects else not_run(self.command, *statement.parts)
            reason = f"{reason} {note}".strip()
        proof = f" Proof: {statement.proof}." if statement.proof else ""
        return Claim(
            statement.where,
            statement.tested,
            verdict,
            statement.number,
            ours,
            f"{statement.untestable} {reason}{proof}".strip(),
            statement.exhibit,
            quote=statement.quote,
            source=SOURCES[statement.source],
            margin=statement.margin,
            detail=detail,
        )

    def _judged(self, statement: Statement, effects: Sequence[Effect]) -> tuple[str, str]:
        if statement.untestable:
            return CANNOT_TELL, ""
        if not effects or (statement.parts and self.quick):
            return NOT_JUDGED, ""
        matters, is_strict = statement.matters, statement.is_strict
        verdict = verdict_on(effects, matters, statement.is_possibility, is_strict)
        is_mixed = len({side_of(effect, matters, is_strict) for effect in effects}) > 1
        return verdict, sides_text(effects, matters, is_strict) if is_mixed else ""


def not_run(command: str, *parts: str) -> str:
    """Return which part is missing and how to run it.

    Examples
    --------
    >>> not_run("leteo", "tables", "gains")
    'Not run, or its table is not here: shoal reproduce leteo --only tables,gains.'
    """
    only = f" --only {shlex.quote(','.join(parts))}" if parts else ""
    return f"Not run, or its table is not here: shoal reproduce {command}{only}."


def lead_of(claims: Sequence[Claim]) -> str:
    """Return how many claims hold, in a sentence.

    Examples
    --------
    >>> lead_of([Claim("1", "a", "holds"), Claim("2", "b", "does not hold")])
    'Of 2 claims 1 holds, 0 hold in part, 1 does not hold and 0 cannot be told here.'
    """
    counts = Counter(claim.verdict for claim in claims)

    def counted(verdict: str, one: str, many: str) -> str:
        return f"{counts[verdict]} {one if counts[verdict] == 1 else many}"

    lead = (
        f"Of {len(claims)} claims {counted(HOLDS, 'holds', 'hold')}, "
        f"{counted(HOLDS_IN_PART, 'holds in part', 'hold in part')}, "
        f"{counted(DOES_NOT_HOLD, 'does not hold', 'do not hold')} "
        f"and {counts[CANNOT_TELL]} cannot be told here."
    )
    if counts[NOT_JUDGED]:
        were = counted(NOT_JUDGED, "was", "were")
        lead += f" {were} not judged."
    return lead
