import re

import pytest

from shoal.errors import InvalidSetting
from shoal.figures import figure_of, icicle


@pytest.fixture
def drawn():
    labels = ["*", "old", "70 to 79", "80 to 89", "young"]
    return icicle(
        labels, [-1, 0, 1, 1, 0], [(0, 3), (0, 2), (0, 1), (1, 2), (2, 3)], [0, 0, 0.5, 0.1, 0.4],
        title="age",
    )  # fmt: skip


def test_every_label_that_fits_is_written_in_its_level(drawn):
    heights = {
        label: float(y)
        for y, label in re.findall(r'y="([\d.]+)">([^<]+)</text>', drawn.svg(page=True))
    }
    assert heights["*"] < heights["old"] == heights["young"] < heights["70 to 79"]


def test_darker_boxes_have_more_rows():
    svg = icicle(
        ["*", "a", "b", "c"], [-1, 0, 0, 0], [(0, 3), (0, 1), (1, 2), (2, 3)], [0, 0.9, 0.05, 0.05],
        title="x",
    ).svg(page=True)  # fmt: skip
    boxes = {
        css: re.search(f'class="{css}" [^>]*d="([^"]*)"', svg)[1].count("M")
        for css in ("q1", "q2", "q3")
    }
    assert boxes == {"q1": 1, "q2": 2, "q3": 1}


def test_labels_wider_than_their_box_are_shortened_or_left_out():
    leaves = 60
    labels = ["root", *(f"a long label {i}" for i in range(leaves))]
    spans = [(0, leaves), *((i, i + 1) for i in range(leaves))]
    drawn = icicle(labels, [-1, *[0] * leaves], spans, [1.0, *[0.0] * leaves], title="many")
    assert "long label" not in drawn.svg(page=True).split("</desc>")[1]


def test_the_picture_can_be_drawn_again_from_its_numbers(drawn):
    assert figure_of(drawn.to_dict()).svg() == drawn.svg()


def test_thousands_of_leaves_stay_a_small_picture():
    leaves = 5_000
    labels = ["*", *map(str, range(leaves))]
    spans = [(0, leaves), *((i, i + 1) for i in range(leaves))]
    drawn = icicle(labels, [-1, *[0] * leaves], spans, [0.0, *[1 / leaves] * leaves], title="ids")
    assert len(drawn.svg(page=True)) < 100_000


def test_lists_of_unequal_length_are_refused():
    with pytest.raises(InvalidSetting):
        icicle(["*"], [-1], [], [1.0], title="nothing")
