"""Our audit turned on whole fits: certified epsilon stays below the claim. Seeds fixed.

The default suite takes a thousand fits a side of some; `make slow` takes ten thousand of what
leaves the gate of each. False-alarm rate of each test: 1e-6.
"""

from dataclasses import replace

import pytest

from shoal.audit import Batched, estimators
from shoal.audit.cases._estimator_cases import LINE, GateNumbers
from shoal.synopsis import UniformGrid

ALPHA = 1e-6
FEW = {  # and how much of the promise so few fits must show, if any
    "PrivateKMeans, lloyd": 0,
    "UniformGrid": 0.3,
    "UniformGrid, sparse": 0,
    "AdaptiveGrid": 0,
    "WaveCluster, block": 0.2,
    "WaveCluster, privthrem": 0,
}


@pytest.mark.parametrize("name", FEW)
def test_some_fits_certify_no_more_than_epsilon(name):
    found = estimators[name].run(draws=1_000, alpha=ALPHA)
    assert found.verdict == "consistent", str(found)
    assert float(found) >= FEW[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", estimators)
def test_fits_certify_no_more_than_epsilon(name):
    found = estimators[name].run(alpha=ALPHA)
    assert found.verdict == "consistent", str(found)


def test_an_estimator_that_spends_twice_what_it_says_is_caught():
    """The same case at twice the budget, held against the claim: the instrument can see it."""
    twice = UniformGrid(epsilon=2, domain=LINE, cells=4)
    case = replace(estimators["UniformGrid"], mechanism=Batched(GateNumbers(twice, 2)))
    assert case.run(draws=1_500, alpha=ALPHA).verdict == "violated"
