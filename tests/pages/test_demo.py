import numpy as np
import pytest

from shoal.cli.inputs import _demo_results as demo_results
from shoal.cli.inputs._demo_results import make_demo
from shoal.data.made_up import MADE_UP
from shoal.pages import findings, render
from shoal.pages.demo import page
from shoal.privacy import PureDP
from shoal.randomness import Randomness


@pytest.fixture(scope="module")
def demo():
    rng, example = Randomness(3), MADE_UP["school"]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"FITS": 1, "ATTACKED": 160, "SHADOWS": 8, "ATTACK_GROUPS": 9}.items():
            patch.setattr(demo_results, name, value)
        students = example.table(4_000, rng.seed())
        return make_demo(students, example.domain, rng, PureDP(1))


@pytest.mark.heavy
def test_the_page_has_groups_map_budgets_and_attack(demo):
    kinds = [figure.kind for figure in page(demo).extra.figures]
    assert kinds == ["center_maps", "center_maps", "roc_curve"]
    assert len(page(demo).groups.cards) == 5
    html = render(findings(page(demo).to_result()))
    assert "The students are made up" in html
    assert "10 → 24 in 100, this release" in html


@pytest.mark.heavy
def test_the_ceiling_is_rounded_up(demo):
    assert page(demo).values["attack"]["ceiling"] == pytest.approx(np.tanh(0.5))
    assert "the promise allows 47 in 100" in page(demo).lines[-1].text


@pytest.mark.heavy
def test_the_curve_over_the_number_of_groups_falls_to_the_one_shown(demo):
    curve = page(demo).curve.figure.data
    heights = dict(curve["points"])
    assert curve["chosen"] == 5
    assert heights[1] == 100 > heights[5] > heights[9] > 0


@pytest.mark.heavy
def test_the_map_shows_released_cells_beside_made_up_rows(demo):
    pair, budgets = page(demo).extra.figures[:2]
    plain, private = pair.data["panels"]
    assert plain["cells"] is None
    assert len(plain["points"]) == 2_000
    assert private["points"] == []
    assert np.shape(private["centers"]) == np.shape(plain["centers"]) == (5, 2)
    assert [panel["centers"] for panel in budgets.data["panels"]] == [[]] * 4
