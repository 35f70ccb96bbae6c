import re

import numpy as np

from shoal.figures.maps._cluster_map import MOST_LINES, draw_peaks, order_peaks, peaks_height
from shoal.figures.svg import Svg

TREE = [(0, 9.0, 0.0, -1), (1, 8.0, 0.0, -1), (2, 7.0, 2.0, 0), (3, 6.0, 4.0, 0), (4, 5.0, 3.0, 3)]


def drawn(branches):
    svg = Svg(640, 440, "Tree", "A tree")
    draw_peaks(svg, branches, 100)
    return svg.render(page=True)


def test_each_peak_stands_under_the_one_it_joins():
    order = [cluster for cluster, *_ in order_peaks(TREE)]
    assert order == [0, 3, 4, 2, 1]


def test_lines_that_join_cross_no_other():
    """Between a peak and the one it joins, every line begins further to the right."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        peaks = np.sort(rng.uniform(1, 9, 12))[::-1]
        tree = [(0, float(peaks[0]), 0.0, -1)]
        for i in range(1, 12):
            other = int(rng.integers(-1, i))
            low = 0.0 if other < 0 else tree[other][2]
            joins = 0.0 if other < 0 else float(rng.uniform(low, 1))
            tree.append((i, float(peaks[i]), joins, other))
        order = order_peaks(tree)
        place = {branch[0]: i for i, branch in enumerate(order)}
        for cluster, _, joins, other in order:
            between = order[place[other] + 1 : place[cluster]] if other >= 0 else []
            assert all(branch[2] >= joins for branch in between)


def test_every_cluster_is_a_line_in_its_colour():
    text = drawn(TREE)
    assert re.findall(r'class="peak c(\d)"', text) == ["1", "4", "5", "3", "2"]
    assert text.count('class="cross"') == 3
    assert "Peaks, and the passes between them<" in text


def test_of_many_the_highest_are_shown_and_the_rest_counted():
    many = [(i, 99.0 - i, 0.0, -1) for i in range(40)]
    text = drawn(many)
    assert text.count('class="peak') == MOST_LINES
    assert f"the {MOST_LINES} highest of 40" in text


def test_without_a_tree_nothing_is_drawn_and_no_room_taken():
    assert peaks_height([]) == 0
    assert "<text" not in drawn([])
