"""Randomised response on bit vectors of OpenDP."""

from collections.abc import Callable

import opendp.prelude as dp
from draw import Mechanism

dp.enable_features("contrib")


def bit_vector(flip: float, pair: tuple[bytes, bytes]) -> Mechanism:
    space = dp.bitvector_domain(max_weight=4), dp.discrete_distance()
    mechanism = dp.m.make_randomized_response_bitvec(*space, f=flip)
    return Mechanism(mechanism.map(1), pair, lambda bits: as_bits(mechanism(bits)))


def as_bits(released: bytes) -> list[int]:
    return [byte >> place & 1 for byte in released for place in range(8)]


NOBODY, BOTH_ENDS = bytes([0]), bytes([0b11000011])
MECHANISMS: dict[str, Callable[[], Mechanism]] = {
    "bit vector, f = 1": lambda: bit_vector(1.0, (NOBODY, BOTH_ENDS)),
    "bit vector, f = 0.95": lambda: bit_vector(0.95, (NOBODY, BOTH_ENDS)),
    "bit vector, f = 1, two lengths": lambda: bit_vector(1.0, (NOBODY, bytes(2))),
}
