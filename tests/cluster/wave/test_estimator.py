import numpy as np
import pyarrow as pa
import pytest
from scipy import ndimage
from sklearn.base import clone
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

import shoal
from shoal.cluster import WaveCluster
from shoal.cluster.wave import Percentile, Persistence
from shoal.domain import Box, Schema
from shoal.engine import rows_of
from shoal.errors import (
    BudgetExceeded,
    ConflictingSettings,
    DimensionMismatch,
    InvalidBudget,
    InvalidSetting,
    NotFinite,
    PromiseExceeded,
)
from shoal.estimator import Spending
from shoal.privacy import Ledger, PureDP, Unprotected
from shoal.randomness import Randomness
from shoal.synopsis import AdaptiveGrid, UniformGrid

EXACT = {"epsilon": None, "privacy": Unprotected("Exact counts.")}
PLAIN = Unprotected("Exact counts, to compare with.")

RNG = np.random.default_rng(0)
BLOBS = np.vstack([RNG.normal(c, 0.04, (2000, 2)) for c in (0.25, 0.75)])
UNIT = Box.unit(2)


def widened(X: np.ndarray) -> Box:
    """Stands in for public bounds: the rows' own, 2 % wider."""
    margin = 0.02 * np.ptp(X, axis=0)
    return Box.of(["x", "y"], X.min(axis=0) - margin, X.max(axis=0) + margin)


REPLACED = PureDP(1, neighbours="replace-one")


def private(**settings) -> WaveCluster:
    return WaveCluster(**{"domain": UNIT, "epsilon": 1, "random_state": 1, **settings})


def test_without_a_promise_it_is_plain_wavecluster():
    plain = WaveCluster(privacy=PLAIN, domain=UNIT, cells=33, level=1, selector=Percentile(0.4))
    model = plain.fit(BLOBS)
    counts, *_ = np.histogram2d(*BLOBS.T, bins=33, range=[[0, 1], [0, 1]])
    blocks = np.zeros((34, 34))
    blocks[:33, :33] = counts
    blocks = blocks.reshape(17, 2, 17, 2).sum(axis=(1, 3))
    level = np.quantile(blocks[blocks > 0], 0.4)
    expected, _ = ndimage.label(blocks >= level, np.ones((3, 3)))
    kept = np.bincount(expected.ravel())[1:] >= 3
    assert model.threshold_ == level
    assert model.n_clusters_ == kept.sum()
    assert ((model.cell_labels_ >= 0) == np.append(False, kept)[expected]).all()
    assert isinstance(model.guarantee_, Unprotected)


def test_the_promise_is_what_was_asked_and_what_the_ledger_shows():
    ledger = Ledger(limit=PureDP(2))
    model = private(ledger=ledger, random_state=None).fit(BLOBS)
    assert model.guarantee_ == PureDP(1) == ledger.totals()[0]
    with pytest.raises(BudgetExceeded):
        private(ledger=ledger, epsilon=1.5, random_state=None).fit(BLOBS)


@pytest.mark.parametrize("cells", ["auto", 32])
def test_all_of_the_budget_is_spent_whoever_pays_for_the_size(cells):
    assert private(cells=cells).fit(BLOBS).guarantee_.epsilon == 1
    model = private(cells=cells, epsilon=None, privacy=REPLACED).fit(BLOBS)
    assert model.guarantee_.epsilon == 1
    assert model.n_rows_ == len(BLOBS)


@pytest.mark.heavy
def test_people_with_many_rows_are_protected_together():
    table = pa.table({"x0": BLOBS[:, 0], "x1": BLOBS[:, 1], "who": np.arange(len(BLOBS)) // 4})
    people = Schema.of_box(UNIT, person="who", max_rows_per_person=4)
    model = private(domain=people).fit(table)
    assert model.guarantee_ == PureDP(1, rows=4).simulated()
    assert model.noisy_counts_.std() > 0


@pytest.mark.heavy
def test_the_order_of_rows_changes_nothing():
    shuffled = np.random.default_rng(5).permutation(BLOBS)
    for settings in ({}, {"variant": "privthrem", "cells": 16}, EXACT):
        first, second = (private(**settings).fit(rows) for rows in (BLOBS, shuffled))
        assert (first.noisy_counts_ == second.noisy_counts_).all()
        assert (first.cell_labels_ == second.cell_labels_).all()


def test_duplicates_are_counted():
    once, twice = (
        WaveCluster(privacy=PLAIN, domain=UNIT, cells=8).fit(rows)
        for rows in (BLOBS, np.repeat(BLOBS, 2, axis=0))
    )
    assert (twice.noisy_counts_ == 2 * once.noisy_counts_).all()


def test_arrays_frames_and_files_give_one_answer(tmp_path):
    table = pa.table({"x0": BLOBS[:, 0], "x1": BLOBS[:, 1]})
    path = tmp_path / "rows.parquet"
    pa.parquet.write_table(table, path)
    models = [private().fit(rows) for rows in (BLOBS, table, path)]
    labels = [models[0].predict(rows) for rows in (BLOBS, table, path)]
    for model, found in zip(models, labels, strict=True):
        assert (model.cell_labels_ == models[0].cell_labels_).all()
        assert (found == labels[0]).all()


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
@pytest.mark.parametrize("rows", [np.zeros((0, 2)), np.full((1, 2), 0.5)])
@pytest.mark.parametrize("variant", ["block", "privqt", "privthr", "privthrem", "baseline"])
def test_no_rows_and_one_row_are_a_noisy_grid_like_any_other(rows, variant):
    model = private(variant=variant).fit(rows)
    assert model.guarantee_.epsilon == 1
    assert model.n_clusters_ >= 0
    assert model.predict([[0.5, 0.5]]).shape == (1,)


def test_no_rows_make_no_plain_cluster():
    model = WaveCluster(privacy=PLAIN, domain=UNIT).fit(np.zeros((0, 2)))
    assert (model.n_clusters_, model.threshold_) == (0, None)
    assert model.boxes_.shape == (0, 2, 2)


def test_nothing_fitted_has_a_line_for_each_row():
    model = private(cells=16).fit(BLOBS)
    fitted = {name: value for name, value in vars(model).items() if name.endswith("_")}
    assert not any(np.size(v) >= len(BLOBS) for v in fitted.values() if isinstance(v, np.ndarray))
    assert not hasattr(model, "labels_")


def test_sizes_and_boxes_describe_the_clusters():
    model = private().fit(BLOBS)
    assert model.n_clusters_ == 2
    assert model.cluster_sizes_ == pytest.approx([2000, 2000], rel=0.1)
    for label, (low, high) in enumerate(model.boxes_):
        inside = BLOBS[model.predict(BLOBS) == label]
        assert (inside >= low - 1e-12).all()
        assert (inside <= high + 1e-12).all()


@pytest.mark.parametrize("wavelet", ["db2", "sym4", "bior2.2"])
def test_longer_filters_find_the_blobs_too(wavelet):
    for promise in (EXACT, {"epsilon": 2}):
        model = private(wavelet=wavelet, level=1, cells=48, **promise).fit(BLOBS)
        truth = np.repeat([0, 1], 2000)
        assert adjusted_rand_score(truth, model.predict(BLOBS)) > 0.8
        assert model.cluster_sizes_.sum() == pytest.approx(4000, rel=0.25)


def test_points_beyond_the_box_go_to_its_edge_and_nan_is_refused():
    model = private().fit(np.clip(BLOBS, 0.5, None))
    assert model.predict([[9.0, 9.0]]) == model.predict([[1.0, 1.0]])
    with pytest.raises(NotFinite):
        model.predict([[np.nan, 0.5]])
    with pytest.raises(DimensionMismatch):
        model.predict([[0.5]])


def test_several_scales_cost_nothing():
    fine = private(cells=33).fit(BLOBS)
    coarse = fine.coarser(2)
    blocks = np.add.reduceat(fine.noisy_counts_, np.arange(0, 33, 4), axis=0)
    blocks = np.add.reduceat(blocks, np.arange(0, 33, 4), axis=1)
    assert (coarse.noisy_counts_ == blocks).all()
    assert coarse.guarantee_ == fine.guarantee_
    assert coarse.coarser(0).cell_labels_.tolist() == coarse.cell_labels_.tolist()
    assert adjusted_rand_score(fine.predict(BLOBS), fine.coarser().predict(BLOBS)) > 0.9


def test_scales_of_long_filters_are_not_sums():
    with pytest.raises(ConflictingSettings):
        private(wavelet="db2", level=1, cells=16).fit(BLOBS).coarser()


def test_a_synopsis_is_clustered_without_rows_or_budget():
    synopsis = UniformGrid(epsilon=1, domain=UNIT, cells=32, random_state=2).fit(BLOBS)
    model = WaveCluster.from_synopsis(synopsis, selector="persistence")
    assert model.guarantee_ == synopsis.guarantee_
    assert model.grid_.shape == (32, 32)
    assert adjusted_rand_score(np.repeat([0, 1], 2000), model.predict(BLOBS)) > 0.95


@pytest.mark.heavy
@pytest.mark.parametrize("epsilon", [1e-6, 1, 1000])
@pytest.mark.parametrize("d", [2, 5])
def test_a_synopsis_of_any_budget_brings_its_promise_along(epsilon, d):
    rows = np.random.default_rng(3).normal(0.5, 0.05, (2000, d))
    synopsis = UniformGrid(
        privacy=PureDP(epsilon, neighbours="replace-one"),
        domain=Box.unit(d),
        cells=8,
        sparse=d > 3,
        random_state=2,
    ).fit(rows)
    model = WaveCluster.from_synopsis(synopsis)
    assert model.guarantee_ == synopsis.guarantee_
    assert model.privacy.neighbours == "replace-one"
    assert epsilon < 1 or model.n_clusters_ == 1


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
@pytest.mark.parametrize("selector", ["percentile", "mass"])
def test_a_tiny_budget_has_coarser_grids_too(selector):
    coarse = private(epsilon=1e-6, cells=16, selector=selector).fit(BLOBS).coarser(2)
    assert coarse.cell_labels_.shape == (4, 4)


def test_synopses_of_unequal_cells_and_rules_that_need_counts_are_refused():
    uneven = AdaptiveGrid(epsilon=1, domain=UNIT, random_state=2).fit(BLOBS)
    with pytest.raises(shoal.errors.InvalidSetting):
        WaveCluster.from_synopsis(uneven)
    even = UniformGrid(epsilon=1, domain=UNIT, cells=8, random_state=2).fit(BLOBS)
    with pytest.raises(ConflictingSettings):
        WaveCluster.from_synopsis(even, selector=Percentile(rule="posterior"))


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
@pytest.mark.parametrize(
    "settings",
    [{}, {"variant": "privthr", "level": 1, "cells": (16, 12)}, {"wavelet": "db2", "level": 1},
     EXACT],
    ids=str,
)  # fmt: skip
def test_a_kept_model_is_the_same_again(settings, tmp_path):
    model = private(**settings).fit(BLOBS)
    again = shoal.load_model(model.save(tmp_path / "model"))
    assert (again.predict(BLOBS) == model.predict(BLOBS)).all()
    assert again.guarantee_ == model.guarantee_
    assert (again.noisy_counts_ == model.noisy_counts_).all()
    assert again.cluster_sizes_.tolist() == model.cluster_sizes_.tolist()
    assert again.threshold_ == model.threshold_
    if model.tree_ is not None:
        assert (again.tree_.labels(2.0) == model.tree_.labels(2.0)).all()


def test_a_kept_sparse_model_is_the_same_again(tmp_path):
    cloud = np.random.default_rng(1).normal(0.5, 0.05, (3000, 5))
    model = private(domain=Box.unit(5), cells=6).fit(cloud)
    again = shoal.load_model(model.save(tmp_path / "model"))
    assert (again.predict(cloud) == model.predict(cloud)).all()
    assert (again.cell_keys_ == model.cell_keys_).all()


@pytest.mark.heavy
def test_its_picture_shows_cells_tree_and_the_holders_rows():
    model = private().fit(BLOBS)
    public, own = model.plot(), model.plot(BLOBS)
    assert public.data["rows"] is None
    assert "holder" in own.alt
    assert len(own.data["rows"]) == 2000
    assert len(public.data["branches"]) == model.n_clusters_
    assert own.svg().count("<path") > public.svg().count("<path")
    with pytest.raises(DimensionMismatch, match="shows two columns"):
        private(domain=Box.unit(3)).fit(BLOBS[:, [0, 1, 0]]).plot()


def test_clusters_of_one_column_are_ranges_of_it():
    model = private(domain=Box.unit(1)).fit(BLOBS[:, :1])
    assert model.plot().data["spans"] == model.boxes_[:, :, 0].tolist()
    with pytest.raises(DimensionMismatch, match="over two columns"):
        model.plot(BLOBS[:, :1])


def test_every_part_of_a_picture_has_as_many_cells():
    even = np.linspace(0, 1, 128 * 20, endpoint=False)[:, None]
    model = WaveCluster(privacy=PLAIN, domain=Box.unit(1), cells=128).fit(even)
    assert set(model._counts_over([0]).tolist()) == {40}


def test_its_picture_calls_numbers_noisy_only_if_they_are():
    plain = WaveCluster(privacy=PLAIN, domain=UNIT, cells=32).fit(BLOBS).plot()
    assert "noisy" not in plain.svg()
    assert "Numbers carry no noise." in plain.alt
    assert "Numbers are noisy." in private().fit(BLOBS).plot().alt
    along = WaveCluster(privacy=PLAIN, domain=Box.unit(1), cells=32).fit(BLOBS[:, :1]).plot()
    assert "noisy" not in along.svg()
    assert "for the holder of the rows only" in along.alt


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
def test_a_map_of_too_many_cells_is_refused():
    with pytest.raises(shoal.errors.TooLarge, check=lambda error: error.reason == "cells"):
        private(cells=5000).fit(BLOBS).plot()


def test_what_it_found_can_be_told_in_three_kinds_of_leaves():
    result = private().fit(BLOBS).to_result()
    assert result.protected == {}
    assert result.released["n_clusters_"].value == 2


def test_it_can_be_cloned_and_set():
    model = private(cells=16)
    assert clone(model).get_params() == model.get_params()


def test_options_are_set_by_name_on_an_object_only():
    assert private(selector=Persistence()).set_params(selector__z=2).selector.z == 2
    for selector in (None, "persistence"):
        with pytest.raises(
            InvalidSetting, match=r"selector__z cannot be set: .*not an object"
        ) as e:
            private(selector=selector).set_params(selector__z=2)
        assert "selector=Persistence(z=2)" in e.value.hint
    model = private(selector="persistence").set_params(selector=Persistence(), selector__z=2)
    assert model.selector.z == 2


def test_one_and_three_columns_are_clustered_on_a_full_grid():
    for d in (1, 3):
        rows = np.vstack([np.random.default_rng(c).normal(c / 4, 0.03, (3000, d)) for c in (1, 3)])
        model = private(domain=Box.unit(d)).fit(rows)
        assert model.cell_keys_ is None
        assert adjusted_rand_score(np.repeat([0, 1], 3000), model.predict(rows)) > 0.9


@pytest.mark.parametrize("epsilon", [0.25, 1])
@pytest.mark.parametrize("shape", ["moons", "circles"])
def test_curved_shapes_are_told_apart(shape, epsilon):
    if shape == "moons":
        X, y = make_moons(10_000, noise=0.05, random_state=0)
    else:
        X, y = make_circles(10_000, noise=0.04, factor=0.5, random_state=0)
    scores = [
        adjusted_rand_score(y, model.predict(X))
        for model in (
            private(
                domain=widened(X), epsilon=epsilon, random_state=seed, selector="persistence"
            ).fit(X)
            for seed in range(3)
        )
    ]
    assert np.mean(scores) >= 0.97


def test_forgetting_the_promise_is_an_error_and_not_a_release_of_exact_counts():
    with pytest.raises(InvalidBudget, match="epsilon"):
        WaveCluster(domain=UNIT).fit(BLOBS)


def test_exact_counts_never_leave_by_a_page_that_promises():
    ledger = Ledger()
    page = ledger.open(PureDP(1), by="test")
    plain = WaveCluster(privacy=PLAIN, domain=UNIT, cells=16)
    with pytest.raises(PromiseExceeded):
        plain.spend(Spending(rows_of(BLOBS, UNIT), page, page.budget, Randomness(1)))
    assert ledger.entries().num_rows == 0
