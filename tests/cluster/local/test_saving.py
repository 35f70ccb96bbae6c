"""Mechanisms and models as plain values."""

import json

import pytest

from shoal.cluster.local._saving import mechanism_of
from shoal.domain import Box
from shoal.errors import UnreadableModel
from shoal.mechanisms import NDLaplace, Piecewise, PlanarLaplace, Restrict
from shoal.perturb._plain_values import settings_of

BOX = Box(x=(0, 3), y=(0, 4))


@pytest.mark.parametrize(
    "mechanism",
    [
        NDLaplace("0.1"),
        NDLaplace(1.5, scale=(2, 3), lattice=0.01),
        PlanarLaplace(1.0, domain=Box.geo(latitude=(52, 53), longitude=(13, 14)), clip=True),
        Piecewise(1.0, domain=BOX),
        Restrict(NDLaplace(1.0), BOX),
    ],
)
def test_a_mechanism_comes_back_from_json(mechanism):
    told = json.loads(json.dumps(settings_of(mechanism)))
    back = mechanism_of(told)
    assert settings_of(back) == settings_of(mechanism)
    assert back.guarantee == mechanism.guarantee


def test_an_unknown_mechanism_is_refused():
    with pytest.raises(UnreadableModel):
        mechanism_of({"class": "__loader__"})
