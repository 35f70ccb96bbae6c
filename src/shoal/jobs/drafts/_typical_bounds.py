"""Bounds that a column's name suggests to anybody, without a look at the rows."""

import re
import unicodedata
from typing import NamedTuple


class TypicalBounds(NamedTuple):
    """Bounds offered for a name, to be reviewed."""

    low: float
    high: float
    why: str


# Patterns of whole words of a plain name, the first that fits wins. Names whose scale is not
# settled by them (grades, scores, shares) have none: a bound that clips is worse than a question.
_TYPICAL: dict[str, TypicalBounds] = {
    r"(age|alter|edad|idade|leeftijd|alder)(_(in_)?(years?|yrs?|jahren?))?": TypicalBounds(
        0, 110, "years of life"
    ),
    r"age_(at|when|on|upon)_[a-z_]+|alter_(bei|zur?|am)_[a-z_]+": TypicalBounds(
        0, 110, "years of life at one time"
    ),
    r"lat|latitude": TypicalBounds(-90, 90, "degrees north"),
    r"lon|lng|long|longitude": TypicalBounds(-180, 180, "degrees east"),
    r"percent|percentage|pct|prozent": TypicalBounds(0, 100, "percent"),
    r"(percent|percentage|pct|prozent)_[a-z_]+": TypicalBounds(0, 100, "percent"),
    r"probability|prob": TypicalBounds(0, 1, "parts of 1"),
    r"quintile": TypicalBounds(1, 5, "fifths"),
    r"decile": TypicalBounds(1, 10, "tenths"),
    r"percentile": TypicalBounds(0, 100, "hundredths"),
    r"(birth|born)_year|year_of_birth|yob": TypicalBounds(1900, 2030, "years of birth"),
    r"year|jahr": TypicalBounds(1900, 2100, "calendar years"),
    r"month": TypicalBounds(1, 12, "months of a year"),
    r"weekday|day_of_week|dow": TypicalBounds(0, 7, "days of a week"),
    r"day_of_month": TypicalBounds(1, 31, "days of a month"),
    r"days_per_week|days_a_week": TypicalBounds(0, 7, "days of a week"),
    r"hours_per_week|hours_a_week": TypicalBounds(0, 168, "hours of a week"),
    r"hours_per_day|hours_a_day|hour": TypicalBounds(0, 24, "hours of a day"),
    r"minutes_per_day|minutes_a_day": TypicalBounds(0, 1440, "minutes of a day"),
    r"minute": TypicalBounds(0, 60, "minutes of an hour"),
    r"height_cm": TypicalBounds(30, 250, "centimetres of body height"),
    r"weight_kg": TypicalBounds(0, 300, "kilograms of body weight"),
    r"bmi": TypicalBounds(10, 80, "body mass index"),
    r"heart_rate|pulse|bpm": TypicalBounds(20, 250, "beats a minute"),
}
# Last words of a name whose numbers are codes: between 1 = nurse and 9 = farmer lies no 5.
_CODED = (
    r"sex|gender|geschlecht|sexo|sexe|race|ethnicity|nationality|nacionality|country|citizenship|"
    r"religion|language|marital_status|civil_status|pstatus|qualification|occupation|profession|"
    r"job|[a-z]+job|industry|sector|course|degree|program|programme|subject|major|school|faculty|"
    r"department|region|district|province|state|county|city|town|postcode|zip|zip_code|mode|type|"
    r"kind|category|class|code|status|reason|purpose|housing|property|workclass|relationship"
)
# Last words of a name whose values have an order: levels rather than mere values.
_ORDERED = (
    r"[a-z_]*(band|bracket|tier|level|stage)|(age|income|size)_(group|class|range)|education|"
    r"schooling|severity|likelihood|satisfaction|agreement"
)
# Whole words of a column's name, accents left out, in languages whose tables we have met.
PERSONAL = (
    r"uuid|guid|mrn|ssn|sin|nin|nino|nhs|bsn|cpf|dni|nie|nif|nir|pesel|svnr|ahv|passport|"
    r"passeport|pasaporte|reisepass|licen[cs]e|plate|kennzeichen|iban|bic|account|acct|konto|"
    r"compte|cuenta|card|e_mail|email|mail|courriel|correo|phone|tel|telephone|telefon|telefono|"
    r"telefone|mobile|handy|fax|[a-z]*names?|nom|noms|nombres?|nome|[a-z]*naam|[a-z]*navn|"
    r"[a-z]*namn|nazwisko|apellidos?|prenoms?|cognome|surname|login|address|addr|adress|adresse|"
    r"direccion|endereco|indirizzo|street|strasse|calle|url|website|ip|mac|imei|signature"
)
# What tells people apart, so that all rows of one are promised something together.
PERSON = (
    r"(student|pupil|person|people|user|patient|customer|client|member|employee|participant|"
    r"subject|rider|driver|passenger|respondent|visitor|citizen|child|household|holder)"
    r"_?(id|ids|no|nr|num|number|key|code|uid)|"
    r"(id|no|nr|num|number|key|code)_(of_)?"
    r"(student|pupil|person|user|patient|customer|client|member|employee|participant|subject)|"
    r"id|uid|pid|person|entity"
)


def plain_name(name: str) -> str:
    """Return a column's name in small letters without accents, its words joined by underscores.

    Examples
    --------
    >>> plain_name("Größe (cm)"), plain_name("StudentID"), plain_name("Hours per week")
    ('grosse_cm', 'student_id', 'hours_per_week')
    """
    letters = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z]+", "_", plain).lower().strip("_")


def typical_bounds(name: str) -> TypicalBounds | None:
    """Return the bounds that a column's name suggests, or None.

    A pattern must be the whole name or its last words, since `age_group_code` is no age; the sign
    for percent counts too.

    Examples
    --------
    >>> typical_bounds("Age"), typical_bounds("village")
    (TypicalBounds(low=0, high=110, why='years of life'), None)
    >>> typical_bounds("attendance %").high
    100
    """
    if name.rstrip(" )").endswith("%"):
        return _TYPICAL[r"percent|percentage|pct|prozent"]
    plain = plain_name(name)
    fits = (of for pattern, of in _TYPICAL.items() if re.search(rf"(^|_)({pattern})$", plain))
    return next(fits, None)


def is_coded(name: str) -> bool:
    """Return whether numbers in a column of this name are codes of categories.

    Examples
    --------
    >>> is_coded("Mother's occupation"), is_coded("Marital status"), is_coded("income")
    (True, True, False)
    """
    return _ends(_CODED, name)


def is_ordered(name: str) -> bool:
    """Return whether the values of a column of this name have an order.

    Examples
    --------
    >>> is_ordered("imd_band"), is_ordered("highest education"), is_ordered("region")
    (True, True, False)
    """
    return _ends(_ORDERED, name)


def _ends(pattern: str, name: str) -> bool:
    return re.search(rf"(^|_)({pattern})$", plain_name(name)) is not None


def is_personal(name: str) -> bool:
    """Return whether a name says that a column names people or how to reach them.

    Examples
    --------
    >>> is_personal("E-Mail"), is_personal("Vorname"), is_personal("visits")
    (True, True, False)
    """
    return re.search(rf"(^|_)({PERSONAL})(_|$)", plain_name(name)) is not None
