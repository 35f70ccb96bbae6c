import pytest

from shoal.figures.charts.meter import dots_svg, interval_svg, meter_svg, sample_svg


def test_a_share_is_a_bar_from_nothing_and_a_mean_a_dot_on_a_rail():
    share = meter_svg(2, 0.84, 0.81, 0.87, 0.48, is_share=True)
    mean = meter_svg(2, 0.84, 0.81, 0.87, 0.48, is_share=False)
    assert 'class="amount l2" d="M0 12H84"' in share
    assert 'class="point l2" d="M84 12h.01"' in mean
    assert 'class="drift l2" d="M48 12H84"' in mean
    assert "rail" not in share


def test_everyone_is_the_same_tick_in_both():
    drawn = [meter_svg(1, 0.5, None, None, 0.3, is_share=each) for each in (True, False)]
    assert all('class="tick" d="M30 2v20"' in each for each in drawn)


def test_whiskers_have_no_cap_where_the_scale_ends():
    both = meter_svg(1, 0.5, 0.2, 0.7, None, is_share=True)
    one = meter_svg(1, 0.5, 0.2, 1.0, None, is_share=True)
    assert both.count("8v8") == 4  # two ends, drawn twice
    assert one.count("8v8") == 2


def test_an_unstable_group_is_hatched_and_its_interval_dashed():
    drawn = meter_svg(1, 0.5, 0.2, 0.7, None, is_share=True, is_sure=False)
    assert 'class="amount l1 unsure"' in drawn
    assert 'class="whisker unsure"' in drawn
    assert "unsure" in interval_svg(1, 0.5, None, None)


def test_values_beyond_the_scale_stay_on_it():
    assert "H100" in meter_svg(1, 1.7, None, None, -2.0, is_share=True)
    assert 'd="M0 2v20"' in meter_svg(1, 1.7, None, None, -2.0, is_share=True)


def test_colours_repeat_after_six():
    assert "amount l1" in interval_svg(7, 0.5, 0.4, 0.6)


@pytest.mark.parametrize(("before", "after"), [(10, 24), (10, 99)])
def test_there_are_a_hundred_dots(before, after):
    drawn = dots_svg(before, after)
    assert drawn.count("h0") == 100
    assert drawn.count("<path") == 3


@pytest.mark.parametrize("kind", ["share", "mean", "everyone", "interval"])
def test_a_legend_shows_each_part_hidden_from_screen_readers(kind):
    assert 'aria-hidden="true"' in sample_svg(kind)
