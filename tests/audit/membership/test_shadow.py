import sys

import numpy as np
import pytest

from shoal.audit.membership._shadow import ATTACKS, RowSplit, ShadowAttack, split_halves
from shoal.audit.membership._victim import Victim
from shoal.errors import ConflictingSettings, InvalidSetting, NotInstalled, TooFewRows
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
    way = ShadowAttack(Victim.of(fit, NDLaplace(1)), rows, None, matched, perturbed, None)
    way.play(
        split_halves(np.arange(40)),
        [split_halves(np.arange(40, 80))],
        ATTACKS["forest"],
        Randomness(1),
    )
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
    with pytest.raises(
        NotInstalled, match="attack='art'", check=lambda error: error.reason == "toolbox"
    ):
        ATTACKS["art"](np.zeros((4, 2)), np.ones((4, 2)), 1)


def drawn(split, seed=1):
    target, shadows = split.drawn(Randomness(seed))
    parts = [target, *shadows]
    return [np.concatenate([part.inside, part.outside]) for part in parts], parts


def test_every_row_is_attacked_or_known_and_none_is_both():
    places, parts = drawn(RowSplit.of(210, 0.25, None, 3))
    assert sorted(np.concatenate(places)) == list(range(210))
    assert (parts[0].inside.size, parts[0].outside.size) == (26, 26)


def test_each_draw_is_another_split():
    split = RowSplit.of(210, 0.25, None, 3)
    assert not np.array_equal(drawn(split, 1)[0][0], drawn(split, 2)[0][0])


def test_given_places_are_attacked_and_known_ones_rehearsed_on():
    places, _ = drawn(RowSplit.of(210, np.arange(50), np.arange(100, 150), 2))
    assert sorted(places[0]) == list(range(50))
    assert sorted(np.concatenate(places[1:])) == list(range(100, 150))


def test_an_adversary_who_has_the_rows_under_attack_is_refused():
    with pytest.raises(
        ConflictingSettings, match="10 of the 50", check=lambda error: error.reason == "overlap"
    ):
        RowSplit.of(210, np.arange(50), np.arange(40, 150), 3)


@pytest.mark.parametrize(("n", "target"), [(100, 0.25), (210, np.arange(39)), (60, 0.9)])
def test_fewer_than_twenty_members_or_no_rows_to_rehearse_on_are_refused(n, target):
    with pytest.raises(TooFewRows):
        RowSplit.of(n, target, None, 3)


@pytest.mark.parametrize("target", [0, 1, 1.5, [0, 0], [-1], [500], [0.5], [[1]]])
def test_what_is_neither_a_share_nor_places_is_refused(target):
    with pytest.raises(InvalidSetting):
        RowSplit.of(210, target, None, 3)


def test_shadow_models_must_be_some():
    with pytest.raises(InvalidSetting):
        RowSplit.of(210, 0.25, None, 0)
