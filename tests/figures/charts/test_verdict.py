import re

import pytest

from shoal.figures import figure_of, verdict_figure

NUMBERS = {
    "verdict": "violated",
    "measured": 1.3,
    "claim": 1.0,
    "title": "Audit",
    "unit": "epsilon",
}
EVENT = {"ceiling": 9.7, "event": "z > 2", "counts": (500, 80, 1_000)}


def bars(svg):
    return [float(end) for end in re.findall(r'class="bar[^"]*" d="M110 [\d.]+H([\d.]+)', svg)]


def place(svg, css):
    return float(re.search(rf'class="{css}" d="M([\d.]+) ', svg)[1])


def test_what_was_found_ends_beyond_the_claim_it_violates():
    svg = verdict_figure(**NUMBERS, **EVENT).svg()
    found, often, seldom = bars(svg)
    assert place(svg, "limit") < found < place(svg, "frame")
    assert seldom < often


def test_words_say_what_the_picture_shows():
    alt = verdict_figure(**NUMBERS, **EVENT).alt
    assert "1.3 found, 1 claimed, 9.7 at most" in alt
    assert "500 and 80 of 1,000" in alt
    assert "nothing claimed" in verdict_figure(**{**NUMBERS, "claim": None}).alt


@pytest.mark.parametrize("more", [{}, EVENT])
def test_the_picture_can_be_drawn_again_from_its_numbers(more):
    figure = verdict_figure(**NUMBERS, **more)
    assert figure_of(figure.to_dict()).svg(page=True) == figure.svg(page=True)
    assert list(figure.plotly().data[0].x) == [1.3]


@pytest.mark.parametrize(("found", "claim"), [(0.0, None), (0.0, 0.0), (0.0, 1e-6), (9.0, 1e3)])
def test_nothing_found_or_a_far_claim_stays_inside(found, claim):
    svg = verdict_figure(**{**NUMBERS, "measured": found, "claim": claim}).svg()
    assert all(110 <= end <= 612 for end in bars(svg))
