import re

import pytest

from shoal.errors import InvalidSetting
from shoal.figures import figure_of, score_marks

SCORES = {
    "AMI": {"value": 0.9, "plain": 1.0, "control": 0.4, "shuffled": -0.1},
    "ARI": {"value": 0.5, "plain": None, "control": None, "shuffled": 0.0},
}


def places(svg, css):
    return [float(x) for x in re.findall(rf'class="{css}" d="M([\d.]+) ', svg)]


def test_marks_lie_by_their_scores():
    svg = score_marks(SCORES, title="Scores").svg()
    _, ami, ari = sorted(places(svg, "bar"), key=lambda x: x != places(svg, "bar")[0])
    _, control = places(svg, "limit")
    _, shuffled, later = places(svg, "truth")
    assert shuffled < later < control < ari < ami


def test_everything_is_told_in_words():
    alt = score_marks(SCORES, title="Scores").alt
    assert "AMI: found 0.9, plain 1, without data 0.4, shuffled -0.1." in alt
    assert "ARI: found 0.5, shuffled 0." in alt


def test_the_picture_can_be_drawn_again_from_its_numbers():
    figure = score_marks(SCORES, title="Scores")
    assert figure_of(figure.to_dict()).svg(page=True) == figure.svg(page=True)
    assert [trace.name for trace in figure.plotly().data] == [
        "found", "plain", "without data", "shuffled",
    ]  # fmt: skip


@pytest.mark.parametrize("scores", [{}, {"AMI": {"value": None}}])
def test_nothing_to_draw_is_refused(scores):
    with pytest.raises(InvalidSetting):
        score_marks(scores, title="Scores")
