import numpy as np
import pytest

from shoal.audit.split import Split
from shoal.errors import InvalidSetting, ShadowOverlap, TooFewRows
from shoal.randomness import Randomness


def drawn(split, seed=1):
    target, shadows = split.drawn(Randomness(seed))
    parts = [target, *shadows]
    return [np.concatenate([part.inside, part.outside]) for part in parts], parts


def test_every_row_is_attacked_or_known_and_none_is_both():
    places, parts = drawn(Split.of(210, 0.25, None, 3))
    assert sorted(np.concatenate(places)) == list(range(210))
    assert (parts[0].inside.size, parts[0].outside.size) == (26, 26)


def test_each_draw_is_another_split():
    split = Split.of(210, 0.25, None, 3)
    assert not np.array_equal(drawn(split, 1)[0][0], drawn(split, 2)[0][0])


def test_given_places_are_attacked_and_known_ones_rehearsed_on():
    places, _ = drawn(Split.of(210, np.arange(50), np.arange(100, 150), 2))
    assert sorted(places[0]) == list(range(50))
    assert sorted(np.concatenate(places[1:])) == list(range(100, 150))


def test_an_adversary_who_has_the_rows_under_attack_is_refused():
    with pytest.raises(ShadowOverlap, match="10 of the 50"):
        Split.of(210, np.arange(50), np.arange(40, 150), 3)


@pytest.mark.parametrize(("n", "target"), [(100, 0.25), (210, np.arange(39)), (60, 0.9)])
def test_fewer_than_twenty_members_or_no_rows_to_rehearse_on_are_refused(n, target):
    with pytest.raises(TooFewRows):
        Split.of(n, target, None, 3)


@pytest.mark.parametrize("target", [0, 1, 1.5, [0, 0], [-1], [500], [0.5], [[1]]])
def test_what_is_neither_a_share_nor_places_is_refused(target):
    with pytest.raises(InvalidSetting):
        Split.of(210, target, None, 3)


def test_shadow_models_must_be_some():
    with pytest.raises(InvalidSetting):
        Split.of(210, 0.25, None, 0)
