import numpy as np
import pytest

from shoal.cluster import WaveCluster, load_model
from shoal.domain import Box
from shoal.privacy import Ledger, Unprotected
from shoal.synopsis import UniformGrid

BOX = Box(x=(0, 10), y=(-1, 1))


def rows(n=4_000, seed=0):
    rng = np.random.default_rng(seed)
    return BOX.unscale(np.where(rng.random((n, 1)) < 0.4, 0.3, 0.7) + rng.normal(0, 0.04, (n, 2)))


def fitted(**settings):
    given = {"domain": BOX, "epsilon": 1, "cells": 24, "random_state": 1} | settings
    return WaveCluster(**given).fit(rows())


def true_sizes(model):
    labels = model.predict(rows())
    return np.bincount(labels[labels >= 0], minlength=model.n_clusters_)


def test_sizes_have_intervals_and_there_are_no_centres():
    found = fitted().intervals_
    assert found.centers_low.shape == (2, 0)
    assert (found.sizes_low < found.sizes_high).all()
    assert (found.sizes_high - found.sizes_low < 400).all()
    assert found.total_low < 4_000 < found.total_high


@pytest.mark.heavy
def test_most_intervals_hold_how_many_rows_lie_in_the_cells():
    held = []
    for seed in range(8):
        model = fitted(random_state=seed)
        found, true = model.intervals_, true_sizes(model)
        held += ((found.sizes_low <= true) & (true <= found.sizes_high)).tolist()
    assert np.mean(held) >= 0.7  # of 16, of which one in ten may miss


def test_they_survive_a_folder_and_leave_the_ledger_alone(tmp_path):
    ledger = Ledger()
    model = fitted(ledger=ledger)
    before = ledger.entries().to_pydict()
    found = model.intervals_
    assert ledger.entries().to_pydict() == before
    assert model.intervals_ is found
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model").intervals_
    np.testing.assert_array_equal(again.sizes_low, found.sizes_low)
    np.testing.assert_array_equal(again.sizes_high, found.sizes_high)


@pytest.mark.parametrize("variant", ["privqt", "privthr", "privthrem"])
def test_methods_with_a_released_threshold_have_them(variant):
    found = fitted(variant=variant).intervals_
    assert found.missing is None


def test_clusters_of_a_released_grid_have_them():
    grid = UniformGrid(epsilon=1, domain=BOX, cells=16, random_state=2).fit(rows())
    model = WaveCluster.from_synopsis(grid, min_cells=1)
    found = model.intervals_
    assert np.isfinite(found.sizes_low[:2]).all()


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
def test_groups_made_of_noise_are_unstable():
    X = BOX.unscale(np.random.default_rng(0).random((200, 2)))
    model = WaveCluster(
        domain=BOX, epsilon=0.1, cells=24, min_cells=1, selector="percentile", random_state=1
    ).fit(X)
    assert model.n_clusters_ > 3
    assert model.intervals_.unstable.mean() > 0.3


def test_without_a_promise_sizes_are_exact():
    model = WaveCluster(domain=BOX, privacy=Unprotected("a test"), cells=24).fit(rows())
    found = model.intervals_
    np.testing.assert_array_equal(found.sizes_low, found.sizes_high)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"wavelet": "bior2.2", "level": 1}, "wavelet"),
        ({"variant": "baseline"}, "drawn from noisy cells"),
        ({"domain": Box.unit(5), "cells": 8}, "Only some cells"),
    ],
    ids=["wavelet", "baseline", "sparse"],
)
def test_it_is_said_why_there_are_none(settings, why):
    given = {"domain": BOX, "epsilon": 1, "cells": 24, "random_state": 1} | settings
    d = given["domain"].d
    X = rows() if d == 2 else 0.5 + np.random.default_rng(0).normal(0, 0.05, (20_000, d))
    found = WaveCluster(**given).fit(X).intervals_
    assert np.isnan(found.sizes_low).all()
    assert why in found.missing
