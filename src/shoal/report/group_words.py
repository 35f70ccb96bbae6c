"""The words for a table in which people share what is shown of them: ``KAnonymity``."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from shoal.privacy import KAnonymity
from shoal.report.limits import in_100
from shoal.report.sentences import TABLE_TERMS, Promise

__all__ = ["of_groups"]

_STATED = (
    "This rests on the publisher's statement that nobody in this table was in an earlier release. "
    "Nothing has checked it; if it is false, the releases can be subtracted from each other."
)
_COMPARED = (
    "Nobody in it was in an earlier release under the same grouping: people were compared before "
    "it was made."
)


def of_groups(
    guarantee: KAnonymity,
    columns: Sequence[str] = (),
    rules: Sequence[Mapping[str, Any]] = (),
    earlier: str = "first",
    **_: Any,
) -> Promise:
    """Everyone shares each combination with k - 1 others, and what that does not hide.

    ``earlier`` says why nobody in the table was in an earlier release: it is the ``first``, they
    were ``compared``, or it was ``stated``.
    """
    these = _listed(columns) or "the listed columns"
    unit = f"people, told apart by {guarantee.entity}" if guarantee.entity else "rows"
    return Promise(
        lead=f"In the published table at least {guarantee.k} people share every combination of "
        f"{these} that occurs.",
        more=(
            "Someone who knows these of you, and that you are in it, picks your record with a "
            f"chance of at most 1 in {guarantee.k}.",
            *(line for rule in rules for line in _rule(rule)),
            *(() if rules else _rules_not_stated(guarantee)),
            *((_STATED,) if "stated" in earlier else ()),
        ),
        exact=f"Every combination of {', '.join(columns) or these} in the published table belongs "
        f"to at least k = {guarantee.k} {unit}.",
        holds=(
            f"Nobody stands alone: every group has at least {guarantee.k} members.",
            "The table was counted again as written, before it got its name.",
            *((_COMPARED,) if earlier == "compared" else ()),
        ),
        fails=(
            "This is not differential privacy, and it adds to no such promise.",
            "A group whose members share a sensitive value gives that value away.",
            "Two releases of one table, or of tables that share people, can be compared to undo "
            "the grouping.",
            "Someone who knows how many rows you have may learn more."
            if guarantee.entity
            else "One row is taken as one person. Whoever has several may share a group with "
            "nobody else.",
            "Someone who reasons about why the grouping stopped where it did may learn more.",
        ),
        name=f"k = {guarantee.k}, k-anonymity",
        protects=f"one {guarantee.entity or 'row'}",
        compared="the other records of the same group",
        found="Values are grouped, not noisy: what is shown of a group is true of it.",
        costs="What the grouping costs",
        costs_from="Counted over all rows; what was left out counts as lost.",
        terms=TABLE_TERMS,
    )


def _listed(names: Sequence[str], most: int = 6) -> str:
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more columns"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _rule(rule: Mapping[str, Any]) -> Iterator[str]:
    """What holds of a sensitive column in every group; the worst share is counted, not implied."""
    column, diverse, close = rule["column"], rule.get("l"), rule.get("t")
    if diverse is not None:
        value = f"{diverse['value']:g}"
        yield {
            "distinct": f"Every such group shows at least {value} different values of {column}.",
            "entropy": f"In every such group {column} is as varied as {value} equally common "
            "values.",
            "recursive": f"In every such group the commonest value of {column} is rarer than "
            f"{diverse.get('c', 1):g} times all from the {value}. commonest on.",
        }[diverse["kind"]]
    share = rule.get("share")
    if share is not None:
        yield f"In the worst group {_sharing(share)} one value of {column}."
    if close is not None and close["kind"] == "equal":
        yield (
            f"No value of {column} is more than {100 * close['value']:g} points in 100 more "
            "common in a group than in the whole table."
        )
    elif close is not None:
        yield (
            f"In every group {column} differs from the whole table by at most "
            f"{close['value']:g}, on a scale from 0 to 1."
        )


def _sharing(share: float) -> str:
    return "all share" if share >= 1 else f"{in_100(Decimal(share))} in 100 share"


def _rules_not_stated(guarantee: KAnonymity) -> Iterator[str]:
    if guarantee.l is not None:
        yield f"Every such group shows at least {guarantee.l} different values."
        yield "Share of the most common value in the worst group: not stated."
    if guarantee.t is not None:
        yield f"Groups differ from the whole table by at most {guarantee.t:g} (0 to 1)."
