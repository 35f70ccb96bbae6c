import numpy as np

from shoal.figures import bars, figure_of, mosaic

LOW, HIGH = [[0, 0], [2, 0], [2, 2]], [[2, 4], [4, 2], [4, 4]]
BOX = [[0, 0], [4, 4]]


def drawn(**changes):
    settings = {"names": ["age", "visits"], "within": BOX, "title": "Cells", **changes}
    return mosaic(LOW, HIGH, [10, 90, 0], **settings)


def test_colour_tells_how_close_people_are_and_not_how_large_a_cell_is():
    figure = mosaic(LOW[:2], HIGH[:2], [40, 40], names=["x", "y"], within=BOX, title="Cells")
    assert figure.data["density"] == [1, 2]  # 40 in half of the map, 40 in a quarter


def test_each_tile_is_drawn_at_its_own_size_and_empty_ones_are_not():
    svg = drawn().svg()
    assert svg.count('class="cells q') == 2
    assert 'stroke-width="334"' in svg  # as high as the map
    assert 'stroke-width="167"' in svg


def test_the_words_name_axes_and_the_densest_area():
    assert drawn().alt.startswith("age from 0 to 4 across, visits from 0 to 4 upwards.")
    assert "densest area" in drawn().alt
    assert "Nothing stands out" in drawn(finding="Nothing stands out.").alt


def test_bars_are_as_high_as_people_are_close():
    figure = bars([0, 1], [1, 10], [30, 30], name="age", within=[0, 10], title="Ages")
    assert figure.data["density"] == [3, 1]
    assert figure.data["high"] == [10.0, 3.0]
    assert "age from 0 to 10" in figure.alt
    assert figure.svg().startswith("<svg")


def test_no_cells_make_an_empty_map():
    none = np.empty((0, 2))
    assert mosaic(none, none, [], names=["x", "y"], within=BOX, title="None").svg()
    assert bars([], [], [], name="x", within=[0, 1], title="None").svg()


def test_a_mosaic_is_drawn_again_from_its_numbers_and_in_plotly():
    figure = drawn()
    assert figure_of(figure.to_dict()).svg() == figure.svg()
    assert len(figure.plotly().data) == 1


def test_one_tiny_cell_does_not_pale_the_rest():
    low, high = [[0, 0], [2, 0], [2, 2]], [[2, 4], [4, 2], [2.001, 2.001]]
    figure = mosaic(low, high, [500, 900, 3], names=["x", "y"], within=BOX, title="Cells")
    assert figure.data["density"][2] > 1000 * figure.data["density"][1]
    assert 'class="cells q6" stroke-width="167"' in figure.svg()


def test_places_on_bars_are_numbered_in_the_picture_and_in_words():
    settings = {"name": "age", "within": [0, 10], "title": "Ages", "of": "rows"}
    figure = bars([0, 5], [5, 10], [30, 60], centers=[2, 7.5], **settings)
    assert figure.svg().count('class="mark') == 2
    assert "as high as rows in 1 %" in figure.alt
    assert "1 at 2; 2 at 7.5." in figure.alt
    assert figure_of(figure.to_dict()).svg() == figure.svg()
    reaching = bars([0, 5], [5, 10], [30, 60], centers=[2, 7.5], spans=[[1, 4], [6, 9]], **settings)
    assert "1 at 1 to 4; 2 at 6 to 9." in reaching.alt
    assert reaching.svg().count('class="cross"') == 2


def test_bars_of_true_counts_say_so():
    figure = bars([0], [1], [30], name="age", within=[0, 1], title="Ages", noisy=False)
    assert "noisy" not in figure.svg()
    assert "for the holder of the rows only" in figure.alt
