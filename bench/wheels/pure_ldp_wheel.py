"""Frequency oracles of pure-ldp, sixteen values, 0 against 1."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from draw import Mechanism
from pure_ldp.frequency_oracles.apple_cms import CMSClient
from pure_ldp.frequency_oracles.direct_encoding import DEClient
from pure_ldp.frequency_oracles.hadamard_mechanism import HadamardMechClient
from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient
from pure_ldp.frequency_oracles.histogram_encoding import HEClient
from pure_ldp.frequency_oracles.local_hashing import FastLHClient
from pure_ldp.frequency_oracles.rappor import RAPPORClient
from pure_ldp.frequency_oracles.unary_encoding import UEClient

EPSILON, VALUES = 1.0, 16
BITS, FLIP = 8, 0.5  # of RAPPOR, with one hash function and one cohort


def oracle(client: Any, epsilon: float = EPSILON) -> Mechanism:
    # It maps indices from 1 on by default: value 1 is index 0.
    return Mechanism(epsilon, (1, 2), lambda value: flat(client.privatise(value)))


def flat(report: Any) -> list[float]:
    """The numbers of a report in one list."""
    if isinstance(report, Iterable):
        return [number for part in report for number in flat(part)]
    return [float(report)]


def remainder(text: Any) -> int:
    """A hash function that sends the two values to different places."""
    return int(text) % BITS


def rappor() -> Mechanism:
    client = RAPPORClient(FLIP, BITS, [[remainder]], num_of_cohorts=1)
    return oracle(client, client.convert_f_to_eps(FLIP, 1))


def sketch(is_hadamard: bool) -> Mechanism:
    return oracle(CMSClient(EPSILON, [remainder], BITS, is_hadamard=is_hadamard))


MECHANISMS: dict[str, Callable[[], Mechanism]] = {
    "DEClient": lambda: oracle(DEClient(EPSILON, VALUES)),
    "UEClient": lambda: oracle(UEClient(EPSILON, VALUES)),
    "UEClient, use_oue": lambda: oracle(UEClient(EPSILON, VALUES, use_oue=True)),
    "HEClient": lambda: oracle(HEClient(EPSILON, VALUES)),
    "FastLHClient, k = 8": lambda: oracle(FastLHClient(EPSILON, VALUES, 8, use_olh=True)),
    "HadamardResponseClient": lambda: oracle(HadamardResponseClient(EPSILON, VALUES, None)),
    "HadamardMechClient": lambda: oracle(HadamardMechClient(EPSILON, VALUES, 2)),
    "RAPPORClient": rappor,
    "CMSClient": lambda: sketch(False),
    "CMSClient, is_hadamard": lambda: sketch(True),
}
np.seterr(all="raise")
