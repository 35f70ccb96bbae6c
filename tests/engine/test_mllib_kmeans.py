import sys

import pytest

from shoal.engine.mllib_kmeans import check_session, mllib_centers
from shoal.errors import NotInstalled


def test_without_pyspark_it_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "shoal.engine.spark._session", raising=False)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.delattr("shoal.engine.spark._session", raising=False)
    with pytest.raises(
        NotInstalled, match="pip install", check=lambda error: error.reason == "pyspark"
    ):
        check_session()
    with pytest.raises(
        NotInstalled, match="pip install", check=lambda error: error.reason == "pyspark"
    ):
        mllib_centers([[0.0], [1.0]], [1.0, 1.0], 2, 7)
