"""The policy: which column is what, what is promised, how to search, where to write.

What a release under a policy promises.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PrivateAttr,
    StrictBool,
    StrictInt,
    StrictStr,
    Tag,
    ValidationError,
)

from shoal.anonymize.policy_check import check_consistency, describe_problem
from shoal.documents import read_yaml
from shoal.errors import InvalidDomain, InvalidPolicy, InvalidSetting
from shoal.privacy import KAnonymity

__all__ = [
    "AnyPolicy",
    "Attribute",
    "BinarySpec",
    "DateSpec",
    "FileSpec",
    "IntervalSpec",
    "Policy",
    "PrefixSpec",
    "TreeSpec",
    "guarantee_of",
    "policy_of",
    "read_policy",
]

Name = Annotated[StrictStr, Field(min_length=1)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Positive = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FileSpec(_Strict):
    """A hierarchy in a file."""

    file: Name
    format: Literal["arx", "nested", "child-parent"] = "arx"
    labels: Literal["intervals", "opaque"] = "intervals"


class TreeSpec(_Strict):
    """A hierarchy written into the policy: ``{tree: {root: {parent: [leaf, ...]}}}``."""

    tree: dict[Any, Any]
    labels: Literal["intervals", "opaque"] = "intervals"


class IntervalSpec(_Strict):
    """Intervals of one width or between breaks, merged ``fanout`` at a time."""

    kind: Literal["interval"]
    width: Positive | None = None
    breaks: Annotated[list[Number], Field(min_length=1)] | None = None
    fanout: Annotated[StrictInt, Field(ge=2)] = 2


class BinarySpec(_Strict):
    """The domain halved, at midpoints or at medians learnt from the rows."""

    kind: Literal["binary"]
    split: Literal["midpoint", "median"] = "midpoint"
    min_width: Positive = 1


class PrefixSpec(_Strict):
    """The first characters of a code, fewer at each level."""

    kind: Literal["prefix"]
    keep: Annotated[list[Annotated[StrictInt, Field(ge=1)]], Field(min_length=1)]


class DateSpec(_Strict):
    """Periods of ever longer length."""

    kind: Literal["date"]
    levels: Annotated[
        list[Literal["day", "month", "quarter", "year", "decade"]], Field(min_length=1)
    ]


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
    | Annotated[DateSpec, Tag("DateSpec")],
    Discriminator(_kind_of),
]


class LRule(_Strict):
    """l-diversity of a sensitive column."""

    kind: Literal["distinct", "entropy", "recursive"] = "distinct"
    value: Number
    c: Number = 3.0


class TRule(_Strict):
    """t-closeness of a sensitive column."""

    kind: Literal["equal", "ordered", "hierarchical"] = "equal"
    value: Number


class Attribute(_Strict):
    """What one column is, and what may become of it."""

    role: Literal["identifier", "quasi", "sensitive", "other"]
    type: Literal["text", "int", "float", "date"] = "text"
    domain: tuple[Any, Any] | None = None
    hierarchy: HierarchySpec | None = None
    weight: Number = 1.0
    max_level: Annotated[StrictInt, Field(ge=0)] | None = None
    action: Literal["drop", "hmac"] = "drop"
    key_env: Name | None = None
    key_file: Name | None = None
    l: LRule | None = None  # noqa: E741 - the name of the literature
    t: TRule | None = None
    order: list[Any] | None = None
    force: StrictBool = False


class Input(_Strict):
    """The table to read, and what stands for nothing in it."""

    path: Name | None = None
    null_values: list[StrictStr] = Field(default_factory=lambda: [""])


class Privacy(_Strict):
    """What is promised."""

    k: StrictInt
    suppression: Number = 0.02
    entity: Name | None = None
    nulls: Literal["own_value", "suppress", "as_root"] = "own_value"


class Search(_Strict):
    """How the release is looked for."""

    score: Literal["auto", "leteo", "ncp", "sq", "ncp-rows", "ncp-bits", "label-gain"] = "auto"
    objective: Literal["ncp", "dm", "aecs", "entropy"] = "ncp"
    recoding: Literal["global", "local"] = "global"
    local: Literal["auto", "cheapest-cell", "roll-up", "peel"] = "auto"
    loss_unit: Literal["rows", "k", "bits"] = "rows"
    target: Name | None = None
    restarts: Annotated[StrictInt, Field(ge=0)] | None = None  # 32, fewer on a large table
    seed: Annotated[StrictInt, Field(ge=0)] = 1


class Output(_Strict):
    """Where the release goes, and in what form."""

    path: Name | None = None
    suppressed: Literal["drop", "star"] = "drop"
    intervals: Literal["label", "bounds", "midpoint"] = "label"
    mapping: Name | None = None
    manifest: Name | None = None
    report: Name | None = None
    people: Name | None = None  # fingerprints of people, for the holder alone
    overwrite: StrictBool = False


class Policy(_Strict):
    """A whole run: roles and hierarchies of all columns, the promise, the search, the files.

    Make one with ``Policy.of(mapping)`` or ``read_policy(path)``; both say all that is wrong at
    once, in the keys of the file.

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
        """A policy from its content; relative paths in it start at ``folder``."""
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
            raise _refused(findings, content) from None
        policy._folder = Path(folder)
        settings, wrong = check_consistency(policy)
        if wrong:
            raise _refused(wrong, content)
        if settings:
            raise InvalidSetting(f"{'; '.join(settings)}.", "Correct these numbers in the policy.")
        return policy

    def names(self, role: str) -> tuple[str, ...]:
        """The columns of a role, in the policy's order."""
        return tuple(name for name, of in self.attributes.items() if of.role == role)

    def path(self, written: str) -> Path:
        """A path of the policy: a relative one starts at the policy's folder."""
        return self._folder / os.path.expanduser(written)


def read_policy(path: str | Path) -> Policy:
    """A policy from a YAML file."""
    try:
        content = read_yaml(path)
    except InvalidDomain as error:
        raise InvalidPolicy(error.message, error.hint) from None
    return Policy.of(content, Path(os.path.expanduser(path)).parent)


AnyPolicy = Policy | Mapping[str, Any] | str | Path


def policy_of(given: AnyPolicy) -> Policy:
    """A policy, the one in this file, or the one with this content."""
    if isinstance(given, Policy):
        return given
    return read_policy(given) if isinstance(given, str | Path) else Policy.of(given)


def _refused(findings: list[str], content: Mapping[str, Any]) -> InvalidPolicy:
    problems = "a problem" if len(findings) == 1 else f"{len(findings)} problems"
    text = f"The policy has {problems}: {'; '.join(findings)}"
    return InvalidPolicy(
        text if text.endswith("?") else f"{text}.",
        "Correct them; `shoal anonymize init` drafts a policy from a table."
        if "attributes" not in content
        else "Correct what is named, and check again.",
    )


def guarantee_of(policy: Policy) -> KAnonymity:
    """What a release under a policy promises: of several rules the weakest.

    Examples
    --------
    >>> policy = Policy.of({"version": 1, "privacy": {"k": 5}, "attributes": {
    ...     "sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}}}})
    >>> guarantee_of(policy)
    KAnonymity(k=5)
    """
    rules = [policy.attributes[name] for name in policy.names("sensitive")]
    least = [of.l.value for of in rules if of.l]
    far = [of.t.value for of in rules if of.t]
    return KAnonymity(
        policy.privacy.k,
        policy.privacy.entity,
        int(min(least)) if least else None,
        max(far) if far else None,
    )
