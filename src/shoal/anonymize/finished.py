"""What a run leaves behind: what was found, written and counted again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.check import Achieved
from shoal.anonymize.frequency import Frequency
from shoal.anonymize.paths import Paths
from shoal.anonymize.policy import Policy
from shoal.anonymize.problem import Outcome
from shoal.anonymize.release import Release
from shoal.errors import NotKAnonymous

__all__ = ["Finished", "Pages", "Produced", "occurring", "refuse_broken"]


@dataclass(frozen=True, eq=False)
class Produced:
    """A release as written and counted again: what it keeps, and what became of each line."""

    achieved: Achieved
    release: Release = field(repr=False)
    starred: int


@dataclass(frozen=True, eq=False)
class Finished:
    """A finished run. ``frequency`` and ``outcome`` are the curator's, ``manifest`` is public."""

    policy: Policy
    paths: Paths
    frequency: Frequency = field(repr=False)  # it knows people by name
    outcome: Outcome = field(repr=False)
    produced: Produced
    manifest: dict[str, Any]


Pages = Callable[[Finished], Mapping[Path, str]]


def occurring(policy: Policy, labels: NDArray[np.int32]) -> dict[str, set[int]]:
    """For each quasi-identifier the places among these labels."""
    return {n: set(np.unique(labels[:, q]).tolist()) for q, n in enumerate(policy.names("quasi"))}


def refuse_broken(policy: Policy, achieved: Achieved, release: Release, rows: int) -> None:
    """Raise unless a written table keeps its promises and is the one that was announced."""
    wrong = achieved.broken(policy)
    if achieved.rows != rows:
        wrong.append(f"it has {achieved.rows} rows, not {rows}")
    if achieved.classes > release.classes().size:
        wrong.append(f"it has {achieved.classes} classes, not {release.classes().size}")
    if wrong:
        raise NotKAnonymous(
            f"The table as written does not keep the promise: {'; '.join(wrong)}.",
            "It was removed. Did the input change meanwhile? If not, please report this.",
        )
