"""Figures on shapes whose truth is known: made up by a recipe, and published. Seeds fixed."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import shoal
from shoal.cluster import WaveCluster
from shoal.cluster.wave import Percentile
from shoal.domain import Box
from shoal.evaluate import cluster_dissimilarity
from shoal.privacy import Unprotected

PLAIN = Unprotected("Exact counts, to compare with.")


def rows_of_table(table) -> tuple[np.ndarray, np.ndarray, Box]:
    """Rows, their labels, and bounds that stand in for public ones: the rows' own, 2 % wider."""
    X = np.column_stack([table["x"], table["y"]])
    margin = 0.02 * np.ptp(X, axis=0)
    box = Box.of(["x", "y"], X.min(axis=0) - margin, X.max(axis=0) + margin)
    return X, table["label"].to_numpy(), box


def mean_index(table, epsilon: float, draws: int, **settings) -> float:
    X, y, box = rows_of_table(table)
    models = (
        WaveCluster(domain=box, epsilon=epsilon, random_state=seed, **settings).fit(X)
        for seed in range(draws)
    )
    return float(np.mean([adjusted_rand_score(y, model.predict(X)) for model in models]))


@pytest.mark.parametrize(
    ("kind", "n", "noise", "epsilon", "floor"),
    [
        ("moons", 8_000, 0.06, 0.5, 0.97),
        ("moons", 8_000, 0.06, 1, 0.97),
        ("spirals", 20_000, 0.03, 1, 0.93),
        ("lattice", 5_000, 0.1, 0.5, 0.97),
        ("lattice", 5_000, 0.1, 1, 0.97),
    ],
)
def test_significant_peaks_find_made_shapes(kind, n, noise, epsilon, floor):
    table = shoal.data.shapes(kind, n, noise, seed=1)
    assert mean_index(table, epsilon, 3, selector="persistence") >= floor


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("kind", "n", "noise", "epsilon", "floor"),
    [
        ("moons", 8_000, 0.06, 1, 0.93),
        ("rings", 8_000, 0.05, 1, 0.93),
        ("spirals", 20_000, 0.03, 1, 0.9),  # 1.00 or .87, as the draw falls; .95 in forty
        ("lattice", 5_000, 0.1, 0.5, 0.97),
    ],
)
def test_the_automatic_rule_finds_made_shapes(kind, n, noise, epsilon, floor):
    assert mean_index(shoal.data.shapes(kind, n, noise, seed=1), epsilon, 8) >= floor


@pytest.mark.heavy
def test_known_shapes_of_the_literature_are_found(load_real):
    by_peaks = [("s1", 1, 0.93), ("t4.8k", 1, 0.74), ("t4.8k", 2, 0.85)]
    for name, epsilon, floor in [*by_peaks, ("birch1", 0.5, 0.75), ("birch1", 1, 0.75)]:
        draws = 8 if name == "t4.8k" else 3  # .81 at epsilon 1 in 24 draws, each .05 off
        assert mean_index(load_real(name), epsilon, draws, selector="persistence") >= floor, name
    # t4.8k: .73 in 24 draws, each .16 off
    by_rule = [("s1", 1, 0.93), ("t4.8k", 1, 0.6), ("birch1", 0.5, 0.75), ("aggregation", 1, 0.8)]
    for name, epsilon, floor in by_rule:
        assert mean_index(load_real(name), epsilon, 8 if name != "birch1" else 2) >= floor, name


def assert_rule_beats_fixed_selectors(table, epsilon):
    auto = mean_index(table, epsilon, 5)
    assert auto > mean_index(table, epsilon, 5, selector="persistence")
    assert auto > mean_index(table, epsilon, 5, selector="percentile")


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("kind", "n", "noise", "epsilon"),
    [("moons", 400, 0.06, 1), ("lattice", 600, 0.08, 2), ("spirals", 600, 0.02, 2)],
)
@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")  # of the fixed selectors
def test_the_automatic_rule_serves_small_sets_that_fixed_selectors_do_not(kind, n, noise, epsilon):
    assert_rule_beats_fixed_selectors(shoal.data.shapes(kind, n, noise, seed=1), epsilon)


@pytest.mark.heavy
def test_the_automatic_rule_serves_small_sets_of_the_literature(load_real):
    for name in ("compound", "lsun", "r15"):  # none of them was used to tune it
        assert_rule_beats_fixed_selectors(load_real(name), 2)


def assert_noise_on_blocks_is_nearer(table, near):
    X, _, box = rows_of_table(table)
    common = {"domain": box, "cells": 64, "level": 1, "min_cells": 1}
    truth = WaveCluster(**common, privacy=PLAIN).fit(X).cell_labels_

    def apart(**settings):
        found = (
            WaveCluster(**common, epsilon=1, random_state=seed, **settings).fit(X).cell_labels_
            for seed in range(12)
        )
        return np.mean([cluster_dissimilarity(truth, labels) for labels in found])

    assert apart(selector="percentile") < apart(variant="privthr")
    assert apart(selector=Percentile(rule="posterior", context=True)) < near


@pytest.mark.heavy
def test_noise_on_blocks_is_nearer_to_the_truth_than_noise_on_cells():
    assert_noise_on_blocks_is_nearer(shoal.data.shapes("spirals", 20_000, 0.03, seed=1), 0.2)


@pytest.mark.heavy
def test_noise_on_blocks_is_nearer_on_t4_too(load_real):
    assert_noise_on_blocks_is_nearer(load_real("t4.8k"), 0.2)


@pytest.mark.heavy
@pytest.mark.parametrize("d", [3, 4])
def test_round_groups_of_more_columns_are_found_at_every_budget(d):
    rng = np.random.default_rng(d)
    middles = np.array([[0.2] * d, [0.5] * d, [0.8] * d])
    groups = rng.integers(3, size=4_000)
    rows = np.clip(middles[groups] + rng.normal(0, 0.05, (4_000, d)), 0, 1)
    for epsilon in (0.5, 1, 4):
        model = WaveCluster(domain=Box.unit(d), epsilon=epsilon, random_state=1).fit(rows)
        assert adjusted_rand_score(groups, model.predict(rows)) > 0.9
