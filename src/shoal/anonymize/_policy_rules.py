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
        How diversity is measured: see ``shoal.anonymize.problem.Diversity``.
    """

    kind: Literal["distinct", "entropy", "recursive"] = "distinct"
    value: Number
    c: Number = 3.0


class TRule(PolicyPart):
    """A t-closeness rule of a sensitive column.

    Parameters
    ----------
    kind
        How distances are measured: see ``shoal.anonymize.problem.Closeness``.
    """

    kind: Literal["equal", "ordered", "hierarchical"] = "equal"
    value: Number


class TransformSpec(PolicyPart):
    """How the cells of a column of role ``other`` are changed before they are published."""

    top: Number | None = None
    bottom: Number | None = None
    round: Positive | None = None
    rare: Annotated[StrictInt, Field(ge=2)] | None = None

    @property
    def changes_numbers(self) -> bool:
        """Whether cells are changed as numbers."""
        return not (self.top is None and self.bottom is None and self.round is None)

    @property
    def is_whole(self) -> bool:
        """Whether bounds and step are whole numbers."""
        return all(x is None or x % 1 == 0 for x in (self.top, self.bottom, self.round))


class PopulationSpec(PolicyPart):
    """The people a table was drawn from: a table of them, or their number.

    Parameters
    ----------
    size
        The number of people, if there is no such table; the table is a random part of them.
    """

    path: Name | None = None
    size: Annotated[StrictInt, Field(ge=1)] | None = None


class KMapRule(PolicyPart):
    """The rule that k people of the population share each combination.

    Parameters
    ----------
    significance
        With the population's size alone, the chance to err about a combination of fewer people.
    """

    k: Annotated[StrictInt, Field(ge=2)]
    significance: Annotated[float, Field(strict=True, gt=0, lt=1)] = 0.01


class PresenceRule(PolicyPart):
    """The rule on the chance that someone of the population is in the table."""

    most: Annotated[float, Field(strict=True, gt=0, le=1)]
    least: Annotated[float, Field(strict=True, ge=0, le=1)] = 0.0


class UniquenessRule(PolicyPart):
    """The rule on the share of people who are unique."""

    most: Annotated[float, Field(strict=True, ge=0, lt=1)]
    within: Literal["sample", "population"] = "population"
