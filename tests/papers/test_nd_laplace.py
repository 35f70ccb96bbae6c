"""Clusters of perturbed records, the published heart-2D rows rerun small.

Noise in raw units, columns standardised after it, k-means with k = 2, agreement (AMI) of the labels
of the reports with k-means on the rows. Published: 0.75, 0.87 and 0.98 at epsilon 0.5, 1 and 9,
from one draw of noise each.
"""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score

from shoal import Box, LocalClusterer, NDLaplace, Randomness
from shoal.data import load

IRIS = ("sepal length (cm)", "petal length (cm)", "petal width (cm)")


def columns(table, *wanted):
    rows = np.column_stack([np.asarray(table[each], dtype=float) for each in wanted])
    spread = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    return rows, Box.of(list(wanted), rows.min(axis=0), rows.max(axis=0)), spread


def agreement(table, wanted, k, epsilon, method, draws):
    rows, box, spread = columns(table, *wanted)
    truth = KMeans(k, n_init=10, random_state=0).fit(spread).labels_
    noise = NDLaplace(epsilon, domain=box)
    scores = []
    for draw in range(draws):
        reports = noise.release(rows, Randomness(draw).noise)
        scale = reports.values.std(axis=0) if method == "plain" else "spread"
        model = LocalClusterer(k, mechanism=noise, method=method, scale=scale, random_state=0)
        scores.append(adjusted_mutual_info_score(truth, model.fit(reports).report_labels_))
    return np.mean(scores)


def test_reports_of_tumours_agree_with_the_rows_the_more_the_larger_epsilon_is():
    tumours, wanted = load("breast_cancer"), ("mean texture", "mean perimeter")
    agreements = [agreement(tumours, wanted, 2, epsilon, "plain", 5) for epsilon in (0.5, 1, 9)]
    assert agreements == sorted(agreements)
    assert agreements == pytest.approx([0.55, 0.70, 0.92], abs=0.06)


@pytest.mark.parametrize(("epsilon", "at_least"), [(2, 0.45), (5, 0.65)])
def test_irises_are_labelled_better_through_the_law_of_the_noise(epsilon, at_least):
    lawful = agreement(load("iris"), IRIS, 3, epsilon, "auto", 3)
    assert lawful >= at_least
    assert lawful > agreement(load("iris"), IRIS, 3, epsilon, "plain", 3)


def test_heart_2d_comes_out_as_published_and_seeds_3d_is_labelled_better(load_real):
    heart, seeds = load_real("cardiotocography"), load_real("seeds")
    for epsilon, published in [(0.5, 0.75), (1, 0.87), (9, 0.98)]:
        found = agreement(heart, ("LB", "Min"), 2, epsilon, "plain", 5)
        assert found == pytest.approx(published, abs=0.03)
    for epsilon, at_least in [(2, 0.45), (5, 0.60)]:
        wanted = ("area", "perimeter", "kernel_length")
        assert agreement(seeds, wanted, 5, epsilon, "auto", 3) >= at_least
