"""Reports of a Spark frame, and the remaps that follow them."""

import numpy as np
import pyarrow as pa
import pytest

from shoal.domain import Box
from shoal.errors import ConflictingSettings, TooLarge
from shoal.mechanisms import NDLaplace, bayes_remap, clamp
from shoal.mechanisms.local._reports import Reports
from shoal.mechanisms.local.laplace._remaps import Then
from shoal.perturb import Perturb
from shoal.privacy import Ledger

BOX = Box(x=(0, 4), y=(0, 4))
LAPLACE = NDLaplace(2.0, domain=BOX)
CHAIN = Then(bayes_remap("em"), clamp(Box(x=(1, 3), y=(1, 3))))
TOWNS = bayes_remap(([[1.0, 1.0], [3.0, 3.0]], [1, 2]), loss="euclidean")
X = np.random.default_rng(1).choice([[1.0, 1.0], [3.0, 3.0]], 300)


@pytest.fixture(scope="module")
def frame(spark):
    table = pa.table({"x": X[:, 0], "y": X[:, 1]})
    return spark.createDataFrame(table).repartition(3).persist()  # in one order from now on


def drawn(frame, remap):
    """Reports as they stand in the frame, and how often they were paid for."""
    perturb = Perturb(LAPLACE, remap=remap, random_state=7).fit(frame)
    told = perturb.transform(frame)
    assert told.columns == ["x", "y"]
    return np.column_stack(told.toArrow().columns), len(perturb.ledger_.entries())


@pytest.mark.heavy
@pytest.mark.parametrize(
    "remap", [clamp(BOX), TOWNS, bayes_remap("em"), CHAIN], ids=["clamp", "prior", "em", "chain"]
)
def test_a_remap_moves_a_frames_reports_as_it_moves_those_of_an_array(frame, remap):
    plain, _ = drawn(frame, None)
    moved, entries = drawn(frame, remap)
    assert entries == 1
    np.testing.assert_allclose(moved, remap(Reports(plain, LAPLACE)).values, atol=1e-5)
    assert np.abs(moved - plain).max() > 0.1


@pytest.mark.heavy
def test_in_many_columns_reports_are_the_places_to_learn_from(spark):
    box = Box.unit(5)
    table = pa.table(np.random.default_rng(2).random((5, 200)).tolist(), names=list(box.names))
    frame = spark.createDataFrame(table)
    perturb = Perturb(NDLaplace(9.0, domain=box), remap=bayes_remap("em"), random_state=7)
    moved = np.column_stack(perturb.fit_transform(frame).toArrow().columns)
    assert moved.shape == (200, 5)
    assert np.all((moved >= 0) & (moved <= 1))


def test_people_who_were_remembered_here_are_not_forgotten_there(frame):
    here = {"who": ["ada", "bob"], "x": [1.0, 2.0], "y": [1.0, 2.0]}
    perturb = Perturb(LAPLACE, person="who").fit(pa.table(here))
    with pytest.raises(ConflictingSettings, match="one machine remembers"):
        perturb.transform(frame)
    assert perturb.ledger_.totals() == []


@pytest.mark.heavy
def test_a_frame_without_rows_has_no_reports_to_learn_from(spark):
    none = spark.createDataFrame([], "x double, y double")
    assert Perturb(LAPLACE, remap=bayes_remap("em")).fit(none).transform(none).count() == 0


def test_a_lattice_too_fine_is_refused_before_anything_is_spent(frame):
    perturb = Perturb(NDLaplace(1_000.0, domain=BOX), remap=bayes_remap("em"), ledger=Ledger())
    with pytest.raises(TooLarge, check=lambda error: error.reason == "lattice"):
        perturb.fit(frame)
    assert perturb.ledger.totals() == []
