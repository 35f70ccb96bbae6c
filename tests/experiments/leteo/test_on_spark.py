import pytest

from shoal.experiments.leteo._on_spark import scaling, times


def test_specialization_is_timed_on_spark(spark):
    rows = times(rows=1_000, times=2, runs=1)
    assert [row["draw"] for row in rows] == [0]
    assert rows[0]["seconds"] > 0


@pytest.mark.slow
def test_mllib_is_about_as_good_as_plain_k_means(spark):
    (row,) = scaling("students", times=1)
    assert row["rows"] == 10_000
    assert 0.99 < row["ratio"] < 1.2
