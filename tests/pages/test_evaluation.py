from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from shoal.evaluate import score
from shoal.pages import verdict_page
from shoal.pages.evaluation import SCORE_NAMES, Evaluation, page
from shoal.privacy import PureDP

TRUE = np.repeat([0, 1], 50)
ROWS = TRUE[:, None] + np.linspace(0, 0.3, 100)[:, None]
MODEL = SimpleNamespace(guarantee_=PureDP(1), n_clusters_=2, n_features_in_=1)


def scored(labels, control=None):
    table = score(labels, ROWS, against=TRUE, control=control)
    return Evaluation(Path("model"), MODEL, table, 100, 100, "group", 1)


def test_every_score_has_words():
    class Centred:
        cluster_centers_ = np.array([[0.0], [0.5], [1.0]])

        def predict(self, rows):
            return np.abs(rows - self.cluster_centers_.T).argmin(axis=1)

    named = score(Centred(), ROWS, against=TRUE).column("score").to_pylist()
    of_mixed_tables = {"gower_silhouette", "normalised_cost"}
    assert set(named) | of_mixed_tables == set(SCORE_NAMES)


def test_a_model_without_centres_is_judged_by_its_labels():
    assert scored(TRUE).main["score"] == "ami"


@pytest.mark.heavy
def test_it_is_no_better_only_if_the_control_says_so():
    poor = np.arange(100) % 2
    nearly = np.where(np.arange(100) == 3, 1, TRUE)
    assert scored(poor, nearly).is_no_better
    assert not scored(nearly, poor).is_no_better
    assert not scored(poor).is_no_better


def test_the_page_is_for_the_holder_and_promises_nothing():
    text = verdict_page(page(scored(TRUE, np.arange(100) % 2)).verdicts)
    assert "CURATOR ONLY" in text
    assert "nobody can tell" not in text
    assert all(SCORE_NAMES[name] in text for name in ("ami", "ari", "silhouette"))


def test_the_document_says_what_was_compared():
    values = page(scored(TRUE)).values
    assert values["compared_with"] == "the groups in column 'group'"
    assert values["no_better_than_without_data"] is False
