"""What a mechanism says about itself."""

import pytest

from shoal.cluster.local._inputs import box_of, local_guarantee
from shoal.domain import Box
from shoal.errors import UnknownBounds
from shoal.mechanisms import NDLaplace, Piecewise, Restrict
from shoal.mechanisms.local.categories._local_grid import LocalGrid
from shoal.privacy import LocalDP

BOX = Box(x=(0, 3), y=(0, 4))


@pytest.mark.parametrize(
    "mechanism",
    [
        NDLaplace(1.0, domain=BOX),
        Piecewise(1.0, domain=BOX),
        LocalGrid(BOX, epsilon=1.0, cells=4),
        Restrict(NDLaplace(1.0), BOX),
    ],
)
def test_every_mechanism_tells_its_bounds(mechanism):
    assert box_of(mechanism) == BOX


def test_promises_as_local_ones():
    assert local_guarantee(Piecewise(2.0, domain=BOX)) == LocalDP(2)
    assert local_guarantee(NDLaplace(2.0, domain=BOX)) == NDLaplace(2.0, domain=BOX).as_local()
    assert local_guarantee(Restrict(NDLaplace(2.0), BOX)).epsilon >= 10


def test_without_bounds_there_is_no_local_promise():
    with pytest.raises(UnknownBounds):
        local_guarantee(NDLaplace(1.0))
