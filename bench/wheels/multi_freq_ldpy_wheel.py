"""Frequency oracles of multi-freq-ldpy, sixteen values, 0 against 1."""

from collections.abc import Callable
from typing import Any

import numpy as np
from draw import Mechanism
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.HE import HE_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

EPSILON, VALUES = 1.0, 16


def oracle(client: Callable[..., Any], *more: Any) -> Mechanism:
    def release(value: int) -> list[float]:
        return np.ravel(client(value, VALUES, EPSILON, *more)).tolist()

    return Mechanism(EPSILON, (0, 1), release)


MECHANISMS: dict[str, Callable[[], Mechanism]] = {
    "GRR_Client": lambda: oracle(GRR_Client),
    "UE_Client, symmetric": lambda: oracle(UE_Client, False),
    "UE_Client, optimal": lambda: oracle(UE_Client, True),
    "SS_Client": lambda: oracle(SS_Client),
    "HE_Client": lambda: oracle(HE_Client),
}
