"""A release through Spark Connect, which has neither a JVM beside it nor files of its own."""

import pytest

SCRIPT = """
import sys
from collections import Counter
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pathlib import Path
from pyspark.sql import SparkSession

from shoal.anonymize import Policy, TopDownSpecialization, run_policy
from shoal.anonymize._frequency_table import count_combinations
from shoal.anonymize.search._run_search import find_outcome
from shoal.anonymize.spark._search import find_outcome_on_spark
from shoal.engine.spark._table import SparkTable

builder = SparkSession.builder.remote("local[2]").config("spark.driver.memory", "700m")
session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
rng, folder = np.random.default_rng(0), Path(sys.argv[1])
table = pa.table({"q": rng.choice(list("aaabbcd"), 300), "s": rng.choice(["u", "v"], 300)})
frame = session.createDataFrame(table)
letters = {"role": "quasi", "hierarchy": {"tree": {"*": {"x": ["a", "b"], "y": ["c", "d"]}}}}
policy = Policy.of({"version": 1, "attributes": {"q": letters, "s": {"role": "sensitive"}},
                    "privacy": {"k": 5}, "search": {"restarts": 0},
                    "output": {"path": "out.parquet"}}, folder)

def rows(released):
    return Counter((row["q"], row["s"]) for row in released.to_pylist())

near = TopDownSpecialization(policy=policy).fit_transform(table)
far = TopDownSpecialization(policy=policy).fit_transform(frame)
assert rows(far.toArrow()) == rows(near)
done = run_policy(policy, frame)
assert rows(pq.read_table(folder / "out.parquet")) == rows(near)
cut = find_outcome(policy, count_combinations(policy, table)).cut
for limit in (3, 1):
    assert find_outcome_on_spark(policy, SparkTable(frame, limit))[1].cut == cut
assert sorted(path.name for path in folder.iterdir()) == [
    "out.manifest.json", "out.mapping.csv", "out.parquet"]
session.stop()
print("all the same")
"""


@pytest.mark.slow
def test_a_release_through_spark_connect_is_the_classic_one(through_connect, tmp_path):
    assert "all the same" in through_connect(SCRIPT, tmp_path)
