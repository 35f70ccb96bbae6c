import numpy as np
import pytest

from shoal.cluster.local._round_assignment import draw_rounds, reports_of_round
from shoal.domain import Box
from shoal.errors import NotAReport
from shoal.mechanisms import LocalGrid
from shoal.randomness import Randomness


def test_people_are_spread_over_rounds_by_their_shares():
    drawn = draw_rounds(40_000, (0.5, 0.25, 0.25), np.random.default_rng(1))
    np.testing.assert_allclose(np.bincount(drawn) / 40_000, [0.5, 0.25, 0.25], atol=0.02)


def test_reports_of_another_mechanism_or_after_the_last_round_are_refused():
    box = Box(x=(0, 1))
    first, other = (LocalGrid(box, epsilon=1, cells=cells) for cells in (4, 8))
    reports = first.release([[0.5]], Randomness(1).noise)
    mechanism = reports.mechanism
    assert reports_of_round(reports, mechanism, 0)[1] == mechanism
    for wrong in (other, None):
        with pytest.raises(NotAReport, match="round 2 needs"):
            reports_of_round(reports, wrong, 2)
