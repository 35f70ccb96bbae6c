"""Reconstruction: guess people's quasi-identifiers from the labels they are published under."""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize import Policy
from shoal.anonymize.taxonomy_arrays import Tree
from shoal.audit.tables._attributes import curator_result
from shoal.audit.tables._matching import Codes, LabelCombinations, Matcher
from shoal.errors import TooFewRows
from shoal.figures import Figure, detail_bars
from shoal.privacy import Result


@dataclass(frozen=True)
class Reconstruction:
    """How often a person's own quasi-identifiers are guessed down to a leaf, by column.

    Attributes
    ----------
    with_labels
        With the label of a person: the accuracy of the most common value below it.
    evenly
        With the label of a person: the accuracy of a value below it drawn evenly.
    without
        Without the table: the accuracy of the most common value of all.
    whole
        The share of people all of whose values are guessed with the labels.
    people
        The number of people looked for.
    k
        The k of the promise.
    """

    with_labels: dict[str, float]
    evenly: dict[str, float]
    without: dict[str, float]
    whole: float
    people: int
    k: int

    def __float__(self) -> float:
        return self.whole

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"kind": "Reconstruction", **asdict(self)}

    def to_result(self) -> Result:
        """Return the finding for a report, with every number protected."""
        return curator_result("reconstruction", self.to_dict(), self.k)

    def plot(self) -> Figure:
        """Draw, for each column, how many are guessed with its label and without the table."""
        shares = {}
        for name, share in self.with_labels.items():
            shares[f"{name}, by label"] = share
            shares[f"{name}, without"] = self.without[name]
        title = f"Guessing values of {self.people:,} people"
        return detail_bars(shares, title=title, axis="Guessed right")

    def __str__(self) -> str:
        lines = [
            f"{name!r}: {share:.1%} guessed from its label, {self.evenly[name]:.1%} evenly below "
            f"it, {self.without[name]:.1%} without the table"
            for name, share in self.with_labels.items()
        ]
        return "\n".join([*lines, f"all of them: {self.whole:.1%} of {self.people:,} people"])


def reconstruction(released: Any, raw: Any, *, policy: Policy) -> Reconstruction:
    """Guess everyone's true quasi-identifiers from the labels they are published under.

    This is a baseline: an adversary who knows how common each value is guesses the likeliest below
    a label.

    Parameters
    ----------
    released
        The table as it was written.
    raw
        The table as it was before.
    policy
        The policy it was released under.

    Examples
    --------
    >>> from shoal.anonymize import TopDownSpecialization
    >>> raw = {"age": [21, 21, 21, 25, 64, 64, 66, 66], "visits": [1] * 8}
    >>> ages = {"type": "int", "domain": (0, 99), "hierarchy": {"kind": "binary"}}
    >>> model = TopDownSpecialization(k=4, hierarchies={"age": ages}, other=["visits"])
    >>> released = model.fit_transform(raw)
    >>> found = reconstruction(released, raw, policy=model.policy_)
    >>> found.with_labels["age"], found.without["age"]
    (0.625, 0.375)
    """
    matcher = Matcher.of(policy, raw)
    codes = matcher.codes(raw)
    codes = codes[(codes >= 0).all(axis=1)]
    if not len(codes):
        raise TooFewRows(
            "Nobody has all quasi-identifiers.", "Give the original table, before its release."
        )
    labels = _labels_of(matcher, matcher.classes(released), codes)
    guesses = {
        name: _guess_column(tree, codes[:, q], labels[:, q])
        for q, (name, tree) in enumerate(zip(matcher.names, matcher.trees, strict=True))
    }
    return Reconstruction(
        with_labels={name: float(guess.hit.mean()) for name, guess in guesses.items()},
        evenly={name: guess.evenly for name, guess in guesses.items()},
        without={name: guess.without for name, guess in guesses.items()},
        whole=float(np.logical_and.reduce([guess.hit for guess in guesses.values()]).mean()),
        people=len(codes),
        k=policy.privacy.k,
    )


class _Guess(NamedTuple):
    """The guesses of one column: who is guessed right by labels, and how many without them."""

    hit: NDArray[np.bool_]
    evenly: float
    without: float


def _guess_column(tree: Tree, codes: Codes, labels: Codes) -> _Guess:
    often = np.bincount(codes, minlength=int(tree.high.max()))
    ends = zip(tree.low, tree.high, strict=True)
    likeliest = np.array([low + int(np.argmax(often[low:high])) for low, high in ends])
    evenly = float((1 / (tree.high - tree.low))[labels].mean())
    return _Guess(likeliest[labels] == codes, evenly, float(often.max() / codes.size))


def _labels_of(matcher: Matcher, classes: LabelCombinations, codes: Codes) -> Codes:
    """Return the labels of the largest class each person may be in; roots if none fits."""
    labels = np.zeros_like(codes)
    for people, under in matcher.covering(classes, codes):
        rows = np.where(under, classes.rows, 0)
        largest, fits = rows.argmax(axis=1), rows.max(axis=1, keepdims=True) > 0
        labels[people] = np.where(fits, classes.labels[largest], 0)
    return labels
