import numpy as np
import pytest

from shoal.domain import Box
from shoal.experiments._cells import Cell
from shoal.experiments._results import Results
from shoal.experiments.wavecluster import DOCUMENT, _printed_forms
from shoal.experiments.wavecluster._cells import AUTO, NO_NOISE, ORDER_METHODS, _common, _rows_of
from shoal.experiments.wavecluster._printed_forms import (
    noise_on_coordinates,
    noise_on_points,
    printed_threshold,
)


def rows_of(*cells):
    return [{"part": c.part, **c.settings, **row} for c in cells for row in DOCUMENT.run(c)]


def test_every_method_is_compared_with_the_clusters_without_noise():
    cells = [
        Cell("order", {"data": "moons", "epsilon": 2.0, "method": method, "draws": 2})
        for method in ORDER_METHODS
    ]
    results = Results(rows_of(*cells), ["data", "epsilon", "method"])
    means = {m: results.mean("order", "di2", method=m).mean for m in ORDER_METHODS}
    assert means["block"] < means["privqt"]
    claims = DOCUMENT.judge(results, False)
    ahead = next(claim for claim in claims if claim.text.startswith("PrivTHR has"))
    assert ahead.ours.startswith("moons")


@pytest.mark.parametrize(
    ("noise", "mean"), [(noise_on_points, 4 / np.pi), (noise_on_coordinates, 1.0)]
)
def test_noise_on_points_is_in_sides_of_a_cell(noise, mean):
    X = np.zeros((8_000, 2))
    for width in (1.0, 1e6):
        common = {"domain": Box(x=(0, 36 * width), y=(0, 36 * width)), "cells": 36}
        along = np.abs(noise(X, common, 2.0, 1)) / width
        assert along.mean() == pytest.approx(mean / 2.0, rel=0.05)


def test_a_printed_threshold_is_drawn_by_rank_whatever_the_length_of_its_partition():
    rng = np.random.default_rng()
    values = np.array([0.0, 1.0, 2.0, 2.001, 9.0])  # partitions: 9 is rank 1, 1 is rank 4
    drawn = np.array([printed_threshold(values, 2, 1.0, rng) for _ in range(20_000)])
    assert drawn.min() > 0
    assert drawn.max() <= 9
    shares = np.exp(-0.5 * np.abs(np.array([4, 3, 2, 1]) - 2))
    counted = np.histogram(drawn, [0, 1, 2, 2.001, 9])[0] / drawn.size
    np.testing.assert_allclose(counted, shares / shares.sum(), atol=0.025)  # 6 deviations: 0.021


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
def test_the_printed_threshold_selects_the_cells_above_it(monkeypatch):
    X = _rows_of("moons")[:2_000]
    common = _common(X, "moons")
    for threshold in (1e-9, 3.3, 1e9):
        monkeypatch.setattr(_printed_forms, "printed_threshold", lambda *_, t=threshold: t)
        model = _printed_forms.printed_privthrem(X, common, 2.0, 1, 0.7)
        above = (model.noisy_counts_ > threshold) & (model.noisy_counts_ > 0)
        assert ((model.cell_labels_ >= 0) == above).all()


def test_alpha_reaches_the_method():
    cells = [
        Cell(
            "alpha", {"data": "rings", "epsilon": 0.5, "method": "privthr", "alpha": a, "draws": 2}
        )
        for a in (0.1, 0.9)
    ]
    first, second = (rows_of(cell) for cell in cells)
    assert [row["di2"] for row in first] != [row["di2"] for row in second]


def test_known_groups_are_found_without_noise_and_by_the_automatic_rule():
    common = {"data": "moons", "epsilon": 4.0, "draws": 1}
    for method in (NO_NOISE, AUTO):
        (row,) = DOCUMENT.run(Cell("truth", {**common, "method": method}))
        assert row["ari"] > 0.9


def test_every_planned_cell_has_something_to_run():
    from shoal.experiments.wavecluster._cells import _PARTS

    for quick in (True, False):
        assert {cell.part for cell in DOCUMENT.cells(quick)} <= set(_PARTS)
