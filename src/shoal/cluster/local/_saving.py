"""Convert a fitted ``LocalClusterer``, and its mechanism, to plain values and back."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from shoal import mechanisms
from shoal.cluster.local._group_test import Evidence
from shoal.domain import Box
from shoal.errors import UnreadableModel
from shoal.mechanisms import Prior
from shoal.perturb import parameters_of, settings_of
from shoal.synopsis import read_box

CENTERS, DENSITY = "centers.csv", "density.parquet"


def document(model: Any) -> dict[str, Any]:
    """List the settings and released numbers as JSON values."""
    scale = model.scale
    flat = {"n_clusters": int(model.n_clusters), "method": model.method}
    flat["scale"] = scale if scale is None or isinstance(scale, str) else list(map(float, scale))
    released = {name: getattr(model, name) for name in ("method_", "n_reports_", "n_used_")}
    if model.evidence_ is not None:
        released["evidence_"] = asdict(model.evidence_)
    return {
        "settings": flat | {"mechanism": settings_of(model.mechanism)},
        "released": released | {"units_": model.units_.tolist()},
    }


def tables(model: Any) -> dict[str, pa.Table]:
    """Build the tables of the centres and the density; labels of reports are not saved."""
    names = column_names(model.domain, model.n_features_in_)
    atoms, weights = model.density_.atoms, model.density_.weights
    return {
        CENTERS: pa.table(dict(zip(names, model.cluster_centers_.T, strict=True))),
        DENSITY: pa.table(dict(zip(names, atoms.T, strict=True)) | {"_weight": weights}),
    }


def settings(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the estimator from its document."""
    flat = dict(document["settings"])
    return flat | {"mechanism": mechanism_of(flat["mechanism"])}


def restore(model: Any, document: Mapping[str, Any], tables: Mapping[str, Any]) -> None:
    """Set the fitted attributes of an estimator to what was saved.

    Parameters
    ----------
    document
        As returned by ``document``.
    tables
        As returned by ``tables``.
    """
    released, centers, density = document["released"], tables[CENTERS], tables[DENSITY]
    names = centers.column_names
    model.cluster_centers_ = _matrix(centers, names)
    model.density_ = Prior(_matrix(density, names), np.asarray(density["_weight"]))
    model.units_ = np.array(released["units_"], dtype=np.float64)
    model.method_ = released["method_"]
    model.n_reports_, model.n_used_ = int(released["n_reports_"]), int(released["n_used_"])
    model.n_features_in_ = len(names)
    # Folders of older versions, and of models that were not tested, say nothing of it.
    tested = released.get("evidence_")
    model._set_evidence(None if tested is None else Evidence(**tested))


def mechanism_of(settings: Mapping[str, Any]) -> Any:
    """Build the mechanism that ``settings_of`` described.

    Parameters
    ----------
    settings
        The name of its class, and its parameters.

    Raises
    ------
    UnreadableModel
        If this version has no such mechanism.

    Examples
    --------
    >>> noise = mechanisms.NDLaplace("0.5", domain=Box(age=(0, 110)), scale=(10,))
    >>> mechanism_of(settings_of(noise)) == noise
    True
    """
    name = settings["class"]
    if name not in mechanisms.__all__:
        raise UnreadableModel(
            "The model names a mechanism that this version does not have.",
            "Load it with the version of shoal that wrote it.",
        )
    parameters = {key: _restore_setting(value) for key, value in parameters_of(settings).items()}
    return getattr(mechanisms, name)(**parameters)


def _restore_setting(value: Any) -> Any:
    """Convert a JSON value to what the mechanism takes: a box, a mechanism, or tuples for lists."""
    if isinstance(value, Mapping) and "columns" in value:
        return read_box(value)
    if isinstance(value, Mapping) and "class" in value:
        return mechanism_of(value)
    return tuple(value) if isinstance(value, list) else value


def column_names(box: Box | None, d: int) -> tuple[str, ...]:
    """Return the names of the columns: those of the box, or x0, x1, ... without one."""
    return tuple(f"x{i}" for i in range(d)) if box is None else box.names


def _matrix(table: pa.Table, names: list[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.column_stack([np.asarray(table[name], dtype=np.float64) for name in names])
