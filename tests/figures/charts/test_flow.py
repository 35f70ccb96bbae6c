import re

import pytest

from shoal.errors import InvalidSetting
from shoal.figures import figure_of, flow_chart

STEPS = [("noise", "", ""), ("remap", "the rows", "a grid"), ("groups", "", "a law")]
WORDS = {"left": "printed", "right": "here", "title": "Steps", "finding": "One reads the rows"}


def tops(svg, css):
    return [int(top) for top in re.findall(rf'class="{css}" d="M\d+ (\d+)H\d+v36', svg)]


def test_an_input_stands_beside_the_step_that_reads_it():
    svg = flow_chart(STEPS, **WORDS).svg()
    noise, remap, groups = (40, 106, 172)
    assert tops(svg, "limit") == [remap]
    assert sorted(tops(svg, "frame")) == [noise, remap, remap, groups, groups]


def test_steps_are_joined_from_top_to_bottom():
    arrows = re.findall(r'd="M320 (\d+)V(\d+)', flow_chart(STEPS, **WORDS).svg())
    assert arrows == [("76", "106"), ("142", "172")]


def test_words_say_what_each_step_reads():
    alt = flow_chart(STEPS, **WORDS).alt
    assert alt.startswith("One reads the rows. From top to bottom: noise; remap, reads printed")
    assert "groups, reads printed: nothing more, here: a law" in alt


def test_the_picture_can_be_drawn_again_from_its_numbers():
    figure = flow_chart(STEPS, **WORDS)
    assert figure_of(figure.to_dict()).svg(page=True) == figure.svg(page=True)
    assert list(figure.plotly().data[0].cells["values"][0]) == ["noise", "remap", "groups"]


def test_a_flow_without_steps_is_refused():
    with pytest.raises(InvalidSetting, match="steps"):
        flow_chart([], **WORDS)
