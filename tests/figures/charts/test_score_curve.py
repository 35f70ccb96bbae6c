import re

import pytest

from shoal.errors import InvalidSetting
from shoal.figures import figure_of, score_curve

LINES = {"k-means": [(0.5, 0.2, 0.05), (9, 0.9, 0.01)], "OPTICS": [(0.5, 0.1, 0.0)]}
WORDS = {"title": "Agreement", "value": "AMI", "finding": "It rises", "band": "2 s.e."}


def heights(svg, place):
    (line,) = re.findall(rf'class="line l{place}" d="M([^"]*)"', svg)
    return [float(point.split()[1]) for point in line.split("L")]


def test_a_higher_score_is_drawn_higher_on_a_linear_axis():
    low, high = heights(score_curve(LINES, **WORDS).svg(), 1)
    assert low - high == pytest.approx(0.7 * (240 - 28), abs=0.2)


def test_scores_outside_0_to_1_stay_in_the_frame():
    drawn = score_curve({"odd": [(1, -0.2, 0.1), (2, 1.3, 0.1)]}, **WORDS)
    assert heights(drawn.svg(), 1) == [240, 28]


def test_the_score_without_data_is_drawn_and_told():
    drawn = score_curve(LINES, control=0.8, **WORDS)
    assert "without data" in drawn.svg()
    assert "Without data: 0.8." in drawn.alt


def test_the_picture_can_be_drawn_again_from_its_numbers():
    drawn = score_curve(LINES, control=0.3, **WORDS)
    assert figure_of(drawn.to_dict()).svg(page=True) == drawn.svg(page=True)
    assert len(drawn.plotly().data) == 2


@pytest.mark.parametrize("lines", [{}, {"empty": []}, {k: [(1, 0.5, 0)] for k in "abcdefg"}])
def test_no_or_too_many_lines_are_refused(lines):
    with pytest.raises(InvalidSetting, match="1 to 6 lines"):
        score_curve(lines, **WORDS)
