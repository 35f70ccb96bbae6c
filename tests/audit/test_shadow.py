import sys

import numpy as np
import pytest

from shoal.audit.shadow import ATTACKS, Rehearsal, halves
from shoal.audit.victim import Victim
from shoal.errors import ToolboxMissing
from shoal.mechanisms import NDLaplace
from shoal.randomness import Randomness

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("name", sorted(ATTACKS))
def test_an_attack_learns_what_tells_members_apart(name):
    inside, outside = RNG.normal(1, 1, (300, 3)), RNG.normal(-1, 1, (300, 3))
    score = ATTACKS[name](inside[:150], outside[:150], 7)
    assert (score(inside[150:]) > 0.5).mean() > 0.8
    assert (score(outside[150:]) > 0.5).mean() < 0.2


def test_the_toolbox_gives_the_scores_of_our_own_forest():
    inside, outside = (RNG.normal(m, 1, (200, 3)).astype(np.float32) for m in (1.0, -1.0))
    ours, theirs = (ATTACKS[name](inside, outside, 7)(outside) for name in ("forest", "art"))
    assert theirs == pytest.approx(ours, abs=1e-6)


@pytest.mark.parametrize("name", sorted(ATTACKS))
def test_one_number_an_answer_is_enough(name):
    score = ATTACKS[name](np.ones((20, 1)), np.zeros((20, 1)), 7)
    assert score(np.ones((3, 1))).shape == (3,)


def asked_of(matched, perturbed):
    """What models were fitted on and asked for, target last."""
    fitted, asked = [], []

    def fit(rows, rng):
        fitted.append(rows)
        return lambda wanted: asked.append(wanted) or wanted[:, 0]

    rows = np.arange(80.0).reshape(-1, 1) * 1000
    way = Rehearsal(Victim.of(fit, NDLaplace(1)), rows, None, matched, perturbed, None)
    way.play(halves(np.arange(40)), [halves(np.arange(40, 80))], ATTACKS["forest"], Randomness(1))
    return fitted, asked, rows


def test_matched_shadows_pass_the_mechanism_and_plain_ones_do_not():
    (shadow, target), _, rows = asked_of(matched=True, perturbed=False)
    assert not np.array_equal(shadow, rows[40:60])
    assert not np.array_equal(target, rows[:20])
    (shadow, target), _, _ = asked_of(matched=False, perturbed=False)
    assert np.array_equal(shadow, rows[40:60])
    assert not np.array_equal(target, rows[:20])


def test_true_records_are_asked_for_unless_told_otherwise():
    (*_, target), asked, rows = asked_of(matched=True, perturbed=False)
    assert np.array_equal(asked[2], rows[:20])
    assert np.array_equal(asked[3], rows[20:40])
    (*_, target), asked, _ = asked_of(matched=True, perturbed=True)
    assert np.array_equal(asked[2], target)  # the very reports the model was fitted on
    assert np.array_equal(asked[3], rows[20:40])  # others have no report


def test_a_toolbox_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "art.attacks.inference.membership_inference", None)
    with pytest.raises(ToolboxMissing, match="attack='art'"):
        ATTACKS["art"](np.zeros((4, 2)), np.ones((4, 2)), 1)
