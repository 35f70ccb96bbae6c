"""Draft a policy from a profile of a table's columns.

The draft is careful where it guesses: what others may know of people by the column's name is a
quasi-identifier, and all else is published coarsely, without rare values. k is left open, ranges
are rounded, and of the values only those are quoted that many rows share, in columns that have few
values and no sentences. It is still made from the rows, so it is for their holder; every guess is
marked for review, and columns that may name people are pointed out.
"""

import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, takewhile
from typing import Any, NamedTuple

from shoal.anonymize.table import AnyTable, QueriedTable
from shoal.jobs._table_inputs import is_uri
from shoal.jobs.drafts._column_kinds import ColumnKind
from shoal.jobs.drafts._column_profile import COMMON, LISTED, ColumnProfile, profile_columns
from shoal.jobs.drafts._typical_bounds import is_coded, plain_name, typical_bounds

REVIEW = "# REVIEW:"
_PATTERN_MARKS = {*"*?[]{}\\"}  # Spark would read them in a name as a pattern
_UNIQUE = 0.9  # share of different values from which a column names people
_FEW = 5  # rows a value: a text that fewer share on average tells people apart
_SENTENCES = 0.1  # share of different values that are sentences, from which a column is free text
_VALUES = 100  # different values that a list of categories may have
_WHOLE = 60  # characters of a label: the whole of what is no sentence
_RARE = 5  # rows that must share a value of what others hardly know, where k is open
_LEAVES = (
    2_000  # intervals of a drafted range: far below what a hierarchy may have, and searched fast
)
# Whole words of a column's name, accents left out, in languages whose tables we have met.
_PERSONAL = (
    r"id|ids|uuid|guid|uid|pid|mrn|ssn|sin|nin|nino|nhs|bsn|cpf|dni|nie|nif|nir|pesel|svnr|ahv|"
    r"passport|passeport|pasaporte|reisepass|licen[cs]e|plate|kennzeichen|iban|bic|account|acct|"
    r"konto|compte|cuenta|card|e_mail|email|mail|courriel|correo|posta|phone|tel|telephone|"
    r"telefon|telefono|telefone|mobile|mobil|handy|movil|fax|[a-z]*names?|nom|noms|nombres?|nome|"
    r"naam|[a-z]*naam|navn|[a-z]*navn|namn|[a-z]*namn|imie|nazwisko|jmeno|prijmeni|apellidos?|"
    r"prenoms?|cognome|sobrenome|forename|surname|maiden|nick|login|user|address|addr|adress|"
    r"adresse|direccion|endereco|indirizzo|adres|street|strasse|rue|calle|hausnummer|url|website|"
    r"ip|mac|imei|[a-z]*nummer|[a-z]*nr|signature|unterschrift"
)
_NAMES = {
    "identifier": rf"(^|_)({_PERSONAL})(_|$)",
    "key": r"(^|_)(id|uid|uuid|key|nr|no|number|person|patient|student|pupil|user|member)(_|$)",
    "sensitive": r"income|salary|wage|diagnos|disease|illness|result|grade|score|religion|debt",
    "postcode": r"post_?code|zip|postal|plz",
    # What neighbours, colleagues or a register may know of a person. It errs on the long side.
    "known": (
        r"(^|_)(age|ages|alter|edad|idade|sex|gender|geschlecht|sexo|sexe|race|ethnicity|ethnic|"
        r"nationality|nacionality|country|citizenship|native|origin|birth|born|dob|marital|civil|"
        r"married|relationship|family|famsize|pstatus|household|children|parents?|education|edu|"
        r"medu|fedu|qualification|degree|school|course|program|programme|class|module|"
        r"presentation|subject|department|faculty|semester|occupation|job|[a-z]job|profession|"
        r"position|title|rank|work|workclass|employer|employment|industry|sector|company|team|"
        r"region|district|province|state|county|city|town|village|municipality|area|place|"
        r"neighbou?rhood|residence|housing|location|latitude|longitude|lat|lon|lng|language|"
        r"date|day|month|year|time|height|hair|eye|disability|disabled|special_needs|vehicle|car|"
        r"imd|attendance|international|displaced|foreign|member|since|arrival|admission|visits?|"
        r"enrolled|enrollment|enrolment|weight)(_|$)"
    ),
}
_HEAD = """\
# A draft made by looking at the table: every line marked REVIEW is a guess, and yours to decide.
# It was made from people's rows. Keep it with them; do not publish it before you have gone
# through it. Which columns can others know? Those are quasi: make every other column that somebody
# may know of a person one of them. A hierarchy drawn up from the table tells which values occur:
# better take it from a public list.
# The table's first line was taken for the names of its columns. Are those below names?
version: 1
"""


class PolicyDraft(NamedTuple):
    """A drafted policy.

    Parameters
    ----------
    person
        The column that tells people apart, if they have several rows.
    """

    text: str
    roles: dict[str, str]
    doubts: dict[str, str]
    person: str | None = None


def draft_policy(table: AnyTable, path: str, k: int | None = None) -> PolicyDraft:
    """Draft a policy for a table.

    Parameters
    ----------
    table
        The table, here or on Spark.
    path
        The path to write under ``input.path``.
    k
        The k of the promise, if it is known already.

    Examples
    --------
    >>> from shoal.anonymize.table import QueriedTable
    >>> people = QueriedTable({"sex": ["F", "M"] * 60, "name": ["x"] * 120})
    >>> draft = draft_policy(people, "people.csv")
    >>> draft.roles
    {'sex': 'quasi', 'name': 'identifier'}
    """
    profiles = profile_columns(table)
    # Cells are not rounded or left out on Spark, so there all columns are taken for known.
    rare = (k or _RARE) if isinstance(table, QueriedTable) else None
    entries = {profile.name: _entry(profile, rare) for profile in profiles}
    roles = {name: entry["role"] for name, (entry, _) in entries.items()}
    lines = [_HEAD, f"input: {_flow({'path': path})}\n", "attributes:\n"]
    for name, (entry, why) in entries.items():
        lines.append(f"  {REVIEW} {why}.\n")
        lines.append(f"  {_flow(name)}: {_flow(entry)}\n")
    doubts = {profile.name: _doubt(profile, *entries[profile.name]) for profile in profiles}
    doubts = {name: doubt for name, doubt in doubts.items() if doubt}
    return PolicyDraft(
        "".join([*lines, *_rest(profiles, path, k, is_local=rare is not None)]),
        roles,
        doubts,
        _person_column(profiles),
    )


def _entry(profile: ColumnProfile, rare: int | None) -> tuple[dict[str, Any], str]:
    """Return a column's entry, and the guess in words; no ``rare`` takes all for known."""
    counted = _all(profile, profile.numbers)
    unique = profile.different > _UNIQUE * profile.known > 0 and not (
        counted and profile.whole < profile.known
    )
    written = _date_format(profile)
    plain = not (counted or written or _named(profile, "postcode"))
    guesses: tuple[tuple[bool, Callable[[ColumnProfile], tuple[dict[str, Any], str]]], ...] = (
        # A telephone of yes and no names nobody.
        (_named(profile, "identifier") and not _is_answers(profile), _identifier),
        (_is_free_text(profile), _free_text),
        (unique or (plain and _is_scattered(profile)), _nearly_unique),
        (_named(profile, "sensitive") and len(profile.common) > 1, _sensitive),
        (written is not None, _dated),
        (_named(profile, "postcode"), _code),
        (rare is not None and not _is_known(profile), partial(_unknown, rare=rare or _RARE)),
        (counted and profile.different > 2 and not is_coded(profile.name), _numeric),
    )
    return next((guess for fits, guess in guesses if fits), _category)(profile)


def _is_answers(profile: ColumnProfile) -> bool:
    """Whether its values are a well-known pair of answers, such as no and yes."""
    two = frozenset(profile.common) if profile.different == len(profile.common) == 2 else None
    return ColumnKind(rows=profile.known, two=two).answers is not None


def _is_known(profile: ColumnProfile) -> bool:
    """Whether others may know a column of people: by its name, or since nothing is in it yet."""
    return _named(profile, "known") or not profile.known


def _all(profile: ColumnProfile, count: int) -> bool:
    return profile.known > 0 and count == profile.known


def _named(profile: ColumnProfile, kind: str) -> bool:
    return re.search(_NAMES[kind], plain_name(profile.name)) is not None


def _is_free_text(profile: ColumnProfile) -> bool:
    """Return whether many distinct values are sentences, which somebody wrote."""
    often = profile.sentence_rows > profile.known / 4
    return often or profile.sentences > max(_SENTENCES * profile.different, 1)


def _is_scattered(profile: ColumnProfile) -> bool:
    """Return whether so few rows share a value that it may identify people."""
    return profile.different > _FEW and profile.known < _FEW * profile.different


def _identifier(_: ColumnProfile) -> tuple[dict[str, Any], str]:
    return {"role": "identifier"}, "by its name it names people or says how to reach them; dropped"


def _nearly_unique(_: ColumnProfile) -> tuple[dict[str, Any], str]:
    return {"role": "identifier"}, "few rows share a value, so it tells people apart; dropped"


def _free_text(_: ColumnProfile) -> tuple[dict[str, Any], str]:
    return {"role": "identifier"}, "looks like free text, which may name anybody; dropped"


def _doubt(profile: ColumnProfile, entry: dict[str, Any], why: str) -> str:
    """Return what needs review, if anything; no value is quoted."""
    if entry["role"] == "identifier":
        return why
    if _is_scattered(profile) and _all(profile, profile.whole):
        role = entry["role"]
        return f"few rows share a number: is it a person's? Then it is an identifier, not {role}"
    if profile.sentences:
        return "some cells hold sentences, which may name anybody; none is quoted"
    return ""


def _date_format(profile: ColumnProfile) -> str | None:
    """Return how all of a column's dates are written; None if it holds something else."""
    forms = {
        "iso": profile.days,
        "dd/mm/yyyy": profile.days_first,
        "mm/dd/yyyy": profile.months_first,
    }
    return next((form for form, rows in forms.items() if _all(profile, rows)), None)


def _dated(profile: ColumnProfile) -> tuple[dict[str, Any], str]:
    levels: dict[str, Any] = {"kind": "date", "levels": ["month", "year", "decade"]}
    why = "a date; state its domain, or its periods are learnt from the rows"
    form = _date_format(profile)
    if form != "iso":
        levels["format"] = form
    if form == "dd/mm/yyyy" and _all(profile, profile.months_first):
        why += ". Does it begin with the day, or with the month (mm/dd/yyyy)?"
    return {"role": "quasi", "type": "date", "hierarchy": levels}, why


def _code(profile: ColumnProfile) -> tuple[dict[str, Any], str]:
    return _prefixed(profile, "a code; its first characters are kept, fewer at each level")


def _sensitive(profile: ColumnProfile) -> tuple[dict[str, Any], str]:
    values = min(len(profile.common), 2)
    why = "looks sensitive: published as it is, two values in every group; or make it quasi"
    return {"role": "sensitive", "l": {"kind": "distinct", "value": values}}, why


def _unknown(profile: ColumnProfile, rare: int) -> tuple[dict[str, Any], str]:
    """Return the entry of what others hardly know: coarse numbers, and no rare value."""
    why = "others hardly know it, by its name; published as it is"
    entry: dict[str, Any] = {"role": "other"}
    transform: dict[str, Any] = {}
    step = _rounding(profile)
    if step is not None:
        entry["type"] = "int" if profile.whole == profile.known else "float"
        transform["round"] = step
        why += f", rounded to {step:g}"
    transform["rare"] = rare
    left = f"without values of fewer than {rare} rows. If somebody may know it, make it quasi"
    return entry | {"transform": transform}, f"{why}, {left}"


def _rounding(profile: ColumnProfile) -> float | None:
    """Return to what numbers of many values are rounded: some fifty steps of their range."""
    if not _all(profile, profile.numbers) or profile.different <= _VALUES / 2:
        return None
    span = max(profile.high, 0.0) - min(profile.low, 0.0) or 1.0
    power = 10.0 ** math.floor(math.log10(span / 50))
    step = next(digit * power for digit in (1, 2, 5, 10) if digit * power >= span / 50 * 0.999)
    return max(int(step), 1) if profile.whole == profile.known else step


def _numeric(profile: ColumnProfile) -> tuple[dict[str, Any], str]:
    # Edges lie further from 0 than numbers: with 0 in it the range holds all but 4 % of rows.
    low, high = min(profile.low, 0.0), max(profile.high, 0.0)
    high = high if high > low else low + 1
    whole = profile.whole == profile.known
    usual = typical_bounds(profile.name)
    if usual is not None and usual.low <= low and high <= usual.high:
        low, high = usual.low, usual.high
    domain = [int(low), int(high)] if whole else [low, high]
    width = _whole_width(high - low) if whole else (high - low) / 100
    entry = {"role": "quasi", "type": "int" if whole else "float", "domain": domain}
    halves = {"kind": "binary", "split": "midpoint", "min_width": width}
    why = "numbers; state the range from public knowledge, this one is a rounded guess"
    return entry | {"hierarchy": halves}, why


def _whole_width(span: float) -> int:
    """Return the least of 1, 2, 5, 10, ... that divides a span in few enough intervals.

    Examples
    --------
    >>> _whole_width(100), _whole_width(500_000)
    (1, 500)
    """
    steps: Iterator[int] = (digit * 10**power for power in count() for digit in (1, 2, 5))
    return next(step for step in steps if span <= _LEAVES * step)


def _category(profile: ColumnProfile) -> tuple[dict[str, Any], str]:
    if len(profile.common) > LISTED or profile.different > _VALUES:
        return _prefixed(profile, "many values, grouped by first letters; better give a hierarchy")
    rare = profile.different - len(profile.common)
    if rare:  # a list without them would be refused, and quoting them would tell of few people
        # In one line, also if a value has a line break: the rest of a comment would be YAML.
        listed = " ".join(_flow({"tree": {"*": [*profile.common, "..."]}}).split())
        why = (
            f"categories, each as it is or `*`. Better list all of them, in groups: {listed}. Not "
            f"quoted: values of fewer than {COMMON} rows each ({rare})"
        )
        return {"role": "quasi", "hierarchy": {"kind": "prefix", "keep": [_WHOLE]}}, why
    why = "categories under one root; group them if they have levels"
    return {"role": "quasi", "hierarchy": {"tree": {"*": list(profile.common) or ["..."]}}}, why


def _prefixed(profile: ColumnProfile, why: str) -> tuple[dict[str, Any], str]:
    longest = max(profile.length, 1)
    keep = sorted({longest, max(longest - 2, 1), max(longest // 2, 1), 1}, reverse=True)
    return {"role": "quasi", "hierarchy": {"kind": "prefix", "keep": keep}}, why


def _person_column(profiles: list[ColumnProfile]) -> str | None:
    """Return the column that tells people apart, where they have several rows.

    By its name only: many values that few rows share may be scores, and people share names. Where
    such a column is different in each row, a row is a person.
    """
    named = [each for each in profiles if _named(each, "key") and each.rows == each.known]
    if any(each.different == each.rows for each in named):
        return None
    return next((each.name for each in named if each.different > 1), None)


def _rest(profiles: list[ColumnProfile], path: str, k: int | None, is_local: bool) -> Iterator[str]:
    person = _person_column(profiles)
    k_text = "" if k is None else f" {k}"
    yield "privacy:\n"
    yield f"  k:{k_text}  {REVIEW} how many people share each combination; there is no default.\n"
    yield "  suppression: 0.02\n"
    if person is not None:
        yield f"  person: {_flow(person)}  {REVIEW} people have several rows; who is who?\n"
    if is_local:
        yield (
            f"search: {{recoding: local, local: roll-up}}  {REVIEW} labels of each group's own, "
            "which keep most. For one cut that a later release can use again: remove it.\n"
        )
    yield f"output: {_flow({'path': released_path(path)})}\n"


def released_path(path: str) -> str:
    """Return where the release goes: the policy's folder or, on Spark, beside the table.

    For a pattern it is beside the folder that is matched, since the next run might read a file
    within it.

    Examples
    --------
    >>> released_path("hdfs:///visits/2025-*.parquet"), released_path("data/visits.csv.gz")
    ('hdfs:///visits.released.csv', 'visits.released.csv')
    """
    root = re.match(r"[\w+.-]+:(//[^/]*)?", path) if is_uri(path) else None
    system = root[0] if root else ""
    parts = takewhile(
        lambda part: not _PATTERN_MARKS & {*part}, path.removeprefix(system).split("/")
    )
    folder, _, name = "/".join(parts).rstrip("/").rpartition("/")
    stem = re.sub(r"(\.csv|\.tsv|\.parquet)?(\.gz)?$", "", name).strip(".") or "table"
    return f"{system}{folder}/{stem}.released.csv" if system else f"{stem}.released.csv"


def _flow(value: Any) -> str:
    """Return a value in one line of YAML, quoted wherever it could be taken for another type."""
    import yaml

    shown = yaml.safe_dump(
        value, default_flow_style=True, width=math.inf, allow_unicode=True, sort_keys=False
    )
    return str(shown).removesuffix("\n...\n").rstrip("\n")
