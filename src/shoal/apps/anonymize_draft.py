"""A first draft of a policy, from a look at a table's columns.

The draft is careful where it guesses: no column is guessed to be harmless, k is left open, ranges
are rounded, and of the values only those are quoted that many rows share. It is still made from
the rows, so it is for their holder; every guess is marked for review.
"""

import math
import re
from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any, NamedTuple

from shoal.anonymize.table import AnyTable
from shoal.apps.anonymize_looks import COMMON, LISTED, Look, looks_of
from shoal.apps.input import is_uri

__all__ = ["Draft", "draft_of"]

REVIEW = "# REVIEW:"
_MARKS = {*"*?[]{}\\"}  # of patterns; in a name to write to, Spark would read one
_UNIQUE = 0.9  # share of different values from which a column names people
_NAMES = {
    "identifier": r"(^|_)(id|uuid|name|surname|email|e_mail|mail|phone|tel|ssn|passport|iban)(_|$)",
    "sensitive": r"income|salary|wage|diagnos|disease|illness|result|grade|score|religion|debt",
    "postcode": r"post_?code|zip|postal|plz",
}
_HEAD = """\
# A draft made by looking at the table: every line marked REVIEW is a guess, and yours to decide.
# It was made from people's rows. Keep it with them; do not publish it before you have gone
# through it. Which columns can others know? Those are quasi. A hierarchy drawn up from the table
# tells which values occur: better take it from a public list.
version: 1
"""


class Draft(NamedTuple):
    """A policy as text, and the role guessed for each column."""

    text: str
    roles: dict[str, str]


def draft_of(table: AnyTable, path: str, k: int | None = None) -> Draft:
    """Draft a policy for a table.

    Parameters
    ----------
    table
        The table, here or on Spark.
    path
        What to write under ``input.path``.
    k
        The promise, if it is known already.

    Examples
    --------
    >>> from shoal.anonymize.table import Table
    >>> draft = draft_of(Table({"sex": ["F", "M"] * 60, "name": ["x"] * 120}), "people.csv")
    >>> draft.roles
    {'sex': 'quasi', 'name': 'identifier'}
    """
    looks = looks_of(table)
    entries = {look.name: _entry(look) for look in looks}
    roles = {name: entry["role"] for name, (entry, _) in entries.items()}
    lines = [_HEAD, f"input: {_flow({'path': path})}\n", "attributes:\n"]
    for name, (entry, why) in entries.items():
        lines.append(f"  {REVIEW} {why}.\n")
        lines.append(f"  {_flow(name)}: {_flow(entry)}\n")
    return Draft("".join([*lines, *_rest(looks, roles, path, k)]), roles)


def _entry(look: Look) -> tuple[dict[str, Any], str]:
    """A column's entry, and the guess in words."""
    counted = _all(look, look.numbers)
    unique = look.different > _UNIQUE * look.known > 0 and not (counted and look.whole < look.known)
    guesses: tuple[tuple[bool, Callable[[Look], tuple[dict[str, Any], str]]], ...] = (
        (unique or _named(look, "identifier"), _identifier),
        (look.words > look.known / 2, _free_text),
        (_named(look, "sensitive") and len(look.common) > 1, _sensitive),
        (_all(look, look.days), _dated),
        (_named(look, "postcode"), _code),
        (counted and look.different > 2, _numeric),
    )
    return next((guess for fits, guess in guesses if fits), _category)(look)


def _all(look: Look, count: int) -> bool:
    return look.known > 0 and count == look.known


def _named(look: Look, kind: str) -> bool:
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z]+", "_", look.name).lower()
    return re.search(_NAMES[kind], plain) is not None


def _identifier(_: Look) -> tuple[dict[str, Any], str]:
    return {"role": "identifier"}, "looks like it names people; dropped"


def _free_text(_: Look) -> tuple[dict[str, Any], str]:
    return {"role": "identifier"}, "looks like free text; dropped"


def _dated(_: Look) -> tuple[dict[str, Any], str]:
    levels = {"kind": "date", "levels": ["month", "year", "decade"]}
    why = "a date; state its domain, or its periods are learnt from the rows"
    return {"role": "quasi", "type": "date", "hierarchy": levels}, why


def _code(look: Look) -> tuple[dict[str, Any], str]:
    return _prefixed(look, "a code; its first characters are kept, fewer at each level")


def _sensitive(look: Look) -> tuple[dict[str, Any], str]:
    values = min(len(look.common), 2)
    why = "looks sensitive: published as it is, two values in every group; or make it quasi"
    return {"role": "sensitive", "l": {"kind": "distinct", "value": values}}, why


def _numeric(look: Look) -> tuple[dict[str, Any], str]:
    # Edges lie further from 0 than numbers: with 0 in it the range holds all but 4 % of rows.
    low, high = min(look.low, 0.0), max(look.high, 0.0)
    high = high if high > low else low + 1
    whole = look.whole == look.known
    domain = [int(low), int(high)] if whole else [low, high]
    width = 1 if whole else (high - low) / 100
    entry = {"role": "quasi", "type": "int" if whole else "float", "domain": domain}
    halves = {"kind": "binary", "split": "midpoint", "min_width": width}
    why = "numbers; state the range from public knowledge, this one is a rounded guess"
    return entry | {"hierarchy": halves}, why


def _category(look: Look) -> tuple[dict[str, Any], str]:
    if len(look.common) > LISTED:
        return _prefixed(look, "many values, grouped by first letters; better give a hierarchy")
    rare = look.different - len(look.common)
    values = list(look.common) or ["..."]
    why = "categories under one root; group them if they have levels"
    if rare:
        why += f". Not quoted: values of fewer than {COMMON} rows each ({rare}); add them"
    return {"role": "quasi", "hierarchy": {"tree": {"*": values}}}, why


def _prefixed(look: Look, why: str) -> tuple[dict[str, Any], str]:
    longest = max(look.length, 1)
    keep = sorted({longest, max(longest - 2, 1), max(longest // 2, 1), 1}, reverse=True)
    return {"role": "quasi", "hierarchy": {"kind": "prefix", "keep": keep}}, why


def _rest(looks: list[Look], roles: dict[str, str], path: str, k: int | None) -> Iterator[str]:
    people = [
        look.name
        for look in looks
        if roles[look.name] == "identifier" and 1 < look.different < look.rows == look.known
    ]
    asked = "" if k is None else f" {k}"
    yield "privacy:\n"
    yield f"  k:{asked}  {REVIEW} how many people share each combination; there is no default.\n"
    yield "  suppression: 0.02\n"
    if people:
        yield f"  entity: {_flow(people[0])}  {REVIEW} people have several rows; who is who?\n"
    yield f"output: {_flow({'path': _released(path)})}\n"


def _released(path: str) -> str:
    """In the policy's folder; of a table on a path of Spark's, beside it.

    Of a pattern, beside the folder it looks in: within, the next run might read what this wrote.

    Examples
    --------
    >>> _released("hdfs:///visits/2025-*.parquet"), _released("data/visits.csv.gz")
    ('hdfs:///visits.released.csv', 'visits.released.csv')
    """
    root = re.match(r"[\w+.-]+:(//[^/]*)?", path) if is_uri(path) else None
    system = root[0] if root else ""
    parts = takewhile(lambda part: not _MARKS & {*part}, path.removeprefix(system).split("/"))
    folder, _, name = "/".join(parts).rstrip("/").rpartition("/")
    stem = re.sub(r"(\.csv|\.tsv|\.parquet)?(\.gz)?$", "", name).strip(".") or "table"
    return f"{system}{folder}/{stem}.released.csv" if system else f"{stem}.released.csv"


def _flow(value: Any) -> str:
    """A value in one line of YAML, quoted wherever it could be taken for something else."""
    import yaml

    shown = yaml.safe_dump(
        value, default_flow_style=True, width=math.inf, allow_unicode=True, sort_keys=False
    )
    return str(shown).removesuffix("\n...\n").rstrip("\n")
