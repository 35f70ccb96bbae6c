"""Every exception shoal raises on purpose.

    ShoalError
    ├── BadInput (ValueError)             what came cannot be used            exit code 2
    │   ├── InvalidBudget                 epsilon is not a positive number
    │   ├── InvalidSetting                a parameter outside its range
    │   ├── ConflictingSettings           two parameters that do not go together
    │   ├── InvalidDomain                 bounds, cells or names that make no domain
    │   ├── InvalidSchema                 a domain or schema file that does not parse
    │   ├── UnknownBounds                 a column without public bounds
    │   ├── TooManyCells                  a grid beyond 2**62 cells, or beyond memory
    │   ├── TooManyAxes                   more columns than a view looks at
    │   ├── UnreadableTable               a file or object that holds no table
    │   ├── UnknownColumn                 a named column the table does not have
    │   ├── HeaderMissing                 values where names of columns belong
    │   ├── DuplicateColumn               one name, two columns
    │   ├── DimensionMismatch             rows of another width than the domain
    │   ├── NotNumeric                    text, dates or objects where numbers belong
    │   ├── NotFinite                     NaN or infinity
    │   ├── OutsideDomain                 rows beyond the box, where that is refused
    │   ├── UnknownCategory               a value outside the public list
    │   ├── NotAReport                    rows where reports belong, or reports already remapped
    │   ├── RestrictionTooTight           a box so small that redrawing would hardly ever end
    │   ├── EntityMissing                 a row that belongs to nobody
    │   ├── InvalidPolicy                 a policy with too little, too much or two things at once
    │   ├── UnlistedColumn                a column of the table without a role
    │   ├── LooksIdentifying              a column published as it is that tells people apart
    │   ├── HierarchyInvalid              a hierarchy that is no tree with one root
    │   ├── HierarchyIncomplete           values of a column without a leaf
    │   ├── DuplicateLeaf                 a leaf listed twice
    │   ├── AmbiguousLabel                a label that stands for two sets of values
    │   ├── LabelDoesNotCover             a number outside the interval it is filed under
    │   ├── KeyMissing                    no key, or too short a one, for pseudonyms
    │   ├── EntityRequired                a pseudonym on several rows, counted as several people
    │   ├── LinkedRows                    a pseudonym that ties records of a person together
    │   ├── NewPeopleNotStated            a next release whose people nobody can or did compare
    │   ├── PeopleFileUnusable            no fingerprints of people, or damaged or others' ones
    │   ├── UnreadableModel               a folder without a model, or with one that was changed
    │   ├── UnknownDataset                a name the catalogue does not have, or cannot find
    │   ├── DatasetChanged                a data set whose checksum does not match
    │   ├── AlreadyExists                 an output that would be overwritten
    │   ├── CannotWrite                   an output that cannot be written
    │   ├── TooFewRows                    fewer rows or reports than the question needs
    │   ├── ShadowOverlap                 an adversary who knows the very rows under attack
    │   ├── TooFewEntities                fewer people than one class needs
    │   ├── TooManyCombinations           more distinct rows than come to a Spark driver
    │   ├── StartFails                    a rule broken even at the most general labels
    │   ├── InvalidPair                   two inputs an audit cannot compare
    │   └── TooFewDraws                   an audit with too little evidence to say anything
    ├── PrivacyError                      a promise would be broken           exit code 3
    │   ├── BudgetExceeded                over the ledger's limit
    │   ├── PromiseExceeded               mechanisms were handed more than the page promised
    │   ├── PageCopied                    a page used outside the process that opened it
    │   ├── IncomparableGuarantees        promises that do not add
    │   ├── RepeatedStream                the same noise would be drawn twice
    │   ├── UnmarkedSimulation            seeded noise on a page already written as real
    │   ├── NotPublishable                an unprotected result on its way to a public page
    │   ├── NotKAnonymous                 a written table whose re-count broke its promise
    │   ├── ReleasedBefore                people of an earlier release in a table for the next
    │   └── ProtectedValue                a protected number on its way to a public page
    ├── MissingPart                       something to run on is missing      exit code 4
    │   ├── SparkMissing                  a call for Spark, and no pyspark
    │   ├── JavaMissing                   no Java, or one too old for Spark
    │   ├── WorkerIncomplete              a cluster's worker lacks a package
    │   ├── ToolboxMissing                a call for an attack of a toolbox that is not there
    │   ├── SessionStopped                a Spark session that is no longer there
    │   └── ClusterFailed                 Spark gave a job up
    └── LedgerError                       the ledger cannot be used           exit code 2
        ├── NotALedger                    a file that is something else
        ├── LedgerLocked                  another process holds it too long
        ├── LedgerNotWritable             read-only, no such folder, or a full disk
        ├── RunChanged                    a stopped run that asks for something else now
        ├── UnsafeLedgerPlace             a file of two names, or on a network share
        └── LimitMismatch                 a limit given that is not the one stored

A message says what came and what would do; ``hint`` says what to do about it. Neither ever
quotes a row.

And one warning, which stops nothing: ``NoGroupsTold``, where what was released cannot be told from
a release about nobody.
"""

__all__ = [
    "AlreadyExists",
    "AmbiguousLabel",
    "BadInput",
    "BudgetExceeded",
    "CannotWrite",
    "ClusterFailed",
    "ConflictingSettings",
    "DatasetChanged",
    "DimensionMismatch",
    "DuplicateColumn",
    "DuplicateLeaf",
    "EntityMissing",
    "EntityRequired",
    "HeaderMissing",
    "HierarchyIncomplete",
    "HierarchyInvalid",
    "IncomparableGuarantees",
    "InvalidBudget",
    "InvalidDomain",
    "InvalidPair",
    "InvalidPolicy",
    "InvalidSchema",
    "InvalidSetting",
    "JavaMissing",
    "KeyMissing",
    "LabelDoesNotCover",
    "LedgerError",
    "LedgerLocked",
    "LedgerNotWritable",
    "LimitMismatch",
    "LinkedRows",
    "LooksIdentifying",
    "MissingPart",
    "NewPeopleNotStated",
    "NoGroupsTold",
    "NotALedger",
    "NotAReport",
    "NotFinite",
    "NotKAnonymous",
    "NotNumeric",
    "NotPublishable",
    "OutsideDomain",
    "PageCopied",
    "PeopleFileUnusable",
    "PrivacyError",
    "PromiseExceeded",
    "ProtectedValue",
    "ReleasedBefore",
    "RepeatedStream",
    "RestrictionTooTight",
    "RunChanged",
    "SessionStopped",
    "ShadowOverlap",
    "ShoalError",
    "SparkMissing",
    "StartFails",
    "TooFewDraws",
    "TooFewEntities",
    "TooFewRows",
    "TooManyAxes",
    "TooManyCells",
    "TooManyCombinations",
    "ToolboxMissing",
    "UnknownBounds",
    "UnknownCategory",
    "UnknownColumn",
    "UnknownDataset",
    "UnlistedColumn",
    "UnmarkedSimulation",
    "UnreadableModel",
    "UnreadableTable",
    "UnsafeLedgerPlace",
    "WorkerIncomplete",
]


class ShoalError(Exception):
    """Base of all of them: what came, and the next step."""

    exit_code = 2

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}"


class BadInput(ShoalError, ValueError):
    """What came cannot be used."""


class InvalidBudget(BadInput):
    """Epsilon is not a positive, finite number."""


class InvalidSetting(BadInput):
    """A parameter outside its range."""


class ConflictingSettings(BadInput):
    """Two parameters that do not go together."""


class InvalidDomain(BadInput):
    """Bounds, cells or names that make no domain."""


class InvalidSchema(BadInput):
    """A domain or schema file that does not parse."""


class UnknownBounds(BadInput):
    """A column without public bounds."""


class TooManyCells(BadInput):
    """A grid beyond 2**62 cells, or beyond memory."""


class TooManyAxes(BadInput):
    """More columns than a view looks at."""


class UnreadableTable(BadInput):
    """A file or object that holds no table."""


class UnknownColumn(BadInput):
    """A named column the table does not have."""


class HeaderMissing(BadInput):
    """Values where names of columns belong."""


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


class UnknownCategory(BadInput):
    """A value outside the public list."""


class NotAReport(BadInput):
    """Rows where reports belong, or reports already remapped."""


class RestrictionTooTight(BadInput):
    """A box so small that redrawing would hardly ever end."""


class EntityMissing(BadInput):
    """A row that belongs to nobody."""


class InvalidPolicy(BadInput):
    """A policy with too little, too much or two things at once."""


class UnlistedColumn(BadInput):
    """A column of the table without a role."""


class LooksIdentifying(BadInput):
    """A column published as it is that tells people apart."""


class HierarchyInvalid(BadInput):
    """A hierarchy that is no tree with one root."""


class HierarchyIncomplete(BadInput):
    """Values of a column without a leaf."""


class DuplicateLeaf(BadInput):
    """A leaf listed twice."""


class AmbiguousLabel(BadInput):
    """A label that stands for two sets of values."""


class LabelDoesNotCover(BadInput):
    """A number outside the interval it is filed under."""


class KeyMissing(BadInput):
    """No key, or too short a one, for pseudonyms."""


class EntityRequired(BadInput):
    """A pseudonym on several rows, counted as several people."""


class LinkedRows(BadInput):
    """A pseudonym that ties records of a person together."""


class NewPeopleNotStated(BadInput):
    """A next release came whose people cannot be compared, and nobody states that they are new."""


class PeopleFileUnusable(BadInput):
    """The fingerprints of earlier releases' people are missing, damaged, others' or in use."""


class UnreadableModel(BadInput):
    """A folder without a model, or with one that was changed."""


class UnknownDataset(BadInput):
    """A name the catalogue does not have, or cannot find."""


class DatasetChanged(BadInput):
    """A data set whose checksum does not match."""


class AlreadyExists(BadInput):
    """An output that would be overwritten."""


class CannotWrite(BadInput):
    """An output that cannot be written."""


class TooFewRows(BadInput):
    """Fewer rows or reports than the question needs."""


class ShadowOverlap(BadInput):
    """An adversary who knows the very rows under attack."""


class TooFewEntities(BadInput):
    """Fewer people than one class needs."""


class TooManyCombinations(BadInput):
    """More distinct combinations than may come to a Spark driver."""


class StartFails(BadInput):
    """A rule broken even at the most general labels."""


class InvalidPair(BadInput):
    """Two inputs an audit cannot compare: equal ones, or one outside the domain."""


class TooFewDraws(BadInput):
    """An audit with too little evidence to say anything."""


class PrivacyError(ShoalError):
    """A promise would be broken."""

    exit_code = 3


class BudgetExceeded(PrivacyError):
    """Over the ledger's limit."""


class PromiseExceeded(PrivacyError):
    """Mechanisms were handed more than the page promised."""


class PageCopied(PrivacyError):
    """A page used outside the process that opened it."""


class IncomparableGuarantees(PrivacyError):
    """Promises that do not add."""


class RepeatedStream(PrivacyError):
    """The same noise would be drawn twice."""


class UnmarkedSimulation(PrivacyError):
    """Seeded noise on a page already written as real."""


class NotPublishable(PrivacyError):
    """An unprotected result on its way to a public page."""


class NotKAnonymous(PrivacyError):
    """A written table whose re-count broke its promise."""


class ReleasedBefore(PrivacyError):
    """People of an earlier release are in a table for the next; ``people`` says how many.

    The number is for who holds the rows, and so in no message: those end up in logs.
    """

    people = 0


class ProtectedValue(PrivacyError):
    """A protected number on its way to a public page."""


class MissingPart(ShoalError):
    """Something to run on is missing."""

    exit_code = 4


class SparkMissing(MissingPart):
    """A call for Spark, and no pyspark."""


class JavaMissing(MissingPart):
    """No Java, or one too old for Spark."""


class WorkerIncomplete(MissingPart):
    """A cluster's worker lacks a package."""


class ToolboxMissing(MissingPart):
    """A call for an attack of a toolbox that is not there."""


class SessionStopped(MissingPart):
    """A Spark session that is no longer there."""


class ClusterFailed(MissingPart):
    """Spark gave a job up."""


class LedgerError(ShoalError):
    """The ledger cannot be used."""


class NotALedger(LedgerError):
    """A file that is something else."""


class LedgerLocked(LedgerError):
    """Another process holds it too long."""


class LedgerNotWritable(LedgerError):
    """Read-only, no such folder, or a full disk."""


class RunChanged(LedgerError):
    """A stopped run, started again, asks for something else than it did."""


class UnsafeLedgerPlace(LedgerError):
    """A file of two names, or on a network share: locks cannot be relied on."""


class LimitMismatch(LedgerError):
    """A limit given that is not the one stored."""


class NoGroupsTold(UserWarning):
    """What was released cannot be told from a release about nobody; it is paid for, and stays."""
