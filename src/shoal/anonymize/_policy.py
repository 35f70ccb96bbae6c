"""The policy: which column is what, what is promised, how to search, where to write.

``guarantee_of`` returns what a release under a policy promises.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    Discriminator,
    Field,
    PrivateAttr,
    StrictBool,
    StrictInt,
    StrictStr,
    Tag,
    ValidationError,
    model_validator,
)

from shoal.anonymize._policy_check import check_consistency, describe_problem
from shoal.anonymize._policy_rules import (
    KMapRule,
    LRule,
    Name,
    Number,
    PolicyPart,
    PopulationSpec,
    Positive,
    PresenceRule,
    TransformSpec,
    TRule,
    UniquenessRule,
)
from shoal.documents import read_yaml, rename_old_keys
from shoal.errors import InvalidDomain, InvalidPolicy, InvalidSetting
from shoal.privacy import KAnonymity, KMap


class FileSpec(PolicyPart):
    """A hierarchy in a file.

    Parameters
    ----------
    file
        The path, from the policy's folder.
    format
        The format of the file, as for ``read_hierarchy``.
    labels
        Whether labels are ``intervals``, whose numbers are checked, or ``opaque`` names.
    """

    file: Name
    format: Literal["arx", "nested", "child-parent"] = "arx"
    labels: Literal["intervals", "opaque"] = "intervals"


class TreeSpec(PolicyPart):
    """A hierarchy written into the policy: ``{tree: {root: {parent: [leaf, ...]}}}``.

    Parameters
    ----------
    tree
        The nested labels.
    labels
        Whether labels are ``intervals``, whose numbers are checked, or ``opaque`` names.
    """

    tree: dict[Any, Any]
    labels: Literal["intervals", "opaque"] = "intervals"


class IntervalSpec(PolicyPart):
    """A hierarchy of intervals of one width or between breaks, merged ``fanout`` at a time.

    Parameters
    ----------
    kind
        ``interval``.
    width
        The width of the intervals.
    breaks
        The inner bounds of the intervals, instead of a width.
    fanout
        How many neighbours make one interval of the next level.
    """

    kind: Literal["interval"]
    width: Positive | None = None
    breaks: Annotated[list[Number], Field(min_length=1)] | None = None
    fanout: Annotated[StrictInt, Field(ge=2)] = 2


class BinarySpec(PolicyPart):
    """A hierarchy that halves the domain, at midpoints or at medians learnt from the rows.

    Parameters
    ----------
    kind
        ``binary``.
    split
        Where to halve.
    min_width
        The least width of an interval.
    """

    kind: Literal["binary"]
    split: Literal["midpoint", "median"] = "midpoint"
    min_width: Positive = 1


class PrefixSpec(PolicyPart):
    """A hierarchy of the first characters of a code, fewer at each level.

    Parameters
    ----------
    kind
        ``prefix``.
    keep
        How many characters each level keeps, falling.
    values
        A public list of all codes; without it the leaves are learnt from the rows.
    """

    kind: Literal["prefix"]
    keep: Annotated[list[Annotated[StrictInt, Field(ge=1)]], Field(min_length=1)]
    values: Annotated[list[Any], Field(min_length=1)] | None = None


class DateSpec(PolicyPart):
    """A hierarchy of ever longer periods of days.

    Parameters
    ----------
    kind
        ``date``.
    levels
        The periods, the shortest first.
    format
        How text is written: 2001-03-05 (``iso``), 05/03/2001 (``dd/mm/yyyy``) or 03/05/2001.
    """

    kind: Literal["date"]
    levels: Annotated[
        list[Literal["day", "month", "quarter", "year", "decade"]], Field(min_length=1)
    ]
    format: Literal["iso", "dd/mm/yyyy", "mm/dd/yyyy"] = "iso"


class OrderSpec(PolicyPart):
    """A hierarchy of neighbours in a public, ordered list of values.

    Parameters
    ----------
    kind
        ``order``.
    values
        All values, in their order.
    fanout
        How many neighbours make one label of the next level.
    """

    kind: Literal["order"]
    values: Annotated[list[Any], Field(min_length=1)]
    fanout: Annotated[StrictInt, Field(ge=2)] = 2


class FrequencySpec(PolicyPart):
    """A hierarchy of values that are about equally common in public.

    Parameters
    ----------
    kind
        ``frequency``.
    counts
        How common each value is, by a public source.
    fanout
        How many values make one label of the next level.
    """

    kind: Literal["frequency"]
    counts: Annotated[dict[Any, Number], Field(min_length=1)]
    fanout: Annotated[StrictInt, Field(ge=2)] = 2


def _kind_of(spec: Any) -> str | None:
    if isinstance(spec, BaseModel):
        return type(spec).__name__
    keys = spec if isinstance(spec, Mapping) else {}
    if "file" in keys or "tree" in keys:
        return "FileSpec" if "file" in keys else "TreeSpec"
    return f"{str(keys.get('kind')).capitalize()}Spec"


HierarchySpec = Annotated[
    Annotated[FileSpec, Tag("FileSpec")]
    | Annotated[TreeSpec, Tag("TreeSpec")]
    | Annotated[IntervalSpec, Tag("IntervalSpec")]
    | Annotated[BinarySpec, Tag("BinarySpec")]
    | Annotated[PrefixSpec, Tag("PrefixSpec")]
    | Annotated[DateSpec, Tag("DateSpec")]
    | Annotated[OrderSpec, Tag("OrderSpec")]
    | Annotated[FrequencySpec, Tag("FrequencySpec")],
    Discriminator(_kind_of),
]


class Attribute(PolicyPart):
    """The role of one column, and how it may be published.

    Parameters
    ----------
    role
        Whether it names people, may identify them, is sensitive, or is published as it is.
    type
        The type of its values. Numbers that ``transform`` bounds or rounds are published as
        integers if it is int.
    domain
        The declared lowest and highest value.
    hierarchy
        What its values may be generalised to.
    weight
        Of a quasi-identifier in the mean loss.
    max_level
        The most general level that may be published.
    distances
        What publishing a label loses, from 0 to 1, in place of its share of the values.
    publish
        Whether a quasi-identifier is published as its label or, if it is a number, as the mean or
        median of its group (micro-aggregation).
    transform
        How numbers and rare values of an ``other`` column are changed.
    action
        Whether an identifier is dropped or replaced by an HMAC pseudonym.
    key_env
        The environment variable with the key of the pseudonyms.
    key_file
        The private file with the key of the pseudonyms.
    l
        The l rule of a sensitive column.
    t
        The t rule of a sensitive column.
    order
        The declared order of a sensitive column's values.
    force
        Whether the column is published although it looks identifying.
    """

    role: Literal["identifier", "quasi", "sensitive", "other"]
    type: Literal["text", "int", "float", "date"] = "text"
    domain: tuple[Any, Any] | None = None
    hierarchy: HierarchySpec | None = None
    weight: Number = 1.0
    max_level: Annotated[StrictInt, Field(ge=0)] | None = None
    distances: dict[Any, Annotated[float, Field(ge=0, le=1)]] | None = None
    publish: Literal["label", "mean", "median"] = "label"
    transform: TransformSpec | None = None
    action: Literal["drop", "hmac"] = "drop"
    key_env: Name | None = None
    key_file: Name | None = None
    l: LRule | None = None  # noqa: E741 - the name of the literature
    t: TRule | None = None
    order: list[Any] | None = None
    force: StrictBool = False


class Input(PolicyPart):
    """The table to read, and the spellings of nulls in it.

    Parameters
    ----------
    path
        The table's path, from the policy's folder.
    null_values
        Texts that stand for a missing value.
    """

    path: Name | None = None
    null_values: list[StrictStr] = Field(default_factory=lambda: [""])


class Privacy(PolicyPart):
    """The promise of a release.

    Parameters
    ----------
    k
        How many people share each combination; 1 only beside ``k_map``.
    suppression
        The share of rows that may be left out.
    person
        The column that says whose a row is.
    nulls
        How missing quasi-identifiers are treated.
    population
        The people the table was drawn from.
    k_map
        How many people of the population share each combination.
    presence
        How likely someone of the population is in the table.
    average_risk
        The greatest mean chance of picking somebody's record.
    uniqueness
        The greatest share of unique people.
    """

    k: StrictInt
    suppression: Number = 0.02
    person: Name | None = None
    nulls: Literal["own_value", "suppress", "as_root"] = "own_value"
    population: PopulationSpec | None = None
    k_map: KMapRule | None = None
    presence: PresenceRule | None = None
    average_risk: Annotated[float, Field(strict=True, gt=0, le=1)] | None = None
    uniqueness: UniquenessRule | None = None

    @model_validator(mode="before")
    @classmethod
    def _with_present_keys(cls, content: Any) -> Any:
        """Read the keys of earlier versions."""
        return rename_old_keys(content) if isinstance(content, Mapping) else content

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models asked for besides k, l and t."""
        names = ("k_map", "presence", "average_risk", "uniqueness")
        return tuple(name for name in names if getattr(self, name) is not None)


class Search(PolicyPart):
    """How the release is searched for; see ``SearchSettings``.

    Parameters
    ----------
    score
        What makes a split the best.
    objective
        What makes one of several releases the best.
    recoding
        Whether all rows share one cut (``global``) or each class has its own labels.
    local
        How local recoding groups rows.
    loss_unit
        In what lost anonymity is counted.
    target
        The class column of the score ``label-gain``.
    restarts
        How many searches with tilted scores; None makes 32, fewer on a large table.
    seed
        Of the tilted scores.
    """

    score: Literal["auto", "leteo", "ncp", "sq", "ncp-rows", "ncp-bits", "label-gain"] = "auto"
    objective: Literal["ncp", "dm", "aecs", "entropy"] = "ncp"
    recoding: Literal["global", "local"] = "global"
    local: Literal["auto", "cheapest-cell", "roll-up", "peel"] = "auto"
    loss_unit: Literal["rows", "k", "bits"] = "rows"
    target: Name | None = None
    restarts: Annotated[StrictInt, Field(ge=0)] | None = None
    seed: Annotated[StrictInt, Field(ge=0)] = 1


class Output(PolicyPart):
    """Where the release is written, and in what form.

    Parameters
    ----------
    path
        The released table.
    suppressed
        Whether suppressed rows are dropped or published under ``*`` alone.
    intervals
        Whether intervals are published as label, bounds or midpoint.
    mapping
        The file that lists each value's label.
    manifest
        The file with the public facts.
    report
        The public page.
    people
        The register of people's fingerprints, for the holder only.
    overwrite
        Whether existing files may be replaced.
    """

    path: Name | None = None
    suppressed: Literal["drop", "star"] = "drop"
    intervals: Literal["label", "bounds", "midpoint"] = "label"
    mapping: Name | None = None
    manifest: Name | None = None
    report: Name | None = None
    people: Name | None = None
    overwrite: StrictBool = False


class Policy(PolicyPart):
    """All settings of a run: roles and hierarchies of columns, promise, search and files.

    Make one with ``Policy.of(mapping)`` or ``read_policy(path)``; both report all problems at once,
    by the keys of the file.

    Parameters
    ----------
    version
        The version of the format, 1.
    input
        The table to read.
    attributes
        The role of each column, by name.
    privacy
        The promise.
    search
        How to search.
    output
        Where to write.

    Examples
    --------
    >>> policy = Policy.of({
    ...     "version": 1,
    ...     "attributes": {
    ...         "age": {"role": "quasi", "type": "int", "domain": [0, 110],
    ...                 "hierarchy": {"kind": "binary", "min_width": 5}},
    ...         "visits": {"role": "other"},
    ...     },
    ...     "privacy": {"k": 10},
    ... })
    >>> policy.names("quasi"), policy.privacy.suppression
    (('age',), 0.02)
    """

    version: Literal[1]
    input: Input = Input()
    attributes: Annotated[dict[Name, Attribute], Field(min_length=1)]
    privacy: Privacy
    search: Search = Search()
    output: Output = Output()
    _folder: Path = PrivateAttr(default_factory=Path)

    @classmethod
    def of(cls, content: Any, folder: str | Path = ".") -> "Policy":
        """Build a policy from its content.

        Parameters
        ----------
        content
            A mapping as in a policy file.
        folder
            Where relative paths start.

        Raises
        ------
        InvalidPolicy
            With all problems found.
        """
        if not isinstance(content, Mapping):
            raise InvalidPolicy(
                "The policy is not a mapping of keys.", "Start with `version: 1` and `attributes:`."
            )
        try:
            policy = cls.model_validate(content)
        except ValidationError as error:
            problems = error.errors(include_url=False, include_context=False)
            findings = list(
                dict.fromkeys(describe_problem(problem, content) for problem in problems)
            )
            raise _policy_error(findings, content) from None
        policy._folder = Path(folder)
        settings, wrong = check_consistency(policy)
        if wrong:
            raise _policy_error(wrong, content)
        if settings:
            raise InvalidSetting(f"{'; '.join(settings)}.", "Correct these numbers in the policy.")
        return policy

    def names(self, role: str) -> tuple[str, ...]:
        """Return the columns of a role, in the policy's order.

        Parameters
        ----------
        role
            The role.
        """
        return tuple(name for name, of in self.attributes.items() if of.role == role)

    def path(self, written: str) -> Path:
        """Return a path of the policy; a relative one starts at the policy's folder.

        Parameters
        ----------
        written
            The path as written in the policy.
        """
        return self._folder / os.path.expanduser(written)


def read_policy(path: str | Path) -> Policy:
    """Read a policy from a YAML file.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InvalidPolicy
        With all problems found.
    """
    try:
        content = read_yaml(path)
    except InvalidDomain as error:
        raise InvalidPolicy(error.message, error.hint) from None
    return Policy.of(content, Path(os.path.expanduser(path)).parent)


AnyPolicy = Policy | Mapping[str, Any] | str | Path


def policy_of(given: AnyPolicy) -> Policy:
    """Return a policy from a policy, its file, or its content.

    Parameters
    ----------
    given
        A ``Policy``, a path, or a mapping.
    """
    if isinstance(given, Policy):
        return given
    return read_policy(given) if isinstance(given, str | Path) else Policy.of(given)


def _policy_error(findings: list[str], content: Mapping[str, Any]) -> InvalidPolicy:
    problems = "a problem" if len(findings) == 1 else f"{len(findings)} problems"
    text = f"The policy has {problems}: {'; '.join(findings)}"
    return InvalidPolicy(
        text if text.endswith("?") else f"{text}.",
        "Correct them; `shoal anonymize init` drafts a policy from a table."
        if "attributes" not in content
        else "Correct what is named, and check again.",
    )


def guarantee_of(policy: Policy) -> KAnonymity | KMap:
    """Return what a release under a policy promises; of several l or t rules, the weakest.

    With k = 1 the promise is that of k-map, which says nothing to whoever is known to be in the
    table.

    Parameters
    ----------
    policy
        The policy.

    Examples
    --------
    >>> policy = Policy.of({"version": 1, "privacy": {"k": 5}, "attributes": {
    ...     "sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}}}})
    >>> guarantee_of(policy)
    KAnonymity(k=5)
    """
    if policy.privacy.k == 1 and policy.privacy.k_map is not None:
        return KMap(policy.privacy.k_map.k, policy.privacy.person)
    rules = [policy.attributes[name] for name in policy.names("sensitive")]
    least = [of.l.value for of in rules if of.l]
    far = [of.t.value for of in rules if of.t]
    return KAnonymity(
        policy.privacy.k,
        policy.privacy.person,
        int(min(least)) if least else None,
        max(far) if far else None,
    )
