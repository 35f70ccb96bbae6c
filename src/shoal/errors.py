"""Every exception shoal raises on purpose.

    ShoalError
    ├── BadInput (ValueError)             what came cannot be used            exit code 2
    │   ├── InvalidBudget                 epsilon is not a positive number
    │   ├── InvalidSetting                a parameter outside its range
    │   ├── ConflictingSettings           two parameters that do not go together
    │   ├── InvalidDomain                 bounds, cells, names or a file that make no domain
    │   ├── UnknownBounds                 a column without public bounds
    │   ├── TooLarge                      more cells, columns or combinations than fit
    │   ├── UnreadableTable               a file or object that holds no table, or no header
    │   ├── UnknownColumn                 a named column the table does not have
    │   ├── DuplicateColumn               one name, two columns
    │   ├── DimensionMismatch             rows of another width than the domain
    │   ├── NotNumeric                    text, dates or objects where numbers belong
    │   ├── NotFinite                     NaN or infinity
    │   ├── OutsideDomain                 rows beyond the box, where that is refused
    │   ├── BoundsMissTheRows             bounds that many rows lie outside of
    │   ├── UnknownCategory               a value outside the public list or the hierarchy
    │   ├── NotAReport                    rows where reports belong, or reports already remapped
    │   ├── PersonMissing                 a row that belongs to nobody
    │   ├── InvalidFeatures               a features file that cannot be used
    │   ├── RepeatedPerson                two rows of one person where one belongs
    │   ├── AmbiguousId                   an id that leads to two people
    │   ├── RepeatedKey                   two rows of one key in a public table
    │   ├── InvalidPolicy                 a policy that contradicts itself or does not fit the table
    │   ├── LooksIdentifying              a column published as it is that tells people apart
    │   ├── HierarchyInvalid              a hierarchy that is no tree, or whose labels mislead
    │   ├── KeyMissing                    no key, or too short a one, for pseudonyms
    │   ├── NewPeopleNotStated            a next release whose people nobody can or did compare
    │   ├── PeopleFileUnusable            no fingerprints of people, or damaged or others' ones
    │   ├── UnreadableModel               a folder without a model, or with one that was changed
    │   ├── DatasetUnavailable            a data set unknown, not to be found, or changed
    │   ├── AlreadyExists                 an output that would be overwritten
    │   ├── CannotWrite                   an output that cannot be written
    │   ├── TooFewRows                    fewer rows, reports, people or draws than needed
    │   └── StartFails                    a rule broken even at the most general labels
    ├── PrivacyError                      a promise would be broken           exit code 3
    │   ├── BudgetExceeded                over the ledger's limit
    │   ├── PromiseExceeded               mechanisms were handed more than the page promised
    │   ├── PageMisused                   a page copied, or given seeded noise after real
    │   ├── IncomparableGuarantees        promises that do not add
    │   ├── RepeatedStream                the same noise would be drawn twice
    │   ├── NotPublishable                an unprotected result or value on its way to the public
    │   ├── NotKAnonymous                 a written table whose re-count broke its promise
    │   └── ReleasedBefore                people of an earlier release in a table for the next
    ├── MissingPart                       something to run on is missing      exit code 4
    │   ├── NotInstalled                  pyspark, Java, a toolbox, or a worker's package
    │   ├── SessionStopped                a Spark session that is no longer there
    │   └── ClusterFailed                 Spark gave a job up
    └── LedgerError                       the ledger cannot be used           exit code 2
        ├── NotALedger                    a file that is something else
        ├── LedgerLocked                  another process holds it too long
        ├── LedgerNotWritable             read-only, no such folder, or a full disk
        ├── RunChanged                    a run that asks for something else, or another table
        ├── UnsafeLedgerPlace             a file of two names, or on a network share
        └── LimitMismatch                 a limit given that is not the one stored

``message`` says what came and what would do; ``hint`` says what to do about it. Neither ever
quotes a row. Where a sentence names a setting it is joined from parts, ``"E.g. " +
setting("n_public", 500) + "."``, so that Python shows ``n_public=500`` and the command line
``--n-public 500``; which setting is wrong is one of the error's ``facts``.

And three warnings, which stop nothing: ``NoGroupsDetected``, where what was released cannot be told
from a release about nobody; ``PromisesAddUp``, where a process releases again without a ledger;
``ChoiceNotCovered``, where a search may choose by a score on the rows.
"""

from ast import literal_eval
from collections.abc import Callable
from copy import copy
from decimal import Decimal
from fractions import Fraction
from string import Formatter
from typing import NamedTuple, Self

__all__ = [
    "AlreadyExists",
    "AmbiguousId",
    "BadInput",
    "BoundsMissTheRows",
    "BudgetExceeded",
    "CannotWrite",
    "ChoiceNotCovered",
    "ClusterFailed",
    "ConflictingSettings",
    "DatasetUnavailable",
    "DimensionMismatch",
    "DuplicateColumn",
    "HierarchyInvalid",
    "IncomparableGuarantees",
    "InvalidBudget",
    "InvalidDomain",
    "InvalidFeatures",
    "InvalidPolicy",
    "InvalidSetting",
    "KeyMissing",
    "LedgerError",
    "LedgerLocked",
    "LedgerNotWritable",
    "LimitMismatch",
    "LooksIdentifying",
    "MissingPart",
    "NewPeopleNotStated",
    "NoGroupsDetected",
    "NotALedger",
    "NotAReport",
    "NotFinite",
    "NotInstalled",
    "NotKAnonymous",
    "NotNumeric",
    "NotPublishable",
    "OutsideDomain",
    "PageMisused",
    "PeopleFileUnusable",
    "PersonMissing",
    "PrivacyError",
    "PromiseExceeded",
    "PromisesAddUp",
    "ReleasedBefore",
    "RepeatedKey",
    "RepeatedPerson",
    "RepeatedStream",
    "RunChanged",
    "SessionStopped",
    "SettingPart",
    "ShoalError",
    "Spell",
    "StartFails",
    "Text",
    "TooFewRows",
    "TooLarge",
    "UnknownBounds",
    "UnknownCategory",
    "UnknownColumn",
    "UnreadableModel",
    "UnreadableTable",
    "UnsafeLedgerPlace",
    "from_literal",
    "quantity",
    "sentence",
    "setting",
    "value_text",
]


class NoValue:
    """Marks a setting that is named without a value."""


class SettingPart(NamedTuple):
    """A setting named in a sentence; each layer spells it as its readers write it.

    Parameters
    ----------
    name
        The parameter's name in Python.
    value
        A value to show beside it, as in ``n_public=500``; none by default.
    """

    name: str
    value: object = NoValue

    def __str__(self) -> str:
        """As Python has it: ``n_public``, or ``n_public=500``."""
        return self.name if self.value is NoValue else f"{self.name}={_literal(self.value)}"


Spell = Callable[[SettingPart], str]
"""What writes a setting as its face does: as a parameter, or as a flag."""


class Text(NamedTuple):
    """A sentence in parts: words, and settings among them.

    Parameters
    ----------
    parts
        Strings and ``SettingPart``, in the order of the sentence.

    Examples
    --------
    >>> text = "E.g. " + setting("n_public", 500) + "."
    >>> str(text)
    'E.g. n_public=500.'
    >>> text.spelled(lambda each: f"--{each.name} {each.value}")
    'E.g. --n_public 500.'
    """

    parts: tuple[str | SettingPart, ...]

    def __add__(self, other: "str | Text") -> "Text":  # type: ignore[override]
        return Text(self.parts + _parts(other))

    def __radd__(self, other: str) -> "Text":
        return Text((other, *self.parts))

    def __str__(self) -> str:
        return self.spelled(str)

    def spelled(self, spell: Spell) -> str:
        """The sentence, with settings as ``spell`` writes them."""
        return "".join(part if isinstance(part, str) else spell(part) for part in self.parts)

    @property
    def settings(self) -> list[SettingPart]:
        """The settings it names."""
        return [part for part in self.parts if isinstance(part, SettingPart)]


def setting(name: str, value: object = NoValue) -> Text:
    """A setting as a part of an error's sentence.

    Parameters
    ----------
    name
        Its name in Python.
    value
        A value to show with it, which must be public.

    Returns
    -------
    Text
        To be joined to other words by ``+``.
    """
    return Text((SettingPart(name, value),))


def sentence(template: str) -> Text:
    """A sentence whose settings are written in braces, with a value after a colon if one is shown.

    Parameters
    ----------
    template
        The sentence; a brace of its own is doubled.

    Examples
    --------
    >>> text = sentence("{epsilon} is missing: e.g. {epsilon:1}, or {privacy}.")
    >>> text.spelled(lambda each: f"--{each.name}")
    '--epsilon is missing: e.g. --epsilon, or --privacy.'
    >>> str(text)
    'epsilon is missing: e.g. epsilon=1, or privacy.'
    """
    parts: list[str | SettingPart] = []
    for words, name, value, _ in Formatter().parse(template):
        parts += [words] if words else []
        parts += [] if name is None else [SettingPart(name, _value_of(value or ""))]
    return Text(tuple(parts))


def _value_of(written: str) -> object:
    if not written:
        return NoValue
    try:
        return literal_eval(written)
    except (ValueError, SyntaxError):
        return written


_LONGEST_QUOTE = 40


def value_text(value: object) -> str:
    """A public value as an error quotes it; the kind alone of what may hold rows.

    Parameters
    ----------
    value
        Text, a number or a truth value is quoted; of anything else only its kind is named.

    Examples
    --------
    >>> value_text("abc"), value_text(0), value_text([[1.5, 2.0]])
    ("'abc'", '0', 'a list')
    """
    plain = value.item() if hasattr(value, "item") and not getattr(value, "shape", ()) else value
    if isinstance(plain, str) and len(plain) > _LONGEST_QUOTE:
        return f"text of {len(plain):,} characters"
    if plain is None or isinstance(plain, str | bool | int | float | complex):
        return repr(plain)
    if isinstance(plain, Fraction | Decimal):
        return str(plain)
    kind = type(plain).__name__
    return f"{'an' if kind[:1].lower() in 'aeio' else 'a'} {kind}"


def quantity(number: int, one: str, many: str | None = None) -> str:
    """A count with its noun.

    Parameters
    ----------
    number
        The count.
    one, many
        The noun for one and for several, by default with an *s*.

    Examples
    --------
    >>> quantity(1, "row"), quantity(1200, "row"), quantity(2, "person", "people")
    ('1 row', '1,200 rows', '2 people')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _parts(text: str | Text) -> tuple[str | SettingPart, ...]:
    return (text,) if isinstance(text, str) else text.parts


def _literal(value: object) -> str:
    small = isinstance(value, float) and 0 < value < 1e-4
    return f"{value:g}".replace("e-0", "e-") if small else repr(value)


class ShoalError(Exception):
    """Base of all of them: what is wrong, what to do about it, and the facts.

    Parameters
    ----------
    message
        What came and what would do.
    hint
        What to do next.
    facts
        What a program may want to know: ``setting``, the Python name of the setting that is
        wrong, and ``example``, a value that would do, where the sentences do not tell them by
        themselves; ``reason``, which of several cases of one class this is.
    """

    exit_code = 2

    def __init__(self, message: str | Text, hint: str | Text, **facts: object) -> None:
        super().__init__(str(message), str(hint))
        self.texts = Text(_parts(message)), Text(_parts(hint))
        self.facts = _settings_named(*self.texts) | facts

    @property
    def message(self) -> str:
        """What came and what would do, with settings as Python has them."""
        return str(self.texts[0])

    @property
    def hint(self) -> str:
        """What to do next, and what became of the budget where that was noted."""
        note = self.facts.get("note")
        return str(self.texts[1]) if note is None else f"{self.texts[1]} {note}"

    @property
    def setting(self) -> str | None:
        """The setting that is wrong, where it is one."""
        name = self.facts.get("setting")
        return None if name is None else str(name)

    @property
    def reason(self) -> str | None:
        """Which of several cases of one class this is."""
        reason = self.facts.get("reason")
        return None if reason is None else str(reason)

    def changed(self, message: str | Text | None = None, hint: str | Text | None = None) -> Self:
        """The same error with another sentence, and its facts.

        Parameters
        ----------
        message, hint
            What to say instead; None leaves the sentence as it is.
        """
        other = copy(self)
        own = self.texts
        texts = message or own[0], hint or own[1]
        other.texts = Text(_parts(texts[0])), Text(_parts(texts[1]))
        other.args = (other.message, other.hint)
        return other

    def noted(self, note: str) -> Self:
        """The same error, its hint ended by a note that stays whatever else is said instead."""
        other = copy(self)
        other.facts = self.facts | {"note": note}
        other.args = (self.message, other.hint)
        return other

    def within(self, place: str) -> Self:
        """The same error, its message begun with where it arose, e.g. ``Column 'age'``."""
        return self.changed(f"{place}: " + self.texts[0])

    def spelled(self, spell: Spell) -> Self:
        """The same error with settings written another way, once and for all."""
        other = self.changed(*(text.spelled(spell) for text in self.texts))
        if self.setting is not None:
            other.facts = self.facts | {"setting": spell(SettingPart(self.setting))}
        return other

    def to_literal(self) -> str:
        """The error as text that ``from_literal`` reads: what a worker sends to whoever asked."""
        texts = [[_plain(part) for part in text.parts] for text in self.texts]
        return repr((type(self).__name__, *texts, _plain(self.facts)))

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}"


def from_literal(text: str) -> ShoalError:
    """The error that ``to_literal`` wrote.

    Parameters
    ----------
    text
        What ``ShoalError.to_literal`` returned.

    Examples
    --------
    >>> error = from_literal(InvalidSetting.of("n_public", "must be whole", 500).to_literal())
    >>> type(error).__name__, error.hint, error.setting
    ('InvalidSetting', 'E.g. n_public=500.', 'n_public')
    """
    name, message, hint, facts = literal_eval(text)
    kind: type[ShoalError] = globals()[name]
    parts = [
        Text(tuple(part if isinstance(part, str) else SettingPart(*part) for part in each))
        for each in (message, hint)
    ]
    return kind(*parts, **facts)


def _plain(value: object) -> object:
    """The value in Python's own literals, a setting without its mark for none."""
    match value:
        case SettingPart() if value.value is NoValue:
            return (value.name,)
        case None | str() | int() | float():
            return value
        case dict():
            return {name: _plain(each) for name, each in value.items()}
        case tuple() | list() | range():
            return tuple(map(_plain, value))
    return str(value)


def _settings_named(message: Text, hint: Text) -> dict[str, object]:
    """The first setting the message names, and the value that the hint shows with it."""
    if not message.settings:
        return {}
    name = message.settings[0].name
    shown = [each.value for each in hint.settings if each.name == name]
    examples = [value for value in shown if value is not NoValue]
    return {"setting": name} | ({"example": examples[0]} if examples else {})


class BadInput(ShoalError, ValueError):
    """What came cannot be used."""


class InvalidBudget(BadInput):
    """Epsilon is not a positive, finite number."""


class InvalidSetting(BadInput):
    """A parameter outside its range."""

    @classmethod
    def of(cls, name: str, problem: str, example: object, got: object = NoValue) -> Self:
        """The error of one setting: what it must be, what it is, and a value that would do.

        Parameters
        ----------
        name
            Its name in Python.
        problem
            The rest of the sentence, e.g. ``must be a whole number of 1 or more``.
        example
            A value that would do.
        got
            The value given, quoted if it is a number or a short text.

        Examples
        --------
        >>> str(InvalidSetting.of("n_public", "must be a whole number of 1 or more", 500, "abc"))
        "n_public must be a whole number of 1 or more; got 'abc'.\\nE.g. n_public=500."
        """
        end = "" if got is NoValue else f"; got {value_text(got)}"
        return cls(setting(name) + f" {problem}{end}.", "E.g. " + setting(name, example) + ".")


class ConflictingSettings(BadInput):
    """Two parameters that do not go together."""


class InvalidDomain(BadInput):
    """Bounds, cells or names that make no domain, or a file of them that does not parse."""


class UnknownBounds(BadInput):
    """A column without public bounds."""


class TooLarge(BadInput):
    """More cells, columns or combinations than can be handled; ``reason`` says which."""


class UnreadableTable(BadInput):
    """A file or object that holds no table, or one without names of columns."""


class UnknownColumn(BadInput):
    """A named column the table does not have."""


class DuplicateColumn(BadInput):
    """One name, two columns."""


class DimensionMismatch(BadInput):
    """Rows of another width than the domain."""


class NotNumeric(BadInput):
    """Text, dates or objects where numbers belong."""


class NotFinite(BadInput):
    """NaN or infinity."""


class OutsideDomain(BadInput):
    """Rows beyond the box, where that is refused."""


class BoundsMissTheRows(BadInput):
    """Many rows lie outside the public bounds, so that what is found would be the bounds.

    Raised on released counts, once these were paid for, unless ``clipping="accept"``. Its facts are
    about how many rows there are (``n_rows``) and were moved (``n_moved``), beyond which ``sides``,
    and the epsilon that is ``spent`` and ``left`` of the promise.
    """

    @property
    def n_rows(self) -> int:
        """About how many rows there are."""
        return int(str(self.facts["n_rows"]))

    @property
    def n_moved(self) -> int:
        """About how many of them lie outside the bounds."""
        return int(str(self.facts["n_moved"]))

    @property
    def sides(self) -> tuple[dict[str, object], ...]:
        """Beyond which bounds they lie: column, end, bound and number of rows."""
        return tuple(self.facts["sides"])  # type: ignore[arg-type]

    @property
    def spent(self) -> str:
        """The epsilon that was spent on the check, exactly."""
        return str(self.facts["spent"])

    @property
    def left(self) -> str:
        """The epsilon that is left of the promise, exactly."""
        return str(self.facts["left"])


class UnknownCategory(BadInput):
    """A value outside the public list, or without a leaf in its hierarchy."""


class NotAReport(BadInput):
    """Rows where reports belong, or reports already remapped."""


class PersonMissing(BadInput):
    """A row that belongs to nobody."""


class InvalidFeatures(BadInput):
    """A features file says what it may not, contradicts itself, or does not fit the tables."""


class RepeatedPerson(BadInput):
    """Two rows belong to one person in a table that has one row a person."""


class AmbiguousId(BadInput):
    """A table of ids leads one id to two people."""


class RepeatedKey(BadInput):
    """Two rows of a public table have one key."""


class InvalidPolicy(BadInput):
    """A policy that contradicts itself, or that does not fit the table."""


class LooksIdentifying(BadInput):
    """A column published as it is that tells people apart."""


class HierarchyInvalid(BadInput):
    """A hierarchy that is no tree with one root, or whose labels are ambiguous or wrong."""


class KeyMissing(BadInput):
    """No key, or too short a one, for pseudonyms."""


class NewPeopleNotStated(BadInput):
    """A next release came whose people cannot be compared, and nobody states that they are new."""


class PeopleFileUnusable(BadInput):
    """The fingerprints of earlier releases' people are missing, damaged, others' or in use."""


class UnreadableModel(BadInput):
    """A folder without a model, or with one that was changed."""


class DatasetUnavailable(BadInput):
    """A data set the catalogue does not have, cannot find, or whose checksum does not match."""


class AlreadyExists(BadInput):
    """An output that would be overwritten."""


class CannotWrite(BadInput):
    """An output that cannot be written."""


class TooFewRows(BadInput):
    """Fewer rows, reports, people or draws than the question needs."""


class StartFails(BadInput):
    """A rule broken even at the most general labels."""


class PrivacyError(ShoalError):
    """A promise would be broken."""

    exit_code = 3


class BudgetExceeded(PrivacyError):
    """Over the ledger's limit."""


class PromiseExceeded(PrivacyError):
    """Mechanisms were handed more than the page promised."""


class PageMisused(PrivacyError):
    """A page that was copied, or given rows or noise of another kind than it was opened for."""


class IncomparableGuarantees(PrivacyError):
    """Promises that do not add."""


class RepeatedStream(PrivacyError):
    """The same noise would be drawn twice."""


class NotPublishable(PrivacyError):
    """An unprotected result, or a protected value, on its way to a public page."""


class NotKAnonymous(PrivacyError):
    """A written table whose re-count broke its promise."""


class ReleasedBefore(PrivacyError):
    """People of an earlier release are in a table for the next; ``people`` says how many.

    The number is for who holds the rows, and so in no message: those end up in logs.
    """

    people = 0


class MissingPart(ShoalError):
    """Something to run on is missing."""

    exit_code = 4


class NotInstalled(MissingPart):
    """Pyspark, Java, an attack's toolbox, or a package that a cluster's worker lacks."""


class SessionStopped(MissingPart):
    """A Spark session that is no longer there."""


class ClusterFailed(MissingPart):
    """Spark gave a job up."""


class LedgerError(ShoalError):
    """The ledger cannot be used."""

    @classmethod
    def unspent(cls, message: str, hint: str) -> Self:
        """The error of a ledger that nothing was written to.

        Parameters
        ----------
        message
            What is wrong.
        hint
            What to do next; a fact of its own too, for readers, who meant to spend nothing.
        """
        return cls(message, f"Nothing was spent. {hint}", reader_hint=hint)


class NotALedger(LedgerError):
    """A file that is something else."""


class LedgerLocked(LedgerError):
    """Another process holds it too long."""


class LedgerNotWritable(LedgerError):
    """Read-only, no such folder, or a full disk."""


class RunChanged(LedgerError):
    """A run that cannot go on: it asks for something else than before, or its table changed."""


class UnsafeLedgerPlace(LedgerError):
    """A file of two names, or on a network share: locks cannot be relied on."""


class LimitMismatch(LedgerError):
    """A limit given that is not the one stored."""


class NoGroupsDetected(UserWarning):
    """What was released cannot be told from a release about nobody; it is paid for, and stays."""


class PromisesAddUp(UserWarning):
    """A process releases again without a ledger: if about the same people, the promises add up."""


class ChoiceNotCovered(UserWarning):
    """A private estimator is cloned as a search does; a choice by ``score`` has no epsilon."""
