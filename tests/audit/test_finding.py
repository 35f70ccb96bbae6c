import json

import numpy as np
import pytest

from shoal.audit import LowerBound, Measured, finding_of, lower_bound
from shoal.errors import InvalidSetting
from shoal.figures import figure_of
from shoal.mechanisms import Geometric, NDLaplace
from shoal.privacy import PureDP


@pytest.fixture(scope="module")
def found():
    return lower_bound(Geometric(PureDP(1)), (5, 6), draws=4_000, random_state=3, constructed=True)


def test_it_comes_back_from_json_as_it_was(found):
    assert finding_of(json.loads(json.dumps(found.to_dict()))) == found
    metric = lower_bound(NDLaplace(1.0), ([0.0], [1.0]), draws=2_000, random_state=3)
    assert finding_of(json.loads(json.dumps(metric.to_dict()))) == metric
    measured = Measured.judge(1.2, 1.0, (), instrument="ledger", alpha=0.01, draws=1)
    assert finding_of(measured.to_dict()) == measured


def test_it_carries_all_that_is_needed_to_find_it_again(found):
    told = found.to_dict()
    assert told["seed"] == 3
    assert told["alpha"] == 0.01
    assert told["draws"] == 4_000
    assert told["pair"] == "5 against 6"
    assert told["guarantee"] == PureDP(1).to_dict()
    assert told["constructed"] is True


def test_it_reads_as_a_verdict(found):
    lines = str(found).splitlines()
    assert lines[0].startswith("consistent: 0.")
    assert "claimed 1" in lines[0]
    assert "could show" in lines[0]
    assert "of 2,000" in lines[1]
    assert "pair: 5 against 6" in lines
    assert "alpha 0.01, 4,000 draws a side, seed 3" in lines


def test_its_number_is_its_float(found):
    assert float(found) == found.epsilon == found.value
    measured = Measured.judge(1.2, 1.0, (), instrument="ledger", alpha=0.01, draws=1)
    assert float(measured) == 1.2


def test_notes_are_told():
    broken = lower_bound(lambda x: 7.0, (1, 2), 1.0, draws=1_000)
    assert broken.verdict == "broken"
    assert str(broken).splitlines()[-1] == "note: constant"


def test_it_can_be_drawn(found):
    figure = found.plot()
    assert figure_of(figure.to_dict()) == figure
    assert "consistent" in figure.alt
    measured = Measured.judge(1.2, 1.0, (), instrument="ledger", alpha=0.01, draws=1)
    assert "violated" in measured.plot().alt


@pytest.mark.parametrize("values", [{}, {"kind": "Other"}, {"kind": "LowerBound", "rows": 3}])
def test_anything_else_is_no_finding(values):
    with pytest.raises(InvalidSetting):
        finding_of(values)


def test_a_finding_is_frozen(found):
    with pytest.raises(AttributeError):
        found.epsilon = 0.0
    assert isinstance(found, LowerBound)
    assert isinstance(found.counts[0], int)
    assert not isinstance(found.counts[0], np.integer)
