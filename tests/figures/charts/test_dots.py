from shoal.figures import dots


def test_a_hundred_dots_are_drawn_however_many_are_filled():
    for before, after in ((0, None), (10, 24), (10, 99), (50, 50)):
        assert dots(before, after).svg().count("h0") == 100


def test_the_words_say_what_was_added():
    assert dots(10, 24).alt == "24 of 100 dots are filled, 14 of them added by this release."


def test_plotly_shows_the_same_hundred():
    assert len(dots(10, 24).plotly().data[0].x) == 100
