"""What a table's page says about risk: unique people, special combinations, and WP216's questions.

WP216 is the opinion of the European data protection authorities on anonymisation (2014). It asks of
every technique whether people can still be singled out, linked or inferred about.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from shoal.anonymize.risk import (
    PopulationUniques,
    SpecialUniques,
    estimate_uniques,
    find_special_uniques,
)
from shoal.errors import quantity
from shoal.pages.page import Table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from shoal.anonymize import AchievedPrivacy, Policy, RunResult
    from shoal.anonymize.risk import Population, Risk


_MOST_COMBINATIONS = 10


def wp216_lines(policy: "Policy", achieved: "AchievedPrivacy") -> list[str]:
    """Answer the three questions of WP216 for a released table, a sentence or two each."""
    return [
        f"Singling out (WP216): {_singling_out(policy, achieved)}",
        f"Linkability (WP216): {_linkability(policy, achieved)}",
        f"Inference (WP216): {_inference(policy, achieved)}",
    ]


def _singling_out(policy: "Policy", achieved: "AchievedPrivacy") -> str:
    of = "people" if achieved.by_person else "rows"
    answer = f"not by the grouped columns: at least {achieved.k:,} {of} share each combination."
    if achieved.k < 2:
        answer = "possible for whoever knows who is in the table: some combinations occur once."
    open_columns = [*policy.names("other"), *policy.names("sensitive")]
    if open_columns:
        answer += (
            f" {quantity(len(open_columns), 'column is', 'columns are')} published as they are and "
            "not covered: who knows a rare value there finds its row."
        )
    return answer


def _linkability(policy: "Policy", achieved: "AchievedPrivacy") -> str:
    tokens = [n for n in policy.names("identifier") if policy.attributes[n].action == "hmac"]
    answer = (
        f"another table about the same people meets at least {achieved.k:,} records for each, by "
        "the grouped columns alone."
    )
    if tokens:
        answer += " Pseudonyms link rows of one release, and all releases made with the same key."
    return answer


def _inference(policy: "Policy", achieved: "AchievedPrivacy") -> str:
    if not achieved.share:
        return "not limited for columns that were not called sensitive."
    limited = [n for n in achieved.share if policy.attributes[n].l or policy.attributes[n].t]
    if not limited:
        return "not limited: no rule l or t was asked for."
    return f"limited by l and t for {', '.join(limited)}, each by itself."


def risk_lines(risk: "Risk", k: int, of: str, population: "Population | None") -> list[str]:
    """Return a sentence for each of the three attackers.

    Parameters
    ----------
    population
        The population, if one is known.
    """
    known = "Without a population table this is the prosecutor's chance."
    if population is not None:
        known = "Counted in a table of the population."
    return [
        f"Prosecutor, who knows that you are in it: {chance_text(risk.prosecutor)} at most; over "
        f"all {of}, {chance_text(risk.prosecutor_mean)} on average.",
        f"Journalist, who does not know that: {chance_text(risk.journalist)} at most. {known}",
        f"Marketer, who matches everyone: about {chance_text(risk.marketer)} of the matches right.",
        f"{_percent(risk.exposed)} of all {of} are in groups smaller than k = {k}.",
    ]


def chance_text(value: float) -> str:
    """Format a probability as "1 in 12", rounded up.

    Examples
    --------
    >>> chance_text(1.0), chance_text(0.26), chance_text(1 / 12)
    ('1 in 1', '1 in 3', '1 in 12')
    """
    return f"1 in {int(1 / value + 1e-9):,}" if value > 0 else "none"


def model_texts(policy: "Policy", reached: Mapping[str, float]) -> list[str]:
    """Return a sentence for each model that a release keeps besides k, l and t."""
    privacy, texts = policy.privacy, list[str]()
    if privacy.k_map is not None and privacy.population is not None:
        known = "counted in a table of it"
        if privacy.population.size is not None:
            known = f"judged from its stated {privacy.population.size:,} people"
        texts.append(
            f"At least {privacy.k_map.k} people of the population share every combination, {known}."
        )
    if privacy.presence is not None:
        texts.append(
            f"Of the people of the population with your values at most "
            f"{_percent(reached['presence'])} are in it; at most {_percent(privacy.presence.most)} "
            "was allowed."
        )
    if privacy.average_risk is not None:
        texts.append(
            f"On average a record is picked with a chance of {chance_text(reached['average_risk'])}"
            f"; {chance_text(privacy.average_risk)} was allowed."
        )
    if privacy.uniqueness is not None:
        where = "here" if privacy.uniqueness.within == "sample" else "in the population (estimated)"
        texts.append(
            f"{_percent(reached['uniqueness'])} of the people are the only ones with their values "
            f"{where}; {_percent(privacy.uniqueness.most)} was allowed."
        )
    return texts


def unique_lines(sizes: "ArrayLike", population: int | None) -> list[str]:
    """Return what is said of unique people before a release, for the holder.

    Parameters
    ----------
    population
        How many people the population has, if that is known.
    """
    if population is None:
        return []
    uniques = estimate_uniques(sizes, population)
    return [
        f"{_percent(uniques.sample)} of the people stand alone in the table at the leaves; by "
        f"estimate {_percent(uniques.share)} stand alone in the population of {population:,} "
        f"({_estimates(uniques)}).",
    ]


def _estimates(uniques: PopulationUniques) -> str:
    parts = [
        f"{name} {'not fitted' if share is None else _percent(share)}"
        for name, share in (
            ("Pitman", uniques.pitman),
            ("Zayatz", uniques.zayatz),
            ("slide negative binomial", uniques.snb),
        )
    ]
    return f"{', '.join(parts)}; Dankar's rule takes {uniques.chosen}"


def special_text(special: SpecialUniques) -> str:
    """Return how many people a few columns make special, for the holder."""
    few = quantity(special.most_columns, "column")
    if not special.people:
        return f"Nobody is the only one with their values in up to {few}."
    most = max(special.by_column, key=lambda name: special.by_column[name])
    return (
        f"{special.people:,} of {special.members:,} are the only ones with their values in up to "
        f"{few}; {most!r} adds most to that ({_percent(special.by_column[most])})."
    )


def special_table(finished: "RunResult") -> tuple[str, Table]:
    """Return a sentence and a table of the combinations that made people special before."""
    special = find_special_uniques(finished.frequency.problem)
    rows = [
        [" + ".join(each.columns), f"{each.people:,}", _percent(each.people / special.members)]
        for each in special.combinations[:_MOST_COMBINATIONS]
    ]
    more = len(special.combinations) - len(rows)
    note = "Before the release, at the leaves; each row leaves out whom fewer columns make special."
    if more:
        note += f" {quantity(more, 'more combination')}."
    title = "Columns that make people special" if rows else "No few columns make anybody special"
    return special_text(special), Table(title, ["Columns", "People", "Share"], rows, note=note)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
