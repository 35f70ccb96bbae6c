import re

import pytest

from shoal.errors import InvalidSetting
from shoal.figures import figure_of, grouped_bars

BARS = {"laplace": {"0.5": (0.2, 0.05), "1": (0.6, 0.05)}, "piecewise": {"1": (0.1, 0.0)}}
WORDS = {
    "title": "AMI",
    "value": "AMI",
    "across": "Budget",
    "finding": "It rises",
    "band": "2 s.e.",
}


def test_there_is_a_bar_for_each_number_and_a_taller_one_for_more():
    svg = grouped_bars(BARS, **WORDS).svg()
    tops = [float(top) for top in re.findall(r'class="column l1" d="M\S+ \S+V([\d.]+)h', svg)]
    assert len(re.findall('class="column', svg)) == 3
    assert tops[1] < tops[0]  # upwards in a picture is less


def test_bars_of_one_group_stand_beside_each_other():
    svg = grouped_bars(BARS, **WORDS).svg()
    lefts = [float(x) for x in re.findall(r'class="column l\d" d="M([\d.]+) ', svg)]
    assert len(set(lefts)) == 3


def test_the_picture_can_be_drawn_again_from_its_numbers():
    drawn = grouped_bars(BARS, **WORDS)
    assert figure_of(drawn.to_dict()).svg(page=True) == drawn.svg(page=True)
    assert len(drawn.plotly().data) == 2


@pytest.mark.parametrize("bars", [{}, {"a": {}}, {k: {"1": (0.5, 0)} for k in "abcdefg"}])
def test_no_or_too_many_methods_are_refused(bars):
    with pytest.raises(InvalidSetting, match="1 to 6 methods"):
        grouped_bars(bars, **WORDS)
