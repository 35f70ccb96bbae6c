import re

import pytest

from shoal.errors import InvalidSetting
from shoal.figures import figure_of, roc_curve

LINE = [(0, 0.0, 0.0, 0.1), (0.1, 0.3, 0.2, 0.4), (1, 1.0, 0.9, 1.0)]
BARE = [(x, y, None, None) for x, y, *_ in LINE]
WORDS = {"title": "Attack", "finding": "It finds some", "band": "5 games."}


def places(svg, css):
    path = re.search(rf'class="{css}" d="M([^"]*)"', svg)[1]
    return [tuple(map(float, point.split())) for point in path.rstrip("z").split("L")]


def test_more_found_is_higher_and_more_false_alarms_further_right():
    (x0, y0), (x1, y1), (x2, y2) = places(roc_curve({"forest": LINE}, **WORDS).svg(), "line l1")
    assert x0 < x1 < x2
    assert y0 > y1 > y2


def test_the_curve_lies_in_its_band_and_chance_is_the_diagonal():
    svg = roc_curve({"forest": LINE}, **WORDS).svg()
    band = places(svg, "band l1")
    assert len(band) == 6
    assert places(svg, "truth") == [places(svg, "line l1")[0], places(svg, "line l1")[-1]]


def test_without_a_band_none_is_drawn():
    assert 'class="band l1"' not in roc_curve({"forest": BARE}, **WORDS).svg()


def test_the_ceiling_is_drawn_and_named_and_its_absence_is_said():
    figure = roc_curve({"forest": LINE}, ceiling=[(0, 0), (0.2, 0.5), (1, 1)],
                       ceiling_name="ceiling: epsilon 1", **WORDS)  # fmt: skip
    assert len(places(figure.svg(), "cross")) == 3
    assert "Ceiling: epsilon 1." in figure.alt
    none = roc_curve({"forest": LINE}, ceiling_name="no ceiling: labels unprotected", **WORDS)
    assert 'class="cross"' not in none.svg()
    assert "no ceiling: labels unprotected" in none.svg()


def test_rates_are_told_in_words():
    assert "forest: 0.3 at 0.1." in roc_curve({"forest": LINE}, **WORDS).alt


def test_the_picture_can_be_drawn_again_from_its_numbers():
    figure = roc_curve({"a": LINE, "b": BARE}, ceiling=[(0, 0), (1, 1)], ceiling_name="c", **WORDS)
    assert figure_of(figure.to_dict()).svg(page=True) == figure.svg(page=True)
    assert [trace.name for trace in figure.plotly().data] == [None, "a", "b", "chance", "c"]


@pytest.mark.parametrize("lines", [{}, {"a": []}, {str(i): LINE for i in range(5)}])
def test_nothing_to_draw_or_too_much_is_refused(lines):
    with pytest.raises(InvalidSetting):
        roc_curve(lines, **WORDS)
