import sys

import pytest

from shoal.cluster import PrivateKMeans
from shoal.domain import Box
from shoal.engine.spark._availability import session_module
from shoal.errors import NotInstalled
from shoal.privacy import Ledger


@pytest.fixture
def no_pyspark(monkeypatch):
    monkeypatch.delitem(sys.modules, "shoal.engine.spark._session", raising=False)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.delattr("shoal.engine.spark._session", raising=False)


@pytest.mark.usefixtures("no_pyspark")
def test_without_pyspark_the_words_say_what_to_install():
    with pytest.raises(
        NotInstalled, match="pip install", check=lambda error: error.reason == "pyspark"
    ) as caught:
        session_module()
    assert caught.value.exit_code == 4


@pytest.mark.usefixtures("no_pyspark")
def test_it_is_missed_before_any_budget_is_spent():
    ledger, rows = Ledger(), [[0.2, 0.2], [0.8, 0.8]]
    model = PrivateKMeans(
        2, epsilon=1, domain=Box.unit(2), spark_kmeans="mllib", ledger=ledger, random_state=7
    )
    with pytest.raises(NotInstalled, check=lambda error: error.reason == "pyspark"):
        model.fit(rows)
    assert ledger.totals() == []


def test_it_is_the_module_that_calls_spark():
    assert session_module().__name__ == "shoal.engine.spark._session"
