import numpy as np
import pytest

from shoal.cluster import WaveCluster
from shoal.domain import Box, Schema
from shoal.pages.groups import WaveGroups

BOX = Box(age=(0, 110), visits=(0, 20))


def fitted(**settings):
    rng = np.random.default_rng(0)
    X = 0.25 + 0.5 * (np.arange(4_000) % 2)[:, None] + rng.normal(0, 0.03, (4_000, 2))
    known = {"domain": BOX, "epsilon": 1, "cells": 32, "random_state": 1}
    return WaveCluster(**known | settings).fit(BOX.unscale(X))


def test_groups_have_sizes_cells_and_noise():
    groups = WaveGroups(fitted())
    assert groups.k == 2
    np.testing.assert_allclose(groups.sizes, 2_000, atol=200)
    assert sum(groups.cells) == int((groups.model.cell_labels_ >= 0).sum())
    assert groups.noise is not None
    deviation = np.sqrt(np.array(groups.cells) * groups.model._noisy.variance)
    np.testing.assert_array_equal(groups.noise, np.ceil(deviation))


@pytest.mark.parametrize("cells", ["auto", 32])
def test_groups_and_what_is_in_none_add_up_to_the_rows(cells):
    groups = WaveGroups(fitted(cells=cells))
    assert sum(groups.sizes) + groups.outside == groups.model.n_rows_
    assert abs(groups.model.n_rows_ - 4_000) <= 2 * groups.model.n_rows_within_


def test_noise_that_cells_share_is_not_told_as_if_it_were_each_ones():
    assert WaveGroups(fitted(wavelet="bior2.2", level=1)).noise is None


def test_on_sparse_grids_the_rest_is_what_is_left_of_the_rows():
    rng = np.random.default_rng(0)
    X = 0.5 + rng.normal(0, 0.05, (20_000, 5))
    model = WaveCluster(domain=Box.unit(5), epsilon=1, cells=8, random_state=1).fit(X)
    groups = WaveGroups(model)
    assert groups.k >= 1
    assert groups.outside == model.n_rows_ - sum(groups.sizes) >= 0
    assert groups.size_text(0).startswith(f"{groups.sizes[0]:,} ± ")


def test_boxes_are_told_to_the_width_of_a_cell():
    groups = WaveGroups(fitted())
    for age, visits in (groups.sides(i) for i in range(2)):
        assert "." not in age  # cells of 3.4 years
        assert all(len(end.partition(".")[2]) <= 1 for end in visits.split(" to "))


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
@pytest.mark.parametrize(("rows", "unit"), [(None, "rows"), (3, "rows"), (1, "people")])
def test_people_are_counted_only_where_each_is_known_and_has_one_row(rows, unit):
    X = {"age": np.full(90, 40.0), "visits": np.full(90, 4.0), "id": np.arange(90) // 3}
    people = {} if rows is None else {"person": "id", "max_rows_per_person": rows}
    domain = Schema.of_box(BOX, **people)
    model = WaveCluster(domain=domain, epsilon=1, cells=8, random_state=1).fit(X)
    assert WaveGroups(model).unit == unit
