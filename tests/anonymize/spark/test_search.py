import numpy as np
import pyarrow as pa
import pytest

from shoal.anonymize import Policy, TopDownSpecialization, count_combinations
from shoal.anonymize.search._run_search import find_outcome
from shoal.anonymize.spark._search import MERGED, find_outcome_on_spark, refuse_here_only
from shoal.data import adults as made_adults
from shoal.data import adults_hierarchies
from shoal.engine.spark._table import SparkTable
from shoal.errors import InvalidPolicy, TooLarge, UnknownCategory

QIDS = [
    *("sex", "age", "race", "marital-status", "education"),
    *("native-country", "workclass", "occupation", "income"),
]
LETTER = {"role": "quasi", "hierarchy": {"tree": {"*": {"x": ["a", "b"], "y": ["c", "d"]}}}}
PREFIX = {"role": "quasi", "hierarchy": {"kind": "prefix", "keep": [3, 2, 1]}}
EVERYTHING, SOME, NOTHING = 10**7, 5000, 1  # combinations that come to the driver


def study_here(asked, table):
    frequency = count_combinations(asked, table)
    return frequency, find_outcome(asked, frequency)


@pytest.fixture(scope="session")
def adults(spark):
    """30,000 made-up adults, here and on Spark."""
    table = made_adults(30_000)
    table = pa.table({name: table[name].cast(pa.string()) for name in QIDS})
    return table, spark.createDataFrame(table).repartition(5)


@pytest.fixture(scope="session")
def trees(tmp_path_factory):
    """A file with the hierarchy of each column."""
    folder = tmp_path_factory.mktemp("trees")
    for name, paths in adults_hierarchies().items():
        (folder / f"{name}.csv").write_text("".join(";".join(path) + "\n" for path in paths))
    return folder


def policy(trees, k, suppression):
    attributes = {
        name: {
            "role": "quasi",
            "hierarchy": {"file": str(trees / f"{name}.csv"), "labels": "opaque"},
        }
        for name in QIDS
    }
    privacy = {"k": k, "suppression": suppression}
    content = {"version": 1, "attributes": attributes, "privacy": privacy}
    return Policy.of({**content, "search": {"restarts": 0}})


def agree(adults, trees, k, suppression, limit):
    table, frame = adults
    asked = policy(trees, k, suppression)
    _, near = study_here(asked, table)
    _, far = find_outcome_on_spark(asked, SparkTable(frame, limit))
    assert far.cut == near.cut
    assert far.metrics == near.metrics


def test_adults_collected_give_the_cut_of_this_machine(adults, trees):
    agree(adults, trees, 5, 0, EVERYTHING)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [EVERYTHING, SOME, NOTHING])
@pytest.mark.parametrize("suppression", [0, 0.02])
@pytest.mark.parametrize("k", [5, 10, 50])
def test_all_three_ways_give_the_cut_of_this_machine(adults, trees, k, suppression, limit):
    agree(adults, trees, k, suppression, limit)


def letters(n=200, seed=3):
    rng = np.random.default_rng(seed)
    codes = [f"{a}{b}{c}" for a, b, c in rng.integers(0, 3, (n, 3))]
    q = rng.choice(["a", "b", "c", "d", None], n, p=[0.4, 0.3, 0.2, 0.05, 0.05])
    return pa.table({"q": pa.array(q.tolist(), pa.string()), "code": codes})


def small(nulls="own_value", **parts):
    content = {
        "version": 1,
        "attributes": {"q": LETTER, "code": PREFIX, **parts.pop("attributes", {})},
        "privacy": {"k": 4, "suppression": 0.1, "nulls": nulls, **parts.pop("privacy", {})},
        "search": {"restarts": 0, **parts.pop("search", {})},
    }
    return Policy.of(content)


@pytest.mark.parametrize(
    "nulls",
    [
        "own_value",
        pytest.param("suppress", marks=pytest.mark.slow),
        pytest.param("as_root", marks=pytest.mark.slow),
    ],
)
def test_learnt_hierarchies_and_nulls_are_those_of_this_machine(spark, nulls):
    table = letters()
    near, expected = study_here(small(nulls), table)
    far, found = find_outcome_on_spark(small(nulls), SparkTable(spark.createDataFrame(table), 10))
    assert found.cut == expected.cut
    assert found.metrics == expected.metrics
    assert far.problem.lost == near.problem.lost
    assert MERGED in found.curator_notes


@pytest.mark.parametrize("limit", [10, 1_000_000])
def test_splits_learnt_on_spark_are_those_of_this_machine(spark, limit):
    drawn = np.random.default_rng(5).lognormal(10, 0.5, 300).astype(int)
    table = letters(300).append_column("pay", pa.array(drawn))
    pay = {"role": "quasi", "type": "int", "domain": [0, 199_999],
           "hierarchy": {"kind": "binary", "split": "median"}}  # fmt: skip
    asked = small(attributes={"pay": pay})
    near, expected = study_here(asked, table)
    far, found = find_outcome_on_spark(asked, SparkTable(spark.createDataFrame(table), limit))
    trees = [of.codec.hierarchies["pay"].taxonomy.nodes for of in (near, far)]
    assert trees[0] == trees[1]
    assert len(trees[0]) > 20
    assert found.cut == expected.cut
    assert found.metrics == expected.metrics


def test_counting_split_by_split_gives_the_cut_of_this_machine(spark):
    asked = small(privacy={"k": 25, "suppression": 0})
    near = study_here(asked, letters())[1]
    far = find_outcome_on_spark(asked, SparkTable(spark.createDataFrame(letters()), NOTHING))[1]
    assert far.cut == near.cut
    assert far.metrics == near.metrics


def test_a_kept_cut_is_applied_from_afar(spark):
    asked = small()
    near = TopDownSpecialization(policy=asked).fit(letters())
    later = spark.createDataFrame(letters(seed=4))
    far = TopDownSpecialization(policy=asked).fit(letters())
    released = far.transform(SparkTable(later, 3)).toArrow()
    expected = near.transform(letters(seed=4))
    for table in (released, expected):
        assert set(table.column_names) == {"q", "code"}
    assert sorted(map(str, released.to_pylist())) == sorted(map(str, expected.to_pylist()))


@pytest.mark.parametrize(
    ("parts", "what"),
    [
        ({"search": {"recoding": "local"}}, "Local recoding"),
        ({"search": {"restarts": 3}}, "3 restarts"),
        ({"attributes": {"s": {"role": "sensitive", "l": {"value": 2}}}}, "l and t"),
        ({"privacy": {"person": "s"}, "attributes": {"s": {"role": "identifier"}}}, "People"),
    ],
)
def test_what_needs_all_lines_at_once_is_refused_and_says_what_would_do(spark, parts, what):
    table = letters()
    if "attributes" in parts:
        table = table.append_column("s", pa.array([f"p{i % 50}" for i in range(200)]))
    rows = SparkTable(spark.createDataFrame(table), 10)
    with pytest.raises(
        TooLarge, match=what, check=lambda error: error.reason == "combinations"
    ) as error:
        find_outcome_on_spark(small(**parts), rows)
    assert "collect_limit" in error.value.hint


def test_a_frequency_table_beyond_the_limit_is_not_brought_here(spark):
    with pytest.raises(
        TooLarge, match="10 may be collected", check=lambda error: error.reason == "combinations"
    ):
        count_combinations(small(), SparkTable(spark.createDataFrame(letters()), 10))


def test_values_without_a_leaf_are_told_from_afar_as_they_are_here(spark):
    table = letters().set_column(0, "q", pa.array(["z"] * 7 + ["a"] * 193))
    with pytest.raises(UnknownCategory, check=lambda error: error.reason == "no leaf") as near:
        study_here(small(), table)
    with pytest.raises(UnknownCategory, check=lambda error: error.reason == "no leaf") as far:
        find_outcome_on_spark(small(), SparkTable(spark.createDataFrame(table), 10))
    assert str(near.value) == str(far.value)


@pytest.mark.parametrize(
    "kind",
    [
        "DECIMAL(9, 2)",
        *(pytest.param(k, marks=pytest.mark.slow) for k in ("STRING", "DOUBLE", "TINYINT")),
    ],
)
def test_the_same_values_in_other_types_give_the_same_cut(spark, kind):
    ages = {"role": "quasi", "type": "int", "domain": [0, 63],
            "hierarchy": {"kind": "binary", "min_width": 4}}  # fmt: skip
    asked = Policy.of({"version": 1, "attributes": {"age": ages}, "privacy": {"k": 9}})
    table = pa.table({"age": np.random.default_rng(1).integers(0, 70, 300)})
    frame = spark.createDataFrame(table).selectExpr(f"CAST(age AS {kind}) AS age")
    near = study_here(asked, table)[1].cut
    far = find_outcome_on_spark(asked, SparkTable(frame))[1].cut
    assert far == near
    assert len(near.nodes[0]) > 4


@pytest.mark.parametrize(
    ("privacy", "change"),
    [({"average_risk": 0.1}, {}), ({}, {"transform": {"rare": 5}})],
)
def test_what_runs_on_one_machine_only_is_refused_before_a_row_is_read(privacy, change):
    policy = Policy.of(
        {
            "version": 1,
            "attributes": {"x": LETTER, "z": {"role": "other", **change}},
            "privacy": {"k": 2, **privacy},
        }
    )
    with pytest.raises(InvalidPolicy, match="Spark"):
        refuse_here_only(policy)
