import numpy as np
import pytest

from shoal.cli.inputs import _demo_results as demo_results
from shoal.cli.inputs._demo_results import GROUPS, make_demo
from shoal.data.made_up import MADE_UP
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness


@pytest.fixture(scope="module")
def demo():
    rng, example = Randomness(3), MADE_UP["school"]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"FITS": 2, "ATTACKED": 160, "SHADOWS": 8, "ATTACK_GROUPS": 9}.items():
            patch.setattr(demo_results, name, value)
        students = example.table(8_000, rng.seed())
        return make_demo(students, example.domain, rng, PureDP(1), seed=3)


@pytest.mark.heavy
def test_plain_and_private_groups_are_numbered_alike(demo):
    box = demo.model.domain.box.select(("sessions_per_week", "minutes_per_session"))
    apart = np.abs(box.scale(demo.centers) - box.scale(demo.plain))
    assert apart.max() < 0.15


@pytest.mark.heavy
def test_every_student_has_a_plain_group_whose_mean_is_shown(demo):
    means = [demo.rows[demo.labels == group].mean(axis=0) for group in range(GROUPS)]
    np.testing.assert_allclose(means, demo.plain)


@pytest.mark.heavy
def test_a_larger_budget_lands_nearer(demo):
    apart = [np.abs(trial.centers - demo.plain).mean() for trial in demo.trials]
    assert apart[-1] < apart[0]
    assert [float(trial.epsilon) for trial in demo.trials] == [0.02, 0.25, 1, 4]


@pytest.mark.heavy
def test_only_the_release_is_paid_for(tmp_path, monkeypatch):
    small = {"FITS": 1, "BUDGETS": (1,), "ATTACKED": 160, "SHADOWS": 8, "ATTACK_GROUPS": 9}
    for name, value in small.items():
        monkeypatch.setattr(demo_results, name, value)
    rng, example = Randomness(), MADE_UP["school"]
    ledger = Ledger(tmp_path / "demo.ledger")
    make_demo(example.table(2_000, 1), example.domain, rng, PureDP(1), ledger)
    assert ledger.totals() == [PureDP(1)]
