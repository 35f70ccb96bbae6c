from dataclasses import replace

import numpy as np
import pytest

import shoal
from shoal.cluster import LocalPrototypes, LocalRounds, RoundsModel
from shoal.cluster.local.transcript import AllRounds
from shoal.data import students, students_schema
from shoal.domain import Box
from shoal.errors import NotAReport
from shoal.privacy import Released
from shoal.randomness import Randomness

N = 2_000


@pytest.fixture(scope="module", params=["numbers", "mixed"])
def made(request):
    """A transcript, and rows to label."""
    noise = Randomness(1).noise
    if request.param == "numbers":
        first = LocalRounds(Box.unit(3), n_clusters=3, epsilon=4.0, n_expected=N)
        rows = np.random.default_rng(0).random((N, 3))
        return AllRounds(first, 7).release(rows, noise), rows
    schema = replace(students_schema(), person=None, max_rows_per_person=None)
    first = LocalPrototypes(schema, n_clusters=3, epsilon=4.0, n_expected=N)
    rows = students(N)
    return AllRounds(first, 7).release(first.records(rows), noise), rows


@pytest.mark.heavy
def test_a_model_has_a_line_and_a_share_for_each_group(made):
    model = RoundsModel.of(made[0])
    assert model.n_clusters_ == len(model.shares_) == len(model.is_certain_) == 3
    assert set(np.unique(model.predict(made[1]))) <= {0, 1, 2}
    assert model.guarantee_ == made[0].first.guarantee


@pytest.mark.heavy
def test_a_saved_model_labels_as_before(made, tmp_path):
    model = RoundsModel.of(made[0], made[0].first.guarantee.simulated(True))
    loaded = shoal.load_model(model.save(tmp_path / "model"))
    assert np.array_equal(loaded.predict(made[1]), model.predict(made[1]))
    assert loaded.guarantee_.simulation
    assert np.array_equal(loaded.shares_, model.shares_)
    assert loaded.prototypes_.equals(model.prototypes_)
    assert loaded.n_reports_ == N


@pytest.mark.heavy
def test_the_picture_of_a_group_names_every_column_and_is_kept_with_the_model(made, tmp_path):
    model = RoundsModel.of(made[0])
    figure, largest = model.plot(), int(model.cluster_sizes_.argmax())
    assert figure.data["number"] == largest + 1
    drawn = {row[0]: row for row in figure.data["rows"]}
    assert set(drawn) <= set(model.feature_names_in_)
    assert len(drawn) == min(len(model.feature_names_in_), 8)
    values = model.prototypes_.slice(largest, 1).to_pylist()[0]
    numbers = [name for name in drawn if isinstance(values[name], float)]
    assert all(drawn[name][1] == f"{values[name]:,.4g}" for name in numbers)
    words = [row for row in drawn.values() if row[3] is None]
    assert all(row[1] == str(values[row[0]]) for row in words)
    assert shoal.load_model(model.save(tmp_path / "model")).plot().data == figure.data


@pytest.mark.heavy
def test_the_picture_of_a_group_that_may_be_noise_says_so(made):
    model = RoundsModel.of(made[0])
    model.share_error_ = 1.0
    assert model.plot().title.endswith("may be noise")
    model.share_error_ = 0.0
    assert "noise" not in model.plot().title


@pytest.mark.heavy
def test_the_control_asks_the_same_of_people_spread_evenly(made):
    model = RoundsModel.of(made[0])
    control = model.control(500)
    assert control.n_clusters_ == 3
    assert control.n_reports_ == 500
    assert control.prototypes_.equals(model.control(500).prototypes_)


@pytest.mark.heavy
def test_all_that_a_result_holds_was_learnt_from_reports(made):
    result = RoundsModel.of(made[0]).to_result()
    assert not result.protected
    assert all(isinstance(leaf, Released) for leaf in result.released.values())


def test_no_report_is_no_model(made):
    with pytest.raises(NotAReport, match="no report"):
        RoundsModel.of(replace(made[0], reports=made[0].reports[:0]))


def test_it_has_a_description_without_what_rounds_do_not_tell(made, tmp_path):
    model = RoundsModel.of(made[0])
    before = shoal.describe(model)
    assert (before.intervals, before.what_if, before.curve) == (None, None, None)
    again = shoal.load_model(model.save(tmp_path / "model"))
    assert shoal.describe(again).to_dict() == before.to_dict()
