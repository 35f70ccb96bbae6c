import pytest

from shoal.errors import InvalidSetting
from shoal.figures import figure_of, roc_panels

CURVE = [(0, 0), (0.2, 0.5), (1, 1)]


def drawn(names):
    notes = dict.fromkeys(names, "AUC 0.6")
    return roc_panels(dict.fromkeys(names, CURVE), notes=notes, title="ROC", finding="Some")


def test_each_attack_has_a_panel_of_its_own():
    svg = drawn("abcd").svg()
    assert svg.count('class="line l1"') == 4
    assert 'viewBox="0 0 1000 196"' in svg


def test_the_picture_can_be_drawn_again_from_its_numbers():
    figure = drawn("ab")
    assert figure_of(figure.to_dict()).svg(page=True) == figure.svg(page=True)
    assert len(figure.plotly().data) == 2


@pytest.mark.parametrize("names", ["", "abcde"])
def test_none_or_more_than_a_row_are_refused(names):
    with pytest.raises(InvalidSetting):
        drawn(names)
