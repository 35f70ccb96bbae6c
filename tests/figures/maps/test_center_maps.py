from xml.etree import ElementTree

import pytest

from shoal.errors import InvalidSetting
from shoal.figures import CenterPanel, center_maps, figure_of

LEFT = CenterPanel(
    "Plain", "two rows", centers=[[1, 1], [9, 9]], points=[[1, 1], [9, 9]], groups=[0, 1]
)
RIGHT = CenterPanel("Private", cells=[[5, 0], [0, 4]], centers=[[1.2, 0.9], [8.8, 9.1]])


def drawn(*panels):
    axes = {"names": ["x", "Years"], "low": [0, 0], "high": [10, 10]}
    return center_maps(panels, **axes, title="Two maps", finding="They agree.")


def marks_of(svg):
    return [e for e in ElementTree.fromstring(svg).iter() if e.get("class", "").startswith("mark")]


def test_every_centre_has_its_numbered_mark_in_each_map():
    assert len(marks_of(drawn(LEFT, RIGHT).svg())) == 4


def test_points_are_coloured_by_their_group():
    svg = drawn(LEFT).svg()
    assert 'class="speck large c1"' in svg
    assert 'class="speck large c2"' in svg


def test_many_points_are_drawn_smaller():
    assert 'class="speck c1"' in drawn(CenterPanel("Many", points=[[1, 1]] * 301)).svg()


def test_the_description_has_axes_finding_and_maps():
    assert drawn(LEFT, RIGHT).alt == (
        "x from 0 to 10 across, Years from 0 to 10 upwards. They agree. "
        "Maps: Plain - two rows; Private."
    )


def test_the_figure_is_drawn_again_from_its_numbers():
    figure = drawn(LEFT, RIGHT)
    assert figure_of(figure.to_dict()).svg() == figure.svg()


def test_hostile_titles_are_escaped():
    svg = drawn(CenterPanel("</svg><script>", "\u202eabc", points=[[1, 1]])).svg()
    assert "<script>" not in svg
    assert "\u202e" not in svg


@pytest.mark.parametrize("panels", [(), (LEFT,) * 5])
def test_no_map_and_five_maps_are_refused(panels):
    with pytest.raises(InvalidSetting, match="1 to 4 maps"):
        drawn(*panels)


def test_an_interactive_figure_has_a_plot_for_each_map():
    pytest.importorskip("plotly")
    assert len(drawn(LEFT, RIGHT).plotly().data) == 4
