import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shoal.domain import Box
from shoal.errors import DimensionMismatch, InvalidDomain, NotNumeric, UnknownColumn

BOX = Box(age=(0, 110), income=(-1e3, 250_000))
CITY = Box.geo(latitude=(40.4774, 40.9176), longitude=(-74.2589, -73.7004))
rows = arrays(float, st.tuples(st.integers(0, 20), st.just(2)), elements=st.floats(-1e9, 1e9))


def test_names_keep_their_order():
    assert Box(b=(0, 1), a=(0, 2)).names == ("b", "a")
    assert Box.unit(3).names == ("x0", "x1", "x2")
    assert Box.of(["x", "y"], [0, 0], [1, 2]) == Box(x=(0, 1), y=(0, 2))


@pytest.mark.heavy
@given(rows)
def test_clipped_rows_are_inside_and_inside_rows_stay(X):
    clipped = BOX.clip(X)
    assert BOX.contains(clipped).all()
    inside = BOX.contains(X)
    assert np.array_equal(clipped[inside], X[inside])


@pytest.mark.heavy
@given(rows)
def test_clipping_moves_no_two_rows_apart(X):
    clipped = BOX.clip(X)
    before = np.linalg.norm(X[:, None] - X[None], axis=2)
    after = np.linalg.norm(clipped[:, None] - clipped[None], axis=2)
    assert np.all(after <= before + 1e-6)


@pytest.mark.heavy
@given(rows, st.sampled_from([(0, 1), (-1, 1), (2, 5)]))
def test_scaling_goes_there_and_back(X, cube):
    clipped = BOX.clip(X)
    scaled = BOX.scale(clipped, *cube)
    assert np.all((scaled >= cube[0] - 1e-12) & (scaled <= cube[1] + 1e-12))
    assert np.allclose(BOX.unscale(scaled, *cube), clipped, atol=1e-6)


def test_corners_go_to_the_cubes_corners():
    assert BOX.scale([BOX.low, BOX.high], low=-1).tolist() == [[-1, -1], [1, 1]]


def test_the_diameter_is_the_diagonal():
    assert Box(x=(0, 3), y=(1, 5)).diameter == 5


def test_kilometres_agree_with_the_haversine():
    """Along the diagonal of a city, to 0.2 %."""
    diagonal = on_the_globe(CITY.low[None], CITY.high[None])[0]
    assert CITY.distance_unit == "km"
    assert pytest.approx(diagonal, rel=2e-3) == CITY.diameter


@pytest.mark.parametrize(("side", "off"), [(100, 0.01), (500, 0.05)])
@pytest.mark.parametrize("latitude", [-50, 0, 30, 50])
def test_the_plane_is_as_near_to_the_globe_as_it_says(latitude, side, off):
    up = side / 2 / 111.195
    across = up / math.cos(math.radians(latitude))
    box = Box.geo(latitude=(latitude - up, latitude + up), longitude=(10 - across, 10 + across))
    A, B = np.random.default_rng(1).uniform(box.low, box.high, (2, 20_000, 2))
    A[:99, 0], A[99:198, 0] = box.low[0], box.high[0]  # and short steps along the edges
    B[:198] = A[:198] + np.array([0, 1e-3])
    in_the_plane = np.linalg.norm(box.to_plane(A) - box.to_plane(B), axis=1)
    assert np.abs(in_the_plane / on_the_globe(A, B) - 1).max() < off


def on_the_globe(A, B):
    """Great-circle distance in kilometres."""
    (lat_a, lon_a), (lat_b, lon_b) = np.radians(A).T, np.radians(B).T
    rise, run = np.sin((lat_b - lat_a) / 2) ** 2, np.sin((lon_b - lon_a) / 2) ** 2
    return 2 * 6371.0088 * np.arcsin(np.sqrt(rise + np.cos(lat_a) * np.cos(lat_b) * run))


def test_the_plane_goes_there_and_back():
    X = np.random.default_rng(1).uniform(CITY.low, CITY.high, (50, 2))
    assert np.allclose(CITY.from_plane(CITY.to_plane(X)), X)
    assert np.allclose(CITY.to_plane([(CITY.low + CITY.high) / 2]), 0)
    assert np.linalg.norm(np.diff(CITY.to_plane([CITY.low, CITY.high]), axis=0)) == pytest.approx(
        CITY.diameter
    )
    assert np.allclose(BOX.from_plane(BOX.to_plane([[5, 6]])), [[5, 6]])


def test_a_box_is_frozen_hashable_and_pickles():
    for box in (BOX, CITY):
        again = pickle.loads(pickle.dumps(box))
        assert again == box
        assert hash(again) == hash(box)
        assert again.diameter == box.diameter
    with pytest.raises(ValueError, match="read-only"):
        BOX.low[0] = 5
    assert Box(latitude=(0, 1), longitude=(0, 1)) != Box.geo(latitude=(0, 1), longitude=(0, 1))


def test_it_shows_itself_as_it_is_made():
    assert repr(BOX) == "Box(age=(0, 110), income=(-1000, 250000))"
    assert eval(repr(CITY), {"Box": Box}).names == CITY.names


def test_columns_can_be_picked():
    assert BOX.select(["income"]) == Box(income=(-1e3, 250_000))
    assert CITY.select(CITY.names) == CITY
    with pytest.raises(UnknownColumn, match="'height'"):
        BOX.select(["height"])


@pytest.mark.parametrize(
    "make",
    [
        Box,
        lambda: Box(x=(1, 1)),
        lambda: Box(x=(2, 1)),
        lambda: Box(x=(0, math.nan)),
        lambda: Box(x=(0, math.inf)),
        lambda: Box(x=(-1.7e308, 1.7e308)),
        lambda: Box(x=(0, 5e-324)),
        lambda: Box(x=("a", "b")),
        lambda: Box(x=5),
        lambda: Box(x=(1, 2, 3)),
        lambda: Box(x=(True, False)),
        lambda: Box.unit(0),
        lambda: Box.unit(1.5),
        lambda: Box.of(["x", "x"], [0, 0], [1, 1]),
        lambda: Box.of(["x"], [0, 0], [1, 1]),
        lambda: Box.of([""], [0], [1]),
        lambda: Box.of("ab", [0, 0], [1, 1]),
        lambda: Box.of(5, [0], [1]),
        lambda: Box.of(["x"], [[0]], [[1]]),
        lambda: Box.geo(latitude=(0, 1)),
        lambda: Box.geo(latitude=(0, 91), longitude=(0, 1)),
        lambda: Box.geo(longitude=(-180, 181), latitude=(0, 1)),
    ],
)
def test_bounds_that_make_no_box_are_refused(make):
    with pytest.raises(InvalidDomain):
        make()


@pytest.mark.parametrize(
    ("X", "error"),
    [
        ([1, 2], DimensionMismatch),
        ([[1, 2, 3]], DimensionMismatch),
        (np.zeros((3, 0)), DimensionMismatch),
        ([["a", "b"]], NotNumeric),
        ([[1, 2], [3]], NotNumeric),
        ([[1 + 2j, 0]], NotNumeric),
        ([[True, False]], NotNumeric),
        (np.array([[1, None]], dtype=object), NotNumeric),
        (np.ma.masked_array([[1.0, 2.0]], [[0, 1]]), NotNumeric),
    ],
)
def test_rows_that_are_no_table_of_numbers_are_refused(X, error):
    with pytest.raises(error):
        BOX.clip(X)
