import numpy as np
import pytest

from shoal.errors import DimensionMismatch
from shoal.figures import cluster_map, figure_of

LABELS = np.array([[0, 0, -1], [-1, -1, 1], [-1, 1, 1]])


def drawn(**changes):
    given = {
        "labels": LABELS,
        "names": ["x", "y"],
        "low": [0, 0],
        "high": [3, 3],
        "sizes": [30.4, 12.0],
        "centers": [[0.5, 0.5], [2.5, 2.5]],
        "title": "Two groups",
    } | changes
    return cluster_map(given.pop("labels"), **given)


def test_each_cluster_has_a_colour_and_a_numbered_mark():
    svg = drawn().svg()
    assert 'class="cells c1"' in svg
    assert 'class="cells c2"' in svg
    assert svg.count('class="mark') == 2


def test_it_can_be_drawn_again_from_its_numbers():
    figure = drawn(branches=[(0, 9.0, 0.0, -1), (1, 5.0, 2.0, 0)])
    again = figure_of(figure.to_dict())
    assert again.svg() == figure.svg()


def test_a_tree_makes_it_larger():
    plain, with_tree = drawn().svg(), drawn(branches=[(0, 9.0, 0.0, -1)]).svg()
    assert 'viewBox="0 0 640 440"' in plain
    assert 'viewBox="0 0 640 440"' not in with_tree


def test_rows_are_drawn_for_their_holder_and_said_to_be_people():
    figure = drawn(rows=[[1.0, 1.0], [2.0, 2.0]])
    assert 'class="row"' in figure.svg()
    assert "holder of the rows only" in figure.alt
    assert "holder" not in drawn().alt


@pytest.mark.parametrize(
    ("sizes", "words"),
    [([], "No cluster stands out."), ([7], "One cluster, of about 7 people."),
     ([7, 900], "2 clusters; the largest, number 2, holds about 900 people.")],
)  # fmt: skip
def test_it_says_in_words_what_was_found(sizes, words):
    assert words in drawn(sizes=sizes, centers=np.zeros((len(sizes), 2))).alt


def test_fine_grids_are_thinned_out():
    figure = drawn(labels=np.zeros((1000, 300), dtype=int))
    assert max(figure.data["cells"]) <= 256


def test_a_plotly_figure_has_the_same_cells():
    figure = drawn(rows=[[1.0, 1.0]]).plotly()
    assert len(figure.data) == 2
    assert np.array(figure.data[0].z).shape == (3, 3)


def test_three_columns_are_refused():
    with pytest.raises(DimensionMismatch):
        drawn(labels=np.zeros((2, 2, 2), dtype=int))
