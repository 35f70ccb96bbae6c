"""Convert a fitted ``WaveCluster`` to plain values and tables, and back."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.cluster._grouped_settings import Options
from shoal.cluster.group_sizes import Totals
from shoal.cluster.wave._grouping import SELECTORS
from shoal.cluster.wave._noise import NoiseLaw, NoisyGrid
from shoal.cluster.wave._release_methods import METHODS
from shoal.cluster.wave._segmentation import LabelledCells, PeakTree
from shoal.cluster.wave._settings import option_name
from shoal.cluster.wave._transform import Transform
from shoal.domain import Grid
from shoal.estimator import promise_from_settings, promise_to_settings
from shoal.privacy import exact_text, guarantee_of
from shoal.synopsis import read_box

CELLS, PEAKS, PASSES = "cells.parquet", "peaks.parquet", "passes.parquet"
_ONE_PER_CLUSTER = ("cluster_sizes_", "is_certain_", "noise_sizes_")
_NOT_WRITTEN = ("epsilon", "privacy", "domain", "ledger", "random_state")

# The folder's format has one flat list of settings: the name there, and the one of the options.
_SELECTOR_NAMES = {
    "persistence": {"z": "z", "smooth": "smooth"},
    "percentile": {"p": "p", "rule": "rule", "context": "context"},
    "density": {"density": "times"},
    "mass": {"mass": "share"},
}
_METHOD_NAMES = {
    "privqt": {"noise": "noise"},
    "privthr": {"alpha": "alpha", "noise": "noise"},
    "privthrem": {"alpha": "alpha", "noise": "noise"},
}
_Names = Mapping[str, Mapping[str, str]]
# What the format has for settings that were left at their default; for all others it is None.
_DEFAULTS: dict[str, Any] = {"rule": "threshold", "context": False}


def flat_settings(model: Any) -> dict[str, Any]:
    """List the settings as JSON values, without the domain, the ledger and the seed.

    The settings of the variant and the selector are in the same list; those left out are None.
    """
    params = model.get_params(deep=False)
    flat = {name: value for name, value in params.items() if name not in _NOT_WRITTEN}
    flat |= _flatten("variant", model.variant, _METHOD_NAMES)
    flat |= _flatten("selector", model.selector, _SELECTOR_NAMES)
    if not isinstance(model.cells, str):
        flat["cells"] = [int(m) for m in np.atleast_1d(model.cells)]
    flat |= {name: value for name, value in promise_to_settings(model).items() if name != "delta"}
    return {name: _plain_value(flat[name]) for name in sorted(flat)}


def grouped_settings(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the flat list of ``flat_settings`` to parameters of ``WaveCluster``.

    Parameters
    ----------
    flat
        All or some of the settings, as listed by this version or by an earlier one, in which
        ``WaveCluster`` itself had the parameters of variants and selectors.
    """
    params = dict(flat)
    # Earlier versions called the variant a method.
    if "method" in params:
        params["variant"] = params.pop("method")
    _group(params, "variant", METHODS, _METHOD_NAMES)
    _group(params, "selector", SELECTORS, _SELECTOR_NAMES)
    if isinstance(params.get("cells"), list):
        params["cells"] = tuple(params["cells"])
    return params


def options_to_json(value: Any) -> Any:
    """Convert a variant or selector to JSON values: its short name, or its name and settings.

    Parameters
    ----------
    value
        A short name, which is returned as it is, or a set of options.

    Examples
    --------
    >>> from shoal.cluster.wave import Persistence
    >>> options_to_json(Persistence(z=2))
    {'name': 'persistence', 'smooth': 1.0, 'z': 2}
    """
    if not isinstance(value, Options):
        return value  # a short form, or of another estimator
    settings = {name: _plain_value(each) for name, each in value.get_params().items()}
    return {"name": option_name(value), **settings}


def options_from_json(written: str | Mapping[str, Any]) -> str | Options:
    """Read what ``options_to_json`` returned.

    Parameters
    ----------
    written
        A short name, or the name and settings.
    """
    if isinstance(written, str):
        return written
    settings = {name: value for name, value in written.items() if name != "name"}
    return (METHODS | SELECTORS)[written["name"]](**settings)


def _plain_value(value: Any) -> Any:
    """The value as JSON has it: NumPy's numbers as Python's, an exact fraction as text."""
    if isinstance(value, np.generic):
        return value.item()
    return exact_text(value) if isinstance(value, Fraction) else value


def _flatten(group: str, value: str | Options | None, names: _Names) -> dict[str, Any]:
    """List the name of a variant or selector, and the settings that differ from their defaults."""
    flat = {name: _DEFAULTS.get(name) for fields in names.values() for name in fields}
    if not isinstance(value, Options):
        return flat | {group: value}
    given, default = value.get_params(), type(value)().get_params()
    fields = names.get(option_name(value), {})
    flat |= {n: given[field] for n, field in fields.items() if given[field] != default[field]}
    return flat | {group: option_name(value)}


def _group(
    params: dict[str, Any], group: str, kinds: Mapping[str, type[Options]], names: _Names
) -> None:
    """Replace the settings of a variant or selector in a flat list by an options object."""
    every = {name for fields in names.values() for name in fields}
    listed = {name: params.pop(name, None) for name in every}
    given = {n: v for n, v in listed.items() if v is not None and v != _DEFAULTS.get(n)}
    if not given:
        return
    kind: str | None = params.get(group)
    # Earlier versions named no selector where a setting implied it.
    if kind is None:
        kind = next(name for name, fields in names.items() if given.keys() <= fields.keys())
    params[group] = kinds[kind](**{names[kind][name]: value for name, value in given.items()})


def document(model: Any) -> dict[str, Any]:
    """List the settings and released numbers as JSON values."""
    law = model._noisy.law
    noise = {"variance": model._noisy.variance, "step": law and law.step, "fold": law and law.fold}
    names = ("n_rows_", "n_rows_within_", "rows_outside_", "rows_detected_", "threshold_")
    released = {name: getattr(model, name) for name in names}
    each = {name: getattr(model, name).tolist() for name in _ONE_PER_CLUSTER}
    return {
        "settings": flat_settings(model),
        "grid": list(model.grid_.shape),
        "noise": noise,
        "released": released | each,
    }


def tables(model: Any) -> dict[str, pa.Table]:
    """Build the tables of the folder: the cells, and the peaks and passes if there is a tree."""
    keys = model.cell_keys_
    keys = np.arange(model.cell_labels_.size) if keys is None else keys
    low, high = model._lookup.bounds(keys)
    columns: dict[str, Any] = {"key": keys}
    for side, corner in (("low", low), ("high", high)):
        columns |= {f"{side}_{name}": corner[:, i] for i, name in enumerate(model.grid_.box.names)}
    values = model.noisy_counts_.ravel()
    columns |= {"noisy_count": values, "weight": np.maximum(values, 0).astype(float)}
    columns["label"] = model.cell_labels_.ravel()
    if model.tree_ is None:
        return {CELLS: pa.table(columns)}
    return {CELLS: pa.table(columns | {"peak": model.tree_.basins.ravel()})} | _trees(model.tree_)


def _trees(tree: PeakTree) -> dict[str, pa.Table]:
    sides = tree.passes.reshape(-1, 2)
    passes = {
        "peak": sides[:, 0],
        "other_peak": sides[:, 1],
        "height": tree.heights,
        "significance": tree.significance,
    }
    return {
        PEAKS: pa.table({"key": tree.peaks, "height": tree.summits}),
        PASSES: pa.table(passes),
    }


def restore(model: Any, document: Mapping[str, Any], tables: Mapping[str, Any]) -> None:
    """Set the fitted attributes of an estimator to what was saved.

    Parameters
    ----------
    document
        As ``document`` listed it, with the domain.
    tables
        As ``tables`` made them.
    """
    box = read_box(document["domain"])
    guarantee = guarantee_of(document["guarantee"])
    model.set_params(
        **promise_from_settings(grouped_settings(document["settings"]), box, guarantee)
    )
    grid, cells = Grid(box, document["grid"]), tables[CELLS]
    transform = Transform(grid.shape, model.level, model.wavelet)
    dense = cells.num_rows == np.prod(transform.shape_out, dtype=object) and box.d <= 3
    shape = transform.shape_out if dense else (-1,)
    noise, released = document["noise"], document["released"]
    law = None if noise["step"] is None else NoiseLaw(noise["step"], noise["fold"])
    noisy = NoisyGrid(_column(cells, "noisy_count").reshape(shape), noise["variance"], law)
    labels = _column(cells, "label").reshape(shape)
    tree = _tree(cells, tables, shape) if PEAKS in tables else None
    model.n_rows_ = released["n_rows_"]
    clustering = LabelledCells(labels, released["threshold_"], tree)
    keys = None if dense else _column(cells, "key")
    model._publish(transform, grid, noisy, clustering, keys)
    model._set_totals(_totals(released))


def _totals(released: Mapping[str, Any]) -> Totals:
    """Return the totals as saved; the cells alone do not determine them."""
    is_clear = [*released["is_certain_"], True]
    return Totals(
        released["n_rows_"],
        released["n_rows_within_"],
        np.array([*released["cluster_sizes_"], released["rows_outside_"]]),
        np.array([*released["noise_sizes_"], 0.0]),
        np.array(is_clear, dtype=np.bool_),
        released["rows_detected_"],
    )


def _tree(cells: pa.Table, tables: Mapping[str, Any], shape: tuple[int, ...]) -> PeakTree:
    peaks, passes = tables[PEAKS], tables[PASSES]
    sides = np.stack([_column(passes, "peak"), _column(passes, "other_peak")], axis=1)
    return PeakTree(
        _column(cells, "peak").reshape(shape),
        _column(peaks, "key"),
        _column(peaks, "height"),
        sides,
        _column(passes, "height"),
        _column(passes, "significance"),
    )


def _column(table: pa.Table, name: str) -> Any:
    return table[name].to_numpy()
