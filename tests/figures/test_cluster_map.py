import re

import numpy as np
import pytest

from shoal.errors import DimensionMismatch
from shoal.figures import cluster_map
from shoal.figures.cluster_map import MOST_MARKED, MOST_NUMBERED

BOX = {"names": ["x", "y"], "low": [0, 0], "high": [2, 2], "title": "Groups"}
TWO = {"sizes": [30, 12], "centers": [[0.5, 0.5], [1.5, 1.5]]}


def of_many(k):
    """So many clusters of one cell each, apart from each other."""
    labels = np.full((2 * k, 3), -1)
    labels[::2, 1] = np.arange(k)
    return cluster_map(labels, sizes=[9] * k, centers=[[1, 1]] * k, **BOX)


def test_each_cluster_has_the_colour_of_its_number():
    text = cluster_map([[0, -1], [-1, 7]], **BOX, **TWO).svg()
    assert set(re.findall(r'class="cells c(\d)"', text)) == {"1", "2"}


def test_touching_clusters_are_parted_by_a_line_even_if_they_share_a_colour():
    apart = cluster_map([[0, -1], [-1, 6]], **BOX, **TWO).svg()
    touching = cluster_map([[0, 6], [-1, 6]], **BOX, **TWO).svg()
    assert 'class="border" d=""' in apart
    assert re.search(r'class="border" d="M[\d. ]+H[\d.]+"', touching)


def test_borders_of_one_line_are_drawn_in_one():
    labels = np.repeat([[0], [1]], 5, axis=1)
    border = re.search(r'class="border" d="([^"]*)"', cluster_map(labels, **BOX, **TWO).svg())
    assert border is not None
    assert border[1].count("M") == 1


def test_a_few_clusters_are_marked_more_are_numbered():
    assert of_many(MOST_MARKED).svg().count('class="mark') == MOST_MARKED
    many = of_many(MOST_MARKED + 1).svg()
    assert 'class="mark' not in many
    assert many.count('class="number') == MOST_MARKED + 1
    assert of_many(MOST_NUMBERED + 9).svg().count('class="number') == MOST_NUMBERED


def test_a_tree_makes_it_higher():
    flat = cluster_map([[0, -1], [-1, 1]], **BOX, **TWO).svg()
    tree = cluster_map(
        [[0, -1], [-1, 1]], branches=[(0, 9.0, 0.0, -1), (1, 5.0, 2.0, 0)], **BOX, **TWO
    ).svg()
    assert 'viewBox="0 0 640 440"' in flat
    assert 'viewBox="0 0 640 588"' in tree


def test_rows_are_told_of_where_they_are_drawn():
    shown = cluster_map([[0, -1], [-1, 1]], rows=[[0.5, 0.5]], **BOX, **TWO)
    assert "for the holder of the rows only" in shown.alt
    assert 'class="row"' in shown.svg()
    assert 'class="row"' not in cluster_map([[0, -1], [-1, 1]], **BOX, **TWO).svg()


def test_no_cluster_is_a_picture_too():
    shown = cluster_map(np.full((3, 3), -1), sizes=[], centers=[], **BOX)
    assert "No cluster stands out" in shown.alt
    assert shown.svg().startswith("<svg")


def test_a_map_shows_two_columns():
    with pytest.raises(DimensionMismatch):
        cluster_map([0, 1], **BOX, **TWO)
