"""Clusters of perturbed records, the published heart-2D rows rerun small.

Noise in raw units, columns standardised after it, k-means with k = 2, agreement (AMI) of the labels
of the reports with k-means on the rows. Published: 0.75, 0.87 and 0.98 at epsilon 0.5, 1 and 9,
from one draw of noise each.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score

import shoal
from shoal import Box, LocalClusterer, NDLaplace, Randomness

DATA = Path(os.environ.get("SHOAL_DATA", "../shared/data"))
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="the data sets are not here; set SHOAL_DATA to their folder"
)


@pytest.fixture(autouse=True)
def _data(monkeypatch):
    monkeypatch.setenv("SHOAL_DATA", str(DATA))


def columns(name, *wanted):
    table = shoal.data.load(name)
    rows = np.column_stack([np.asarray(table[each], dtype=float) for each in wanted])
    spread = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    return rows, Box.of(list(wanted), rows.min(axis=0), rows.max(axis=0)), spread


def agreement(name, wanted, k, epsilon, method, draws):
    rows, box, spread = columns(name, *wanted)
    truth = KMeans(k, n_init=10, random_state=0).fit(spread).labels_
    noise = NDLaplace(epsilon, domain=box)
    scores = []
    for draw in range(draws):
        reports = noise.release(rows, Randomness(draw).noise)
        scale = reports.values.std(axis=0) if method == "plain" else "spread"
        model = LocalClusterer(k, mechanism=noise, method=method, scale=scale, random_state=0)
        scores.append(adjusted_mutual_info_score(truth, model.fit(reports).report_labels_))
    return np.mean(scores)


@pytest.mark.parametrize(("epsilon", "published"), [(0.5, 0.75), (1, 0.87), (9, 0.98)])
def test_heart_2d_comes_out_as_published(epsilon, published):
    found = agreement("cardiotocography", ("LB", "Min"), 2, epsilon, "plain", 5)
    assert found == pytest.approx(published, abs=0.03)


@pytest.mark.parametrize(("epsilon", "at_least"), [(2, 0.45), (5, 0.60)])
def test_seeds_3d_is_labelled_better_through_the_law_of_the_noise(epsilon, at_least):
    seeds = ("area", "perimeter", "kernel_length")
    assert agreement("seeds", seeds, 5, epsilon, "auto", 3) >= at_least
