"""Clusters of records nobody sees."""

import inspect

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone

from shoal import LocalClusterer, load_model
from shoal.domain import Box
from shoal.errors import (
    DimensionMismatch,
    InvalidSetting,
    NotAReport,
    NotFinite,
    NotNumeric,
    TooFewRows,
    UnknownBounds,
)
from shoal.mechanisms import (
    Duchi,
    NDLaplace,
    Piecewise,
    PlanarLaplace,
    RandomizedResponse,
    Reports,
    SquareWave,
    clamp,
)
from shoal.mechanisms.local.categories._local_grid import LocalGrid
from shoal.privacy import Ledger, LocalDP
from shoal.randomness import Randomness

BOX = Box(x=(0, 10), y=(0, 10))
NOISE = PlanarLaplace(2.0, domain=BOX)
ROWS = np.repeat([[2.0, 2.0], [8.0, 8.0]], 150, axis=0)
LAPLACE_METHODS = ("blend", "em", "mixture", "moments", "plain", "posterior-means")


def fitted(reports, k=2, **settings):
    settings = {"mechanism": reports.mechanism, "random_state": 0} | settings
    return LocalClusterer(k, **settings).fit(reports)


@pytest.fixture(scope="module")
def reports():
    return NOISE.release(ROWS, Randomness(7).noise)


@pytest.fixture(scope="module")
def model(reports):
    return fitted(reports)


def test_rows_are_refused():
    with pytest.raises(NotAReport):
        LocalClusterer(2, mechanism=NOISE).fit(ROWS)


def test_reports_of_another_mechanism_are_refused(reports):
    with pytest.raises(NotAReport, match="another"):
        LocalClusterer(2, mechanism=PlanarLaplace(1.0, domain=BOX)).fit(reports)


def test_one_epsilon_written_two_ways_is_one_mechanism(reports):
    same = LocalClusterer(2, mechanism=PlanarLaplace(2, domain=BOX), method="moments")
    assert same.fit(reports).n_reports_ == 300


def test_clamped_reports_are_refused_where_the_law_is_needed_only(reports):
    clamped = clamp(BOX)(reports)
    for method in ("auto", "em", "mixture", "moments", "posterior-means", "blend"):
        with pytest.raises(NotAReport, match="distribution of their noise"):
            LocalClusterer(2, mechanism=NOISE, method=method).fit(clamped)
    assert fitted(clamped, method="plain").cluster_centers_.shape == (2, 2)


@pytest.mark.heavy
@pytest.mark.parametrize("method", LAPLACE_METHODS)
def test_every_method_finds_two_clear_clusters(reports, method):
    found = fitted(reports, method=method)
    centers = found.cluster_centers_[np.argsort(found.cluster_centers_[:, 0])]
    assert np.abs(centers - [[2, 2], [8, 8]]).max() < 0.5
    assert np.mean(found.predict(ROWS) == found.report_labels_) > 0.97


@pytest.mark.heavy
def test_the_guarantee_is_that_of_the_reports(model):
    assert model.guarantee_ == NOISE.guarantee.simulated()
    assert model.to_result().guarantee == model.guarantee_


@pytest.mark.heavy
def test_a_model_of_seeded_reports_is_marked_a_simulation(model):
    real = fitted(NOISE.release(ROWS, Randomness().noise), method="moments")
    assert not real.guarantee_.simulation
    assert model.guarantee_.simulation
    assert model.answered_guarantee(1).simulation
    assert not real.answered_guarantee(1).simulation


@pytest.mark.heavy
def test_nothing_fitted_depends_on_the_rows_but_through_the_reports(reports, model):
    again = fitted(Reports(reports.values.copy(), NOISE))
    assert np.array_equal(again.cluster_centers_, model.cluster_centers_)
    assert "X" not in inspect.signature(LocalClusterer.fit).parameters


def test_there_are_no_labels_of_rows(model):
    assert not hasattr(model, "labels_")
    assert not hasattr(model, "inertia_")
    assert len(model.report_labels_) == 300


@pytest.mark.heavy
def test_results_hardly_move_between_restarts(reports, model):
    other = fitted(reports, random_state=99)
    gaps = np.linalg.norm(other.cluster_centers_[:, None] - model.cluster_centers_, axis=2)
    assert gaps.min(axis=1).max() < 0.05


def test_predict_takes_what_lies_outside_and_what_is_no_number(model):
    labels = model.predict([[-50.0, 2.0], [np.nan, 9.0], [2.0, 2.0]])
    assert labels[0] == labels[2]


def test_columns_of_a_table_are_picked_by_name(model):
    table = pa.table({"name": ["a", "b"], "y": [2.0, None], "x": [1.0, 9.0]})
    assert np.array_equal(model.predict(table), model.predict([[1.0, 2.0], [9.0, 5.0]]))
    assert np.array_equal(model.predict(table.to_pandas()), model.predict(table))
    assert model.transform(table).shape == (2, 2)
    assert len(model.answer(table, 1.0, random_state=1)) == 2


def test_transform_is_the_distance_to_each_centre(model):
    distances = model.transform(model.cluster_centers_)
    assert np.allclose(np.diag(distances), 0)


@pytest.mark.parametrize("worst", [np.nan, np.inf])
def test_reports_that_no_mechanism_sends_are_refused(reports, worst):
    values = reports.values.copy()
    values[3, 1] = worst
    with pytest.raises(NotFinite, match="1 of 300 reports"):
        fitted(Reports(values, NOISE))


@pytest.mark.parametrize("values", [np.zeros((9, 3)), np.zeros(9)])
def test_reports_of_another_width_are_refused(values):
    with pytest.raises(DimensionMismatch):
        fitted(Reports(values, NOISE))


def test_reports_that_are_no_numbers_are_refused():
    with pytest.raises(NotNumeric):
        fitted(Reports(np.array([["a", "b"]] * 9), NOISE), method="plain")


@pytest.mark.heavy
def test_small_floats_and_whole_numbers_will_do(reports):
    for kind in (np.float32, np.int64):
        assert fitted(Reports(reports.values.astype(kind), NOISE), method="em").n_reports_ == 300


def test_no_reports_are_too_few():
    for mechanism in (NOISE, LocalGrid(BOX, epsilon=1.0)):
        none = Reports(np.zeros((0, 2) if mechanism is NOISE else 0), mechanism)
        with pytest.raises(TooFewRows, match="0 reports"):
            fitted(none)


def test_fewer_reports_than_clusters_are_too_few(reports):
    with pytest.raises(TooFewRows, match="300"):
        fitted(reports, k=301)


@pytest.mark.heavy
@pytest.mark.parametrize("method", LAPLACE_METHODS)
@pytest.mark.parametrize("k", [1, 3])
def test_equal_reports_give_one_centre_repeated(method, k):
    same = Reports(np.full((20, 2), 4.0), NOISE)
    assert np.abs(fitted(same, k=k, method=method).cluster_centers_ - 4).max() < 0.5


@pytest.mark.parametrize("method", LAPLACE_METHODS)
@pytest.mark.parametrize("d", [1, 3, 5])
def test_equal_reports_without_a_box_go_too(method, d):
    same = Reports(np.full((20, d), 4.0), NDLaplace(2.0))
    found = fitted(same, k=2, method=method, scale="spread")
    assert np.abs(found.cluster_centers_ - 4).max() < 0.5


@pytest.mark.heavy
@pytest.mark.parametrize("method", LAPLACE_METHODS)
def test_centres_lie_in_the_box_but_for_those_of_plain(method):
    noise = PlanarLaplace(0.5, domain=BOX)
    corners = np.repeat([[0.0, 0.0], [10.0, 10.0]], 40, axis=0)
    found = fitted(noise.release(corners, Randomness(2).noise), k=4, method=method)
    assert BOX.contains(found.cluster_centers_).all() or method == "plain"
    assert BOX.contains(found.density_.atoms).all() or method in ("plain", "moments")


@pytest.mark.heavy
@pytest.mark.parametrize("method", LAPLACE_METHODS)
def test_as_many_reports_as_clusters_will_do(method):
    few = NOISE.release(ROWS[::100], Randomness(3).noise)
    assert np.isfinite(fitted(few, k=3, method=method).cluster_centers_).all()


@pytest.mark.heavy
@pytest.mark.parametrize("method", LAPLACE_METHODS)
def test_one_column_goes(method):
    noise = NDLaplace(2.0, domain=Box(x=(0, 10)))
    found = fitted(noise.release(ROWS[:, :1], Randomness(1).noise), method=method)
    assert np.abs(np.sort(found.cluster_centers_[:, 0]) - [2, 8]).max() < 0.5


@pytest.mark.heavy
@pytest.mark.parametrize("method", LAPLACE_METHODS)
def test_no_box_is_needed(method):
    found = fitted(NDLaplace(2.0).release(ROWS, Randomness(1).noise), method=method)
    assert np.abs(np.sort(found.cluster_centers_[:, 0]) - [2, 8]).max() < 0.5


@pytest.mark.heavy
def test_five_columns_go():
    rows = np.repeat([[0.0] * 5, [4.0] * 5], 200, axis=0)
    found = fitted(NDLaplace(2.0).release(rows, Randomness(1).noise))
    assert found.method_ == "blend"
    assert np.abs(np.sort(found.cluster_centers_[:, 0]) - [0, 4]).max() < 0.5


@pytest.mark.parametrize("mechanism", [Piecewise(4.0), SquareWave(4.0, domain=Box(x=(-1, 1)))])
def test_other_laws_of_one_column_go_by_em(mechanism):
    rows = np.repeat([[-0.7], [0.7]], 2_000, axis=0)
    found = fitted(mechanism.release(rows, Randomness(1).noise))
    assert found.method_ == "em"
    assert np.abs(np.sort(found.cluster_centers_[:, 0]) - [-0.7, 0.7]).max() < 0.1


def test_laws_that_are_not_known_go_by_plain_k_means():
    corners = Duchi(8.0, domain=BOX).release(ROWS, Randomness(1).noise)
    assert fitted(corners).method_ == "plain"
    with pytest.raises(NotAReport, match="Duchi"):
        fitted(corners, method="em")


@pytest.mark.heavy
def test_a_local_grid_is_learnt_by_its_own_method():
    grid = LocalGrid(BOX, epsilon=3.0, n_clusters=2)
    rows = np.tile(ROWS, (20, 1))
    found = LocalClusterer(2, mechanism=grid, random_state=0).fit(
        grid.release(rows, Randomness(1).noise)
    )
    assert found.method_ == "grid"
    assert found.guarantee_ == LocalDP(3).simulated()
    assert len(set(found.predict([[2, 2], [8, 8]]))) == 2


@pytest.mark.heavy
def test_a_grid_model_comes_back_from_its_folder(tmp_path):
    grid = LocalGrid(BOX, epsilon=3.0, cells=4)
    found = fitted(grid.release(np.tile(ROWS, (5, 1)), Randomness(1).noise))
    found.save(tmp_path / "model")
    back = load_model(tmp_path / "model")
    assert np.array_equal(back.predict(ROWS), found.predict(ROWS))
    assert back.mechanism.grid.shape == (4, 4)


def test_how_many_people_it_takes_is_said_before_collecting():
    one, two = (
        LocalClusterer.needs(1.1, n_clusters=5, d=2, epsilon=epsilon) for epsilon in (1.0, 2.0)
    )
    assert two < one


@pytest.mark.parametrize("settings", [{"k": 0}, {"k": 2.5}, {"method": "magic"}, {"method": None}])
def test_wrong_settings_are_told(reports, settings):
    with pytest.raises(InvalidSetting):
        fitted(reports, **settings)


def test_scale_says_which_column_counts(reports):
    wide = np.column_stack([ROWS[:, 0] * 100, ROWS[:, 1]])
    noise = NDLaplace(2.0, domain=Box(x=(0, 1000), y=(0, 10)), scale=(100, 1))
    released = noise.release(wide, Randomness(1).noise)
    for scale in (None, "box", "spread", (100, 1)):
        found = fitted(released, scale=scale, method="moments")
        assert np.ptp(found.cluster_centers_[:, 0]) == pytest.approx(600, abs=30)
        assert found.units_[0] == pytest.approx(100 * found.units_[1], rel=0.1)


@pytest.mark.heavy
def test_progress_is_heard():
    heard = []
    many = NOISE.release(np.tile(ROWS, (20, 1)), Randomness(1).noise)
    fitted(many, method="em", progress=heard.append)
    assert heard[-1] == 1
    assert heard == sorted(heard)


@pytest.mark.heavy
def test_the_control_learns_from_no_data(model):
    control = model.control(random_state=5)
    assert control.n_reports_ == 300
    assert np.abs(control.cluster_centers_ - 5).max() < 2.5
    assert control.guarantee_ == model.guarantee_


def test_the_control_of_a_model_without_a_box_stands_where_the_density_does():
    found = fitted(NDLaplace(2.0).release(ROWS + 100, Randomness(1).noise), method="moments")
    assert np.abs(found.control(random_state=1).cluster_centers_ - 105).max() < 3


def test_an_unfitted_control_needs_a_number():
    with pytest.raises(InvalidSetting, match="number of people"):
        LocalClusterer(2, mechanism=NOISE).control()


def test_an_answer_is_paid_for(model, tmp_path):
    ledger = Ledger(tmp_path / "ledger.db")
    answers = model.answer(ROWS, 1.5, ledger=ledger, random_state=1)
    assert answers.mechanism == RandomizedResponse(1.5, 2)
    assert [float(total.epsilon) for total in ledger.totals()] == [1.5]
    shares = model.label_mechanism(1.5).frequencies(answers)
    assert np.all(np.abs(shares.value - 0.5) < 5 * shares.standard_error)


def test_answers_have_the_odds_of_randomised_response(model):
    answers = model.answer(np.tile([[2.0, 2.0]], (20_000, 1)), 1.0, random_state=1)
    kept = np.mean(answers.values == model.predict([[2.0, 2.0]])[0])
    chance = np.e / (np.e + 1)
    assert abs(kept - chance) < 5 * np.sqrt(chance * (1 - chance) / 20_000)


def test_report_and_answer_add_up_as_local_promises(model):
    assert model.answered_guarantee(1.5) == (NOISE.as_local() + LocalDP(1.5)).simulated()


def test_without_a_box_an_answer_is_refused_before_it_is_drawn(reports):
    boundless = fitted(NDLaplace(2.0).release(ROWS, Randomness(1).noise), method="moments")
    ledger = Ledger()
    with pytest.raises(UnknownBounds):
        boundless.answer(ROWS, 1.0, ledger=ledger)
    assert ledger.totals() == []


def test_an_answer_is_one_of_the_labels_there_are(reports):
    found = fitted(reports, method="plain").set_params(n_clusters=5)
    assert found.label_mechanism(1.0).size == 2


def test_one_cluster_has_nothing_to_answer(reports):
    with pytest.raises(InvalidSetting, match="one cluster"):
        fitted(reports, k=1, method="plain").answer(ROWS, 1.0)


def test_a_model_comes_back_from_its_folder(model, tmp_path):
    model.save(tmp_path / "model")
    back = load_model(tmp_path / "model")
    assert np.array_equal(back.predict(ROWS), model.predict(ROWS))
    assert np.array_equal(back.density_.weights, model.density_.weights)
    assert back.guarantee_ == model.guarantee_
    assert (back.method_, back.n_reports_, back.n_used_) == (model.method_, 300, 300)
    assert back.answered_guarantee(1) == model.answered_guarantee(1)


def test_a_model_without_a_box_comes_back_too(tmp_path):
    found = fitted(NDLaplace(2.0).release(ROWS, Randomness(1).noise), method="moments")
    found.save(tmp_path / "model")
    assert np.array_equal(load_model(tmp_path / "model").cluster_centers_, found.cluster_centers_)


def test_it_can_be_cloned(model):
    assert clone(model).get_params()["mechanism"] == NOISE
