import json
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from shoal.anonymize import Policy, TopDownSpecialization, recount, run_policy
from shoal.anonymize.release._people_register import read_register
from shoal.anonymize.spark import _frame as spark_release
from shoal.anonymize.spark import _run as run
from shoal.engine.spark._table import SparkTable
from shoal.errors import (
    AlreadyExists,
    CannotWrite,
    HierarchyInvalid,
    InvalidPolicy,
    InvalidSetting,
    LooksIdentifying,
    NewPeopleNotStated,
    NotKAnonymous,
    PersonMissing,
    ReleasedBefore,
    TooLarge,
    UnknownCategory,
    UnknownColumn,
)

LETTER = {"role": "quasi", "hierarchy": {"tree": {"*": {"x": ["a", "b"], "y": ["c", "d"]}}}}
AGE = {
    "role": "quasi", "type": "int", "domain": [0, 63],
    "hierarchy": {"kind": "binary", "min_width": 4},
}  # fmt: skip
COLUMNS = {
    "id": {"role": "identifier"},
    "q": LETTER,
    "age": AGE,
    "s": {"role": "sensitive", "l": {"value": 2}},
    "visits": {"role": "other"},
}


def people(n=400, seed=1):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": [f"p{i}" for i in range(n)],
            "q": pa.array([*rng.choice(list("aaaaabbccd"), n - 3), None, None, None], pa.string()),
            "age": rng.integers(-5, 70, n),
            "s": rng.choice(["u", "v", "w,\n x"], n),
            "visits": rng.integers(0, 9, n),
        }
    )


def policy(folder=".", path="out.parquet", attributes=None, **parts):
    content = {
        "version": 1,
        "attributes": COLUMNS if attributes is None else attributes,
        "privacy": {"k": 5, "suppression": 0.05, **parts.pop("privacy", {})},
        "search": {"restarts": 2, **parts.pop("search", {})},
        "output": {"path": path, **parts.pop("output", {})},
        **parts,
    }
    return Policy.of(content, folder)


def rows_in(table):
    columns = (table[name].to_pylist() for name in sorted(table.column_names))
    return Counter(zip(*columns, strict=True))


def read(folder, ending):
    files = sorted(folder.glob("part-*"))
    if ending == ".parquet":
        return pa.concat_tables(pq.read_table(file) for file in files)
    return pa.concat_tables(map(read_one, files))


SLOW = pytest.mark.slow


@pytest.mark.parametrize("ending", [".parquet", pytest.param(".csv.gz", marks=SLOW)])
def test_spark_releases_the_rows_this_machine_would(spark, tmp_path, ending):
    (tmp_path / "near").mkdir()
    near = run_policy(policy(tmp_path / "near", f"out{ending}"), people())
    far = run_policy(
        policy(tmp_path, f"out{ending}"), spark.createDataFrame(people()).repartition(3)
    )
    assert far.outcome.cut == near.outcome.cut
    assert far.outcome.metrics == near.outcome.metrics
    told, expected = dict(far.manifest), dict(near.manifest)
    assert len(told.pop("table_sha256")) == len(expected.pop("table_sha256"))
    for name in ("policy_sha256", "digest"):
        told.pop(name), expected.pop(name)
    assert told == expected
    written = tmp_path / f"out{ending}"
    released = near.paths.table
    beside = pq.read_table(released) if ending == ".parquet" else read_one(released)
    assert rows_in(read(written, ending)) == rows_in(beside)
    told = json.loads(json.dumps(far.manifest))
    assert json.loads((tmp_path / "out.manifest.json").read_text()) == told
    mappings = [folder / "out.mapping.csv" for folder in (tmp_path, tmp_path / "near")]
    assert mappings[0].read_text() == mappings[1].read_text()
    assert not list(tmp_path.glob(".*"))


def read_one(path):
    kinds = dict.fromkeys(["q", "age", "s", "visits"], pa.string())
    how = pa_csv.ConvertOptions(column_types=kinds, strings_can_be_null=True)
    lines = pa_csv.ParseOptions(newlines_in_values=True)
    return pa_csv.read_csv(path, convert_options=how, parse_options=lines)


@pytest.mark.parametrize("adaptive", ["false", "true"])
def test_a_written_release_keeps_no_trace_of_the_order_rows_came_in(
    spark, tmp_path, monkeypatch, adaptive
):
    monkeypatch.setattr(spark_release, "_PARTITION_ROWS", 60)
    monkeypatch.setattr(run, "_FILE_ROWS", 20)
    before = spark.conf.get("spark.sql.adaptive.enabled")
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    try:
        first, second = _written_twice(spark, tmp_path)
    finally:
        spark.conf.set("spark.sql.adaptive.enabled", before)
    assert list(first.values()) == list(second.values())
    rows = sum(map(len, second.values()))
    assert len({name[:10] for name in second}) == -(-rows // 60)  # not as Spark would have it
    assert len(second) > 10  # several files of each


def _written_twice(spark, tmp_path):
    """The rows of each file of a release, from a table and from its rows in another order."""
    table = people(300).append_column("place", pa.array([f"w{i % 40}" for i in range(300)]))
    asked = policy(tmp_path, attributes={**COLUMNS, "place": {"role": "other"}})
    found = []
    for rows in (table, table.take(pa.array(np.random.default_rng(2).permutation(300)))):
        run_policy(asked, spark.createDataFrame(rows), overwrite=True)
        files = sorted((tmp_path / "out.parquet").glob("*.parquet"))
        found.append({file.name: pq.read_table(file).to_pylist() for file in files})
    return found


def test_people_are_counted_and_whose_rows_are_leaves_before_the_release(spark, tmp_path):
    table = people(300)
    table = table.set_column(0, "id", pa.array([f"p{i // 3}" for i in range(300)]))
    asked = policy(tmp_path, privacy={"person": "id"}, search={"restarts": 0})
    far = run_policy(asked, spark.createDataFrame(table))
    (tmp_path / "near").mkdir()
    near = run_policy(
        policy(tmp_path / "near", privacy={"person": "id"}, search={"restarts": 0}), table
    )
    assert far.outcome.cut == near.outcome.cut
    assert far.produced.achieved.by_person
    assert far.produced.achieved.sizes.tolist() == near.produced.achieved.sizes.tolist()
    assert far.produced.achieved.l == near.produced.achieved.l
    assert far.produced.achieved.share == near.produced.achieved.share
    written = read(tmp_path / "out.parquet", ".parquet")
    assert written.column_names == ["q", "age", "s", "visits"]
    assert rows_in(written) == rows_in(pq.read_table(near.paths.table))


def test_people_are_held_against_earlier_releases_of_either_engine(spark, tmp_path):
    asked = policy(tmp_path, "out.parquet", privacy={"person": "id", "suppression": 0.2})
    run_policy(asked, spark.createDataFrame(people()))
    register = read_register(tmp_path / "out.people.curator")
    assert (register.releases, len(register.fingerprints)) == (1, 400)
    manifest = tmp_path / "out.manifest.json"
    later = policy(tmp_path, "later.csv", privacy={"person": "id", "suppression": 0.2})
    for snapshot in (spark.createDataFrame(people()), people()):
        with pytest.raises(ReleasedBefore) as refused:
            run_policy(later, snapshot, manifest=manifest, new_people=True)
        assert refused.value.people == 400
    assert not (tmp_path / "later.csv").exists()
    newcomers = people(seed=2).set_column(0, "id", pa.array([f"n{i}" for i in range(400)]))
    done = run_policy(later, spark.createDataFrame(newcomers), manifest=manifest)
    assert done.manifest["people"] == {
        "basis": "compared", "register": "out.people.curator", "id": register.id,
    }  # fmt: skip
    assert read_register(tmp_path / "out.people.curator").releases == 2
    with pytest.raises(ReleasedBefore):
        run_policy(
            policy(tmp_path, "third.csv", privacy={"person": "id", "suppression": 0.2}),
            newcomers,
            manifest=manifest,
        )


def test_more_people_than_may_come_to_the_driver_are_refused(spark, tmp_path):
    asked = policy(tmp_path, privacy={"person": "id"}, search={"restarts": 0})
    few = SparkTable(spark.createDataFrame(people()), 399)
    with pytest.raises(TooLarge, match="400 people", check=lambda error: error.reason == "people"):
        run_policy(asked, few)
    assert not list(tmp_path.iterdir())


def test_without_a_person_column_spark_asks_for_the_statement_too(spark, tmp_path):
    frame = spark.createDataFrame(people())
    run_policy(policy(tmp_path), frame)
    later = policy(tmp_path, "later.parquet")
    with pytest.raises(NewPeopleNotStated):
        run_policy(later, frame, manifest=tmp_path / "out.manifest.json")
    done = run_policy(later, frame, manifest=tmp_path / "out.manifest.json", new_people=True)
    assert done.manifest["people"]["basis"] == "stated"


def test_the_estimator_returns_a_spark_frame_and_keeps_its_cut(spark):
    asked = policy(privacy={"suppression": 0.2}, search={"restarts": 0})
    frame = spark.createDataFrame(people())
    model = TopDownSpecialization(policy=asked)
    released = model.fit_transform(frame)
    near = TopDownSpecialization(policy=asked)
    expected = near.fit_transform(people())
    assert model.cut_ == near.cut_
    assert rows_in(released.toArrow()) == rows_in(expected)
    again = model.transform(spark.createDataFrame(people(seed=2)), new_people=True)
    assert rows_in(again.toArrow()) == rows_in(near.transform(people(seed=2), new_people=True))
    assert not recount(again, asked).broken(asked)


def test_pseudonyms_and_odd_names_are_those_of_this_machine(spark, tmp_path, monkeypatch):
    monkeypatch.setenv("RELEASE_KEY", "ab" * 32)
    hashed = {**COLUMNS, "id": {"role": "identifier", "action": "hmac", "key_env": "RELEASE_KEY"}}
    hashed["vis.`its"] = hashed.pop("visits")
    table = people().rename_columns(["id", "q", "age", "s", "vis.`its"])
    asked = policy(tmp_path, attributes=hashed, search={"restarts": 0})
    model = TopDownSpecialization(policy=asked)
    released = model.fit_transform(spark.createDataFrame(table))
    assert rows_in(released.toArrow()) == rows_in(model.fit_transform(table))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda t: t.set_column(1, "q", pa.array(["z"] * 400)), UnknownCategory),
        (lambda t: t.drop_columns("q"), UnknownColumn),
        (lambda t: t.append_column("more", t["visits"]), InvalidPolicy),
        pytest.param(
            lambda t: t.set_column(4, "visits", pa.array(range(400))), LooksIdentifying, marks=SLOW
        ),
        (lambda t: t.set_column(0, "id", pa.nulls(400, pa.string())), PersonMissing),
        (lambda t: t.set_column(0, "id", pa.array(np.arange(400) / 2)), InvalidSetting),
    ],
)
def test_what_is_refused_here_is_refused_on_spark_in_the_same_words(spark, tmp_path, change, error):
    asked = policy(tmp_path, privacy={"person": "id"})
    table = change(people())
    with pytest.raises(error) as near:
        run_policy(asked, table)
    with pytest.raises(error) as far:
        run_policy(asked, spark.createDataFrame(table))
    assert str(far.value) == str(near.value)
    assert far.value.facts == near.value.facts
    assert os.listdir(tmp_path) == []


def test_an_empty_column_is_refused_before_anything_is_written(spark, tmp_path):
    table = people().set_column(1, "q", pa.nulls(400, pa.string()))
    prefix = {"role": "quasi", "hierarchy": {"kind": "prefix", "keep": [1]}}
    asked = policy(tmp_path, attributes={**COLUMNS, "q": prefix})
    with pytest.raises(
        HierarchyInvalid, match="'q' is empty", check=lambda error: error.reason == "no values"
    ):
        run_policy(asked, spark.createDataFrame(table))
    assert os.listdir(tmp_path) == []


def test_a_place_that_is_taken_is_refused_before_any_row_is_read(spark, tmp_path):
    (tmp_path / "out.parquet").mkdir()
    broken = spark.range(3).selectExpr("raise_error('read') AS q")
    with pytest.raises(AlreadyExists):
        run_policy(policy(tmp_path), broken)
    with pytest.raises(CannotWrite):
        run_policy(policy(tmp_path, "out.txt"), broken)


def test_the_table_that_is_read_is_not_replaced(spark, tmp_path):
    spark.createDataFrame(people(40)).write.parquet(str(tmp_path / "out.parquet"))
    frame = spark.read.parquet(str(tmp_path / "out.parquet"))
    with pytest.raises(InvalidPolicy, match="read by this run"):
        run_policy(policy(tmp_path), frame, overwrite=True)


def test_a_twin_that_publishes_rows_as_they_are_is_caught(spark, tmp_path, monkeypatch):
    def bare(policy, table, frequency, release):
        return table.frame.drop("id")

    monkeypatch.setattr("shoal.anonymize.spark._run.released_frame", bare)
    with pytest.raises(NotKAnonymous):
        run_policy(policy(tmp_path), spark.createDataFrame(people()))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("mark", "*[}\\")
def test_a_place_that_spark_reads_as_a_pattern_is_refused_before_any_row_is_read(
    spark, tmp_path, mark
):
    unread = "CAST(raise_error('read') AS STRING) AS q"
    frame = spark.createDataFrame(people()).selectExpr("id", unread, "age", "s", "visits")
    with pytest.raises(CannotWrite, match="pattern"):
        run_policy(policy(tmp_path, path=f"out{mark}.parquet"), frame)
    with pytest.raises(CannotWrite, match="pattern"):
        run_policy(policy(tmp_path / f"a{mark}"), frame)


def test_stars_and_nulls_that_are_shown_alike_are_told_apart_by_no_order(spark):
    q = ["a"] * 40 + ["b", "d"] * 3 + [None] * 6
    attributes = {"q": LETTER, "s": {"role": "sensitive"}}
    privacy = {"nulls": "as_root", "suppression": 0.2}
    asked = policy(attributes=attributes, privacy=privacy, output={"suppressed": "star"},
                   search={"restarts": 0})  # fmt: skip
    found = []
    for drawn in (q, q[:40] + [None] * 12):
        frame = spark.createDataFrame(pa.table({"q": drawn, "s": np.arange(52) % 2}))
        released = TopDownSpecialization(policy=asked).fit_transform(frame)
        found.append(released.toArrow().to_pylist())
    assert {row["q"] for row in found[0]} == {"*", "a"}
    assert found[0] == found[1]


def test_a_twin_that_loses_a_row_is_caught(spark, tmp_path, monkeypatch):
    whole = spark_release.released_frame

    def short(*arguments):
        frame = whole(*arguments)
        return frame.limit(frame.count() - 1)

    monkeypatch.setattr("shoal.anonymize.spark._run.released_frame", short)
    with pytest.raises(NotKAnonymous, match="rows, not"):
        run_policy(policy(tmp_path), spark.createDataFrame(people()))
    assert os.listdir(tmp_path) == []


def test_a_twin_that_loses_a_row_with_its_owner_is_caught(spark, tmp_path, monkeypatch):
    def short(frame, rows):
        return frame.limit(rows - 1)

    monkeypatch.setattr("shoal.anonymize.spark._run.sort_by_content", short)
    asked = policy(tmp_path, privacy={"person": "id"}, search={"restarts": 0})
    with pytest.raises(CannotWrite, match="was removed"):
        run_policy(asked, spark.createDataFrame(people()))
    assert os.listdir(tmp_path) == []


def test_what_spark_notes_beside_a_column_stays_behind(spark, tmp_path):
    frame = spark.createDataFrame(people())
    frame = frame.withMetadata("visits", {"ml_attr": {"vals": ["secret"]}})
    run_policy(policy(tmp_path), frame)
    files = (tmp_path / "out.parquet").glob("part-*")
    assert not any(b"secret" in file.read_bytes() for file in files)


KINDS = {
    "day": ({"type": "date", "hierarchy": {"kind": "date", "levels": ["month", "year"]}}, "DATE"),
    "yes": ({"hierarchy": {"tree": {"*": ["true", "false"]}}}, "BOOLEAN"),
    "size": ({"type": "float", "domain": [-2, 2], "hierarchy": {"kind": "binary"}}, "DOUBLE"),
    "code": ({"hierarchy": {"tree": {"*": {"low": ["1", "2"], "high": ["3", "4"]}}}}, "STRING"),
}


def mixed(n=900):
    rng = np.random.default_rng(5)
    size = rng.choice([-0.0, 0.0, 1.5, -1.0, np.nan], n)
    days = rng.choice(["2021-03-05", "2021-04-01", "2022-01-31"], n).astype("datetime64[D]")
    return pa.table(
        {
            "day": days,
            "yes": pa.array(rng.choice([True, False, None], n).tolist(), pa.bool_()),
            "size": pa.array(size, mask=rng.random(n) < 0.1),
            "code": rng.choice(["1", "1.0", " 2", "3", "4"], n),
            "s": pa.array(rng.choice([0.0, 1.0, np.nan], n), mask=rng.random(n) < 0.1),
        }
    )


@pytest.mark.parametrize(
    "parts", [{}, pytest.param({"search": {"recoding": "local", "restarts": 0}}, marks=SLOW)]
)
def test_rows_of_all_kinds_find_their_class_without_python(spark, monkeypatch, parts):
    attributes = {name: {"role": "quasi", **how} for name, (how, _) in KINDS.items()}
    asked = policy(attributes={**attributes, "s": {"role": "sensitive"}}, **parts)
    frame = spark.createDataFrame(mixed())
    assert dict(frame.dtypes) == {**{n: k.lower() for n, (_, k) in KINDS.items()}, "s": "double"}
    monkeypatch.setattr(spark_release, "_mark_rows", None)
    far = TopDownSpecialization(policy=asked).fit_transform(frame)
    near = TopDownSpecialization(policy=asked).fit_transform(mixed())
    assert in_words(far.toArrow()) == in_words(near)
    assert len(in_words(near)) > 20


def in_words(table):
    """Rows as text: no number that is none equals itself."""
    return sorted(str(sorted(row.items())) for row in table.to_pylist())


@pytest.mark.slow
def test_combinations_too_many_to_send_are_found_by_python(spark, monkeypatch):
    asked = policy(search={"restarts": 0})
    frame = spark.createDataFrame(people())
    found = []
    for most in (0, 10**6):
        monkeypatch.setattr(spark_release, "_MOST_BROADCAST", most)
        found.append(rows_in(TopDownSpecialization(policy=asked).fit_transform(frame).toArrow()))
    assert found[0] == found[1]


def test_a_table_of_quasi_identifiers_alone_is_made_of_its_classes(spark, tmp_path):
    asked = policy(tmp_path, attributes={"q": LETTER, "age": AGE}, search={"restarts": 0})
    table = people().select(["q", "age"])
    run_policy(asked, spark.createDataFrame(table))
    (tmp_path / "near").mkdir()
    near = run_policy(
        policy(tmp_path / "near", attributes={"q": LETTER, "age": AGE}, search={"restarts": 0}),
        table,
    )
    assert rows_in(read(tmp_path / "out.parquet", ".parquet")) == rows_in(
        pq.read_table(near.paths.table)
    )


@pytest.mark.slow
def test_pages_are_written_beside_the_release_the_holders_for_its_owner_alone(spark, tmp_path):
    def pages(done):
        return dict.fromkeys(done.paths.pages, "a page")

    done = run_policy(policy(tmp_path), spark.createDataFrame(people()), pages=pages)
    assert Path(done.paths.curator).stat().st_mode & 0o077 == 0
    assert done.paths.report.read_text() == "a page"


@pytest.fixture
def far_from_greenwich(spark):
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    yield
    spark.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.usefixtures("far_from_greenwich")
def test_days_are_those_of_the_sessions_clock_and_text_is_told_by_its_bytes(spark):
    letters = {"role": "quasi", "hierarchy": {"tree": {"*": {"x": ["a", "b"], "y": ["A", "B"]}}}}
    day = {"role": "quasi", "type": "date", "hierarchy": {"kind": "date", "levels": ["day"]}}
    attributes = {"q": letters, "t": day, "id": {"role": "identifier"}}
    asked = policy(attributes=attributes, privacy={"person": "id"}, search={"restarts": 0})
    times = ["2021-03-28T01:30", "2021-03-28T23:30", "2021-10-31T02:00"]
    table = pa.table(
        {
            "q": ["a", "A", "b", "B"] * 60,
            "t": np.repeat(times, 80).astype("datetime64[us]"),
            "id": [f"p{i // 8}" for i in range(240)],
        }
    )
    frame = spark.createDataFrame(table).selectExpr("q COLLATE UTF8_LCASE AS q", "t", "id")
    assert frame.dtypes[:2] == [("q", "string collate UTF8_LCASE"), ("t", "timestamp")]
    far = TopDownSpecialization(policy=asked).fit_transform(frame)
    near = TopDownSpecialization(policy=asked).fit_transform(table)
    assert rows_in(far.toArrow()) == rows_in(near)
    assert len(rows_in(near)) == 8  # two days, not three, and four letters


def test_rows_that_spark_would_take_for_equal_come_in_no_order_of_their_own(spark):
    odd = """CASE i % 4 WHEN 0 THEN named_struct('a', array(1, NULL), 'b', 0D)
        WHEN 1 THEN named_struct('a', array(NULL, 1), 'b', 0D)
        WHEN 2 THEN named_struct('a', array(1), 'b', -0D)
        ELSE named_struct('a', array(1), 'b', 0D) END AS s"""
    attributes = {"q": LETTER, "s": {"role": "sensitive"}, "z": {"role": "sensitive"}}
    asked = policy(attributes=attributes, search={"restarts": 0})
    found = []
    for seed in (1, 2):
        i = np.random.default_rng(seed).permutation(160)
        frame = spark.createDataFrame(pa.table({"q": ["a"] * 160, "i": i}))
        frame = frame.selectExpr("q", odd, "IF(i < 80, 0D, -0D) AS z").coalesce(1)
        released = TopDownSpecialization(policy=asked).fit_transform(frame).toArrow()
        found.append([str(row) for row in released.to_pylist()])
    assert found[0] == found[1]
    assert len(set(found[0])) == 8


def test_spellings_of_nothing_are_read_as_on_this_machine(spark):
    table = people().set_column(4, "visits", pa.array(["\\N", "o'", "\\", "1"] * 100))
    asked = policy(input={"null_values": ["\\N", "o'", "\\"]}, search={"restarts": 0})
    far = TopDownSpecialization(policy=asked).fit_transform(spark.createDataFrame(table))
    assert rows_in(far.toArrow()) == rows_in(
        TopDownSpecialization(policy=asked).fit_transform(table)
    )


def test_a_zero_below_zero_is_zero(spark, monkeypatch):
    tree = {"role": "quasi", "hierarchy": {"tree": {"*": ["0", "1"]}}}
    asked = policy(attributes={"q": tree, "s": {"role": "sensitive"}}, search={"restarts": 0})
    table = pa.table({"q": [0.0, -0.0, 1.0] * 40, "s": ["u", "v", "w", "x"] * 30})
    near = rows_in(TopDownSpecialization(policy=asked).fit_transform(table))
    assert {row[0] for row in near} == {"0", "1"}
    for most in (0, 10**6):
        monkeypatch.setattr(spark_release, "_MOST_BROADCAST", most)
        far = TopDownSpecialization(policy=asked).fit_transform(spark.createDataFrame(table))
        assert rows_in(far.toArrow()) == near


def test_what_is_returned_is_what_was_counted_though_rows_be_drawn_anew(spark):
    def drawn(batches):
        for batch in batches:
            tens = np.random.default_rng().integers(0, 10**9, batch.num_rows)
            yield pa.record_batch({"q": ["a"] * batch.num_rows, "s": tens})

    frame = spark.range(50).mapInArrow(drawn, "q string, s bigint")
    assert frame.toArrow() != frame.toArrow()
    attributes = {"q": LETTER, "s": {"role": "sensitive"}}
    asked = policy(attributes=attributes, search={"restarts": 0})
    released = TopDownSpecialization(policy=asked).fit_transform(frame)
    first, second = (released.select("*").toArrow() for _ in range(2))
    assert rows_in(first) == rows_in(second)


def test_a_release_reads_the_rows_three_times_at_most(spark, tmp_path):
    frame, context = spark.createDataFrame(people()).repartition(7), spark.sparkContext
    context.setJobGroup("released", "a release")
    try:
        run_policy(policy(tmp_path), frame)
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
    context._jsc.sc().listenerBus().waitUntilEmpty()
    tracker = context.statusTracker()
    jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup("released"))
    stages = [tracker.getStageInfo(stage) for stage in {s for job in jobs for s in job.stageIds}]
    reading = [of for of in stages if of and of.numTasks == 7 and of.numCompletedTasks]
    assert 2 <= len(reading) <= 3
