"""Keep a fitted ``PrivateKPrototypes`` as JSON and CSV, and make it again."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.cluster.choose._cost_curve import CostCurve
from shoal.cluster.prototypes._mixed_rows import Prototypes
from shoal.cluster.prototypes._profiles import GroupIntervals, JointLimits, Profiles
from shoal.documents import rename_old_keys
from shoal.domain import Schema
from shoal.estimator import promise_from_settings
from shoal.privacy import guarantee_of
from shoal.synopsis import read_box
from shoal.synopsis.mixed import MixedSynopsis

PROFILES, PROTOTYPES, RELEASED = "profiles.csv", "prototypes.csv", "released.json"
_PLAIN = ("sizes", "means", "everyone_means", "spans")
_LISTS = ("shares", "shares_low", "shares_high", "everyone_shares")
_JOINT_MEANS, _JOINT_SHARES = ("means_low", "means_high"), ("shares_low", "shares_high")
_INTERVALS = ("centers_low", "centers_high", "sizes_low", "sizes_high")


def document(model: Any) -> dict[str, Any]:
    """Return settings and released scalars, as JSON has them."""
    names = ("n_rows_", "n_clusters_", "level_")
    released = {name: getattr(model, name) for name in names}
    curve = {} if model.cost_curve_ is None else {"cost_curve": model.cost_curve_.to_dict()}
    return {"settings": model._settings(), "released": released} | curve


def tables(model: Any) -> dict[str, Any]:
    """Return, by file name, what people open and what loading needs."""
    released = {
        "prototypes": {
            "numbers": model._prototypes.numbers.tolist(),
            "codes": model._prototypes.codes.tolist(),
        },
        "profiles": _profiles_to_dict(model.profiles_),
        "synopsis": model.synopsis_.to_dict(),
    }
    return {
        PROFILES: model.profiles_.to_arrow(),
        PROTOTYPES: _with_sizes(model),
        RELEASED: released,
    }


def restore(kind: Any, content: Mapping[str, Any], parts: Mapping[str, Any]) -> Any:
    """Return the model again.

    Parameters
    ----------
    content
        What ``document`` returned, with the domain and the guarantee.
    parts
        What ``tables`` returned.
    """
    content = {**content, "settings": rename_old_keys(content["settings"])}
    domain = _domain(content)
    no_box: Any = None  # the schema takes its place, and says whose the rows are
    without_people = content["settings"] | {"person": None, "max_rows_per_person": None}
    settings = promise_from_settings(without_people, no_box)
    if isinstance(settings["n_clusters"], list):
        settings["n_clusters"] = tuple(settings["n_clusters"])
    model = kind(**settings | {"domain": domain})
    curve = content.get("cost_curve")  # older versions, and single numbers, have none
    model.cost_curve_ = None if curve is None else CostCurve.of(curve)
    released, parts_released = content["released"], parts[RELEASED]
    k, p, q = released["n_clusters_"], len(model.columns.numbers), len(model.columns.categories)
    prototypes = parts_released["prototypes"]
    codes = np.asarray(prototypes["codes"], dtype=np.int64).reshape(k, q)
    model._prototypes = Prototypes(_floats(prototypes["numbers"]).reshape(k, p), codes)
    model.synopsis_ = MixedSynopsis.of_dict(parts_released["synopsis"], domain)
    model.synopsis_.guarantee_ = guarantee_of(content["guarantee"])
    model._publish(
        _profiles_of_dict(parts_released["profiles"], p), released["n_rows_"], released["level_"]
    )
    return model


def _domain(content: Mapping[str, Any]) -> Schema:
    """Return the schema; the person column is among the settings where only bounds were written."""
    if "version" in content["domain"]:
        return Schema.of(content["domain"])
    settings = content["settings"]
    people = {name: settings[name] for name in ("person", "max_rows_per_person")}
    return Schema.of_box(read_box(content["domain"]), **people)


def _with_sizes(model: Any) -> pa.Table:
    """Return the prototypes with the title and size of each group."""
    profiles, intervals = model.profiles_, model.profiles_.intervals
    own = {
        "_group": np.arange(1, profiles.n_groups + 1),
        "_title": pa.array(profiles.titles),
        "_rows": np.rint(profiles.sizes).astype(np.int64),
        "_rows_low": np.floor(intervals.sizes_low).astype(np.int64),
        "_rows_high": np.ceil(intervals.sizes_high).astype(np.int64),
    }
    named = {name: model.prototypes_[name] for name in model.prototypes_.column_names}
    return pa.table(own | named)


def _profiles_to_dict(profiles: Profiles) -> dict[str, Any]:
    made: dict[str, Any] = {name: _values(getattr(profiles, name)) for name in _PLAIN}
    made |= {name: [_values(each) for each in getattr(profiles, name)] for name in _LISTS}
    made["intervals"] = {name: _values(getattr(profiles.intervals, name)) for name in _INTERVALS}
    made["intervals"]["is_certain"] = profiles.intervals.is_certain.tolist()
    made["rate"], made["measured"] = profiles.intervals.rate, profiles.measured
    if (joint := profiles.joint) is not None:
        ends = {name: _values(getattr(joint, name)) for name in _JOINT_MEANS}
        lists = {name: [_values(each) for each in getattr(joint, name)] for name in _JOINT_SHARES}
        made["joint"] = ends | lists
    made["numbers"] = [[name, list(levels)] for name, levels in profiles.numbers]
    made["categories"] = [[name, list(labels)] for name, labels in profiles.categories]
    made["level_shares"] = [_values(each) for each in profiles.level_shares]
    return made | {"titles": list(profiles.titles)}


def _profiles_of_dict(content: Mapping[str, Any], p: int) -> Profiles:
    k = len(content["sizes"])
    limits = {name: _floats(content["intervals"][name]) for name in _INTERVALS}
    for name in ("centers_low", "centers_high"):
        limits[name] = limits[name].reshape(k, p)
    # Folders of the first form had no verdict of their own.
    is_certain = content["intervals"].get("is_certain", (limits["sizes_low"] > 0).tolist())
    plain: dict[str, Any] = {name: _floats(content[name]) for name in _PLAIN}
    plain["means"], plain["spans"] = plain["means"].reshape(k, p), plain["spans"].reshape(p, 2)
    lists: dict[str, Any] = {
        name: tuple(_floats(each) for each in content[name]) for name in _LISTS
    }
    named: dict[str, Any] = {
        key: tuple((name, tuple(labels)) for name, labels in content[key])
        for key in ("numbers", "categories")
    }
    return Profiles(
        **named,
        **plain,
        **lists,
        intervals=GroupIntervals(
            **limits,
            is_certain=np.asarray(is_certain, dtype=np.bool_),
            rate=float(content["rate"]),
        ),
        measured=bool(content["measured"]),
        titles=tuple(content["titles"]),
        # Folders of earlier versions have neither.
        level_shares=tuple(_floats(each) for each in content.get("level_shares", ())),
        joint=_joint_of_dict(content.get("joint"), (k, p)),
    )


def _joint_of_dict(content: Mapping[str, Any] | None, shape: tuple[int, int]) -> JointLimits | None:
    if content is None:
        return None
    means = (_floats(content[name]).reshape(shape) for name in _JOINT_MEANS)
    return JointLimits(*means, *(tuple(map(_floats, content[name])) for name in _JOINT_SHARES))


def _values(array: Any) -> Any:
    """Return an array as lists, None where a value is not known: JSON has no NaN."""
    known = np.asarray(array, dtype=object)
    known[np.isnan(array)] = None
    return known.tolist()


def _floats(values: Any) -> Any:
    return np.asarray(values, dtype=np.float64)  # None becomes NaN
