import json

import numpy as np
import pytest

import shoal
from shoal.cluster import PrivateKPrototypes
from shoal.errors import InvalidSetting, NotPublishable, UnreadableModel
from shoal.mechanisms import LocalGrid
from shoal.planning import describe
from shoal.privacy import ApproxDP, Ledger, Unprotected
from shoal.randomness import Randomness

BOX = shoal.Box(age=(0, 100), visits=(0, 20))
SCHEMA = shoal.Schema.of(
    {"version": 1, "columns": {"age": {"low": 0, "high": 100}, "sex": {"values": ["F", "M"]}}}
)


def rows(n=900):
    near = np.array([[20, 4], [50, 16], [80, 4]])[np.arange(n) % 3]
    return BOX.clip(near + np.random.default_rng(0).normal(0, [3, 0.6], (n, 2)))


def kmeans(**settings):
    given = {"epsilon": 2, "domain": BOX, "random_state": 1} | settings
    return shoal.PrivateKMeans(3, **given).fit(rows())


def wave():
    return shoal.WaveCluster(epsilon=2, domain=BOX, random_state=1).fit(rows())


def local():
    grid = LocalGrid(BOX, epsilon=4, n_expected=900, n_clusters=3)
    reports = grid.release(rows(), Randomness(7).noise)
    return shoal.LocalClusterer(3, mechanism=grid, random_state=1).fit(reports)


def prototypes():
    X = rows()
    table = {"age": X[:, 0], "sex": np.where(X[:, 1] > 10, "F", "M")}
    return PrivateKPrototypes([2, 3], epsilon=2, domain=SCHEMA, random_state=1).fit(table)


MODELS = {"kmeans": kmeans, "wave": wave, "local": local, "prototypes": prototypes}


def content(model):
    return json.dumps(describe(model).to_dict())


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return MODELS[request.param]()


def without_description(model, folder):
    """A folder as older versions wrote it."""
    model._computed = None
    model.save(folder)
    assert not (folder / "description.json").exists()
    return shoal.load_model(folder)


def test_a_loaded_model_has_the_same_description_byte_for_byte(model, tmp_path):
    older = without_description(model, tmp_path / "older")
    before = content(model)
    assert content(older) == before
    model.save(tmp_path / "model")
    assert content(shoal.load_model(tmp_path / "model")) == before


def test_it_is_a_file_of_the_folder_with_its_checksum(model, tmp_path):
    describe(model)
    model.save(tmp_path / "model")
    listed = json.loads((tmp_path / "model" / "model.json").read_text())["files"]
    assert "description.json" in [file["name"] for file in listed]
    (tmp_path / "model" / "description.json").write_text("{}\n")
    with pytest.raises(UnreadableModel, match="checksum"):
        shoal.load_model(tmp_path / "model")


def test_nothing_is_computed_again_of_a_model_that_was_described(model, tmp_path, monkeypatch):
    describe(model)
    model.save(tmp_path / "model")
    loaded = shoal.load_model(tmp_path / "model")
    monkeypatch.setattr("shoal.planning.description._computed", None)
    for place in ("kmeans._intervals.kmeans", "wave._intervals.wave", "local._intervals.local"):
        monkeypatch.setattr(f"shoal.cluster.{place}_intervals", None)
    for each in (model, loaded):
        assert content(each) == content(model)
        assert each.intervals_ is each.intervals_


def test_a_description_that_lacks_a_part_is_refused(tmp_path):
    model = kmeans()
    describe(model)
    model._computed[1]["description"].pop("intervals")
    model.save(tmp_path / "model")
    with pytest.raises(UnreadableModel, match="lacks a part"):
        shoal.load_model(tmp_path / "model")


def test_the_next_fit_has_a_description_of_its_own():
    model = kmeans()
    before = describe(model)
    assert describe(model).intervals is before.intervals is model.intervals_
    model.fit(BOX.clip(rows() + 2))
    assert describe(model).intervals is not before.intervals


def test_a_ledger_is_left_as_it_was():
    ledger = Ledger()
    model = kmeans(ledger=ledger)
    before = ledger.entries().to_pylist()
    describe(model)
    assert ledger.entries().to_pylist() == before


def test_a_model_without_a_promise_is_refused():
    promise = Unprotected("for the holder")
    plain = shoal.WaveCluster(privacy=promise, domain=BOX, random_state=1).fit(rows())
    with pytest.raises(NotPublishable, match="promises nothing"):
        describe(plain)
    # Its holder may still look at intervals, which have no width.
    assert plain.intervals_.sizes_low.tolist() == plain.intervals_.sizes_high.tolist()


@pytest.mark.parametrize("thing", [object(), rows(), shoal.PrivateKMeans(2, epsilon=1, domain=BOX)])
def test_rows_and_models_without_a_fit_are_refused(thing):
    with pytest.raises(InvalidSetting, match="no description"):
        describe(thing)


def test_the_budgets_of_its_what_if_lie_about_that_of_the_release():
    found = describe(kmeans()).what_if
    assert [each.epsilon for each in found.curves["central"].bands] == [0.5, 2, 8]
    assert abs(found.n_expected - 900) < 30
    assert found.box == BOX


def test_a_promise_with_a_delta_has_no_what_if():
    model = kmeans(epsilon=None, privacy=ApproxDP(2, 1e-6))
    assert describe(model).what_if is None


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
def test_groups_that_may_be_noise_have_no_what_if():
    model = shoal.PrivateKMeans(5, epsilon=0.01, domain=BOX, random_state=1).fit(rows(20))
    assert describe(model).what_if is None


def test_the_curve_is_that_of_the_choice_or_of_the_released_cells():
    given = describe(kmeans()).curve
    assert (given.by, given.chosen, given.deviations) == ("elbow", 3, ())
    chosen = shoal.PrivateKMeans((2, 3, 4), epsilon=2, domain=BOX, random_state=1).fit(rows())
    assert describe(chosen).curve == chosen.cost_curve_
    assert describe(wave()).curve is None
