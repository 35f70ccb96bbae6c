"""The rules of a policy: what each model asks for, and how cells of a column are changed."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

Name = Annotated[StrictStr, Field(min_length=1)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Positive = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]


class PolicyPart(BaseModel):
    """Base of the parts of a policy, which refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LRule(PolicyPart):
    """An l-diversity rule of a sensitive column.

    Parameters
    ----------
    kind
        How diversity is measured: see ``shoal.anonymize.search_problem.Diversity``.
    value
        The l of the rule.
    c
        The c of a recursive rule.
    """

    kind: Literal["distinct", "entropy", "recursive"] = "distinct"
    value: Number
    c: Number = 3.0


class TRule(PolicyPart):
    """A t-closeness rule of a sensitive column.

    Parameters
    ----------
    kind
        How distances are measured: see ``shoal.anonymize.search_problem.Closeness``.
    value
        The t of the rule.
    """

    kind: Literal["equal", "ordered", "hierarchical"] = "equal"
    value: Number


class TransformSpec(PolicyPart):
    """How the cells of a column of role ``other`` are changed before they are published.

    Parameters
    ----------
    top
        Larger numbers are published as this one.
    bottom
        Smaller numbers are published as this one.
    round
        Numbers are rounded to multiples of this.
    rare
        Values that fewer published rows than this have are left out.
    """

    top: Number | None = None
    bottom: Number | None = None
    round: Positive | None = None
    rare: Annotated[StrictInt, Field(ge=2)] | None = None

    @property
    def changes_numbers(self) -> bool:
        """Whether cells are changed as numbers."""
        return not (self.top is None and self.bottom is None and self.round is None)

    @property
    def makes_whole(self) -> bool:
        """Whether any number becomes whole: it is rounded to a whole step, between whole bounds."""
        return self.round is not None and not self.fractional_keys

    @property
    def fractional_keys(self) -> list[str]:
        """Those of ``top``, ``bottom`` and ``round`` that are not whole numbers."""
        return [key for key in ("top", "bottom", "round") if (getattr(self, key) or 0) % 1]


class PopulationSpec(PolicyPart):
    """The people a table was drawn from: a table of them, or their number.

    Parameters
    ----------
    path
        A table with one row a person and the quasi-identifiers' columns.
    size
        The number of people, if there is no such table; the table is a random part of them.
    """

    path: Name | None = None
    size: Annotated[StrictInt, Field(ge=1)] | None = None


class KMapRule(PolicyPart):
    """The rule that k people of the population share each combination.

    Parameters
    ----------
    k
        The least number of people.
    significance
        With the population's size alone, the chance to err about a combination of fewer people.
    """

    k: Annotated[StrictInt, Field(ge=2)]
    significance: Annotated[float, Field(strict=True, gt=0, lt=1)] = 0.01


class PresenceRule(PolicyPart):
    """The rule on the chance that someone of the population is in the table.

    Parameters
    ----------
    most
        The greatest chance.
    least
        The least chance.
    """

    most: Annotated[float, Field(strict=True, gt=0, le=1)]
    least: Annotated[float, Field(strict=True, ge=0, le=1)] = 0.0


class UniquenessRule(PolicyPart):
    """The rule on the share of people who are unique.

    Parameters
    ----------
    most
        The greatest share.
    within
        Whether they are unique in the table or, by estimate, in the population.
    """

    most: Annotated[float, Field(strict=True, ge=0, lt=1)]
    within: Literal["sample", "population"] = "population"
