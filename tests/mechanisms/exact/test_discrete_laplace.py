"""Branches of the sampler that chance hardly ever takes, driven by a scripted table."""

import threading
from fractions import Fraction

import numpy as np

from shoal.mechanisms.exact._discrete_laplace import GeometricLaw, geometric_law
from shoal.randomness import Randomness


class Scripted:
    """A table whose next outcomes are given."""

    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)

    def sample(self, n, rng):
        taken, self.outcomes = self.outcomes[:n], self.outcomes[n:]
        return np.array(taken, dtype=np.int64)


def law_with(**tables) -> GeometricLaw:
    law = geometric_law.__wrapped__(Fraction(1))
    vars(law).update(tables)  # in place of the cached ones
    return law


def test_past_the_table_the_law_starts_anew_as_often_as_it_must():
    end = law_with()._end
    law = law_with(_one_sided_top=Scripted(end, 2, end, end, 5))
    assert law.one_sided(2, Randomness(1).noise).tolist() == [3 * end + 5, 2]


def test_a_pair_past_the_table_takes_its_sign_from_the_last_draw():
    end = law_with()._end
    law = law_with(_two_sided_top=Scripted(2 * end, 2 * end, 2 * 3 + 1))
    assert law.two_sided(1, Randomness(1).noise).tolist() == [-1 - (2 * end + 3)]


def test_signs_and_sizes_are_read_off_one_outcome():
    law = law_with(_two_sided_top=Scripted(0, 1, 2, 3, 4, 5))
    assert law.two_sided(6, Randomness(1).noise).tolist() == [0, -1, 1, -2, 2, -3]


def test_low_bits_are_put_below_the_rest():
    law = geometric_law.__wrapped__(Fraction(1, 2**20))
    low, high = law._shifts
    vars(law).update(_one_sided_top=Scripted(3), _low_tables=[Scripted(5), Scripted(9)])
    assert law.one_sided(1, Randomness(1).noise).tolist() == [(3 << (low + high)) + (9 << low) + 5]


def test_no_lock_is_held_while_a_table_is_made():
    """A process forked by another thread meanwhile would inherit it locked, and wait for ever."""
    law = geometric_law.__wrapped__(Fraction(1, 3))
    entered, go_on = threading.Event(), threading.Event()
    ratio = law._ratio

    def slow_ratio():
        entered.set()
        go_on.wait(10)
        return ratio()

    law._ratio = slow_ratio
    thread = threading.Thread(target=law.two_sided, args=(1, Randomness(1).noise))
    thread.start()
    entered.wait(10)
    other = geometric_law.__wrapped__(Fraction(1, 3))
    beside = threading.Thread(target=other.two_sided, args=(1, Randomness(1).noise))
    beside.start()
    beside.join(5)
    stuck = beside.is_alive()
    go_on.set()
    thread.join()
    assert not stuck
