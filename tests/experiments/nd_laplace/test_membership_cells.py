import pytest

from shoal.experiments._cells import Cell
from shoal.experiments.nd_laplace._run import run


def test_a_game_has_rates_with_errors_and_a_curve():
    settings = {"data": "blobs-200-2d", "mechanism": "laplace", "epsilon": 1.0, "query": "true",
                "games": 2, "shadows": 2}  # fmt: skip
    (row,) = run(Cell("privacy", settings))
    assert row["advantage"] == pytest.approx(row["tpr"] - row["fpr"])
    assert (row["roc"][0], row["roc"][-1]) == ([0.0, 0.0], [1.0, 1.0])
    assert row["roc"] == sorted(row["roc"])


@pytest.mark.heavy
@pytest.mark.parametrize("part", ["dimensions", "shape games"])
def test_the_same_game_is_played_on_dimensions_and_shapes(part):
    settings = {"data": "skewed", "mechanism": "none", "epsilon": 0.0, "query": "true", "games": 2,
                "shadows": 2}  # fmt: skip
    (row,) = run(Cell(part, settings))
    assert row["advantage"] == pytest.approx(row["tpr"] - row["fpr"])
    assert row["games"] == 2
