import json
import sys

import pytest

from shoal.errors import InvalidSetting, MissingPart
from shoal.figures import Dots, cell_map, dots, figure_of


@pytest.mark.parametrize(("title", "alt"), [("", "words"), ("title", " ")])
def test_a_figure_without_words_is_refused(title, alt):
    with pytest.raises(InvalidSetting):
        Dots(title=title, alt=alt, data={})


def test_a_figure_is_drawn_again_from_its_json():
    box = {"names": ["a", "b"], "low": [0, 0], "high": [1, 2]}
    for figure in (dots(10, 24), cell_map([[1, 2], [3, -1]], **box, title="t")):
        again = figure_of(json.loads(json.dumps(figure.to_dict())))
        assert again.svg() == figure.svg()


def test_an_unknown_kind_of_figure_is_refused():
    with pytest.raises(InvalidSetting):
        figure_of({"kind": "pie", "title": "t", "alt": "a", "data": {}})


def test_without_plotly_the_extra_is_named_and_pictures_are_drawn_all_the_same(monkeypatch):
    for module in ("plotly", "plotly.graph_objects", "plotly.subplots"):
        monkeypatch.setitem(sys.modules, module, None)
    figure = dots(10, 24)
    assert figure.svg().startswith("<svg")
    with pytest.raises(MissingPart, match="plotly") as caught:
        figure.plotly()
    assert "shoal[plotly]" in str(caught.value)


def test_notebooks_show_the_picture_with_its_words():
    given = dots(10, 24)
    words = "Ten of a hundred & after that 24."
    shown = Dots(title="Odds <before>", alt=words, data=given.data, note="a < b")._repr_html_()
    assert "<figcaption>a &lt; b</figcaption>" in shown
    assert 'src="data:image/svg+xml;base64,' in shown
    assert 'alt="Ten of a hundred &amp; after that 24."' in shown
    assert "<script" not in shown
