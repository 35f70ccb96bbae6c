import numpy as np
import pytest

from shoal.cluster import PrivateKPrototypes, load_model
from shoal.domain import Schema
from shoal.errors import UnreadableModel
from shoal.privacy import PureDP

MIXED = {
    "age": {"low": 0, "high": 100, "missing": "flag", "weight": 2.0},
    "grade": {"levels": ["low", "middle", "high"]},
    "town": {"values": ["a", "b", "c"], "other": "bucket"},
}
NUMBERS = {"age": {"low": 0, "high": 100, "weight": 3.0}}
ROWS = {
    "age": np.arange(200.0) % 100,
    "grade": ["low", "high"] * 100,
    "town": ["a", "b", "c", "x"] * 50,
}


def fitted(columns, n=200, **more):
    schema = Schema.of({"version": 1, "columns": columns} | more)
    rows = {name: ROWS[name][:n] for name in columns} | {"id": np.arange(n)}
    promise = PureDP(2, neighbours="replace-one")
    model = PrivateKPrototypes(
        3, privacy=promise, domain=schema, n_init=1, n_synthetic=100, random_state=1
    )
    return model.fit(rows), rows


@pytest.mark.heavy
@pytest.mark.parametrize("columns", [MIXED, NUMBERS])
@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize("more", [{}, {"person": "id", "max_rows_per_person": 1}])
def test_a_model_comes_back_as_it_was(tmp_path, columns, n, more):
    model, rows = fitted(columns, n, **more)
    model.name_groups(["one", "two", "three"])
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.guarantee_ == model.guarantee_
    assert again.domain == model.domain
    assert np.array_equal(again.predict(rows), model.predict(rows))
    assert again.profiles_.to_arrow().equals(model.profiles_.to_arrow())
    assert again.prototypes_.equals(model.prototypes_)
    assert again.level_ == model.level_
    assert again.synopsis_.sample(10, rng=1).equals(model.synopsis_.sample(10, rng=1))


def test_people_can_open_profiles_and_prototypes(tmp_path):
    fitted(MIXED)[0].save(tmp_path / "model")
    text = (tmp_path / "model" / "profiles.csv").read_text()
    assert text.startswith("group,title,rows")
    assert "grade" in (tmp_path / "model" / "prototypes.csv").read_text().splitlines()[0]


def test_a_changed_file_is_refused(tmp_path):
    fitted(MIXED)[0].save(tmp_path / "model")
    path = tmp_path / "model" / "released.json"
    path.write_text(path.read_text().replace("titles", "title"))
    with pytest.raises(UnreadableModel, match="checksum"):
        load_model(tmp_path / "model")
