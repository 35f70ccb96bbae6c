"""Each law written down for the audit is the one its mechanism draws from.

With s = ln p/q the exact score, the mean of e^-s over outputs of the first input is the mass of q
where p is positive: 1, as is the mean of e^s over outputs of the second. A slip in either law moves
it. Means of 20,000 are held within 4.9 standard errors: a false alarm in 1e6, seeds fixed.
"""

import numpy as np
import pytest

from shoal.audit._draws import draw_outputs
from shoal.audit.bound._outputs import samples_of
from shoal.audit.bound._scores import exact_score, has_law
from shoal.domain import Box, Categories
from shoal.errors import InvalidSetting
from shoal.mechanisms import (
    Choices,
    Duchi,
    Exponential,
    Harmony,
    Hybrid,
    LocalGrid,
    Mixed,
    NDLaplace,
    Piecewise,
    PrivUnit,
    ProductNorm,
    RandomizedResponse,
    Restrict,
    SquareWave,
    Staircase,
)
from shoal.mechanisms.registry import REGISTRY
from shoal.privacy import PureDP
from shoal.randomness import Randomness

DRAWS = 20_000
AGES = Box(age=(0, 110))
REGISTERED = {
    name: (pair.mechanism, pair.values)
    for entry in REGISTRY
    for name, pair in entry.pairs().items()
    if has_law(pair.mechanism) and entry.kind is not Restrict  # of which only the noise is scored
}
LAWS = REGISTERED | {
    "laplace": (NDLaplace(1.0, scale=(10.0, 2.0)), ([3.0, 4.0], [9.0, 3.0])),
    "laplace on a coarse lattice": (NDLaplace(0.5, lattice=0.25), ([0.1], [1.2])),
    "piecewise": (Piecewise(1), ([-0.3, 0.9, 0.2], [0.8, -1.0, 0.1])),
    "piecewise, two columns told": (Piecewise(5), ([-0.3, 0.9, 0.2], [0.8, -1.0, 0.1])),
    "piecewise in years": (Piecewise(2, domain=AGES), ([30.0], [90.0])),
    "duchi": (Duchi(1), ([-0.3, 0.9, 0.2, -1.0], [0.8, -1.0, 0.1, 0.5])),
    "harmony": (Harmony(1), ([-0.3, 0.9], [0.8, -1.0])),
    "hybrid": (Hybrid(2, domain=AGES), ([30.0], [90.0])),
    "hybrid of signs": (Hybrid(0.5), ([-0.3, 0.9], [0.8, -1.0])),
    "privunit": (PrivUnit(2), ([-0.3, 0.9], [0.8, -0.6])),
    "privunit of a ball": (PrivUnit(2, radius=3), ([-0.9, 2.1], [1.5, -1.2])),
    "privunit of zero": (PrivUnit(1, domain=Box.unit(2)), ([0.5, 0.5], [0.2, 0.9])),
    "square wave": (SquareWave(1, domain=AGES), ([10.0], [90.0])),
    "staircase": (Staircase(1, domain=AGES), ([10.0], [40.0])),
    "response": (RandomizedResponse(1, ["a", "b", "c"]), ("c", "a")),
    "grid": (LocalGrid(Box.unit(2), epsilon=1.0, cells=2), ([0.1, 0.9], [0.9, 0.9])),
    "hashed grid": (LocalGrid(Box.unit(2), epsilon=1.0, cells=9), ([0.1, 0.9], [0.9, 0.9])),
    "mixed": (
        Mixed(3, {"age": (0, 110), "sex": Categories(["F", "M"]), "town": 90}),
        ({"age": 10.0, "sex": "F", "town": 3}, {"age": 90.0, "sex": "M", "town": 4}),
    ),
    # On the lattice of the registered pair, rounding shows.
    "product-norm": (
        ProductNorm(PureDP(1), (1, 2), (1000, 1000)),
        (np.array([0, 0, 0]), np.array([1000, 600, 400])),
    ),
}


@pytest.mark.parametrize(("mechanism", "pair"), LAWS.values(), ids=LAWS)
def test_the_law_is_the_one_drawn_from(mechanism, pair):
    outputs = [
        draw_outputs(mechanism, x, DRAWS, Randomness(seed).noise) for seed, x in enumerate(pair)
    ]
    score = exact_score(mechanism, pair)
    first, second = (score(side.values) for side in samples_of(*outputs))
    for ratios in (np.exp(-first), np.exp(second)):
        assert abs(ratios.mean() - 1) < 4.9 * ratios.std() / np.sqrt(DRAWS) + 1e-6
    assert first.mean() > second.mean()


def test_restricted_noise_is_scored_as_its_noise():
    pair = [0.0, 0.0], [1.0, 0.0]
    made = Restrict(NDLaplace(2.0), Box(x=(0, 9), y=(0, 9)))
    assert exact_score(made, pair)(np.array([[0.0, 0.0]])) == pytest.approx(1.0)


def test_a_law_that_is_not_known_is_refused():
    with pytest.raises(InvalidSetting, match="Exponential"):
        exact_score(Exponential(PureDP(1)), (Choices([0]), Choices([1])))([[0.0]])
