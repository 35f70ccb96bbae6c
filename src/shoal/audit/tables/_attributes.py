"""Attribute inference: what a k-anonymous table reveals about people's other columns.

A class whose members all share a sensitive value reveals it for each of them, however many they are
(homogeneity). What counts is what the table adds: anyone can guess the most common value, or learn
from other people's rows how values are related.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.anonymize import Policy
from shoal.arrays import Floats, Integers
from shoal.audit.tables._matching import Codes, LabelCombinations, Matcher, text_combinations
from shoal.errors import TooFewRows, UnknownColumn
from shoal.figures import Figure, detail_bars
from shoal.privacy import KAnonymity, Protected, Public, Result
from shoal.randomness import Randomness, Seed

_SURE = 0.9  # share of a class with one value, from which a guess counts as sure
_FOLDS = 5


@dataclass(frozen=True)
class AttributeInference:
    """How often a sensitive value is guessed; ``float()`` of it is what the table adds.

    Attributes
    ----------
    accuracy
        Share of people whose value is the most common one of the records that fit them.
    overall
        Without the table: the accuracy of guessing the most common value for everyone.
    others
        Without the table: the accuracy of a forest that learnt from the true rows of *other*
        people, which no protection of a person's own row prevents.
    homogeneous
        The share of people in classes with one value only.
    sure
        The share of people in classes with one value for at least nine in ten.
    wrong_when_sure
        How often such a guess is wrong.
    people
        The number of people looked for.
    classes
        The classes of the table.
    column
        The column that is guessed.
    k
        The k of the promise.
    """

    accuracy: float
    overall: float
    others: float
    homogeneous: float
    sure: float
    wrong_when_sure: float
    people: int
    classes: int
    column: str
    k: int

    @property
    def added(self) -> float:
        """The accuracy beyond the better of both guesses without the table."""
        return self.accuracy - max(self.overall, self.others)

    def __float__(self) -> float:
        return self.added

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"kind": "AttributeInference", **asdict(self), "added": self.added}

    def to_result(self) -> Result:
        """Return the finding for a report, with every number protected."""
        return curator_result("attribute inference", self.to_dict(), self.k)

    def plot(self) -> Figure:
        """Draw how many are guessed, with the table and without it."""
        shares = {
            "from the table": self.accuracy,
            "from others' rows": self.others,
            "the most common value": self.overall,
        }
        title = f"Guessing {self.column!r} of {self.people:,} people"
        return detail_bars(shares, title=title, axis="Guessed right")

    def __str__(self) -> str:
        return (
            f"{self.column!r} of {self.people:,} people: {self.accuracy:.1%} guessed from the "
            f"table\nwithout it: {self.overall:.1%} by the most common value, {self.others:.1%} "
            f"from other people's rows; the table adds {self.added:+.1%}\n"
            f"{self.homogeneous:.1%} are in classes with one value only; {self.sure:.1%} are "
            f"guessed with nine in ten or more, of which {self.wrong_when_sure:.1%} wrongly"
        )


def attribute_inference(
    released: Any, raw: Any, column: str, *, policy: Policy, random_state: Seed = 0
) -> AttributeInference:
    """Guess a sensitive column of everyone in a table from its release.

    Parameters
    ----------
    released
        The table as it was written.
    raw
        The table as it was before.
    column
        What is guessed. The adversary knows everyone's quasi-identifiers, and that they are in.
    policy
        The policy it was released under.
    random_state
        The seed of the forest and its folds.

    Examples
    --------
    >>> from shoal.anonymize import TopDownSpecialization
    >>> raw = {"age": list(range(20, 40)) * 3, "ill": (["yes"] * 10 + ["no"] * 10) * 3}
    >>> ages = {"type": "int", "domain": (0, 99), "hierarchy": {"kind": "interval", "width": 10}}
    >>> model = TopDownSpecialization(k=3, hierarchies={"age": ages}, sensitive=["ill"])
    >>> released = model.fit_transform(raw)
    >>> found = attribute_inference(released, raw, "ill", policy=model.policy_)
    >>> found.accuracy, found.overall, found.homogeneous
    (1.0, 0.5, 1.0)
    """
    if column in policy.names("quasi"):
        raise UnknownColumn(
            f"{column!r} is a quasi-identifier, which the adversary knows.",
            "Name a column that is published as it is.",
        )
    matcher = Matcher.of(policy, raw)
    codes, truth, values = _complete_people(matcher, raw, column)
    classes = matcher.classes(released)
    counts = _counts(classes, _value_numbers(released, column, values), len(values))
    if not counts.sum():
        raise TooFewRows(
            f"The released table has no row with a value of {column!r} that the original table "
            "has.",
            "Give the released table and the table it was made from.",
        )
    guess, share = _guess_by_class(matcher, classes, counts, codes)
    right, sure = guess == truth, share >= _SURE
    return AttributeInference(
        accuracy=float(right.mean()),
        overall=float(np.bincount(truth).max() / truth.size),
        others=_accuracy_from_others(codes, truth, random_state),
        homogeneous=float((share == 1).mean()),
        sure=float(sure.mean()),
        wrong_when_sure=float((~right[sure]).mean()) if sure.any() else 0.0,
        people=truth.size,
        classes=len(classes.rows),
        column=column,
        k=policy.privacy.k,
    )


def _complete_people(
    matcher: Matcher, raw: Any, column: str
) -> tuple[Codes, Integers, dict[str | None, int]]:
    """Return leaves and true values of everyone without missing values, and the values' numbers."""
    codes, texts = matcher.codes(raw), [line[0] for line in text_combinations(raw, [column])]
    whole = (codes >= 0).all(axis=1) & np.array([text is not None for text in texts])
    known = sorted({text for text in texts if text is not None})
    values: dict[str | None, int] = {text: i for i, text in enumerate(known)}
    truth = np.array([values.get(text, -1) for text in texts], dtype=np.int64)
    if not whole.any():
        raise TooFewRows(
            "Nobody has all quasi-identifiers and a sensitive value.",
            "Give the original table, before its release.",
        )
    return codes[whole], truth[whole], values


def _value_numbers(released: Any, column: str, values: dict[str | None, int]) -> Integers:
    texts = [line[0] for line in text_combinations(released, [column])]
    return np.array([values.get(text, -1) for text in texts], dtype=np.int64)


def _counts(classes: LabelCombinations, numbers: Integers, size: int) -> Integers:
    """Count how often each value occurs in each class: (classes, values)."""
    known = numbers >= 0
    cells = classes.of_line[known] * size + numbers[known]
    counts = np.bincount(cells, minlength=len(classes.rows) * size)
    return counts.reshape(len(classes.rows), size).astype(np.int64)


def _guess_by_class(
    matcher: Matcher, classes: LabelCombinations, counts: Integers, codes: Codes
) -> tuple[Integers, Floats]:
    """Return the most common value of the records that fit each person, and its share.

    People whom no record fits are guessed by the whole table.
    """
    guess, share = np.empty(len(codes), dtype=np.int64), np.empty(len(codes))
    for people, under in matcher.covering(classes, codes):
        frequencies = under.astype(np.int64) @ counts
        frequencies[frequencies.sum(axis=1) == 0] = counts.sum(axis=0)
        guess[people] = frequencies.argmax(axis=1)
        share[people] = frequencies.max(axis=1) / frequencies.sum(axis=1)
    return guess, share


def _accuracy_from_others(codes: Codes, truth: Integers, random_state: Seed) -> float:
    """Return how often a forest that learnt from other people's true rows guesses right."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import KFold

    rng, right = Randomness(random_state), 0
    if len(truth) < _FOLDS:
        return float(np.bincount(truth).max() / truth.size)
    folds = KFold(_FOLDS, shuffle=True, random_state=rng.seed())
    for learn, test in folds.split(codes):
        forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=rng.seed())
        right += int((forest.fit(codes[learn], truth[learn]).predict(codes[test])
                      == truth[test]).sum())  # fmt: skip
    return right / len(truth)


def curator_result(kind: str, values: dict[str, Any], k: int) -> Result:
    """Return a finding about a k-anonymous table for a report, with every number protected."""
    protected = {n: Protected(v) for n, v in values.items() if n not in ("kind", "k", "column")}
    settings = {n: Public(v) for n, v in values.items() if n in ("k", "column")}
    return Result(kind, KAnonymity(k), settings, protected=protected)
