"""Twins of one person's several reports: repeated, sent along, or not counted."""

import math
from typing import Any

import numpy as np

from shoal.audit.case import Twin
from shoal.audit.twins._base import Stream, declare_broken, local_claim, pure_claim
from shoal.mechanisms import Geometric, NDLaplace

_KEEP = math.e / (math.e + 1)  # how often a bit is told rightly at epsilon 1
_BITS, _SLOTS = 8, 2


@declare_broken("whether the value changed is open")
def _draw_memoised_pair(history: Any, n: int, rng: Stream) -> Any:
    """Draw two reports, each drawn once for a value and kept: an equal value is sent as it was."""
    values = np.asarray(history)[:, None]
    first = NDLaplace(1).release(np.tile(values[0], (n, 1)), rng).values
    again = NDLaplace(1).release(np.tile(values[1], (n, 1)), rng).values
    second = first if values[0] == values[1] else again
    return np.hstack([first, second])


def _is_same_twice(z: Any) -> Any:
    """Both reports are one."""
    return z[:, 0] == z[:, 1]


@declare_broken("the true cluster is sent beside the noisy value")
def _draw_with_true_label(x: float, n: int, rng: Stream) -> Any:
    """Draw a noisy value, and the cluster of the true one, as in rounds of federated k-means."""
    noisy = NDLaplace(0.5).release(np.full((n, 1), x), rng).values
    return np.hstack([noisy, np.full((n, 1), float(x > 0))])


@declare_broken("every round spends epsilon, and one is charged")
def _draw_five_rounds(bit: int, n: int, rng: Stream) -> Any:
    """Draw the same bit, reported with fresh noise in each of five rounds."""
    return bit ^ (rng.random((n, 5)) >= _KEEP)


@declare_broken("the noise is drawn once, and the string can be followed from slot to slot")
def _draw_hopping_string(slots: Any, n: int, rng: Stream) -> Any:
    """Draw two rounds of slots: the string in the person's own, fair bits in the others."""
    string = rng.random((n, _BITS)) < _KEEP  # a string of ones, turned over once and kept
    sent = rng.random((n, 2, _SLOTS, _BITS)) < 0.5
    for turn, slot in enumerate(slots):
        sent[:, turn, slot] = string
    return sent.reshape(n, -1).astype(np.int8)


def _is_string_in_first_slot_twice(z: Any) -> Any:
    """The first slot shows one string in both rounds."""
    first, second = z.reshape(-1, 2, _SLOTS, _BITS)[:, :, 0].swapaxes(0, 1)
    return (first == second).all(axis=1)


@declare_broken("bits of earlier rounds stay set, so histories differ in more bits than two")
def _draw_uncleared_bits(visited: Any, n: int, rng: Stream) -> Any:
    """Draw the last of several rounds of unary encoding, with the bits of all of them."""
    chance = np.where(np.isin(np.arange(6), visited), 0.5, 1 / (math.e + 1))
    return (rng.random((n, 6)) < chance).astype(np.int8)


@declare_broken("ten releases are averaged and one is charged")
def _draw_sum_of_ten_runs(count: int, n: int, rng: Stream) -> Any:
    """Draw the sum of ten noisy counts: ten times their mean."""
    return Geometric(pure_claim(1)).release(np.full((n, 10), count), rng).sum(axis=1)


twins = {
    "memo per value": Twin(
        _draw_memoised_pair,
        ((0.0, 0.0), (0.0, 1.0)),
        local_claim(2),
        at_least=9.7,
        event=_is_same_twice,
        about="Permanent reports as in RAPPOR's memo, kept for each value and sold as r epsilon "
        "for r values whatever the history. Two equal reports mean that nothing changed: between "
        "a history with a change and one without there is no promise. At the ceiling.",
    ),
    "true cluster label sent each round": Twin(
        _draw_with_true_label,
        (-1.0, 1.0),
        local_claim(1),
        at_least=9.7,
        event=lambda z: z[:, 1] == 0,
        about="Protocols of private federated k-means in which clients perturb their point and "
        "send it to the cluster they truly belong to. The cluster is a function of the row, sent "
        "without noise. At the ceiling.",
    ),
    "rounds not counted": Twin(
        _draw_five_rounds,
        (0, 1),
        local_claim(1),
        at_least=4.7,
        about="Related work clusters in rounds of which each is epsilon-private and the whole is "
        "said to be, too. Five rounds cost 5 epsilon. True loss 5; the figure is measured.",
    ),
    "a string that hops between slots": Twin(
        _draw_hopping_string,
        ((0, 0), (0, 1)),
        local_claim(2),
        at_least=5.3,
        draws=100_000,
        event=_is_string_in_first_slot_twice,
        about="Interactive local k-means in which a person's string is randomised once, which is "
        "right, and put into the slot of the present cluster, which is not: whoever stays shows "
        "one string twice, whoever moves does so in 1 of 256 rounds. True loss 8 ln 2 = 5.55.",
    ),
    "a bit that is never cleared": Twin(
        _draw_uncleared_bits,
        ((0, 1, 2), (3, 4, 5)),
        local_claim(1),
        at_least=2.8,
        about="Unary encoding of the present cluster into a vector that keeps its earlier bits: "
        "after three rounds two people differ in six bits, not two, and the last report costs "
        "3 epsilon. True loss 3; the figure is measured.",
    ),
    "ten runs averaged": Twin(
        _draw_sum_of_ten_runs,
        (5, 6),
        pure_claim(1),
        at_least=4.6,
        about="Results of private methods are often shown as the mean of ten runs. As figures of "
        "merit on public data that is fine; published about people it is ten releases, and the "
        "mean has a tenth of the variance. True loss 10; the figure is measured.",
    ),
}
