import re
from xml.etree import ElementTree

import numpy as np
import pytest

from shoal.errors import DimensionMismatch, InvalidDomain, NotFinite, NotNumeric
from shoal.figures import cell_map, dense_areas, figure_of, true_cell_map
from shoal.figures.maps._cell_map import BOTTOM, LEFT, RIGHT, TOP
from shoal.figures.maps._cell_paths import shade_levels

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


@pytest.mark.heavy
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


def test_true_counts_are_labelled_true_and_noisy_ones_noisy():
    counts = [[0, 9], [1, 0]]
    noisy, true = cell_map(counts, **BOX), true_cell_map(counts, **BOX, centers=[[1, 2]])
    assert "people in a cell, noisy" in texts(noisy)
    assert "people in a cell, true" in texts(true)
    assert true.alt.endswith("Counts are true: for the holder of the rows only.")
    assert "noisy" not in true.svg() + str(true.to_dict())
    assert "true" not in noisy.alt
    assert covered(true) == covered(noisy)
    assert figure_of(true.to_dict()).svg() == true.svg()


@pytest.mark.heavy
def test_a_large_map_of_true_counts_speaks_of_no_release():
    assert true_cell_map(np.ones((500, 333)), **BOX).note == (
        "The 500 x 333 cells are drawn merged, 8 x 8 to one."
    )


@pytest.mark.parametrize("counts", [np.zeros(4), np.zeros((2, 2, 2)), np.zeros((0, 2))])
def test_anything_but_two_columns_is_refused(counts):
    with pytest.raises(DimensionMismatch):
        cell_map(counts, **BOX)


def texts(figure):
    return [e.text for e in ElementTree.fromstring(figure.svg()).iter() if e.tag.endswith("text")]


def test_places_on_a_street_map_can_be_read_off():
    box = {"names": ["lon", "lat"], "low": [-74.01, 40.705], "high": [-73.99, 40.725]}
    figure = cell_map(np.eye(10, dtype=int), **box, title="A few streets")
    assert {"40.705", "40.710", "40.715", "40.720", "40.725"} <= set(texts(figure))
    assert "lon from -74.01 to -73.99 across, lat from 40.705 to 40.725 upwards" in figure.alt
    assert len(set(texts(figure))) == len(texts(figure))
    assert "lon -74.007, lat 40.708" in figure.alt


def test_years_have_no_comma():
    figure = cell_map([[1]], **(BOX | {"names": ["year", "age"], "low": [1990, 0]} |
                                {"high": [2030, 100]}))  # fmt: skip
    assert {"1990", "2000", "2030"} <= set(texts(figure))
    assert "year from 1990 to 2030" in figure.alt


def test_long_labels_move_the_map_and_thin_out():
    short = cell_map([[1]], **BOX).svg()
    large = cell_map([[1]], **(BOX | {"high": [100_000_000, 5_000_000]}))
    assert f"M{LEFT} {TOP}H{RIGHT}" in short
    assert f"M{LEFT} {TOP}H{RIGHT}" not in large.svg()
    assert len([words for words in texts(large) if words.endswith("0,000,000")]) <= 4


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"low": [0, 20]}, InvalidDomain),
        ({"low": [0, 30]}, InvalidDomain),
        ({"low": [0, np.nan]}, InvalidDomain),
        ({"high": [np.inf, 20]}, InvalidDomain),
        ({"low": [-1e308, 0], "high": [1e308, 20]}, InvalidDomain),
        ({"low": ["a", "b"]}, NotNumeric),
        ({"low": [0, 0, 0]}, DimensionMismatch),
        ({"low": 0, "high": 1}, DimensionMismatch),
        ({"noisy_counts": [[0.5, 1]]}, NotNumeric),
        ({"noisy_counts": [[np.nan, 1]]}, NotNumeric),
        ({"noisy_counts": [["a", "b"]]}, NotNumeric),
        ({"noisy_counts": [[1, 2], [3]]}, NotNumeric),
        ({"noisy_counts": [[1e19]]}, NotNumeric),
        ({"centers": [[1, 2, 3]]}, DimensionMismatch),
        ({"centers": [[1, np.nan]]}, NotFinite),
    ],
    ids=str,
)
def test_what_makes_no_map_is_a_named_error(changed, error):
    with pytest.raises(error) as caught:
        cell_map(**({"noisy_counts": [[1, 2]]} | BOX | changed))
    assert caught.value.hint


def test_whole_numbers_may_come_as_floats():
    assert cell_map([[1.0, -2.0]], **BOX).data["noisy_counts"] == [[1, -2]]


def test_a_long_axis_title_is_cut_in_the_picture():
    figure = cell_map([[1]], **(BOX | {"names": ["x" * 10_000, "y"]}))
    assert "x" * 41 not in figure.svg().split("</desc>")[1]
    assert len(figure.alt) < 1_000


def test_plotly_gets_the_same_counts_and_no_negative_ones():
    heat = cell_map([[3, -1], [0, 5]], **BOX).plotly().data[0]
    assert np.nansum(heat.z) == 8
    assert list(heat.x) == [0, 50, 100]


def test_rings_show_how_far_noise_may_reach_and_end_where_the_box_does():
    words = {"names": ["a", "b"], "low": [0, 0], "high": [10, 10], "title": "Groups"}
    ringed = cell_map(np.ones((4, 4)), centers=[[5, 5]], reach=[[1, 100]], **words)
    bare = cell_map(np.ones((4, 4)), centers=[[5, 5]], **words)
    (ring,) = re.findall(r'<path [^>]*class="ring"[^>]*>', ringed.svg())
    points = re.search(r'd="M([^"]*)z"', ring)[1].split("L")
    across, upwards = zip(*(map(float, point.split()) for point in points), strict=True)
    assert max(across) - min(across) == pytest.approx((626 - 74) / 5, abs=15)
    assert (min(upwards), max(upwards)) == (44, 378)
    assert 'class="ring"' not in bare.svg()
    assert figure_of(ringed.to_dict()) == ringed


def test_the_densest_block_comes_first_and_blocks_do_not_overlap():
    counts = np.random.default_rng(3).poisson(2, (20, 12))
    counts[4:7, 4:7] += 50
    counts[14:17, 2:5] += 30
    areas = dense_areas(counts, (0, 0), (20, 12), how_many=5)
    assert areas[0].middle == (5.5, 5.5)
    assert areas[1].middle == (15.5, 3.5)
    for i, one in enumerate(areas):
        for other in areas[:i]:
            apart = [
                one.low[a] >= other.high[a] - 1e-9 or other.low[a] >= one.high[a] - 1e-9
                for a in (0, 1)
            ]
            assert any(apart)


def test_an_area_reports_the_sum_of_its_cells():
    counts = np.arange(36).reshape(6, 6)
    (area,) = dense_areas(counts, (0, 0), (60, 6), how_many=1)
    assert area.noisy_count == counts[3:, 3:].sum()
    assert (area.low, area.high, area.cells) == ((30.0, 3.0), (60.0, 6.0), 9)


def test_a_map_of_nothing_has_no_areas():
    assert dense_areas(np.full((5, 5), -3), (0, 0), (1, 1)) == []


def test_a_grid_of_one_cell_is_one_area():
    assert [a.noisy_count for a in dense_areas([[7]], (0, 0), (1, 1))] == [7]


def test_areas_come_in_order_of_their_counts_and_only_above_what_is_asked():
    counts = np.random.default_rng(5).poisson(3, (30, 30))
    sums = [area.noisy_count for area in dense_areas(counts, (0, 0), (1, 1), how_many=20)]
    assert sums == sorted(sums, reverse=True)
    high = dense_areas(counts, (0, 0), (1, 1), how_many=20, above=38)
    assert 0 < len(high) < 20
    assert all(area.noisy_count > 38 for area in high)
