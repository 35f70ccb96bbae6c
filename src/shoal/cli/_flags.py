"""Write the library's settings as flags: ``n_public=500`` is ``--n-public 500``.

Errors have settings as parts of their sentences. Each verb states which of its flags do not follow
the rule, and which hints are for Python programs only.
"""

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from shoal.errors import (
    DimensionMismatch,
    InvalidDomain,
    NotFinite,
    NoValue,
    OutsideDomain,
    SettingPart,
    ShoalError,
    TooLarge,
)

Hints = Mapping[type[ShoalError] | tuple[type[ShoalError], str], str]

_NAMES = {"n_clusters": "-k", "k": "-k", "random_state": "--seed"}
_LIMIT = "A higher limit is set from Python, with SparkTable, and needs the driver's memory"
_HINTS: Hints = {  # where the library's hint is for programs
    (NotFinite, "missing values"): "Fill those values, or remove the rows.",
    (TooLarge, "combinations"): f"{_LIMIT}; or make fewer columns quasi or sensitive.",
    (TooLarge, "people"): f"{_LIMIT}.",
    (TooLarge, "columns"): "Choose the columns that matter with --columns.",
}
_PAIRS: dict[tuple[str, object], str] = {
    ("other", "bucket"): "`other: bucket` in the domain's file",
    ("nonfinite", "drop"): "--drop",
    ("clipping", "accept"): "--accept-clipping",
}


@dataclass(frozen=True)
class Flags:
    """How one verb writes settings as flags.

    Parameters
    ----------
    names
        Settings whose flag is not their name with dashes, e.g. ``{"privacy": "--delta"}``.
    pairs
        A setting with a value that are one flag together, e.g. ``nonfinite="drop"`` as ``--drop``.
    hints
        What to do next, for a class of errors, or a class and a ``reason``, where the library's
        hint is for programs.

    Examples
    --------
    >>> Flags()(SettingPart("n_public", 500)), Flags()(SettingPart("n_clusters", range(2, 21)))
    ('--n-public 500', '-k 2-20')
    """

    names: Mapping[str, str] = field(default_factory=dict)
    pairs: Mapping[tuple[str, object], str] = field(default_factory=dict)
    hints: Hints = field(default_factory=dict)

    def __call__(self, setting: SettingPart) -> str:
        """Return the setting as a flag, with its value if it has one."""
        pairs = _PAIRS | dict(self.pairs)
        with_value = (setting.name, setting.value)
        if isinstance(setting.value, str) and with_value in pairs:
            return pairs[with_value]
        flag = self._flag(setting.name)
        return flag if _is_switch(setting.value) else f"{flag} {_written(setting.value)}"

    def error(self, error: ShoalError) -> ShoalError:
        """Return the error in terms of flags; one that is already so stays as it is."""
        if "flags" in error.facts:
            return error
        spelled = error.changed(hint=self._hint(error)).spelled(self)
        spelled.facts = spelled.facts | {"flags": True}
        return spelled

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Convert errors of the library within this context to terms of flags."""
        try:
            yield
        except ShoalError as error:
            raise self.error(error) from None

    def _hint(self, error: ShoalError) -> str | None:
        case = (type(error), error.reason or "")
        tables: tuple[Hints, ...] = (self.hints, _HINTS)
        hints = (table.get(key) for table in tables for key in (case, type(error)))
        return next((hint for hint in hints if hint is not None), None)

    def _flag(self, name: str) -> str:
        if name.startswith("-"):  # written already
            return name
        names = _NAMES | dict(self.names)
        return names.get(name) or f"--{name.replace('_', '-')}"


def cluster_flags(method: str) -> Flags:
    """Return how `shoal cluster` writes the settings of a method's estimator."""
    return _WAVES if method == "wave" else _KMEANS


_DROP: Hints = {
    NotFinite: "Fill those values, remove the rows, or leave them out with --drop.",
}
_KMEANS = Flags({"privacy": "--delta"}, {("method", "auto"): "--method kmeans"}, _DROP)
_WAVES = Flags({}, {("method", "wave"): "--method wave"}, _DROP)
_CLIP = "Widen the bounds by public knowledge, or move such rows with --clip."
_CLAMP = (
    "Use --remap clamp with --mechanism nd-laplace, which is free; or raise --epsilon, widen the "
    "bounds, or take fewer --columns (ten and more never do)."
)
_GEO = (
    "Write `geo: {latitude: ..., longitude: ...}` in the domain's file and give --epsilon per "
    "kilometre; or give --scale if degrees are really meant."
)
_NO_GUESS = (
    "Leave --remap out, or use --remap clamp: the noise is small against the bounds, so that "
    "reports are good guesses as they are."
)
PERTURB = Flags(
    hints={
        OutsideDomain: _CLIP,
        NotFinite: "Fill those values, or remove the rows.",
        (InvalidDomain, "restriction too tight"): _CLAMP,
        (InvalidDomain, "degrees"): _GEO,
        (TooLarge, "lattice"): _NO_GUESS,
        (DimensionMismatch, "too many columns"): "Choose fewer with --columns, or use "
        "--mechanism nd-laplace.",
        (DimensionMismatch, "columns"): "Choose as many with --columns, or use "
        "--mechanism nd-laplace.",
    },
)


def _is_switch(value: object) -> bool:
    return value is NoValue or value is True or value is None


def _written(value: object) -> str:
    if isinstance(value, range):
        return f"{value[0]}-{value[-1]}"
    if isinstance(value, tuple | list):
        return ",".join(map(_written, value))
    if isinstance(value, float):
        return f"{value:g}".replace("e-0", "e-")
    return shlex.quote(str(value))
