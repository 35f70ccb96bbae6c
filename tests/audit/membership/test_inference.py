import json

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier

from shoal import Box, LocalClusterer, NDLaplace, PrivateKMeans
from shoal.audit import membership_inference
from shoal.errors import ConflictingSettings, DimensionMismatch, InvalidSetting
from shoal.mechanisms import Piecewise
from shoal.privacy import LocalDP, Protected

RNG = np.random.default_rng(0)
ROWS = RNG.random((200, 2))


def telltale(rows, rng):
    """A model that keeps its rows, and tells how near the nearest is."""
    return lambda asked: -np.abs(asked[:, None] - rows).sum(axis=2).min(axis=1)


def test_a_model_that_keeps_its_rows_is_found_out():
    found = membership_inference(telltale, ROWS, repeats=5, random_state=1)
    assert found.advantage.mean > 0.9
    assert found.verdict == "no claim"
    assert found.tpr_at[0.01] is None  # 25 others resolve no hundredth
    assert found.tpr_at[0.05].mean > 0.9


def test_a_promise_that_is_not_kept_is_violated():
    found = membership_inference(telltale, ROWS, guarantee=LocalDP(1), repeats=5, random_state=1)
    assert found.verdict == "violated"
    assert found.ceiling.advantage == pytest.approx(np.tanh(0.5))


def test_few_repeats_give_no_verdict():
    found = membership_inference(telltale, ROWS, guarantee=LocalDP(1), repeats=2, random_state=1)
    assert found.verdict == "too few repeats"
    assert found.advantage.low is None


def test_a_constant_answer_has_no_advantage():
    found = membership_inference(
        lambda rows, rng: lambda asked: np.zeros(len(asked)), ROWS, repeats=5, random_state=1
    )
    assert found.advantage.mean == found.advantage.standard_error == 0
    assert found.auc.mean == 0.5
    assert found.roc.tpr == pytest.approx(found.roc.fpr)


def test_private_centres_are_held_against_two_steps_of_their_promise():
    model = PrivateKMeans(2, epsilon=0.5, domain=Box.unit(2), method="lloyd")
    found = membership_inference(model, ROWS, repeats=5, random_state=1)
    assert found.ceiling.advantage == pytest.approx(np.tanh(0.5))
    assert found.verdict == "consistent"


def test_reports_are_held_against_one_step():
    found = membership_inference(
        KMeans(2, n_init=1), ROWS, mechanism=Piecewise(1, domain=Box.unit(2)), repeats=5,
        random_state=1,
    )  # fmt: skip
    assert found.ceiling.advantage == pytest.approx(np.tanh(0.5))
    assert found.verdict == "consistent"


def test_distances_of_the_rows_bound_what_a_metric_promise_allows():
    noise = NDLaplace(1, domain=Box.unit(2))
    model = LocalClusterer(2, mechanism=noise, method="plain")
    found = membership_inference(model, ROWS, repeats=5, random_state=1)
    far = np.linalg.norm(np.ptp(ROWS, axis=0))
    assert found.ceiling.advantage == pytest.approx(np.tanh(far / 2), abs=1e-5)


def forest(**settings):
    return membership_inference(
        RandomForestClassifier(10), ROWS, labels=(ROWS[:, 0] > 0.5).astype(int),
        mechanism=NDLaplace(5), repeats=2, random_state=1, **settings,
    )  # fmt: skip


def test_labels_of_true_rows_leave_no_ceiling():
    found = forest()
    assert str(found.ceiling) == "no ceiling: labels unprotected"
    assert found.verdict == "no claim"


def test_asking_for_the_report_invents_leakage_and_says_so():
    true, perturbed = forest(shadow="plain"), forest(shadow="plain", query="perturbed")
    assert perturbed.fpr.mean == true.fpr.mean  # the same seed, the same models
    assert "invents leakage" in str(perturbed)
    alone = membership_inference(
        KMeans(2, n_init=1), ROWS, mechanism=NDLaplace(5), query="perturbed", repeats=1,
        random_state=1,
    )  # fmt: skip
    assert str(alone.ceiling) == "no ceiling: the report itself is asked for"


def test_the_toolbox_finds_what_our_forest_finds():
    ours, theirs = (
        membership_inference(telltale, ROWS, attack=attack, repeats=2, random_state=1)
        for attack in ("forest", "art")
    )
    assert theirs.advantage.mean == pytest.approx(ours.advantage.mean, abs=0.1)


def test_a_seed_repeats_everything_and_progress_is_told():
    told = []
    first, again = (
        membership_inference(telltale, ROWS, repeats=2, random_state=3,
                             progress=lambda what, share: told.append((what, share)))
        for _ in range(2)
    )  # fmt: skip
    assert first.to_dict() == again.to_dict()
    assert told == [("games", 0.5), ("games", 1.0)] * 2
    assert membership_inference(telltale, ROWS, repeats=2).setting.seed is None


def test_what_the_adversary_notes_can_be_chosen():
    found = membership_inference(
        telltale, ROWS, answers=lambda model, rows: np.zeros((len(rows), 2)), repeats=2,
        random_state=1,
    )  # fmt: skip
    assert found.advantage.mean == 0


def test_it_becomes_json_a_picture_a_page_and_words():
    found = membership_inference(telltale, ROWS, guarantee=LocalDP(1), repeats=5, random_state=1)
    values = json.loads(json.dumps(found.to_dict()))
    assert values["verdict"] == "violated"
    assert values["tpr_at"]["0.01"] is None
    assert 'class="cross"' in found.plot().svg()
    assert found.plot().alt.count("Ceiling: at most 0.462") == 1
    result = found.to_result()
    assert all(isinstance(leaf, Protected) for leaf in result.protected.values())
    assert not result.released
    assert "unresolved at FPR 0.01" in str(found)
    assert float(found) == found.advantage.mean


@pytest.mark.parametrize(
    "settings",
    [{"query": "both"}, {"shadow": "none"}, {"attack": "luck"}, {"alpha": 0.7}, {"repeats": 0}],
)
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(InvalidSetting):
        membership_inference(telltale, ROWS, **settings)


def test_reports_cannot_be_asked_for_where_there_are_none():
    with pytest.raises(ConflictingSettings):
        membership_inference(telltale, ROWS, query="perturbed")


def test_labels_must_fit_the_rows():
    with pytest.raises(DimensionMismatch):
        membership_inference(RandomForestClassifier(), ROWS, labels=[0, 1])
    with pytest.raises(InvalidSetting):
        membership_inference(RandomForestClassifier(), ROWS, labels=np.full(200, -1))
