"""The tables of "Which mechanism?" are what the code computes now, and what was derived by hand."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from shoal import mechanisms

TOOL = Path(__file__).parents[2] / "tools" / "error_table.py"
_spec = importlib.util.spec_from_file_location("error_table", TOOL)
error_table = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(error_table)

# Laplace split, NDLaplace, Piecewise split, Piecewise, Hybrid, Harmony, Duchi, PrivUnit.
SPECIFIED = {
    (2, 1): (64, 48, 37.8, 17.5, 17.8, 18.1, 21.5, 26.7),
    (2, 5): (2.56, 1.92, 0.97, 0.97, 1.29, 3.44, 1.44, 2.50),
    (7, 1): (2744, 1568, 1766, 220, 224, 227, 333, 315),
    (7, 5): (110, 62.7, 61.5, 17.7, 21.7, 48.0, 71.3, 19.0),
    (10, 1): (8000, 4400, 5202, 450, 459, 465, 604, 640),
    (10, 5): (320, 176, 189, 37.5, 45.7, 99.4, 93.9, 35.9),
}


@pytest.mark.parametrize(("d", "epsilon"), SPECIFIED)
def test_the_table_of_the_specification_is_reproduced(d, epsilon):
    ours = [e(d, epsilon) for name, e in error_table.NUMERIC.items() if "Staircase" not in name]
    np.testing.assert_allclose(ours, SPECIFIED[d, epsilon], rtol=0.05)


def test_the_page_shows_what_the_code_computes_now():
    page = error_table.PAGE.read_text()
    assert error_table.with_tables(page) == page


def test_averaging_at_one_point_is_averaging_over_the_box():
    rows = np.random.default_rng(1).uniform(-1, 1, (20_000, 3))
    for make in (mechanisms.Piecewise, mechanisms.Hybrid, mechanisms.PrivUnit):
        mean = make(3).variance(rows).sum(axis=1).mean()
        assert error_table._of(make(3), 3) == pytest.approx(mean, rel=0.01)


def test_the_rule_between_the_two_oracles_picks_the_smaller_error():
    for line in error_table.category_table().splitlines()[2:]:
        _, _, response, encoding, chosen, _ = (part.strip() for part in line.split("|"))
        assert chosen == ("`RandomizedResponse`" if "**" in response else "`UnaryEncoding`")
        assert ("**" in response) != ("**" in encoding)
