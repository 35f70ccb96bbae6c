import numpy as np
import pytest

from shoal.cluster import WaveCluster
from shoal.cluster.wave._figure import MAP_SIDE
from shoal.domain import Box
from shoal.pages.groups import WaveGroups
from shoal.pages.groups._wave import MAPS


def group_maps(model):
    return [each for each in WaveGroups(model).maps() if each.kind == "cluster_map"]


def fitted(box, cells=16, n=6_000, **settings):
    rng = np.random.default_rng(0)
    X = 0.25 + 0.5 * (np.arange(n) % 2)[:, None] + rng.normal(0, 0.04, (n, box.d))
    known = {"domain": box, "epsilon": 1, "cells": cells, "random_state": 1}
    return WaveCluster(**known | settings).fit(box.unscale(X))


def test_two_columns_are_one_map_of_the_cells_themselves_and_its_tree():
    model = fitted(Box.unit(2))
    (figure,) = group_maps(model)
    np.testing.assert_array_equal(figure.data["labels"], model.cell_labels_)
    assert figure.data["branches"]
    assert "largest" not in figure.title


@pytest.mark.heavy
def test_more_columns_are_shown_in_pairs_and_the_tree_once():
    model = fitted(Box.unit(3))
    figures = group_maps(model)
    assert len(figures) == MAPS
    assert [bool(figure.data["branches"]) for figure in figures] == [True, False, False]
    for figure in figures:
        found = set(np.unique(figure.data["labels"]).tolist())
        assert found == {-1, *range(model.n_clusters_)}


def test_a_place_shows_the_group_with_most_people_over_it():
    model = fitted(Box.unit(3))
    (figure, *_) = group_maps(model)
    at = [model.grid_.box.names.index(name.lower()) for name in figure.data["names"]]
    (over,) = {0, 1, 2} - set(at)
    people = [np.where(model.cell_labels_ == i, model.noisy_counts_, 0).sum(axis=over)
              for i in range(model.n_clusters_)]  # fmt: skip
    seen = (model.cell_labels_ >= 0).any(axis=over)
    best = np.argmax(people, axis=0) if at == sorted(at) else np.argmax(people, axis=0).T
    seen = seen if at == sorted(at) else seen.T
    shown = np.array(figure.data["labels"])
    clear = np.sort(people, axis=0)[-1] > 0
    np.testing.assert_array_equal((shown >= 0), seen)
    np.testing.assert_array_equal(shown[seen & clear], best[seen & clear])


def test_sparse_grids_have_maps_too():
    model = fitted(Box.unit(5), cells=8, n=20_000)
    figures = group_maps(model)
    assert len(figures) == MAPS
    assert all(np.max(figure.data["labels"]) >= 0 for figure in figures)


def test_marks_lie_in_their_groups_on_sparse_grids_too():
    model = fitted(Box.unit(5), cells=8, n=20_000)
    assert model.cell_keys_ is not None
    marks, (low, high) = model._densest_cells(), np.moveaxis(model.boxes_, 1, 0)
    assert ((low <= marks) & (marks <= high)).all()


def test_longer_filters_are_drawn_cell_by_cell():
    (figure,) = group_maps(fitted(Box.unit(2), wavelet="bior2.2", level=1))
    assert np.shape(figure.data["labels"]) == (16, 16)


def test_longitude_runs_across():
    box = Box.geo(latitude=(40.4, 41.0), longitude=(-74.3, -73.6))
    (figure,) = group_maps(fitted(box))
    assert figure.data["names"] == ["Longitude", "Latitude"]


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
def test_one_column_and_no_group_make_no_trouble():
    assert group_maps(fitted(Box.unit(1))) == []
    empty = WaveCluster(domain=Box.unit(2), epsilon=1, cells=8, random_state=3)
    (figure,) = group_maps(empty.fit(np.zeros((0, 2))))
    assert figure.svg().startswith("<svg")


def test_grids_of_more_cells_than_memory_are_drawn_in_fewer_parts():
    box = Box.unit(2)
    rows = np.repeat([[0.25, 0.75], [0.75, 0.25]], 500, axis=0)
    model = WaveCluster(domain=box, epsilon=1, cells=2**20, min_cells=1, random_state=1).fit(rows)
    (drawn,) = group_maps(model)
    labels = np.array(drawn.data["labels"])
    assert max(labels.shape) <= MAP_SIDE
    assert (np.argwhere(labels >= 0) / labels.shape).tolist() == [[0.25, 0.75], [0.75, 0.25]]
