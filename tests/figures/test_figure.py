import json

import pytest

from shoal.errors import InvalidSetting
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
