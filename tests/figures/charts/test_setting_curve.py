import re

import pytest

from shoal.errors import InvalidSetting
from shoal.figures import count_curve, figure_of

CURVE = {2: 9.0, 3: 1.0, 4: 0.9}
WORDS = {"value": "Inertia", "title": "How many"}


def line(svg):
    path = re.search(r'class="line l1" d="M([^"]*)"', svg)[1]
    return [tuple(map(float, point.split())) for point in path.split("L")]


def test_larger_numbers_are_higher_and_further_right():
    (x2, y2), (x3, y3), (x4, y4) = line(count_curve(CURVE, chosen=3, **WORDS).svg())
    assert x2 < x3 < x4
    assert y2 < y3 < y4  # downwards in a picture is less


def test_what_was_chosen_is_marked_and_said():
    figure = count_curve(CURVE, chosen=3, **WORDS)
    place = line(figure.svg())[1][0]
    assert f'class="limit" d="M{place:g} ' in figure.svg()
    assert "3 was chosen" in figure.alt


def test_the_picture_can_be_drawn_again_from_its_numbers():
    figure = count_curve(CURVE, chosen=3, **WORDS)
    assert figure_of(figure.to_dict()).svg(page=True) == figure.svg(page=True)
    assert list(figure.plotly().data[0].x) == [2, 3, 4]


@pytest.mark.parametrize("curve", [{5: 2.0}, {5: 0.0}, {5: -1.0, 6: -1.0}, {5: 0.5, 9: -0.5}])
def test_a_short_level_or_negative_curve_stays_inside(curve):
    for _, y in line(count_curve(curve, chosen=5, **WORDS).svg()):
        assert 40 <= y <= 252


def test_a_choice_off_the_curve_is_refused():
    with pytest.raises(InvalidSetting, match="not on the curve"):
        count_curve(CURVE, chosen=7, **WORDS)
