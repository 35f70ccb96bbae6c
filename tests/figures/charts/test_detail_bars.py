import pytest

from shoal.errors import InvalidSetting
from shoal.figures import detail_bars, figure_of


def test_a_bar_is_as_long_as_its_share():
    svg = detail_bars({"age": 0.5, "sex": 1}, title="Kept", axis="Detail kept").svg()
    assert "M256 20H404v22H256z" in svg  # half of 256 to 552
    assert "M256 54H552v22H256z" in svg


@pytest.mark.parametrize("kept", [{}, {"age": 1.2}, {"age": float("nan")}])
def test_what_is_no_share_is_refused(kept):
    with pytest.raises(InvalidSetting):
        detail_bars(kept, title="Kept", axis="Detail kept")


def test_many_columns_are_cut_and_said_so():
    figure = detail_bars({f"c{i}": 0.5 for i in range(30)}, title="Kept", axis="Detail kept")
    assert len(figure.data["names"]) == 20
    assert figure.note == "The first 20; the other 10 are in the table."


def test_the_picture_can_be_drawn_again_from_its_numbers():
    figure = detail_bars({"age": 0.5}, title="Kept", axis="Detail kept")
    assert figure_of(figure.to_dict()).svg() == figure.svg()
    assert figure.plotly().data[0].x == (0.5,)
