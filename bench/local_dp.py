"""Nanoseconds a value of the local mechanisms, beside a fill of normals by the same generator.

``python bench/local_dp.py`` prints the table and writes ``bench/results/local_dp.json``. To
reach: Piecewise and Duchi at most 60 ns a value (local.md, the issue of local mechanisms).
"""

import numpy as np
from measure import cpu_seconds, write

from shoal.mechanisms import (
    Duchi,
    Harmony,
    Hybrid,
    Piecewise,
    PrivUnit,
    RandomizedResponse,
    SquareWave,
    Staircase,
    UnaryEncoding,
)
from shoal.randomness import Randomness

VALUES = 2_000_000


def numeric(d: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1, 1, (VALUES // d, d))


def measured() -> list[dict[str, object]]:
    rng = Randomness().noise
    fill = cpu_seconds(lambda: rng.standard_normal(VALUES)) / VALUES * 1e9
    cases: list[tuple[object, object, int, int]] = [
        (made(epsilon), numeric(d), d, VALUES // d * d)
        for made in (Piecewise, Duchi, Hybrid, Harmony, PrivUnit)
        for epsilon in (1.0, 5.0)
        for d in (1, 2, 10)
    ]
    unit = np.abs(numeric(1))
    cases += [(SquareWave(1.0), unit, 1, VALUES), (Staircase(1.0), numeric(1), 1, VALUES)]
    codes = np.random.default_rng(0).integers(0, 8, VALUES)
    cases += [(RandomizedResponse(1.0, 8), codes, 1, VALUES)]
    cases += [(UnaryEncoding(1.0, 8), codes[: VALUES // 8], 8, VALUES)]
    return [_case(*case, rng=rng, fill=fill) for case in cases]


def _case(mechanism, value, d, values, *, rng, fill):  # type: ignore[no-untyped-def]
    mechanism.release(value[:10], rng)  # tables are made once
    each = cpu_seconds(lambda: mechanism.release(value, rng)) / values * 1e9
    return {
        "mechanism": type(mechanism).__name__,
        "epsilon": float(mechanism.epsilon),
        "columns": d,
        "ns_a_value": round(each, 1),
        "ratio_to_normal_fill": round(each / fill, 2),
    }


if __name__ == "__main__":
    write("local_dp", measured())
