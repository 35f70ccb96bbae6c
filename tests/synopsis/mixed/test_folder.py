import json

import numpy as np
import pytest

from shoal.domain import Schema
from shoal.errors import AlreadyExists, UnreadableModel
from shoal.synopsis import MixedSynopsis

SCHEMA = Schema.of(
    {
        "version": 1,
        "columns": {"age": {"low": 0, "high": 9}, "sex": {"values": ["F", "M"]}},
        "person": "id",
        "max_rows_per_person": 2,
    }
)


def made():
    rows = {"age": np.arange(200) % 10.0, "sex": ["F", "M"] * 100, "id": np.arange(200)}
    return MixedSynopsis(epsilon=4, domain=SCHEMA, random_state=1).fit(rows)


@pytest.mark.heavy
def test_what_was_saved_comes_back(tmp_path):
    synopsis = made()
    synopsis.save(tmp_path / "kept")
    again = MixedSynopsis.load(tmp_path / "kept")
    assert again.guarantee_ == synopsis.guarantee_
    assert again.domain == SCHEMA
    assert again.count(sex="F", age=(0, 4)) == synopsis.count(sex="F", age=(0, 4))
    assert again.sample(20, rng=2).equals(synopsis.sample(20, rng=2))


@pytest.mark.heavy
def test_other_files_are_never_replaced(tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(AlreadyExists):
        made().save(tmp_path, overwrite=True)


@pytest.mark.heavy
@pytest.mark.parametrize("change", [{"schema": "other/1"}, {"released": {}}, {"domain": None}])
def test_a_damaged_document_is_refused(tmp_path, change):
    made().save(tmp_path / "kept")
    path = tmp_path / "kept" / "synopsis.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(UnreadableModel):
        MixedSynopsis.load(tmp_path / "kept")


def test_a_folder_without_one_is_refused(tmp_path):
    with pytest.raises(UnreadableModel, match="no synopsis"):
        MixedSynopsis.load(tmp_path)
