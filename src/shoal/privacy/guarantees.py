"""Guarantees as frozen values with exact amounts, added up only where a theorem allows it.

    guarantee     compares                                        adds with
    PureDP        tables that differ by one row (or person)       same neighbours and rows
    ApproxDP      the same, but for a chance of delta             same neighbours and rows
    LocalDP       any two values of one person                    LocalDP
    MetricDP      two values, the closer the better hidden        same metric, unit and scale
    KAnonymity    nothing: it describes a table                   nothing
    KMap          nothing: a table and its population             nothing
    Unprotected   nothing is promised, and it says why            nothing

``epsilon`` is kept as the fraction its decimal form names, so shares and sums are exact:
``PureDP(0.1) + PureDP(0.2) == PureDP(0.3)``.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, ClassVar, Protocol, Self, cast

from shoal.documents import rename_old_keys
from shoal.errors import (
    IncomparableGuarantees,
    InvalidBudget,
    InvalidDomain,
    InvalidSetting,
    quantity,
    setting,
)
from shoal.privacy._exact_numbers import Number, exact, exact_budget, exact_text, whole_number
from shoal.privacy.notebook_html import promise_sentences, summary_html

Scale = str | tuple[float, ...] | None
# The largest epsilon times rows: beyond it the delta of one row would be under e^-1000.
_LARGEST_GROUP = 1000


class _Domain(Protocol):
    """The part of a box that ``MetricDP.as_local`` reads."""

    @property
    def distance_unit(self) -> str: ...
    @property
    def sides(self) -> Any: ...


@dataclass(frozen=True, kw_only=True, repr=False)
class Guarantee:
    """Base class of all guarantees.

    Parameters
    ----------
    simulation
        Whether the noise was seeded, so that nothing is protected.
    """

    simulation: bool = False

    @property
    def kind(self) -> tuple[Any, ...]:
        """What must be equal for two guarantees to add up: everything but the amounts."""
        # A simulation is of the same kind: a limit binds what was promised and simulated together.
        skip = ("simulation", *getattr(self, "_amounts", ()))
        rest = (getattr(self, f.name) for f in fields(self) if f.name not in skip)
        return type(self).__name__, *rest

    def simulated(self, yes: bool = True) -> Self:
        """Return the same guarantee, marked as a simulation.

        Parameters
        ----------
        yes
            False returns it as it is; a mark is never removed.
        """
        return replace(self, simulation=self.simulation or yes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON and the ledger; epsilon as an exact text."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        shown = {k: exact_text(v) if isinstance(v, Fraction) else v for k, v in values.items()}
        shown = {k: list(v) if isinstance(v, tuple) else v for k, v in shown.items()}
        return {"kind": type(self).__name__, **shown}

    def __add__(self, other: object) -> Self:
        if not isinstance(other, Guarantee):
            return NotImplemented
        raise self._incomparable(other)

    def _incomparable(self, other: "Guarantee") -> IncomparableGuarantees:
        return IncomparableGuarantees(
            f"{self} and {other} do not add.",
            "Keep them apart, or convert with MetricDP.as_local(domain), PureDP.as_replace_one(), "
            "PureDP.as_approx().",
        )

    def _repr_html_(self) -> str:
        """Return the promise in words, for notebooks."""
        return summary_html(repr(self), sentences=promise_sentences(self))

    def __repr__(self) -> str:
        given = {f.name: f.default for f in fields(self) if getattr(self, f.name) != f.default}
        # The base class's field would come first: the promise reads better with it last.
        order = sorted(given, key=lambda name: name == "simulation")
        shown = self.to_dict()
        return f"{type(self).__name__}({', '.join(f'{name}={shown[name]}' for name in order)})"


@dataclass(frozen=True, repr=False)
class Budget(Guarantee):
    """A guarantee measured by epsilon; amounts of one kind add up.

    Parameters
    ----------
    epsilon
        The amount, kept as an exact fraction.
    """

    _amounts: ClassVar[tuple[str, ...]] = ("epsilon",)
    epsilon: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact_budget(self.epsilon))

    def __add__(self, other: object) -> Self:
        """Return the guarantee of two releases, one after the other: the amounts add."""
        if not isinstance(other, Guarantee):
            return NotImplemented
        if not isinstance(other, Budget) or self.kind != other.kind:
            raise self._incomparable(other)
        amounts = {name: getattr(self, name) + getattr(other, name) for name in self._amounts}
        return replace(self, **amounts, simulation=self.simulation or other.simulation)

    # The share is read by its text, so that promise * 0.1 is exactly a tenth.
    def __mul__(self, share: Number) -> Self:
        """Return an exact share of the amounts: ``promise * Fraction(1, 3)``."""
        factor = exact(share)
        if factor is None or factor <= 0:
            raise InvalidBudget(
                "A share of a budget must be a positive number.", "E.g. promise * Fraction(1, 3)."
            )
        return replace(self, **{name: getattr(self, name) * factor for name in self._amounts})

    __rmul__ = __mul__

    def __truediv__(self, parts: Number) -> Self:
        return self * (1 / exact_budget(parts))

    def with_some_slack(self) -> Self:
        """Return this guarantee as a limit; ``MetricDP`` adds a slack if it names none."""
        return self

    def within(self, limit: "Budget") -> bool:
        """Whether this guarantee is of the limit's kind and no larger.

        Parameters
        ----------
        limit
            What it is compared to.
        """
        return self.kind == limit.kind and all(
            getattr(self, name) <= getattr(limit, name) for name in self._amounts
        )


class _RowGuarantee:
    """The fields and checks shared by guarantees about the rows of a table."""

    neighbours: str
    rows: int

    @property
    def steps(self) -> int:
        """The most rows that are added or removed between two neighbouring tables."""
        return self.rows * (2 if self.neighbours == "replace-one" else 1)

    def _check_rows(self) -> None:
        if self.neighbours not in ("add-remove", "replace-one"):
            raise InvalidSetting(
                setting("neighbours") + " must be 'add-remove' or 'replace-one'.",
                "Choose one of the two.",
            )
        rows = whole_number(self.rows)
        if rows is None or rows < 1:
            raise InvalidSetting.of("rows", "must be a whole number of 1 or more", 1, self.rows)
        object.__setattr__(self, "rows", rows)


@dataclass(frozen=True, repr=False)
class PureDP(_RowGuarantee, Budget):
    r"""Differential privacy: :math:`P[M(D) \in S] \le e^\varepsilon P[M(D') \in S]`.

    Parameters
    ----------
    epsilon
        Has no default: whoever publishes chooses it and defends it.
    neighbours
        ``"add-remove"``: D and D' differ by one person's rows being there or not.
        ``"replace-one"``: by one person's rows having other values; their number is then known.
    rows
        How many rows one person has at most.

    Examples
    --------
    >>> PureDP(0.1) + PureDP(0.2) == PureDP(0.3)
    True
    >>> str(PureDP(1).as_replace_one())
    'PureDP(epsilon=2, neighbours=replace-one)'
    """

    neighbours: str = "add-remove"
    rows: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_rows()

    def as_replace_one(self) -> "PureDP":
        """Convert to replace-one neighbours: a row removed and one added, so twice epsilon."""
        if self.neighbours == "replace-one":
            return self
        return replace(self, epsilon=2 * self.epsilon, neighbours="replace-one")

    def per_row(self) -> "PureDP":
        """Return what mechanisms may spend for one row added or removed to keep this guarantee."""
        return replace(self, epsilon=self.epsilon / self.steps, neighbours="add-remove", rows=1)

    def for_all_rows(self, spent: "PureDP") -> "PureDP":
        """Return the guarantee of this kind that follows from what mechanisms spent for one row.

        Parameters
        ----------
        spent
            What mechanisms spent, for one row added or removed.
        """
        return replace(self, epsilon=spent.epsilon * self.steps, simulation=spent.simulation)

    def as_approx(self) -> "ApproxDP":
        """Return the same guarantee as ``ApproxDP`` with a delta of 0."""
        return ApproxDP(
            self.epsilon, Fraction(0), self.neighbours, self.rows, simulation=self.simulation
        )


@dataclass(frozen=True, repr=False)
class ApproxDP(_RowGuarantee, Budget):
    r"""Privacy but for a chance: :math:`P[M(D) \in S] \le e^\varepsilon P[M(D') \in S] + \delta`.

    For any two tables that are compared: but for a chance of delta, in which nothing is promised,
    they are as hard to tell apart as under ``PureDP(epsilon)``. Amounts add (basic composition),
    epsilon with epsilon and delta with delta. See ``guarantees.proof.md``.

    Parameters
    ----------
    epsilon
        The amount, as in ``PureDP``.
    delta
        The probability with which the limit may fail; below 1, and far below one in the number of
        people.
    neighbours
        ``"add-remove"`` or ``"replace-one"``, as in ``PureDP``.
    rows
        How many rows one person has at most.

    Examples
    --------
    >>> ApproxDP(1, 1e-7) + ApproxDP("0.5", 2e-7) == ApproxDP("1.5", 3e-7)
    True
    >>> ApproxDP(1, 1e-7, rows=2).per_row().epsilon
    Fraction(1, 2)
    """

    _amounts: ClassVar[tuple[str, ...]] = ("epsilon", "delta")
    delta: Fraction
    neighbours: str = "add-remove"
    rows: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        delta = exact(self.delta)
        if delta is None or not 0 <= delta < 1:
            raise InvalidBudget(
                setting("delta")
                + " must be at least 0 and below 1; at 1 nothing would be promised.",
                "Choose it far below one in the number of people, e.g. "
                + setting("delta", 1e-8)
                + ".",
            )
        object.__setattr__(self, "delta", delta)
        self._check_rows()

    def as_replace_one(self) -> "ApproxDP":
        """Convert to replace-one neighbours: (2 epsilon, (1 + e^epsilon) delta)."""
        if self.neighbours == "replace-one":
            return self
        delta = self.delta * _group_factor(self.epsilon, 2)
        return replace(self, epsilon=2 * self.epsilon, delta=delta, neighbours="replace-one")

    def per_row(self) -> "ApproxDP":
        """Return what mechanisms may spend for one row added or removed to keep this guarantee."""
        epsilon = self.epsilon / self.steps
        delta = self.delta / _group_factor(epsilon, self.steps)  # [P1]
        return replace(self, epsilon=epsilon, delta=delta, neighbours="add-remove", rows=1)

    def for_all_rows(self, spent: "ApproxDP") -> "ApproxDP":
        """Return the guarantee of this kind that follows from what mechanisms spent for one row.

        Parameters
        ----------
        spent
            What mechanisms spent, for one row added or removed.
        """
        delta = spent.delta * _group_factor(spent.epsilon, self.steps)  # [P1]
        epsilon = spent.epsilon * self.steps
        return replace(self, epsilon=epsilon, delta=delta, simulation=spent.simulation)


def _group_factor(epsilon: Fraction, steps: int) -> Fraction:
    """Return 1 + e^epsilon + ... + e^((steps - 1) epsilon), never rounded down."""
    if steps > 1 and epsilon * steps > _LARGEST_GROUP:
        raise InvalidBudget(
            setting("epsilon")
            + f" must be at most {_LARGEST_GROUP} for several rows: beyond that delta loses its "
            "meaning.",
            "Lower epsilon, or the rows a person may have.",
        )
    # Rounded up at every step: a delta that is understated would be a false promise.
    with localcontext(Context(prec=40, rounding=ROUND_CEILING)):
        exponent = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        factor = exponent.exp().next_plus() if steps > 1 else Decimal(1)  # [P2]
        power = total = Decimal(1)
        for _ in range(steps - 1):
            power *= factor
            total += power
        return Fraction(total)


@dataclass(frozen=True, repr=False)
class LocalDP(Budget):
    """Local privacy: any two values of one person give every report with odds within e^epsilon."""


@dataclass(frozen=True, repr=False)
class MetricDP(Budget):
    r"""Odds of any report differ by at most :math:`e^{\varepsilon d(x, x') + \text{slack}}`.

    Parameters
    ----------
    epsilon
        The amount, for one ``unit`` of distance.
    metric
        The distance: ``"euclidean"``, ``"manhattan"`` or ``"chebyshev"``, in scaled units.
    slack
        A constant added to epsilon times the distance, for rounding to a lattice.
    unit
        The unit of distance: ``"1"`` for plain numbers, ``"km"`` for a geographic box.
    scale
        What one unit is in each column: ``None`` for 1, ``"box"`` for half the box's sides, or
        numbers.

    Examples
    --------
    >>> from shoal.domain import Box
    >>> str(MetricDP(0.5).as_local(Box(x=(0, 3), y=(0, 4))))
    'LocalDP(epsilon=2.5)'
    """

    _amounts: ClassVar[tuple[str, ...]] = ("epsilon", "slack")
    metric: str = "euclidean"
    slack: Fraction = Fraction(0)
    unit: str = "1"
    scale: Scale = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.metric, str) or self.metric not in _NORMS:
            raise InvalidSetting(
                setting("metric") + f" must be one of {', '.join(_NORMS)}.", "Choose one of them."
            )
        slack = exact(self.slack)
        if slack is None or slack < 0:
            raise InvalidSetting(
                setting("slack") + " must be a number of 0 or more.", "Leave it out for none."
            )
        object.__setattr__(self, "slack", slack)
        object.__setattr__(self, "scale", _checked_scale(self.scale))

    def with_some_slack(self) -> Self:
        """Return this guarantee as a limit: one that names no slack allows 0.01."""
        return self if self.slack else replace(self, slack=Fraction(1, 100))

    def as_local(self, domain: _Domain) -> LocalDP:
        """Return the ``LocalDP`` this implies on a domain: epsilon times its diameter plus slack.

        Only of a mechanism that moves records into this domain or refuses them outside: ask a
        mechanism with bounds for its own, ``mechanism.as_local()``.

        Parameters
        ----------
        domain
            The public box that all records lie in.

        Raises
        ------
        InvalidDomain
            If the domain measures in another unit, or has another number of columns.
        """
        if domain.distance_unit != self.unit:
            raise InvalidDomain(
                f"The promise is per {self.unit}, the domain measures in {domain.distance_unit}.",
                "Use a domain of the same unit, e.g. Box.geo for kilometres.",
            )
        diameter = _NORMS[self.metric](self._scaled(domain))
        return LocalDP(self.epsilon * diameter + self.slack, simulation=self.simulation)

    def _scaled(self, domain: _Domain) -> list[Fraction]:
        """Return the sides of the domain in the units of this guarantee."""
        sides = [Fraction(float(side)) for side in domain.sides]
        if self.scale is None:
            return sides
        if self.scale == "box":
            return [Fraction(2)] * len(sides)
        ones = cast("tuple[float, ...]", self.scale)
        if len(ones) != len(sides):
            raise InvalidDomain(
                f"The promise has a scale for {quantity(len(ones), 'column')}, the domain has "
                f"{len(sides)}.",
                "Use the domain the promise was made for.",
            )
        return [side / Fraction(one) for side, one in zip(sides, ones, strict=True)]


def _checked_scale(scale: object) -> Scale:
    if scale is None or (isinstance(scale, str) and scale == "box"):
        return scale
    try:
        ones = tuple(float(one) for one in scale)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        ones = ()
    if not ones or not all(math.isfinite(one) and one > 0 for one in ones):
        raise InvalidSetting.of(
            "scale",
            "must be None, 'box' or a positive, finite number for each column",
            (10, 0.5),
            scale,
        )
    return ones


def _euclidean(sides: list[Fraction]) -> Fraction:
    """Return the diagonal, rounded up to a multiple of 2**-64 unless it is one."""
    # In whole numbers of 2**-128: a float's rounding could understate the diagonal.
    square = sum((side * side for side in sides), Fraction(0)) * 2**128
    root = math.isqrt(math.floor(square))
    return Fraction(root if root * root == square else root + 1, 2**64)


_NORMS: dict[str, Callable[[list[Fraction]], Fraction]] = {
    "euclidean": _euclidean,
    "manhattan": lambda sides: sum(sides, Fraction(0)),
    "chebyshev": max,
}


@dataclass(frozen=True, repr=False)
class KAnonymity(Guarantee):
    """Every combination of published quasi-identifiers is shared by at least ``k`` people.

    Not differential privacy: it spends no budget, and it adds to nothing.

    Parameters
    ----------
    k
        The least number of people who share a combination; from 2 up.
    person
        The column that identifies people; None if every row is another person.
    l
        The least number of sensitive values in a group (l-diversity), if promised.
    t
        The most a group's sensitive values may differ from the table's (t-closeness), if promised.
    """

    k: int
    person: str | None = None
    l: int | None = None  # noqa: E741 - the name of the literature
    t: float | None = None

    def __post_init__(self) -> None:
        k, l = whole_number(self.k), 2 if self.l is None else whole_number(self.l)  # noqa: E741
        if k is None or k < 2 or l is None or l < 2:
            raise InvalidSetting(
                "k and l must be whole numbers of 2 or more.", "E.g. KAnonymity(10, l=3)."
            )
        if self.t is not None and not 0 < self.t <= 1:
            raise InvalidSetting(
                setting("t") + " must be above 0 and at most 1.", "E.g. KAnonymity(10, t=0.2)."
            )
        object.__setattr__(self, "k", k)


@dataclass(frozen=True, repr=False)
class KMap(Guarantee):
    """At least ``k`` people of a population share every combination of published quasi-identifiers.

    Weaker than k-anonymity: it says nothing against someone who knows that a person is in the
    table. Not differential privacy: it spends no budget, and it adds to nothing.

    Parameters
    ----------
    k
        The least number of people of the population who share a combination; from 2 up.
    person
        The column that identifies people; None if every row is another person.
    """

    k: int
    person: str | None = None

    def __post_init__(self) -> None:
        k = whole_number(self.k)
        if k is None or k < 2:
            raise InvalidSetting("k must be a whole number of 2 or more.", "E.g. KMap(10).")
        object.__setattr__(self, "k", k)


@dataclass(frozen=True, repr=False)
class Unprotected(Guarantee):
    """No guarantee, with the reason why nothing is promised.

    Parameters
    ----------
    reason
        One sentence for readers of the ledger.
    """

    reason: str

    def __post_init__(self) -> None:
        if not isinstance(self.reason, str) or not self.reason.strip():
            raise InvalidSetting("Unprotected needs a reason.", "Say why nothing is promised.")


_KINDS: dict[str, type[Guarantee]] = {
    cls.__name__: cls
    for cls in (PureDP, ApproxDP, LocalDP, MetricDP, KAnonymity, KMap, Unprotected)
}


def guarantee_of(values: Mapping[str, Any]) -> Guarantee:
    """Return the guarantee that ``Guarantee.to_dict`` wrote.

    Parameters
    ----------
    values
        The written values.

    Raises
    ------
    InvalidSetting
        If they are no guarantee of a known kind.
    """
    rest = rename_old_keys(values) if isinstance(values, Mapping) else {}
    kind = _KINDS.get(str(rest.pop("kind", "")))
    if kind is None or not rest.keys() <= {f.name for f in fields(kind)}:
        raise InvalidSetting(
            "This is not a guarantee that shoal knows.", f"Known kinds: {', '.join(_KINDS)}."
        )
    return kind(**rest)
