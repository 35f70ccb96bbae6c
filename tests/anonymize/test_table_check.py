import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.anonymize import Policy, count_combinations
from shoal.anonymize.table import QueriedTable, table_of
from shoal.anonymize.table_check import check_names, find_identifying_columns
from shoal.engine.spark._table import SparkTable
from shoal.errors import InvalidPolicy, KeyMissing, LooksIdentifying, UnknownColumn, UnreadableTable

QUASI = {"role": "quasi", "hierarchy": {"tree": {"*": ["a", "b"]}}}
TOKEN = {"role": "identifier", "action": "hmac", "key_env": "RELEASE_KEY"}


def policy(attributes, **privacy):
    return Policy.of({"version": 1, "attributes": attributes, "privacy": {"k": 2, **privacy}})


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("RELEASE_KEY", "7" * 64)


def test_a_column_without_a_role_is_an_error():
    with pytest.raises(
        InvalidPolicy,
        match="2 columns 1 have no role: the 2nd",
        check=lambda error: error.reason == "unlisted column",
    ):
        count_combinations(policy({"q": QUASI}), {"q": ["a", "b"], "age": [1, 2]})


def test_a_column_that_is_not_there_gets_the_nearest_spelling():
    with pytest.raises(UnknownColumn, match="Did you mean 'gender'"):
        count_combinations(policy({"gendre": QUASI}), {"gender": ["a", "b"]})


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("values", "what"),
    [
        ([f"v{i}" for i in range(10)], "mostly unique"),
        (["the quick brown fox jumps", "over the lazy old dog"] * 5, "free text"),
        (["2001-03-05 12:30:00", "2001-03-06T08:00"] * 5, "times"),
    ],
)
def test_a_column_that_looks_identifying_is_refused_unless_forced(values, what):
    table = {"q": ["a", "b"] * 5, "o": values}
    with pytest.raises(LooksIdentifying, match=rf"'o' \({what}\)"):
        count_combinations(policy({"q": QUASI, "o": {"role": "other"}}), table)
    count_combinations(policy({"q": QUASI, "o": {"role": "other", "force": True}}), table)


LISTS = pa.table({"q": ["a", "b"] * 5, "o": pa.array([[1], [2]] * 5)})
SENSITIVE = {"role": "sensitive", "l": {"kind": "distinct", "value": 2}}


def assert_lists_are_refused(table):
    for entry in (QUASI, SENSITIVE):
        with pytest.raises(InvalidPolicy, match="'o' of the columns to be counted") as error:
            count_combinations(policy({"q": QUASI, "o": entry}), table)
        assert "1" not in str(error.value)
    carried = policy({"q": QUASI, "o": {"role": "other", "force": True}})
    assert count_combinations(carried, table).problem.N == 10


def test_a_column_of_lists_is_refused_by_name_where_its_values_are_counted():
    assert_lists_are_refused(LISTS)


def test_lists_in_a_file_are_refused_by_name(tmp_path):
    pq.write_table(LISTS, tmp_path / "lists.parquet")
    assert_lists_are_refused(tmp_path / "lists.parquet")


@pytest.mark.heavy
def test_on_spark_lists_are_refused_by_the_schema_alone(spark, monkeypatch):
    frame = spark.createDataFrame(LISTS)
    assert_lists_are_refused(frame)
    with monkeypatch.context() as patched:
        patched.setattr(SparkTable, "query", None)
        patched.setattr(SparkTable, "grouped", None)
        with pytest.raises(InvalidPolicy, match="'o'"):
            count_combinations(policy({"q": QUASI, "o": SENSITIVE}), frame)
    maps = frame.selectExpr("q", "map('a', 1) AS o")  # Spark itself cannot group by these
    with pytest.raises(InvalidPolicy, match="'o'"):
        count_combinations(policy({"q": QUASI, "o": QUASI}), maps)


def test_a_stream_that_flows_past_once_is_counted_still():
    stream = LISTS.select(["q"]).to_reader()
    assert count_combinations(policy({"q": QUASI}), stream).problem.N == 10


@pytest.mark.heavy
def test_whose_a_row_is_is_not_published_unless_forced():
    table = {"q": ["a", "b"] * 6, "who": ["u", "v", "w"] * 4}  # too few values to look unique
    with pytest.raises(LooksIdentifying, match="'who'"):
        count_combinations(policy({"q": QUASI, "who": {"role": "other"}}, person="who"), table)
    forced = {"role": "other", "force": True}
    count_combinations(policy({"q": QUASI, "who": forced}, person="who"), table)


@pytest.mark.heavy
def test_few_values_and_nulls_do_not_look_identifying():
    table = {"q": ["a", "b"] * 5, "o": ["x"] * 4 + ["y"] * 4 + ["", None]}
    found = count_combinations(policy({"q": QUASI, "o": {"role": "other"}}), table)
    assert found.problem.N == 10


def test_a_key_is_asked_for_before_any_row_is_read(monkeypatch):
    monkeypatch.delenv("RELEASE_KEY")
    unreadable = {"q": ["no leaf"], "id": ["p"]}
    with pytest.raises(KeyMissing):
        count_combinations(policy({"q": QUASI, "id": TOKEN}), unreadable)


@pytest.mark.heavy
def test_a_pseudonym_on_several_rows_needs_people_to_be_counted():
    table = {"id": ["p", "p", "r"], "q": ["a", "a", "b"]}
    with pytest.raises(
        InvalidPolicy, match="person: id", check=lambda error: error.reason == "person required"
    ):
        count_combinations(policy({"id": TOKEN, "q": QUASI}), table)
    assert count_combinations(policy({"id": TOKEN, "q": QUASI}, person="id"), table).problem.N == 3


@pytest.mark.heavy
def test_a_pseudonym_on_rows_that_differ_links_them():
    table = {"id": ["p", "p", "r"], "q": ["a", "b", "b"]}
    with pytest.raises(InvalidPolicy, check=lambda error: error.reason == "linked rows"):
        count_combinations(policy({"id": TOKEN, "q": QUASI}, person="id"), table)
    dropped = {"id": {"role": "identifier"}, "q": QUASI}
    assert count_combinations(policy(dropped, person="id"), table).problem.people is not None


@pytest.mark.heavy
def test_a_pseudonym_that_is_unique_needs_no_person_column():
    table = {"id": ["p", "o", "r"], "q": ["a", "b", "b"]}
    assert count_combinations(policy({"id": TOKEN, "q": QUASI}), table).problem.N == 3


TWO_A_VALUE = {"q": ["a", "b"] * 30, "o": [f"v{i // 2}" for i in range(60)]}


@pytest.mark.heavy
def test_rows_whose_value_fewer_than_k_share_are_counted():
    asked = policy({"q": QUASI, "o": {"role": "other"}}, k=3)
    assert find_identifying_columns(asked, QueriedTable(TWO_A_VALUE)) == {"o": 1.0}
    fewer = TWO_A_VALUE | {"o": ["x"] * 54 + ["y", "y", "z", "z", None, "NA"]}
    assert find_identifying_columns(asked, QueriedTable(fewer)) == {}
    more = TWO_A_VALUE | {"o": ["x"] * 50 + ["y", "y", "z", "z", "u", "u", "v", "v", "w", "w"]}
    assert find_identifying_columns(asked, QueriedTable(more)) == {"o": pytest.approx(1 / 6)}
    forced = policy({"q": QUASI, "o": {"role": "other", "force": True}}, k=3)
    assert find_identifying_columns(forced, QueriedTable(TWO_A_VALUE)) == {}


def test_people_are_counted_not_their_rows():
    columns = {"q": QUASI, "o": {"role": "other"}, "who": {"role": "identifier"}}
    asked, tens = policy(columns, k=3, person="who"), [i // 10 for i in range(60)]
    lone = {"q": ["a"] * 60, "o": [f"v{ten}" for ten in tens], "who": tens}
    assert find_identifying_columns(asked, QueriedTable(lone)) == {"o": 1.0}


@pytest.mark.heavy
def test_names_and_rare_values_are_looked_at_on_spark_alike(spark):
    lines = list(zip(*TWO_A_VALUE.values(), strict=True))
    frame = spark.createDataFrame(lines, "q string, o string")
    asked = policy({"q": QUASI, "o": {"role": "other"}}, k=3)
    assert find_identifying_columns(asked, table_of(frame)) == {"o": 1.0}
    check_names(table_of(frame), "t")
    with pytest.raises(
        UnreadableTable,
        match="the 1st of 2 is also a value",
        check=lambda error: error.reason == "no header",
    ):
        check_names(table_of(frame.toDF("a", "o")), "t")


GROWTH = """
import resource, sys
import pyarrow as pa
from shoal.anonymize import Policy
from shoal.anonymize.table import QueriedTable
from shoal.anonymize.table_check import check_columns, check_names

names = [f"question {i} of many" for i in range(600)]
roles = dict.fromkeys(names, {"role": "other"})
roles[names[0]] = {"role": "quasi", "hierarchy": {"tree": {"*": ["yes", "no"]}}}
policy = Policy.of({"version": 1, "privacy": {"k": 2}, "attributes": roles})
table = QueriedTable(pa.table({name: ["yes", "no", "no"] * 2 for name in names}))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
check_names(table, "t") if sys.argv[1] == "names" else check_columns(policy, table, names[:1])
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.heavy
@pytest.mark.parametrize("what", ["names", "columns"])
def test_the_memory_of_a_check_does_not_grow_with_the_square_of_the_columns(what):
    run = [sys.executable, "-c", GROWTH, what]
    megabytes = int(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
    assert megabytes < 300  # 2,617 when all names were looked up in one query


@pytest.mark.heavy
def test_every_column_of_a_wide_table_is_looked_at():
    table = {f"question {i} of many": ["yes", "no"] for i in range(250)}
    check_names(QueriedTable(table), "t")
    with pytest.raises(UnreadableTable, match="the 231st of 250 is also a value"):
        check_names(
            QueriedTable(table | {"question 230 of many": ["question 230 of many", "no"]}), "t"
        )
