"""The folder's settings are one flat list, as they were when the estimator had them itself."""

import json
from fractions import Fraction

import numpy as np
import pytest

import shoal
from shoal.cluster import WaveCluster
from shoal.cluster.wave import (
    Auto,
    Baseline,
    Density,
    Mass,
    Percentile,
    Persistence,
    PrivQT,
    PrivTHR,
    PrivTHREM,
)
from shoal.cluster.wave._saving import (
    flat_settings,
    grouped_settings,
    options_from_json,
    options_to_json,
)
from shoal.domain import Box

NAMES = {
    "alpha", "cells", "clipping", "connectivity", "context", "density", "person",
    "epsilon", "level", "mass",
    "max_rows_per_person", "variant", "min_cells", "n_public", "neighbours", "noise", "nonfinite",
    "p", "rule", "selector", "smooth", "wavelet", "z",
}  # fmt: skip


def flat(**settings):
    return flat_settings(WaveCluster(**{"domain": Box.unit(2), "epsilon": 1, **settings}))


def test_the_names_are_those_of_the_format():
    settings = flat()
    assert set(settings) == NAMES
    assert (settings["variant"], settings["selector"], settings["z"]) == ("block", None, None)
    assert (settings["rule"], settings["context"]) == ("threshold", False)


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ({"selector": Persistence(2, smooth="auto")}, {"z": 2, "smooth": "auto"}),
        ({"selector": Percentile(0.3, rule="posterior")}, {"p": 0.3, "rule": "posterior"}),
        ({"selector": Density(2)}, {"density": 2}),
        ({"selector": Mass(0.5)}, {"mass": 0.5}),
        ({"variant": PrivTHR(0.5)}, {"alpha": 0.5, "noise": None}),
        ({"variant": PrivTHREM(noise="geometric")}, {"alpha": None, "noise": "geometric"}),
        ({"variant": PrivQT(noise="geometric")}, {"noise": "geometric"}),
    ],
    ids=str,
)
def test_options_are_written_beside_the_others_and_come_back(group, expected):
    settings = flat(**group)
    assert {name: settings[name] for name in expected} == expected
    back = grouped_settings(json.loads(json.dumps(settings)))
    assert {name: back[name] for name in group} == group


@pytest.mark.parametrize("options", [Auto(), Baseline(), Persistence(), PrivQT()], ids=str)
def test_options_left_at_their_defaults_come_back_as_short_forms(options):
    name = type(options).__name__.lower()
    group = "variant" if isinstance(options, Baseline | PrivQT) else "selector"
    assert grouped_settings(flat(**{group: options}))[group] == name


def test_a_setting_that_once_stood_without_its_selector_is_understood():
    settings = flat() | {"p": 0.4}
    assert grouped_settings(settings)["selector"] == Percentile(0.4)


@pytest.mark.parametrize(
    ("value", "written"), [(np.float64(0.3), 0.3), (np.int64(1), 1), (Fraction(1, 3), "1/3")]
)
def test_numbers_of_other_kinds_are_written_as_json_has_them(value, written):
    assert json.loads(json.dumps(flat(selector=Percentile(value))))["p"] == written
    assert json.loads(json.dumps(options_to_json(Percentile(value))))["p"] == written


@pytest.mark.parametrize("options", ["mass", Percentile(0.3), PrivTHR(0.5, noise="geometric")])
def test_options_have_a_form_in_json(options):
    assert options_from_json(json.loads(json.dumps(options_to_json(options)))) == options


def test_a_model_with_options_is_saved_and_loaded(tmp_path):
    X = np.repeat([[0.2, 0.2], [0.8, 0.8]], 500, axis=0)
    model = WaveCluster(
        domain=Box.unit(2), epsilon=1, cells=16, selector=Persistence(2), random_state=1
    ).fit(X)
    model.save(tmp_path / "model")
    again = shoal.load_model(tmp_path / "model")
    assert again.selector == Persistence(2)
    np.testing.assert_array_equal(again.cell_labels_, model.cell_labels_)
