from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from shoal.apps.evaluate_rows import Held
from shoal.apps.evaluate_story import WORDS, Told, document, result
from shoal.errors import ProtectedValue
from shoal.evaluate import score
from shoal.privacy import PureDP, Result
from shoal.report import findings

TRUE = np.repeat([0, 1], 50)
ROWS = TRUE[:, None] + np.linspace(0, 0.3, 100)[:, None]
MODEL = SimpleNamespace(guarantee_=PureDP(1), n_clusters_=2, n_features_in_=1)


def told(found, control=None):
    held = Held(MODEL, ROWS, TRUE, 100)
    return Told(Path("model"), held, "group", 1, score(found, ROWS, against=TRUE, control=control))


def test_every_score_has_words():
    class Centred:
        cluster_centers_ = np.array([[0.0], [0.5], [1.0]])

        def predict(self, rows):
            return np.abs(rows - self.cluster_centers_.T).argmin(axis=1)

    named = score(Centred(), ROWS, against=TRUE).column("score").to_pylist()
    assert set(named) == set(WORDS)


def test_a_model_without_centres_is_judged_by_its_labels():
    assert told(TRUE).main["score"] == "ami"


def test_it_is_no_better_only_if_the_control_says_so():
    poor = np.arange(100) % 2
    nearly = np.where(np.arange(100) == 3, 1, TRUE)
    assert told(poor, nearly).is_no_better
    assert not told(nearly, poor).is_no_better
    assert not told(poor).is_no_better


def test_scores_stay_off_public_pages():
    page = findings(result(told(TRUE, np.arange(100) % 2)))
    assert page["protected"] is None
    assert not [f for f in page["figures"] if f["section"] == "protected"]
    curator = findings(result(told(TRUE, np.arange(100) % 2)), "curator")
    assert len(curator["protected"]["tables"][0]["rows"]) == 8


def test_a_score_marked_public_by_mistake_would_be_refused():
    wrong = result(told(TRUE))
    with pytest.raises(ProtectedValue):
        findings(Result("scores", PureDP(1), {"scores": wrong.protected["lines"]}, {}))


def test_the_document_says_what_was_compared():
    said = document(told(TRUE))
    assert said["compared_with"] == "the groups in column 'group'"
    assert said["no_better_than_without_data"] is False
    assert said["file"] is None
