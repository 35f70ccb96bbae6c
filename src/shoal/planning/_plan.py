"""What error to expect at which budget, before any row is read."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from shoal.domain import Box, Schema
from shoal.errors import InvalidDomain, InvalidSetting, setting, value_text
from shoal.planning._error_curve import Curve, curve_of
from shoal.planning._made_up import SHAPES, draw_table
from shoal.planning._trial_fits import (
    TrialTable,
    central_errors,
    half_way,
    local_errors,
    rows_to_make,
)
from shoal.privacy import whole_number
from shoal.randomness import Randomness

Progress = Callable[[str, float], None]
EPSILONS: dict[str, tuple[float, ...]] = {
    "central": (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0),
    "local": (1.0, 2.0, 4.0, 8.0),  # fits on reports take ten times as long
}
LOCAL_COLUMNS = 4  # plans of more would take minutes: docs/decisions/plan.md
_TRUST = ("central", "local", "both")
# Of each shape, each fitted once at each budget: tables differ more than fits.
_TABLES = {"central": 4, "local": 3}
# What is known of the groups narrows the tables to two neighbouring shapes.
_SHAPES: dict[str | None, tuple[str, ...]] = {
    None: SHAPES,
    "clear": SHAPES[:2],
    "near": SHAPES[1:3],
    "touching": SHAPES[2:],
}


class Flattery(NamedTuple):
    """What a what-if predicted over what fits did, measured.

    Parameters
    ----------
    median
        The median over settings.
    least
        The least: there it promised too much.
    greatest
        The greatest: there it promised too little.
    settings
        How many settings there were.
    """

    median: float
    least: float
    greatest: float
    settings: int


_PLAIN = ("n_clusters", "n_expected", "rows_per_person", "groups", "within")


@dataclass(frozen=True)
class Plan:
    """What to expect of a release that was not made yet.

    Parameters
    ----------
    n_clusters
        How many groups will be looked for.
    box
        The public bounds.
    n_expected
        How many rows are expected.
    rows_per_person
        How many rows a person may have, which the promise covers.
    groups
        What was said about the groups; None for nothing.
    within
        The wanted error, as a share of a column's range.
    curves
        The errors by trust: "central", "local" or both.
    skipped
        Kinds of trust that were asked for and not simulated, and why.
    flattery
        For a what-if, predicted over true error as measured; None for a plan of public facts.
    """

    n_clusters: int
    box: Box
    n_expected: int
    rows_per_person: int
    groups: str | None
    within: float
    curves: Mapping[str, Curve]
    skipped: Mapping[str, str] = field(default_factory=dict)
    flattery: Any = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, without the bounds, which ``Plan.of`` is given."""
        values = {name: getattr(self, name) for name in _PLAIN}
        curves = {name: curve.to_dict() for name, curve in self.curves.items()}
        flattery = None if self.flattery is None else self.flattery._asdict()
        return values | {"skipped": dict(self.skipped), "curves": curves, "flattery": flattery}

    @classmethod
    def of(cls, values: Mapping[str, Any], box: Box) -> "Plan":
        """Rebuild a plan from ``to_dict`` and the public bounds."""
        plain = {name: values[name] for name in (*_PLAIN, "skipped")}
        curves = {name: Curve.of(each) for name, each in values["curves"].items()}
        given = values["flattery"]
        return cls(
            **plain, box=box, curves=curves, flattery=None if given is None else Flattery(**given)
        )

    @property
    def simulation(self) -> bool:
        """Whether bounds, or the release it is drawn about, have seeded noise: not public."""
        return self.box.simulation


def plan(
    n_clusters: int,
    *,
    domain: Box | Schema,
    n_expected: int,
    epsilons: Sequence[float] | None = None,
    trust: str = "both",
    groups: str | None = None,
    within: float = 0.05,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Plan:
    """Predict the error of centres at several budgets from public facts alone.

    ``PrivateKMeans`` and ``LocalClusterer`` (in four columns ``LocalRounds``) are fitted to made-up
    tables with these columns, groups and rows. No table is opened, so nothing is spent. The result
    is a typical error and a bad case, since tables differ; docs/decisions/plan.md has how often
    they held. Heavy tails, a group far from all others and columns of few values may do worse.

    Parameters
    ----------
    n_clusters
        How many groups will be looked for.
    domain
        Public bounds of the columns; a schema also says how many rows a person may have.
    n_expected
        How many rows are expected, as far as that is publicly known.
    epsilons
        The budgets to try; None for those of ``EPSILONS``.
    trust
        "central" (a curator holds the rows), "local" (everybody sends one report: of a
        ``LocalGrid``, in four columns in ``LocalRounds``) or "both".
    groups
        What is known about the groups: "clear", "near" or "touching"; None for nothing.
    within
        The wanted error of nine in ten coordinates, as a share of the range.
    random_state
        The seed of tables and fits; nothing here protects anybody.
    progress
        Called with what is being done and how far it is, from 0 to 1.

    Examples
    --------
    >>> found = plan(3, domain=Box.unit(2), n_expected=5_000, epsilons=[0.1, 1.0], trust="central")
    >>> [band.epsilon for band in found.curves["central"].bands]
    [0.1, 1.0]
    """
    box = _box_of(domain)
    k, n = check_number("n_clusters", n_clusters, 5), check_number("n_expected", n_expected, 10_000)
    if k > n:
        raise InvalidSetting.of("n_expected", "must be at least the number of groups", 10_000, n)
    check_trust(trust)
    if groups not in _SHAPES:
        raise InvalidSetting.of("groups", "must be clear, near or touching", "near", groups)
    check_within(within)
    limit = (domain.max_rows_per_person if isinstance(domain, Schema) else None) or 1

    def trials(name: str) -> dict[str, list[TrialTable]]:
        rng = Randomness(random_state).compute
        return {
            shape: [_made_up(n, box.d, k, shape, name, rng) for _ in range(_TABLES[name])]
            for shape in _shapes(groups, name)
        }

    curves, skipped = curves_of(
        trials, box.d, n, epsilons, trust, within, limit, random_state, progress
    )
    return Plan(k, box, n, limit, groups, within, curves, skipped)


def curves_of(
    trials: Callable[[str], Mapping[str, Sequence[TrialTable]]],
    d: int,
    n: int,
    epsilons: Sequence[float] | None,
    trust: str,
    within: float,
    share: float,
    seed: int,
    progress: Progress | None,
) -> tuple[dict[str, Curve], dict[str, str]]:
    """Run the fits of a plan, and return a curve for each kind of trust, or why there is none.

    Parameters
    ----------
    epsilons
        The budgets; None for the usual ones.
    trust
        "central", "local" or "both".
    share
        How many times the budget of one row a central promise spends: once for each row of a
        person.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    names = ["central", "local"] if trust == "both" else [trust]
    skipped = {}
    if "local" in names and d > LOCAL_COLUMNS:
        names.remove("local")
        skipped["local"] = f"Reports are planned for up to {LOCAL_COLUMNS} columns; here are {d}."
    curves = {}
    with threadpool_limits(1):  # small products: threads would wait for each other
        for i, name in enumerate(names):
            budgets = EPSILONS[name] if epsilons is None else check_epsilons(epsilons, name)
            times = share if name == "central" else 1
            part = _part(progress, name, i, len(names))
            tables = trials(name)
            errors = _errors(name, tables, budgets, times, seed, part)
            reaches = {shape: [half_way(each) for each in fits] for shape, fits in tables.items()}
            curves[name] = curve_of(name, errors, n, within, reaches)
    return curves, skipped


def _errors(
    trust: str,
    trials: Mapping[str, Sequence[TrialTable]],
    epsilons: Sequence[float],
    share: float,
    seed: int,
    progress: Callable[[float], None],
) -> dict[str, dict[float, list[Any]]]:
    """The errors of every fit, by shape and budget; seeds are the same at every budget."""
    errors_of = central_errors if trust == "central" else local_errors
    errors: dict[str, dict[float, list[Any]]] = {
        shape: {epsilon: [] for epsilon in epsilons} for shape in trials
    }
    runs = [
        (shape, trial, epsilon, seed + i)
        for shape, tables in trials.items()
        for i, trial in enumerate(tables)
        for epsilon in epsilons
    ]
    for i, (shape, trial, epsilon, fit_seed) in enumerate(runs):
        errors[shape][epsilon].append(errors_of(trial, epsilon / share, fit_seed))
        progress((i + 1) / len(runs))
    return errors


def _shapes(groups: str | None, trust: str) -> tuple[str, ...]:
    """The shapes to make up: for reports, whose fits are slow, none that lies within the band."""
    if trust == "local" and groups is None:
        return tuple(shape for shape in SHAPES if shape != "near")
    return _SHAPES[groups]


def _made_up(
    n: int, d: int, k: int, shape: str, trust: str, rng: np.random.Generator
) -> TrialTable:
    table = draw_table(rows_to_make(n, d, trust), d, k, shape, rng)
    return TrialTable(table.rows, n, table.centers)


def _part(progress: Progress | None, name: str, place: int, parts: int) -> Callable[[float], None]:
    def report(share: float) -> None:
        if progress is not None:
            progress(f"Fitting made-up tables, {name}", (place + share) / parts)

    return report


def check_epsilons(epsilons: Sequence[float], trust: str) -> list[float]:
    """Return budgets in order; a local one is at most 20.

    Parameters
    ----------
    trust
        "central" or "local".
    """
    most = 20.0 if trust == "local" else math.inf
    numbers = [e for e in epsilons if isinstance(e, int | float) and 0 < e <= most and e < math.inf]
    if not numbers or len(numbers) < len(epsilons):
        limit = " of at most 20" if trust == "local" else ""
        raise InvalidSetting.of("epsilons", f"must be positive numbers{limit}", [0.5, 1, 2])
    return sorted(set(map(float, numbers)))


def check_number(name: str, value: object, example: int) -> int:
    """Return a whole number of 1 or more."""
    number = whole_number(value)
    if number is None or number < 1:
        raise InvalidSetting.of(name, "must be a whole number of 1 or more", example, value)
    return number


def check_trust(trust: object) -> None:
    """Refuse what is none of the kinds of trust."""
    if trust not in _TRUST:
        raise InvalidSetting.of("trust", f"must be one of {', '.join(_TRUST)}", "central", trust)


def check_within(within: object) -> None:
    """Refuse an error that is no share of a range."""
    if not isinstance(within, int | float) or not 0 < within < 1:
        raise InvalidSetting.of("within", "must be a number between 0 and 1", 0.05, within)


def _box_of(domain: object) -> Box:
    if isinstance(domain, Schema):
        return domain.box
    if isinstance(domain, Box):
        return domain
    raise InvalidDomain(
        setting("domain") + f" must be a Box or a Schema; got {value_text(domain)}.",
        "E.g. Box(age=(0, 110)): public bounds, not read from the rows.",
    )
