import json
import pickle

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.exceptions import NotFittedError

from shoal.domain import Box, View
from shoal.engine import rows_of
from shoal.errors import AlreadyExists, UnreadableModel, UnreadableTable
from shoal.estimator import Spending
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness
from shoal.synopsis import AdaptiveGrid, PrivTree, Synopsis, UniformGrid
from shoal.synopsis.folder import read_part

BOX = Box(age=(0, 110), visits=(0, 20))
X = np.random.default_rng(1).normal([40, 5], [9, 2], (2000, 2))
REPLACED = PureDP("1/3", neighbours="replace-one")
KINDS = {
    "uniform": UniformGrid(epsilon=0.3, domain=BOX, cells=[7, np.int64(9)], random_state=3),
    "sparse": UniformGrid(epsilon=1, domain=BOX, cells=2000, sparse=True, random_state=3),
    "adaptive": AdaptiveGrid(privacy=REPLACED, domain=BOX, random_state=3),
    "tree": PrivTree(epsilon=1, domain=BOX, n_public=2000, random_state=3),
}


@pytest.fixture(params=KINDS, ids=str)
def synopsis(request):
    return KINDS[request.param].fit(X)


def test_what_is_loaded_is_what_was_saved(synopsis, tmp_path):
    again = Synopsis.load(synopsis.save(tmp_path / "kept"))
    assert type(again) is type(synopsis)
    assert again.guarantee_ == synopsis.guarantee_
    assert again.guarantee_.simulation
    assert again.domain == BOX
    assert (again.n_rows_, again.n_cells_) == (synopsis.n_rows_, synopsis.n_cells_)
    assert again.noise_variance == synopsis.noise_variance
    for name in ("key", "low", "high", "noisy_count", "weight"):
        np.testing.assert_array_equal(
            getattr(again.cells_, name), getattr(synopsis.cells_, name), err_msg=name
        )
    np.testing.assert_array_equal(again.sample(9, 4), synopsis.sample(9, 4))
    assert again.save(tmp_path / "again").is_dir()


def test_the_files_are_plain(synopsis, tmp_path):
    folder = synopsis.save(tmp_path / "kept")
    assert sorted(file.name for file in folder.iterdir()) == ["cells.parquet", "synopsis.json"]
    names = pq.read_schema(folder / "cells.parquet").names
    assert names == ["key", "low_age", "low_visits", "high_age", "high_visits", "noisy_count",
                     "weight"]  # fmt: skip
    document = json.loads((folder / "synopsis.json").read_text())
    assert document["guarantee"]["kind"] == "PureDP"
    assert document["simulation"] is True


def test_a_geographic_box_comes_back_as_one(tmp_path):
    box = Box.geo(lat=(40, 41), lon=(-74, -73))
    grid = UniformGrid(epsilon=1, domain=box, random_state=1).fit([[40.5, -73.5]] * 50)
    assert Synopsis.load(grid.save(tmp_path / "kept")).domain == box


def test_a_view_comes_back(tmp_path):
    view = View(BOX, np.linalg.qr([[3.0], [1.0]]).Q, center=[-0.2, -0.5], width=0.5)
    grid = UniformGrid(epsilon=1, domain=BOX)
    page = Ledger().open(PureDP(1), by="test")
    grid.spend(Spending(rows_of(X, BOX), page, page.budget, Randomness(1), view=view))
    grid.guarantee_ = page.total()
    again = Synopsis.load(grid.save(tmp_path / "kept"))
    np.testing.assert_array_equal(again.view_.apply(X), view.apply(X))
    np.testing.assert_array_equal(again.points()[0], grid.points()[0])


def test_no_synopsis_of_no_rows_is_lost(tmp_path):
    grid = UniformGrid(epsilon=1, domain=BOX, negative="threshold", random_state=1)
    grid.fit(np.empty((0, 2)))
    again = Synopsis.load(grid.save(tmp_path / "kept"))
    assert len(again.cells_) == len(grid.cells_)


def test_a_folder_of_other_things_is_never_replaced(tmp_path):
    grid = KINDS["uniform"].fit(X)
    (tmp_path / "letters.txt").write_text("dear")
    with pytest.raises(AlreadyExists):
        grid.save(tmp_path, overwrite=True)
    folder = grid.save(tmp_path / "kept")
    with pytest.raises(AlreadyExists):
        grid.save(folder)
    grid.save(folder, overwrite=True)


def test_a_changed_file_is_refused(tmp_path):
    folder = KINDS["uniform"].fit(X).save(tmp_path / "kept")
    table = pq.read_table(folder / "cells.parquet")
    pq.write_table(table.slice(1), folder / "cells.parquet")
    with pytest.raises(UnreadableModel, match="checksum"):
        Synopsis.load(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"class": "eval"},
        {"class": "Synopsis"},
        {"schema": "other"},
        {"settings": {"what": 1}},
        {"settings": {}},
        {"n_rows": None, "view": {"axes": "?"}},
        {"files": [{"name": "../cells.parquet", "sha256": ""}]},
        {"domain": {}},
    ],
    ids=str,
)
def test_a_document_of_something_else_is_refused(tmp_path, change):
    folder = KINDS["uniform"].fit(X).save(tmp_path / "kept")
    document = json.loads((folder / "synopsis.json").read_text())
    (folder / "synopsis.json").write_text(json.dumps(document | change))
    with pytest.raises(UnreadableModel):
        Synopsis.load(folder)


def test_a_folder_without_a_synopsis_is_refused(tmp_path):
    with pytest.raises(UnreadableModel):
        Synopsis.load(tmp_path)
    (tmp_path / "synopsis.json").write_bytes(pickle.dumps("no"))
    with pytest.raises(UnreadableModel):
        Synopsis.load(tmp_path)


def test_a_table_that_lacks_columns_is_no_table_of_cells():
    grid = KINDS["uniform"].fit(X)
    table = grid.cells_.to_table(BOX.names)
    with pytest.raises(UnreadableTable):
        type(grid.cells_).of_table(table.drop_columns(["weight"]), BOX.names)


def test_what_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        UniformGrid(epsilon=1, domain=BOX).save(tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_a_name_that_no_file_can_have_is_a_file_that_is_missing(tmp_path):
    with pytest.raises(UnreadableModel, match="is missing"):
        read_part(tmp_path, {"name": "x" * 100_000, "sha256": ""})
