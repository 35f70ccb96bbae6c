"""The membership attack of the nD-Laplace thesis again: asked right, it finds next to nothing."""

from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
GAMES = 12
STUDENT = {
    "seeds-2D": 2.2,
    "heart-2D": 4.3,
}  # 95 %, for the 12 and the 3 games expected values have

pytestmark = pytest.mark.slow


@pytest.fixture
def bench(monkeypatch, real_file):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    import membership

    for path, _ in membership.TABLES.values():
        real_file(path)
    return membership


def test_every_advantage_is_the_expected_one_within_their_errors(bench):
    for key, (expected, twice) in bench.EXPECTED.items():
        found = bench.played(*key, "true", GAMES, seed=2).advantage
        error = np.hypot(twice / 2, found.standard_error)
        assert abs(found.mean - expected) <= STUDENT[key[0]] * error, key


def test_asking_for_reports_invents_leakage_where_there_is_none(bench):
    case = ("heart-2D", "Piecewise a column", 0.5)
    true, perturbed = (bench.played(*case, query, GAMES, seed=2) for query in ("true", "perturbed"))
    assert abs(true.advantage.mean) < 0.05
    assert perturbed.advantage.low > 0.05
    assert str(true.ceiling) == "no ceiling: labels unprotected"
