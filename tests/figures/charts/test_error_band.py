import re

import pytest

from shoal.errors import InvalidSetting
from shoal.figures import error_band, figure_of

BANDS = {
    "Central": [(0.1, 0.01, 0.2), (1, 0.001, 0.02), (5, 0.0005, 0.01)],
    "Local": [(1, 0.02, 0.3), (4, 0.01, 0.1)],
}
WORDS = {"title": "Errors", "wanted": 0.05, "finding": "It falls"}


def edges(svg, place):
    return re.findall(rf'class="line l{place}" d="M([^"]*)"', svg)


def test_more_budget_is_further_right_and_lower():
    upper, lower = edges(error_band(BANDS, **WORDS).svg(), 1)
    first, second, third = (tuple(map(float, point.split())) for point in upper.split("L"))
    assert first[0] < second[0] < third[0]
    assert first[1] < second[1] < third[1]  # downwards in a picture is less
    assert float(lower.split("L")[0].split()[1]) > first[1]


def test_the_picture_in_words_has_every_number():
    alt = error_band(BANDS, **WORDS).alt
    assert "Central: 1 to 20 % at 0.1; 0.1 to 2 % at 1; 0.05 to 1 % at 5." in alt
    assert "Local: 2 to 30 % at 1; 1 to 10 % at 4. A line marks 5 %." in alt


def test_the_picture_can_be_drawn_again_from_its_numbers():
    figure = error_band(BANDS, **WORDS)
    assert figure_of(figure.to_dict()).svg(page=True) == figure.svg(page=True)
    assert len(figure.plotly().data) == 4


@pytest.mark.parametrize("line", [[(1, 0.01, 0.02)], [(1, 0.0, 0.0)], [(0.1, 1e-9, 1), (9, 1, 1)]])
def test_a_single_or_extreme_band_stays_inside(line):
    for edge in edges(error_band({"one": line}, **WORDS).svg(), 1):
        for point in edge.split("L"):
            assert 28 <= float(point.split()[1]) <= 240


@pytest.mark.parametrize("bands", [{}, {"empty": []}, {key: [(1, 0.1, 0.2)] for key in "abcd"}])
def test_no_or_too_many_bands_are_refused(bands):
    with pytest.raises(InvalidSetting, match="1 to 3 bands"):
        error_band(bands, **WORDS)
