import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InvalidSetting
from shoal.figures import class_sizes, figure_of

SIZES = st.dictionaries(st.integers(1, 10**6), st.integers(1, 50), min_size=1, max_size=30)


@pytest.mark.heavy
@given(SIZES, st.integers(2, 500))
def test_everybody_is_drawn_and_k_parts_the_columns(sizes, k):
    data = class_sizes(list(sizes.items()), k=k, title="Sizes").data
    everyone = sum(size * n for size, n in sizes.items())
    assert sum(data["shares"]) == pytest.approx(1, abs=1e-4)
    below = sum(s for s, small in zip(data["shares"], data["below"], strict=True) if small)
    small = sum(size * n for size, n in sizes.items() if size < k)
    assert below == pytest.approx(small / everyone, abs=1e-4)
    assert len(data["names"]) <= 9


def test_classes_below_k_are_told_in_words_and_drawn_apart():
    figure = class_sizes([[1, 30], [10, 7]], k=5, title="Sizes")
    assert "30 in 100 are in classes smaller than k = 5." in figure.alt
    assert 'class="bar below"' in figure.svg()
    assert 'class="bar below"' not in class_sizes([[10, 7]], k=5, title="Sizes").svg()


def test_no_classes_are_refused():
    with pytest.raises(InvalidSetting):
        class_sizes([], k=5, title="Sizes")


def test_the_picture_can_be_drawn_again_from_its_numbers():
    figure = class_sizes([[5, 4]], k=5, title="Sizes")
    assert figure_of(figure.to_dict()).svg() == figure.svg()
    assert figure.plotly().data[0].y == (1.0,)
