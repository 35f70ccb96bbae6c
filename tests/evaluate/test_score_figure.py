import pyarrow as pa
import pytest

from shoal import evaluate
from shoal.errors import InvalidSetting


def test_the_picture_has_control_and_shuffled_line_of_each_score():
    table = evaluate.score([0, 0, 1, 1, 1], against=[0, 0, 0, 1, 1], control=[0, 1, 0, 1, 0])
    figure = evaluate.score_picture(table)
    assert figure.data["names"] == ["AMI", "ARI", "NMI", "Rand index", "Fowlkes-Mallows"]
    # MI and the Mirkin metric, the last two lines, do not end at 1 and are not drawn.
    for line, marks in zip(table.to_pylist()[:5], figure.data["marks"], strict=True):
        for kind in ("value", "plain", "control", "shuffled"):
            assert marks[kind] == pytest.approx(line[kind], abs=1e-6)


def test_scores_that_are_not_defined_are_not_drawn():
    table = evaluate.score([0, 0, 0], [[1.0], [2.0], [3.0]], against=[0, 0, 1])
    assert "Silhouette" not in evaluate.score_picture(table).data["names"]


def test_another_table_is_refused():
    with pytest.raises(InvalidSetting, match="score"):
        evaluate.score_picture(pa.table({"age": [3]}))
