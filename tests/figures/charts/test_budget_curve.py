import re

import numpy as np
import pytest

from shoal.errors import InvalidSetting
from shoal.figures import budget_curve, figure_of
from shoal.figures.charts._budget_curve import spread_labels

WORDS = {
    "title": "Inertia over plain",
    "value": "Inertia over plain (log)",
    "finding": "Ours is nearest",
    "best": 1.0,
    "best_name": "plain",
    "band": "Bands are 2 standard errors of 20 seeds.",
}
LINES = {"ours": [(0.1, 1.4, 0.1), (1.0, 1.0, 0.0)], "theirs": [(0.1, 25.0, 2.0), (1.0, 6.0, 1.0)]}


def heights(svg, css):
    path = re.findall(rf'<path [^>]*class="line {css}"[^>]*>', svg)[0]
    path = re.search(r' d="([^"]*)"', path)[1]
    return [float(point.split()[1]) for point in path[1:].split("L")]


def test_a_larger_loss_is_drawn_higher_and_the_best_at_the_foot():
    svg = budget_curve(LINES, **WORDS).svg()
    ours, theirs = heights(svg, "l1"), heights(svg, "l2")
    assert theirs[0] < theirs[1] < ours[0] < ours[1]
    assert ours[1] == 240  # the foot of the plot


def test_every_number_is_in_words_too():
    alt = budget_curve(LINES, **WORDS).alt
    assert "ours: 1.4 at 0.1; 1 at 1." in alt
    assert "theirs: 25 at 0.1; 6 at 1." in alt
    assert "lower is better" in alt
    assert alt.endswith("Bands are 2 standard errors of 20 seeds.")


@pytest.mark.heavy
def test_the_picture_can_be_drawn_again_from_its_numbers():
    figure = budget_curve(LINES, **WORDS)
    assert figure_of(figure.to_dict()).svg(page=True) == figure.svg(page=True)
    assert len(figure.plotly().data) == 2


def test_a_hostile_name_is_escaped_and_cut():
    name = "<script>" + "w" * 10_000
    svg = budget_curve({name: LINES["ours"]}, **WORDS).svg()
    assert "<script" not in svg.replace("&lt;script", "")


@pytest.mark.parametrize(
    "lines", [{}, {"a": []}, {str(i): LINES["ours"] for i in range(7)}], ids=["0", "empty", "7"]
)
def test_lines_that_cannot_be_told_apart_are_refused(lines):
    with pytest.raises(InvalidSetting, match="1 to 6 lines"):
        budget_curve(lines, **WORDS)


def test_marks_keep_apart_and_inside():
    moved = spread_labels([50, 50, 50, 240, 239, 0], 28, 240)
    gaps = np.diff(sorted(moved))
    assert gaps.min() >= 28
    assert (min(moved), max(moved)) == (28, 240)
    assert spread_labels([100, 30], 28, 240) == [100, 30]
