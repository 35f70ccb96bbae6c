"""Every clusterer has the same habits: attributes, labels in one call, and groups that it shows."""

import numpy as np
import pytest

import shoal
from shoal.cluster import LocalRounds, RoundsModel
from shoal.cluster.local.transcript import AllRounds
from shoal.errors import InvalidSetting
from shoal.pages.groups import FittedGroups
from shoal.randomness import Randomness

NAME = "<b>age</b>"
BOX = shoal.Box.of([NAME, "visits"], [0, 0], [100, 20])
SCHEMA = shoal.Schema.of(
    {"version": 1, "columns": {NAME: {"low": 0, "high": 100}, "sex": {"values": ["F", "M"]}}}
)
ROWS = BOX.clip(
    np.array([[20, 4], [80, 16]])[np.arange(800) % 2]
    + np.random.default_rng(0).normal(0, [3, 0.6], (800, 2))
)
TABLE = {NAME: ROWS[:, 0], "sex": np.where(ROWS[:, 1] > 10, "F", "M")}
GRID = shoal.LocalGrid(BOX, epsilon=4, n_expected=800, n_clusters=2)
REPORTS = GRID.release(ROWS, Randomness(7).noise)
UNFITTED = {
    "PrivateKMeans": (shoal.PrivateKMeans(2, epsilon=2, domain=BOX, random_state=1), ROWS),
    "WaveCluster": (shoal.WaveCluster(epsilon=2, domain=BOX, random_state=1), ROWS),
    "PrivateKPrototypes": (
        shoal.PrivateKPrototypes(2, epsilon=2, domain=SCHEMA, n_init=2, random_state=1),
        TABLE,
    ),
    "KPrototypes": (shoal.KPrototypes(2, domain=SCHEMA, n_init=2, random_state=1), TABLE),
    "LocalClusterer": (shoal.LocalClusterer(2, mechanism=GRID, random_state=1), REPORTS),
}
SAVED = ("PrivateKMeans", "WaveCluster", "PrivateKPrototypes", "LocalClusterer", "RoundsModel")


def rounds():
    first = LocalRounds(BOX, n_clusters=2, epsilon=4.0, n_expected=800)
    return RoundsModel.of(AllRounds(first, 7).release(ROWS, Randomness(1).noise))


@pytest.fixture(scope="module")
def fitted():
    made = {name: shoal.estimator.unfitted_copy(model) for name, (model, _) in UNFITTED.items()}
    return {name: made[name].fit(rows) for name, (_, rows) in UNFITTED.items()} | {
        "RoundsModel": rounds()
    }


@pytest.mark.parametrize("name", [*UNFITTED, "RoundsModel"])
def test_number_columns_sizes_and_certainty_are_attributes(fitted, name):
    model = fitted[name]
    assert model.n_clusters_ == len(model.cluster_sizes_) == 2
    assert set(model.feature_names_in_) <= {NAME, "visits", "sex"}
    assert len(model.feature_names_in_) == 2
    assert 0.8 * 800 < model.cluster_sizes_.sum() < 1.2 * 800
    if name != "LocalClusterer":
        assert model.is_certain_.tolist() == [True, True]


@pytest.mark.parametrize("name", SAVED)
def test_a_page_asks_every_model_for_the_same(fitted, name, tmp_path):
    loaded = shoal.load_model(fitted[name].save(tmp_path / "model"))
    assert isinstance(fitted[name], FittedGroups)
    assert isinstance(loaded, FittedGroups)


def test_groups_of_reports_are_certain_once_the_evidence_was_looked_at(fitted, tmp_path):
    model = fitted["LocalClusterer"]
    assert model.is_certain_ is None
    told = model.evidence(REPORTS, random_state=0).is_certain
    assert model.is_certain_.tolist() == [told, told]
    loaded = shoal.load_model(model.save(tmp_path / "model"))
    assert loaded.is_certain_.tolist() == [told, told]
    assert loaded.evidence_.margins == model.evidence_.margins
    assert model.fit(REPORTS).is_certain_ is None
    assert shoal.load_model(model.save(tmp_path / "untested")).evidence_ is None


@pytest.mark.parametrize("name", SAVED)
def test_a_loaded_model_has_them_too(fitted, name, tmp_path):
    model = fitted[name]
    loaded = shoal.load_model(model.save(tmp_path / "model"))
    assert loaded.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    assert loaded.n_clusters_ == model.n_clusters_
    assert np.allclose(loaded.cluster_sizes_, model.cluster_sizes_)


@pytest.mark.parametrize("name", UNFITTED)
def test_fit_predict_is_fit_then_predict(fitted, name):
    model, rows = UNFITTED[name]
    labels = shoal.estimator.unfitted_copy(model).fit_predict(rows)
    expected = (
        fitted[name].report_labels_ if name == "LocalClusterer" else fitted[name].predict(rows)
    )
    assert np.array_equal(labels, expected)


@pytest.mark.parametrize("name", UNFITTED)
def test_a_model_that_is_not_fitted_shows_its_settings_alone(name):
    model = shoal.estimator.unfitted_copy(UNFITTED[name][0])
    assert "\n" not in repr(model)
    assert "about</th>" not in model._repr_html_()


@pytest.mark.parametrize("name", [*UNFITTED, "RoundsModel"])
def test_a_fitted_model_shows_a_line_for_each_group(fitted, name):
    lines = repr(fitted[name]).splitlines()
    assert lines[0].startswith(f"{name}(")
    assert lines[1].startswith("2 groups; ")
    assert str(fitted[name].guarantee_) in lines[1]
    assert [line.split()[0] for line in lines[2:]] == ["Group", "1", "2"]


@pytest.mark.parametrize("name", [*UNFITTED, "RoundsModel"])
def test_a_notebook_shows_the_groups_with_names_escaped(fitted, name):
    shown = fitted[name]._repr_html_()
    groups = shown[shown.rindex("<table>") :]
    assert groups.count("<tr>") == 3
    assert "&lt;b&gt;age&lt;/b&gt;" in groups
    assert NAME not in groups


@pytest.mark.parametrize("name", [*UNFITTED, "RoundsModel"])
def test_showing_a_model_computes_nothing(fitted, name, monkeypatch):
    model = fitted[name]
    monkeypatch.setattr(type(model), "_compute_once", None, raising=False)
    assert "n_clusters_" in dir(model)
    assert repr(model)
    assert model._repr_html_()


@pytest.mark.parametrize("name", [*UNFITTED, "RoundsModel"])
def test_a_model_is_drawn_in_one_line(fitted, name):
    figure = shoal.plot(fitted[name])
    assert figure == fitted[name].plot()
    assert figure.svg().startswith("<svg")
    assert NAME not in figure._repr_html_()


def test_columns_of_a_map_and_the_group_of_a_profile_can_be_chosen(fitted):
    assert (
        shoal.plot(fitted["PrivateKMeans"], columns=["visits", NAME]).data["names"][0] == "visits"
    )
    assert shoal.plot(fitted["PrivateKPrototypes"], group=2).data["number"] == 2
    with pytest.raises(InvalidSetting, match="two columns"):
        shoal.plot(fitted["PrivateKMeans"], columns=["visits", "size"])
    with pytest.raises(InvalidSetting, match="from 1 to 2"):
        shoal.plot(fitted["PrivateKPrototypes"], group=3)
    with pytest.raises(InvalidSetting, match="from 1 to 2"):
        shoal.plot(fitted["RoundsModel"], group=0)
    with pytest.raises(InvalidSetting, match="no figure"):
        shoal.plot(BOX)


ALONG = shoal.Box.of(["age"], [0], [100])
ONE_COLUMN = {
    "PrivateKMeans": shoal.PrivateKMeans(2, epsilon=2, domain=ALONG, random_state=1),
    "WaveCluster": shoal.WaveCluster(epsilon=2, domain=ALONG, random_state=1),
    "LocalClusterer": shoal.LocalClusterer(
        2,
        mechanism=shoal.LocalGrid(ALONG, epsilon=4, n_expected=800, n_clusters=2),
        random_state=1,
    ),
}


@pytest.mark.parametrize("name", ONE_COLUMN)
def test_a_model_of_one_column_is_drawn_along_it(name):
    model, rows = shoal.estimator.unfitted_copy(ONE_COLUMN[name]), ROWS[:, :1]
    if name == "LocalClusterer":
        rows = model.mechanism.release(rows, Randomness(7).noise)
    figure = shoal.plot(model.fit(rows))
    assert figure.data["names"][0] == "age"
    assert sorted(figure.data["centers"]) == pytest.approx([20, 80], abs=5)
    assert sum(figure.data["weights"]) == pytest.approx(800, rel=0.1)
    assert figure.svg().count('class="mark') == 2
    assert figure.alt.endswith("Counts are noisy.")


def test_a_model_of_one_column_has_no_other_to_draw():
    model = shoal.estimator.unfitted_copy(ONE_COLUMN["PrivateKMeans"]).fit(ROWS[:, :1])
    assert model.plot(columns=["age"]) == model.plot()
    with pytest.raises(InvalidSetting, match="only column"):
        model.plot(columns=["age", "visits"])
