"""Results of a method, each value marked by who may see it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shoal.privacy.guarantees import Guarantee
from shoal.privacy.notebook_html import promise_sentences, summary_html


@dataclass(frozen=True)
class Leaf:
    """A value whose type says who may see it.

    Parameters
    ----------
    value
        Any value.
    """

    value: Any


@dataclass(frozen=True)
class Public(Leaf):
    """A value known without the rows: domain, settings, versions."""


@dataclass(frozen=True)
class Released(Leaf):
    """A value that a mechanism released, or that was computed from such values."""


@dataclass(frozen=True)
class Protected(Leaf):
    """A value read from the rows, for their holder only."""


@dataclass(frozen=True)
class Result:
    """The result of one method: its guarantee, and its values by who may see them.

    Parameters
    ----------
    kind
        The name of the kind of result, which decides its page.
    guarantee
        What all released values promise together.
    settings
        Values known without the rows.
    released
        Values that may be published.
    protected
        Values for the holder of the rows.
    """

    kind: str
    guarantee: Guarantee
    settings: Mapping[str, Public] = field(default_factory=dict)
    released: Mapping[str, Released] = field(default_factory=dict)
    protected: Mapping[str, Protected] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        """Return settings and released values for notebooks; of protected ones, their names."""
        leaves = {**self.settings, **self.released}
        shown = {name: leaf.value for name, leaf in leaves.items()}
        hidden = ", ".join(self.protected)
        withheld = [f"For the holder of the rows only, and not shown: {hidden}."] if hidden else []
        return summary_html(self.kind, shown, [*promise_sentences(self.guarantee), *withheld])
