"""Linkage: look up people with known quasi-identifiers in a released table."""

from collections import Counter
from dataclasses import asdict, dataclass
from itertools import compress
from typing import Any

import numpy as np

from shoal.anonymize import Policy
from shoal.anonymize.risk import Risk
from shoal.arrays import Integers
from shoal.audit.tables._matching import Matcher, text_combinations
from shoal.figures import Figure, class_sizes
from shoal.privacy import KAnonymity, Protected, Public, Result


@dataclass(frozen=True)
class Links:
    """How many records may belong to each person of the second file.

    Attributes
    ----------
    people
        The people of the file.
    matched
        Those whom at least one record fits.
    unique
        Those whom exactly one record fits.
    expected
        People rightly linked, on average, by picking one of the fitting records, if everyone of the
        file with a fitting record is in the table.
    sizes
        (records, people): how many people have so many fitting records, ascending, 0 left out.
    """

    people: int
    matched: int
    unique: int
    expected: float
    sizes: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, candidates: Integers) -> "Links":
        """Compute links from the number of fitting records of each person.

        Parameters
        ----------
        candidates
            The number of fitting records.

        Examples
        --------
        >>> links = Links.of(np.array([0, 1, 4, 4]))
        >>> links.matched, links.unique, links.expected
        (3, 1, 1.5)
        """
        fitting = candidates[candidates > 0]
        sizes = zip(*(part.tolist() for part in np.unique(fitting, return_counts=True)),
                    strict=True)  # fmt: skip
        expected = float((1 / fitting).sum())
        unique = int((fitting == 1).sum())
        return cls(candidates.size, fitting.size, unique, expected, tuple(sizes))

    def __str__(self) -> str:
        share = f"{self.expected / self.people:.1%}" if self.people else "none"
        return (
            f"{self.matched:,} of {self.people:,} people have a matching record, {self.unique:,} "
            f"exactly one; {self.expected:,.1f} links ({share}) would be right"
        )


@dataclass(frozen=True)
class Linkage:
    """What a second file finds in the released table, and would have found in the raw one.

    For the holder of the rows. ``float()`` of it is the share of people rightly linked.

    Attributes
    ----------
    released
        Links into the released table.
    raw
        Links into the raw table.
    risk
        The chances that the classes of the released table leave to someone who knows that a person
        is in it.
    k
        The k of the promise.
    """

    released: Links
    raw: Links
    risk: Risk
    k: int

    def __float__(self) -> float:
        return self.released.expected / max(self.released.people, 1)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        links = {name: asdict(getattr(self, name)) for name in ("released", "raw")}
        return {"kind": "Linkage", "k": self.k, **links, "risk": asdict(self.risk)}

    def to_result(self) -> Result:
        """Return the finding for a report, with every number protected."""
        values = self.to_dict()
        protected = {name: Protected(values[name]) for name in ("released", "raw", "risk")}
        return Result("linkage", KAnonymity(self.k), {"k": Public(self.k)}, protected=protected)

    def plot(self, table: str = "released") -> Figure:
        """Draw how many fitting records people have.

        Parameters
        ----------
        table
            ``"released"`` or ``"raw"``.
        """
        links: Links = getattr(self, table)
        # A class counts for all its records; here it counts for those in the file who fall in it.
        weighed = [(size, round(1e6 * people / size)) for size, people in links.sizes]
        title = f"How many records match a person of the file, {table} table"
        return class_sizes(weighed, k=self.k, title=title)

    def __str__(self) -> str:
        return f"released table: {self.released}\nraw table: {self.raw}"


def linkage(released: Any, second: Any, *, raw: Any, policy: Policy) -> Linkage:
    """Look up the people of a second file in a released table.

    Parameters
    ----------
    released
        The table that was handed over, as it was written.
    second
        The adversary's file: one line a person, with true quasi-identifiers in columns of the same
        names. A missing value fits every label.
    raw
        The table before its release, to compare with.
    policy
        Under which it was released (``TopDownSpecialization`` keeps it as ``policy_``); hierarchies
        are public.

    Examples
    --------
    >>> from shoal.anonymize import TopDownSpecialization
    >>> raw = {"age": [21, 22, 23, 64, 65, 66], "visits": [1, 2, 1, 2, 1, 2]}
    >>> ages = {"type": "int", "domain": (0, 99), "hierarchy": {"kind": "interval", "width": 10}}
    >>> model = TopDownSpecialization(k=3, hierarchies={"age": ages}, other=["visits"])
    >>> released = model.fit_transform(raw)
    >>> file = {"name": ["Ada", "Ben"], "age": [22, 47]}
    >>> print(linkage(released, file, raw=raw, policy=model.policy_))
    released table: 1 of 2 people have a matching record, 0 exactly one; 0.3 links (16.7%) would be
    right
    raw table: 1 of 2 people have a matching record, 1 exactly one; 1.0 links (50.0%) would be right
    """
    matcher = Matcher.of(policy, raw)
    classes, codes = matcher.classes(released), matcher.codes(second)
    candidates = np.zeros(len(codes), dtype=np.int64)
    for people, under in matcher.covering(classes, codes):
        candidates[people] = under @ classes.rows
    risk = Risk.of(classes.sizes, policy.privacy.k)
    return Linkage(
        Links.of(candidates), _links_into_raw(second, raw, matcher.names), risk, policy.privacy.k
    )


def _links_into_raw(second: Any, raw: Any, names: list[str]) -> Links:
    """Count records of the raw table that agree in every known quasi-identifier of a person."""
    records, people = text_combinations(raw, names), text_combinations(second, names)
    known = [tuple(value is not None for value in person) for person in people]
    fitting = {which: Counter(tuple(compress(record, which)) for record in records)
               for which in set(known)}  # fmt: skip
    fits = [fitting[which][tuple(compress(person, which))]
             for person, which in zip(people, known, strict=True)]  # fmt: skip
    return Links.of(np.array(fits, dtype=np.int64))
