"""Build pages of attacks on a release of one's own, for the holder of the rows."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import quantity
from shoal.pages.page import Line, Table, VerdictPage, labelled_lines

if TYPE_CHECKING:
    from shoal.audit import AttributeInference, Linkage, MembershipInference
    from shoal.pages._verdicts import Verdicts


FOR_YOU = "Computed from the rows, for you who hold them. Do not pass these numbers on."
SAYS_NOT = "An attack that finds little proves little: a better one may find more."


def membership_page(attack: "MembershipInference", method: str, rows: int) -> VerdictPage:
    """Build the page of a membership attack on a clustering method."""
    lines = [*labelled_lines("Verdict", str(attack).splitlines()), Line("For you", FOR_YOU)]
    values = {"attacked": method, "rows": rows, **attack.to_dict(), "for_the_holder_alone": True}
    return VerdictPage(lines=lines, values=values, verdicts=_membership_verdicts(attack, method))


def _membership_verdicts(attack: "MembershipInference", method: str) -> "Verdicts":
    """Return the rates, the curve and the ceiling."""
    from shoal.pages._verdicts import Detail, Verdicts

    means = {
        "Advantage": attack.advantage,
        "TPR": attack.tpr,
        "FPR": attack.fpr,
        "AUC": attack.auc,
        **{f"TPR at FPR {rate:g}": tpr for rate, tpr in attack.tpr_at.items()},
    }
    rows = [[name, "unresolved" if e is None else str(e)] for name, e in means.items()]
    models = quantity(attack.repeats, "model was", "models were")
    note = f"Advantage allowed: {attack.ceiling}. {models} attacked."
    table = Table("Rates", ["Rate", "Mean over models"], rows, note=note)
    return Verdicts(
        title=f"Membership attack on {method}",
        lead=_membership_sentence(attack),
        gauge=_membership_gauge(attack),
        heading=f"Verdict: {attack.verdict}",
        sub="How well the members of a model are told from others, by someone who has their "
        "true records.",
        tables=[table.to_dict()],
        details=[
            Detail(
                "How it was found",
                attack.verdict,
                (attack.plot(),),
                str(attack).splitlines(),
                open=True,
            )
        ],
        reading="The curve with its band over models, chance, and what the promise allows.",
        says=(
            "The advantage is right answers minus false alarms: 0 is guessing, 1 certainty.",
            "Threshold and models were rehearsed on other models than those attacked.",
        ),
        says_not=(
            SAYS_NOT,
            "Other columns and other releases about the same people are not looked at.",
        ),
        constructed=False,
    )


def better_than_guessing(advantage: float) -> str:
    """Return an advantage in words.

    Examples
    --------
    >>> better_than_guessing(0.021), better_than_guessing(-0.01)
    ('better than guessing by 2 in 100', 'no better than guessing')
    """
    hundredths = round(100 * advantage)
    if hundredths < 1:
        return "no better than guessing"
    return f"better than guessing by {hundredths} in 100"


def _allowed(attack: "MembershipInference") -> int | None:
    """Return the ceiling in 100, rounded up; None if nothing is promised."""
    most = attack.ceiling.advantage
    return None if most is None else math.ceil(100 * most - 1e-9)


def _membership_sentence(attack: "MembershipInference") -> str:
    who = "Someone who asks of people whether a model has seen them is"
    found = f"{who} {better_than_guessing(float(attack))}"
    most = _allowed(attack)
    return f"{found}; the promise allows {most} in 100." if most is not None else f"{found}."


def _membership_gauge(attack: "MembershipInference") -> dict[str, object]:
    most = _allowed(attack)
    found = max(round(100 * float(attack)), 0)
    return {
        "found": min(found, 100) / 100,
        "limit": None if most is None else most / 100,
        "words": f"found: {found} in 100",
        "limit_words": "nothing is promised" if most is None else f"allowed: {most} in 100",
        "ends": ["guessing", "certainty"],
    }


def linkage_page(
    attack: "Linkage", guesses: "AttributeInference | None", table: Path
) -> VerdictPage:
    """Build the page of a linkage attack: people of a second file looked up in a released table.

    Parameters
    ----------
    guesses
        The guesses of a column, if one was named.
    """
    guessed = [] if guesses is None else str(guesses).splitlines()
    lines = [
        Line("Released", str(attack.released)),
        Line("Before", str(attack.raw)),
        *labelled_lines("Guessed", guessed),
        Line("Finding", _linkage_finding(attack)),
        Line("For you", FOR_YOU),
    ]
    values = {
        "table": str(table),
        "too_few": too_few_records(attack),
        **attack.to_dict(),
        "guessed": None if guesses is None else guesses.to_dict(),
        "for_the_holder_alone": True,
    }
    verdicts = _linkage_verdicts(attack, guessed, table)
    return VerdictPage(lines=lines, values=values, verdicts=verdicts)


def _linkage_verdicts(attack: "Linkage", guessed: list[str], table: Path) -> "Verdicts":
    """Return the links into both tables, and what is guessed."""
    from shoal.pages._verdicts import Detail, Verdicts

    columns = ["Table", "People", "With a matching record", "With exactly one", "Correctly linked"]
    rows = [
        [
            name,
            f"{links.people:,}",
            f"{links.matched:,}",
            f"{links.unique:,}",
            f"{links.expected:,.1f}",
        ]
        for name, links in (("Released", attack.released), ("Before", attack.raw))
    ]
    note = "Correctly linked: on average, by picking one of the matching records at random."
    finding = _linkage_finding(attack)
    figures = [attack.plot()] if attack.released.sizes else []
    return Verdicts(
        title=f"Linkage attack on {table.name}",
        lead=finding,
        heading="Which lines are whose",
        sub="Everybody in a second file, looked up by what others may know about them.",
        tables=[Table("Links", columns, rows, note=note).to_dict()],
        details=[
            Detail(
                "Matching records, and what they tell",
                finding,
                figures,
                [*str(attack).splitlines(), *guessed],
                open=True,
            )
        ],
        reading="How many records match a person.",
        says=(
            "Someone with k matching records is picked correctly once in k times.",
            "What is guessed is compared with guesses that need no table.",
        ),
        says_not=(SAYS_NOT, "k-anonymity does not hide what all members of a class share."),
        constructed=False,
    )


def too_few_records(attack: "Linkage") -> int:
    """Count the people who have fewer fitting records than was promised."""
    return sum(people for size, people in attack.released.sizes if size < attack.k)


def _linkage_finding(attack: "Linkage") -> str:
    if not attack.released.matched:
        return "Nobody in the file has a matching record: is it about the same people?"
    if too_few := too_few_records(attack):
        return (
            f"{quantity(too_few, 'person has', 'people have')} fewer than {attack.k} matching "
            "records."
        )
    return f"Everyone with a matching record has {attack.k} or more."
