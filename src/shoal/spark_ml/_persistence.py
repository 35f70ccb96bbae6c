"""Convert settings and fits of pipeline stages to plain values and files, and back."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal.anonymize import Metrics, Policy, TopDownSpecialization, guarantee_of, policy_of
from shoal.cluster.local import mechanism_of
from shoal.cluster.wave import options_from_json, options_to_json
from shoal.documents import parse_json
from shoal.domain import Box, Schema
from shoal.errors import InvalidSetting, UnreadableModel, setting
from shoal.mechanisms import Prior, bayes_remap, clamp, snap
from shoal.perturb import parameters_of, settings_of
from shoal.privacy import Ledger, exact_budget, exact_text
from shoal.privacy import guarantee_of as privacy_of
from shoal.synopsis import Synopsis, read_box, read_part, synopsis_kinds, write_part

_CUT, _SCHEMA = "cut.json", "shoal.cut/1"
_REMAPS: dict[str, Callable[..., Any]] = {"BayesRemap": bayes_remap, "Clamp": clamp, "Snap": snap}
_PARTS: dict[str, Callable[[Any], Any]] = {
    "domain": read_box,
    "prior": lambda prior: prior if prior == "em" else Prior(prior["atoms"], prior["weights"]),
}


class _Codec(NamedTuple):
    """How a setting is converted to JSON and back."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def to_json(name: str, value: Any) -> Any:
    """Convert a setting to JSON values; one that could not be restored is refused.

    Raises
    ------
    InvalidSetting
        If it could not be restored.
    """
    if value is None:
        return None
    codec = _CODECS.get(name)
    document = value if codec is None else codec.write(value)
    if isinstance(document, np.generic):  # a grid of settings is NumPy's
        document = document.item()
    document = list(document) if isinstance(document, range | tuple) else document
    try:
        json.dumps(document)
    except TypeError:
        raise _not_savable(name, value) from None
    if name in ("mechanism", "remap") and not _round_trips(name, value, document):
        raise _not_savable(name, value)
    return document


def from_json(name: str, document: Any) -> Any:
    """Restore a setting from its JSON values."""
    codec = _CODECS.get(name)
    return document if document is None or codec is None else codec.read(document)


def save_cut(model: TopDownSpecialization, folder: Path) -> None:
    """Write the policy of a fitted specialization, and its cut if it has one."""
    metrics, policy = asdict(model.metrics_), _policy_to_json(model.policy_)
    parts = {"schema": _SCHEMA, "policy": policy, "cut": model.cut_, "metrics": metrics}
    file = write_part(parts, folder / _CUT)
    write_part({"files": [file]}, folder / "files.json")


def load_cut(folder: Path) -> TopDownSpecialization:
    """Load a specialization that ``save_cut`` wrote.

    Raises
    ------
    UnreadableModel
        If it holds none.
    """
    try:
        (file,) = parse_json((folder / "files.json").read_text(encoding="utf-8"))["files"]
        parts = read_part(folder, {"name": _CUT, "sha256": file["sha256"]})
        policy = _policy_from_json(parts["policy"])
        model = TopDownSpecialization(policy=policy)
        model.policy_, model.cut_ = policy, parts["cut"]
        metrics = dict(parts["metrics"])
        model.metrics_ = Metrics(**metrics | {"ncp_by_qid": tuple(metrics["ncp_by_qid"])})
    except UnreadableModel:  # which says more
        raise
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise UnreadableModel(
            f"The folder does not hold a cut that this version knows ({type(error).__name__}).",
            "Load it with the version of shoal that wrote it, or fit again.",
        ) from None
    model.guarantee_ = guarantee_of(model.policy_)
    return model


def _policy_to_json(policy: Policy) -> dict[str, Any]:
    content = policy.model_dump(mode="json", exclude_defaults=True) | {"version": 1}
    return {"content": content, "folder": str(policy.path("").absolute())}


def _policy_from_json(document: dict[str, Any]) -> Policy:
    return Policy.of(document["content"], document["folder"])


def _ledger_to_json(ledger: str | Path | Ledger) -> str:
    if isinstance(ledger, Ledger):  # a private one has a file too, which goes with the process
        raise InvalidSetting(
            "A ledger given as an object cannot be saved.",
            "Give the path of its file, e.g. " + setting("ledger", "visits.ledger") + ".",
        )
    return str(ledger)


def _remap_from_json(document: dict[str, Any]) -> Any:
    parameters = parameters_of(document)
    parts = {name: of(parameters[name]) for name, of in _PARTS.items() if name in parameters}
    return _REMAPS[document["class"]](**parameters | parts)


def _method_to_json(method: Any) -> Any:
    if isinstance(method, Synopsis):
        return {"class": type(method).__name__, **method._settings_of_cells()}
    return options_to_json(method)


def _method_from_json(document: Any) -> Any:
    if not isinstance(document, dict) or "class" not in document:
        return options_from_json(document)
    settings = {name: of for name, of in document.items() if name != "class"}
    return synopsis_kinds()[document["class"]](**settings)


def _domain_from_json(document: dict[str, Any]) -> Box | Schema:
    """Restore a box or a schema; a schema has a version."""
    return Schema.of(document) if "version" in document else read_box(document)


def _budget_to_json(budget: Any) -> str:
    return exact_text(exact_budget(budget))


def _round_trips(name: str, value: Any, document: Any) -> bool:
    try:
        return bool(settings_of(from_json(name, document)) == settings_of(value))
    except (KeyError, TypeError, ValueError):
        return False


def _not_savable(name: str, value: Any) -> InvalidSetting:
    return InvalidSetting(
        setting(name) + f" is a {type(value).__name__}, which cannot be saved.",
        "Use plain values, or leave it out and set it again after loading.",
    )


_BUDGET = _Codec(_budget_to_json, str)
_CODECS = {
    "domain": _Codec(lambda domain: domain.to_dict(), _domain_from_json),
    "privacy": _Codec(lambda privacy: privacy.to_dict(), privacy_of),
    "ledger": _Codec(_ledger_to_json, str),
    "policy": _Codec(lambda policy: _policy_to_json(policy_of(policy)), _policy_from_json),
    "mechanism": _Codec(settings_of, mechanism_of),
    "remap": _Codec(settings_of, _remap_from_json),
    "method": _Codec(_method_to_json, _method_from_json),
    "variant": _Codec(options_to_json, options_from_json),
    "selector": _Codec(options_to_json, options_from_json),
    "epsilon": _BUDGET,
}
