"""What a method hands over, each leaf marked by who may see it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shoal.privacy.guarantees import Guarantee

__all__ = ["Leaf", "Protected", "Public", "Released", "Result"]


@dataclass(frozen=True)
class Leaf:
    """A value and, by its type, its audience."""

    value: Any


@dataclass(frozen=True)
class Public(Leaf):
    """Known without the rows: domain, settings, versions."""


@dataclass(frozen=True)
class Released(Leaf):
    """Left a mechanism, or was computed from what did."""


@dataclass(frozen=True)
class Protected(Leaf):
    """Read off the rows: for their holder only."""


@dataclass(frozen=True)
class Result:
    """One finding: its promise, and its values in three kinds of leaves."""

    kind: str
    guarantee: Guarantee
    settings: Mapping[str, Public] = field(default_factory=dict)
    released: Mapping[str, Released] = field(default_factory=dict)
    protected: Mapping[str, Protected] = field(default_factory=dict)
