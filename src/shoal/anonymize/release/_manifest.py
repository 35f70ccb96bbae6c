"""The manifest: public facts about a release, with nothing of any single row.

The mapping lists the label of each value of the declared hierarchies.
"""

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize._policy import Policy
from shoal.anonymize.codec import Codec, published_names
from shoal.anonymize.hierarchies import NULL, Hierarchy
from shoal.anonymize.hierarchies._rules import label_intervals
from shoal.anonymize.risk._recount import AchievedPrivacy
from shoal.anonymize.search._greedy_splits import resolve_score
from shoal.anonymize.search_problem import KEPT_CUT, Cut, SearchOutcome
from shoal.anonymize.taxonomy_arrays import Tree
from shoal.documents import parse_json, with_digest
from shoal.errors import InvalidPolicy, quantity

FORMAT = "shoal.anonymize/1"
LATER_KEYS = {
    "population", "k_map", "presence", "average_risk", "uniqueness", "publish", "transform",
    "distances",
}  # fmt: skip
AnyManifest = dict[str, Any] | str | Path


def manifest_of(
    policy: Policy,
    codec: Codec,
    outcome: SearchOutcome,
    achieved: AchievedPrivacy,
    occurring: dict[str, set[int]],
    *,
    starred: int,
    table_sha256: str,
    people: Mapping[str, str | None],
) -> dict[str, Any]:
    """Build what may be published about a release, as JSON values.

    All of it follows from the policy, the released rows and the number of suppressed ones: no value
    of the table, no extreme. Which of several searches won, and how many were made, is for the
    curator only. A cut is given as labels; local recoding has none.

    Parameters
    ----------
    starred
        How many suppressed rows were published as rows of ``*``.
    people
        Why the people are new to releases under this cut, and which register holds them.
    """
    search, is_global = policy.search, outcome.cut is not None
    mapping = mapping_text(policy, codec, occurring) if is_global else None
    content = {
        "format": FORMAT,
        "shoal": version("shoal"),
        "policy_sha256": policy_hash(policy),
        "table_sha256": table_sha256,
        "mapping_sha256": None if mapping is None else _sha256_of(mapping),
        "k": {"asked": policy.privacy.k, "reached": achieved.k},
        "l": _rules(policy, "l", achieved.l),
        "t": _rules(policy, "t", achieved.t),
        **_models(policy, achieved.models),
        **_changed(policy),
        "person": policy.privacy.person,
        "people": dict(people),
        "nulls": policy.privacy.nulls,
        "recount": _recount_facts(policy),
        "rows": achieved.rows,
        "classes": achieved.classes,
        "suppression": {
            "allowed": policy.privacy.suppression,
            "rows": outcome.metrics.suppressed,
            "starred": starred,
        },
        "recoding": search.recoding,
        "score": _score_name(policy, outcome),
        "seed": search.seed,
        "restarts": search.restarts,
        "cut": public_cut(codec, occurring) if is_global else None,
        "learnt": [name for name, tree in codec.hierarchies.items() if tree.learnt],
        "metrics": asdict(outcome.metrics),
        "notes": [*outcome.notes, *_notes(codec)],
    }
    return with_digest(content)


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """Return a manifest as its file has it."""
    return json.dumps(manifest, indent=1) + "\n"


def published_files(manifest: Mapping[str, Any], paths: Any) -> list[dict[str, str]]:
    """Return the name and checksum of each published file besides the page, the table first.

    Parameters
    ----------
    paths
        The paths of the table, the mapping and the manifest.
    """
    digests = {
        paths.table: manifest["table_sha256"],
        paths.mapping: manifest["mapping_sha256"],
        paths.manifest: _sha256_of(manifest_text(manifest)),
    }
    return [{"name": path.name, "sha256": each} for path, each in digests.items() if each]


def _sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def policy_hash(policy: Policy) -> str:
    """Return a hash of what a policy says, however it was written."""
    content = policy.model_dump(mode="json")
    parts = [content["privacy"], content["output"], *content["attributes"].values()]
    # The hash of a policy stays what it was when the key was `entity`.
    content["privacy"]["entity"] = content["privacy"].pop("person")
    for part in parts:  # keys that came later do not change the hash of a policy without them
        for key in LATER_KEYS & {key for key, value in part.items() if value in (None, "label")}:
            del part[key]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_manifest(path: str | Path) -> dict[str, Any]:
    """Read a manifest from its file.

    Raises
    ------
    InvalidPolicy
        If it is none.
    """
    try:
        content = parse_json(Path(path).expanduser().read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidPolicy(f"{path} cannot be read: {error.strerror}.", "Check it.") from None
    except ValueError:
        content = None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidPolicy(f"{path} is not the manifest of a release.", f"Its format is {FORMAT}.")
    return content


def cut_of(labels: Any, codec: Codec) -> Cut:
    """Convert the cut of an earlier release, given as labels, to nodes of these hierarchies.

    A learnt hierarchy may lack nodes of the cut, if the new rows do not have their values; a
    declared one must have all. Nulls have a leaf of their own unless the root is on the cut.
    """
    if not _is_cut(labels) or list(labels) != list(codec.hierarchies):
        raise missing_cut_error()
    return Cut(tuple(_places(name, labels[name], tree) for name, tree in codec.hierarchies.items()))


def missing_cut_error() -> InvalidPolicy:
    """Return the error for a manifest that has no cut to apply."""
    return InvalidPolicy(
        "The manifest holds no cut for these quasi-identifiers.",
        "Use the manifest of a release with global recoding under the same policy.",
    )


def _is_cut(labels: Any) -> bool:
    """Return whether these are labels by column; a file may hold anything."""
    if not isinstance(labels, dict) or not all(
        isinstance(column, list) for column in labels.values()
    ):
        return False
    return all(isinstance(label, str) for column in labels.values() for label in column)


def _places(name: str, labels: list[str], tree: Hierarchy) -> tuple[int, ...]:
    place = {node.label: at for at, node in enumerate(tree.taxonomy.nodes)}
    # Manifests once had `<=1` and `>=6` for the ends of a domain from 1 to 6.
    labels = [label if label in place else re.sub("^[<>]=", "", label) for label in labels]
    unknown = [label for label in labels if label not in place]
    if unknown and not tree.learnt:
        raise InvalidPolicy(
            f"The hierarchy of {name!r} lacks {quantity(len(unknown), 'label')} of an earlier cut.",
            "Use the hierarchies of the first release.",
        )
    places = {place[label] for label in labels if label in place}
    if tree.null is not None and 0 not in places:
        places.add(len(tree.taxonomy.nodes) - 1)
    return tuple(sorted(places))


def _score_name(policy: Policy, outcome: SearchOutcome) -> str:
    """Return the score or kind of recoding that was asked for, not the one that won."""
    if outcome.method == KEPT_CUT:
        return KEPT_CUT
    if policy.search.recoding == "local":
        return f"local: {policy.search.local}"
    return resolve_score(policy.search.score, policy.privacy.suppression)


def _rules(policy: Policy, letter: str, reached: dict[str, float]) -> dict[str, Any]:
    return {
        name: {**getattr(policy.attributes[name], letter).model_dump(), "reached": value}
        for name, value in reached.items()
    }


def _models(policy: Policy, reached: dict[str, float]) -> dict[str, Any]:
    """Return what was asked and reached of further models; nothing without any."""
    rules = policy.privacy.model_dump(mode="json", include={*policy.privacy.models})
    return {"models": {"asked": rules, "reached": reached}} if rules else {}


def _changed(policy: Policy) -> dict[str, Any]:
    """Return which columns are published as means or changed; nothing without any."""
    columns = policy.attributes.items()
    published: dict[str, Any] = {n: of.publish for n, of in columns if of.publish != "label"}
    changed = {n: of.transform.model_dump() for n, of in columns if of.transform is not None}
    return {"published": published | changed} if published or changed else {}


def _recount_facts(policy: Policy) -> dict[str, Any]:
    """Return what whoever has the table and not the policy needs to count it again."""
    classes = [each for name in policy.names("quasi") for each in published_names(policy, name)]
    parts = {"type", "order", "hierarchy", "l", "t"}
    columns = policy.model_dump(mode="json", exclude_defaults=True)["attributes"]
    sensitive = {
        name: {key: value for key, value in columns[name].items() if key in parts}
        for name in policy.names("sensitive")
    }
    return {
        "classes_by": classes,
        "sensitive": sensitive,
        "null_values": policy.input.null_values,
    }


def _notes(codec: Codec) -> list[str]:
    return [f"{name}: {note}" for name, tree in codec.hierarchies.items() for note in tree.notes]


def mapping_text(policy: Policy, codec: Codec, occurring: dict[str, set[int]]) -> str:
    """Return ``column,value,label``, a line for **every** leaf of a declared hierarchy.

    Listing only values that occur would reveal them. For the same reason only the published labels
    of a learnt hierarchy are listed: its leaves are the table's own values.
    """
    cut = public_cut(codec, occurring)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["column", "value", "label"])
    for name, tree in codec.hierarchies.items():
        if tree.learnt:
            writer.writerows((name, label, label) for label in cut[name])
        else:
            writer.writerows((name, leaf, at) for leaf, at in _pairs(policy, tree, cut[name]))
    return file.getvalue()


def find_label_places(policy: Policy, labels: NDArray[np.int32]) -> dict[str, set[int]]:
    """Return, for each quasi-identifier, the places of nodes among these labels.

    Parameters
    ----------
    labels
        int32 (F, d): places of nodes.
    """
    return {n: set(np.unique(labels[:, q]).tolist()) for q, n in enumerate(policy.names("quasi"))}


def public_cut(codec: Codec, occurring: dict[str, set[int]]) -> dict[str, list[str]]:
    """Return, for each column, labels that together cover every leaf of its hierarchy.

    They are the labels in the release and, where nothing was published, the most general ones that
    fit beside them: how far the search split a place whose rows it then suppressed would reveal
    those rows. For learnt intervals the gaps between published ones are added; for other learnt
    hierarchies nothing, since that would name suppressed values.
    """
    policy = codec.policy
    return {
        name: _column_cut(tree, occurring[name], policy.attributes[name].max_level)
        for name, tree in codec.hierarchies.items()
    }


def _column_cut(hierarchy: Hierarchy, occurring: set[int], max_level: int | None) -> list[str]:
    """Return the labels of a column's cut, independent of whether the table has nulls."""
    label = [node.label for node in hierarchy.taxonomy.nodes]
    places = occurring - {0} or {0}  # beside classes there may be rows of nothing but *
    if not hierarchy.learnt:
        return list(_covered(hierarchy, {label[place] for place in places}, max_level))
    known = [place for place in sorted(places) if label[place] != NULL]
    if hierarchy.edges is None:
        return [label[place] for place in known]
    low, high = hierarchy.bounds()
    return label_intervals([*low[[0, *known]], *high[[0, *known]]], hierarchy.edges.whole)


def _covered(hierarchy: Hierarchy, published: set[str], max_level: int | None) -> Iterator[str]:
    """Yield labels that cover every leaf but nulls, none of them above ``max_level``."""
    hierarchy = _with_null(hierarchy)
    tree = hierarchy.taxonomy
    top = None if max_level is None else set(hierarchy.level_nodes(max_level))
    above = [False] * len(tree.nodes)  # a label in the release, or a limit, lies below
    for place in reversed(range(1, len(tree.nodes))):
        bound = tree.nodes[place].label in published or (top is not None and place in top)
        above[tree.nodes[place].parent] |= bound or above[place]
    done = 0
    for place, node in enumerate(tree.nodes):
        if node.low < done or node.label == NULL:
            continue
        if node.label in published or not above[place]:
            yield node.label
            done = node.high


def _with_null(hierarchy: Hierarchy) -> Hierarchy:
    """Return the hierarchy with a leaf for nulls, whether the table has any or not."""
    return hierarchy if hierarchy.null is not None else hierarchy.with_null()


def _pairs(policy: Policy, hierarchy: Hierarchy, cut: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each leaf and its label; nulls have a line whether there are any or not."""
    tree = _with_null(hierarchy).taxonomy
    places = [at for at, node in enumerate(tree.nodes) if node.label in cut]
    root = tree.nodes[0].label
    nodes = places if cut == [root] else [*places, len(tree.nodes) - 1]
    for leaf, place in zip(tree.leaves, Tree(tree).partition(tuple(nodes)), strict=True):
        if leaf != NULL:
            yield leaf, tree.nodes[place].label
    if policy.privacy.nulls != "suppress":
        own = policy.privacy.nulls == "own_value" and cut != [root]
        yield NULL, NULL if own else root
