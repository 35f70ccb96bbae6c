"""The manifest: what was promised and reached, for everyone to read; nothing of any one row."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shoal.anonymize.check import Achieved
from shoal.anonymize.codec import Codec
from shoal.anonymize.hierarchies import Hierarchy
from shoal.anonymize.mapping import public_cut
from shoal.anonymize.policy import Policy
from shoal.anonymize.problem import KEPT, Cut, Outcome
from shoal.anonymize.scores import resolved
from shoal.documents import json_of
from shoal.errors import InvalidPolicy

__all__ = [
    "FORMAT",
    "AnyManifest",
    "cut_of",
    "manifest_of",
    "no_kept_cut",
    "policy_hash",
    "read_manifest",
]

FORMAT = "shoal.anonymize/1"
AnyManifest = dict[str, Any] | str | Path


def manifest_of(
    policy: Policy,
    codec: Codec,
    outcome: Outcome,
    achieved: Achieved,
    occurring: dict[str, set[int]],
    *,
    starred: int,
    table_sha256: str,
    people: Mapping[str, str | None],
) -> dict[str, Any]:
    """What may be published about a release, as JSON values.

    No value of the table, no extreme, nothing of suppressed rows but how many there are: all of it
    follows from the policy, the released rows and that number. Which of several searches won, and
    how many the table's size allowed, is the curator's. A cut is given as labels; local recoding
    has none.

    Parameters
    ----------
    policy, codec, outcome, achieved
        What was asked, found, and counted in the written file.
    occurring
        For each column the places of the labels that are in the release.
    starred
        How many suppressed rows were published as rows of ``*``.
    table_sha256
        Of the written file.
    people
        Why its people are new to releases under this cut, and which register holds them.
    """
    search = policy.search
    return {
        "format": FORMAT,
        "shoal": version("shoal"),
        "policy_sha256": policy_hash(policy),
        "table_sha256": table_sha256,
        "k": {"asked": policy.privacy.k, "reached": achieved.k},
        "l": _rules(policy, "l", achieved.l),
        "t": _rules(policy, "t", achieved.t),
        "entity": policy.privacy.entity,
        "people": dict(people),
        "nulls": policy.privacy.nulls,
        "rows": achieved.rows,
        "classes": achieved.classes,
        "suppression": {
            "allowed": policy.privacy.suppression,
            "rows": outcome.metrics.suppressed,
            "starred": starred,
        },
        "recoding": search.recoding,
        "score": _asked(policy, outcome),
        "seed": search.seed,
        "restarts": search.restarts,
        "cut": None if outcome.cut is None else public_cut(codec, occurring),
        "learnt": [name for name, tree in codec.hierarchies.items() if tree.learnt],
        "metrics": asdict(outcome.metrics),
        "notes": [*outcome.notes, *_notes(codec)],
    }


def policy_hash(policy: Policy) -> str:
    """A hash of what a policy says, however it was written down."""
    content = json.dumps(policy.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def read_manifest(path: str | Path) -> dict[str, Any]:
    """A manifest from its file."""
    try:
        content = json_of(Path(path).expanduser().read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidPolicy(f"{path} cannot be read: {error.strerror}.", "Check it.") from None
    except ValueError:
        content = None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidPolicy(f"{path} is no manifest of a release.", f"Its format is {FORMAT}.")
    return content


def cut_of(kept: Any, codec: Codec) -> Cut:
    """A kept cut, given as labels, as nodes of these hierarchies.

    A learnt hierarchy may lack nodes of the cut, since the new rows do not have them; a declared
    one must have all. Nulls have a leaf of their own unless the root is on the cut.
    """
    if not _is_cut(kept) or list(kept) != list(codec.hierarchies):
        raise no_kept_cut()
    return Cut(tuple(_places(name, kept[name], tree) for name, tree in codec.hierarchies.items()))


def no_kept_cut() -> InvalidPolicy:
    """The error that says that a manifest has no cut to apply."""
    return InvalidPolicy(
        "There is no kept cut for these quasi-identifiers.",
        "Keep the manifest of a release with global recoding under the same policy.",
    )


def _is_cut(kept: Any) -> bool:
    """Whether these are labels by column; a file may hold anything."""
    if not isinstance(kept, dict) or not all(isinstance(found, list) for found in kept.values()):
        return False
    return all(isinstance(label, str) for found in kept.values() for label in found)


def _places(name: str, labels: list[str], tree: Hierarchy) -> tuple[int, ...]:
    place = {node.label: at for at, node in enumerate(tree.taxonomy.nodes)}
    unknown = [label for label in labels if label not in place]
    if unknown and not tree.learnt:
        raise InvalidPolicy(
            f"{len(unknown)} labels of the kept cut are not in the hierarchy of {name!r}.",
            "Use the hierarchies of the first release.",
        )
    found = {place[label] for label in labels if label in place}
    if tree.null is not None and 0 not in found:
        found.add(len(tree.taxonomy.nodes) - 1)
    return tuple(sorted(found))


def _asked(policy: Policy, outcome: Outcome) -> str:
    """The score or the way of recoding that was asked for, not the one that won."""
    if outcome.method == KEPT:
        return KEPT
    if policy.search.recoding == "local":
        return f"local: {policy.search.local}"
    return resolved(policy.search.score, policy.privacy.suppression)


def _rules(policy: Policy, letter: str, reached: dict[str, float]) -> dict[str, Any]:
    return {
        name: {**getattr(policy.attributes[name], letter).model_dump(), "reached": value}
        for name, value in reached.items()
    }


def _notes(codec: Codec) -> list[str]:
    return [f"{name}: {note}" for name, tree in codec.hierarchies.items() for note in tree.notes]
