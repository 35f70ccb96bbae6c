import numpy as np
import pyarrow as pa
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

from shoal.data.encode import encode_codes, encode_numbers
from shoal.data.generate import blobs, students, students_schema
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
