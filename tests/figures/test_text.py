from hypothesis import given
from hypothesis import strategies as st

from shoal.figures.text import clean, number, shorten


def test_characters_that_reorder_words_are_shown_as_replaced():
    for hidden in "\u202e\u2066\u200f\x1b\x07\ufeff":
        assert clean(f"a{hidden}b") == "a\ufffdb"


def test_words_of_any_script_pass_unchanged():
    for words in ("Größe", "年齢", "العمر", "naïve", "line\nline", "नमस्ते\u200d"):
        assert clean(words) == words


@given(st.text(), st.integers(1, 50))
def test_shortened_text_keeps_its_length_limit(text, at):
    assert len(shorten(text, at)) <= at


def test_numbers_have_thousands_commas_and_no_negative_zero():
    assert [number(v) for v in (1234567, 999.5, 0.00012, -0.0, -3.5)] == [
        "1,234,567",
        "999.5",
        "0.00012",
        "0",
        "-3.5",
    ]
