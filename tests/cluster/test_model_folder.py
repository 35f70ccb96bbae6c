"""Models in folders: what comes back, what is refused, what is never replaced."""

import json
import sys
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest

from shoal.cluster import model_folder as folder_of
from shoal.cluster._description_cache import ComputedOnce
from shoal.cluster.model_folder import check_replaceable, load_model, save_model
from shoal.domain import Box
from shoal.errors import AlreadyExists, UnreadableModel
from shoal.privacy import PureDP
from shoal.synopsis.folder import read_box


class Toy(ComputedOnce):
    """The least that can be kept."""

    _made_by_fit = "centers"

    def __init__(self, centers, domain, note="as it was"):
        self.centers, self.domain, self.note = centers, domain, note
        self.guarantee_ = PureDP("0.3", rows=2)

    def _document(self):
        return {"settings": {"note": self.note}}

    def _tables(self):
        names = self.domain.names
        return {
            "centers.csv": pa.table(dict(zip(names, self.centers.T, strict=True))),
            "cells.parquet": pa.table({"key": [1, 2]}),
            "synopsis.json": {"cells": 2},
        }

    @classmethod
    def _restore(cls, document, tables):
        domain = read_box(document["domain"])
        centers = np.column_stack([tables["centers.csv"][name] for name in domain.names])
        assert tables["cells.parquet"]["key"].to_pylist() == [1, 2]
        assert tables["synopsis.json"] == {"cells": 2}
        return cls(centers, domain, document["settings"]["note"])


@pytest.fixture(autouse=True)
def known(monkeypatch):
    module = ModuleType("toys")
    module.Toy = Toy
    monkeypatch.setitem(sys.modules, "toys", module)
    monkeypatch.setitem(folder_of.MODELS, "Toy", "toys")


@pytest.fixture
def toy():
    hostile = ['a,"b', "=1+1"]
    return Toy(np.array([[0.1, 1 / 3], [2.0, -5e-324]]), Box.of(hostile, [0, -1], [3, 1]))


@pytest.fixture
def kept(toy, tmp_path):
    return save_model(toy, tmp_path / "model")


def changed(kept, **values):
    file = kept / "model.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


def test_what_was_saved_comes_back_to_the_last_bit(toy, kept):
    again = load_model(kept)
    assert np.array_equal(again.centers, toy.centers)
    assert again.domain == toy.domain
    assert again.note == toy.note
    assert again.guarantee_ == toy.guarantee_


def test_the_document_says_what_the_files_are_and_what_is_promised(kept):
    document = json.loads((kept / "model.json").read_text())
    assert document["schema"] == "shoal.model/1"
    assert document["class"] == "Toy"
    assert document["guarantee"]["epsilon"] == "0.3"
    assert document["simulation"] is False
    assert {file["name"] for file in document["files"]} == {
        each.name for each in kept.iterdir()
    } - {"model.json"}
    assert {"shoal", "numpy", "scikit-learn"} <= set(document["versions"])


def test_a_map_stays_a_map():
    city = Box.geo(latitude=(40.4, 41.0), longitude=(-74.3, -73.6))
    assert read_box(json.loads(json.dumps(city.to_dict()))) == city


@pytest.mark.parametrize("name", ["centers.csv", "cells.parquet", "synopsis.json"])
def test_a_file_that_was_changed_or_lost_is_refused(kept, name):
    content = (kept / name).read_bytes()
    (kept / name).write_bytes(content + b" ")
    with pytest.raises(UnreadableModel, match="checksum differs"):
        load_model(kept)
    (kept / name).unlink()
    with pytest.raises(UnreadableModel, match="missing"):
        load_model(kept)


@pytest.mark.parametrize(
    "values",
    [
        {"schema": "shoal.model/2"},
        {"class": "Popen"},
        {"class": ["Toy"]},
        {"files": [{"name": "../secret", "sha256": ""}]},
        {"files": [{"name": "/etc/hostname", "sha256": ""}]},
        {"files": 3},
    ],
    ids=["another schema", "a class not listed", "no name", "above", "elsewhere", "no files"],
)
def test_a_document_that_asks_for_anything_else_is_refused(kept, values):
    changed(kept, **values)
    with pytest.raises(UnreadableModel, match="not describe a model that this version knows"):
        load_model(kept)


@pytest.mark.parametrize(
    "values", [{"settings": {}}, {"guarantee": {"kind": "Magic"}}, {"domain": 7}]
)
def test_a_document_that_lacks_a_part_is_refused_by_name(kept, values):
    changed(kept, **values)
    with pytest.raises(UnreadableModel, match="lacks a part"):
        load_model(kept)


def test_text_that_is_no_document_is_refused(kept):
    (kept / "model.json").write_text("{")
    with pytest.raises(UnreadableModel, match="not describe a model that this version knows"):
        load_model(kept)


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(UnreadableModel, match=r"holds no model\.json"):
        load_model(tmp_path / "nothing")


def test_an_older_model_is_replaced_only_when_asked(toy, kept):
    with pytest.raises(AlreadyExists):
        save_model(toy, kept)
    save_model(Toy(toy.centers, toy.domain, "newer"), kept, overwrite=True)
    assert load_model(kept).note == "newer"


@pytest.mark.parametrize("own", ["thesis.docx", "notes"])
def test_a_folder_with_anything_else_in_it_is_never_replaced(toy, kept, own):
    (kept / own).write_text("mine")
    with pytest.raises(AlreadyExists, match="1 file that no model wrote"):
        save_model(toy, kept, overwrite=True)
    assert (kept / own).read_text() == "mine"


def test_a_model_that_cannot_be_written_leaves_nothing(toy, tmp_path, monkeypatch):
    monkeypatch.setattr(toy, "_document", lambda: {"settings": object()}, raising=False)
    with pytest.raises(TypeError):
        save_model(toy, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_what_a_writer_puts_beside_a_model_does_not_keep_it_from_being_replaced(tmp_path):
    (tmp_path / "reports.parquet").write_text("")
    with pytest.raises(AlreadyExists):
        check_replaceable(tmp_path)
    check_replaceable(tmp_path, also=["reports.parquet"])
