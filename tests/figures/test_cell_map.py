import re
from xml.etree import ElementTree

import numpy as np
import pytest

from shoal.errors import DimensionMismatch
from shoal.figures import cell_map
from shoal.figures.cell_map import BOTTOM, LEFT, RIGHT, TOP
from shoal.figures.cells import shade_levels

BOX = {"names": ["age", "visits"], "low": [0, 0], "high": [100, 20], "title": "Visits by age"}


def covered(figure):
    """Area covered by each shade's dashes, from the picture alone."""
    areas = {}
    for element in ElementTree.fromstring(figure.svg()).iter():
        css = element.get("class", "")
        if css.startswith("cells"):
            lengths = re.findall(r"h([\d.]+)", element.get("d"))
            area = sum(map(float, lengths)) * float(element.get("stroke-width"))
            areas[css[-1]] = areas.get(css[-1], 0) + area
    return areas


def test_axes_span_the_public_box_whatever_the_counts():
    crowded = cell_map(np.eye(4, dtype=int) * 9, **BOX)
    empty = cell_map(np.zeros((4, 4), dtype=int), **BOX)
    for figure in (crowded, empty):
        assert f"M{LEFT} {TOP}H{RIGHT}V{BOTTOM}H{LEFT}z" in figure.svg()
        assert ">100<" in figure.svg()
        assert "age from 0 to 100 across, visits from 0 to 20 upwards" in figure.alt


def test_counts_of_zero_or_less_stay_empty():
    assert covered(cell_map([[-5, 0], [-1, 0]], **BOX)) == {}


def test_every_positive_cell_is_covered_once():
    counts = np.array([[1, -1, 4], [9, 0, 200]])
    total = (RIGHT - LEFT) * (BOTTOM - TOP)
    assert sum(covered(cell_map(counts, **BOX)).values()) == pytest.approx(total * 4 / 6, rel=0.02)


def test_the_first_column_runs_across_and_the_second_upwards():
    counts = np.zeros((4, 4), dtype=int)
    counts[3, 0] = 50  # far right, at the bottom
    (path,) = (
        e
        for e in ElementTree.fromstring(cell_map(counts, **BOX).svg()).iter()
        if e.get("class", "").startswith("cells")
    )
    x, y = map(float, re.match(r"M([\d.]+) ([\d.]+)", path.get("d")).groups())
    assert x > (LEFT + RIGHT) / 2
    assert y > (TOP + BOTTOM) / 2


def test_more_people_never_get_a_paler_shade():
    levels = shade_levels(np.array([0, 1000]))
    assert levels == sorted(levels)
    assert levels[0] == 1
    assert shade_levels(np.array([1])) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(("shape", "factor"), [((100, 100), 1), ((101, 100), 2), ((500, 333), 8)])
def test_a_large_map_is_merged_and_says_so(shape, factor):
    counts = np.random.default_rng(1).integers(-2, 50, shape)
    figure = cell_map(counts, **BOX)
    drawn = np.array(figure.data["noisy_counts"])
    assert figure.data["merged"] == factor
    assert drawn.size <= 10_000
    assert drawn.sum() == counts.sum()
    assert (f"{factor} x {factor} to one" in figure.note) == (factor > 1)
    assert figure.note in figure.alt


def test_the_largest_map_stays_under_120_kilobytes():
    counts = np.random.default_rng(1).integers(-5, 400, (100, 100))
    assert len(cell_map(counts, **BOX).svg(page=True)) < 120_000


def test_centres_are_marked_and_numbered():
    figure = cell_map(np.ones((3, 3)), **BOX, centers=[[50, 10], [0, 0]])
    assert f'transform="translate({(LEFT + RIGHT) // 2} {(TOP + BOTTOM) // 2})"' in figure.svg()
    assert figure.svg().count('class="mark') == 2


def test_the_words_name_the_densest_areas_unless_told():
    counts = np.zeros((10, 10), dtype=int)
    counts[5, 5] = 100
    assert "The densest area lies near age 55, visits 11." in cell_map(counts, **BOX).alt
    assert "No cell stands out." in cell_map(counts * 0, **BOX).alt
    said = cell_map(counts, **BOX, finding="Most are 55.")
    assert "means more people. Most are 55. Counts are noisy." in said.alt


@pytest.mark.parametrize("counts", [np.zeros(4), np.zeros((2, 2, 2)), np.zeros((0, 2))])
def test_anything_but_two_columns_is_refused(counts):
    with pytest.raises(DimensionMismatch):
        cell_map(counts, **BOX)


def test_a_long_axis_title_is_cut_in_the_picture():
    figure = cell_map([[1]], **(BOX | {"names": ["x" * 10_000, "y"]}))
    assert "x" * 41 not in figure.svg().split("</desc>")[1]
    assert len(figure.alt) < 1_000


def test_plotly_gets_the_same_counts_and_no_negative_ones():
    heat = cell_map([[3, -1], [0, 5]], **BOX).plotly().data[0]
    assert np.nansum(heat.z) == 8
    assert list(heat.x) == [0, 50, 100]
