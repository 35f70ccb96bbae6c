import numpy as np
import pyarrow as pa
import pytest
from sklearn.cluster import DBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score

from shoal.data._generate import blobs, shapes, students, students_schema
from shoal.data.encode import encode_codes, encode_numbers
from shoal.errors import InvalidSetting


@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("d", [2, 3, 5])
def test_blobs_are_the_thesis_tables(n, d):
    table = blobs(n=n, d=d, seed=1)
    assert table.shape == (n, d + 1)
    X = np.column_stack(table.drop_columns("label").columns)
    label = table["label"].to_numpy()
    assert len(set(label)) == 4
    spread = np.mean([X[label == k].std(axis=0, ddof=1) for k in range(4)])
    assert 0.45 < spread < 0.75


def test_the_same_seed_makes_the_same_table_and_another_another():
    for make in (blobs, students):
        assert make(100, seed=5).equals(make(100, seed=5))
        assert not make(100, seed=5).equals(make(100, seed=6))


@pytest.fixture(scope="module")
def table():
    return students(10_000, seed=0)


def test_students_keep_to_their_schema(table):
    schema = students_schema()
    assert schema.columns == tuple(table.column_names)
    batch = table.combine_chunks().to_batches()[0]
    assert schema.box.contains(encode_numbers(batch, schema.box.names)).all()
    assert encode_codes(batch, schema.categories).shape == (10_000, 6)


def test_every_state_lies_in_one_region(table):
    pairs = table.group_by(["state", "region"]).aggregate([])
    assert pairs.num_rows == 19


def test_students_have_rare_combinations(table):
    quasi = ["sex", "system", "level", "state", "region"]
    sizes = table.group_by(quasi).aggregate([([], "count_all")])["count_all"].to_numpy()
    assert (sizes == 1).sum() >= 20
    assert (sizes < 10).sum() >= 100


def test_connections_fall_into_groups_one_can_see(table):
    X = np.column_stack(table.select(students_schema().box.names).columns)
    U = students_schema().box.scale(X)
    found = KMeans(4, n_init=3, random_state=0).fit_predict(U)
    assert silhouette_score(U, found, sample_size=2000, random_state=0) > 0.5
    assert np.bincount(found).min() > 500


def test_habits_follow_system_and_income(table):
    frame = table.to_pandas()
    minutes = frame.groupby("system")["minutes_per_session"].mean()
    assert minutes["teacher training"] > minutes["primary"] + 10
    by_income = frame.groupby("income_quintile")["sessions_per_week"].mean()
    assert by_income[5] > by_income[1] + 1


def test_one_student_is_a_table_too():
    assert isinstance(students(1), pa.Table)


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "10"])
def test_a_table_needs_a_whole_number_of_rows(n):
    for make in (students, blobs):
        with pytest.raises(InvalidSetting):
            make(n)


@pytest.mark.parametrize("sd", [0, -1.0, float("nan"), float("inf")])
def test_blobs_need_a_spread(sd):
    with pytest.raises(InvalidSetting):
        blobs(sd=sd)


@pytest.mark.parametrize("seed", [-1, 1.5, "x"])
def test_a_seed_is_a_whole_number_from_zero_up(seed):
    for make in (students, blobs):
        with pytest.raises(InvalidSetting):
            make(10, seed=seed)


@pytest.mark.parametrize(
    ("kind", "groups"), [("moons", 2), ("rings", 2), ("spirals", 3), ("lattice", 25)]
)
def test_a_shape_has_its_groups_in_equal_parts(kind, groups):
    table = shapes(kind, n=100 * groups, seed=4)
    assert table.column_names == ["x", "y", "label"]
    sizes = np.bincount(table["label"].to_numpy())
    assert sizes.tolist() == [100] * groups
    assert shapes(kind, n=100 * groups, seed=4) == table
    assert shapes(kind, n=100 * groups, seed=5) != table


@pytest.mark.parametrize("kind", ["moons", "rings", "spirals", "lattice"])
def test_groups_of_a_shape_stand_apart_along_chains_of_neighbours(kind):
    table = shapes(kind, n=4_000, noise=0.01, seed=1)
    X, label = np.column_stack([table["x"], table["y"]]), table["label"].to_numpy()
    chains = DBSCAN(eps=0.08, min_samples=2).fit_predict(X)
    assert adjusted_rand_score(label, chains) == 1


def test_rings_without_noise_have_their_radii():
    table = shapes("rings", n=50, noise=0)
    radius = np.hypot(table["x"], table["y"])
    assert np.allclose(radius, np.where(table["label"].to_numpy() == 0, 1, 0.5))


@pytest.mark.parametrize("asked", [{"kind": "cube"}, {"n": 0}, {"noise": -1}, {"noise": np.inf}])
def test_shapes_that_make_no_sense_are_refused(asked):
    with pytest.raises(InvalidSetting):
        shapes(**asked)
