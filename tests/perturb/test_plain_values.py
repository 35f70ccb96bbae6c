import json
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from shoal.domain import Box, Categories
from shoal.errors import InvalidSetting
from shoal.mechanisms import (
    LocalGrid,
    Mixed,
    NDLaplace,
    Piecewise,
    Restrict,
    bayes_remap,
    clamp,
    snap,
)
from shoal.perturb import settings_of
from shoal.perturb._plain_values import parameters_of

BOX = Box(age=(0, 110), visits=(0, 20.123456789))


@pytest.mark.parametrize("epsilon", [1, 1.0, "1", Fraction(1), np.float64(1)])
def test_a_budget_is_one_however_it_is_written(epsilon):
    assert settings_of(NDLaplace(epsilon))["epsilon"] == "1"


def test_numbers_are_one_however_they_are_written():
    columns = {"age": (0, 110), "sex": Categories(["F", "M"])}
    ways = [{"age": "1/2", "sex": 0.5}, {"age": Fraction(1, 2), "sex": "0.5"}]
    one, other = (settings_of(Mixed(2.0, columns, shares=shares)) for shares in ways)
    assert json.dumps(one) == json.dumps(other)
    floats = {"age": (0.0, np.float64(110)), "sex": columns["sex"]}
    assert json.dumps(settings_of(Mixed(2, floats))) == json.dumps(settings_of(Mixed(2, columns)))


@dataclass(frozen=True)
class Held:
    radius: object


@pytest.mark.parametrize("radius", [1, 1.0, np.float64(1), np.int64(1), np.array(1.0)])
def test_a_whole_number_is_one_whatever_holds_it(radius):
    assert json.dumps(settings_of(Held(radius))["radius"]) == "1"


@pytest.mark.parametrize("radius", [1e308, 0.1, True, 2**60 + 1])
def test_numbers_are_told_exactly(radius):
    told = json.loads(json.dumps(settings_of(Held(radius))["radius"]))
    assert told == radius


@pytest.mark.parametrize(
    ("thing", "key"),
    [
        (NDLaplace(1.0, domain=BOX), "bounds"),
        (Piecewise(1.0, domain=BOX), "bounds"),
        (LocalGrid(BOX, epsilon=1.0, cells=4), "domain"),
        (Restrict(NDLaplace(1.0), BOX), "box"),
        (clamp(BOX), "box"),
        (snap(BOX, 3), "box"),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_files_keep_the_key_they_always_had(thing, key):
    settings = settings_of(thing)
    assert settings[key] == BOX.to_dict()
    assert parameters_of(settings)["domain"] == BOX.to_dict()
    assert {"class", "bounds", "box"}.isdisjoint(parameters_of(settings))


def test_bounds_are_told_to_the_last_digit():
    told = settings_of(NDLaplace(1.0, scale=(10, 2), domain=BOX))
    assert told["bounds"]["columns"]["visits"]["high"] == 20.123456789
    assert told["scale"] == [10.0, 2.0]


@pytest.mark.parametrize(
    "thing",
    [
        Restrict(NDLaplace(1.0), BOX),
        Mixed(
            2.0, {"age": (0, 110), "sex": Categories(["F", "M"])}, shares={"age": "1/2", "sex": 0.5}
        ),
        clamp(BOX),
        snap(BOX, 3),
        bayes_remap(([[0.0, 0.0], [1.0, 1.0]], [1, 3])),
        bayes_remap("em"),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_everything_there_is_becomes_json(thing):
    told = settings_of(thing)
    assert json.loads(json.dumps(told)) == told
    assert told["class"] == type(thing).__name__


@pytest.mark.parametrize("thing", [object(), NDLaplace, lambda reports: reports])
def test_what_cannot_be_told_is_refused(thing):
    with pytest.raises(InvalidSetting, match=r"settings of a .* cannot be read"):
        settings_of(thing)
