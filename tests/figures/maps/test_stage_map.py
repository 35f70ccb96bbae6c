import numpy as np
import pytest

from shoal.errors import DimensionMismatch, InvalidSetting
from shoal.figures import figure_of, stage_map

WORDS = {"names": ["x", "y"], "within": [[0, 0], [4, 4]], "title": "Stages", "finding": "It moves"}


def test_points_outside_are_counted_and_not_drawn():
    drawn = stage_map({"noise": [[1, 1], [9, 9], [-1, 2]]}, **WORDS)
    assert np.sum(drawn.data["panels"][0]["cells"]) == 1
    assert "1 inside, 2 not" in drawn.alt


def test_the_picture_can_be_drawn_again_from_its_numbers():
    drawn = stage_map({"rows": [[1, 1]], "noise": [[2, 2]]}, **WORDS)
    assert figure_of(drawn.to_dict()).svg(page=True) == drawn.svg(page=True)
    assert len(drawn.plotly().data) == 2


def test_three_columns_are_refused_with_a_hint_to_pairs():
    with pytest.raises(DimensionMismatch, match="two columns") as error:
        stage_map({"rows": [[1, 2, 3]]}, **WORDS)
    assert "each pair" in error.value.hint


def test_more_stages_than_a_row_holds_are_refused():
    with pytest.raises(InvalidSetting, match="at most 4"):
        stage_map({name: [[1, 1]] for name in "abcde"}, **WORDS)
