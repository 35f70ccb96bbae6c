import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.figures.svg import nice_ticks
from shoal.figures.text import (
    format_number,
    format_ticks,
    letters_wide,
    replace_controls,
    shorten,
    shorten_to_width,
)


def test_characters_that_reorder_words_are_shown_as_replaced():
    for hidden in "\u202e\u2066\u200f\x1b\x07\ufeff":
        assert replace_controls(f"a{hidden}b") == "a\ufffdb"


def test_words_of_any_script_pass_unchanged():
    for words in ("Größe", "年齢", "العمر", "naïve", "line\nline", "नमस्ते\u200d"):
        assert replace_controls(words) == words


@given(st.text(), st.integers(1, 50))
def test_shortened_text_keeps_its_length_limit(text, at):
    assert len(shorten(text, at)) <= at


def test_numbers_are_exact_with_commas_for_large_ones_and_no_negative_zero():
    shown = {
        1234567: "1,234,567",
        1234567.25: "1,234,567.25",
        -74.00597: "-74.00597",
        40.705: "40.705",
        0.1 + 0.2: "0.3",
        999.5: "999.5",
        9999: "9999",
        10_000: "10,000",
        0.00012: "0.00012",
        1e-12: "1e-12",
        1e18: "1e+18",
        -0.0: "0",
        -3.5: "-3.5",
    }
    assert [format_number(value) for value in shown] == list(shown.values())
    assert format_number(55 / 3, 1) == "18.3"
    assert format_number(-0.01, 1) == "0"


def test_ticks_of_a_narrow_axis_can_be_told_apart():
    ticks = nice_ticks(40.705, 40.725, 5)
    assert format_ticks(ticks) == ["40.705", "40.710", "40.715", "40.720", "40.725"]
    assert format_ticks(nice_ticks(1990, 2030, 5)) == ["1990", "2000", "2010", "2020", "2030"]
    assert format_ticks(nice_ticks(-20_000, 20_000, 4))[0] == "-20,000"
    assert format_ticks(nice_ticks(-1, 1, 4)) == ["-1.0", "-0.5", "0.0", "0.5", "1.0"]
    assert format_ticks([]) == []


@pytest.mark.heavy
@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.integers(2, 8))
def test_no_two_ticks_read_alike(low, width, about):
    ticks = nice_ticks(low, low + width, about)
    words = format_ticks(ticks)
    assert len(set(words)) == len(ticks)
    for tick, shown in zip(ticks, words, strict=True):
        assert abs(float(shown.replace(",", "")) - tick) <= 1e-6 * width + 1e-9


def test_wide_letters_are_cut_sooner_than_narrow_ones():
    assert len(shorten_to_width("w" * 50, 10)) < len(shorten_to_width("i" * 50, 10))
    assert all(letters_wide(shorten_to_width(c * 50, 10)) <= 10 for c in "wai")
