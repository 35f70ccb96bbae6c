"""Stages of pipelines as plain values and files: what is kept of their settings and fits."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal.anonymize import TopDownSpecialization
from shoal.anonymize.policy import Policy, guarantee_of, policy_of
from shoal.anonymize.problem import Metrics
from shoal.cluster.local.saving import mechanism_of
from shoal.cluster.wave.saving import options_from_json, options_to_json
from shoal.documents import parse_json
from shoal.domain import Box, Schema
from shoal.errors import InvalidSetting, UnreadableModel, setting
from shoal.mechanisms import bayes_remap, clamp, snap
from shoal.mechanisms.local.laplace.prior import Prior
from shoal.perturb import settings_of
from shoal.perturb.settings import parameters_of
from shoal.privacy import Ledger
from shoal.privacy import guarantee_of as privacy_of
from shoal.privacy.exact import exact_budget, plain
from shoal.synopsis import AdaptiveGrid, PrivTree, Synopsis, UniformGrid
from shoal.synopsis.folder import box_from, read_part, write_part

__all__ = ["alive", "ledger_of", "load_cut", "save_cut", "told"]

_CUT, _SCHEMA = "cut.json", "shoal.cut/1"
_REMAPS: dict[str, Callable[..., Any]] = {"BayesRemap": bayes_remap, "Clamp": clamp, "Snap": snap}
_PARTS: dict[str, Callable[[Any], Any]] = {
    "domain": box_from,
    "prior": lambda said: said if said == "em" else Prior(said["atoms"], said["weights"]),
}


class _Way(NamedTuple):
    """How a setting becomes JSON, and back."""

    said: Callable[[Any], Any]
    read: Callable[[Any], Any]


def told(name: str, value: Any) -> Any:
    """A setting as JSON has it; what could not come back is refused."""
    if value is None:
        return None
    way = _WAYS.get(name)
    said = value if way is None else way.said(value)
    said = said.item() if isinstance(said, np.generic) else said  # a grid of settings is NumPy's
    said = list(said) if isinstance(said, range | tuple) else said
    try:
        json.dumps(said)
    except TypeError:
        raise _cannot_keep(name, value) from None
    if name in ("mechanism", "remap") and not _comes_back(name, value, said):
        raise _cannot_keep(name, value)
    return said


def alive(name: str, said: Any) -> Any:
    """A setting from its JSON."""
    way = _WAYS.get(name)
    return said if said is None or way is None else way.read(said)


def ledger_of(value: str | Path | Ledger | None) -> Ledger | None:
    """A ledger, or the one in this file."""
    return value if value is None or isinstance(value, Ledger) else Ledger(value)


def save_cut(model: TopDownSpecialization, folder: Path) -> None:
    """Write what a fitted specialization publishes by: its policy, and the cut if it has one."""
    metrics, policy = asdict(model.metrics_), _policy_told(model.policy_)
    parts = {"schema": _SCHEMA, "policy": policy, "cut": model.cut_, "metrics": metrics}
    file = write_part(parts, folder / _CUT)
    write_part({"files": [file]}, folder / "files.json")


def load_cut(folder: Path) -> TopDownSpecialization:
    """The specialization that was saved here."""
    try:
        (file,) = parse_json((folder / "files.json").read_text(encoding="utf-8"))["files"]
        parts = read_part(folder, {"name": _CUT, "sha256": file["sha256"]})
        policy = _policy_alive(parts["policy"])
        model = TopDownSpecialization(policy=policy)
        model.policy_, model.cut_ = policy, parts["cut"]
        metrics = dict(parts["metrics"])
        model.metrics_ = Metrics(**metrics | {"ncp_by_qid": tuple(metrics["ncp_by_qid"])})
    except UnreadableModel:  # which says more
        raise
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise UnreadableModel(
            f"The folder holds no cut that this version knows ({type(error).__name__}).",
            "Load it with the version of shoal that wrote it, or fit again.",
        ) from None
    model.guarantee_ = guarantee_of(model.policy_)
    return model


def _policy_told(policy: Policy) -> dict[str, Any]:
    content = policy.model_dump(mode="json", exclude_defaults=True) | {"version": 1}
    return {"content": content, "folder": str(policy.path("").absolute())}


def _policy_alive(said: dict[str, Any]) -> Policy:
    return Policy.of(said["content"], said["folder"])


def _path_told(ledger: str | Path | Ledger) -> str:
    if isinstance(ledger, Ledger):  # a private one has a file too, which goes with the process
        raise InvalidSetting(
            "The ledger came as an object, which cannot be kept.",
            "Give the path of its file, e.g. " + setting("ledger", "visits.ledger") + ".",
        )
    return str(ledger)


def _remap_alive(said: dict[str, Any]) -> Any:
    parameters = parameters_of(said)
    parts = {name: of(parameters[name]) for name, of in _PARTS.items() if name in parameters}
    return _REMAPS[said["class"]](**parameters | parts)


def _method_told(method: Any) -> Any:
    if isinstance(method, Synopsis):
        return {"class": type(method).__name__, **method._settings_of_cells()}
    return options_to_json(method)


def _method_alive(said: Any) -> Any:
    if not isinstance(said, dict) or "class" not in said:
        return options_from_json(said)
    kind = {"AdaptiveGrid": AdaptiveGrid, "PrivTree": PrivTree, "UniformGrid": UniformGrid}
    return kind[said["class"]](**{name: of for name, of in said.items() if name != "class"})


def _domain_alive(said: dict[str, Any]) -> Box | Schema:
    """A schema is told from a box by its version."""
    return Schema.of(said) if "version" in said else box_from(said)


def _budget_told(budget: Any) -> str:
    return plain(exact_budget(budget))


def _comes_back(name: str, value: Any, said: Any) -> bool:
    try:
        return bool(settings_of(alive(name, said)) == settings_of(value))
    except (KeyError, TypeError, ValueError):
        return False


def _cannot_keep(name: str, value: Any) -> InvalidSetting:
    return InvalidSetting(
        setting(name) + f" is a {type(value).__name__}, which cannot be kept.",
        "Set plain values; leave it out, and give it again after loading.",
    )


_BUDGET = _Way(_budget_told, str)
_WAYS = {
    "domain": _Way(lambda domain: domain.to_dict(), _domain_alive),
    "privacy": _Way(lambda privacy: privacy.to_dict(), privacy_of),
    "ledger": _Way(_path_told, str),
    "policy": _Way(lambda policy: _policy_told(policy_of(policy)), _policy_alive),
    "mechanism": _Way(settings_of, mechanism_of),
    "remap": _Way(settings_of, _remap_alive),
    "method": _Way(_method_told, _method_alive),
    "selector": _Way(options_to_json, options_from_json),
    "epsilon": _BUDGET,
}
