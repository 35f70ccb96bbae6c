import numpy as np
import pytest

from shoal.domain import Box
from shoal.experiments._cells import Cell
from shoal.experiments._results import Results
from shoal.experiments.wavecluster import DOCUMENT
from shoal.experiments.wavecluster._cells import AUTO, METHODS, NO_NOISE, noise_on_points


def rows_of(*cells):
    return [{"part": c.part, **c.settings, **row} for c in cells for row in DOCUMENT.run(c)]


def test_every_method_is_compared_with_the_clusters_without_noise():
    cells = [
        Cell("order", {"data": "moons", "epsilon": 2.0, "method": method, "draws": 2})
        for method in METHODS
    ]
    results = Results(rows_of(*cells), ["data", "epsilon", "method"])
    means = {m: results.mean("order", "di2", method=m).mean for m in METHODS}
    assert means["block"] < means["privqt"]
    claims = DOCUMENT.judge(results, False)
    ahead = next(claim for claim in claims if claim.text.startswith("PrivTHR has"))
    assert ahead.ours.startswith("moons")


def test_noise_on_points_is_in_sides_of_a_cell():
    X = np.zeros((4_000, 2))
    for width in (1.0, 1e6):
        common = {"domain": Box(x=(0, 36 * width), y=(0, 36 * width)), "cells": 36}
        lengths = np.linalg.norm(noise_on_points(X, common, 2.0, 1), axis=1) / width
        assert lengths.mean() == pytest.approx(2 / 2.0, rel=0.05)


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
