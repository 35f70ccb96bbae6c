"""A first draft of a policy, from a look at a table's columns.

The draft is careful where it guesses: no column is guessed to be harmless, k is left open, ranges
are rounded, and of the values only those are quoted that many rows share. It is still made from
the rows, so it is for their holder; every guess is marked for review.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from shoal.anonymize.table import Table

__all__ = ["COMMON", "Draft", "draft_of"]

COMMON = 50  # a value that so many rows share may be quoted
REVIEW = "# REVIEW:"
_LISTED = 40  # categories that are listed; more are grouped by their first letters
_UNIQUE = 0.9  # share of different values from which a column names people
_SPREAD = (0.02, 0.98)  # quantiles a numeric range is rounded from: never the extremes
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


@dataclass(frozen=True)
class _Look:
    """What was seen of a column: counts, and values that are common."""

    name: str
    common: tuple[str, ...]
    known: int
    different: int
    numbers: int
    whole: int
    days: int
    words: int
    length: int
    low: float | None
    high: float | None
    rows: int

    def is_all(self, count: int) -> bool:
        return self.known > 0 and count == self.known

    def named(self, kind: str) -> bool:
        plain = re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z]+", "_", self.name).lower()
        return re.search(_NAMES[kind], plain) is not None


def draft_of(table: "Table", path: str, k: int | None = None) -> Draft:
    """Draft a policy for a table.

    Parameters
    ----------
    table
        The table; it is read once for each column.
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
    looks = [_look(table, name) for name in table.names]
    entries = {look.name: _entry(look) for look in looks}
    roles = {name: entry["role"] for name, (entry, _) in entries.items()}
    lines = [_HEAD, f"input: {_flow({'path': path})}\n", "attributes:\n"]
    for name, (entry, why) in entries.items():
        lines.append(f"  {REVIEW} {why}.\n")
        lines.append(f"  {_flow(name)}: {_flow(entry)}\n")
    return Draft("".join([*lines, *_rest(looks, roles, path, k)]), roles)


def _look(table: "Table", name: str) -> _Look:
    text, number = "nullif(trim(CAST(c0 AS VARCHAR)), '')", "TRY_CAST(c0 AS DOUBLE)"
    low, high = (f"quantile_disc({number}, {q}) FILTER (isfinite({number}))" for q in _SPREAD)
    sql = (
        f"SELECT count({text}), count(DISTINCT {text}), count({number}), "
        f"count(*) FILTER ({number} = floor({number})), "
        f"count(*) FILTER (regexp_matches({text}, '^\\d{{4}}-\\d\\d-\\d\\d')), "
        f"count(*) FILTER (length({text}) - length(replace({text}, ' ', '')) >= 4), "
        f"coalesce(CAST(quantile_disc(length({text}), 0.5) AS BIGINT), 0), {low}, {high}, count(*) "
        "FROM rows"
    )
    seen: list[Any] = [column[0].as_py() for column in table.query(sql, [name]).columns]
    counted = f"SELECT {text} AS v, count(*) AS n FROM rows GROUP BY ALL"
    shared = f"SELECT v FROM ({counted}) WHERE v IS NOT NULL AND n >= {COMMON} ORDER BY v"
    common = table.query(f"{shared} LIMIT {_LISTED + 1}", [name]).column(0).to_pylist()
    return _Look(name, tuple(common), *seen)


def _entry(look: _Look) -> tuple[dict[str, Any], str]:
    """A column's entry, and the guess in words."""
    counted = look.is_all(look.numbers)
    unique = look.different > _UNIQUE * look.known > 0 and not (counted and look.whole < look.known)
    guesses: tuple[tuple[bool, Callable[[_Look], tuple[dict[str, Any], str]]], ...] = (
        (unique or look.named("identifier"), _identifier),
        (look.words > look.known / 2, _free_text),
        (look.named("sensitive") and len(look.common) > 1, _sensitive),
        (look.is_all(look.days), _dated),
        (look.named("postcode"), _code),
        (counted and look.different > 2, _numeric),
    )
    return next((guess for fits, guess in guesses if fits), _category)(look)


def _identifier(_: _Look) -> tuple[dict[str, Any], str]:
    return {"role": "identifier"}, "looks like it names people; dropped"


def _free_text(_: _Look) -> tuple[dict[str, Any], str]:
    return {"role": "identifier"}, "looks like free text; dropped"


def _dated(_: _Look) -> tuple[dict[str, Any], str]:
    levels = {"kind": "date", "levels": ["month", "year", "decade"]}
    why = "a date; state its domain, or its periods are learnt from the rows"
    return {"role": "quasi", "type": "date", "hierarchy": levels}, why


def _code(look: _Look) -> tuple[dict[str, Any], str]:
    return _prefixed(look, "a code; its first characters are kept, fewer at each level")


def _sensitive(look: _Look) -> tuple[dict[str, Any], str]:
    values = min(len(look.common), 2)
    why = "looks sensitive: published as it is, two values in every group; or make it quasi"
    return {"role": "sensitive", "l": {"kind": "distinct", "value": values}}, why


def _numeric(look: _Look) -> tuple[dict[str, Any], str]:
    low, high = _rounded(look.low or 0.0, look.high or 0.0)
    whole = look.whole == look.known
    domain = [int(low), int(high)] if whole else [low, high]
    width = 1 if whole else (high - low) / 100
    entry = {"role": "quasi", "type": "int" if whole else "float", "domain": domain}
    halves = {"kind": "binary", "split": "midpoint", "min_width": width}
    why = "numbers; state the range from public knowledge, this one is a rounded guess"
    return entry | {"hierarchy": halves}, why


def _category(look: _Look) -> tuple[dict[str, Any], str]:
    if len(look.common) > _LISTED:
        return _prefixed(look, "many values, grouped by first letters; better give a hierarchy")
    rare = look.different - len(look.common)
    values = list(look.common) or ["..."]
    why = "categories under one root; group them if they have levels"
    if rare:
        why += f". Not quoted: values of fewer than {COMMON} rows each ({rare}); add them"
    return {"role": "quasi", "hierarchy": {"tree": {"*": values}}}, why


def _prefixed(look: _Look, why: str) -> tuple[dict[str, Any], str]:
    longest = max(min(look.length, 8), 1)
    keep = sorted({longest, max(longest - 2, 1), max(longest // 2, 1), 1}, reverse=True)
    return {"role": "quasi", "hierarchy": {"kind": "prefix", "keep": keep}}, why


def _rounded(low: float, high: float) -> tuple[float, float]:
    """A range of one, two or five times a power of ten that holds most values."""
    top, bottom = _outwards(high), -_outwards(-low) if low < 0 else 0.0
    return bottom, top if top > bottom else bottom + 1


def _outwards(value: float) -> float:
    if value <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= value * (1 - 1e-12))


def _rest(looks: list[_Look], roles: dict[str, str], path: str, k: int | None) -> Iterator[str]:
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
    stem = re.sub(r"(\.csv|\.parquet)?(\.gz)?$", "", path.rsplit("/", 1)[-1])
    yield f"output: {_flow({'path': f'{stem}.released.csv'})}\n"


def _flow(value: Any) -> str:
    """A value in one line of YAML, quoted wherever it could be taken for something else."""
    import yaml

    shown = yaml.safe_dump(
        value, default_flow_style=True, width=math.inf, allow_unicode=True, sort_keys=False
    )
    return str(shown).removesuffix("\n...\n").rstrip("\n")
