import pytest

from shoal.errors import InvalidSetting
from shoal.figures import before_after, figure_of


@pytest.fixture
def drawn():
    return before_after(["F", "M"], [0.4, 0.6], [0.5, 0.5], title="sex")


def test_each_value_has_two_bars_and_both_shares(drawn):
    svg = drawn.svg(page=True)
    assert svg.count('class="under"') == svg.count('class="bar"') == 3  # one in the key
    assert "40 % → 50 %" in svg


def test_the_words_name_the_largest_change(drawn):
    assert "Largest change: F, from 40 % to 50 %" in drawn.alt


def test_the_picture_can_be_drawn_again_from_its_numbers(drawn):
    assert figure_of(drawn.to_dict()).svg() == drawn.svg()


def test_long_names_are_shortened():
    svg = before_after(["x" * 50], [1.0], [1.0], title="long").svg(page=True)
    assert "x" * 17 not in svg.split("</desc>")[1]


def test_lists_of_unequal_length_are_refused():
    with pytest.raises(InvalidSetting):
        before_after(["F"], [0.4, 0.6], [1.0], title="sex")
