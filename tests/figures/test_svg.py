from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.figures.svg import Svg, mark_svg, nice_ticks

HOSTILE = ["</script><script>alert(1)</script>", '"onload="alert(1)', "a\u202eb", "]]>", "&amp;<"]


@pytest.mark.parametrize("words", HOSTILE)
def test_words_come_out_as_words(words):
    svg = Svg(100, 100, words, words)
    svg.text(1, 2, words, "middle")
    tree = ElementTree.fromstring(svg.render(page=False))
    shown = words.replace("\u202e", "\ufffd")
    texts = [e.text for e in tree.iter() if not e.tag.endswith("style") and e.text]
    assert texts == [shown] * 3
    assert {name for e in tree.iter() for name in e.attrib} <= {
        *("class", "viewBox", "role", "aria-labelledby", "id", "x", "y")
    }


def test_a_file_brings_its_colours_and_a_page_does_not():
    svg = Svg(100, 100, "title", "alt")
    assert "<style>" in svg.render(page=False)
    assert "var(--" not in svg.render(page=False)
    assert "<style>" not in svg.render(page=True)


def test_a_seventh_mark_has_the_first_colour_and_another_shape():
    first, second, seventh = mark_svg(1), mark_svg(2), mark_svg(7)
    assert first.replace(">1<", ">7<") != seventh
    assert second.replace(">2<", ">7<").replace("mark s2", "mark s1") == seventh


def test_no_two_of_thirty_six_marks_have_one_colour_and_shape():
    marks = {mark_svg(number).replace(f">{number}<", "><") for number in range(1, 37)}
    assert len(marks) == 36


@pytest.mark.heavy
@given(
    st.floats(-1e9, 1e9, allow_nan=False),
    st.floats(1e-6, 1e9, allow_nan=False),
    st.integers(3, 9),
)
def test_ticks_lie_inside_and_are_few(low, width, about):
    high = low + width
    if high - low < 1e-9 * max(abs(low), 1):
        return
    ticks = nice_ticks(low, high, about)
    slack = 1e-6 * (high - low) + 1e-9 * abs(low)
    assert all(low - slack <= t <= high + slack for t in ticks)
    assert len(ticks) <= 3 * about
