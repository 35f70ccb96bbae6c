import pytest

from shoal.errors import InvalidSetting
from shoal.figures import ProfileRow, figure_of, group_profile

SHARE = ProfileRow(
    "Secondary (level)", "84 in 100 (81 to 87)", "48 in 100", 0.84, 0.81, 0.87, 0.48, True
)
MEAN = ProfileRow("sessions", "13.8 (model)", "7.3", 0.6, None, None, 0.3, False)


def test_every_line_is_in_words_and_in_the_picture():
    figure = group_profile([SHARE, MEAN], number=2, title="Secondary & many sessions")
    assert "Secondary (level): 84 in 100 (81 to 87), everyone 48 in 100" in figure.alt
    picture = figure.svg()
    assert "&amp; many" in picture
    assert picture.count('class="trough"') == 1
    assert picture.count('class="row"') == 1  # the mean has no interval


def test_it_comes_back_from_its_numbers():
    figure = group_profile([SHARE, MEAN], number=1, title="x")
    assert figure_of(figure.to_dict()) == figure


def test_values_beyond_the_range_stay_inside_the_picture():
    far = SHARE._replace(here=7.0, low=float("nan"), high=2.0)
    assert "nan" not in group_profile([far], number=1, title="x").svg()


def test_a_profile_without_lines_is_refused():
    with pytest.raises(InvalidSetting):
        group_profile([], number=1, title="x")


def test_a_category_of_which_no_share_is_known_is_named_without_a_bar():
    mode = ProfileRow("sex", "F", "", None, None, None, None, is_share=False)
    figure = group_profile([MEAN, mode], number=1, title="x")
    assert "sex: F, the most common" in figure.alt
    assert figure.svg().count('class="bar"') == 1


def test_true_values_are_called_true_in_the_picture_and_in_words():
    figure = group_profile([MEAN], number=1, title="x", noisy=False)
    assert "true values" in figure.svg()
    assert "for the holder of the rows only" in figure.alt
    assert "true values" not in group_profile([MEAN], number=1, title="x").svg()
    assert figure_of(figure.to_dict()).svg() == figure.svg()
