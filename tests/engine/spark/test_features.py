"""Features on Spark: the same bits as embedded, in sessions of two zones."""

import importlib.util
from pathlib import Path

import pyarrow as pa
import pytest

from shoal.data import write_table
from shoal.engine import features
from shoal.errors import RepeatedPerson

pytest.importorskip("pyspark")
_PATH = Path(__file__).parents[1] / "feature_table" / "test_table.py"
_SPEC = importlib.util.spec_from_file_location("feature_cases", _PATH)
cases = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(cases)


def stored(folder, people, events):
    """Write a programme to Parquet; numbers have a type there."""
    log = cases.log_of(events)
    for name in ("minutes", cases.ODD_NAME):
        cells = [None if cell in (None, "", "a") else float(cell) for cell in log[name]]
        log[name] = pa.array(cells, pa.float64())
    pupils = write_table(pa.table(people), folder / "pupils.parquet")
    courses = write_table(pa.table(cases.COURSES), folder / "courses.parquet")
    paths = {"people": pupils, "courses": courses}
    return paths | {"log": write_table(pa.table(log), folder / "log.parquet")}


@pytest.fixture
def in_zone(spark, request):
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield spark
    spark.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.parametrize("in_zone", ["UTC", "Asia/Kathmandu"], indirect=True)
def test_every_value_has_the_same_bits_as_on_one_machine(in_zone, tmp_path):
    paths = stored(tmp_path, *cases.a_programme(7))
    frames = paths | {"people": in_zone.read.parquet(str(paths["people"]))}
    far = features(cases.file_of(), tables=frames).to_arrow().sort_by("pupil")
    near = features(cases.file_of(), tables=paths).to_arrow().sort_by("pupil")
    assert far.equals(near)


def test_two_rows_of_one_person_are_refused(spark, tmp_path):
    paths = stored(tmp_path, *cases.a_programme(7, n_events=5))
    people = spark.read.parquet(str(paths["people"]))
    with pytest.raises(RepeatedPerson):
        features(cases.file_of(), tables=paths | {"people": people.union(people)})
